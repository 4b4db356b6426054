// The choice of method, and the check in quadruple precision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <random>

#include "support/prism_field.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/direct/direct_cost.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {
namespace {

using test::PrismList;
using test::StationList;

StationList grid(double west, double south, double spacing, int n, double up) {
  StationList list;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) list.add(west + i * spacing, south + j * spacing, up);
  return list;
}

PrismList noise(int nx, int ny, int nz, bool equal = false) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> density(-500, 500);
  return test::mesh_block({0, nx * 20.0, 0, ny * 20.0, -nz * 20.0, 0}, {nx, ny, nz},
                          [&](int, int, int k) { return equal ? 100.0 + k : density(random); });
}

Parameters all_at(double accuracy, Method method = Method::automatic) {
  Parameters p;
  p.channels = ChannelSet::all();
  p.accuracy = accuracy;
  p.method = method;
  return p;
}

TEST(Planner, TakesTheDirectSumForAFewPairs) {
  const auto prisms = noise(4, 4, 4);
  const auto stations = grid(0, 0, 33, 3, 10);
  const auto chosen = plan(prisms.view(), stations.view(), all_at(1e-9));
  EXPECT_EQ(chosen.method, Method::direct);
  EXPECT_EQ(chosen.reason, "few pairs");
}

TEST(Planner, TakesTheDirectSumWhereNothingElseIsAccurateEnough) {
  const auto prisms = noise(30, 30, 10);
  const auto stations = grid(10, 10, 20, 20, 10);
  const auto chosen = plan(prisms.view(), stations.view(), all_at(best_accuracy));
  EXPECT_EQ(chosen.method, Method::direct);
  EXPECT_EQ(chosen.reason, "only the direct sum is as accurate as asked for");
}

TEST(Planner, TakesTheLatticeForAGridOverAMesh) {
  const auto prisms = noise(64, 64, 8);
  const auto stations = grid(10, 10, 20, 64, 10);
  const auto chosen = plan(prisms.view(), stations.view(), all_at(1e-12));
  EXPECT_EQ(chosen.method, Method::lattice) << chosen.reason;
  EXPECT_GT(chosen.memory_bytes, 0U);
}

TEST(Planner, TakesTheTreeForAMeshUnderAFewScatteredStationsAndFastMultipolesForMany) {
  const auto prisms = noise(60, 60, 20);
  std::mt19937 random(2);
  const auto few = test::random_stations({0, 1200, 0, 1200, 5, 80}, 20, random),
             stations = test::random_stations({0, 1200, 0, 1200, 5, 80}, 10000, random);
  const auto for_few = plan(prisms.view(), few.view(), all_at(1e-6));
  EXPECT_EQ(for_few.method, Method::tree) << for_few.reason;
  const auto chosen = plan(prisms.view(), stations.view(), all_at(1e-6));
  EXPECT_EQ(chosen.method, Method::fmm) << chosen.reason;
  EXPECT_GT(chosen.memory_bytes, 0U);
  EXPECT_NE(chosen.reason.find("no lattice (the stations are not in step with the mesh)"), std::string::npos)
      << chosen.reason;
}

/// In counted operations: the same on every machine and in every run.
TEST(Planner, TakesAtMostHalfAsMuchWorkAgainAsTheBestOfAllMethods) {
  std::mt19937 random(12);
  std::uniform_real_distribution<double> digits(3, 11);
  int by_method[5] = {};
  for (int t = 0; t < 24; ++t) {
    const int nx = 4 + static_cast<int>(random() % 36), nz = 2 + static_cast<int>(random() % 12),
              grid_side = 4 + static_cast<int>(random() % 60);
    const auto prisms = noise(nx, nx, nz);
    const auto stations = t % 3 == 0 ? grid(10, 10, 20, grid_side, 10)
                                     : test::random_stations({0, nx * 20.0, 0, nx * 20.0, 5, 80},
                                                             std::size_t{1} << (random() % 15), random);
    auto wanted = all_at(std::pow(10, -digits(random)));
    wanted.threads = 1;
    const auto chosen = plan(prisms.view(), stations.view(), wanted);
    ++by_method[static_cast<std::size_t>(chosen.method)];
    double best = std::numeric_limits<double>::infinity();
    for (const auto method : {Method::direct, Method::lattice, Method::tree, Method::fmm}) try {
        auto asked = wanted;
        asked.method = method;
        best = std::min(best, plan(prisms.view(), stations.view(), asked).seconds);
      } catch (const InputError&) {
        EXPECT_EQ(method, Method::lattice);
      }
    // Two milliseconds and what it takes to look at every prism and station are not worth a choice.
    EXPECT_LE(chosen.seconds, 1.5 * best + 2e-3 + 60e-9 * static_cast<double>(prisms.size()) +
                                  50e-9 * static_cast<double>(stations.size()))
        << t << ": " << prisms.size() << " prisms, " << stations.size() << " stations, " << wanted.accuracy
        << ": " << chosen.reason;
  }
  for (const auto method : {Method::direct, Method::lattice, Method::tree, Method::fmm})
    EXPECT_GT(by_method[static_cast<std::size_t>(method)], 0) << name(method);
}

