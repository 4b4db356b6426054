// Rock whose density varies and rock with an axis of symmetry: laws, limits, closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/acoustic_box.hpp"
#include "support/files.hpp"
#include "terrane/physics/acoustic/formula/equation.hpp"

namespace terrane::acoustic {
namespace {

using std::numbers::pi;
using test::all_sides;
using test::apart;
using test::rough_rock;
using test::traces;
using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

constexpr Equation with_axis[] = {Equation::vti, Equation::tti};

TEST(AcousticRock, WithoutAnisotropyItIsIsotropicWhateverTheTilt) {
  for (const auto equation : with_axis)
    for (const bool flat : {false, true}) {
      auto p = rough_rock(equation, flat ? std::array<Index, 3>{40, 1, 44} : std::array<Index, 3>{24, 18, 22},
                          0.2);
      all_sides(p, Boundary::wall);
      p.sides[up][1] = Boundary::free_surface;
      for (auto* values : {&p.epsilon, &p.delta}) std::fill(values->begin(), values->end(), 0.0);
      auto plain = p;
      plain.equation = Equation::constant_density;
      p.settle();
      plain.settle();
      EXPECT_LT(apart(traces<double>(p, p.shots[0]), traces<double>(plain, plain.shots[0])), 1e-12);
    }
}

TEST(AcousticRock, AnAxisTurnedToTheEastIsAVerticalOneInAModelLaidOnItsSide) {
  // Up, east of one are east, up of the other; the tilt grows with the place.
  constexpr Index n = 36;
  auto lying = rough_rock(Equation::tti, {n, 1, n}, 0.25);
  all_sides(lying, Boundary::wall);
  auto standing = lying;
  for (Index k = 0; k < n; ++k)
    for (Index i = 0; i < n; ++i) {
      const auto here = static_cast<std::size_t>(k * n + i), there = static_cast<std::size_t>(i * n + k);
      lying.azimuth[here] = pi / 2;
      lying.tilt[here] = 0.02 * static_cast<double>(k);
      for (auto [to, from] :
           {std::pair{&standing.velocity, &lying.velocity}, std::pair{&standing.epsilon, &lying.epsilon},
            std::pair{&standing.delta, &lying.delta}})
        (*to)[there] = (*from)[here];
      standing.azimuth[there] = pi / 2;
      standing.tilt[there] = pi / 2 - lying.tilt[here];
    }
  for (auto* places : {&standing.shots[0].sources, &standing.shots[0].receivers})
    for (auto& at : *places) std::swap(at[0], at[2]);
  lying.settle();
  standing.settle();
  EXPECT_LT(apart(traces<double>(standing, standing.shots[0]), traces<double>(lying, lying.shots[0])), 1e-12);
}

/// Waves of one medium with an axis, in a box without layers.
Problem even_rock(Equation equation, Index nodes, double epsilon, double delta, double tilt) {
  auto p = test::even_box({nodes, 1, nodes}, 10, 2000);
  p.equation = equation;
  p.epsilon.assign(p.velocity.size(), epsilon);
  p.delta.assign(p.velocity.size(), delta);
  p.tilt.assign(p.velocity.size(), tilt);
  p.azimuth.assign(p.velocity.size(), pi / 2);
  all_sides(p, Boundary::wall);
  p.end = 0.1;
  p.shots = {{{{100, 0, 100}}, {{200, 0, 200}}}};
  return p;
}

/// Of a plane wave with this wavenumber, 1/m, at an angle to the vertical: √(−the greatest eigenvalue of
/// A)/k, read off the steps of a field that is this wave.
double velocity_of_steps(Problem p, double wavenumber, double angle) {
  p.settle();
  Stream stream({Device::Kind::cpu, -1});
  Alone alone;
  const Medium<double> medium(p, stream, cut_grid(p, 1), 0);
  Wave<double> wave(stream, medium, alone);
  const auto box = medium.box();
  const Index middle = p.grid.nodes[0] / 2;
  const auto cosine = [&](double times) {
    std::vector<double> values(medium.size());
    const View<double, 3> view(values.data(), box);
    for (Index k = box.first[0]; k < box.last[0]; ++k)
      for (Index i = box.first[2]; i < box.last[2]; ++i)
        view(k, 0, i) = times * std::cos(wavenumber * 10 *
                                         (std::cos(angle) * static_cast<double>(k - middle) +
                                          std::sin(angle) * static_cast<double>(i - middle)));
    return values;
  };
  const auto once = cosine(1), twice = cosine(2), none = std::vector<double>(medium.size());
  double a[2][2];
  for (int from = 0; from < 2; ++from) {
    std::vector<double> state;
    for (const auto* field : {from == 0 ? &once : &none, from == 1 ? &once : &none,
                              from == 0 ? &twice : &none, from == 1 ? &twice : &none})
      state.insert(state.end(), field->begin(), field->end());
    wave.restore(stream, state);
    const Clock clock(stream, 0);
    wave.step(stream, nullptr, clock);
    const auto after = wave.state(stream);
    a[0][from] = View<const double, 3>(after.data(), box)(middle, 0, middle);
    a[1][from] = View<const double, 3>(after.data() + medium.size(), box)(middle, 0, middle);
  }
  const double half = (a[0][0] + a[1][1]) / 2, determinant = a[0][0] * a[1][1] - a[0][1] * a[1][0];
  const double eigenvalue = half - std::sqrt(half * half - determinant);
  return std::sqrt(-eigenvalue) / (wavenumber * p.step);
}

TEST(AcousticRock, WavesHaveThePhaseVelocityOfTheirDirection) {
  constexpr double epsilon = 0.24, delta = 0.1, tilt = 0.6;
  for (const auto equation : with_axis)
    for (int degrees = 0; degrees < 180; degrees += 15) {
      const double angle = degrees * pi / 180, lean = equation == Equation::tti ? tilt : 0;
      // Waves of 16 nodes.
      const double found =
          velocity_of_steps(even_rock(equation, 41, epsilon, delta, tilt), 2 * pi / 160, angle);
      EXPECT_NEAR(found / (2000 * phase_velocity(epsilon, delta, angle - lean)), 1, 2e-5) << degrees;
    }
  EXPECT_NEAR(phase_velocity(epsilon, delta, pi / 2), std::sqrt(1 + 2 * epsilon), 1e-15);
}

TEST(AcousticRock, ATiltOfNothingIsAVerticalAxisToTheErrorOfDifferences) {
  // V of one is D D, of the other L, which differ for short waves.
  std::vector<double> errors;
  for (const double nodes_per_wave : {8.0, 16.0}) {
    const double k = 2 * pi / (10 * nodes_per_wave);
    const double tti = velocity_of_steps(even_rock(Equation::tti, 41, 0.2, 0.1, 0), k, 0.3),
                 vti = velocity_of_steps(even_rock(Equation::vti, 41, 0.2, 0.1, 0), k, 0.3);
    errors.push_back(std::abs(tti / vti - 1));
  }
  EXPECT_LT(errors[0], 3e-3);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 8, 0.6);
}

TEST(AcousticRock, EllipticalWavesArriveAsOnPaper) {
  constexpr double epsilon = 0.12, h = 10, tilt = 0.61, azimuth = 0.35;
  auto p = test::even_box({52, 52, 52}, h, 2000);
  p.equation = Equation::tti;
  p.wavelet.frequency = 2000 / (17 * h);
  p.epsilon.assign(p.velocity.size(), epsilon);
  p.delta = p.epsilon;
  p.tilt.assign(p.velocity.size(), tilt);
  p.azimuth.assign(p.velocity.size(), azimuth);
  all_sides(p, Boundary::wall);
  p.end = 0.27;
  const Place source{253, 252, 256};
  p.shots = {{{source}, {{301, 277, 250}, {255, 301, 281}, {284, 268, 303}}}};
  p.settle();
  const auto found = traces<float>(p, p.shots[0]);
  const auto axis = axis_of(tilt, azimuth);
  const double wide = 1 + 2 * epsilon, b = std::sqrt(wide);
  for (std::size_t r = 0; r < 3; ++r) {
    double along = 0, square = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double d = p.shots[0].receivers[r][2 - a] - source[2 - a];
      along += d * axis[a];
      square += d * d;
    }
    const double reduced = std::sqrt((square - along * along) / wide + along * along);
    auto paper = test::spherical(p, reduced, 2000);
    // q = (2b + 1)/3 s(t − r'/v)/(4π r' (1 + 2ε)), p = b q
    for (double& value : paper) value *= (2 * b + 1) / 3 / wide * (2 * b + 1) / 3;
    EXPECT_LT(apart(test::column(found, 3, r), paper), 6e-3) << r;
  }
}

