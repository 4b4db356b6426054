// Sums over chunks have the same bits whoever held which, and whatever came first.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/sum/chunk_tree.hpp"

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

/// What it sends comes back to it.
class Mailbox final : public Comm {
 public:
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 2; }
  Place on_node() const noexcept override { return {}; }
  void broadcast(std::span<std::byte>, int) override {}
  int lowest(int value) override { return value; }
  void send(std::span<const std::byte> bytes, int) override {
    letters.emplace_back(bytes.begin(), bytes.end());
  }
  void receive(std::span<std::byte> bytes, int) override {
    ASSERT_EQ(bytes.size(), letters.front().size());
    std::copy(letters.front().begin(), letters.front().end(), bytes.begin());
    letters.pop_front();
  }
  void abort(int) override {}

  std::deque<std::vector<std::byte>> letters;
};

TEST(TreePacket, BringsEveryNodeOfEveryPart) {
  Mailbox mail;
  TreePacket packet, other;  // whose memory is used again
  for (const std::size_t parts : {7U, 0U, 40U, 3U}) {
    std::vector<ChunkTree> trees(parts, ChunkTree(5));
    for (std::size_t p = 0; p < parts; ++p)
      for (std::size_t chunk = 0; chunk < p % 4; ++chunk)
        trees[p].add({0, static_cast<std::uint32_t>(chunk)}, sums_of(10 * p + chunk));
    packet.pack(trees, 3);
    packet.send(mail, 1);
    other.receive(mail, 1);
    ASSERT_EQ(other.parts(), parts);
    for (std::size_t p = 0; p < parts; ++p) {
      auto wanted = trees[p].nodes().begin();
      other.read(p, [&](const TreePacket::Sums& sums) {
        ASSERT_NE(wanted, trees[p].nodes().end());
        EXPECT_EQ(sums.node.level, wanted->first.level);
        EXPECT_EQ(sums.node.place, wanted->first.place);
        ASSERT_EQ(sums.values.size(), 2U);
        for (std::size_t c = 0; c < 2; ++c)
          EXPECT_TRUE(std::ranges::equal(sums.values[c], wanted->second.values[c]));
        ASSERT_EQ(sums.contacts.size(), wanted->second.contacts.size());
        EXPECT_EQ(sums.contacts.back().station, wanted->second.contacts.back().station);
        ++wanted;
      });
      EXPECT_EQ(wanted, trees[p].nodes().end());
    }
  }
}

TEST(TreePacket, ThatIsTooShortSaysSo) {
  Mailbox mail;
  TreePacket packet;
  Packet places;
  places.put(std::vector<std::size_t>{0, 8});
  places.send(mail, 1);
  mail.letters.emplace_back(8);
  packet.receive(mail, 1);
  EXPECT_THROW(packet.read(0, [](const TreePacket::Sums&) {}), ShapeError);
}

}  // namespace
}  // namespace terrane::gravity
