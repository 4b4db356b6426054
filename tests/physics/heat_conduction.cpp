// Heat conduction against solutions on paper.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <numeric>

#include "support/files.hpp"
#include "support/heat_box.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"

namespace terrane::heat {
namespace {

using std::numbers::pi;
using test::heat_box;
using test::rough_heat_box;
using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

constexpr double k = 2.5, c = 2e6, diffusivity = k / c;

March solve(Problem problem, const Runtime& runtime = {}) {
  problem.settle();
  auto cpu = runtime;
  if (cpu.device.kind == Device::Kind::automatic) cpu.device.kind = Device::Kind::cpu;
  return march(problem, cpu);
}

/// cos(π x / L) in a bar decays as exp(−D π² t / L²); x = 0 at the west face. Largest error after half has
/// gone.
double cosine_error(Method method, std::size_t cells, double step) {
  constexpr double length = 10;
  auto p = heat_box({0, length, 0, 1, 0, 1}, {cells, 1, 1}, k, c);
  for (std::size_t n = 0; n < cells; ++n)
    p.initial[n] = std::cos(pi * (static_cast<double>(n) + 0.5) / static_cast<double>(cells));
  p.method = method;
  p.end = std::log(2.0) * length * length / (diffusivity * pi * pi);
  p.step = step * p.end;
  const auto done = solve(p);
  double error = 0;
  for (std::size_t n = 0; n < cells; ++n)
    error = worse(error, std::abs(done.temperature[n] - p.initial[n] / 2));
  return error;
}

TEST(HeatConduction, CosineDecaysAsOnPaperAtSecondOrderInSpace) {
  // At half of the longest stable step Δt ~ h², so both errors fall with h².
  const double coarse = cosine_error(Method::explicit_steps, 20, 0),
               fine = cosine_error(Method::explicit_steps, 40, 0);
  EXPECT_LT(coarse, 1e-3);
  EXPECT_NEAR(coarse / fine, 4, 0.3);
}

TEST(HeatConduction, ImplicitStepsAreOfFirstOrderInTime) {
  const double coarse = cosine_error(Method::implicit_steps, 200, 0.02),
               fine = cosine_error(Method::implicit_steps, 200, 0.01);
  EXPECT_LT(coarse, 6e-3);
  EXPECT_NEAR(coarse / fine, 2, 0.1);
}

TEST(HeatConduction, RadioactiveRockWarmsAnInsulatedBoxByWhatItProduces) {
  for (const auto method : {Method::explicit_steps, Method::implicit_steps}) {
    auto p = heat_box({0, 4, 0, 3, 0, 2}, {4, 3, 2}, k, c);
    p.production.assign(24, 5e-6);  // each cell of a cubic metre
    p.method = method;
    p.end = 1e9;
    const auto done = solve(p);
    const double warmer = 5e-6 * p.end / c;
    for (const double t : done.temperature) EXPECT_NEAR(t, warmer, 1e-9 * warmer);
    EXPECT_NEAR(done.heat_put_in, 24 * 5e-6 * p.end, 1e-9 * done.heat_put_in);
  }
}

TEST(HeatConduction, ProductionBetweenColdWallsMakesAParabola) {
  constexpr std::size_t n = 20;
  constexpr double length = 10, q = 3e-6;
  auto p = heat_box({0, length, 0, 1e6, 0, 1e6}, {n, 1, 1}, k, c);  // the other walls are far away
  p.boundary = Boundary::fixed;
  const double cell = length / n * 1e12;
  p.production.assign(n, q * cell);
  p.method = Method::implicit_steps;
  p.end = 50 * length * length / diffusivity;
  const auto done = solve(p);
  for (std::size_t i = 0; i < n; ++i) {
    const double x = (static_cast<double>(i) + 0.5) * length / n;
    const double half_a_cell_at_the_wall = q * (length / n) * (length / n) / (8 * k);
    const double exact = q * x * (length - x) / (2 * k);
    EXPECT_NEAR(done.temperature[i], exact + half_a_cell_at_the_wall, 1e-6 * exact) << i;
  }
}

TEST(HeatConduction, HeatReleasedAtAPointSpreadsAsGreensFunction) {
  constexpr int n = 41;
  for (const auto method : {Method::explicit_steps, Method::implicit_steps}) {
    auto p = heat_box({-20.5, 20.5, -20.5, 20.5, -20.5, 20.5}, {n, n, n}, k, c);
    const auto centre = p.mesh.index(20, 20, 20);
    constexpr double joule = 1e9;
    p.initial[centre] = joule / c;
    p.method = method;
    p.end = 9 / diffusivity;  // √(2 D t) = 4.2 cells: the walls are far away
    if (method == Method::implicit_steps) p.step = p.end / 400;
    const auto done = solve(p);
    for (const std::size_t off : {0, 3, 6}) {
      const double r = static_cast<double>(off), spread = 4 * diffusivity * p.end;
      const double exact = joule / c * std::pow(pi * spread, -1.5) * std::exp(-r * r / spread);
      EXPECT_NEAR(done.temperature[p.mesh.index(20 + off, 20, 20)], exact, 0.03 * exact) << off;
      EXPECT_NEAR(done.temperature[p.mesh.index(20, 20 - off, 20)], exact, 0.03 * exact) << off;
      EXPECT_NEAR(done.temperature[p.mesh.index(20, 20, 20 + off)], exact, 0.03 * exact) << off;
    }
  }
}

TEST(HeatConduction, NoHeatIsLostOrMadeInAnInsulatedBox) {
  for (const auto method : {Method::explicit_steps, Method::implicit_steps}) {
    const auto p = rough_heat_box(method);
    const auto done = solve(p);
    EXPECT_GT(done.heat_before, 0);
    EXPECT_NEAR(done.heat_put_in / (4e4 * 2e6), 1, 1e-9);
    const double expected = done.heat_before + done.heat_put_in;
    // explicit: rounding of every step; implicit: the solver's tolerance in every step
    const double bound =
        (method == Method::explicit_steps ? 1e-15 : p.tolerance) * static_cast<double>(p.steps());
    EXPECT_NEAR(done.heat_after / expected, 1, bound);
    const auto [low, high] = std::minmax_element(done.temperature.begin(), done.temperature.end());
    EXPECT_GT(*low, 0);
    EXPECT_GT(*high, *low);
  }
}

/// A heater that was on for less than a step heated for the whole of it.
TEST(HeatConduction, HeatersThatAreOnForPartOfAStepPutInThatPart) {
  for (const auto method : {Method::explicit_steps, Method::implicit_steps})
    for (const double steps : {0.02, 1.0, 2.7}) {
      auto p = rough_heat_box(method, 0.25);
      p.power_end = steps * p.step;
      const auto done = solve(p);
      EXPECT_NEAR(done.heat_put_in / (4e4 * p.power_end), 1, 1e-9);
      EXPECT_NEAR((done.heat_after - done.heat_before) / (4e4 * p.power_end), 1, 1e-3);
    }
}

TEST(HeatConduction, HeatFlowsThroughLayersAsThroughResistorsInSeries) {
  // Walls at 0 K, a power P in the middle cell of five, k and 4 k on either side: T = P / (G_left + G_right).
  auto p = heat_box({0, 5, 0, 1, 0, 1}, {5, 1, 1}, k, c);
  p.conductivity = {k, k, k, 4 * k, 4 * k};
  p.power[2] = 100;
  p.boundary = Boundary::fixed;
  p.method = Method::implicit_steps;
  p.end = p.power_end = 1e9;
  // The other four walls carry heat away as well: a bar has to be insulated there, so make them bad
  // conductors by making the bar thick.
  p.mesh = TensorMesh::regular({0, 5, 0, 1e6, 0, 1e6}, {5, 1, 1});
  p.power[2] *= 1e12;
  const auto done = solve(p);
  const double left = 1 / (2.5 / k), right = 1 / (0.5 / k + 2 / (4 * k));
  EXPECT_NEAR(done.temperature[2], 100 / (left + right), 1e-6 * 100 / (left + right));
}

TEST(HeatConduction, ExplicitAndImplicitMeetAsStepsShrink) {
  std::vector<double> apart;
  double highest = 0;
  for (const double step : {1.0, 0.5}) {
    auto a = rough_heat_box(Method::explicit_steps), b = a;
    b.method = Method::implicit_steps;
    a.step = b.step = step * a.stable_step();
    const auto by_explicit = solve(a).temperature, by_implicit = solve(b).temperature;
    highest = *std::max_element(by_explicit.begin(), by_explicit.end());
    double most = 0;
    for (std::size_t n = 0; n < by_explicit.size(); ++n)
      most = worse(most, std::abs(by_explicit[n] - by_implicit[n]));
    apart.push_back(most);
  }
  EXPECT_NEAR(apart[0] / apart[1], 2, 0.2);
  EXPECT_LT(apart[0], 0.1 * highest);
}

TEST(HeatWatch, StopsRunsThatAreUnstableOrNoNumbers) {
  for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
    Runtime runtime;
    runtime.device.kind = kind;
    auto p = rough_heat_box(Method::explicit_steps);
    p.settle();
    p.step = 2.5 * p.stable_step(), p.end = 2000 * p.step, p.power_end = 10 * p.step;
    const auto grows = message([&] { march(p, runtime); });
    EXPECT_THAT(grows, AllOf(HasSubstr("heat: step: temperatures grow beyond"), HasSubstr("easting"),
                             HasSubstr("implicit")));
    for (const auto method : {Method::explicit_steps, Method::implicit_steps}) {
      auto bad = rough_heat_box(method, 0.5);
      bad.settle();
      bad.initial[77] = NAN;
      const auto none = message([&] { march(bad, runtime); });
      EXPECT_THAT(none, HasSubstr("temperatures are no numbers any more"));
    }
  }
}

TEST(HeatConduction, SourceAndReceiverMayChangePlaces) {
  for (const auto method : {Method::explicit_steps, Method::implicit_steps}) {
    auto p = rough_heat_box(method, 0.25);
    std::fill(p.initial.begin(), p.initial.end(), 0.0);
    p.tolerance = 1e-13;
    const std::size_t a = p.mesh.index(18, 4, 10), b = p.mesh.index(21, 6, 8);
    auto back = p;
    std::swap(back.power[a], back.power[b]);
    p.receivers = {b};
    back.receivers = {a};
    const auto there = solve(p).series, here = solve(back).series;
    ASSERT_EQ(there.size(), here.size());
    ASSERT_GT(there.back(), 0);
    for (std::size_t n = 0; n < there.size(); ++n) EXPECT_NEAR(there[n], here[n], 1e-9 * there.back()) << n;
  }
}

TEST(HeatConduction, ReceiversSeeTheirCellsAtEveryStep) {
  const auto p = rough_heat_box(Method::explicit_steps);
  const auto done = solve(p);
  ASSERT_EQ(done.series.size(), (p.steps() + 1) * p.receivers.size());
  for (std::size_t n = 0; n < p.receivers.size(); ++n) {
    EXPECT_EQ(done.series[n], p.initial[p.receivers[n]]);
    EXPECT_EQ(done.series[p.steps() * p.receivers.size() + n], done.temperature[p.receivers[n]]);
  }
}

TEST(HeatConduction, HasTheSameBitsOnAnyThreadsAndOnTheDebugDevice) {
  for (const auto method : {Method::explicit_steps, Method::implicit_steps}) {
    const auto p = rough_heat_box(method, 0.2);
    Runtime one;
    one.threads = 1;
    const auto first = solve(p, one);
    for (const int threads : {2, 5}) {
      Runtime more;
      more.threads = threads;
      EXPECT_EQ(solve(p, more).temperature, first.temperature);
      more.device.kind = Device::Kind::debug;
      const auto there = solve(p, more);
      EXPECT_EQ(there.temperature, first.temperature);
      EXPECT_EQ(there.series, first.series);
      EXPECT_EQ(there.heat_after, first.heat_after);
    }
  }
}

/// Stops a run after so many steps.
class StopsAfter final : public Progress {
 public:
  explicit StopsAfter(std::uint64_t steps) : steps_(steps) {}
  void advance(std::uint64_t amount) override { done_ += amount; }
  bool cancelled() const override { return done_ >= steps_; }

