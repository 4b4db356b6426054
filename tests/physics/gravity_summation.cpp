// A sum can be done part by part, by anybody and in any company, with the same bits.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <tuple>

#include "support/prism_field.hpp"
#include "terrane/physics/gravity/direct/direct.hpp"
#include "terrane/physics/gravity/lattice/lattice.hpp"
#include "terrane/physics/gravity/run/worker.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {
namespace {

using test::PrismList;
using test::StationList;

using Contacts = std::vector<std::tuple<std::size_t, double, int>>;
struct Sums {
  std::vector<std::vector<double>> values;
  Contacts contacts;
  bool operator==(const Sums&) const = default;
};

/// The parts first .. last − 1, in one call.
std::map<std::size_t, Sums> sums_of(Summation& summation, std::size_t first, std::size_t last) {
  std::map<std::size_t, Sums> found;
  Progress silent;
  summation.sum(
      first, last,
      [&](std::size_t part, PartSums&& sums) {
        EXPECT_TRUE(part >= first && part < last);
        EXPECT_EQ(found.count(part), 0U) << "part " << part << " came twice";
        Sums& of = found[part];
        of.values = std::move(sums.values);
        for (const auto& c : sums.contacts) of.contacts.emplace_back(c.station, c.density, c.octants);
      },
      silent);
  EXPECT_EQ(found.size(), last - first);
  return found;
}

/// make(threads)
void expect_parts_keep_their_bits(const std::function<std::unique_ptr<Summation>(int)>& make,
                                  ChannelSet channels, std::size_t stations, std::size_t least_parts) {
  const auto whole = make(2);
  const std::size_t parts = whole->parts();
  ASSERT_GE(parts, least_parts);
  std::vector<ChannelSet> covered(stations);
  for (std::size_t p = 0; p < parts; ++p)
    for (const auto s : whole->part(p).stations) {
      EXPECT_TRUE((covered[s] & whole->part(p).channels).empty()) << "station " << s << " twice";
      covered[s] = covered[s] | whole->part(p).channels;
    }
  for (const auto& set : covered) EXPECT_EQ(set, channels);

  const auto together = sums_of(*whole, 0, parts);
  const auto alone = make(1);
  for (std::size_t p = parts; p-- > 0;)
    EXPECT_EQ(sums_of(*alone, p, p + 1).at(p), together.at(p)) << "part " << p;
  const auto in_two = make(3);
  for (const auto& [first, last] : {std::pair{parts / 3, parts}, {std::size_t{0}, parts / 3}})
    for (const auto& [p, sums] : sums_of(*in_two, first, last)) EXPECT_EQ(sums, together.at(p)) << p;
}

struct SummationProblem {
  PrismList prisms;
  StationList stations;
  SummationProblem() {
    std::mt19937 random(61);
    std::uniform_real_distribution<double> density(-400, 900);
    prisms = test::mesh_block({-170, 170, -150, 150, -340, 0}, {17, 15, 17},
                              [&](int, int, int) { return density(random); });
    stations = test::random_stations({-400, 400, -400, 400, -300, 200}, 2500, random);
    for (int i = -7; i <= 7; ++i) stations.add(10 + 20 * i, 10 * i, -100);
  }
};

TEST(DirectSummation, HasPartsThatKeepTheirBitsInAnyCompany) {
  const SummationProblem problem;
  for (const auto channels : {ChannelSet::all(), ChannelSet{Channel::g_nu}})
    expect_parts_keep_their_bits(
        [&](int threads) {
          return std::make_unique<DirectSummation>(problem.prisms.view(), problem.stations.view(), channels,
                                                   1e-12, threads);
        },
        channels, problem.stations.size(), 3);
}

TEST(DirectSummation, OfNoStationsHasNoPartsAndOfNoPrismsIsZero) {
  const SummationProblem problem;
  DirectSummation nowhere(problem.prisms.view(), {}, ChannelSet::all(), 1e-12, 0);
  EXPECT_EQ(nowhere.parts(), 0U);
  DirectSummation nothing({}, problem.stations.view(), ChannelSet::all(), 1e-12, 0);
  Progress silent;
  for (const auto& values : sum_all(nothing, ChannelSet::all(), problem.stations.size(), silent).values)
    for (const double value : values) EXPECT_EQ(value, 0);
}

TEST(TreeSummation, HasPartsThatKeepTheirBitsInAnyCompany) {
  const SummationProblem problem;
  Progress silent;
  expect_parts_keep_their_bits(
      [&](int threads) {
        return std::make_unique<Tree>(problem.prisms.view(), problem.stations.view(), ChannelSet::all(), 1e-9,
                                      threads, silent);
      },
      ChannelSet::all(), problem.stations.size(), 4);
}

TEST(LatticeSummation, HasPartsThatKeepTheirBitsInAnyCompany) {
  const SummationProblem problem;
  StationList stations;
  for (const double up : {20.0, 50.0})
    for (int j = 0; j < 15; ++j)
      for (int i = 0; i < 17; ++i) stations.add(-165 + 20 * i, -140 + 20 * j, up);
  StationList inside = stations;
  for (auto& up : inside.up) up = -up;
  for (const auto* list : {&stations, &inside})
    for (const auto channels :
         {ChannelSet::all(), ChannelSet{Channel::potential, Channel::g_ee, Channel::g_nn, Channel::g_uu}}) {
      std::string reason;
      const auto lattice = recognise_lattice(problem.prisms.view(), list->view(), reason);
      ASSERT_TRUE(lattice) << reason;
      expect_parts_keep_their_bits(
          [&](int threads) {
            return std::make_unique<LatticeSummation>(std::make_shared<LatticeOperator>(*lattice, channels),
                                                      problem.prisms.density, threads);
          },
          channels, list->size(), 4);
    }
}

TEST(RangesOfRanks, AreTheRoundOnceWhateverTheSharesAre) {
  const std::vector<std::vector<double>> all{
      {1},           {0.25, 0.25, 0.25, 0.25}, {0.1, 0.4, 0.2, 0.3}, {0.5, 1e-9, 0.5 - 1e-9},
      {0.3, 0, 0.7}, {0.334, 0.333, 0.333}};
  for (const auto& shares : all)
    for (const std::size_t parts : {0U, 1U, 3U, 97U, 1303U})
      for (const std::size_t least : {1U, 16U}) {
        const Range round{11, 11 + parts};
        std::vector<int> done(parts, 0);
        for (std::size_t rank = 0; rank < shares.size(); ++rank) {
          std::size_t mine = 0;
          for (const auto& range : ranges_of(round, shares, rank, least)) {
            ASSERT_LE(round.first, range.first);
            ASSERT_LE(range.last, round.last);
            for (std::size_t part = range.first; part < range.last; ++part) ++done[part - round.first];
            mine += range.size();
          }
          // What rounding takes in one region is given back in the others.
          EXPECT_NEAR(static_cast<double>(mine), shares[rank] * static_cast<double>(parts), 2)
              << parts << " parts, rank " << rank << " of " << shares.size();
        }
        EXPECT_EQ(done, std::vector<int>(parts, 1)) << parts << " parts, " << shares.size() << " ranks";
      }
}

}  // namespace
}  // namespace terrane::gravity
