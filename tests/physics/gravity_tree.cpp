// The tree against the direct sum: never off by more than the tolerance, whatever the bodies and the
// stations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "support/prism_field.hpp"
#include "support/prism_trial.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

FieldTable tree_field(const PrismList& prisms, const StationList& stations, double accuracy,
                      ChannelSet channels = ChannelSet::all(), int threads = 0) {
  Progress silent;
  Tree tree(prisms.view(), stations.view(), channels, accuracy, threads, silent);
  return sum_all(tree, channels, stations.size(), silent).values;
}

double error_of_tree(const PrismList& prisms, const StationList& stations, double accuracy) {
  return test::largest_error(tree_field(prisms, stations, accuracy),
                             test::direct_field(prisms.view(), stations.view(), best_accuracy));
}

TEST(Tree, IsNeverOffByMoreThanTheTolerance) {
  const char* variable = std::getenv("TERRANE_TRIALS");
#if defined(__SANITIZE_ADDRESS__)
  const int ordinary = 400;  // four times as slow there
#else
  const int ordinary = 2000;
#endif
  const int trials = variable ? std::atoi(variable) : ordinary;
  std::mt19937 random(20261);
  for (int t = 0; t < trials; ++t) {
    const auto trial = test::make_trial(random);
    const double accuracy = std::pow(10, -std::uniform_real_distribution<double>(3, 13)(random));
    const double error = error_of_tree(trial.prisms, trial.stations, accuracy);
    EXPECT_LE(error, accuracy) << "trial " << t << ": " << trial.prisms.size() << " prisms, "
                               << trial.stations.size() << " stations";
  }
}

PrismList ball(int n, double density) {
  return test::mesh_block({-500, 500, -500, 500, -1300, -300}, {n, n, n}, [=](int i, int j, int k) {
    const double h = 0.5 * (n - 1), x = i - h, y = j - h, z = k - h;
    return 4 * (x * x + y * y + z * z) < n * n ? density * (1 + 0.3 * std::sin(i + 2.0 * j - k)) : 0.0;
  });
}

TEST(Tree, KeepsItsToleranceOverAndInsideABall) {
  const auto body = ball(28, 400);
  std::mt19937 random(5);
  auto stations = test::random_stations({-900, 900, -900, 900, -1200, 200}, 200, random);
  stations.add(0, 0, -800);                                      // the centre
  stations.add(body.west[100], body.south[100], body.top[100]);  // a corner
  stations.add(body.west[5000], body.south[5000], body.top[5000]);
  for (const double accuracy : {1e-3, 1e-6, 1e-9, 1e-12, 1e-14})
    EXPECT_LE(error_of_tree(body, stations, accuracy), accuracy) << accuracy;
}

TEST(Tree, KeepsItsToleranceForASubsetOfChannels) {
  const auto body = ball(24, 400);
  std::mt19937 random(6);
  const auto stations = test::random_stations({-900, 900, -900, 900, 0, 200}, 100, random);
  const auto truth = test::direct_field(body.view(), stations.view(), best_accuracy);
  for (const auto channel : {Channel::potential, Channel::g_n, Channel::g_u, Channel::g_ee, Channel::g_eu}) {
    const auto values = tree_field(body, stations, 1e-8, ChannelSet{channel});
    const auto& exact = truth[static_cast<std::size_t>(channel)];
    double largest = 0, error = 0;
    for (std::size_t n = 0; n < stations.size(); ++n) {
      largest = std::max(largest, std::fabs(exact[n]));
      error = worse(error, std::fabs(values[0][n] - exact[n]));
    }
    EXPECT_LE(error, 1e-8 * largest) << name(channel);
  }
}

TEST(Tree, TreatsStationsInsideAndOnPrismsAsTheDirectSum) {
  const auto body = ball(16, 400);
  StationList stations;
  for (std::size_t n = 0; n < body.size(); n += 37) {
    const double x = 0.5 * (body.west[n] + body.east[n]), y = 0.5 * (body.south[n] + body.north[n]);
    stations.add(x, y, body.top[n]);
    stations.add(x, y, 0.5 * (body.bottom[n] + body.top[n]));
    stations.add(body.west[n], y, body.top[n]);
    stations.add(body.west[n], body.north[n], body.top[n]);
  }
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  parameters.accuracy = 1e-10;
  for (const auto policy :
       {SingularPolicy::nan, SingularPolicy::mean, SingularPolicy::outside, SingularPolicy::inside}) {
    parameters.singular = policy;
    Report by_tree, by_direct;
    parameters.method = Method::tree;
    const auto values = test::field(body.view(), stations.view(), parameters, &by_tree);
    parameters.method = Method::direct;
    const auto truth = test::field(body.view(), stations.view(), parameters, &by_direct);
    EXPECT_EQ(by_tree.method, "tree");
    EXPECT_GT(by_tree.singular_stations, 0U);
    EXPECT_EQ(by_tree.singular_stations, by_direct.singular_stations);
    EXPECT_EQ(by_tree.inside_stations, by_direct.inside_stations);
    for (std::size_t c = 0; c < values.size(); ++c)
      for (std::size_t n = 0; n < stations.size(); ++n)
        ASSERT_EQ(std::isnan(values[c][n]), std::isnan(truth[c][n])) << "channel " << c << " station " << n;
    EXPECT_LE(test::largest_error(values, truth), 1e-10);
  }
}

