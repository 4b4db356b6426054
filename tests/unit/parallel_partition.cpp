#include <gtest/gtest.h>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/partition/ranges.hpp"

namespace terrane {
namespace {

TEST(BalancedRange, CutsThePrismsOf2013AsThePaperDoes) {
  // {1…31494}, {31495…62988}, {62989…94481}, ...: counted from 1, both ends included.
  constexpr std::size_t ends[9] = {0, 31494, 62988, 94481, 125974, 157467, 188960, 220453, 251946};
  for (std::size_t q = 0; q < 8; ++q) EXPECT_EQ(balanced_range(251946, 8, q), (Range{ends[q], ends[q + 1]}));
}

TEST(BalancedRange, CoversAllOnceWithSizesThatDifferByOne) {
  for (const std::size_t items : {0U, 1U, 2U, 7U, 8U, 9U, 1000U})
    for (const std::size_t ranks : {1U, 2U, 3U, 5U, 8U, 11U}) {
      std::size_t next = 0;
      for (std::size_t q = 0; q < ranks; ++q) {
        const auto range = balanced_range(items, ranks, q);
        EXPECT_EQ(range.first, next);
        EXPECT_GE(range.size(), items / ranks);
        EXPECT_LE(range.size(), (items + ranks - 1) / ranks);
        next = range.last;
      }
      EXPECT_EQ(next, items);
    }
}

TEST(RanksOfANode, KnowHowManyShareTheirGpu) {
  for (int count = 1; count <= 9; ++count)
    for (int gpus = 1; gpus <= 9; ++gpus)
      for (int index = 0; index < count; ++index) {
        int sharing = 0;
        for (int other = 0; other < count; ++other) sharing += other % gpus == index % gpus;
        EXPECT_EQ((Comm::Place{index, count}.sharing(gpus)), sharing);
      }
  EXPECT_EQ((Comm::Place{2, 5}.sharing(0)), 5);
}

}  // namespace
}  // namespace terrane
