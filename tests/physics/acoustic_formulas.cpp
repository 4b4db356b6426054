// Wavelets and coefficients: what their definitions promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <numbers>

#include "support/acoustic_box.hpp"
#include "support/files.hpp"
#include "terrane/physics/acoustic/march/kernels.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"

namespace terrane::acoustic {
namespace {

using std::numbers::pi;
using test::apart;
using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

Wavelet wavelet(WaveletKind kind, double frequency, double delay = -1, double amplitude = 1) {
  Wavelet made;
  made.kind = kind;
  made.frequency = frequency;
  made.delay = delay;
  made.amplitude = amplitude;
  return made;
}

/// ∫ s(t) e^{−2πi f t} dt of samples, its magnitude.
double spectrum(const std::vector<double>& samples, double step, double frequency) {
  std::complex<double> sum = 0;
  for (std::size_t n = 0; n < samples.size(); ++n)
    sum += samples[n] * std::polar(step, -2 * pi * frequency * step * static_cast<double>(n));
  return std::abs(sum);
}

TEST(Wavelets, HaveTheSpectraOfTheirNames) {
  constexpr double step = 1e-3;
  constexpr double f = 20;
  const auto ricker = wavelet(WaveletKind::ricker, f, 1, 3), gabor = wavelet(WaveletKind::gabor, f, 1, 2);
  auto ormsby = wavelet(WaveletKind::ormsby, 0, 20, 4);
  ormsby.corners = {5, 10, 30, 45};
  const auto of_ricker = ricker.at(step, 2000), of_gabor = gabor.at(step, 2000),
             of_ormsby = ormsby.at(step, 40000);
  EXPECT_NEAR(of_ricker[1000], 3, 1e-12);
  EXPECT_NEAR(of_gabor[1000], 2, 1e-12);
  EXPECT_NEAR(of_ormsby[20000], 4, 1e-12);
  for (const double nu : {3.0, 7.5, 11.0, 20.0, 29.0, 37.5, 44.0, 60.0}) {
    const double at = nu / f;
    EXPECT_NEAR(spectrum(of_ricker, step, nu), 3 * 2 / std::sqrt(pi) * at * at / f * std::exp(-at * at),
                1e-9);
    const auto half = [&](double x) { return 1 / (std::sqrt(pi) * f) * std::exp(-4 * x * x); };
    EXPECT_NEAR(spectrum(of_gabor, step, nu), 2 * (half(at - 1) + half(at + 1)), 1e-9);
    const double ramp = std::clamp((nu - 5) / 5, 0.0, 1.0) * std::clamp((45 - nu) / 15, 0.0, 1.0);
    EXPECT_NEAR(spectrum(of_ormsby, step, nu), 4 * ramp / (45 + 30 - 10 - 5), 2e-3 * 4 / 60) << nu;
  }
}

TEST(Wavelets, GivenBySamplesArePassedThroughThemByTheirSpectrum) {
  constexpr double coarse = 4e-3, fine = 1.3e-3;
  const auto ricker = wavelet(WaveletKind::ricker, 20);
  Wavelet given;
  given.kind = WaveletKind::samples;
  given.samples = ricker.at(coarse, 60);
  given.sample_step = coarse;
  const auto again = given.at(coarse, 60);
  for (std::size_t n = 0; n < again.size(); ++n) EXPECT_NEAR(again[n], given.samples[n], 1e-12);
  const auto between = given.at(fine, 150), exact = ricker.at(fine, 150);
  EXPECT_LT(apart(between, exact), 1e-4);
  EXPECT_NEAR(given.main_frequency(), 20, 1);
  EXPECT_NEAR(given.highest_frequency(), ricker.highest_frequency(), 3);
}

/// Σ s_m sinc(t/h − m), term by term.
double sum_of_sincs(const Wavelet& w, double t) {
  double sum = 0;
  for (std::size_t m = 0; m < w.samples.size(); ++m) {
    const double x = t / w.sample_step - static_cast<double>(m);
    sum += w.samples[m] * (std::abs(x) < 1e-12 ? 1 : std::sin(pi * x) / (pi * x));
  }
  return sum;
}

TEST(Wavelets, OfManySamplesAreTheSumsOfTheirSincs) {
  test::Chance chance(3);
  Wavelet given;
  given.kind = WaveletKind::samples;
  given.samples = chance.list(3001);
  given.sample_step = 1e-3;
  for (const double step : {1e-3, 0.77e-3, 21.4159e-3}) {
    const auto at = given.at(step, 150);
    for (std::size_t n = 0; n < at.size(); ++n)
      ASSERT_NEAR(at[n], sum_of_sincs(given, static_cast<double>(n) * step), 1e-12) << step << " " << n;
  }
}

TEST(Wavelets, ThatTheRunCutsAreDoubted) {
  auto p = test::even_box({20, 1, 20}, 10, 2000);
  p.wavelet = wavelet(WaveletKind::ricker, 10);
  p.end = 0.4;
  const auto doubt = [&] {
    const auto all = p.doubts_of_wavelet();
    return all.empty() ? std::string("none") : all.front();
  };
  EXPECT_EQ(doubt(), "none");
  p.wavelet.delay = 0;
  EXPECT_THAT(doubt(), AllOf(HasSubstr("100 % of its largest value"), HasSubstr("middle is at 0.15 s")));
  p.wavelet.delay = 0.1;  // 1e-3 of it
  EXPECT_EQ(doubt(), "none");
  p.wavelet.delay = -1;
  p.end = 0.1;
  EXPECT_THAT(doubt(), HasSubstr("the run ends at 0.1 s, before the wavelet is at its largest"));
  p.end = 0.4;
  p.wavelet.kind = WaveletKind::samples;
  p.wavelet.samples = {0.5, -2, 1, 0};
  p.wavelet.sample_step = 0.02;
  EXPECT_THAT(doubt(), HasSubstr("24.8 % of its largest value"));
  p.wavelet.amplitude = 0;
  EXPECT_THAT(doubt(), HasSubstr("zero: nothing is sent"));
}

TEST(Wavelets, AreNotStrongerThanNumbersHold) {
  auto w = wavelet(WaveletKind::ricker, 10, -1, 1e300);
  EXPECT_THAT(message([&] { w.check(); }),
              AllOf(HasSubstr("acoustic: source.amplitude"), HasSubstr("1e+15 Pa m")));
  w.amplitude = 1e15;
  w.check();
}

/// Relative error of the group velocity along an axis, dK/dk − 1 with K² h² = Σ 2 c_r (1 − cos r kh).
double group_error(const Differences& set, double kh) {
  double sum = 0, slope = 0;
  for (std::size_t n = 0; n < set.second.size(); ++n) {
    const double r = static_cast<double>(n + 1), half = std::sin(r * kh / 2);
    sum += 4 * set.second[n] * half * half;
    slope += set.second[n] * r * std::sin(r * kh);
  }
  return std::abs(slope / std::sqrt(sum) - 1);
}

TEST(Coefficients, OfTaylorHaveTheirOrder) {
  for (int order = 2; order <= 16; order += 2) {
    const auto set = differences(order);
    const double kh = order < 10 ? 0.3 : 0.5;
    EXPECT_NEAR(std::log(group_error(set, kh) / group_error(set, kh / 1.5)) / std::log(1.5), order, 0.3)
        << order;
  }
}

TEST(Coefficients, ThatAreOptimisedKeepVelocitiesToTheirToleranceUpToShorterWaves) {
  using enum Coefficients;
  for (const auto& [kind, tolerance] : {std::pair{optimised, 1e-3}, std::pair{optimised_fine, 1e-4}})
    for (const int order : {4, 6, 8, 10, 12, 16}) {
      if (kind == optimised_fine && order == 4) continue;
      const auto set = differences(order, kind), plain = differences(order);
      const double shortest = set.points_per_wavelength(1.05 * tolerance),
                   taylor = plain.points_per_wavelength(tolerance);
      EXPECT_LT(shortest, 0.9 * taylor) << order;
      for (double kh = 0.02; kh <= 2 * pi / shortest; kh += 0.01)
        ASSERT_LT(group_error(set, kh), 1.06 * tolerance) << order << " at " << 2 * pi / kh << " points";
    }
}

/// How far traces of a pulse in a plane are from those of a fine grid, cells of `h` m.
double error_in_a_plane(double h, int order, Coefficients coefficients, const std::vector<double>& truth = {},
                        std::vector<double>* found = nullptr) {
  const auto nodes = static_cast<Index>(std::lround(600 / h)) + 1;
  auto p = test::even_box({nodes, 1, nodes}, h, 2000);
  p.wavelet.frequency = 20;
  p.order = order;
  p.coefficients = coefficients;
  p.end = 0.36;
  p.step = 5e-4;
  test::all_sides(p, Boundary::cpml);
  p.shots = {{{{120, 0, 300}}, {{480, 0, 300}}}};
  p.settle();
  auto traces = test::traces<double>(p, p.shots[0]);
  if (found) *found = traces;
  return truth.empty() ? 0 : apart(traces, truth);
}

TEST(Coefficients, ThatAreOptimisedCarryShortWavesFurther) {
  std::vector<double> truth;
  error_in_a_plane(5, 16, Coefficients::taylor, {}, &truth);
  const double taylor = error_in_a_plane(15, 8, Coefficients::taylor, truth),
               optimised = error_in_a_plane(15, 8, Coefficients::optimised, truth),
               fine = error_in_a_plane(15, 8, Coefficients::optimised_fine, truth);
  RecordProperty("taylor", std::to_string(taylor)), RecordProperty("optimised", std::to_string(optimised));
  EXPECT_LT(optimised, taylor / 2) << optimised << " " << fine;
  EXPECT_LT(fine, taylor / 2) << taylor << " " << fine;
}

TEST(StepArguments, HandOnTheNodesThatNeighboursReadToTheirPlaces) {
  // Planes 10 to 19 of a rank, whose fields have two more on each side; indices north and east begin below 0.
  StepArguments<float> g;
  g.held = {{8, -1, -3}, {22, 4, 9}};
  g.stride[0] = 5 * 12, g.stride[1] = 12, g.stride[2] = 1;
  const auto size = static_cast<std::size_t>(g.held.count());
  std::vector<float> mine[2], below[2], above[2];
  for (auto* fields : {&mine, &below, &above})
    for (auto& field : *fields) field.assign(size, 0);
  for (std::size_t n = 0; n < size; ++n) mine[0][n] = static_cast<float>(n + 1), mine[1][n] = -mine[0][n];
  const auto zero = [&](std::vector<float>& field, Index first_plane) {
    return field.data() - (first_plane * g.stride[0] + g.held.first[1] * g.stride[1] + g.held.first[2]);
  };
  g.next = zero(mine[0], 8), g.next_q = zero(mine[1], 8);
  g.beside[0] = {10, 12, {zero(below[0], -2), zero(below[1], -2)}};  // whose fields begin elsewhere
  g.beside[1] = {18, 20, {zero(above[0], 18), zero(above[1], 18)}};
  for (Index k = 10; k < 20; ++k)
    for (Index j = -1; j < 4; ++j)
      for (Index i = -3; i < 9; ++i) {
        const Index here = k * g.stride[0] + j * g.stride[1] + i;
        EXPECT_EQ(g.plane_of(here), k);
        g.hand_on(here);
      }
  const auto row = [&](std::vector<float>& field, Index plane) {
    return std::vector<float>(field.begin() + plane * g.stride[0], field.begin() + (plane + 1) * g.stride[0]);
  };
  const std::vector<float> nothing(static_cast<std::size_t>(g.stride[0]), 0);
  for (const int field : {0, 1})
    for (Index plane = 0; plane < 14; ++plane) {
      EXPECT_EQ(row(below[field], plane),
                plane == 12 || plane == 13 ? row(mine[field], plane - 10) : nothing);
      EXPECT_EQ(row(above[field], plane), plane == 0 || plane == 1 ? row(mine[field], plane + 10) : nothing);
    }
}

}  // namespace
}  // namespace terrane::acoustic
