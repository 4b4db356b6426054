#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/mesh/grid.hpp"
#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane {
namespace {

TEST(Grid, InterpolatesAPlaneExactly) {
  Grid grid{{0, 1, 3}, {10, 12}, {}};
  for (double y : grid.northing)
    for (double x : grid.easting) grid.values.push_back(2 * x - 3 * y + 1);
  EXPECT_DOUBLE_EQ(grid.interpolate(2.5, 11.25), 2 * 2.5 - 3 * 11.25 + 1);
  EXPECT_EQ(grid.interpolate(3, 12), grid.at(2, 1));
  EXPECT_TRUE(std::isnan(grid.interpolate(3.001, 12)));
  EXPECT_TRUE(std::isnan(grid.interpolate(nan, 12)));
}

TEST(Grid, AGapTakesOnlyThePointsItHasWeightIn) {
  const Grid grid{{0, 1, 2}, {0, 1}, {1, 2, nan, 1, 2, nan}};
  EXPECT_EQ(grid.interpolate(1, 0.5), 2);
  EXPECT_TRUE(std::isnan(grid.interpolate(1.01, 0.5)));
}

std::string refusal(const Grid& grid) {
  try {
    check(grid, "terrain.nc");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Grid, IsRefusedWhenItIsNone) {
  using testing::HasSubstr;
  EXPECT_EQ(refusal({{0, 1}, {0, 1}, {1, nan, 3, 4}}), "");
  EXPECT_THAT(refusal({{}, {0, 1}, {}}), HasSubstr("terrain.nc: the grid has no easting coordinates"));
  EXPECT_THAT(refusal({{0, 1}, {0, 1}, {1, 2, 3}}), HasSubstr("3 values for 2 × 2 nodes"));
  EXPECT_THAT(refusal({{0, 1}, {1, 0}, {1, 2, 3, 4}}),
              HasSubstr("northing coordinate 2 (0) does not lie beyond"));
  EXPECT_THAT(refusal({{0, nan}, {0, 1}, {1, 2, 3, 4}}), HasSubstr("easting coordinate 2 is nan"));
  EXPECT_THAT(refusal({{0, 1}, {0, 1}, {1, 2, INFINITY, 4}}), HasSubstr("easting 0, northing 1 is infinite"));
}

std::string refused_mesh(std::vector<double> east) {
  try {
    TensorMesh mesh(std::move(east), {0, 1}, {0, 1});
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(TensorMesh, IsRefusedWhenFacesDoNotAscend) {
  using testing::HasSubstr;
  EXPECT_THAT(refused_mesh({0}), HasSubstr("mesh.easting: 1 faces given"));
  EXPECT_THAT(refused_mesh({0, 1, 1}), HasSubstr("face 3 (1 m) does not lie beyond face 2 (1 m)"));
  EXPECT_THAT(refused_mesh({0, nan}), HasSubstr("face 2 is nan"));
  EXPECT_THROW(TensorMesh::regular({0, 1, 0, 1, 0, 1}, {1, 0, 1}), InputError);
}

TEST(TensorMesh, CutsABoxAtThePlacesOfLinspaceOfNumpy) {
  const auto even = TensorMesh::regular({0.1, 1.1, 0, 2400, 0, 1}, {10, 30, 1});
  EXPECT_EQ(even.easting()[3], 0.1 + 0.30000000000000004);
  EXPECT_EQ(even.northing()[7], 560);
}

TEST(TensorMesh, KnowsItsCellsByIndex) {
  const TensorMesh mesh({0, 1, 3}, {0, 2, 3, 7}, {-4, -1, 0});
  EXPECT_EQ(mesh.size(), 12U);
  for (std::size_t c = 0; c < mesh.size(); ++c) {
    const auto [i, j, k] = mesh.cell(c);
    EXPECT_EQ(mesh.index(i, j, k), c);
  }
  EXPECT_EQ(mesh.prism(mesh.index(1, 2, 0)), (Prism{1, 3, 3, 7, -4, -1}));
  double volume = 0;
  for (std::size_t c = 0; c < mesh.size(); ++c) volume += mesh.prism(c).volume();
  EXPECT_DOUBLE_EQ(volume, mesh.bounds().volume());
}

}  // namespace
}  // namespace terrane
