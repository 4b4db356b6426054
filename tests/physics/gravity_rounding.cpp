// What is promised of fields whose contributions cancel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <string>

#include "support/quad_field.hpp"
#include "support/worse.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/physics/gravity/run/magnitude.hpp"

namespace terrane::gravity {
namespace {

using test::PrismList;
using test::StationList;

constexpr const char* kinds[3] = {"potential", "vector", "tensor"};

int kind_of(std::size_t c) { return c == 0 ? 0 : c < 4 ? 1 : 2; }
double weight_of(std::size_t c) { return c >= 7 ? 2 : 1; }

/// Σ |contribution| of V, g and Γ, the largest over the stations, SI.
std::array<double, 3> sums_of_magnitudes(const PrismList& p, const StationList& s) {
  std::array<double, 3> most{};
  for (std::size_t i = 0; i < s.size(); ++i) {
    double sum[3] = {};
    for (std::size_t n = 0; n < p.size(); ++n) {
      const auto q = test::quad_field({p.west[n], p.east[n], p.south[n], p.north[n], p.bottom[n], p.top[n]},
                                      {s.easting[i], s.northing[i], s.up[i]});
      double square[3] = {};
      for (std::size_t c = 0; c < channel_count; ++c)
        square[kind_of(c)] += weight_of(c) * static_cast<double>(q[c] * q[c]);
      for (int k = 0; k < 3; ++k) sum[k] += std::fabs(p.density[n]) * std::sqrt(square[k]);
    }
    for (std::size_t k = 0; k < 3; ++k) most[k] = std::max(most[k], default_gravitational_constant * sum[k]);
  }
  return most;
}

/// Of each kind, relative to its largest value.
std::array<double, 3> errors(const test::FieldTable& values, const test::FieldTable& truth) {
  std::array<double, 3> error{}, largest{};
  for (std::size_t s = 0; s < truth[0].size(); ++s) {
    double e[3] = {}, t[3] = {};
    for (std::size_t c = 0; c < channel_count; ++c) {
      const double d = values[c][s] - truth[c][s];
      e[kind_of(c)] += weight_of(c) * d * d;
      t[kind_of(c)] += weight_of(c) * truth[c][s] * truth[c][s];
    }
    for (std::size_t k = 0; k < 3; ++k) {
      error[k] = worse(error[k], std::sqrt(e[k]));
      largest[k] = std::max(largest[k], std::sqrt(t[k]));
    }
  }
  for (std::size_t k = 0; k < 3; ++k) error[k] /= largest[k];
  return error;
}

Parameters all_by(Method method, double accuracy) {
  Parameters p;
  p.channels = ChannelSet::all();
  p.method = method;
  p.accuracy = accuracy;
  return p;
}

/// Prisms and the same with the opposite density, shifted by a part of their size.
PrismList pairs(double shift, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  PrismList list;
  for (int n = 0; n < 30; ++n) {
    double low[3], high[3];
    for (int a = 0; a < 3; ++a) {
      low[a] = (a == 2 ? -1000 : 2000) * unit(random);
      high[a] = low[a] + 20 + 80 * unit(random);
    }
    const double rho = 200 + 500 * unit(random);
    list.add({low[0], high[0], low[1], high[1], low[2] - 100, high[2] - 100}, rho);
    const double d = shift * (high[0] - low[0]);
    list.add({low[0] + d, high[0] + d, low[1], high[1], low[2] - 100, high[2] - 100}, -rho);
  }
  return list;
}

/// Cells of alternating sign.
PrismList checkerboard() {
  return test::mesh_block({0, 1600, 0, 1600, -200, 0}, {16, 16, 2},
                          [](int i, int j, int k) { return (i + j + k) % 2 ? 500.0 : -500.0; });
}

StationList grid(int n, double low, double spacing, double up) {
  StationList list;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) list.add(low + i * spacing, low + j * spacing, up);
  return list;
}

/// The floor and the estimated error are above the true error, and a warning names each kind whose floor is
/// above what was asked for, and no other.
void expect_kept(const PrismList& prisms, const StationList& stations, Method method, double accuracy,
                 bool warned) {
  const auto parameters = all_by(method, accuracy);
  Report report;
  const auto values = test::field(prisms.view(), stations.view(), parameters, &report);
  const auto error = errors(values, test::quad_table(prisms, stations));
  bool any = false;
  for (std::size_t k = 0; k < 3; ++k) {
    const double floor = report.rounding_floor.at(kinds[k]);
    const double truncation = method == Method::direct ? report.estimated_error : accuracy;
    EXPECT_LE(error[k], truncation + floor) << kinds[k];
    EXPECT_LE(error[k], report.estimated_error) << kinds[k];
    if (floor > 10 * accuracy) {
      EXPECT_LE(error[k], floor) << kinds[k];
    }
    const bool named = std::any_of(report.warnings.begin(), report.warnings.end(), [&](const auto& text) {
      return text.find("the " + std::string(kinds[k]) + " is what remains") == 0 &&
             text.find("rounding may be") != std::string::npos;
    });
    EXPECT_EQ(named, floor > accuracy) << kinds[k] << " " << floor;
    any = any || named;
  }
  EXPECT_EQ(any, warned) << testing::PrintToString(report.warnings);
}

TEST(Rounding, OfOppositePairsIsBelowTheFloorReportedAndWarnedOfWhereItExceedsWhatWasAsked) {
  std::mt19937 random(10);
  for (const double shift : {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3}) {
    const auto prisms = pairs(shift, random);
    const auto stations = test::random_stations({0, 2000, 0, 2000, 50, 300}, 12, random);
    for (const auto method : {Method::direct, Method::tree})
      for (const double accuracy : {1e-12, 1e-9}) {
        SCOPED_TRACE(testing::Message() << shift << " " << int(method) << " " << accuracy);
        const auto report = [&] {
          Report told;
          test::field(prisms.view(), stations.view(), all_by(method, accuracy), &told);
          return told;
        }();
        double largest = 0;
        for (const auto& [kind, floor] : report.rounding_floor) largest = std::max(largest, floor);
        if (accuracy == 1e-12) {
          EXPECT_GT(largest, accuracy);
        }
        if (method == Method::tree || largest > accuracy)
          expect_kept(prisms, stations, method, accuracy, largest > accuracy);
      }
  }
}

TEST(Rounding, OfACheckerboardSeenFromAfarIsBelowTheFloorByEveryMethod) {
  const auto prisms = checkerboard();
  const auto stations = grid(3, 650, 100, 300);
  for (const auto method : {Method::direct, Method::tree, Method::lattice, Method::fmm}) {
    SCOPED_TRACE(int(method));
    expect_kept(prisms, stations, method, 1e-12, true);
  }
}

TEST(Rounding, IsNothingToWarnOfWhereNoStationHasAValue) {
  PrismList prism;
  prism.add({-50, 50, -50, 50, -100, 0}, 400);
  StationList corner;
  corner.add(50, 50, 0);
  Report report;
  const auto values = test::field(prism.view(), corner.view(), all_by(Method::direct, 1e-12), &report);
  EXPECT_TRUE(std::isnan(values[4][0]));
  EXPECT_EQ(report.rounding_floor.count("tensor"), 0U);
  for (const auto& warning : report.warnings) EXPECT_EQ(warning.find("inf"), std::string::npos) << warning;
  EXPECT_LT(report.estimated_error, 1e-9);
}

TEST(Rounding, IsForeseenFromAFewStations) {
  std::mt19937 random(11);
  const auto prisms = pairs(1e-6, random);
  const auto stations = test::random_stations({0, 2000, 0, 2000, 50, 300}, 100, random);
  Progress silent;
  const auto parameters = all_by(Method::tree, 1e-12);
  const auto expected =
      expected_rounding(prisms.view(), stations.view(), parameters, {1e-12, 1e-12, false}, silent);
  Report report;
  test::field(prisms.view(), stations.view(), parameters, &report);
  EXPECT_LE(expected.rounding_stations, 8U);
  EXPECT_EQ(expected.warnings.size(), report.warnings.size());
  for (const auto& [kind, floor] : report.rounding_floor) {
    EXPECT_GT(expected.rounding_floor.at(kind), floor / 10) << kind;
    EXPECT_LT(expected.rounding_floor.at(kind), floor * 10) << kind;
  }
}

TEST(Rounding, OfOrdinaryModelsIsNotWarnedOf) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> density(-500, 500);
  const auto noise = test::mesh_block({0, 1000, 0, 1000, -1000, 0}, {20, 20, 20},
                                      [&](int, int, int) { return density(random); });
  const auto body =
      test::mesh_block({0, 1000, 0, 1000, -1000, 0}, {20, 20, 20}, [](int, int, int) { return 300.0; });
  PrismList one, plate;
  one.add({0, 1000, 0, 1000, -1000, 0}, 500);
  plate.add({0, 10000, 0, 10000, -1, 0}, 2670);
  for (const PrismList* prisms : std::initializer_list<const PrismList*>{&noise, &body, &one, &plate})
    for (const auto& stations : {grid(8, 25, 125, 1), grid(8, 25, 125, -333.3), grid(8, -4000, 1125, 2000)})
      for (const double accuracy : {best_accuracy, 1e-12, 1e-6}) {
        Report report;
        test::field(prisms->view(), stations.view(), all_by(Method::automatic, accuracy), &report);
        EXPECT_THAT(report.warnings, testing::IsEmpty());
        for (const auto& [kind, floor] : report.rounding_floor) {
          EXPECT_GT(floor, 5e-16) << kind;
          EXPECT_LT(floor, 3e-13) << kind;
        }
        EXPECT_EQ(report.rounding_floor.size(), 3U);
      }
}