TEST(Tree, HasTheSameBitsForAnyNumberOfThreads) {
  const auto body = ball(24, 400);
  std::mt19937 random(6);
  const auto stations = test::random_stations({-900, 900, -900, 900, -600, 200}, 1300, random);
  const auto one = tree_field(body, stations, 1e-9, ChannelSet::all(), 1);
  EXPECT_EQ(tree_field(body, stations, 1e-9, ChannelSet::all(), 2), one);
  EXPECT_EQ(tree_field(body, stations, 1e-9, ChannelSet::all(), 5), one);
}

TEST(Tree, MakesTheSameExpansionsWhicheverAreWantedFirst) {
  const auto body = ball(24, 400);
  std::mt19937 random(9);
  const auto stations = test::random_stations({-900, 900, -900, 900, 500, 900}, 2000, random);
  Progress silent;
  const auto coefficients = [](const Tree& tree, std::size_t cluster) {
    const auto* c = tree.expansion(cluster).coefficients;
    return c ? std::vector<double>(c, c + coefficient_count(tree.order())) : std::vector<double>{};
  };
  Tree at_once(body.view(), stations.view(), ChannelSet::all(), 1e-9, 2, silent),
      one_by_one(body.view(), stations.view(), ChannelSet::all(), 1e-9, 3, silent);
  at_once.prepare(silent);
  one_by_one.prepare(silent);
  const std::size_t clusters = at_once.clusters();
  ASSERT_GT(clusters, 100U);
  at_once.make_expansions(std::vector<std::uint8_t>(clusters, 1), silent);
  for (std::size_t i = 0; i < clusters; ++i) {
    const std::size_t c = i * 37 % clusters;  // here and there, and in the end all
    std::vector<std::uint8_t> wanted(clusters);
    wanted[c] = 1;
    one_by_one.make_expansions(wanted, silent);
    ASSERT_EQ(coefficients(one_by_one, c), coefficients(at_once, c)) << c;
  }
}

TEST(Tree, NeedsFewClustersForEachStationHoweverManyThePrisms) {
  std::mt19937 random(6);
  const auto stations = test::random_stations({-900, 900, -900, 900, 0, 200}, 500, random);
  Progress silent;
  double last = 0;
  for (const int n : {12, 24, 48}) {
    const auto body = ball(n, 400);
    Tree tree(body.view(), stations.view(), ChannelSet::all(), 1e-6, 0, silent);
    const auto cost = tree.cost(silent);
    const double each = (cost.expansions + 0.3 * cost.near_pairs) / static_cast<double>(stations.size());
    EXPECT_LT(each, 600);
    if (last > 0) {
      EXPECT_LT(each, 2.5 * last) << "eight times the prisms";
    }
    last = each;
  }
}

TEST(Tree, StopsWithinASecondWhenAsked) {
  class Impatient final : public Progress {
   public:
    bool cancelled() const override { return true; }
  };
  const auto body = ball(24, 400);
  std::mt19937 random(6);
  const auto stations = test::random_stations({-900, 900, -900, 900, 0, 200}, 100, random);
  Impatient user;
  EXPECT_THROW(
      {
        Tree tree(body.view(), stations.view(), ChannelSet::all(), 1e-6, 0, user);
        sum_all(tree, ChannelSet::all(), stations.size(), user);
      },
      Cancelled);
}

TEST(Tree, GivesZeroForNoMassAndAnswersForOnePrism) {
  std::mt19937 random(6);
  const auto stations = test::random_stations({-900, 900, -900, 900, 0, 200}, 10, random);
  PrismList list;
  for (int n = 0; n < 300; ++n) list.add({n * 10.0, n * 10.0 + 5, 0, 5, -5, 0}, 0.0);
  for (const auto& channel : tree_field(list, stations, 1e-6))
    for (const double value : channel) EXPECT_EQ(value, 0);
  PrismList one;
  one.add({0, 10, 0, 10, -10, 0}, 500);
  EXPECT_LE(error_of_tree(one, stations, 1e-9), 1e-9);
}

