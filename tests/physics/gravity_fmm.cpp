// The fast multipole method against the direct sum: never off by more than the tolerance, whatever the bodies
// and the stations.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/prism_field.hpp"
#include "support/prism_trial.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/fmm/fmm.hpp"
#include "terrane/physics/gravity/run/planner.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

struct Summed {
  FieldTable values;
  double error_bound;
  FmmCost cost;
};

Summed fmm_field(const PrismList& prisms, const StationList& stations, double accuracy,
                 ChannelSet channels = ChannelSet::all(), int threads = 0) {
  Progress silent;
  Fmm fmm(prisms.view(), stations.view(), channels, accuracy, threads, silent);
  const auto cost = fmm.cost(silent);
  auto values = sum_all(fmm, channels, stations.size(), silent).values;
  return {std::move(values), fmm.error_bound(), cost};
}

FieldTable truth_of(const PrismList& prisms, const StationList& stations) {
  return test::direct_field(prisms.view(), stations.view(), best_accuracy);
}

PrismList random_prisms(std::size_t count, double least_density, std::mt19937& random) {
  std::uniform_real_distribution<double> place(-1000, 1000), depth(-1000, 0), side(10, 60),
      density(least_density, 500);
  PrismList list;
  for (std::size_t n = 0; n < count; ++n) {
    const double x = place(random), y = place(random), z = depth(random), lx = side(random),
                 ly = side(random), lz = side(random);
    list.add({x, x + lx, y, y + ly, z - lz, z}, density(random));
  }
  return list;
}

TEST(Fmm, IsNeverOffByMoreThanTheTolerance) {
#if defined(__SANITIZE_ADDRESS__)
  const int trials = 40;
#else
  const int trials = 150;
#endif
  std::mt19937 random(20281);
  double translations = 0;
  for (int t = 0; t < trials; ++t) {
    const auto trial = test::make_trial(random, 250);
    const double accuracy = std::pow(10, -std::uniform_real_distribution<double>(3, 13)(random));
    const auto found = fmm_field(trial.prisms, trial.stations, accuracy);
    const double error = test::largest_error(found.values, truth_of(trial.prisms, trial.stations));
    EXPECT_LE(error, accuracy) << "trial " << t << ": " << trial.prisms.size() << " prisms, "
                               << trial.stations.size() << " stations";
    EXPECT_LE(error, found.error_bound);
    translations += found.cost.translations;
  }
  EXPECT_GT(translations, 4.0 * trials);  // local expansions are at work
}

TEST(Fmm, KeepsItsToleranceForDensitiesOfOneSignAndOfBoth) {
  for (const double least : {100.0, -500.0}) {
    std::mt19937 random(least > 0 ? 5 : 7);
    const auto prisms = random_prisms(500, least, random);
    auto stations = test::random_stations({-1500, 1500, -1500, 1500, 20, 400}, 1500, random);
    for (std::size_t n = 0; n < 100; ++n) {  // inside, and on faces
      const double y = 0.5 * (prisms.south[n] + prisms.north[n]);
      stations.add(0.5 * (prisms.west[n] + prisms.east[n]), y, 0.5 * (prisms.bottom[n] + prisms.top[n]));
      stations.add(0.5 * (prisms.west[n] + prisms.east[n]), y, prisms.top[n]);
    }
    const auto truth = truth_of(prisms, stations);
    for (const double accuracy : {1e-4, 1e-6, 1e-9}) {
      const auto found = fmm_field(prisms, stations, accuracy);
      const double error = test::largest_error(found.values, truth);
      EXPECT_LE(error, accuracy) << least << " " << accuracy;
      EXPECT_GT(found.cost.translations, 200) << accuracy;
    }
  }
}

