// Fast multipoles on devices: within their tolerance of the direct sum, whatever the bodies and the stations.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "devices/device.hpp"
#include "support/checked_memory.hpp"
#include "support/prism_field.hpp"
#include "support/prism_trial.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/fmm/fmm_device.hpp"
#include "terrane/physics/gravity/run/planner.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

struct OnIt {
  FieldTable values;
  double translations;
};

OnIt fmm_on(Device device, const PrismList& prisms, const StationList& stations, ChannelSet channels,
            double accuracy, std::size_t at_once = 1000, Precision precision = Precision::double_precision) {
  Progress silent;
  auto fmm = std::make_shared<Fmm>(prisms.view(), stations.view(), channels, accuracy, 0, silent,
                                   Fmm::ForDevice{0, 0});
  const double translations = fmm->cost(silent).translations;
  const auto engine = fmm_sum_on_device(device, std::move(fmm), precision, silent);
  PartSums all;
  all.values.assign(channels.size(), std::vector<double>(stations.size(), std::nan("")));
  for (std::size_t first = 0; first < engine->parts(); first += at_once)
    engine->sum(
        first, std::min(first + at_once, engine->parts()),
        [&](std::size_t p, PartSums&& sums) { scatter(engine->part(p), sums, channels, all); }, silent);
  return {std::move(all.values), translations};
}

PrismList slab(int n, double least_density, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> density(least_density, 900);
  return test::mesh_block({0, 4000, 0, 4000, -800, 0}, {n, n, n / 4},
                          [&](int, int, int) { return density(random); });
}

class FmmOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(FmmOn);

TEST_P(FmmOn, KeepsItsToleranceForDensitiesOfOneSignAndOfBoth) {
  for (const double least : {100.0, -900.0}) {
    const auto prisms = slab(20, least, 1);
    std::mt19937 random(2);
    auto stations = test::random_stations({-2000, 6000, -2000, 6000, 1, 1500}, 800, random);
    const auto inside = test::random_stations({0, 4000, 0, 4000, -800, 0}, 20, random);
    for (std::size_t n = 0; n < inside.size(); ++n)
      stations.add(inside.easting[n], inside.northing[n], inside.up[n]);
    stations.add(2e6, -3e6, 4e5);
    const auto truth = test::direct_field(prisms.view(), stations.view(), best_accuracy);
    for (const double accuracy : {1e-3, 1e-6, 1e-10}) {
      const auto found = fmm_on(GetParam(), prisms, stations, ChannelSet::all(), accuracy);
      EXPECT_LT(test::largest_error(found.values, truth), accuracy) << least;
      EXPECT_GT(found.translations, 20) << accuracy;
    }
  }
}

TEST_P(FmmOn, IsNeverOffByMoreThanTheTolerance) {
  std::mt19937 random(20283);
  double translations = 0;
  for (int t = 0; t < 25; ++t) {
    const auto trial = test::make_trial(random, 250);
    const double accuracy = std::pow(10, -std::uniform_real_distribution<double>(3, 13)(random));
    const auto found = fmm_on(GetParam(), trial.prisms, trial.stations, ChannelSet::all(), accuracy);
    EXPECT_LE(test::largest_error(found.values, test::direct_field(trial.prisms.view(), trial.stations.view(),
                                                                   best_accuracy)),
              accuracy)
        << "trial " << t << ": " << trial.prisms.size() << " prisms, " << trial.stations.size()
        << " stations";
    translations += found.translations;
  }
  EXPECT_GT(translations, 25);
}

TEST_P(FmmOn, EverySubsetOfChannelsIsPartOfTheWhole) {
  const auto prisms = slab(24, -300, 5);
  std::mt19937 random(6);
  const auto stations = test::random_stations({-2000, 6000, -2000, 6000, 50, 1500}, 600, random);
  const auto all = test::direct_field(prisms.view(), stations.view(), best_accuracy);
  for (const ChannelSet set : {vector_channels, tensor_channels, ChannelSet{Channel::potential},
                               ChannelSet{Channel::g_n}, ChannelSet{Channel::g_eu, Channel::g_nn}}) {
    FieldTable some(10, std::vector<double>(stations.size())), truth = some;
    const auto found = fmm_on(GetParam(), prisms, stations, set, 1e-8);
    EXPECT_GT(found.translations, 50) << set.bits();
    std::size_t i = 0;
    for (const auto c : set.list()) {
      some[static_cast<std::size_t>(c)] = found.values[i++];
      truth[static_cast<std::size_t>(c)] = all[static_cast<std::size_t>(c)];
    }
    EXPECT_LT(test::largest_error(some, truth), 1e-8) << set.bits();
  }
}