/// The norm of both fields after so many steps from the shot's end.
double norm_after(Problem p, double seconds) {
  p.end = seconds;
  p.exact_time = false;
  p.settle();
  Stream stream({Device::Kind::cpu, -1});
  Alone alone;
  const Medium<float> medium(p, stream, cut_grid(p, 1), 0);
  Wave<float> wave(stream, medium, alone);
  Sources<float> sources(stream, medium, p.shots[0].sources, 1e6);
  sources.send(stream, p.steps(), p.source_series());
  Clock clock(stream, 0);
  for (std::size_t n = 0; n < p.steps(); ++n) {
    wave.step(stream, &sources, clock);
    clock.tick(stream, 1);
  }
  double sum = 0;
  const auto mesh = p.grid.box();
  for (Index k = 0; k < mesh.last[0]; ++k)
    for (Index i = 0; i < mesh.last[2]; ++i) sum += std::pow(static_cast<double>(wave.now()(k, 0, i)), 2);
  return std::sqrt(sum);
}

TEST(AcousticRock, WavesInTiltedRockDieAwayInTheLayers) {
  for (const double tilt : {0.35, 0.8, 1.2}) {
    auto p = even_rock(Equation::tti, 56, 0.25, 0.1, tilt);
    all_sides(p, Boundary::cpml);
    const double early = norm_after(p, 0.3), late = norm_after(p, 5);
    EXPECT_GT(early, 0);
    EXPECT_LT(late, 0.15 * early) << tilt;
  }
}

