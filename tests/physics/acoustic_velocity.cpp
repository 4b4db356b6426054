// Velocities of particles: ρ v_t = −∇p, and with an axis n of symmetry ρ v_t = −∇p − n (n·∇)(q − p).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "support/acoustic_box.hpp"
#include "support/files.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/acoustic/formula/time_integral.hpp"
#include "terrane/physics/acoustic/operators.hpp"
#include "terrane/physics/acoustic/weights.hpp"

namespace terrane::acoustic {
namespace {

using std::numbers::pi;
using test::apart;
using test::column;
using testing::HasSubstr;
using testing_support::message;

constexpr auto east_of = Component::velocity_east, north_of = Component::velocity_north,
               up_of = Component::velocity_up;

/// Towards the receiver: (s(t − r/c)/c + S(t − r/c)/r) / (4π r ρ), S the integral of a Ricker wavelet.
std::vector<double> outward(const Problem& p, double r, double c, double density) {
  std::vector<double> v;
  for (std::size_t n = 0; n < p.steps(); ++n) {
    const double tau = static_cast<double>(n) * p.step - p.wavelet.start() - r / c;
    const double a = pi * p.wavelet.frequency * tau, fall = std::exp(-a * a);
    v.push_back(((1 - 2 * a * a) / c + tau / r) * fall / (4 * pi * r * density));
  }
  return v;
}

TEST(AcousticVelocity, OfASphericalWaveIsAsOnPaper) {
  auto p = test::even_box({36, 36, 36}, 10, 2000);
  test::all_sides(p, Boundary::cpml);
  p.end = 0.35;
  p.even_density = 2300;
  p.record = {up_of, Component::pressure, east_of, north_of};
  const Place source{133.7, 148.1, 155}, receiver{225.2, 91.1, 220.9};
  p.shots = {{{source}, {receiver, {250, 140, 170}}}};
  p.settle();
  const auto found = test::traces<double>(p, p.shots[0]);
  for (std::size_t r = 0; r < 2; ++r) {
    const auto& at = p.shots[0].receivers[r];
    const double far = test::distance(source, at);
    const auto along = outward(p, far, 2000, 2300);
    for (const auto& [component, axis] : {std::pair{0, 2}, {2, 0}, {3, 1}}) {
      const auto x = static_cast<std::size_t>(axis);
      auto exact = along;
      for (double& v : exact) v *= (at[x] - source[x]) / far;
      const auto one = column(found, 8, 2 * static_cast<std::size_t>(component) + r);
      double off = 0;  // against the whole velocity
      for (std::size_t n = 0; n < one.size(); ++n) off += (one[n] - exact[n]) * (one[n] - exact[n]);
      EXPECT_LT(std::sqrt(off) / test::norm(along), 4e-3) << component << r;
    }
    // Pressure is what it is without velocities, but layers lie two nodes further out.
    EXPECT_LT(apart(column(found, 8, 2 + r), test::spherical(p, far, 2000)), 5e-3);
  }
}

/// A line of sources across a flat box, in the middle of which waves are plane until waves of its ends come.
Problem plane_wave(Index up_nodes, Index across) {
  auto p = test::even_box({up_nodes, 1, across}, 10, 2000);
  p.wavelet.frequency = 12.5;
  test::all_sides(p, Boundary::cpml);
  Shot shot;
  for (Index n = 0; n < across; ++n) shot.sources.push_back({10.0 * static_cast<double>(n), 0, 300});
  p.shots = {shot};
  p.end = 0.44;
  p.record = {Component::pressure, up_of, east_of};
  return p;
}

TEST(AcousticVelocity, OfAPlaneWaveIsThePressureOverTheImpedance) {
  auto p = plane_wave(70, 161);
  p.even_density = 2000;
  p.shots[0].receivers = {{803.3, 0, 424.7}, {803.3, 0, 175.3}};
  p.settle();
  const auto found = test::traces<double>(p, p.shots[0]);
  for (std::size_t r = 0; r < 2; ++r) {
    auto expected = column(found, 6, r);
    for (double& value : expected) value *= (r == 0 ? 1 : -1) / (2000.0 * 2000.0);
    EXPECT_GT(test::norm(expected), 0);
    EXPECT_LT(apart(column(found, 6, 2 + r), expected), 3e-3) << r;
    EXPECT_LT(test::norm(column(found, 6, 4 + r)), 1e-3 * test::norm(expected));
  }
}

TEST(AcousticVelocity, AcrossAPlaneBetweenDensitiesIsContinuousAndOfTheImpedanceBeyond) {
  auto p = plane_wave(70, 161);
  p.equation = Equation::variable_density;
  p.density.assign(p.velocity.size(), 1000.0);
  const auto below = static_cast<std::size_t>(45 * 161);  // the plane lies at 445 m
  std::fill(p.density.begin() + static_cast<std::ptrdiff_t>(below), p.density.end(), 2600.0);
  p.shots[0].receivers = {{803.3, 0, 444.8}, {803.3, 0, 445.2}, {803.3, 0, 500}};
  p.end = 0.40;
  p.settle();
  const auto found = test::traces<double>(p, p.shots[0]);
  const auto under = column(found, 9, 3), over = column(found, 9, 4);
  EXPECT_LT(apart(under, over), 0.04);  // 0.2 m of water are 0.02 of it, as much of rock 0.01
  auto beyond = column(found, 9, 2);
  for (double& value : beyond) value /= 2600.0 * 2000.0;
  EXPECT_LT(apart(column(found, 9, 5), beyond), 3e-3);
}

TEST(AcousticVelocity, BesideAFreeSurfaceIsTwiceThatOfTheWaveWhereThePressureVanishes) {
  auto p = plane_wave(50, 161);
  p.sides[up][1] = Boundary::free_surface;  // at 495 m
  p.even_density = 1000;
  p.shots[0].receivers = {{803.3, 0, 494.9}, {803.3, 0, 380}};
  p.end = 0.36;
  p.settle();
  const auto found = test::traces<double>(p, p.shots[0]);
  double largest[2]{}, passing = 0;
  for (std::size_t n = 0; n < p.steps(); ++n) {
    largest[0] = std::max(largest[0], std::abs(found[n * 6 + 2]));
    largest[1] = std::max(largest[1], std::abs(found[n * 6]));
    passing = std::max(passing, std::abs(found[n * 6 + 1]));
  }
  EXPECT_NEAR(largest[0] / (2 * passing / 2e6), 1, 0.02);
  EXPECT_LT(largest[1], 0.02 * passing);
}

TEST(AcousticVelocity, TheAdjointIsExactForEveryComponent) {
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti})
    for (const bool flat : {true, false}) {
      if (!flat && (equation == Equation::constant_density || equation == Equation::vti)) continue;
      auto p = flat ? test::rough_rock(equation, {27, 1, 30}, 0.3)
                    : test::rough_rock(equation, {26, 18, 24}, 0.07);
      if (!flat) p.sides[north] = {Boundary::wall, Boundary::wall};  // few nodes
      p.record = flat ? std::vector{up_of, Component::pressure, east_of}
                      : std::vector{Component::pressure, north_of, up_of, east_of};
      p.settle();
      Operators waves(p);
      test::Chance chance(2);
      auto change = chance.list(p.velocity.size());
      for (double& m : change) m *= 1e-9;
      // Each component by itself, and all of them as large as the others.
      const auto scattered = waves.born(change);
      const std::size_t receivers = p.shots[0].receivers.size(), count = p.traces(p.shots[0]);
      std::vector<double> data = chance.list(scattered.size());
      for (std::size_t c = 0; c < p.record.size(); ++c) {
        std::vector<double> alone(data.size(), 0.0);
        for (std::size_t n = 0; n < data.size(); ++n)
          if (n % count / receivers == c) alone[n] = data[n];
        std::vector<double> of_component(data.size(), 0.0);
        for (std::size_t n = 0; n < data.size(); ++n)
          if (alone[n] != 0) of_component[n] = scattered[n];
        const double sizes = test::norm(of_component) * test::norm(alone);  // found: 3e-15 of it
        EXPECT_NEAR(test::dot(change, waves.adjoint(alone)), test::dot(scattered, alone), 1e-13 * sizes)
            << static_cast<int>(p.record[c]);
      }
    }
}

