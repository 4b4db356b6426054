#include "terrane/solve/multigrid/coarsening.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace terrane::solve {
namespace {

std::vector<double> even(int cells, double width) {
  std::vector<double> faces;
  for (int n = 0; n <= cells; ++n) faces.push_back(n * width);
  return faces;
}

double coarser(const std::vector<double>& up, const std::vector<double>& north,
               const std::vector<double>& east) {
  return points_of_coarser_levels({up, north, east});
}

// 1/8 + 1/64 + …, and a little more, since ends stay.
TEST(Coarsening, OfAnEvenMeshLeavesASeventh) {
  const auto axis = even(128, 10);
  const double all = coarser(axis, axis, axis);
  EXPECT_GT(all, 1.0 / 7);
  EXPECT_LT(all, 1.1 / 7);
}

// 1/4 + 1/16 + …: the axis whose cells are long waits for the other two.
TEST(Coarsening, OfAMeshWithOneLongAxisLeavesAThirdUntilAllAreAlike) {
  const auto fine = even(128, 10), coarse = even(128, 10 * 64);
  const double all = coarser(coarse, fine, fine);
  EXPECT_GT(all, 1.0 / 3);
  EXPECT_LT(all, 1.15 / 3);
}

TEST(Coarsening, DoesNotDependOnTheUnitNorOnTheOrderOfTheAxes) {
  std::vector<double> stretched{0};
  for (int n = 0; n < 40; ++n) stretched.push_back(stretched.back() + std::pow(1.2, std::abs(n - 20)));
  auto larger = stretched;
  for (double& face : larger) face *= 1024;
  const auto axis = even(30, 1), larger_axis = even(30, 1024);
  const double all = coarser(stretched, axis, axis);
  EXPECT_EQ(coarser(larger, larger_axis, larger_axis), all);
  EXPECT_EQ(coarser(axis, stretched, axis), all);
  EXPECT_EQ(coarser(axis, axis, stretched), all);
}

}  // namespace
}  // namespace terrane::solve