TEST(AcousticRock, AnAxisMayBeGivenByEitherOfItsEnds) {
  for (const bool flat : {false, true}) {
    auto p = rough_rock(Equation::tti,
                        flat ? std::array<Index, 3>{40, 1, 44} : std::array<Index, 3>{24, 18, 22}, 0.2);
    all_sides(p, Boundary::cpml);
    p.sides[up][1] = Boundary::free_surface;
    auto turned = p;
    for (std::size_t n = 0; n < p.tilt.size(); ++n) turned.tilt[n] += n % 3 == 0 ? pi : n % 3 == 1 ? -pi : 0;
    p.settle();
    turned.settle();
    EXPECT_LT(apart(traces<double>(turned, turned.shots[0]), traces<double>(p, p.shots[0])), 1e-12) << flat;
  }
}

TEST(AcousticRock, NothingGrowsWhereTheTiltIsRandomInEveryNode) {
  auto p = rough_rock(Equation::tti, {30, 1, 30}, 0.2);
  all_sides(p, Boundary::wall);
  const double early = norm_after(p, 0.2), late = norm_after(p, 8);
  EXPECT_LT(late, 3 * early);
}

TEST(AcousticRock, EnergyIsKeptWhereDensityVaries) {
  auto p = rough_rock(Equation::variable_density, {22, 16, 20}, 0.7);
  p.shots[0].receivers.clear();
  all_sides(p, Boundary::wall);
  p.sides[up][1] = Boundary::free_surface;
  p.exact_time = false;
  p.settle();
  Stream stream({Device::Kind::cpu, -1});
  Alone alone;
  const Medium<double> medium(p, stream, cut_grid(p, 1), 0);
  Wave<double> wave(stream, medium, alone);
  test::Chance chance(12);
  auto state = chance.list(wave.state_size());
  // At rest beyond the box.
  for (int n = 0; n < 2; ++n) {
    const View<double, 3> field(state.data() + static_cast<std::size_t>(n) * medium.size(), medium.box());
    const auto box = medium.box();
    for (Index k = box.first[0]; k < box.last[0]; ++k)
      for (Index j = box.first[1]; j < box.last[1]; ++j)
        for (Index i = box.first[2]; i < box.last[2]; ++i)
          if (!p.grid.box().contains(k, j, i)) field(k, j, i) = 0;
    for (Index k = 22; k < 22 + medium.reach(); ++k)
      for (Index j = 0; j < 16; ++j)
        for (Index i = 0; i < 20; ++i) field(k, j, i) = -field(43 - k, j, i);
  }
  wave.restore(stream, state);
  const Clock clock(stream, 0);
  const auto box = p.grid.box();
  std::vector<double> earliest, before, after, energies;
  for (int n = 0; n < 300; ++n) {
    wave.step(stream, nullptr, clock);
    earliest = std::move(before);
    before = std::move(after);
    after.clear();
    double energy = 0;
    for (Index k = 0, c = 0; k < box.last[0]; ++k)
      for (Index j = 0; j < box.last[1]; ++j)
        for (Index i = 0; i < box.last[2]; ++i, ++c) {
          const auto m = static_cast<std::size_t>(c);
          after.push_back(wave.now()(k, j, i));
          if (n < 2) continue;
          const double leap = after[m] - before[m], bend = after[m] - 2 * before[m] + earliest[m];
          energy += (leap * leap - after[m] * bend) / (2 * medium.squared()(k, j, i));
        }
    if (n >= 2) energies.push_back(energy);
  }
  ASSERT_GT(energies.front(), 0);
  for (const double energy : energies) EXPECT_NEAR(energy / energies.front(), 1, 1e-12);
}

