// The cells of the tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "support/prism_field.hpp"
#include "terrane/base/error.hpp"
#include "terrane/mesh/octree.hpp"

namespace terrane::gravity {
namespace {

using test::PrismList;

/// Sizes over three decades, in two clouds, some at the very same place.
PrismList unequal(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> place(0, 800);
  std::uniform_real_distribution<double> logarithm(0, 3);
  PrismList prisms;
  for (int n = 0; n < count; ++n) {
    const double x = place(random) + (n % 3 == 0 ? 20e3 : 0.0), y = place(random), z = place(random),
                 half = 0.5 * std::pow(10, logarithm(random));
    for (int copy = 0; copy < (n % 50 == 0 ? 9 : 1); ++copy)
      prisms.add({x - half, x + half, y - 0.7 * half, y + 0.7 * half, z - 0.2 * half, z + 0.2 * half}, 1);
  }
  return prisms;
}

Octree grown(const PrismList& prisms, std::size_t leaf, int threads = 0) {
  Progress silent;
  return grow_octree(boxes(prisms.view()), leaf, threads, silent);
}

TEST(Octree, HoldsEveryPrismInOneLeafAndCutsEveryCellIntoItsChildren) {
  for (const int count : {1, 2, 63, 64, 65, 5000}) {
    const auto prisms = unequal(count, 1);
    const auto tree = grown(prisms, 64);
    auto order = tree.order;
    std::sort(order.begin(), order.end());
    for (std::size_t n = 0; n < prisms.size(); ++n) ASSERT_EQ(order[n], n);
    ASSERT_EQ(tree.levels.front(), 0U);
    ASSERT_EQ(tree.levels.back(), tree.cells.size());
    ASSERT_EQ(tree.cells[0].first, 0U);
    ASSERT_EQ(tree.cells[0].last, prisms.size());
    std::size_t next = 1;
    for (const auto& cell : tree.cells) {
      if (cell.children == 0) {
        EXPECT_GT(cell.size(), 0U);
        EXPECT_LE(cell.size(), 64U);
        continue;
      }
      EXPECT_GT(cell.size(), 64U);
      ASSERT_EQ(cell.child, next);
      std::uint32_t at = cell.first;
      for (std::uint32_t c = cell.child; c < cell.child + cell.children; ++c) {
        EXPECT_EQ(tree.cells[c].first, at);
        at = tree.cells[c].last;
      }
      EXPECT_EQ(at, cell.last);
      next += cell.children;
    }
    EXPECT_EQ(next, tree.cells.size());
  }
}

TEST(Octree, KeepsCellsSmallAndLargePrismsOutOfThem) {
  const auto prisms = unequal(20000, 2);
  const auto tree = grown(prisms, 64);
  double low[3] = {1e9, 1e9, 1e9}, high[3] = {-1e9, -1e9, -1e9};
  const auto centre = [&](std::size_t n, int a) {
    return a == 0   ? 0.5 * (prisms.west[n] + prisms.east[n])
           : a == 1 ? 0.5 * (prisms.south[n] + prisms.north[n])
                    : 0.5 * (prisms.bottom[n] + prisms.top[n]);
  };
  for (std::size_t n = 0; n < prisms.size(); ++n)
    for (int a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], centre(n, a));
      high[a] = std::max(high[a], centre(n, a));
    }
  const double side = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  int fine = 0;
  for (const auto& cell : tree.cells) {
    if (cell.flat || cell.level == 0) continue;
    fine += cell.level > 4;
    const double length = std::ldexp(side, -cell.level);
    for (int a = 0; a < 3; ++a) {
      double least = INFINITY, most = -INFINITY;
      for (std::uint32_t i = cell.first; i < cell.last; ++i) {
        least = std::min(least, centre(tree.order[i], a));
        most = std::max(most, centre(tree.order[i], a));
      }
      EXPECT_LE(most - least, length * (1 + 1e-12));
    }
    for (std::uint32_t i = cell.first; i < cell.last; ++i)
      EXPECT_LE(prisms.east[tree.order[i]] - prisms.west[tree.order[i]], 2 * length);
  }
  EXPECT_GT(fine, 100);
}

TEST(Octree, IsTheSameForAnyNumberOfThreads) {
  const auto prisms = unequal(60000, 3);
  const auto one = grown(prisms, 64, 1);
  for (const int threads : {2, 3, 8}) {
    const auto more = grown(prisms, 64, threads);
    EXPECT_EQ(more.order, one.order);
    EXPECT_EQ(more.levels, one.levels);
    ASSERT_EQ(more.cells.size(), one.cells.size());
    for (std::size_t c = 0; c < one.cells.size(); ++c) {
      EXPECT_EQ(more.cells[c].first, one.cells[c].first);
      EXPECT_EQ(more.cells[c].last, one.cells[c].last);
      EXPECT_EQ(more.cells[c].child, one.cells[c].child);
    }
  }
}

TEST(Octree, HasNoCellsWithoutPrismsAndStopsWhenAsked) {
  EXPECT_TRUE(grown({}, 64).cells.empty());
  struct Stopped final : Progress {
    bool cancelled() const override { return true; }
  } stopped;
  EXPECT_THROW(grow_octree(boxes(unequal(100, 4).view()), 64, 1, stopped), Cancelled);
}

}  // namespace
}  // namespace terrane::gravity
