// Waves of constant density against solutions on paper, and the laws they keep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "support/acoustic_box.hpp"
#include "support/files.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"

namespace terrane::acoustic {
namespace {

using std::numbers::pi;
using test::all_sides;
using test::apart;
using test::Chance;
using test::column;
using test::dot;
using test::even_box;
using test::norm;
using test::rough_box;
using test::traces;
using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

/// s(t − r/v) / (4π r) between two places.
std::vector<double> spherical(const Problem& p, const Place& from, const Place& to, double velocity) {
  return test::spherical(p, test::distance(from, to), velocity);
}

/// Ricker waves of 10 nodes per wavelength in a cube; the box is large enough for walls to be silent.
Problem cube(Index nodes, double per_wavelength, double end) {
  const double h = 10, velocity = 2000;
  auto p = even_box({nodes, nodes, nodes}, h, velocity);
  p.wavelet.frequency = velocity / (per_wavelength * h);
  all_sides(p, Boundary::cpml);
  p.end = end;
  return p;
}

TEST(AcousticWaves, APointSourceSendsASphericalWave) {
  auto p = cube(36, 10, 0.32);
  const double h = 10;
  const Place source{13.37 * h, 14.81 * h, 15.5 * h};
  const std::vector<Place> receivers{
      {25.2 * h, 14.1 * h, 17.9 * h}, {13 * h, 27 * h, 16 * h}, {22.6 * h, 5.5 * h, 26.3 * h}};
  p.shots = {{{source}, receivers}};
  p.settle();
  for (const auto& found : {traces<double>(p, p.shots[0]), traces<float>(p, p.shots[0])})
    for (std::size_t r = 0; r < receivers.size(); ++r)
      EXPECT_LT(apart(column(found, receivers.size(), r), spherical(p, source, receivers[r], 2000)), 5e-3)
          << r;
}

TEST(AcousticWaves, AWaveFromANodeArrivesAtANodeTheSame) {
  auto p = cube(36, 20, 0.5);
  const Place source{100, 150, 160}, receiver{260, 150, 160};
  p.shots = {{{source}, {receiver}}};
  p.settle();
  EXPECT_LT(apart(traces<double>(p, p.shots[0]), spherical(p, source, receiver, 2000)), 2e-3);
}

TEST(AcousticWaves, AFreeSurfaceIsAMirrorImageOfTheOppositeSign) {
  auto p = cube(36, 13, 0.4);
  p.sides[up][1] = Boundary::free_surface;
  const double h = 10, surface = 35.5 * h;
  for (const double depth : {1.35, 5.2, 9.0}) {
    const Place source{13.3 * h, 14.8 * h, surface - depth * h},
        receiver{24.1 * h, 16.2 * h, surface - 6.3 * h};
    Place image = source;
    image[2] = 2 * surface - source[2];
    p.shots = {{{source}, {receiver}}};
    p.step = 0;
    p.end = 0.4;
    p.settle();
    auto exact = spherical(p, source, receiver, 2000);
    const auto ghost = spherical(p, image, receiver, 2000);
    for (std::size_t n = 0; n < exact.size(); ++n) exact[n] -= ghost[n];
    EXPECT_LT(apart(traces<double>(p, p.shots[0]), exact), 6e-3) << depth;
  }
}

TEST(AcousticWaves, RemovingTimeDispersionLeavesTheErrorOfSpaceAlone) {
  auto p = cube(12, 10, 0.5);
  p.order = 16;
  p.radius = 6;
  p.grid.nodes[east] = 50;
  p.velocity.assign(static_cast<std::size_t>(p.grid.box().count()), 2000.0);
  const Place source{60, 50, 50}, receiver{410, 50, 50};
  p.shots = {{{source}, {receiver}}};
  p.settle();
  const auto exact = spherical(p, source, receiver, 2000);
  const double with = apart(traces<double>(p, p.shots[0]), exact);
  p.exact_time = false;
  const double without = apart(traces<double>(p, p.shots[0]), exact);
  EXPECT_LT(with, 2e-3) << without;
  EXPECT_GT(without, 30 * with);
}

TEST(AcousticWaves, TheErrorFallsWithTheOrderOfTheStencil) {
  for (const int order : {2, 4, 6, 8, 12, 16}) {
    std::vector<double> errors;
    for (const double h : {10.0, 7.5}) {
      const auto nodes = static_cast<Index>(std::lround(240 / h)) + 1;
      auto p = even_box({nodes, nodes, nodes}, h, 2000);
      p.wavelet.frequency = 16;
      p.order = order;
      p.radius = 8;
      all_sides(p, Boundary::cpml);
      p.layers.reflection = 1e-12;
      p.layers.points = 15;
      p.end = 3.2 / p.wavelet.frequency + 0.09;
      const Place source{30, 120, 120}, receiver{210, 120, 120};
      p.shots = {{{source}, {receiver}}};
      p.settle();
      errors.push_back(apart(traces<double>(p, p.shots[0]), spherical(p, source, receiver, 2000)));
    }
    EXPECT_NEAR(std::log(errors[0] / errors[1]) / std::log(10 / 7.5), order, 0.12 * order + 0.2)
        << order << ": " << errors[0] << ", " << errors[1];
  }
}

constexpr Equation every_equation[] = {Equation::constant_density, Equation::variable_density, Equation::vti,
                                       Equation::tti};

TEST(AcousticWaves, SourceAndReceiverMayChangePlaces) {
  for (const auto equation : every_equation)
    for (const bool flat : {false, true}) {
      auto p = test::rough_rock(equation,
                                flat ? std::array<Index, 3>{40, 1, 44} : std::array<Index, 3>{22, 18, 24},
                                flat ? 0.4 : 0.1);
      p.settle();
      const auto& shot = p.shots[0];
      for (std::size_t r = 0; r < (flat ? 3 : 1); ++r) {
        const Shot there{shot.sources, {shot.receivers[r]}}, back{{shot.receivers[r]}, shot.sources};
        // A source is over the density at its place.
        const double ratio = p.source_factor(there.sources[0]) / p.source_factor(back.sources[0]);
        auto double_back = traces<double>(p, back), single_back = traces<float>(p, back);
        for (auto* values : {&double_back, &single_back})
          for (double& value : *values) value *= ratio;
        EXPECT_LT(apart(traces<double>(p, there), double_back), 1e-12) << r << static_cast<int>(equation);
        EXPECT_LT(apart(traces<float>(p, there), single_back), 3e-5) << r << static_cast<int>(equation);
      }
    }
}

TEST(AcousticWaves, EnergyIsKeptBetweenWalls) {
  auto p = rough_box({26, 18, 22}, 1.0);
  all_sides(p, Boundary::wall);
  p.sides[up][1] = Boundary::free_surface;
  p.exact_time = false;
  p.settle();
  Stream stream({Device::Kind::cpu, -1});
  Alone alone;
  const Medium<double> medium(p, stream, cut_grid(p, 1), 0);
  Wave<double> wave(stream, medium, alone);
  Sources<double> sources(stream, medium, p.shots[0].sources, 1 / p.grid.volume());
  auto series = p.source_series();
  const std::size_t quiet = static_cast<std::size_t>(3 / (p.wavelet.frequency * p.step));
  std::fill(series.begin() + static_cast<std::ptrdiff_t>(quiet), series.end(), 0.0);
  sources.send(stream, p.steps(), series);
  Clock clock(stream, 0);
  // E Δt² = ½ Σ (p⁺ − p)² / (v²Δt²) − ½ p⁺ᵀ A p Δt², and A p is what the step from p to p⁺ added
  std::vector<double> earliest, before, after, energies;
  const auto box = p.grid.box();
  for (std::size_t n = 0; n + 1 < p.steps(); ++n) {
    wave.step(stream, &sources, clock);
    clock.tick(stream, 1);
    earliest = std::move(before);
    before = std::move(after);
    after.clear();
    double energy = 0;
    for (Index k = 0, c = 0; k < box.last[0]; ++k)
      for (Index j = 0; j < box.last[1]; ++j)
        for (Index i = 0; i < box.last[2]; ++i, ++c) {
          const auto m = static_cast<std::size_t>(c);
          after.push_back(wave.now()(k, j, i));
          if (n <= quiet + 2) continue;
          const double leap = after[m] - before[m], bend = after[m] - 2 * before[m] + earliest[m];
          energy += (leap * leap - after[m] * bend) / (2 * medium.squared()(k, j, i));
        }
    if (n > quiet + 2) energies.push_back(energy);
  }
  ASSERT_GT(energies.size(), 100U);
  ASSERT_GT(energies.front(), 0);
  for (const double energy : energies) EXPECT_NEAR(energy / energies.front(), 1, 1e-12);
}

/// The same box `turns` times along an axis, each the mirror image of the one before; in the middle as it is.
Problem beside_its_images(const Problem& p, int axis, Index turns) {
  const auto a = static_cast<std::size_t>(axis);
  const Index nodes = p.grid.nodes[a];
  auto all = p;
  all.grid.nodes[a] *= turns;
  all.grid.first[a] -= static_cast<double>(turns / 2 * nodes) * p.grid.spacing[a];
  const auto box = p.grid.box(), wide = all.grid.box();
  for (auto* values : {&all.velocity, &all.density, &all.epsilon, &all.delta, &all.tilt, &all.azimuth}) {
    if (values->empty()) continue;
    const auto of = *values;
    values->clear();
    for (Index k = 0; k < wide.last[0]; ++k)
      for (Index j = 0; j < wide.last[1]; ++j)
        for (Index i = 0; i < wide.last[2]; ++i) {
          Index at[3] = {k, j, i};
          const Index turn = at[axis] / nodes - turns / 2, within = at[axis] % nodes;
          const bool mirrored = turn % 2 != 0;
          at[axis] = mirrored ? nodes - 1 - within : within;
          double value = of[static_cast<std::size_t>((at[0] * box.size(1) + at[1]) * box.size(2) + at[2])];
          if (mirrored && values == (axis == up ? &all.tilt : &all.azimuth))
            value = (axis == north ? pi : 0) - value;
          values->push_back(value);
        }
  }
  return all;
}

/// What is recorded of sources with alternating signs at a place and its images.
std::vector<double> recorded_of_images(const Problem& p, const Place& from, int axis, double width,
                                       Index turns, Device::Kind kind) {
  Stream stream({kind, -1});
  Alone alone;
  const Medium<double> medium(p, stream, cut_grid(p, 1), 0);
  Wave<double> wave(stream, medium, alone);
  std::vector<Place> places;
  std::vector<double> scales;
  for (Index turn = -(turns / 2); turn <= turns / 2; ++turn) {
    const double sign = turn % 2 == 0 ? 1 : -1;
    auto& at = places.emplace_back(from)[static_cast<std::size_t>(2 - axis)];
    at = (static_cast<double>(turn) + 0.5) * width + sign * (at - 0.5 * width);
    scales.push_back(sign);
  }
  Sources<double> sources(stream, medium, pressure_at(places), scales);
  sources.send(stream, p.steps(), p.source_series());
  Receivers<double> receivers(stream, medium, p.taps(p.shots[0]), p.steps());
  Clock clock(stream, 0);
  for (std::size_t n = 0; n < p.steps(); ++n) {
    receivers.read(stream, wave.zero_of_now(), clock, wave.zero_of_now_q());
    wave.step(stream, &sources, clock);
    clock.tick(stream, 1);
  }
  return receivers.gather(stream, alone);
}

TEST(AcousticWaves, BetweenTwoFreeSurfacesImagesHaveImages) {
  constexpr Index thin = 3, turns = 7;
  for (const auto equation : every_equation)
    for (const int axis : {up, north, east}) {
      std::array<Index, 3> nodes{12, 12, 12};
      nodes[static_cast<std::size_t>(axis)] = thin;
      auto p = test::rough_rock(equation, nodes, 0.05);
      p.sides = {{{Boundary::wall, Boundary::wall}, {Boundary::wall, Boundary::wall}, {}}};
      p.sides[east] = p.sides[up];
      p.sides[static_cast<std::size_t>(axis)] = {Boundary::free_surface, Boundary::free_surface};
      p.grid.first[static_cast<std::size_t>(axis)] = 5;  // the lower surface at 0
      // The tilt of what a velocity is read of is not mirrored (weights.cpp).
      if (equation != Equation::tti)
        p.record = {Component::pressure, Component::velocity_up, Component::velocity_east};
      Place from{63.1, 71.3, 82.7}, to{81.9, 61.3, 55.2};
      from[static_cast<std::size_t>(2 - axis)] = 13.7, to[static_cast<std::size_t>(2 - axis)] = 21.1;
      p.shots = {{{from}, {to}}};
      p.step = 0.4 * p.longest_step();
      p.settle();
      auto wide = beside_its_images(p, axis, turns);
      wide.settle();
      const double width = static_cast<double>(thin) * p.grid.spacing[static_cast<std::size_t>(axis)];
      const auto exact = recorded_of_images(wide, from, axis, width, turns, Device::Kind::cpu);
      for (const auto kind : {Device::Kind::cpu, Device::Kind::debug})
        EXPECT_LT(apart(recorded_of_images(p, from, axis, width, 1, kind), exact), 1e-12)
            << static_cast<int>(equation) << " " << axis;
    }
}

/// The largest difference to a box so large that nothing comes back from its ends, against the direct wave.
double reflection(Boundary kind, int points, double wanted, double angle) {
  constexpr double deep = 11;  // nodes between source and layer, 10 steps
  const auto offset = static_cast<Index>(std::lround(2 * 10 * std::tan(angle * pi / 180)));
  const Index wide = offset + 90, high = 130;
  Problem small = even_box({high, 1, wide}, 10, 2000), large = even_box({high + 160, 1, wide}, 10, 2000);
  for (auto* p : {&small, &large}) {
    all_sides(*p, Boundary::cpml);
    p->layers.points = 20;
    p->layers.reflection = 1e-12;
    p->end = static_cast<double>(offset + 20) * 10 / 2000 + 0.25;
    p->exact_time = false;
  }
  small.sides[up][0] = kind;
  small.layers.points = points;
  small.layers.reflection = wanted;
  const double below = 160 * 10.0;
  const double x = 40 * 10, height = (deep - 1) * 10.0, beyond = x + static_cast<double>(offset) * 10;
  small.shots = {{{{x, 0, height}}, {{beyond, 0, height}}}};
  large.shots = {{{{x, 0, height + below}}, {{beyond, 0, height + below}}}};
  small.settle();
  large.settle();
  const auto a = traces<double>(small, small.shots[0]), b = traces<double>(large, large.shots[0]);
  double most = 0, direct = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    most = worse(most, std::abs(a[n] - b[n]));
    direct = std::max(direct, std::abs(b[n]));
  }
  return 20 * std::log10(most / direct);
}

TEST(AcousticWaves, LayersReflectAsLittleAsTheyShould) {
  // Ten nodes and R = 1e-8: measured −84 dB at 45° and −79 dB at 72°; of a sponge of twenty −40 and −23 dB.
  EXPECT_LT(reflection(Boundary::cpml, 10, 1e-8, 45), -76);
  EXPECT_LT(reflection(Boundary::cpml, 10, 1e-8, 72), -72);
  EXPECT_LT(reflection(Boundary::sponge, 20, 1e-3, 45), -30);
  EXPECT_GT(reflection(Boundary::sponge, 20, 1e-3, 72), -40);
}

/// Bits of a run on this device with these threads.
template <class T>
std::vector<double> bits(const Problem& p, Device::Kind kind, int threads) {
  return traces<T>(p, p.shots[0], kind, threads);
}

TEST(AcousticWaves, HasTheSameBitsOnAnyThreadsAndOnTheDebugDevice) {
  for (const auto equation : every_equation) {
    const bool flat = equation == Equation::constant_density;
    auto p = test::rough_rock(
        equation, flat ? std::array<Index, 3>{40, 1, 44} : std::array<Index, 3>{22, 18, 24}, 0.06);
    p.settle();
    const auto one = bits<float>(p, Device::Kind::cpu, 1);
    ASSERT_GT(norm(one), 0);
    for (const int threads : {2, 5}) {
      EXPECT_EQ(one, bits<float>(p, Device::Kind::cpu, threads));
      EXPECT_EQ(one, bits<float>(p, Device::Kind::debug, threads));
    }
    EXPECT_EQ(bits<double>(p, Device::Kind::cpu, 1), bits<double>(p, Device::Kind::debug, 3));
  }
}

/// Traces by passes over memory that take several steps, and step by step.
template <class T>
void expect_bits_of_single_steps(const Problem& p, const Passes& passes, int threads) {
  std::vector<std::vector<double>> of;
  for (const bool passing : {false, true}) {
    Stream stream({Device::Kind::cpu, -1}, false, threads);
    Alone alone;
    Engine<T> engine(p, stream, alone);
    EXPECT_EQ(engine.passes().steps, 1);  // a small box gains nothing
    engine.use_passes(passing ? passes : Passes{});
    of.push_back(engine.model(p.shots[0], p.source_series()));
    // Another shot, from rest: nothing is left of the first.
    EXPECT_EQ(of.back(), engine.model(p.shots[0], p.source_series()));
  }
  ASSERT_GT(norm(of[0]), 0);
  EXPECT_EQ(of[0], of[1]);
}

TEST(AcousticWaves, SeveralStepsInOnePassHaveTheBitsOfStepsTakenOneByOne) {
  using enum Boundary;
  using Sides = std::array<std::array<Boundary, 2>, 3>;
  const std::array<Sides, 4> boxes{{
      {{{cpml, free_surface}, {cpml, cpml}, {cpml, cpml}}},
      {{{free_surface, cpml}, {free_surface, wall}, {cpml, free_surface}}},
      {{{wall, sponge}, {cpml, sponge}, {free_surface, cpml}}},
      {{{wall, free_surface}, {wall, free_surface}, {free_surface, wall}}},
  }};
  // Around a tilted axis free surfaces of one axis.
  const std::array<Sides, 4> tilted{{
      boxes[0],
      {{{free_surface, cpml}, {cpml, wall}, {cpml, sponge}}},
      boxes[2],
      {{{wall, cpml}, {free_surface, free_surface}, {wall, cpml}}},
  }};
  for (const auto equation :
       {Equation::constant_density, Equation::vti, Equation::variable_density, Equation::tti})
    for (std::size_t n = 0; n < boxes.size(); ++n) {
      auto p = test::rough_rock(equation, {26, 22, 24}, equation == Equation::tti ? 0.045 : 0.07);
      p.sides = equation == Equation::tti ? tilted[n] : boxes[n];
      p.layers.points = 6;
      p.order = n == 1 && equation == Equation::constant_density ? 4 : 8;
      p.shots[0].receivers.push_back(p.shots[0].receivers[0]);  // two at one place
      if (n == 2) p.record = {Component::velocity_up, Component::pressure, Component::velocity_east};
      p.settle();
      ASSERT_TRUE(p.steps() % 4 != 0 || p.steps() % 7 != 0);  // a last pass is shorter
      Passes passes{4, 5, {}};
      for (const std::size_t a : {0, 1}) {
        const bool twice = p.sides[a][0] == cpml || p.sides[a][1] == cpml || p.reach() > p.points();
        passes.lag[a] = (twice ? 2 : 1) * p.points();
      }
      expect_bits_of_single_steps<float>(p, passes, 3);
      if (equation == Equation::tti && n > 0) continue;
      passes.steps = 7, passes.rows = 16;
      expect_bits_of_single_steps<double>(p, passes, 1);
    }
}

TEST(AcousticWaves, SeveralStepsInOnePassBetweenTwoFreeSurfacesHaveTheBitsOfStepsTakenOneByOne) {
  for (const auto equation : every_equation) {
    auto p = test::rough_rock(equation, {3, 22, 24}, 0.07);
    p.sides[up] = {Boundary::free_surface, Boundary::free_surface};
    p.shots = {{{{83.1, 71.3, 12.7}}, {{131.9, 61.3, 6.1}, {40, 50, 10}}}};
    p.layers.points = 6;
    p.settle();
    Passes passes{4, 5, {}};
    passes.lag = {(p.reach() > p.points() ? 2 : 1) * p.points(), 2 * p.points()};
    expect_bits_of_single_steps<float>(p, passes, 3);
  }
}

TEST(AcousticWaves, PassesAreForFieldsThatCachesDoNotHold) {
  auto p = test::even_box({90, 100, 110}, 10, 2000);
  test::all_sides(p, Boundary::wall);
  p.sides[north] = {Boundary::cpml, Boundary::wall};
  const Device cpu{Device::Kind::cpu, -1};
  const auto passes = passes_for(p, cpu, 2, cut_grid(p, 1));
  EXPECT_EQ(passes.steps, 4);
  EXPECT_EQ(passes.why, "");
  EXPECT_EQ(passes.lag, (std::array<Index, 2>{4, 8}));
  const auto why_one = [&](const Problem& of, const Device& device, int threads, int ranks) {
    const auto found = passes_for(of, device, threads, cut_grid(of, ranks));
    EXPECT_EQ(found.steps, 1);
    return std::string(found.why);
  };
  EXPECT_THAT(why_one(p, cpu, 8, 1), testing::HasSubstr("rows along northing"));
  EXPECT_THAT(why_one(p, {Device::Kind::debug, -1}, 2, 1), testing::HasSubstr("of the CPU"));
  EXPECT_THAT(why_one(p, cpu, 2, 2), testing::HasSubstr("hold the fields of a rank"));
  auto larger = p;
  larger.grid.nodes = {150, 110, 200};
  EXPECT_EQ(passes_for(larger, cpu, 2, cut_grid(larger, 2)).steps, 4);
  larger.grid.nodes = {170, 200, 400};
  EXPECT_EQ(passes_for(larger, cpu, 1, cut_grid(larger, 2)).steps, 4);
  EXPECT_THAT(why_one(larger, cpu, 1, 3), testing::HasSubstr("thin"));
  larger.equation = Equation::tti;
  EXPECT_EQ(passes_for(larger, cpu, 2, cut_grid(larger, 1)).steps, 2);
  EXPECT_EQ(passes_for(larger, cpu, 2, cut_grid(larger, 1)).lag, (std::array<Index, 2>{8, 8}));
  EXPECT_THAT(why_one(larger, cpu, 1, 2), testing::HasSubstr("of one rank"));
  larger.sides[up][1] = larger.sides[east][0] = Boundary::free_surface;
  EXPECT_THAT(why_one(larger, cpu, 2, 1), testing::HasSubstr("on one axis only"));
}

/// The steps of rows against those of nodes, one by one, on random fields.
void expect_rows_like_nodes(Equation equation, int order, bool flat) {
  for (const auto kind : {Boundary::cpml, Boundary::sponge}) {
    auto p =
        test::rough_rock(equation, flat ? std::array<Index, 3>{25, 1, 37} : std::array<Index, 3>{25, 19, 23});
    p.order = order;
    p.sides[east] = {kind, kind};
    p.settle();
    Stream stream({Device::Kind::cpu, -1});
    const Medium<double> medium(p, stream, cut_grid(p, 1), 0);
    // Two copies of all that a step reads and writes.
    Chance chance(3);
    const auto random = [&] { return chance.list(medium.size()); };
    const auto now = random(), now_q = random(), before = random(), before_q = random();
    std::vector<double> next[2] = {before, before}, next_q[2] = {before_q, before_q};
    std::vector<double> along[2] = {random(), random()};
    std::vector<std::vector<double>> layers[2];
    for (int which = 0; which < 2; ++which) {
      auto g = medium.arguments();
      const View<const double, 3> shape(now.data(), medium.box());
      const auto& first = medium.box().first;
      const Index to_zero = first[0] * shape.stride(0) + first[1] * shape.stride(1) + first[2];
      g.now = now.data() - to_zero;
      g.next = next[which].data() - to_zero;
      if (p.fields() == 2) {
        g.now_q = now_q.data() - to_zero;
        g.next_q = next_q[which].data() - to_zero;
        g.along_p = along[0].data() - to_zero;
        g.along_q = along[1].data() - to_zero;
      }
      Chance again(5);
      for (const auto& slab : medium.slabs()) {
        auto& layer = g.layers[slab.axis][slab.side];
        const Index there = slab.arrays.first[0] * layer.stride[0] + slab.arrays.first[1] * layer.stride[1] +
                            slab.arrays.first[2] * layer.stride[2];
        for (double** field : {&layer.psi, &layer.zeta, &layer.eta}) {
          // ψ stands in the layer alone.
          auto values = again.list(static_cast<std::size_t>(slab.arrays.count()));
          const View<double, 3> view(values.data(), slab.arrays);
          for (Index k = slab.arrays.first[0]; k < slab.arrays.last[0]; ++k)
            for (Index j = slab.arrays.first[1]; j < slab.arrays.last[1]; ++j)
              for (Index i = slab.arrays.first[2]; i < slab.arrays.last[2]; ++i)
                if (!slab.layer.contains(k, j, i)) view(k, j, i) = 0;
          layers[which].push_back(std::move(values));
          *field = layers[which].back().data() - there;
        }
      }
      const Work work(medium.inner());
      const auto kernel = medium.kernel();
      if (equation == Equation::tti) {
        auto box = p.whole().grown(0, kernel.points, kernel.points).grown(2, kernel.points, kernel.points);
        if (p.grid.there(north)) box = box.grown(1, kernel.points, kernel.points);
        if (which == 0) begin_along(stream, kernel, g, box);
        else begin_plain_along(stream, kernel, g, box);
      }
      if (which == 0) begin_steps(stream, kernel, g, work);
      else begin_plain_steps(stream, kernel, g, work);
    }
    // The plain ones may round products before they add.
    EXPECT_LT(apart(next[0], next[1]), 2e-15) << order;
    EXPECT_LT(apart(next_q[0], next_q[1]), 2e-15) << order;
    for (std::size_t n = 0; n < layers[0].size(); ++n) EXPECT_LT(apart(layers[0][n], layers[1][n]), 2e-15);
  }
}

TEST(AcousticWaves, RowsAgreeWithNodesTakenOneByOne) {
  for (const int order : {2, 4, 6, 8, 10, 12, 14, 16})
    expect_rows_like_nodes(Equation::constant_density, order, false);
  for (const auto equation : {Equation::variable_density, Equation::vti, Equation::tti})
    for (const bool flat : {false, true})
      for (const int order : {4, 8, 14}) expect_rows_like_nodes(equation, order, flat);
}

TEST(AcousticWaves, RefusesWhatCannotBe) {
  const auto sound = rough_box();
  auto p = sound;
  p.step = 1.01 * p.longest_step();
  EXPECT_THAT(message([&] { p.settle(); }), AllOf(HasSubstr("is not stable"), HasSubstr("at most")));
  p = sound;
  p.velocity[3] = -1;
  EXPECT_THAT(message([&] { p.settle(); }),
              AllOf(HasSubstr("-1 m/s in cell 3"), HasSubstr("more than zero")));
  p.velocity[3] = std::nan("");
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("nan m/s in cell 3"));
  p = sound;
  p.wavelet.frequency = 60;
  EXPECT_THAT(message([&] { p.settle(); }),
              AllOf(HasSubstr("points per wavelength of 150 Hz"), HasSubstr("cells of")));
  p = sound;
  p.shots[0].receivers[1][0] = 300;
  EXPECT_THAT(message([&] { p.settle(); }),
              AllOf(HasSubstr("receiver 2 of shot 1"), HasSubstr("easting 300 m lies outside the mesh")));
  p = sound;
  p.shots[0].sources[0][2] = 255;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("on the free surface"));
  p = sound;
  p.order = 7;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("Allowed: 2, 4"));
  p = sound;
  p.order = 14;
  p.coefficients = Coefficients::optimised;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("Taylor"));
  p = sound;
  p.velocity.pop_back();
  EXPECT_THROW(p.settle(), ShapeError);
  p = sound;
  p.settle();
  EXPECT_THAT(message([&] { cut_grid(p, 16); }),
              AllOf(HasSubstr("16 ranks are too many"), HasSubstr("fewer")));
}

}  // namespace
}  // namespace terrane::acoustic