TEST(AcousticRock, TheErrorFallsWithTheOrderOfTheStencilWhereDensityVaries) {
  // ρ = (2 + cos k·x)² is smooth: against a grid three times as fine.
  std::vector<double> errors;
  const auto trace = [](Index nodes) {
    const double h = 480.0 / static_cast<double>(nodes);
    auto p = test::even_box({nodes, 1, nodes}, h, 2000, h / 2);
    p.equation = Equation::variable_density;
    p.density.resize(p.velocity.size());
    for (Index k = 0; k < nodes; ++k)
      for (Index i = 0; i < nodes; ++i)
        p.density[static_cast<std::size_t>(k * nodes + i)] =
            1000 + 150 * std::cos(0.02 * h * (static_cast<double>(k) + 0.5)) +
            150 * std::sin(0.013 * h * (static_cast<double>(i) + 0.5));
    p.wavelet.frequency = 20;
    p.radius = 8;
    all_sides(p, Boundary::wall);
    p.end = 0.18;
    p.step = 0.18 / 600;
    p.shots = {{{{200, 0, 240}}, {{300, 0, 270}}}};
    p.settle();
    auto found = traces<double>(p, p.shots[0]);
    // The source's density is that of its cell: take it out.
    for (double& value : found) value /= p.source_factor(p.shots[0].sources[0]);
    return found;
  };
  const auto fine = trace(288);
  for (const Index nodes : {48, 64}) errors.push_back(apart(trace(nodes), fine));
  // ρ half-way is the mean of both nodes, of the second order, where waves are well sampled.
  EXPECT_GT(std::log(errors[0] / errors[1]) / std::log(64.0 / 48), 1.8) << errors[0] << ' ' << errors[1];
  EXPECT_LT(errors[1], 5e-3);
}

TEST(AcousticRock, RefusesWhatCannotBe) {
  auto p = rough_rock(Equation::variable_density);
  p.density[7] = 0;
  EXPECT_THAT(message([&] { p.settle(); }), AllOf(HasSubstr("density"), HasSubstr("0 in cell 7")));
  p.density.pop_back();
  EXPECT_THROW(p.settle(), ShapeError);
  p = rough_rock(Equation::tti);
  p.epsilon[3] = p.delta[3] - 0.05;
  EXPECT_THAT(message([&] { p.settle(); }), AllOf(HasSubstr("is less than delta"), HasSubstr("in cell 3")));
  p = rough_rock(Equation::tti);
  p.coefficients = Coefficients::optimised;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("Taylor"));
  p = rough_rock(Equation::vti);
  p.settle();
  EXPECT_LT(p.longest_step(), rough_rock(Equation::constant_density).longest_step());
}

}  // namespace
}  // namespace terrane::acoustic
