// Sums over pieces have the same bits whoever held which piece, and whatever came first.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "terrane/parallel/threads/ordered_sum.hpp"

namespace terrane {
namespace {

struct Misfit {
  double value = 0;
};
void join(Misfit& left, const Misfit& right) { left.value += right.value; }

TEST(OrderedSum, HasTheSameBitsInWhateverOrderPiecesCome) {
  std::mt19937 random(5);
  for (const std::size_t pieces : {1U, 2U, 7U, 100U}) {
    std::vector<std::uint32_t> order(pieces);
    std::iota(order.begin(), order.end(), 0U);
    double first = 0;
    for (int trial = 0; trial < 10; ++trial) {
      OrderedSum<Misfit> sum(pieces);
      for (const auto piece : order) {
        EXPECT_FALSE(sum.whole());
        sum.add({0, piece}, {1.0 / (1 + piece * piece)});
      }
      ASSERT_TRUE(sum.whole());
      const double all = sum.take().value;
      if (trial == 0) first = all;
      EXPECT_EQ(all, first) << pieces;
      std::shuffle(order.begin(), order.end(), random);
    }
  }
}

TEST(OrderedSum, JoinsWhatTwoRanksHaveJoined) {
  OrderedSum<Misfit> whole(5), mine(5), others(5);
  for (std::uint32_t piece = 0; piece < 5; ++piece) {
    whole.add({0, piece}, {0.1 * piece});
    (piece < 3 ? mine : others).add({0, piece}, {0.1 * piece});
  }
  for (auto [node, sums] : others.nodes()) mine.add(node, std::move(sums));
  ASSERT_TRUE(mine.whole());
  EXPECT_EQ(mine.take().value, whole.take().value);
}

}  // namespace
}  // namespace terrane