 private:
  std::uint64_t steps_, done_ = 0;
};

TEST(HeatConduction, AStoppedRunGoesOnWithTheSameBits) {
  for (const auto method : {Method::explicit_steps, Method::implicit_steps}) {
    const testing_support::TemporaryFolder folder;
    const auto p = rough_heat_box(method);
    const auto whole = solve(p);
    Runtime runtime;
    runtime.checkpoint = {folder / "run.checkpoint.h5", 0, 0, false};
    StopsAfter user(7), again(12);
    runtime.progress = &user;
    EXPECT_THROW(solve(p, runtime), Cancelled);
    runtime.checkpoint.resume = true;
    runtime.progress = &again;
    EXPECT_THROW(solve(p, runtime), Cancelled);
    runtime.progress = nullptr;
    const auto resumed = solve(p, runtime);
    EXPECT_EQ(resumed.first_step, 11U);
    EXPECT_EQ(resumed.temperature, whole.temperature);
    EXPECT_EQ(resumed.series, whole.series);
    EXPECT_EQ(resumed.heat_before, whole.heat_before);
    auto other = p;
    other.conductivity[5] *= 2;
    EXPECT_THAT(message([&] { solve(other, runtime); }), HasSubstr("was made for other cells"));
  }
}

TEST(HeatConduction, RefusesWhatCannotBe) {
  const auto sound = rough_heat_box(Method::explicit_steps);
  auto p = sound;
  p.step = 1.01 * p.stable_step();
  EXPECT_THAT(message([&] { p.settle(); }), AllOf(HasSubstr("is not stable"), HasSubstr("implicit")));
  p = sound;
  p.conductivity[3] = -1;
  EXPECT_THAT(message([&] { p.settle(); }), AllOf(HasSubstr("conductivity"), HasSubstr("-1 in cell 3")));
  p = sound;
  p.capacity[3] = 0;
  EXPECT_THROW(p.settle(), InputError);
  p = sound;
  p.initial[3] = std::nan("");
  EXPECT_THROW(p.settle(), InputError);
  p = sound;
  p.power.pop_back();
  EXPECT_THROW(p.settle(), ShapeError);
  p = sound;
  p.receivers.push_back(p.mesh.size());
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("there is no cell"));
  p = sound;
  p.end = 0;
  EXPECT_THROW(p.settle(), InputError);
}

}  // namespace
}  // namespace terrane::heat