/// One rock with an axis that leans by `tilt` towards `azimuth`.
Problem leaning(std::array<Index, 3> nodes, double epsilon, double delta, double tilt, double azimuth) {
  auto p = test::even_box(nodes, 10, 2000);
  p.equation = Equation::tti;
  p.epsilon.assign(p.velocity.size(), epsilon);
  p.delta.assign(p.velocity.size(), delta);
  p.tilt.assign(p.velocity.size(), tilt);
  p.azimuth.assign(p.velocity.size(), azimuth);
  test::all_sides(p, Boundary::wall);
  return p;
}

/// Value and gradient [up, north, east] of sin(k·x + phase).
struct Wavy {
  std::array<double, 3> k;
  double phase;
  double at(const std::array<double, 3>& x) const {
    return std::sin(k[0] * x[0] + k[1] * x[1] + k[2] * x[2] + phase);
  }
  double slope(const std::array<double, 3>& x, std::size_t axis) const {
    return k[axis] * std::cos(k[0] * x[0] + k[1] * x[1] + k[2] * x[2] + phase);
  }
};

/// Acceleration that weights read of two fields, and that on paper; the worst over components and places,
/// against the largest.
double error_of_weights(const Problem& p, const Wavy& of_p, const Wavy& of_q,
                        const std::vector<Place>& places) {
  double worst = 0, largest = 0;
  for (const auto& at : places) {
    const std::array<double, 3> x{at[2], at[1], at[0]};
    const auto n = p.equation == Equation::tti ? axis_of(0.3 + 1e-3 * x[0] + 5e-4 * x[2], 1 - 1e-3 * x[1])
                                               : std::array<double, 3>{1, 0, 0};
    double along = 0;
    for (std::size_t a = 0; a < 3; ++a) along += n[a] * (of_q.slope(x, a) - of_p.slope(x, a));
    for (const auto component : {up_of, north_of, east_of}) {
      const auto i = static_cast<std::size_t>(axis_of(component));
      const double exact = -(of_p.slope(x, i) + n[i] * along) / p.even_density;
      double read = 0;
      for (const auto& [node, weight, part] : weights_at(p, {at, component})) {
        EXPECT_NE(part, Part::pressure);
        const auto there = [&](std::size_t a) { return 10.0 * static_cast<double>(node[a]); };
        read += weight * (part == Part::p ? of_p : of_q).at({there(0), there(1), there(2)});
      }
      worst = std::max(worst, std::abs(read - exact));
      largest = std::max(largest, std::abs(exact));
    }
  }
  return worst / largest;
}

