// The direct sum on devices: the same field as on the CPU, at grid-aligned stations too.
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

#include "devices/device.hpp"
#include "support/prism_field.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/direct/direct_device.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

struct Outcome {
  FieldTable values;
  std::vector<Contact> contacts;
};

/// Parts in the order given, `at_once` in one call; by station at the end.
Outcome sum(Device device, const PrismList& prisms, const StationList& stations, ChannelSet channels,
            double accuracy, Precision precision = Precision::double_precision, std::size_t at_once = 1000) {
  Parameters parameters;
  parameters.channels = channels;
  parameters.accuracy = accuracy;
  parameters.precision = precision;
  const auto engine = direct_sum_on_device(device, prisms.view(), stations.view(), parameters);
  Outcome out;
  out.values.assign(channels.size(), std::vector<double>(stations.size(), std::nan("")));
  Progress silent;
  for (std::size_t first = 0; first < engine->parts(); first += at_once)
    engine->sum(
        first, std::min(first + at_once, engine->parts()),
        [&](std::size_t p, PartSums&& sums) {
          const auto part = engine->part(p);
          ASSERT_EQ(sums.values.size(), channels.size());
          for (std::size_t c = 0; c < channels.size(); ++c)
            for (std::size_t s = 0; s < part.stations.size(); ++s)
              out.values[c][part.stations[s]] = sums.values[c][s];
          out.contacts.insert(out.contacts.end(), sums.contacts.begin(), sums.contacts.end());
        },
        silent);
  std::stable_sort(out.contacts.begin(), out.contacts.end(),
                   [](const Contact& a, const Contact& b) { return a.station < b.station; });
  return out;
}

PrismList noisy_block(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> density(-400, 900);
  return test::mesh_block({-150, 150, -150, 150, -300, 0}, {n, n, n},
                          [&](int, int, int) { return density(random); });
}

/// Above, beside, inside, on faces, edges and corners.
StationList stations_around() {
  std::mt19937 random(3);
  auto stations = test::random_stations({-600, 600, -600, 600, 0.5, 400}, 300, random);
  const auto inside = test::random_stations({-150, 150, -150, 150, -300, 0}, 100, random);
  for (std::size_t n = 0; n < inside.size(); ++n)
    stations.add(inside.easting[n], inside.northing[n], inside.up[n]);
  for (int i = -8; i <= 8; ++i)
    for (int j = -8; j <= 8; ++j) stations.add(20.0 * i, 20.0 * j, i % 2 ? 0.0 : -100.0);
  stations.add(9000, -20000, 3000);
  return stations;
}

/// What stands on edges and corners has no value to compare.
FieldTable without_surface(FieldTable truth, const std::vector<Contact>& contacts) {
  for (const auto& contact : contacts)
    if (!contact.inside())
      for (std::size_t c = 4; c < 10; ++c) truth[c][contact.station] = std::nan("");
  return truth;
}

class DirectSumOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(DirectSumOn);

TEST_P(DirectSumOn, AgreesWithTheProcessorsToRounding) {
  const auto prisms = noisy_block(15, 1);
  const auto stations = stations_around();
  for (const double accuracy : {1e-6, 1e-9, 1e-12, best_accuracy}) {
    Progress silent;
    const auto truth =
        direct_sum(prisms.view(), stations.view(), ChannelSet::all(), best_accuracy, 0, silent);
    const auto here = sum(GetParam(), prisms, stations, ChannelSet::all(), accuracy);
    EXPECT_LT(test::largest_error(here.values, without_surface(truth.values, truth.contacts)),
              std::max(accuracy, 1e-13))
        << accuracy;
    ASSERT_EQ(here.contacts.size(), truth.contacts.size());
    for (std::size_t i = 0; i < truth.contacts.size(); ++i)
      EXPECT_EQ(here.contacts[i].station, truth.contacts[i].station);
  }
}

TEST_P(DirectSumOn, GivesTheSameContactsAsTheProcessors) {
  const auto prisms = noisy_block(6, 2);
  const auto stations = stations_around();
  for (const ChannelSet channels : {ChannelSet::all(), ChannelSet{Channel::g_e}, ChannelSet{Channel::g_nn}}) {
    Progress silent;
    const auto truth = direct_sum(prisms.view(), stations.view(), channels, 1e-12, 0, silent).contacts;
    auto here = sum(GetParam(), prisms, stations, channels, 1e-12).contacts;
    const auto key = [](const Contact& c) { return std::tuple(c.station, c.octants, c.density); };
    std::vector<std::tuple<std::size_t, std::uint8_t, double>> a, b;
    for (const auto& c : truth) a.push_back(key(c));
    for (const auto& c : here) b.push_back(key(c));
    EXPECT_THAT(b, testing::UnorderedElementsAreArray(a));
  }
}

