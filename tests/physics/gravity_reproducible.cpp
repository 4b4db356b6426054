// The same bits for any number of threads; the same numbers, to rounding, for any order and any company.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "support/prism_field.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

/// A ball of cells of many densities, and stations above, beside, inside and on its cells.
struct ReproducibleProblem {
  PrismList prisms;
  StationList stations;
  ReproducibleProblem() {
    std::mt19937 random(31);
    std::uniform_real_distribution<double> density(-400, 900);
    prisms = test::mesh_block({-150, 150, -150, 150, -300, 0}, {15, 15, 15},
                              [&](int, int, int) { return density(random); });
    stations = test::random_stations({-400, 400, -400, 400, 0.5, 200}, 900, random);
    const auto inside = test::random_stations({-150, 150, -150, 150, -300, 0}, 200, random);
    for (std::size_t n = 0; n < inside.size(); ++n)
      stations.add(inside.easting[n], inside.northing[n], inside.up[n]);
    for (int i = -7; i <= 7; ++i) stations.add(10 + 20 * i, 10 * i, -100);
  }
};

Parameters direct(int threads) {
  Parameters p;
  p.channels = ChannelSet::all();
  p.method = Method::direct;
  p.singular = SingularPolicy::mean;
  p.threads = threads;
  return p;
}

TEST(DirectSum, HasTheSameBitsOnOneTwoThreeAndFiveThreads) {
  const ReproducibleProblem problem;
  const auto one = test::field(problem.prisms.view(), problem.stations.view(), direct(1));
  for (int threads : {2, 3, 5, 0}) {
    const auto many = test::field(problem.prisms.view(), problem.stations.view(), direct(threads));
    for (std::size_t c = 0; c < one.size(); ++c)
      EXPECT_EQ(std::memcmp(one[c].data(), many[c].data(), one[c].size() * sizeof(double)), 0)
          << threads << " threads, channel " << c;
  }
}

TEST(DirectSum, DoesNotDependOnTheOrderOfPrismsNorOnTheCompanyOfStations) {
  const ReproducibleProblem problem;
  auto parameters = direct(0);
  parameters.accuracy = best_accuracy;
  const auto plain = test::field(problem.prisms.view(), problem.stations.view(), parameters);
  std::mt19937 random(32);
  auto shuffled = problem.prisms;
  shuffled.shuffle(random);
  EXPECT_LT(test::largest_error(test::field(shuffled.view(), problem.stations.view(), parameters), plain),
            1e-15);
  // Stations by themselves: other tiles, so other forms for the same pairs.
  FieldTable alone(10);
  StationList few;
  FieldTable few_plain(10);
  for (std::size_t n = 0; n < problem.stations.size(); n += 97) {
    StationList station;
    station.add(problem.stations.easting[n], problem.stations.northing[n], problem.stations.up[n]);
    const auto values = test::field(problem.prisms.view(), station.view(), parameters);
    for (std::size_t c = 0; c < 10; ++c) {
      alone[c].push_back(values[c][0]);
      few_plain[c].push_back(plain[c][n]);
    }
  }
  EXPECT_LT(test::largest_error(alone, few_plain), 1e-15);
}

TEST(DirectSum, DoesNotDependOnWhetherThreadsHaveWorkToShare) {
  // One station and many prisms: the prisms are shared instead.
  const ReproducibleProblem problem;
  StationList one;
  one.add(3, 4, 5);
  auto a = test::field(problem.prisms.view(), one.view(), direct(1)),
       b = test::field(problem.prisms.view(), one.view(), direct(4));
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace terrane::gravity
