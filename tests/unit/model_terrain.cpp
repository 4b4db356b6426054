#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/mesh/overlaps.hpp"
#include "terrane/model/terrain.hpp"

namespace terrane {
namespace {

TEST(Terrain, LandStandsOnTheReferenceAndWaterHangsFromIt) {
  const Grid elevation{{0, 10, 20}, {0, 10}, {100, 0, -50, 200, nan, -3000}};
  const auto layer = terrain(elevation);
  EXPECT_EQ(layer.nodes, 6U);
  EXPECT_EQ(layer.gaps, 1U);
  EXPECT_EQ(layer.flat, 1U);
  ASSERT_EQ(layer.prisms.size(), 4U);
  EXPECT_EQ(layer.prisms[0], (Prism{-5, 5, -5, 5, 0, 100}));
  EXPECT_EQ(layer.prisms[1], (Prism{15, 25, -5, 5, -50, 0}));
  EXPECT_EQ(layer.prisms[2], (Prism{-5, 5, 5, 15, 0, 200}));
  EXPECT_EQ(layer.density, (std::vector<double>{2670, -1630, 2670, -1630}));
}

TEST(Terrain, ItsMassIsTheIntegralOfTheSurfaceAndItsPrismsTile) {
  Grid elevation;
  for (int i = 0; i < 40; ++i) elevation.easting.push_back(500000 + 100 * i + 0.4 * i * i);
  for (int j = 0; j < 30; ++j) elevation.northing.push_back(7000000 + 90 * j);
  for (double y : elevation.northing)
    for (double x : elevation.easting)
      elevation.values.push_back(500 + 200 * std::sin((x - 500000) / 900) * std::cos((y - 7000000) / 700));
  const auto layer = terrain(elevation, {.reference = -1000.0, .density_above = 2500});
  ASSERT_EQ(layer.prisms.size(), 1200U);
  double mass = 0, area = 0, mean = 0;
  for (std::size_t n = 0; n < 1200; ++n) {
    const auto p = layer.prisms[n];
    mass += layer.density[n] * p.volume();
    area += (p.east - p.west) * (p.north - p.south);
  }
  const auto& prisms = layer.prisms;
  const double west = prisms.west.front(), east = prisms.east.back(), south = prisms.south.front(),
               north = prisms.north.back();
  EXPECT_NEAR(area, (east - west) * (north - south), 1e-6 * area);
  // ∫∫ of the surface in closed form
  const auto sine = 900 * (std::cos((west - 500000) / 900) - std::cos((east - 500000) / 900));
  const auto cosine = 700 * (std::sin((north - 7000000) / 700) - std::sin((south - 7000000) / 700));
  mean = 1500 + 200 * sine * cosine / area;
  EXPECT_NEAR(mass / (2500 * area * mean), 1, 1e-3);
  EXPECT_EQ(overlaps(prisms).count, 0U);
}

TEST(Terrain, AGridAsReferenceIsInterpolatedAndItsGapsCount) {
  const Grid elevation{{0, 10, 20}, {0, 10}, {10, 10, 10, 10, 10, 10}};
  const Grid reference{{-5, 15}, {-5, 15}, {0, 20, 0, 20}};  // = 5 + x
  const auto layer = terrain(elevation, {.reference = reference});
  EXPECT_EQ(layer.gaps, 2U);  // x = 20 lies outside
  ASSERT_EQ(layer.prisms.size(), 4U);
  EXPECT_DOUBLE_EQ(layer.prisms.bottom[0], 5);
  EXPECT_DOUBLE_EQ(layer.prisms.top[0], 10);
  EXPECT_DOUBLE_EQ(layer.prisms.top[1], 15);  // the reference lies above
  EXPECT_EQ(layer.density[1], -1630);
}

TEST(Terrain, WaterWithoutContrastMakesNoPrisms) {
  const Grid elevation{{0, 10}, {0, 10}, {5, -5, 5, -5}};
  const auto layer = terrain(elevation, {.density_below = 0});
  EXPECT_EQ(layer.prisms.size(), 2U);
  EXPECT_EQ(layer.flat, 2U);
}

TEST(Terrain, WhatIsNoElevationInMetresIsRefused) {
  using testing::HasSubstr;
  const auto refusal = [](const Grid& grid, const TerrainOptions& options = {}) -> std::string {
    try {
      terrain(grid, options);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  const Grid good{{0, 10}, {0, 10}, {1, 1, 1, 1}};
  EXPECT_THAT(refusal({{0, 10}, {0, 10}, {1, 1, 1, 1}, true}),
              HasSubstr("degrees of longitude and latitude"));
  EXPECT_THAT(refusal({{0}, {0, 10}, {1, 1}}), HasSubstr("a grid of 1 × 2 nodes"));
  EXPECT_THAT(refusal({{0, 10}, {0, 10}, {1, 1, 1}}), HasSubstr("3 values for 2 × 2 nodes"));
  EXPECT_THAT(refusal({{0, 0}, {0, 10}, {1, 1, 1, 1}}), HasSubstr("does not lie beyond"));
  EXPECT_THAT(refusal(good, {.reference = nan}), HasSubstr("the reference level is nan"));
  EXPECT_THAT(refusal(good, {.density_above = nan}), HasSubstr("the density is nan"));
}

}  // namespace
}  // namespace terrane