TEST(Planner, TakesNoTreeThatWouldNotFitIntoTheMemory) {
  const auto prisms = noise(40, 40, 20);
  std::mt19937 random(2);
  const auto stations = test::random_stations({0, 800, 0, 800, 5, 80}, 40000, random);
  auto wanted = all_at(1e-6);
  wanted.method = Method::fmm;
  const auto by_fmm = plan(prisms.view(), stations.view(), wanted);
  wanted.method = Method::tree;
  const auto by_tree = plan(prisms.view(), stations.view(), wanted);
  wanted.method = Method::automatic;
  wanted.memory = std::min(by_tree.memory_bytes, by_fmm.memory_bytes) - 1;
  const auto tight = plan(prisms.view(), stations.view(), wanted);
  EXPECT_EQ(tight.method, Method::direct) << tight.reason;
  EXPECT_NE(tight.reason.find("no tree (it would not fit into the memory)"), std::string::npos)
      << tight.reason;
}

TEST(Planner, MergesLayersOfEqualDensity) {
  const auto prisms = noise(60, 60, 10, true);
  std::mt19937 random(2);
  const auto stations = test::random_stations({0, 1200, 0, 1200, 5, 80}, 500, random);
  const auto chosen = plan(prisms.view(), stations.view(), all_at(1e-9));
  EXPECT_EQ(chosen.method, Method::direct) << chosen.reason;
  EXPECT_EQ(chosen.summed.size(), 10U);
  EXPECT_NE(chosen.reason.find("36000 prisms merged into 10 bars"), std::string::npos) << chosen.reason;
  Report report;
  const auto values = test::field(prisms.view(), stations.view(), all_at(1e-9), &report);
  const auto truth = test::direct_field(prisms.view(), stations.view(), best_accuracy);
  auto scaled = truth;
  for (auto& channel : scaled)
    for (auto& value : channel) value *= default_gravitational_constant;
  EXPECT_LT(test::largest_error(values, scaled), 1e-9);
}

TEST(Planner, MergesForADeviceWhateverTheThreads) {
  const auto prisms = noise(40, 40, 20, true);
  const auto stations = grid(100, 100, 200, 4, 10);
  auto wanted = all_at(1e-9, Method::direct);
  wanted.device = {Device::Kind::debug, -1};
  std::vector<std::size_t> bars;
  for (const int threads : {1, 2, 8, 64}) {
    wanted.threads = threads;
    const auto chosen = plan(prisms.view(), stations.view(), wanted);
    bars.push_back(chosen.summed.size());
  }
  EXPECT_THAT(bars, testing::Each(bars.front()));
}

TEST(Planner, RefusesALatticeThatIsNone) {
  const auto prisms = noise(10, 10, 4);
  std::mt19937 random(2);
  const auto stations = test::random_stations({0, 200, 0, 200, 5, 80}, 100, random);
  try {
    plan(prisms.view(), stations.view(), all_at(1e-9, Method::lattice));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("form no lattice"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("method = \"auto\""), std::string::npos) << error.what();
  }
}

TEST(Planner, CountsThePairsThatDevicesLeaveToTheProcessors) {
  // Plates a thousand times as long as thick, and stations close above, far above and on some of them.
  PrismList plates, cubes;
  for (int j = 0; j < 30; ++j)
    for (int i = 0; i < 30; ++i) {
      plates.add({i * 100.0, (i + 1) * 100.0, j * 100.0, (j + 1) * 100.0, -0.1, 0}, 100.0 + i);
      cubes.add({i * 100.0, (i + 1) * 100.0, j * 100.0, (j + 1) * 100.0, -100, 0}, 100.0 + i);
    }
  std::mt19937 random(7);
  auto stations = test::random_stations({0, 3000, 0, 3000, 0.1, 3}, 50, random);
  const auto above = test::random_stations({0, 3000, 0, 3000, 20, 90}, 7, random);
  for (std::size_t n = 0; n < above.size(); ++n)
    stations.add(above.easting[n], above.northing[n], above.up[n]);
  stations.add(50, 50, 0);
  const auto counted = [&](const PrismList& prisms, const Switching& switching) {
    double pairs = 0;
    for (std::size_t p = 0; p < prisms.size(); ++p) {
      const PrismSwitching limits(switching, 100, 100, prisms.top[p] - prisms.bottom[p]);
      for (std::size_t s = 0; s < stations.size(); ++s) {
        const double x = std::max(
                         {prisms.west[p] - stations.easting[s], stations.easting[s] - prisms.east[p], 0.0}),
                     y = std::max({prisms.south[p] - stations.northing[s],
                                   stations.northing[s] - prisms.north[p], 0.0}),
                     z = std::max({prisms.bottom[p] - stations.up[s], stations.up[s] - prisms.top[p], 0.0}),
                     h2 = x * x + y * y + z * z;
        if (h2 == 0 || (limits.stretched && h2 < limits.stable_h2)) ++pairs;
      }
    }
    return pairs;
  };
  const double accuracy = 1e-12, seconds_per_pair = 1.5e-6;
  // So few that all are looked at.
  const double of_plates = counted(plates, Switching::for_accuracy(accuracy)),
               of_cubes = counted(cubes, Switching::for_accuracy(accuracy));
  EXPECT_GT(of_plates, 20);
  EXPECT_EQ(of_cubes, 1);
  const auto direct = [&](const PrismList& prisms) {
    return direct_cost(prisms.view(), stations.view(), ChannelSet::all(), accuracy);
  };
  EXPECT_NEAR(direct(plates).one_by_one, of_plates * seconds_per_pair, 1e-12);
  EXPECT_NEAR(direct(cubes).one_by_one, of_cubes * seconds_per_pair, 1e-12);
  EXPECT_GT(direct(plates).arithmetic, direct(plates).one_by_one);
  Progress silent;
  Tree tree(plates.view(), stations.view(), ChannelSet::all(), accuracy, 1, silent);
  const auto cost = tree.cost(silent);
  EXPECT_NEAR(cost.one_by_one_seconds,
              counted(plates, Switching::for_accuracy(tree.pair_accuracy())) * seconds_per_pair, 1e-12);
  EXPECT_GT(cost.seconds, cost.one_by_one_seconds);
}