TEST(Fmm, AnswersForOnePlaceOnePlaneOneStationOnePrismAndNone) {
  std::mt19937 random(3);
  const auto many = random_prisms(200, -500, random), one = random_prisms(1, 100, random);
  StationList place, plane, single;
  for (int n = 0; n < 100; ++n) place.add(300, -200, 150);
  for (int j = 0; j < 20; ++j)
    for (int i = 0; i < 20; ++i) plane.add(i * 100.0 - 1000, j * 100.0 - 1000, 60);
  single.add(120, 70, 30);
  for (const auto* prisms : {&many, &one})
    for (const auto* stations : {&place, &plane, &single})
      EXPECT_LE(test::largest_error(fmm_field(*prisms, *stations, 1e-8).values, truth_of(*prisms, *stations)),
                1e-8)
          << prisms->size() << " prisms, " << stations->size() << " stations";
  PrismList weightless;
  for (int n = 0; n < 300; ++n) weightless.add({n * 10.0, n * 10.0 + 5, 0, 5, -5, 0}, 0.0);
  for (const auto& list : {weightless, PrismList{}})
    for (const auto& channel : fmm_field(list, plane, 1e-6).values)
      EXPECT_EQ(channel, std::vector<double>(plane.size(), 0.0));
}

TEST(Fmm, KeepsItsToleranceForASubsetOfChannels) {
  std::mt19937 random(4);
  const auto prisms = random_prisms(300, 100, random);
  const auto stations = test::random_stations({-1500, 1500, -1500, 1500, 20, 400}, 600, random);
  const auto truth = truth_of(prisms, stations);
  for (const auto& channels : {ChannelSet{Channel::potential}, ChannelSet{Channel::g_u}, vector_channels,
                               ChannelSet{Channel::g_n, Channel::g_eu}}) {
    const auto found = fmm_field(prisms, stations, 1e-8, channels);
    EXPECT_GT(found.cost.translations, 0);
    std::size_t column = 0;
    for (const auto channel : channels.list()) {
      const auto& exact = truth[static_cast<std::size_t>(channel)];
      double error = 0, largest = 0;
      for (std::size_t n = 0; n < stations.size(); ++n) {
        largest = std::max(largest, std::fabs(exact[n]));
        error = worse(error, std::fabs(found.values[column][n] - exact[n]));
      }
      EXPECT_LE(error, 1e-8 * largest) << name(channel);
      ++column;
    }
  }
}

TEST(Fmm, TreatsStationsInsideAndOnPrismsAsTheDirectSum) {
  const auto body = test::mesh_block({-500, 500, -500, 500, -1000, 0}, {8, 8, 8},
                                     [](int i, int j, int k) { return 300.0 + 10 * i - 7 * j + k; });
  StationList stations;
  for (std::size_t n = 0; n < body.size(); n += 5) {
    const double x = 0.5 * (body.west[n] + body.east[n]), y = 0.5 * (body.south[n] + body.north[n]);
    stations.add(x, y, body.top[n]);
    stations.add(x, y, 0.5 * (body.bottom[n] + body.top[n]));
    stations.add(body.west[n], body.north[n], body.top[n]);
  }
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  parameters.accuracy = 1e-10;
  for (const auto policy : {SingularPolicy::nan, SingularPolicy::inside}) {
    parameters.singular = policy;
    Report by_fmm, by_direct;
    parameters.method = Method::fmm;
    const auto values = test::field(body.view(), stations.view(), parameters, &by_fmm);
    parameters.method = Method::direct;
    const auto truth = test::field(body.view(), stations.view(), parameters, &by_direct);
    EXPECT_EQ(by_fmm.method, "fmm");
    EXPECT_GT(by_fmm.singular_stations, 0U);
    EXPECT_EQ(by_fmm.singular_stations, by_direct.singular_stations);
    EXPECT_EQ(by_fmm.inside_stations, by_direct.inside_stations);
    for (std::size_t c = 0; c < values.size(); ++c)
      for (std::size_t n = 0; n < stations.size(); ++n)
        ASSERT_EQ(std::isnan(values[c][n]), std::isnan(truth[c][n])) << "channel " << c << " station " << n;
    EXPECT_LE(test::largest_error(values, truth), 1e-10);
  }
}

