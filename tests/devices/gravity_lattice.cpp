// The lattice method on devices: the same convolutions as on the CPU.
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <set>

#include "devices/device.hpp"
#include "support/prism_field.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/lattice/lattice.hpp"
#include "terrane/physics/gravity/lattice/lattice_device.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

constexpr Device debug{Device::Kind::debug, -1};

struct Mesh {
  std::array<int, 3> cells;
  double spacing[2];
  std::vector<double> faces;  ///< of layers, ascending

  PrismList prisms(unsigned seed, bool gaps) const {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> density(-500, 500);
    PrismList list;
    for (int k = 0; k < cells[2]; ++k)
      for (int j = 0; j < cells[1]; ++j)
        for (int i = 0; i < cells[0]; ++i) {
          const double rho = density(random);
          const auto layer = static_cast<std::size_t>(k);
          if (!gaps || (i * 3 + j * 5 + k * 7) % 4 != 0)
            list.add({i * spacing[0], (i + 1) * spacing[0], j * spacing[1], (j + 1) * spacing[1],
                      faces[layer], faces[layer + 1]},
                     rho);
        }
    list.shuffle(random);
    return list;
  }
  /// Stations at (i + east, j + north) / finer cells.
  StationList stations(double east, double north, int ni, int nj, double up, double finer = 1) const {
    StationList list;
    for (int j = 0; j < nj; ++j)
      for (int i = 0; i < ni; ++i)
        list.add((i + east) * spacing[0] / finer, (j + north) * spacing[1] / finer, up);
    return list;
  }
};

const Mesh uneven_layers{{9, 7, 4}, {40, 30}, {-260, -160, -150, -70, -40}};

StationList joined(StationList a, const StationList& b) {
  for (std::size_t n = 0; n < b.size(); ++n) a.add(b.easting[n], b.northing[n], b.up[n]);
  return a;
}

LatticeOperator lattice_of(const PrismList& prisms, const StationList& stations,
                           ChannelSet channels = ChannelSet::all()) {
  std::string reason;
  auto lattice = recognise_lattice(prisms.view(), stations.view(), reason);
  if (!lattice) throw std::runtime_error(reason);
  return {std::move(*lattice), channels};
}

/// All parts, `at_once` in one call; contacts ordered by station.
PartSums sum(Device device, const PrismList& prisms, const StationList& stations,
             ChannelSet channels = ChannelSet::all(), std::size_t at_once = 1000) {
  const auto engine =
      lattice_sum_on_device(device, lattice_of(prisms, stations, channels).plan(), prisms.density, 0);
  PartSums all;
  all.values.assign(channels.size(), std::vector<double>(stations.size(), std::nan("")));
  Progress silent;
  for (std::size_t first = 0; first < engine->parts(); first += at_once)
    engine->sum(
        first, std::min(first + at_once, engine->parts()),
        [&](std::size_t p, PartSums&& sums) { scatter(engine->part(p), sums, channels, all); }, silent);
  sort_contacts(all.contacts);
  return all;
}

std::vector<std::tuple<std::size_t, std::uint8_t, double>> listed(const std::vector<Contact>& contacts) {
  std::vector<std::tuple<std::size_t, std::uint8_t, double>> list;
  for (const auto& c : contacts) list.emplace_back(c.station, c.octants, c.density);
  return list;
}

void expect_as_on_processors(Device device, const PrismList& prisms, const StationList& stations) {
  Progress silent;
  const auto truth = lattice_of(prisms, stations).apply(prisms.density, stations.size(), 0, silent);
  const auto here = sum(device, prisms, stations);
  EXPECT_LT(test::largest_error(here.values, truth.values), 1e-13);
  EXPECT_EQ(listed(here.contacts), listed(truth.contacts));
}

void expect_same_bits(const FieldTable& a, const FieldTable& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t c = 0; c < a.size(); ++c)
    EXPECT_EQ(std::memcmp(a[c].data(), b[c].data(), sizeof(double) * a[c].size()), 0) << c;
}

class LatticeOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(LatticeOn);

TEST_P(LatticeOn, ServesStationsAtAnyOffsetFromTheCells) {
  const auto& mesh = uneven_layers;
  const auto prisms = mesh.prisms(1, false);
  for (const auto& [east, north] : {std::pair{0.37, 0.21}, {0.5, 0.5}, {0.0, 0.0}, {0.5, 0.0}, {0.0, 0.3}})
    expect_as_on_processors(GetParam(), prisms, mesh.stations(east, north, 9, 7, 35));
}

