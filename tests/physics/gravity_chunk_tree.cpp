// Sums over chunks have the same bits whoever held which, and whatever came first.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "terrane/physics/gravity/chunk_tree.hpp"

namespace terrane::gravity {
namespace {

PartSums sums_of(std::size_t chunk) {
  std::mt19937 random(static_cast<unsigned>(chunk));
  std::uniform_real_distribution<double> value(-1, 1);
  PartSums sums;
  sums.values = {{value(random), 1e9 * value(random)}, {1e-9 * value(random), value(random)}};
  sums.contacts = {{chunk, 1.0, 1}};
  return sums;
}

TEST(ChunkTree, GivesTheSameBitsInAnyOrder) {
  std::mt19937 random(91);
  for (const std::size_t chunks : {1U, 2U, 3U, 5U, 8U, 13U, 64U, 100U}) {
    std::vector<std::size_t> order(chunks);
    std::iota(order.begin(), order.end(), 0U);
    std::vector<std::vector<double>> first;
    for (int trial = 0; trial < 20; ++trial) {
      ChunkTree tree(chunks);
      for (const auto chunk : order) {
        EXPECT_FALSE(tree.whole());
        tree.add({0, static_cast<std::uint32_t>(chunk)}, sums_of(chunk));
      }
      ASSERT_TRUE(tree.whole()) << chunks;
      const auto all = tree.take();
      ASSERT_EQ(all.contacts.size(), chunks);
      for (std::size_t c = 0; c < chunks; ++c)
        EXPECT_EQ(all.contacts[c].station, c) << "in the order of chunks";
      if (trial == 0) first = all.values;
      EXPECT_EQ(all.values, first);
      std::shuffle(order.begin(), order.end(), random);
    }
  }
}

TEST(ChunkTree, OfOneRankHoldsFewNodesAndAnotherTakesThemUp) {
  constexpr std::size_t chunks = 100;
  ChunkTree alone(chunks);
  for (std::size_t c = 0; c < chunks; ++c) alone.add({0, static_cast<std::uint32_t>(c)}, sums_of(c));
  for (const std::size_t cut : {1U, 37U, 64U, 99U}) {
    ChunkTree low(chunks), high(chunks);
    for (std::size_t c = 0; c < chunks; ++c)
      (c < cut ? low : high).add({0, static_cast<std::uint32_t>(c)}, sums_of(c));
    EXPECT_LE(low.nodes().size() + high.nodes().size(), 14U);
    for (auto [node, sums] : high.nodes()) low.add(node, std::move(sums));
    ASSERT_TRUE(low.whole());
    EXPECT_EQ(low.take().values, ChunkTree(alone).take().values);
  }
}

}  // namespace
}  // namespace terrane::gravity