TEST(AcousticVelocity, InRockWithAnAxisIsReadOfWhatPushesAlongItAndAcross) {
  auto p = leaning({30, 28, 32}, 0.2, 0.1, 0, 0);
  for (Index k = 0, n = 0; k < 30; ++k)
    for (Index j = 0; j < 28; ++j)
      for (Index i = 0; i < 32; ++i, ++n) {
        p.tilt[static_cast<std::size_t>(n)] =
            0.3 + 1e-2 * static_cast<double>(k) + 5e-3 * static_cast<double>(i);
        p.azimuth[static_cast<std::size_t>(n)] = 1 - 1e-2 * static_cast<double>(j);
      }
  p.record = {up_of};
  p.shots = {{{{100, 100, 100}}, {}}};
  p.end = 0.1;
  p.even_density = 2200;
  p.settle();
  const std::vector<Place> places{{133.7, 148.1, 155}, {171.2, 120, 144.4}, {160, 130, 150}};
  const Wavy of_p{{0.031, 0.022, -0.027}, 0.3}, of_q{{-0.025, 0.034, 0.021}, 1.1};
  EXPECT_LT(error_of_weights(p, of_p, of_q, places), 2e-3);
  p.equation = Equation::vti;
  EXPECT_LT(error_of_weights(p, of_p, of_q, places), 2e-3);
  // Odd fields beyond a free surface, at 295 m.
  p.sides[up][1] = Boundary::free_surface;
  const Wavy odd_p{{0.04, 0, 0}, -0.04 * 295}, odd_q{{0.03, 0, 0}, -0.03 * 295};
  EXPECT_LT(error_of_weights(p, odd_p, odd_q, {{133.7, 148.1, 291}}), 2e-3);
  p.equation = Equation::tti;
  EXPECT_LT(error_of_weights(p, odd_p, odd_q, {{133.7, 148.1, 291}}), 4e-3);
}