TEST_P(DirectSumOn, EverySubsetOfChannelsIsPartOfTheWhole) {
  const auto prisms = noisy_block(7, 3);
  std::mt19937 random(4);
  const auto stations = test::random_stations({-300, 300, -300, 300, 1, 300}, 150, random);
  const auto all = sum(GetParam(), prisms, stations, ChannelSet::all(), 1e-13).values;
  std::vector<ChannelSet> sets{vector_channels,
                               tensor_channels,
                               {Channel::potential, Channel::g_n},
                               {Channel::g_uu, Channel::g_u},
                               {Channel::g_ee, Channel::g_nn}};
  for (const auto c : ChannelSet::all().list()) sets.push_back({c});
  for (const auto set : sets) {
    FieldTable some(10, std::vector<double>(stations.size())), truth = some;
    const auto values = sum(GetParam(), prisms, stations, set, 1e-13).values;
    std::size_t i = 0;
    for (const auto c : set.list()) {
      some[static_cast<std::size_t>(c)] = values[i++];
      truth[static_cast<std::size_t>(c)] = all[static_cast<std::size_t>(c)];
    }
    EXPECT_LT(test::largest_error(some, truth), 1e-12) << set.bits();
  }
}

TEST_P(DirectSumOn, TakesPrismsOfEverySizeAndShape) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(-1000, 1000), logarithm(0, 2.5), density(-900, 900);
  PrismList prisms;
  for (int n = 0; n < 500; ++n) {
    const double x = place(random), y = place(random), z = place(random) - 1200;
    prisms.add({x, x + std::pow(10, logarithm(random)), y, y + std::pow(10, logarithm(random)), z,
                z + std::pow(10, logarithm(random))},
               density(random));
  }
  const auto stations = test::random_stations({-1500, 1500, -1500, 1500, -2000, 400}, 400, random);
  Progress silent;
  const auto truth =
      direct_sum(prisms.view(), stations.view(), ChannelSet::all(), best_accuracy, 0, silent).values;
  EXPECT_LT(test::largest_error(sum(GetParam(), prisms, stations, ChannelSet::all(), 1e-12).values, truth),
            1e-12);
}

TEST_P(DirectSumOn, LosesNothingToLargeCoordinates) {
  auto prisms = noisy_block(6, 6);
  std::mt19937 random(7);
  auto stations = test::random_stations({-300, 300, -300, 300, 1, 300}, 100, random);
  // The offsets are multiples of a power of two, and so are the faces: nothing is rounded.
  for (auto* column : {&prisms.west, &prisms.east, &prisms.south, &prisms.north, &prisms.bottom, &prisms.top,
                       &stations.easting, &stations.northing, &stations.up})
    for (double& x : *column) x = std::round(x * 1024) / 1024;
  const auto here = sum(GetParam(), prisms, stations, ChannelSet::all(), 1e-12).values;
  for (double& x : prisms.west) x += 524288;
  for (double& x : prisms.east) x += 524288;
  for (double& x : prisms.south) x += 7340032;
  for (double& x : prisms.north) x += 7340032;
  for (double& x : stations.easting) x += 524288;
  for (double& x : stations.northing) x += 7340032;
  EXPECT_LT(test::largest_error(sum(GetParam(), prisms, stations, ChannelSet::all(), 1e-12).values, here),
            1e-13);
}

TEST_P(DirectSumOn, SinglePrecisionIsRightToTwoInAMillion) {
  std::mt19937 random(8);
  for (const double offset : {0.0, 6e6}) {
    for (const double size : {1.0, 1e3}) {
      PrismList prisms;
      std::uniform_real_distribution<double> density(0.1, 900);
      for (const auto& p = noisy_block(12, 9); prisms.size() < p.size();) {
        const std::size_t n = prisms.size();
        prisms.add({size * p.west[n] + offset, size * p.east[n] + offset, size * p.south[n],
                    size * p.north[n], size * p.bottom[n], size * p.top[n]},
                   density(random));
      }
      auto stations = test::random_stations(
          {-400 * size + offset, 400 * size + offset, -400 * size, 400 * size, 0.1 * size, 200 * size}, 300,
          random);
      stations.add(offset + 1e5 * size, 0, 1e4 * size);
      Progress silent;
      const auto truth =
          direct_sum(prisms.view(), stations.view(), ChannelSet::all(), best_accuracy, 0, silent).values;
      const auto here =
          sum(GetParam(), prisms, stations, ChannelSet::all(), 1e-6, Precision::single_precision).values;
      EXPECT_LT(test::largest_error(here, truth), 2e-6) << offset << ' ' << size;
      EXPECT_GT(test::largest_error(here, truth), 1e-12);  // it is in float, after all
    }
  }
}