/// An expansion of order p holds the first p degrees of the field, wherever its centre is.
TEST(Expansions, OfManyPrismsAreTheSumsOfThoseOfEach) {
  const auto& kernels = expansion_kernels();
  std::mt19937 random(8);
  std::uniform_real_distribution<double> place(-50, 50), side(1, 20), density(-300, 500);
  PrismList list;
  for (int n = 0; n < 120; ++n) {
    const double x = place(random), y = place(random), z = place(random);
    list.add({x, x + side(random), y, y + side(random), z, z + side(random)}, density(random));
  }
  const PrismColumns columns{{list.west.data(), list.south.data(), list.bottom.data()},
                             {list.east.data(), list.north.data(), list.top.data()},
                             list.density.data()};
  std::vector<std::uint32_t> index(list.size());
  std::iota(index.begin(), index.end(), 0U);
  std::shuffle(index.begin(), index.end(), random);
  const double centre[3] = {2, 1, 5};
  const int order = 13;
  using Numbers = std::vector<double>;
  const auto largest_difference = [](const Numbers& a, const Numbers& b) {
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::fabs(b[i]));
      difference = worse(difference, std::fabs(a[i] - b[i]));
    }
    return difference / largest;
  };
  for (const std::size_t count : {1U, 3U, 7U, 8U, 9U, 16U, 17U, 24U, 31U, 32U, 33U, 65U, 120U}) {
    Numbers together(coefficient_count(order)), each = together, radial(order / 2 + 2),
                                                radial_of_each = radial;
    kernels.gather(columns, index.data(), count, centre, 120, order, together.data(), nullptr);
    kernels.gather(columns, index.data(), count, centre, 120, order, nullptr, radial.data());
    for (std::size_t i = 0; i < count; ++i)
      kernels.gather(columns, index.data() + i, 1, centre, 120, order, each.data(), radial_of_each.data());
    EXPECT_LT(largest_difference(together, each), 1e-13) << count;
    EXPECT_LT(largest_difference(radial, radial_of_each), 1e-13) << count;
  }
}

TEST(Expansions, FallWithTheOrderAndMoveWithoutLoss) {
  const auto& kernels = expansion_kernels();
  PrismList list;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(-50, 50);
  for (int n = 0; n < 30; ++n) {
    const double x = place(random), y = place(random), z = place(random);
    list.add({x, x + 12, y, y + 7, z, z + 20}, 100.0 + n);
  }
  const PrismColumns columns{{list.west.data(), list.south.data(), list.bottom.data()},
                             {list.east.data(), list.north.data(), list.top.data()},
                             list.density.data()};
  std::vector<std::uint32_t> index(list.size());
  std::iota(index.begin(), index.end(), 0U);
  StationList stations;
  for (int n = 0; n < 8; ++n) stations.add(400 * std::cos(n), 400 * std::sin(n), 100.0 + 20 * n);
  const auto truth = test::direct_field(list.view(), stations.view(), best_accuracy);
  StationTile tile{};
  tile.count = 8;
  for (int s = 0; s < tile_size; ++s) {
    tile.x[s] = stations.easting[static_cast<std::size_t>(s % 8)];
    tile.y[s] = stations.northing[static_cast<std::size_t>(s % 8)];
    tile.z[s] = stations.up[static_cast<std::size_t>(s % 8)];
  }
  const auto error = [&](const Expansion& e, int order) {
    std::vector<double> sums(10 * tile_size);
    kernels.evaluate(e, order, true, tile, sums.data());
    FieldTable values(10, std::vector<double>(8));
    for (std::size_t c = 0; c < 10; ++c)
      for (std::size_t s = 0; s < 8; ++s) values[c][s] = sums[c * tile_size + s];
    return test::largest_error(values, truth);
  };
  const double centre[3] = {2, 1, 5}, other[3] = {20, -10, 15};
  std::vector<double> here(coefficient_count(20)), there(here.size()), direct(here.size()), radial(12),
      unused(12);
  kernels.gather(columns, index.data(), index.size(), centre, 120, 20, here.data(), radial.data());
  const Expansion first{{2, 1, 5}, 120, here.data()};
  for (int order = 2; order <= 20; order += 3)
    EXPECT_LT(error(first, order), 30 * std::pow(0.25, order + 1)) << order;
  EXPECT_LT(error(first, 20), 3e-11);
  kernels.move(first, other, 150, 20, there.data());
  kernels.gather(columns, index.data(), index.size(), other, 150, 20, direct.data(), unused.data());
  for (int n = 0; n <= 20; ++n) {
    double largest = 0, difference = 0;
    for (int i = n * n; i < (n + 1) * (n + 1); ++i) {
      largest = std::max(largest, std::fabs(direct[static_cast<std::size_t>(i)]));
      difference = std::max(
          difference, std::fabs(direct[static_cast<std::size_t>(i)] - there[static_cast<std::size_t>(i)]));
    }
    EXPECT_LT(difference, 1e-11 * largest) << "degree " << n;
  }
}

}  // namespace
}  // namespace terrane::gravity