TEST_P(LatticeOn, ServesFinerGridsSeveralHeightsAndStationsBeyondTheMesh) {
  const auto& mesh = uneven_layers;
  const auto prisms = mesh.prisms(2, true);
  expect_as_on_processors(GetParam(), prisms, mesh.stations(0.1, 0.2, 17, 20, 35, 2));
  expect_as_on_processors(GetParam(), prisms,
                          joined(mesh.stations(0.3, 0.4, 6, 7, 35), mesh.stations(-20.25, 6.5, 12, 5, 120)));
}

TEST_P(LatticeOn, TreatsStationsInsideAndOnCellsAsTheProcessors) {
  const auto& mesh = uneven_layers;
  const auto prisms = mesh.prisms(3, true);
  for (const double up : {-155.0, -150.0, -40.0, -122.7})
    for (const double east : {0.5, 0.0, 0.31})
      expect_as_on_processors(GetParam(), prisms, mesh.stations(east, 0.5, 9, 7, up));
}

TEST_P(LatticeOn, ServesFlatAndTallCellsAndOddSizes) {
  const Mesh flat{{13, 11, 3}, {100, 90}, {-8, -7, -6, -5}}, tall{{37, 1, 2}, {1, 1.5}, {-350, -200, -100}},
      one{{1, 1, 1}, {10, 10}, {-20, -10}};
  expect_as_on_processors(GetParam(), flat.prisms(4, true), flat.stations(0.5, 0.25, 12, 14, 0.5));
  expect_as_on_processors(GetParam(), flat.prisms(4, false), flat.stations(0, 0, 12, 14, -6.2));
  expect_as_on_processors(GetParam(), tall.prisms(5, false), tall.stations(0.1, 0.5, 45, 3, 3));
  expect_as_on_processors(GetParam(), one.prisms(6, false), one.stations(0.5, 0.5, 1, 1, 0));
}

TEST_P(LatticeOn, IsRightFarFromTheCellsToo) {
  const Mesh mesh{{60, 50, 2}, {20, 20}, {-50, -30, -10}};
  const auto prisms = mesh.prisms(7, false);
  const auto stations = mesh.stations(0.2, 0.6, 50, 60, 30);
  const auto truth = test::direct_field(prisms.view(), stations.view(), best_accuracy);
  EXPECT_LT(test::largest_error(sum(GetParam(), prisms, stations).values, truth), 2e-14);
}

TEST_P(LatticeOn, EverySubsetOfChannelsIsPartOfTheWhole) {
  const auto& mesh = uneven_layers;
  const auto prisms = mesh.prisms(8, true);
  for (const double up : {25.0, -110.0}) {
    const auto stations = mesh.stations(0.5, 0.2, 9, 7, up);
    const auto whole = sum(GetParam(), prisms, stations).values;
    std::vector<ChannelSet> sets{
        vector_channels, tensor_channels, {Channel::g_uu, Channel::g_u}, {Channel::g_ee, Channel::g_nn}};
    for (const auto c : ChannelSet::all().list()) sets.push_back({c});
    for (const auto set : sets) {
      // What a kind of the whole is made of besides is 0 in both tables.
      FieldTable some(10, std::vector<double>(stations.size())), truth = some;
      const auto values = sum(GetParam(), prisms, stations, set).values;
      std::size_t i = 0;
      for (const auto c : set.list()) {
        some[static_cast<std::size_t>(c)] = values[i++];
        truth[static_cast<std::size_t>(c)] = whole[static_cast<std::size_t>(c)];
      }
      EXPECT_LT(test::largest_error(some, truth), 1e-13) << set.bits();
    }
  }
}

TEST_P(LatticeOn, HasTheSameBitsInWhateverParts) {
  const auto& mesh = uneven_layers;
  const auto prisms = mesh.prisms(9, true);
  const auto stations = mesh.stations(0.1, 0.2, 17, 20, 35, 2);
  const auto whole = sum(GetParam(), prisms, stations);
  for (const std::size_t at_once : {1U, 3U, 10U})
    expect_same_bits(sum(GetParam(), prisms, stations, ChannelSet::all(), at_once).values, whole.values);
}

// The potential is a million times as large as the tensor: one may leave nothing in the other.
TEST_P(LatticeOn, HasTheSameBitsInWhateverPartsWhereLagsAreOddAndChannelsOfUnlikeSize) {
  const Mesh mesh{{30, 30, 2}, {1000, 1000}, {-2500, -1200, -100}};
  const auto prisms = mesh.prisms(33, false);
  const auto stations = mesh.stations(0.5, 0.5, 1000, 60, 50);  // 1029 lags along rows
  const auto whole = sum(GetParam(), prisms, stations);
  Progress silent;
  const auto truth = lattice_of(prisms, stations).apply(prisms.density, stations.size(), 0, silent);
  for (std::size_t c = 0; c < whole.values.size(); ++c) {
    double most = 0, error = 0;
    for (std::size_t s = 0; s < stations.size(); ++s) {
      most = std::max(most, std::abs(truth.values[c][s]));
      error = std::max(error, std::abs(whole.values[c][s] - truth.values[c][s]));
    }
    EXPECT_LT(error, 5e-15 * most) << c;
  }
  for (const std::size_t at_once : {1U, 2U, 3U})
    expect_same_bits(sum(GetParam(), prisms, stations, ChannelSet::all(), at_once).values, whole.values);
}