double seconds_on_one_core(const PrismList& prisms, const StationList& stations, Parameters parameters) {
  parameters.threads = 1;
  const auto start = std::clock();
  test::field(prisms.view(), stations.view(), parameters);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Planner, IsNeverSlowerThanTwiceTheBest) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers slow the methods by different factors";
#endif
  struct Case {
    const char* what;
    PrismList prisms;
    StationList stations;
    double accuracy;
  };
  std::mt19937 random(2);
  std::vector<Case> cases;
  cases.push_back({"small", noise(8, 8, 4), grid(10, 10, 20, 8, 10), 1e-9});
  cases.push_back({"grid over mesh", noise(48, 48, 6), grid(10, 10, 20, 48, 10), 1e-9});
  cases.push_back({"sparse grid over mesh", noise(64, 64, 6), grid(10, 10, 160, 8, 10), 1e-9});
  cases.push_back(
      {"scattered", noise(40, 40, 10), test::random_stations({0, 800, 0, 800, 5, 80}, 2000, random), 1e-6});
  cases.push_back({"scattered, accurate", noise(40, 40, 6),
                   test::random_stations({0, 800, 0, 800, 5, 80}, 1000, random), 1e-12});
  cases.push_back(
      {"one station", noise(60, 60, 20), test::random_stations({0, 800, 0, 800, 5, 80}, 1, random), 1e-9});
  cases.push_back(
      {"ten stations", noise(60, 60, 20), test::random_stations({0, 800, 0, 800, 5, 80}, 10, random), 1e-6});
  cases.push_back(
      {"layers", noise(50, 50, 10, true), test::random_stations({0, 800, 0, 800, 5, 80}, 300, random), 1e-9});
  cases.push_back({"far away", noise(30, 30, 10),
                   test::random_stations({90000, 98000, 0, 800, 5, 80}, 1000, random), 1e-9});
  for (const auto& c : cases) {
    double best = std::numeric_limits<double>::infinity(), chosen = best;
    const auto slower = [&] { return chosen > 2 * best + 0.01; };
    // The least of a few rounds, in which the methods take turns, since other programs disturb.
    for (int round = 0; round < 3 || (round < 8 && slower()); ++round) {
      for (const auto method : {Method::direct, Method::tree, Method::lattice, Method::fmm}) try {
          best = std::min(best, seconds_on_one_core(c.prisms, c.stations, all_at(c.accuracy, method)));
        } catch (const InputError&) {
          EXPECT_EQ(method, Method::lattice);
        }
      chosen = std::min(chosen, seconds_on_one_core(c.prisms, c.stations, all_at(c.accuracy)));
    }
    EXPECT_FALSE(slower()) << c.what << ": " << chosen << " s, best " << best << " s; "
                           << plan(c.prisms.view(), c.stations.view(), all_at(c.accuracy)).reason;
  }
}

TEST(Verify, FindsTheErrorThatWasPromised) {
  const auto prisms = noise(6, 6, 4);
  std::mt19937 random(2);
  auto stations = test::random_stations({-100, 300, -100, 300, -100, 80}, 50, random);
  auto parameters = all_at(1e-12);
  parameters.verify = 5;
  Report report;
  test::field(prisms.view(), stations.view(), parameters, &report);
  EXPECT_EQ(report.verified_stations, 5U);
  EXPECT_GT(report.verified_error, 0);
  EXPECT_LT(report.verified_error, 1e-13);
  EXPECT_TRUE(report.warnings.empty());
  parameters.precision = Precision::double_precision;
  parameters.accuracy = 1e-3;
  parameters.method = Method::tree;
  test::field(prisms.view(), stations.view(), parameters, &report);
  EXPECT_GT(report.verified_error, 1e-13);
  EXPECT_LT(report.verified_error, 1e-3);
}

}  // namespace
}  // namespace terrane::gravity