TEST(Fmm, HasTheSameBitsForAnyNumberOfThreadsAndHoweverItsPartsAreShared) {
  std::mt19937 random(6);
  const auto prisms = random_prisms(1500, -500, random);
  const auto stations = test::random_stations({-900, 900, -900, 900, 10, 200}, 5000, random);
  const auto channels = ChannelSet::all();
  const auto one = fmm_field(prisms, stations, 1e-5, channels, 1).values;
  EXPECT_EQ(fmm_field(prisms, stations, 1e-5, channels, 2).values, one);
  EXPECT_EQ(fmm_field(prisms, stations, 1e-5, channels, 5).values, one);
  Progress silent;
  PartSums all;
  all.values.assign(channels.size(), std::vector<double>(stations.size()));
  std::vector<std::unique_ptr<Fmm>> ranks;
  for (int r = 0; r < 2; ++r)
    ranks.push_back(std::make_unique<Fmm>(prisms.view(), stations.view(), channels, 1e-5, r + 1, silent));
  ASSERT_GT(ranks[0]->parts(), 4U);
  for (std::size_t p = ranks[0]->parts(); p-- > 0;) {
    auto& rank = *ranks[p % 2];
    rank.sum(
        p, p + 1, [&](std::size_t part, PartSums&& sums) { scatter(rank.part(part), sums, channels, all); },
        silent);
  }
  EXPECT_EQ(all.values, one);
}

TEST(Fmm, TakesFewerOperationsForEachStationTheMoreThereAre) {
  std::mt19937 random(2);
  const auto prisms = test::mesh_block({0, 10000, 0, 10000, -5000, 0}, {16, 16, 12},
                                       [&](int i, int j, int k) { return 100.0 + i + 2 * j + 3 * k; });
  Progress silent;
  double last = 0;
  for (const std::size_t count : {2000U, 8000U, 32000U}) {
    const auto stations = test::random_stations({0, 10000, 0, 10000, 50, 100}, count, random);
    const auto cost = Fmm(prisms.view(), stations.view(), ChannelSet::all(), 1e-6, 0, silent).cost(silent);
    const double each = cost.operations / static_cast<double>(count);
    if (last > 0) {
      EXPECT_LT(each, 0.8 * last) << count;
    }
    last = each;
  }
}

TEST(Fmm, StopsWhenAsked) {
  class Impatient final : public Progress {
   public:
    bool cancelled() const override { return true; }
  };
  std::mt19937 random(6);
  const auto prisms = random_prisms(500, -500, random);
  const auto stations = test::random_stations({-900, 900, -900, 900, 0, 200}, 100, random);
  Impatient user;
  EXPECT_THROW(
      {
        Fmm fmm(prisms.view(), stations.view(), ChannelSet::all(), 1e-6, 0, user);
        sum_all(fmm, ChannelSet::all(), stations.size(), user);
      },
      Cancelled);
}

// ---- local expansions ----

/// Numbers of a multipole expansion at random, falling with the degree as those of a body do.
std::vector<double> some_expansion(int order, std::mt19937& random) {
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> c;
  double factor = 1;
  for (int n = 0; n <= order; ++n) {
    for (int i = 0; i < 2 * n + 1; ++i) c.push_back(factor * number(random));
    factor /= n + 1;
  }
  return c;
}

StationTile stations_around(const LocalPlace& place, std::mt19937& random) {
  std::uniform_real_distribution<double> offset(-0.5, 0.5);
  StationTile tile;
  tile.count = 13;
  for (int s = 0; s < tile_size; ++s) {
    tile.x[s] = place.centre[0] + place.scale * offset(random);
    tile.y[s] = place.centre[1] + place.scale * offset(random);
    tile.z[s] = place.centre[2] + place.scale * offset(random);
  }
  return tile;
}

/// Over the stations of the tile, relative to the largest of each channel.
double difference_of_sums(const std::vector<double>& a, const std::vector<double>& b, int stations) {
  double worst = 0;
  for (std::size_t c = 0; c < channel_count; ++c) {
    double error = 0, largest = 0;
    for (int s = 0; s < stations; ++s) {
      const std::size_t i = c * tile_size + static_cast<std::size_t>(s);
      error = worse(error, std::fabs(a[i] - b[i]));
      largest = std::max(largest, std::fabs(b[i]));
    }
    worst = worse(worst, error / largest);
  }
  return worst;
}