TEST_P(LatticeOn, HasTheSameBitsHoweverManyLayersAreDoneAtOnce) {
  const auto device = GetParam();
  const Mesh mesh{{14, 11, 7}, {40, 30}, {-260, -160, -150, -70, -40, -30, -12, -5}};
  const auto prisms = mesh.prisms(31, false);
  const auto stations = mesh.stations(0.5, 0.5, 14, 11, 20);
  const auto plan = lattice_of(prisms, stations).plan();
  /// Counts how often layers are done: of one part after the other, so many together.
  class Turns final : public Progress {
   public:
    void advance(std::uint64_t layers) override {
      most = std::max(most, layers);
      least = std::min(least, layers);
    }
    std::uint64_t most = 0, least = 1000;
  };
  std::uint64_t most = 0, least = 1000;
  const auto with = [&](double most_bytes) {
    Turns turns;
    const auto engine = lattice_sum_on_device(device, plan, prisms.density, 0, most_bytes);
    std::vector<double> values;
    engine->sum(
        0, engine->parts(),
        [&](std::size_t, PartSums&& sums) {
          for (const auto& channel : sums.values) values.insert(values.end(), channel.begin(), channel.end());
        },
        turns);
    most = turns.most, least = turns.least;
    return values;
  };
  const auto at_once = with(4e9);
  EXPECT_EQ(most, 7);
  double largest = 0;
  for (const double v : at_once) largest = std::max(largest, std::abs(v));
  EXPECT_GT(largest, 0);
  // One by one, then by two, three, ... whose last ones are fewer: a layer takes 64 kB.
  std::set<std::pair<std::uint64_t, std::uint64_t>> ways;  // most and fewest at once
  for (double bytes = 2.3e6; bytes < 3e6; bytes += 3e4) {
    EXPECT_EQ(at_once, with(bytes)) << bytes;
    ways.emplace(most, least);
  }
  EXPECT_TRUE(ways.contains({1, 1}));
  EXPECT_TRUE(ways.contains({3, 1}));
  EXPECT_TRUE(ways.contains({7, 7}));
}

TEST_P(LatticeOn, NeedsOneDensityAPrism) {
  const auto prisms = uneven_layers.prisms(10, false);
  const auto plan = lattice_of(prisms, uneven_layers.stations(0.5, 0.5, 9, 7, 35)).plan();
  try {
    lattice_sum_on_device(GetParam(), plan, std::vector<double>(3), 0);
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("3 values for 252 prisms"));
  }
}

TEST_P(LatticeOn, StopsWhenItIsToldTo) {
  struct Impatient final : Progress {
    bool cancelled() const override { return true; }
  } progress;
  const auto prisms = uneven_layers.prisms(11, false);
  const auto engine = lattice_sum_on_device(
      GetParam(), lattice_of(prisms, uneven_layers.stations(0.5, 0.5, 9, 7, 35)).plan(), prisms.density, 0);
  EXPECT_THROW(engine->sum(
                   0, engine->parts(), [](std::size_t, PartSums&&) { FAIL(); }, progress),
               Cancelled);
}

TEST(LatticeOnDebugDevice, TakesFewerLayersAtOnceWhenMemoryIsShort) {
  Mesh mesh{{130, 120, 12}, {25, 25}, {}};
  for (int k = 0; k <= 12; ++k) mesh.faces.push_back(-400 + 30 * k);
  const auto prisms = mesh.prisms(12, false);
  const auto stations = mesh.stations(0.5, 0.4, 130, 120, 10);
  const auto roomy = sum(debug, prisms, stations);
  const auto cost = lattice_cost_on_device(*lattice_of(prisms, stations).plan());
  {
    const test::DebugMemory least(static_cast<std::size_t>(1.12 * cost.bytes));
    expect_same_bits(sum(debug, prisms, stations).values, roomy.values);
  }
  const test::DebugMemory too_little(static_cast<std::size_t>(0.25 * cost.bytes));
  try {
    sum(debug, prisms, stations);
    FAIL() << "this does not fit";
  } catch (const MemoryError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("of device memory are wanted"));
    EXPECT_THAT(error.what(), testing::HasSubstr("device = \"cpu\""));
  }
}

}  // namespace
}  // namespace terrane::gravity
