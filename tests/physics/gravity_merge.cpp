// Merging equal neighbours: fewer prisms, the same field.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/prism_field.hpp"
#include "terrane/physics/gravity/direct/merge.hpp"

namespace terrane::gravity {
namespace {

using test::PrismList;

TEST(Merging, MakesOnePrismOfAUniformBlock) {
  const auto block = test::mesh_block({0, 60, 0, 50, -40, 0}, {6, 5, 4}, [](int, int, int) { return 300.0; });
  const auto bars = merge(block.view());
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars.west[0], 0);
  EXPECT_EQ(bars.east[0], 60);
  EXPECT_EQ(bars.bottom[0], -40);
  EXPECT_EQ(bars.text(), "120 prisms merged into 1 bars");
}

TEST(Merging, TakesTheAxisThatLeavesFewestWhateverTheOrderOfThePrisms) {
  auto rods = test::mesh_block({0, 80, 0, 30, -30, 0}, {8, 3, 3},
                               [](int, int j, int k) { return 100.0 + 10 * j + 50 * k; });
  std::mt19937 random(4);
  rods.shuffle(random);
  EXPECT_EQ(merge(rods.view()).size(), 9U);
  const auto columns = test::mesh_block({0, 30, 0, 30, -80, 0}, {3, 3, 8},
                                        [](int i, int j, int) { return 100.0 + 10 * i + 50 * j; });
  EXPECT_EQ(merge(columns.view()).size(), 9U);
}

TEST(Merging, JoinsOnlyWhatSharesAWholeFaceAndADensity) {
  PrismList list;
  list.add({0, 10, 0, 10, -10, 0}, 100);
  list.add({10, 20, 0, 10, -10, 0}, 101);             // another density
  list.add({20, 30, 0, 10, -10, -1}, 101);            // another top
  list.add({30.000000001, 40, 0, 10, -10, -1}, 101);  // a gap
  list.add({0, 10, 0, 10, -10, 0}, 100);              // the first once more: its mass counts twice
  EXPECT_EQ(merge(list.view()).size(), 5U);
}

TEST(Merging, LeavesTheFieldOfABodyAsItIs) {
  const auto ball =
      test::mesh_block({-500, 500, -500, 500, -1200, -200}, {20, 20, 20}, [](int i, int j, int k) {
        const double x = i - 9.5, y = j - 9.5, z = k - 9.5;
        return x * x + y * y + z * z < 81 ? (k < 10 ? 400.0 : -250.0) : 0.0;
      });
  const auto bars = merge(ball.view());
  EXPECT_LT(bars.size() * 8, ball.size());
  std::mt19937 random(7);
  const auto stations = test::random_stations({-900, 900, -900, 900, -900, 300}, 40, random);
  const auto before = test::direct_field(ball.view(), stations.view(), best_accuracy);
  const auto after = test::direct_field(bars.view(), stations.view(), best_accuracy);
  EXPECT_LT(test::largest_error(after, before), 2e-14);
}

TEST(Merging, SeesThatAModelOfManyDensitiesIsNotWorthTheTrouble) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> density(100, 900);
  const auto noise = test::mesh_block({0, 100, 0, 100, -100, 0}, {20, 20, 20},
                                      [&](int, int, int) { return density(random); });
  EXPECT_EQ(share_that_merges(noise.view()), 0);
  const auto block = test::mesh_block({0, 60, 0, 50, -40, 0}, {6, 5, 4}, [](int, int, int) { return 300.0; });
  EXPECT_GT(share_that_merges(block.view()), 0.8);
}

}  // namespace
}  // namespace terrane::gravity