TEST(Rounding, MagnitudesAreRightWithinAFactorOfTwo) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(0, 1);
  PrismList scattered;
  for (int n = 0; n < 150; ++n) {
    const double x = 1000 * unit(random), y = 1000 * unit(random), z = -500 * unit(random),
                 size = 10 + 40 * unit(random);
    scattered.add({x, x + size, y, y + 2 * size, z - size, z}, 1000 * unit(random) - 500);
  }
  const auto mesh = test::mesh_block({0, 1000, 0, 1000, -300, 0}, {7, 7, 3},
                                     [&](int, int, int) { return 1000 * unit(random) - 500; });
  for (const PrismList* prisms : std::initializer_list<const PrismList*>{&scattered, &mesh})
    for (const double up : {5.0, 100.0, 2000.0, -200.0}) {
      const auto stations = test::random_stations({0, 1000, 0, 1000, up, up + 1}, 40, random);
      const auto truth = sums_of_magnitudes(*prisms, stations);
      Progress silent;
      for (const double seconds : {1.0, 1e-4}) {  // the second: by clusters, of some
        const auto found = magnitude(prisms->view(), stations.view(), seconds, 1, silent);
        for (std::size_t k = 0; k < 3; ++k) {
          const double ratio = default_gravitational_constant * found.sum[k] / truth[k];
          EXPECT_GT(ratio, seconds == 1.0 ? 0.7 : 0.5) << up << " " << seconds << " " << kinds[k];
          EXPECT_LT(ratio, k == 2 && std::fabs(up) < 300 ? 4.0 : 2.0)
              << up << " " << seconds << " " << kinds[k];
        }
      }
    }
}