/// Small bodies far apart: a tile then reaches over distances beside which they are nothing.
PrismList scattered_bodies(int cells, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> place(0, 200e3), density(200, 900);
  PrismList prisms;
  for (int body = 0; body < 200 / (cells * cells); ++body) {
    const double x = place(random), y = place(random);
    for (int i = 0; i < cells; ++i)
      for (int j = 0; j < cells; ++j)
        prisms.add({x + 10 * i, x + 10 * i + 10, y + 10 * j, y + 10 * j + 10, -30, -20}, density(random));
  }
  return prisms;
}

TEST_P(DirectSumOn, SinglePrecisionStandsDensitiesNextToNothing) {
  for (const double density : {1e-30, 1e-200, 1e-300, 1e-320}) {
    const auto prisms = test::mesh_block({-150, 150, -150, 150, -300, 0}, {4, 4, 4},
                                         [&](int i, int, int) { return i % 2 ? density : 0.5 * density; });
    const auto stations = stations_around();
    const auto here = sum(GetParam(), prisms, stations, ChannelSet::all(), 1e-6, Precision::single_precision);
    for (const auto& values : here.values)
      for (const double v : values) ASSERT_TRUE(std::isfinite(v)) << density;
  }
}

TEST_P(DirectSumOn, SinglePrecisionReachesFurtherThanTheEarth) {
  // The fifth power of the inverse distance, in sides of the prisms, is far below what a float can hold.
  const auto prisms = noisy_block(4, 21);
  test::StationList stations;
  for (const double distance : {1e4, 1e7, 4e8, 1.5e11}) {
    stations.easting.assign({0.3 * distance, -distance});
    stations.northing.assign({0.5 * distance, 0.1 * distance});
    stations.up.assign({distance, 0.2 * distance});
    const auto truth = sum(GetParam(), prisms, stations, ChannelSet::all(), 1e-12).values,
               here = sum(GetParam(), prisms, stations, ChannelSet::all(), 1e-6, Precision::single_precision)
                          .values;
    EXPECT_LT(test::largest_error(here, truth), single_accuracy) << distance;
  }
}

TEST_P(DirectSumOn, SinglePrecisionStandsSmallBodiesFarApart) {
  for (const int cells : {1, 3}) {
    const auto prisms = scattered_bodies(cells, 17);
    StationList stations;
    for (std::size_t n = 0; n < prisms.size(); n += 3)
      stations.add(prisms.west[n] + 3, prisms.south[n] - 8, 10.0 + 7 * static_cast<double>(n % 5));
    Progress silent;
    const auto truth =
        direct_sum(prisms.view(), stations.view(), ChannelSet::all(), best_accuracy, 0, silent).values;
    const auto here = sum(GetParam(), prisms, stations, ChannelSet::all(), 1e-6, Precision::single_precision);
    EXPECT_LT(test::largest_error(here.values, truth), single_accuracy) << cells;
  }
}

TEST_P(DirectSumOn, HasTheSameBitsInWhateverParts) {
  const auto prisms = noisy_block(13, 10);
  std::mt19937 random(11);
  auto stations = test::random_stations({-500, 500, -500, 500, -200, 300}, 3333, random);
  const auto whole = sum(GetParam(), prisms, stations, {Channel::g_u, Channel::g_ee}, 1e-12);
  for (const std::size_t at_once : {1U, 2U, 3U}) {
    const auto parts = sum(GetParam(), prisms, stations, {Channel::g_u, Channel::g_ee}, 1e-12,
                           Precision::double_precision, at_once);
    for (std::size_t c = 0; c < 2; ++c)
      EXPECT_EQ(std::memcmp(parts.values[c].data(), whole.values[c].data(), 8 * stations.size()), 0)
          << at_once;
  }
}

TEST_P(DirectSumOn, ServesOnePrismAndOneStation) {
  PrismList prisms;
  prisms.add({-1, 1, -1, 1, -3, -1}, 1000);
  StationList stations;
  stations.add(0, 0, 2);
  Progress silent;
  const auto truth = test::direct_field(prisms.view(), stations.view(), best_accuracy);
  EXPECT_LT(test::largest_error(sum(GetParam(), prisms, stations, ChannelSet::all(), 1e-12).values, truth),
            1e-14);
}

