// The tree on devices: within its tolerance of the direct sum, and as accurate as the CPU's tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "devices/device.hpp"
#include "support/checked_memory.hpp"
#include "support/prism_field.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/direct/direct.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"
#include "terrane/physics/gravity/tree/tree_device.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

FieldTable tree_field(Device device, const PrismList& prisms, const StationList& stations,
                      ChannelSet channels, double accuracy, Precision precision = Precision::double_precision,
                      std::size_t at_once = 1000) {
  Progress silent;
  const auto engine = tree_sum_on_device(
      device, std::make_shared<Tree>(prisms.view(), stations.view(), channels, accuracy, 0, silent),
      precision, silent);
  PartSums all;
  all.values.assign(channels.size(), std::vector<double>(stations.size(), std::nan("")));
  for (std::size_t first = 0; first < engine->parts(); first += at_once)
    engine->sum(
        first, std::min(first + at_once, engine->parts()),
        [&](std::size_t p, PartSums&& sums) { scatter(engine->part(p), sums, channels, all); }, silent);
  return all.values;
}

PrismList noisy_slab(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> density(-300, 900);
  return test::mesh_block({0, 4000, 0, 4000, -800, 0}, {n, n, n / 4},
                          [&](int, int, int) { return density(random); });
}

class TreeOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(TreeOn);

TEST_P(TreeOn, KeepsItsTolerance) {
  const auto prisms = noisy_slab(40, 1);
  std::mt19937 random(2);
  auto stations = test::random_stations({-2000, 6000, -2000, 6000, 1, 1500}, 400, random);
  const auto inside = test::random_stations({0, 4000, 0, 4000, -800, 0}, 50, random);
  for (std::size_t n = 0; n < inside.size(); ++n)
    stations.add(inside.easting[n], inside.northing[n], inside.up[n]);
  stations.add(2e6, -3e6, 4e5);
  const auto truth = test::direct_field(prisms.view(), stations.view(), 1e-14);
  for (const double accuracy : {1e-3, 1e-6, 1e-9, 1e-12}) {
    const double error =
        test::largest_error(tree_field(GetParam(), prisms, stations, ChannelSet::all(), accuracy), truth);
    EXPECT_LT(error, accuracy);
    if (accuracy >= 1e-6) {
      EXPECT_GT(error, 1e-14) << "nothing was far enough for an expansion";
    }
  }
}

TEST_P(TreeOn, AgreesWithTheProcessorsAtTheHighestOrder) {
  const auto prisms = noisy_slab(32, 3);
  std::mt19937 random(4);
  const auto stations = test::random_stations({-9000, 12000, -9000, 12000, 500, 9000}, 300, random);
  const auto here = tree_field(GetParam(), prisms, stations, ChannelSet::all(), 1e-14);
  EXPECT_LT(test::largest_error(here, test::direct_field(prisms.view(), stations.view(), best_accuracy)),
            1e-13);
}

TEST_P(TreeOn, EverySubsetOfChannelsIsPartOfTheWhole) {
  const auto prisms = noisy_slab(24, 5);
  std::mt19937 random(6);
  const auto stations = test::random_stations({-2000, 6000, -2000, 6000, 50, 1500}, 200, random);
  const auto all = tree_field(GetParam(), prisms, stations, ChannelSet::all(), 1e-12);
  for (const ChannelSet set : {vector_channels, tensor_channels, ChannelSet{Channel::potential},
                               ChannelSet{Channel::g_n}, ChannelSet{Channel::g_eu, Channel::g_nn}}) {
    FieldTable some(10, std::vector<double>(stations.size())), truth = some;
    const auto values = tree_field(GetParam(), prisms, stations, set, 1e-12);
    std::size_t i = 0;
    for (const auto c : set.list()) {
      some[static_cast<std::size_t>(c)] = values[i++];
      truth[static_cast<std::size_t>(c)] = all[static_cast<std::size_t>(c)];
    }
    EXPECT_LT(test::largest_error(some, truth), 3e-12) << set.bits();
  }
}

