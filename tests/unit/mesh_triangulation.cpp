#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/files.hpp"
#include "terrane/mesh/triangulation.hpp"

namespace terrane {
namespace {

using testing::HasSubstr;
using testing_support::message;

struct Scatter {
  std::vector<double> x, y, z;
};

/// Places without a pattern in a square of 1000 m.
Scatter scattered(std::size_t n) {
  Scatter p;
  for (std::size_t i = 1; i <= n; ++i) {
    p.x.push_back(1000 * std::fmod(0.754877666 * static_cast<double>(i), 1));
    p.y.push_back(1000 * std::fmod(0.569840291 * static_cast<double>(i), 1));
    p.z.push_back(2 * p.x.back() - 0.5 * p.y.back() + 7);
  }
  return p;
}

TEST(Triangulation, NoCircleThroughCornersHoldsAPoint) {
  const auto p = scattered(200);
  const auto triangles = triangulate(p.x, p.y);
  EXPECT_GT(triangles.size(), 350U);
  for (const auto& [a, b, c] : triangles) {
    const double bx = p.x[b] - p.x[a], by = p.y[b] - p.y[a], cx = p.x[c] - p.x[a], cy = p.y[c] - p.y[a];
    const double twice = 2 * (bx * cy - by * cx);
    ASSERT_GT(twice, 0) << "counterclockwise";
    const double bb = bx * bx + by * by, cc = cx * cx + cy * cy;
    const double x = (cy * bb - by * cc) / twice, y = (bx * cc - cx * bb) / twice;
    for (std::size_t n = 0; n < p.x.size(); ++n)
      EXPECT_GT(std::hypot(p.x[n] - p.x[a] - x, p.y[n] - p.y[a] - y), std::hypot(x, y) * (1 - 1e-5));
  }
}

TEST(Triangulation, APlaneStaysAPlaneBetweenItsPointsAndGoesOnAsAtTheNearest) {
  const auto p = scattered(300);
  const auto grid = grid_of_points(p.x, p.y, p.z);
  const double lowest = -0.5 * 1000 + 7, highest = 2 * 1000 + 7;
  std::size_t on_plane = 0;
  for (std::size_t j = 0; j < grid.n_north(); ++j)
    for (std::size_t i = 0; i < grid.n_east(); ++i) {
      on_plane += std::abs(grid.at(i, j) - (2 * grid.easting[i] - 0.5 * grid.northing[j] + 7)) < 1e-9;
      EXPECT_TRUE(grid.at(i, j) > lowest && grid.at(i, j) < highest);
    }
  EXPECT_GT(on_plane, grid.values.size() * 8 / 10);
  EXPECT_LT(on_plane, grid.values.size());
}

TEST(Triangulation, PointsOfAGridWithGapsKeepTheirHeightsAndPlaces) {
  Scatter p;
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < 7; ++i) {
      if ((i + 2 * j) % 5 == 3) continue;
      p.x.push_back(30 * i);
      p.y.push_back(20 * j);
      p.z.push_back(i * i + j);
    }
  const auto grid = grid_of_points(p.x, p.y, p.z);
  ASSERT_EQ(grid.n_east(), 7U);
  ASSERT_EQ(grid.n_north(), 6U);
  for (std::size_t n = 0; n < p.x.size(); ++n) EXPECT_DOUBLE_EQ(grid.interpolate(p.x[n], p.y[n]), p.z[n]);
}

TEST(Triangulation, RefusesPointsThatAreNoSurface) {
  const std::vector<double> line{0, 1, 2, 3};
  EXPECT_TRUE(triangulate(line, line).empty());
  EXPECT_THAT(message([&] { grid_of_points(line, line, line); }), HasSubstr("one line"));
  const std::vector<double> x{0, 1, 0, 0}, y{0, 0, 1, 1}, z{1, 2, 3, 4};
  EXPECT_THAT(message([&] { grid_of_points(x, y, z); }), HasSubstr("two heights, 3 and 4, at (0, 1)"));
  const std::vector<double> same{1, 2, 3, 3};
  EXPECT_NO_THROW(grid_of_points(x, y, same));
  EXPECT_THAT(
      message([] {
        grid_of_points(std::vector<double>{0, 1}, std::vector<double>{0, 1}, std::vector<double>{0, 1});
      }),
      HasSubstr("three points"));
}

TEST(Triangulation, HeightsAlongALineAreTheSameAcross) {
  const std::vector<double> s{0, 10, 20, 40}, z{5, 7, 6, 6};
  std::vector<double> x, y;
  for (const double along : s) x.push_back(100 + 0.6 * along), y.push_back(-50 + 0.8 * along);
  const auto grid = grid_along_line(x, y, z);
  const auto at = [&](double along, double across) {
    return grid.interpolate(100 + 0.6 * along - 0.8 * across, -50 + 0.8 * along + 0.6 * across);
  };
  for (const double across : {-20.0, 0.0, 20.0}) {
    EXPECT_NEAR(at(5, across), 6, 0.2) << across;
    EXPECT_NEAR(at(15, across), 6.5, 0.2) << across;
    EXPECT_NEAR(at(-20, across), 5, 1e-12) << across;
    EXPECT_NEAR(at(50, across), 6, 1e-12) << across;
  }
  const std::vector<double> east{20, 0, 10}, beside{0, 0, 1}, up{3, 1, 2};
  const auto along_axis = grid_along_line(east, beside, up);
  EXPECT_EQ(along_axis.easting, (std::vector<double>{0, 10, 20}));
  EXPECT_DOUBLE_EQ(along_axis.interpolate(15, -19), 2.5);
  EXPECT_TRUE(grid_along_line(east, std::vector<double>{0, 0, 8}, up).values.empty()) << "no line";
}

TEST(Triangulation, OnlyGapsThatReachTheEdgeAreFilled) {
  const double gap = std::nan("");
  Grid grid{{0, 1, 2, 3}, {0, 1, 2, 3}, {gap, gap, 1, 2, gap, 3, 4, 5, 6, 7, gap, 8, 9, 9, 9, 9}, false};
  EXPECT_EQ(fill_margins(grid), 3U);
  EXPECT_EQ(grid.at(1, 0), 1);
  EXPECT_EQ(grid.at(0, 1), 3);
  EXPECT_TRUE(std::isnan(grid.at(2, 2)));
}

}  // namespace
}  // namespace terrane