TEST(LocalExpansions, HaveTheFieldOfTheirMultipolesTheMoreDegreesTheBetter) {
  std::mt19937 random(11);
  const LocalPlace place{{10, -20, 5}, 3};
  const auto stations = stations_around(place, random);
  // More than two packs of sources, of several orders, none of them whole packs.
  std::vector<std::vector<double>> numbers;
  std::vector<FarSource> sources;
  std::uniform_real_distribution<double> angle(0, 6.2), far(25, 40);
  for (int i = 0; i < 19; ++i) {
    const double r = far(random), phi = angle(random), up = std::cos(angle(random));
    const int order = i < 7 ? 6 : i < 15 ? 4 : 0;
    numbers.push_back(some_expansion(order, random));
    numbers.back().resize(static_cast<std::size_t>(coefficient_count(6)));  // a pack has one order
    sources.push_back({{{place.centre[0] + r * std::cos(phi), place.centre[1] + r * std::sin(phi), r * up},
                        2 + 0.1 * i,
                        nullptr},
                       order});
  }
  for (std::size_t i = 0; i < sources.size(); ++i) sources[i].expansion.coefficients = numbers[i].data();
  std::vector<double> truth(channel_count * tile_size);
  for (const auto& s : sources)
    expansion_kernels().evaluate(s.expansion, s.order, true, stations, truth.data());
  double last = 1;
  for (const int added : {4, 9, 14}) {  // kept are |j| + |k| ≤ p + added
    std::vector<double> local(static_cast<std::size_t>(coefficient_count(6 + added))),
        sums(channel_count * tile_size);
    local_kernels().collect(sources, added, place, local.data());
    local_kernels().evaluate(place, 6 + added, local.data(), true, stations, sums.data());
    const double error = difference_of_sums(sums, truth, stations.count);
    EXPECT_LT(error, 0.02 * last) << added;
    last = error;
  }
  EXPECT_LT(last, 1e-9);
}

TEST(LocalExpansions, MoveWithoutLoss) {
  std::mt19937 random(12);
  const LocalPlace from{{10, -20, 5}, 3}, to{{10.7, -20.4, 4.2}, 1.1};
  const auto stations = stations_around(to, random);
  for (const int degree : {0, 1, 2, 3, 7, 22}) {
    const auto local = some_expansion(degree, random);
    std::vector<double> moved(local.size()), before(channel_count * tile_size), after = before;
    local_kernels().shift(from, degree, local.data(), to, moved.data());
    local_kernels().evaluate(from, degree, local.data(), true, stations, before.data());
    local_kernels().evaluate(to, degree, moved.data(), true, stations, after.data());
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_NEAR(after[i], before[i], 1e-13) << degree << " " << i;
  }
}

TEST(LocalExpansions, HaveNoDifferenceBetweenInstructionSetsBeyondRounding) {
  std::mt19937 random(13);
  const LocalPlace place{{1, 2, 3}, 2};
  const auto stations = stations_around(place, random);
  const auto numbers = some_expansion(9, random);
  const std::vector<FarSource> sources(11, {{{13, -9, 4}, 3, numbers.data()}, 9});
  const auto field = [&](const LocalKernels& kernels) {
    std::vector<double> local(static_cast<std::size_t>(coefficient_count(11))),
        sums(channel_count * tile_size);
    kernels.collect(sources, 2, place, local.data());
    kernels.evaluate(place, 11, local.data(), true, stations, sums.data());
    return sums;
  };
  for (const char* name : {"plain", "avx2", "avx512"}) try {
      EXPECT_LT(difference_of_sums(field(local_kernels(name)), field(local_kernels()), stations.count), 1e-12)
          << name;
    } catch (const UnsupportedError&) {
    }
}

}  // namespace
}  // namespace terrane::gravity
