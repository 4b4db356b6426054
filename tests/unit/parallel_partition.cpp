#include <gtest/gtest.h>

#include "terrane/base/error.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/partition/cartesian.hpp"
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

template <int N>
void expect_all_points_once(const Cartesian<N>& partition) {
  Index points = 0;
  for (int r = 0; r < partition.ranks(); ++r) {
    points += partition.part(r).count();
    EXPECT_TRUE(partition.whole.contains(partition.part(r)));
    for (int other = 0; other < r; ++other)
      EXPECT_TRUE(overlap(partition.part(r), partition.part(other)).empty());
  }
  EXPECT_EQ(points, partition.whole.count());
}

TEST(Cartesian, GivesEveryPointToOneRank) {
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 12, 30}) {
    expect_all_points_once(cut(IndexBox<1>{{-3}, {100}}, ranks, CartesianSettings<1>{{1}, {}}));
    expect_all_points_once(cut(index_box(100, 77), ranks));
    expect_all_points_once(cut(IndexBox<3>{{1, 2, 3}, {40, 50, 60}}, ranks));
    expect_all_points_once(
        cut(IndexBox<3>{{1, 2, 3}, {40, 50, 60}}, ranks, CartesianSettings<3>{{1, 1, 1}, {}}));
  }
}

TEST(Cartesian, CutsAtMultiplesOfItsUnitWhereverTheBoxBegins) {
  const IndexBox<2> whole{{5, 7}, {99, 130}};
  const auto partition = cut(whole, 6, CartesianSettings<2>{{16, 32}, {3, 2}});
  for (const auto& part : partition.parts) {
    EXPECT_TRUE(part.first[0] == 5 || part.first[0] % 16 == 0);
    EXPECT_TRUE(part.last[0] == 99 || part.last[0] % 16 == 0);
    EXPECT_TRUE(part.last[1] == 130 || part.last[1] % 32 == 0);
  }
}

TEST(Cartesian, MakesPartsEqualAndThenTheirFacesSmall) {
  const CartesianSettings<3> any{{1, 1, 1}, {}};
  EXPECT_EQ(cut(index_box(80, 80, 80), 8, any).pieces, (std::array{2, 2, 2}));
  EXPECT_EQ(cut(index_box(800, 10, 10), 8, any).pieces, (std::array{8, 1, 1}));
  EXPECT_EQ(cut(index_box(90, 90, 10), 6, any).pieces[2], 1);
  EXPECT_EQ(cut(index_box(80, 80, 80), 2, any).pieces, (std::array{2, 1, 1}));  // rows stay whole
}

TEST(Cartesian, CutsAtFourOrSixteenBlocksOfSumsWhereTheLargestPartGrowsByNoMoreThanAFiftieth) {
  const auto first_cut = [](Index points) { return cut(index_box(points, 38, 32), 2).parts[0].last[0]; };
  EXPECT_EQ(first_cut(385), 192);  // 3 · 64; whole blocks would be 196 and 189
  EXPECT_EQ(first_cut(321), 160);  // 10 · 16, as 128 and 192 would leave one part much to do
  EXPECT_EQ(first_cut(40), 20);    // 5 · 4
  EXPECT_EQ(first_cut(251), 128);
  for (const int ranks : {2, 3, 5, 8})
    for (const Index points : {23, 64, 100, 385, 513, 1000}) {
      const auto partition = cut(index_box(points, points, 70), ranks);
      expect_all_points_once(partition);
      for (const auto& part : partition.parts) EXPECT_TRUE(part.empty() || part.first[0] % 4 == 0);
    }
}

// Four slabs of 401 planes would be a twenty-fifth smaller, but then hosts add up a number for each block.
TEST(Cartesian, TakesAWayWhosePiecesJoinBlocksOfSumsBeforeOneOfPartsALittleSmaller) {
  const IndexBox<3> whole{{0, 0, 0}, {401, 401, 401}};
  EXPECT_EQ(cut(whole, 4).pieces, (std::array<int, 3>{4, 1, 1}));
  const CartesianSettings<3> joining{{}, {}, 1.0};
  const auto of = cut(whole, 4, joining);
  EXPECT_EQ(of.pieces, (std::array<int, 3>{2, 2, 1}));
  for (const auto& part : of.parts)
    for (int a = 0; a < 2; ++a) {
      EXPECT_TRUE(part.first[a] == 0 || part.first[a] == 208) << part.first[a];
      EXPECT_TRUE(part.last[a] == 208 || part.last[a] == 401) << part.last[a];
    }
  // Where no way joins, or one would leave a rank idle, the parts are as small as they can be.
  const auto largest = [&](const IndexBox<3>& box, int ranks) {
    Index most = 0;
    for (const auto& part : cut(box, ranks, joining).parts) most = std::max(most, part.count());
    return most;
  };
  EXPECT_EQ(largest(index_box(50, 50, 50), 8), 20000);
  EXPECT_EQ(largest(index_box(3, 3, 35), 2), 3 * 3 * 32);
}

TEST(Cartesian, LeavesNoRankIdleWhereThereIsABlockOfSumsForEach) {
  for (int ranks = 1; ranks <= 32; ++ranks)
    for (Index points = 4 * ranks; points <= 4 * ranks + 300; ++points) {  // 64 in 5: not 0 16 32 32 48 64
      const auto partition = cut(index_box(points, 4, 32), ranks, CartesianSettings<3>{{}, {ranks, 1, 1}});
      for (const auto& part : partition.parts) EXPECT_FALSE(part.empty()) << points << " in " << ranks;
    }
}

TEST(Cartesian, KnowsNeighboursAndKeepsToThePiecesAskedFor) {
  const auto partition = cut(index_box(80, 80, 320), 12, CartesianSettings<3>{{}, {2, 0, 3}});
  EXPECT_EQ(partition.pieces, (std::array{2, 2, 3}));
  EXPECT_EQ(partition.place(7), (std::array{1, 0, 1}));
  EXPECT_EQ(partition.neighbour(7, 0, -1), 1);
  EXPECT_EQ(partition.neighbour(7, 0, 1), -1);
  EXPECT_EQ(partition.neighbour(7, 2, 1), 8);
  EXPECT_THROW(cut(index_box(80, 80, 80), 12, CartesianSettings<3>{{}, {5, 0, 0}}), InputError);
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