TEST(AcousticVelocity, OfAnEllipticalWaveIsAsOnPaper) {
  constexpr double epsilon = 0.12, tilt = 0.61, azimuth = 0.35;
  auto p = leaning({48, 48, 48}, epsilon, epsilon, tilt, azimuth);
  p.wavelet.frequency = 2000 / 170.0;
  p.end = 0.27;
  p.even_density = 2300;
  p.record = {up_of, north_of, east_of};
  const Place source{231.3, 233.7, 237.7};
  p.shots = {{{source}, {{273.1, 265.2, 262.2}, {217, 262, 281}}}};
  p.settle();
  const auto found = test::traces<double>(p, p.shots[0]);
  // q = (2b + 1)/3 s(t − r'/v)/(4π r' a), p = b q, r'² = d⊥²/a + d∥².
  const double a = 1 + 2 * epsilon, b = std::sqrt(a);
  const auto n = axis_of(tilt, azimuth);
  for (std::size_t r = 0; r < 2; ++r) {
    const auto& at = p.shots[0].receivers[r];
    const std::array<double, 3> d{at[2] - source[2], at[1] - source[1], at[0] - source[0]};
    const double along = d[0] * n[0] + d[1] * n[1] + d[2] * n[2],
                 square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    const double far = std::sqrt((square - along * along) / a + along * along);
    const auto wave = outward(p, far, 2000, 2300);
    for (std::size_t i = 0; i < 3; ++i) {
      const double across = b * (d[i] - along * n[i]) / a, push = (across + along * n[i]) / far;
      double off = 0;
      for (std::size_t t = 0; t < wave.size(); ++t) {
        const double exact = (2 * b + 1) / (3 * a) * push * wave[t];
        off += std::pow(found[t * 6 + 2 * i + r] - exact, 2);
      }
      EXPECT_LT(std::sqrt(off) / test::norm(wave), 4e-3) << i << r;
    }
  }
}

TEST(AcousticVelocity, GrowsApartWherePressureFalls) {
  // −(2p + q)/3 changes by ρ v² [A ∇·(v level) + B ∂v/∂z] in time, from differences of receivers. (Around a
  // tilted axis the second, slow wave has too few cells for differences.)
  constexpr double epsilon = 0.24, delta = 0.1, near = 8;
  auto p = leaning({34, 34, 34}, epsilon, delta, 0, 0);
  p.equation = Equation::vti;
  p.wavelet.frequency = 10;
  p.exact_time = false;
  p.end = 0.3;
  p.record = {Component::pressure, up_of, north_of, east_of};
  const Place middle{203.3, 191.7, 187.1};
  Shot shot{{{111.7, 123.9, 130.3}}, {middle}};
  for (std::size_t axis = 0; axis < 3; ++axis)  // up, north, east
    for (const double side : {-2.0, -1.0, 1.0, 2.0}) {
      auto at = middle;
      at[2 - axis] += side * near;
      shot.receivers.push_back(at);
    }
  p.shots = {shot};
  p.settle();
  const auto found = test::traces<double>(p, shot);
  const std::size_t receivers = shot.receivers.size(), columns = 4 * receivers;
  std::vector<double> change;
  for (std::size_t t = 0; t < p.steps(); ++t) {
    double slope[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double* const v = found.data() + t * columns + (1 + axis) * receivers + 1 + 4 * axis;
      slope[axis] = (8 * (v[2] - v[1]) - (v[3] - v[0])) / (12 * near);
    }
    const double b = std::sqrt(1 + 2 * delta);
    change.push_back(-p.even_density * 4e6 *
                     ((2 * (1 + 2 * epsilon) + b) / 3 * (slope[1] + slope[2]) + (2 * b + 1) / 3 * slope[0]));
  }
  integrate(change, p.steps(), 0, 1, p.step);
  EXPECT_LT(apart(change, column(found, columns, 0)), 1e-2);
}