TEST_P(FmmOn, HasTheSameBitsInWhateverParts) {
  const auto prisms = slab(20, -300, 9);
  std::mt19937 random(10);
  const auto stations = test::random_stations({-2000, 6000, -2000, 6000, -400, 1500}, 5000, random);
  const auto whole = fmm_on(GetParam(), prisms, stations, ChannelSet::all(), 1e-4).values;
  for (const std::size_t at_once : {1U, 2U}) {
    const auto parts = fmm_on(GetParam(), prisms, stations, ChannelSet::all(), 1e-4, at_once).values;
    for (std::size_t c = 0; c < 10; ++c)
      EXPECT_EQ(std::memcmp(parts[c].data(), whole[c].data(), 8 * stations.size()), 0) << at_once;
  }
}

TEST_P(FmmOn, SinglePrecisionIsRightToTwoInAMillion) {
  const auto prisms = slab(24, -300, 7);
  std::mt19937 random(8);
  const auto stations = test::random_stations({-2000, 6000, -2000, 6000, 20, 1500}, 600, random);
  EXPECT_LT(test::largest_error(fmm_on(GetParam(), prisms, stations, ChannelSet::all(), 1e-6, 1000,
                                       Precision::single_precision)
                                    .values,
                                test::direct_field(prisms.view(), stations.view(), best_accuracy)),
            2e-6);
}

TEST_P(FmmOn, AnswersForOnePlaceFarAwayOneStationOnePrismAndNone) {
  const PrismList many = slab(12, -300, 11), none;
  PrismList one, weightless;
  one.add({0, 10, 0, 20, -30, -10}, 400);
  for (int n = 0; n < 300; ++n) weightless.add({n * 10.0, n * 10.0 + 5, 0, 5, -5, 0}, 0.0);
  StationList place, single, away;
  for (int n = 0; n < 100; ++n) place.add(300, -200, 150);
  single.add(120, 70, 30);
  for (int n = 0; n < 100; ++n) away.add(5e5 + 300 * n, -2e5 * n, 3e4);
  for (const PrismList* prisms : {&many, &std::as_const(one)})
    for (const auto* stations : {&place, &single, &away})
      EXPECT_LE(test::largest_error(fmm_on(GetParam(), *prisms, *stations, ChannelSet::all(), 1e-8).values,
                                    test::direct_field(prisms->view(), stations->view(), best_accuracy)),
                1e-8)
          << prisms->size() << " prisms, " << stations->size() << " stations";
  for (const PrismList* prisms : {&std::as_const(weightless), &none})
    for (const auto& channel : fmm_on(GetParam(), *prisms, place, ChannelSet::all(), 1e-6).values)
      EXPECT_EQ(channel, std::vector<double>(place.size(), 0.0));
}

TEST_P(FmmOn, StandsInThePlanWithTheMemoryThatItTakes) {
  const auto prisms = slab(16, 100, 13);
  std::mt19937 random(14);
  const auto stations = test::random_stations({0, 4000, 0, 4000, 20, 200}, 1200, random);
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  parameters.accuracy = 1e-6;
  parameters.method = Method::fmm;
  parameters.device = GetParam();
  const auto planned = plan(prisms.view(), stations.view(), parameters);
  EXPECT_EQ(planned.method, Method::fmm);
  EXPECT_EQ(planned.device, GetParam());
  EXPECT_GT(planned.device_bytes, 9.0 * 8 * static_cast<double>(prisms.size()));
  Report report;
  const auto values = test::field(prisms.view(), stations.view(), parameters, &report);
  EXPECT_EQ(report.method, "fmm");
  parameters.method = Method::direct;
  EXPECT_LE(test::largest_error(values, test::field(prisms.view(), stations.view(), parameters)), 2e-6);
}

TEST(FmmOnDebugDevice, FitsIntoTheMemoryThatIsPlannedForAndElseIsRefused) {
  const Device debug{Device::Kind::debug, -1};
  const auto prisms = slab(24, -300, 16);
  std::mt19937 random(17);
  const auto stations = test::random_stations({-2000, 6000, -2000, 6000, -400, 1500}, 2500, random);
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  parameters.accuracy = 1e-5;
  parameters.method = Method::fmm;
  parameters.device = debug;
  const auto roomy = fmm_on(debug, prisms, stations, ChannelSet::all(), 1e-5).values;
  const double bytes = plan(prisms.view(), stations.view(), parameters).device_bytes;
  {
    const test::DebugMemory just_enough(static_cast<std::size_t>(bytes));
    const auto tight = fmm_on(debug, prisms, stations, ChannelSet::all(), 1e-5).values;
    for (std::size_t c = 0; c < 10; ++c)
      EXPECT_EQ(std::memcmp(roomy[c].data(), tight[c].data(), 8 * stations.size()), 0);
  }
  const test::DebugMemory too_little(static_cast<std::size_t>(0.9 * bytes));
  try {
    plan(prisms.view(), stations.view(), parameters);
    FAIL() << "this does not fit";
  } catch (const MemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("by the fmm method"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace terrane::gravity