TEST(Rounding, MagnitudesAreTheSameOnAnyNumberOfThreadsAndTakeLittleOfTheRun) {
  std::mt19937 random(6);
  const auto prisms =
      test::mesh_block({0, 4000, 0, 4000, -1000, 0}, {40, 40, 20}, [](int i, int, int) { return 100.0 + i; });
  const auto stations = test::random_stations({0, 4000, 0, 4000, 5, 100}, 3000, random);
  Progress silent;
  const auto one = magnitude(prisms.view(), stations.view(), 0.05, 1, silent),
             three = magnitude(prisms.view(), stations.view(), 0.05, 3, silent);
  EXPECT_EQ(one.sum, three.sum);
  EXPECT_EQ(one.rounding, three.rounding);
  if (std::getenv("TERRANE_TIMES")) {
    const auto start = std::chrono::steady_clock::now();
    magnitude(prisms.view(), stations.view(), 0.05, 1, silent);
    const auto middle = std::chrono::steady_clock::now();
    auto parameters = all_by(Method::direct, 1e-12);
    parameters.threads = 1;
    test::field(prisms.view(), stations.view(), parameters);
    const auto end = std::chrono::steady_clock::now();
    std::printf("magnitude %.4f s, direct %.4f s\n", std::chrono::duration<double>(middle - start).count(),
                std::chrono::duration<double>(end - middle).count());
  }
}

}  // namespace
}  // namespace terrane::gravity