TEST(AcousticVelocity, WithoutAnisotropyIsIsotropicWhateverTheTilt) {
  auto p = test::rough_rock(Equation::tti, {40, 1, 44}, 0.2);
  test::all_sides(p, Boundary::wall);
  p.sides[up][1] = Boundary::free_surface;
  for (auto* values : {&p.epsilon, &p.delta}) std::fill(values->begin(), values->end(), 0.0);
  p.record = {up_of, east_of};
  auto plain = p;
  plain.equation = Equation::constant_density;
  p.settle();
  plain.settle();
  EXPECT_LT(apart(test::traces<double>(p, p.shots[0]), test::traces<double>(plain, plain.shots[0])), 1e-12);
}

TEST(AcousticVelocity, ChangesWithThePlacesOfSourceAndReceiver) {
  // The pressure at B of a source at A and the velocity at B: what B's velocity records of A is what A
  // records of a pair of opposite sources beside B, as far as they are near.
  auto p = test::rough_box({26, 22, 24}, 0.25);
  const Place a{83.1, 71.3, 112.7}, b{131.9, 91.3, 121.3};
  p.record = {east_of};
  p.shots = {{{a}, {b}}};
  p.settle();
  const auto recorded = test::traces<double>(p, p.shots[0]);
  p.record = {Component::pressure};
  const double near = 0.05;
  std::vector<double> pair;
  for (const double side : {1.0, -1.0}) {
    p.shots = {{{{b[0] + side * near, b[1], b[2]}}, {a}}};
    const auto one = test::traces<double>(p, p.shots[0]);
    pair.resize(one.size());
    for (std::size_t n = 0; n < one.size(); ++n) pair[n] += side * one[n] / (2 * near);
  }
  for (double& value : pair) value /= -p.even_density;
  integrate(pair, p.steps(), 0, 1, p.step);
  EXPECT_LT(apart(recorded, pair), 5e-3);
}

TEST(AcousticVelocity, IntegralsOfTracesAreRightAndHaveATranspose) {
  const std::size_t samples = 60;
  std::vector<double> wave, exact;
  for (std::size_t n = 0; n < samples; ++n) {
    const double t = static_cast<double>(n) - 30, e = std::exp(-t * t / 18);
    wave.push_back((1 - t * t / 9) * e);
    exact.push_back(0.004 * t * e);
  }
  auto found = wave;
  integrate(found, samples, 0, 1, 0.004);
  EXPECT_LT(apart(found, exact), 2e-3);
  test::Chance chance(3);
  for (const std::size_t count : {1, 2, 5, 20}) {
    const auto x = chance.list(3 * count), y = chance.list(3 * count);
    auto ix = x, ty = y;
    integrate(ix, count, 1, 3, 0.5);
    integrate_transposed(ty, count, 1, 3, 0.5);
    EXPECT_NEAR(test::dot(ix, y), test::dot(x, ty), 1e-13);
    for (std::size_t n = 0; n < 3 * count; n += 3) EXPECT_EQ(ix[n], x[n]);
  }
}

TEST(AcousticVelocity, SaysWhatCannotBeRecorded) {
  auto p = test::rough_box({27, 1, 30});
  p.record = {north_of};
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("one cell wide along northing"));
  p.record = {up_of, up_of};
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("twice"));
  p.record.clear();
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("nothing is recorded"));
  p.record = {up_of};
  p.even_density = 0;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("more than zero"));
}

}  // namespace
}  // namespace terrane::acoustic
