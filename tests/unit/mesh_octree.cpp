// Orders of points and boxes, and trees over them.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "terrane/mesh/octree.hpp"
#include "terrane/mesh/order.hpp"

namespace terrane {
namespace {

struct Points {
  std::vector<double> at[3];

  explicit Points(std::size_t count) {
    std::mt19937 random(3);
    std::normal_distribution<double> place(0, 1000);
    for (auto& axis : at)
      for (std::size_t n = 0; n < count; ++n) axis.push_back(place(random));
  }
  Boxes boxes() const { return {{at[0], at[1], at[2]}, {at[0], at[1], at[2]}}; }
};

bool holds_all(std::vector<std::uint32_t> order, std::size_t count) {
  std::sort(order.begin(), order.end());
  for (std::size_t n = 0; n < count; ++n)
    if (order[n] != n) return false;
  return order.size() == count;
}

TEST(Octree, OfPointsHasEachInOneLeafAndCellsThatDoNotOverlap) {
  const Points points(3000);
  Progress silent;
  const auto tree = grow_octree(points.boxes(), 10, 2, silent);
  EXPECT_TRUE(holds_all(tree.order, 3000));
  std::vector<Bounds> around;
  std::size_t held = 0;
  for (const auto& cell : tree.cells) {
    if (cell.children > 0) continue;
    EXPECT_LE(cell.size(), 10U);
    EXPECT_FALSE(cell.flat) << "points fit into the finest cells";
    held += cell.size();
    Bounds box = points.boxes()[tree.order[cell.first]];
    for (auto i = cell.first; i < cell.last; ++i)
      for (int a = 0; a < 3; ++a) {
        box.low[a] = std::min(box.low[a], points.at[a][tree.order[i]]);
        box.high[a] = std::max(box.high[a], points.at[a][tree.order[i]]);
      }
    around.push_back(box);
  }
  EXPECT_EQ(held, 3000U);
  for (std::size_t i = 0; i < around.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_GT(squared_gap(around[i], around[j]), 0);
}

TEST(Octree, OfBoxesOfAllSizesIsTheSameOnAnyThreads) {
  const Points points(60000);
  std::mt19937 random(5);
  std::lognormal_distribution<double> width(1, 3);  // some are larger than all of the cells
  std::vector<double> high[3];
  for (int a = 0; a < 3; ++a)
    for (const double low : points.at[a]) high[a].push_back(low + width(random));
  const Boxes boxes{{points.at[0], points.at[1], points.at[2]}, {high[0], high[1], high[2]}};
  Progress silent;
  const auto one = grow_octree(boxes, 4, 1, silent), three = grow_octree(boxes, 4, 3, silent);
  EXPECT_EQ(one.order, three.order);
  EXPECT_EQ(one.levels, three.levels);
  ASSERT_EQ(one.cells.size(), three.cells.size());
  std::size_t flat = 0, behind = 1;
  for (std::size_t i = 0; i < one.cells.size(); ++i) {
    const auto &a = one.cells[i], &b = three.cells[i];
    EXPECT_TRUE(a.first == b.first && a.last == b.last && a.child == b.child && a.children == b.children &&
                a.level == b.level && a.flat == b.flat);
    flat += a.flat;
    if (a.children == 0) continue;
    EXPECT_EQ(a.child, behind);
    EXPECT_EQ(one.cells[a.child].first, a.first);
    EXPECT_EQ(one.cells[a.child + a.children - 1U].last, a.last);
    behind += a.children;
  }
  EXPECT_EQ(behind, one.cells.size());
  EXPECT_GT(flat, 0U);
}

TEST(CompactOrder, OfBoxesIsThatOfTheirCentres) {
  const Points points(1000);
  std::vector<double> low[3], high[3];
  for (int a = 0; a < 3; ++a)
    for (const double x : points.at[a]) {
      low[a].push_back(x - 8);
      high[a].push_back(x + 8);
    }
  const Boxes boxes{{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
  const auto order = compact_order(boxes, 32);
  EXPECT_TRUE(holds_all(order, 1000));
  std::vector<double> centre[3];
  for (int a = 0; a < 3; ++a)
    for (std::size_t n = 0; n < 1000; ++n) centre[a].push_back(0.5 * (low[a][n] + high[a][n]));
  EXPECT_EQ(order, compact_order(centre[0], centre[1], centre[2], 32, 3));
}

}  // namespace
}  // namespace terrane
