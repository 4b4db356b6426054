// Sources and thermometers at points that are no centres of cells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "support/fields.hpp"
#include "support/files.hpp"
#include "support/heat_box.hpp"
#include "terrane/physics/heat/places.hpp"
#include "terrane/physics/heat/simulation.hpp"

namespace terrane::heat {
namespace {

using std::numbers::pi;
using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

using Point = std::array<double, 3>;

void put_source(Problem& p, const Point& at, double watts) {
  for (const auto& [cell, weight] : weights_at(p, at, "source")) p.power[cell] += weight * watts;
}

std::vector<double> last_temperatures(Problem p, const std::vector<Point>& points) {
  p.receivers.clear();
  const auto weights = record_at(p, points, "receiver");
  p.settle();
  Runtime runtime;
  runtime.device.kind = Device::Kind::cpu;
  const auto done = march(p, runtime);
  auto all = temperatures_at(weights, done.series, p.receivers.size());
  return {all.end() - static_cast<std::ptrdiff_t>(points.size()), all.end()};
}

TEST(HeatAtPoints, ThermometersReadWhatIsAtTheirPlaceAndNotAtTheirCellsCentre) {
  // T = P / (4π k r) erfc(r / √(4 D t)), Carslaw & Jaeger 1959, §10.4. Centres of cells in their place give
  // up to 36 %.
  constexpr double k = 2, c = 2.3e6, watts = 500, end = 3e6;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> within(-0.25, 0.25), unit(-1, 1);
  for (int earth = 0; earth < 3; ++earth) {
    auto p = test::heat_box({-7.75, 7.75, -7.75, 7.75, -7.75, 7.75}, {31, 31, 31}, k, c);
    const Point source{within(random), within(random), within(random)};
    put_source(p, source, watts);
    p.power_end = p.end = end;
    p.step = end / 60;
    p.method = Method::implicit_steps;
    p.tolerance = 1e-6;
    std::vector<Point> points;
    std::vector<double> truth;
    for (const double r : {1.5, 1.7, 2.2, 3.1, 4.4}) {
      Point d{unit(random), unit(random), unit(random)};
      const double length = std::hypot(d[0], d[1], d[2]);
      for (std::size_t a = 0; a < 3; ++a) d[a] = source[a] + r * d[a] / length;
      points.push_back(d);
      truth.push_back(watts / (4 * pi * k * r) * std::erfc(r / std::sqrt(4 * k / c * end)));
    }
    const auto read = last_temperatures(p, points);
    for (std::size_t n = 0; n < points.size(); ++n)
      EXPECT_NEAR(read[n], truth[n], 0.04 * truth[n]) << "earth " << earth << ", point " << n;  // measured
  }
}

TEST(HeatAtPoints, SourceAndThermometerMayChangePlacesInAnyRock) {
  auto p = test::rough_heat_box(Method::implicit_steps, 0.3);
  std::fill(p.initial.begin(), p.initial.end(), 0.0);
  std::fill(p.power.begin(), p.power.end(), 0.0);
  const auto bounds = p.mesh.bounds();
  std::mt19937 random(5);
  const auto any = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  for (const auto boundary : {Boundary::insulated, Boundary::fixed}) {
    p.boundary = boundary;
    const auto place = [&] {
      return Point{any(bounds.west, bounds.east), any(bounds.south, bounds.north),
                   any(bounds.bottom, bounds.top)};
    };
    const Point a = place(), b{a[0] + 1.3, a[1] - 0.2, a[2] + 0.7};
    auto from_a = p, from_b = p;
    put_source(from_a, a, 1e4);
    put_source(from_b, b, 1e4);
    const double there = last_temperatures(from_a, {b})[0], back = last_temperatures(from_b, {a})[0];
    EXPECT_NEAR(there, back, 1e-7 * std::abs(there));
  }
}

TEST(HeatAtPoints, WeightsKeepAllHeatAndItsPlaceAndNoneIsNegative) {
  std::mt19937 random(9);
  std::vector<double> faces{0};
  for (int n = 0; n < 12; ++n)
    faces.push_back(faces.back() + std::uniform_real_distribution<double>(0.5, 2)(random));
  Problem p;
  p.mesh = TensorMesh(faces, faces, faces);
  p.conductivity.assign(p.mesh.size(), 2.0);
  std::uniform_real_distribution<double> inside(faces[2], faces[10]);
  for (int n = 0; n < 200; ++n) {
    const Point at{inside(random), inside(random), inside(random)};
    double sum = 0;
    Point centre{};
    for (const auto& [cell, weight] : weights_at(p, at, "point")) {
      EXPECT_GE(weight, 0);
      sum += weight;
      const auto prism = p.mesh.prism(cell);
      centre[0] += weight * (prism.west + prism.east) / 2,
          centre[1] += weight * (prism.south + prism.north) / 2;
      centre[2] += weight * (prism.bottom + prism.top) / 2;
    }
    EXPECT_NEAR(sum, 1, 1e-13);
    for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(centre[a], at[a], 1e-11);
  }
  const auto middle = p.mesh.prism(p.mesh.index(3, 4, 5));
  const auto alone = weights_at(
      p,
      {(middle.west + middle.east) / 2, (middle.south + middle.north) / 2, (middle.bottom + middle.top) / 2},
      "point");
  EXPECT_THAT(alone,
              testing::ElementsAre(testing::Pair(p.mesh.index(3, 4, 5), testing::DoubleNear(1, 1e-13))));
}

TEST(HeatAtPoints, SteadyHeatFlowThroughLayersIsExactAtAnyPoint) {
  // Two layers between walls at T = 0; a plane source at s gives two straight lines in ∫dx/k.
  constexpr double k1 = 1, k2 = 7, contact = 4, length = 10, s = 3.3, watts = 20;
  auto p = test::heat_box({0, length, 0, 1, 0, 1}, {10, 1, 1}, k1, 1);
  for (std::size_t n = 4; n < 10; ++n) p.conductivity[n] = k2;
  p.boundary = Boundary::fixed;
  // Walls across would cool the bar too: widths of 1e6 m make them harmless.
  p.mesh = TensorMesh(p.mesh.easting(), {-5e5, 5e5}, {-5e5, 5e5});
  put_source(p, {s, 0, 0}, watts * 1e12);
  p.power_end = p.end = 1e9;
  p.step = 1e7;
  p.method = Method::implicit_steps;
  const auto resistance = [&](double x) { return x <= contact ? x / k1 : contact / k1 + (x - contact) / k2; };
  const double all = resistance(length), at_source = resistance(s);
  std::vector<Point> points;
  for (const double x : {0.2, 1.0, 2.7, 3.3, 3.9, 4.0, 4.1, 6.6, 9.9, 10.0}) points.push_back({x, 0, 0});
  const auto read = last_temperatures(p, points);
  for (std::size_t n = 0; n < points.size(); ++n) {
    const double r = resistance(points[n][0]);
    const double truth = watts * std::min(r, at_source) * (all - std::max(r, at_source)) / all;
    // In the cell of the source the kink is spread: there alone it is not exact.
    if (std::abs(points[n][0] - s) > 1) {
      EXPECT_NEAR(read[n], truth, 1e-6 * watts) << points[n][0];
    }
  }
}

/// T = q x (L − x) / 2k between two walls at 0. With the first cell's temperature in proportion to the
/// distance from the wall it was 5 to 11 % off in a slab of four cells.
TEST(HeatAtPoints, HeatThatRockProducesIsExactInTheCellNextToAWall) {
  std::mt19937 random(21);
  const auto any = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  constexpr double k = 3, q = 2;
  for (const std::size_t axis : {0U, 1U, 2U}) {
    std::vector<double> faces{any(-5, 5)};
    for (const double width = any(0.5, 2); faces.size() < 5;) faces.push_back(faces.back() + width);
    std::array<std::vector<double>, 3> axes{{{-5e6, 5e6}, {-5e6, 5e6}, {-5e6, 5e6}}};
    axes[axis] = faces;
    Problem p;
    p.mesh = TensorMesh(axes[0], axes[1], axes[2]);
    p.boundary = Boundary::fixed;
    p.conductivity.assign(4, k), p.capacity.assign(4, 1), p.initial.assign(4, 0), p.power.assign(4, 0);
    for (std::size_t n = 0; n < 4; ++n) p.production.push_back(q * p.volume(n));
    p.end = 1e6, p.step = 1e5, p.method = Method::implicit_steps;
    const double low = faces.front(), length = faces.back() - low;
    std::vector<Point> points;
    for (const double part : {0.0, 0.01, 0.2, 0.5, any(0, 1), 1.0})
      for (const bool top : {false, true}) {
        Point at{};
        at[axis] = top ? faces[4] - part * (faces[4] - faces[3]) : low + part * (faces[1] - low);
        points.push_back(at);
      }
    const auto read = last_temperatures(p, points);
    for (std::size_t n = 0; n < points.size(); ++n) {
      const double x = points[n][axis] - low, right = q * x * (length - x) / (2 * k);
      // At the face to the second cell that one's error comes in, w²/8 of the second derivative.
      const bool at_face = n + 2 >= points.size();
      EXPECT_NEAR(read[n], right, at_face ? 0.2 * right : 1e-6 * length) << axis << " " << x;
    }
  }
}

// A half space that began at 1 K: erf(x / 2√(D t)). On cells of 1 m the error at 2 w²/D is 3.5 %, of the
// proportion to x 5 %.
TEST(HeatAtPoints, CoolingBesideAWallIsRightOnceHeatHasPassedACell) {
  constexpr double k = 2, c = 1e6;
  auto p = test::heat_box({0, 40, 0, 40, -20, 0}, {1, 1, 20}, k, c);
  p.mesh = TensorMesh({-5e6, 5e6}, {-5e6, 5e6}, p.mesh.up());
  p.boundary = Boundary::fixed;
  std::fill(p.initial.begin(), p.initial.end(), 1.0);
  p.end = 2 * c / k, p.step = p.end / 400, p.method = Method::explicit_steps;
  std::vector<Point> points;
  for (const double x : {0.05, 0.2, 0.37, 0.61, 0.9}) points.push_back({0, 0, -x});
  const auto read = last_temperatures(p, points);
  for (std::size_t n = 0; n < points.size(); ++n) {
    const double right = std::erf(-points[n][2] / (2 * std::sqrt(k / c * p.end)));
    EXPECT_NEAR(read[n], right, 0.036 * right) << points[n][2];
  }
}

TEST(HeatAtPoints, EveryFieldOfAProblemTravelsAndIsInTheFingerprint) {
  test::expect_every_field_travels_and_is_in_the_fingerprint(test::rough_heat_box(Method::implicit_steps));
}

constexpr const char* job_with = R"([mesh]
box = [-5, 5, -5, 5, -5, 5]
shape = [10, 10, 10]
[survey]
kind = "list"
stations = [[0.5, 0.5, 0.5], [4, 4, 4]]
[source]
at = [0.2, 0.2, 0.2]
power = 100
until = {}
[simulation]
physics = "heat"
end = {}
tolerance = {}
method = "explicit"
step = {}
)";

std::unique_ptr<terrane::Simulation> made(const char* until, const char* end, const char* tolerance,
                                          const char* step) {
  return Simulation::from_job(Config::parse(fmt::format(fmt::runtime(job_with), until, end, tolerance, step)),
                              {});
}

TEST(HeatFromJob, EachImpossibleValueIsBlamedAtItsOwnKeyAndLine) {
  const auto of = [](auto... values) { return message([&] { made(values...); }); };
  EXPECT_THAT(of("10", "100", "2", "1"),
              AllOf(HasSubstr("job.toml:14: simulation.tolerance: 2"), HasSubstr("between 1e-14 and 0.01")));
  EXPECT_THAT(of("10", "-1", "1e-9", "1"), HasSubstr("job.toml:13: simulation.end: -1 s"));
  EXPECT_THAT(of("10", "100", "1e-9", "-1"), HasSubstr("job.toml:16: simulation.step: -1 s"));
  EXPECT_THAT(of("10", "1e10", "1e-9", "1e9"),
              HasSubstr("job.toml:16: simulation.step: 1e+09 s is not stable"));
  EXPECT_THAT(of("-5", "100", "1e-9", "1"), HasSubstr("job.toml:10: source.until: -5 s"));
}

TEST(HeatFromJob, ReceiversBesideACoolingSideAreWarnedOf) {
  const auto warnings = [](const char* boundary, double warm, double end) {
    const auto job = fmt::format(
        "[mesh]\nbox = [-5, 5, -5, 5, -5, 5]\nshape = [10, 10, 10]\n[survey]\nkind = \"list\"\n"
        "stations = [[0.5, 0.5, 0.5], [0, 0, 4.8]]\n[simulation]\nphysics = \"heat\"\nboundary = \"{}\"\n"
        "temperature = {}\nend = {}\n",
        boundary, warm, end);
    return Simulation::from_job(Config::parse(job), {})->check().warnings;
  };
  EXPECT_THAT(warnings("fixed", 10, 1e6),
              testing::Contains(AllOf(HasSubstr("1 of 2 receivers"), HasSubstr("receiver 2"))));
  EXPECT_THAT(warnings("insulated", 10, 1e6), testing::IsEmpty());
  EXPECT_THAT(warnings("fixed", 0, 1e6), testing::IsEmpty());
  EXPECT_THAT(warnings("fixed", 10, 1e9), testing::IsEmpty());
}

TEST(HeatFromJob, ReceiversBesideTheSourceAreWarnedOfWhereOtherRockIsThere) {
  const auto warnings = [](const char* bodies) {
    const auto job = fmt::format(
        "[mesh]\nbox = [-5, 5, -5, 5, -5, 5]\nshape = [10, 10, 10]\n[model.background]\n"
        "thermal_conductivity = 2\n{}[source]\nat = [0.2, 0.1, 0]\npower = 1\n[survey]\n"
        "kind = \"list\"\nstations = [[1.5, 0, 0], [-4, 0, 0]]\n[simulation]\nphysics = \"heat\"\n"
        "end = 1e5\n",
        bodies);
    return Simulation::from_job(Config::parse(job), {})->check().warnings;
  };
  EXPECT_THAT(
      warnings("[[model.body]]\nkind = \"box\"\nbox = [1, 5, -5, 5, -5, 5]\nthermal_conductivity = 4\n"),
      testing::Contains(
          AllOf(HasSubstr("1 of 2 receivers"), HasSubstr("receiver 1"), HasSubstr("smaller cells"))));
  EXPECT_THAT(warnings(""), testing::IsEmpty());
}

}  // namespace
}  // namespace terrane::heat