TEST_P(TreeOn, SinglePrecisionIsRightToTwoInAMillion) {
  const auto prisms = noisy_slab(32, 7);
  std::mt19937 random(8);
  const auto stations = test::random_stations({-2000, 6000, -2000, 6000, 20, 1500}, 300, random);
  const auto truth = test::direct_field(prisms.view(), stations.view(), 1e-14);
  EXPECT_LT(test::largest_error(tree_field(GetParam(), prisms, stations, ChannelSet::all(), 1e-6,
                                           Precision::single_precision),
                                truth),
            2e-6);
}

TEST_P(TreeOn, SinglePrecisionIsNotTakenWhereFieldsCancel) {
  const auto prisms = test::mesh_block({0, 800, 0, 800, -160, 0}, {40, 40, 8}, [](int i, int j, int k) {
    return (i + j + k) % 2 ? 1000.0 : -1000.0;
  });
  std::mt19937 random(31);
  const auto stations = test::random_stations({0, 800, 0, 800, 290, 310}, 400, random);
  Progress silent;
  const auto truth =
      direct_sum(prisms.view(), stations.view(), ChannelSet::all(), best_accuracy, 0, silent).values;
  EXPECT_LT(test::largest_error(tree_field(GetParam(), prisms, stations, ChannelSet::all(), 1e-6,
                                           Precision::single_precision),
                                truth),
            single_accuracy);
}

TEST_P(TreeOn, SinglePrecisionStandsSmallBodiesFarApart) {
  std::mt19937 random(17);
  std::uniform_real_distribution<double> place(0, 200e3), density(200, 900);
  PrismList prisms;
  StationList stations;
  for (int body = 0; body < 400; ++body) {
    const double x = place(random), y = place(random);
    prisms.add({x, x + 10, y, y + 10, -30, -20}, density(random));
    if (body % 3 == 0) stations.add(x + 3, y - 8, 10.0 + body % 40);
  }
  const auto truth = test::direct_field(prisms.view(), stations.view(), 1e-14);
  EXPECT_LT(test::largest_error(tree_field(GetParam(), prisms, stations, ChannelSet::all(), 1e-6,
                                           Precision::single_precision),
                                truth),
            single_accuracy);
}

TEST_P(TreeOn, HasTheSameBitsInWhateverParts) {
  const auto prisms = noisy_slab(24, 9);
  std::mt19937 random(10);
  const auto stations = test::random_stations({-2000, 6000, -2000, 6000, -400, 1500}, 2500, random);
  const auto whole = tree_field(GetParam(), prisms, stations, ChannelSet::all(), 1e-9);
  for (const std::size_t at_once : {1U, 2U}) {
    const auto parts = tree_field(GetParam(), prisms, stations, ChannelSet::all(), 1e-9,
                                  Precision::double_precision, at_once);
    for (std::size_t c = 0; c < 10; ++c)
      EXPECT_EQ(std::memcmp(parts[c].data(), whole[c].data(), 8 * stations.size()), 0) << at_once;
  }
}

/// Counts how often it is asked whether to stop, which is once for each expansion made and for every few
/// groups of stations listed.
class CountsQuestions : public Progress {
 public:
  bool cancelled() const override {
    ++asked_;
    return stop_;
  }
  void advance(std::uint64_t) override { stop_ = stops_after_some_.load(); }
  int asked() const { return asked_; }
  void stop_after_some_stations() { stops_after_some_ = true; }

 private:
  mutable std::atomic<int> asked_ = 0;
  std::atomic<bool> stop_ = false, stops_after_some_ = false;
};