TEST_P(DirectSumOn, ObeysLaplaceOutside) {
  const auto prisms = noisy_block(9, 12);
  std::mt19937 random(13);
  const auto stations = test::random_stations({-400, 400, -400, 400, 0.5, 200}, 200, random);
  const auto v =
      sum(GetParam(), prisms, stations, {Channel::g_uu}, 1e-12).values[0];  // by itself, not from the others
  const auto all = sum(GetParam(), prisms, stations, tensor_channels, 1e-12).values;
  double largest = 0, worst = 0;
  for (std::size_t n = 0; n < stations.size(); ++n) {
    largest = std::max(largest, std::fabs(v[n]));
    worst = worse(worst, std::fabs(all[0][n] + all[1][n] + v[n]));
  }
  EXPECT_LT(worst, 1e-11 * largest);
}

// ---- the debug device's memory ---------------------------------------------------------------------------

TEST(DebugDevice, WorksInSmallerPartsAlsoForAFewPrisms) {
  // Then the sums of the stations take the memory, not the chunks.
  const auto prisms = noisy_block(3, 22);
  std::mt19937 random(16);
  const auto stations = test::random_stations({-400, 400, -400, 400, 0.5, 200}, 100000, random);
  const Device debug{Device::Kind::debug, -1};
  const auto roomy = sum(debug, prisms, stations, {Channel::g_u}, 1e-6);
  for (const char* const bytes : {"30000000", "8000000", "4500000"}) {
    setenv("TERRANE_DEBUG_MEMORY", bytes, 1);
    const auto tight = sum(debug, prisms, stations, {Channel::g_u}, 1e-6);
    unsetenv("TERRANE_DEBUG_MEMORY");
    EXPECT_EQ(std::memcmp(roomy.values[0].data(), tight.values[0].data(), 8 * stations.size()), 0) << bytes;
  }
}

TEST(DebugDevice, SumsRangesLikeTheWhole) {
  const auto prisms = noisy_block(5, 23);
  std::mt19937 random(17);
  const auto stations = test::random_stations({-400, 400, -400, 400, -50, 200}, 20000, random);
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  const auto engine =
      direct_sum_on_device({Device::Kind::debug, -1}, prisms.view(), stations.view(), parameters);
  const auto sums = [&](const std::vector<Range>& ranges) {
    std::map<std::size_t, PartSums> found;
    Progress silent;
    engine->sum_ranges(
        ranges,
        [&](std::size_t part, PartSums&& some) {
          EXPECT_TRUE(found.emplace(part, std::move(some)).second) << part;
        },
        silent);
    return found;
  };
  const std::size_t parts = engine->parts();
  ASSERT_GT(parts, 10U);
  const auto whole = sums({{0, parts}});
  EXPECT_EQ(whole.size(), parts);
  EXPECT_TRUE(sums({}).empty());
  const auto holes = sums({{3, 3}, {7, parts - 1}, {0, 2}, {4, 4}});
  EXPECT_EQ(holes.size(), parts - 8 + 2);
  for (const auto& [part, some] : holes) {
    EXPECT_EQ(some.values, whole.at(part).values);
    EXPECT_EQ(some.contacts.size(), whole.at(part).contacts.size());
  }
  // What goes wrong while results are handed over comes out, wherever it happens.
  Progress silent;
  for (const std::size_t bad : {std::size_t{0}, parts / 2, parts - 1})
    EXPECT_THROW(engine->sum(
                     0, parts,
                     [&](std::size_t part, PartSums&&) {
                       if (part == bad) throw std::length_error("full");
                     },
                     silent),
                 std::length_error);
  EXPECT_EQ(sums({{0, parts}}).at(5).values, whole.at(5).values);
}

TEST(DebugDevice, WorksInSmallerPartsWhenMemoryIsShort) {
  const auto prisms = noisy_block(12, 14);
  std::mt19937 random(15);
  const auto stations = test::random_stations({-400, 400, -400, 400, 0.5, 200}, 20000, random);
  const Device debug{Device::Kind::debug, -1};
  const auto roomy = sum(debug, prisms, stations, ChannelSet::all(), 1e-6);
  setenv("TERRANE_DEBUG_MEMORY", "9000000", 1);
  const auto tight = sum(debug, prisms, stations, ChannelSet::all(), 1e-6);
  setenv("TERRANE_DEBUG_MEMORY", "300000", 1);
  try {
    sum(debug, prisms, stations, ChannelSet::all(), 1e-6);
    FAIL() << "this does not fit";
  } catch (const MemoryError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("of device memory are wanted"));
    EXPECT_THAT(error.what(), testing::HasSubstr("device = \"cpu\""));
  }
  unsetenv("TERRANE_DEBUG_MEMORY");
  for (std::size_t c = 0; c < 10; ++c)
    EXPECT_EQ(std::memcmp(roomy.values[c].data(), tight.values[c].data(), 8 * stations.size()), 0);
}

}  // namespace
}  // namespace terrane::gravity