TEST_P(TreeOn, ListsWhatEachRangeOfPartsMeetsWhenThatIsSummedAndNotTwice) {
  const auto prisms = noisy_slab(16, 12);
  std::mt19937 random(13);
  const auto stations = test::random_stations({-2000, 6000, -2000, 6000, 50, 1500}, 8 * 1024, random);
  Progress silent;
  const auto engine = tree_sum_on_device(
      GetParam(),
      std::make_shared<Tree>(prisms.view(), stations.view(), ChannelSet{Channel::g_u}, 1e-3, 0, silent),
      Precision::double_precision, silent);
  ASSERT_EQ(engine->parts(), 8U);
  const auto questions = [&](std::size_t first, std::size_t last) {
    CountsQuestions counter;
    engine->sum(
        first, last, [](std::size_t, PartSums&&) {}, counter);
    return counter.asked();
  };
  questions(0, 8);  // now all expansions are there
  const int one = questions(2, 3), again = questions(2, 3), four = questions(2, 6);
  EXPECT_LT(again, one / 2);
  EXPECT_GT(four - again, 3 * (one - again));
}

TEST_P(TreeOn, StopsBeforeAllIsSummedWhenAsked) {
  if (GetParam().kind == Device::Kind::cuda) GTEST_SKIP() << "a GPU does all of it at once";
  const auto prisms = noisy_slab(32, 14);
  std::mt19937 random(15);
  const auto stations = test::random_stations({0, 4000, 0, 4000, -700, 20}, 4096, random);
  Progress silent;
  const auto engine = tree_sum_on_device(
      GetParam(),
      std::make_shared<Tree>(prisms.view(), stations.view(), ChannelSet{Channel::g_u}, 1e-9, 0, silent),
      Precision::double_precision, silent);
  CountsQuestions stopping;
  stopping.stop_after_some_stations();
  std::size_t taken = 0;
  EXPECT_THROW(engine->sum(
                   0, engine->parts(), [&](std::size_t, PartSums&&) { ++taken; }, stopping),
               Cancelled);
  EXPECT_GT(taken, 0U);
  EXPECT_LT(taken, engine->parts());
}

TEST_P(TreeOn, ServesPrismsOfVeryUnequalSizeAndOneStation) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> place(0, 1e4), logarithm(0, 3), density(-900, 900);
  PrismList prisms;
  for (int n = 0; n < 4000; ++n) {
    const double x = place(random), y = place(random), z = -place(random),
                 side = std::pow(10, logarithm(random));
    prisms.add({x, x + side, y, y + 0.7 * side, z - 0.3 * side, z}, density(random));
  }
  StationList one;
  one.add(5000, 5000, 700);
  EXPECT_LT(test::largest_error(tree_field(GetParam(), prisms, one, ChannelSet::all(), 1e-9),
                                test::direct_field(prisms.view(), one.view(), 1e-14)),
            1e-9);
}

TEST(TreeOnDebugDevice, FitsIntoTheMemoryThatIsPlannedForAndElseIsRefused) {
  const Device debug{Device::Kind::debug, -1};
  const auto prisms = noisy_slab(40, 16);
  std::mt19937 random(17);
  const std::size_t count = test::checked_memory ? 1500 : 5000;
  const auto stations = test::random_stations({-2000, 6000, -2000, 6000, -400, 1500}, count, random);
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  parameters.accuracy = 1e-9;
  parameters.method = Method::tree;
  parameters.device = debug;
  const auto roomy = tree_field(debug, prisms, stations, ChannelSet::all(), 1e-9);
  const double bytes = plan(prisms.view(), stations.view(), parameters).device_bytes;
  {
    const test::DebugMemory just_enough(static_cast<std::size_t>(bytes));
    const auto tight = tree_field(debug, prisms, stations, ChannelSet::all(), 1e-9);
    for (std::size_t c = 0; c < 10; ++c)
      EXPECT_EQ(std::memcmp(roomy[c].data(), tight[c].data(), 8 * stations.size()), 0);
  }
  const test::DebugMemory too_little(static_cast<std::size_t>(0.9 * bytes));
  try {
    plan(prisms.view(), stations.view(), parameters);
    FAIL() << "this does not fit";
  } catch (const MemoryError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("by the tree method"));
    EXPECT_THAT(error.what(), testing::HasSubstr("method = \"direct\", or device = \"cpu\""));
  }
  // What is not asked for is not taken.
  parameters.method = Method::automatic;
  EXPECT_NE(plan(prisms.view(), stations.view(), parameters).method, Method::tree);
}

}  // namespace
}  // namespace terrane::gravity
