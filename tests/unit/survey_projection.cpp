#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <thread>

#include "support/refusal.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/survey/builders.hpp"
#include "terrane/survey/crs.hpp"
#include "terrane/survey/projection.hpp"

namespace terrane {
namespace {

using test::refusal;

using testing::HasSubstr;

std::array<double, 2> forward(const std::string& definition, double longitude, double latitude) {
  std::array<double, 1> x{longitude}, y{latitude};
  Projection(definition).forward(x, y, x, y);
  return {x[0], y[0]};
}

TEST(Projection, UtmIsTrueToItsTextbook) {
  // The zone's central meridian lies at 500 km east; one degree of latitude from the equator is 110,574.4 m
  // of meridian, times the scale 0.9996.
  const auto [east, north] = forward("EPSG:32635", 27, 1);
  EXPECT_NEAR(east, 500000, 1e-6);
  EXPECT_NEAR(north, 0.9996 * 110574.3886, 1e-3);
}

TEST(Projection, EastGoesEastAndNorthGoesNorthWhateverTheAxesOfTheSystem) {
  // Lo27 (axes south, west), New Zealand (north, east), US survey feet.
  const struct {
    const char* definition;
    double longitude, latitude;
  } cases[] = {{"EPSG:2052", 27, -26},
               {"EPSG:2193", 173, -41},
               {"EPSG:2230", -116.25, 33},
               {"EPSG:32735", 27, -26},
               {"+proj=utm +zone=11 +units=us-ft", -117, 33}};
  for (const auto& c : cases) {
    const auto here = forward(c.definition, c.longitude, c.latitude);
    const auto east = forward(c.definition, c.longitude + 0.01, c.latitude);
    const auto north = forward(c.definition, c.longitude, c.latitude + 0.01);
    EXPECT_NEAR(east[0] - here[0], 1113.2 * std::cos(c.latitude * pi / 180), 6) << c.definition;
    EXPECT_NEAR(east[1] - here[1], 0, 10) << c.definition;
    EXPECT_NEAR(north[1] - here[1], 1109, 2) << c.definition;
    EXPECT_NEAR(north[0] - here[0], 0, 10) << c.definition;
  }
}

TEST(Projection, MapsInFeetAreWrittenAsMapsInMetres) {
  for (const char* definition : {"EPSG:2263", "EPSG:2263+5703", "+proj=utm +zone=11 +units=us-ft"}) {
    const Projection feet(definition), metres(feet.definition());
    EXPECT_EQ(crs_axes(feet.definition())->unit, 1) << definition;
    EXPECT_THAT(crs_wkt(feet.definition()), HasSubstr("\"metre\"")) << definition;
    EXPECT_EQ(metres.definition(), feet.definition());
    const auto there = forward(definition, -74, 40.5), same = forward(feet.definition().c_str(), -74, 40.5);
    EXPECT_NEAR(there[0], same[0], 1e-6) << definition;
    EXPECT_NEAR(there[1], same[1], 1e-6) << definition;
  }
  EXPECT_EQ(Projection("EPSG:32735").definition(), "EPSG:32735");
}

TEST(Projection, ThereAndBackIsTheSamePoint) {
  for (const char* definition :
       {"EPSG:32735", "EPSG:2053", "EPSG:2193", "+proj=laea +lat_0=-25 +lon_0=28 +datum=WGS84"}) {
    std::vector<double> x{27, 28, 29.5}, y{-27, -25, -23.25};
    const auto longitude = x, latitude = y;
    if (std::string(definition) == "EPSG:2193") continue;
    const Projection projection(definition);
    projection.forward(x, y, x, y);
    projection.inverse(x, y, x, y);
    for (std::size_t n = 0; n < x.size(); ++n) {
      EXPECT_NEAR(x[n], longitude[n], 1e-7) << definition;
      EXPECT_NEAR(y[n], latitude[n], 1e-7) << definition;
    }
  }
}

TEST(Projection, GivesEveryThreadTheSameNumbers) {
  const Projection projection("EPSG:32735");
  std::vector<double> longitude, latitude;
  for (int n = 0; n < 2000; ++n) {
    longitude.push_back(24 + 0.002 * n);
    latitude.push_back(-30 + 0.003 * n);
  }
  std::vector<double> east(2000), north(2000);
  projection.forward(longitude, latitude, east, north);
  std::array<bool, 4> same{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t, copy = projection] {
      std::vector<double> x(2000), y(2000);
      for (int repeat = 0; repeat < 5; ++repeat) copy.forward(longitude, latitude, x, y);
      same[t] = x == east && y == north;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(same, testing::Each(true));
}

TEST(Projection, ErrorsNameTheDefinitionAndTheRow) {
  EXPECT_THAT(refusal([] { Projection("EPSG:99999999"); }),
              HasSubstr("\"EPSG:99999999\" is not a projection known"));
  EXPECT_THAT(refusal([] { Projection("+proj=nonsense"); }), HasSubstr("is not a projection known to PROJ"));
  EXPECT_THAT(refusal([] { Projection(""); }), HasSubstr("is not a projection known to PROJ"));
  EXPECT_THAT(refusal([] { Projection("EPSG:4326"); }),
              HasSubstr("longitude and latitude, not a projection"));
  EXPECT_THAT(refusal([] { Projection("EPSG:4978"); }), HasSubstr("not a projected system"));
  const Projection utm("EPSG:32735");
  std::vector<double> x{27, 27, 27}, y{-25, -25, -95}, out(3);
  EXPECT_THAT(refusal([&] { utm.forward(x, y, out, out); }),
              HasSubstr("row 3: longitude 27, latitude -95 cannot be projected with \"EPSG:32735\""));
  y = {-25, nan, -25};
  EXPECT_THAT(refusal([&] { utm.forward(x, y, out, out); }), HasSubstr("row 2: longitude 27, latitude nan"));
  std::vector<double> far{1e9};
  const Projection laea("+proj=laea +lat_0=-25 +lon_0=28");
  EXPECT_THAT(refusal([&] { laea.inverse(far, far, far, far); }), HasSubstr("row 1: easting 1000000000"));
  std::vector<double> two(2);
  EXPECT_THROW(utm.forward(x, two, out, out), ShapeError);
}

TEST(Utm, TheZoneFollowsFromTheMeanOfThePoints) {
  const auto zone = [](std::vector<double> longitude, std::vector<double> latitude) {
    return utm_zone(longitude, latitude);
  };
  EXPECT_EQ(zone({25, 32}, {-27, -23}), "EPSG:32735");
  EXPECT_EQ(zone({-122.8}, {38.9}), "EPSG:32610");
  EXPECT_EQ(zone({179, -178}, {-17, -17}), "EPSG:32701");  // across the date line
  EXPECT_EQ(zone({385}, {1}), "EPSG:32635");
  EXPECT_EQ(zone({180}, {1}), "EPSG:32660");
  const std::vector<double> x{28}, y{-25};
  EXPECT_EQ(Projection::for_points("utm", x, y).definition(), "EPSG:32735");
  EXPECT_THAT(refusal([&] { zone({10}, {-85}); }), HasSubstr("EPSG:32761"));
  EXPECT_THAT(refusal([&] { zone({}, {}); }), HasSubstr("no points"));
}

TEST(Project, ASurveyKeepsItsLongitudesAndLatitudesAsColumns) {
  auto survey = list_survey({28, 28.1}, {-25, -25.1}, std::vector<double>{1200, 1300});
  project(survey, Projection("EPSG:32735"));
  EXPECT_NEAR(survey.easting[0], 600913, 1);
  EXPECT_NEAR(survey.northing[0], 7234776, 200);
  EXPECT_EQ(survey.projection, "EPSG:32735");
  ASSERT_NE(survey.find("longitude"), nullptr);
  EXPECT_EQ(survey.find("longitude")->values, (std::vector<double>{28, 28.1}));
  EXPECT_EQ(survey.find("latitude")->unit, "degrees_north");
  EXPECT_EQ(survey.up[1], 1300);
  EXPECT_NO_THROW(check(survey));
}

Grid wavy(double step) {
  Grid grid;
  grid.geographic = true;
  for (int i = 0; 25 + i * step <= 32 + 1e-9; ++i) grid.easting.push_back(25 + i * step);
  for (int j = 0; - 27 + j * step <= -23 + 1e-9; ++j) grid.northing.push_back(-27 + j * step);
  for (double y : grid.northing)
    for (double x : grid.easting) grid.values.push_back(1000 + 300 * std::sin(2 * x) * std::cos(3 * y));
  return grid;
}

TEST(ProjectGrid, KeepsTheVolumeOfTheTopographyInAnEqualAreaProjection) {
  const Projection laea("+proj=laea +lat_0=-25 +lon_0=28.5 +datum=WGS84");
  const auto source = wavy(1.0 / 60);
  // A rectangle in the plane that lies inside the source.
  const Region region{-200000, 200000, -150000, 150000};
  const auto plane = project_grid(source, laea, {2000, 2000}, &region);
  ASSERT_EQ(plane.n_east(), 201U);
  ASSERT_EQ(plane.n_north(), 151U);
  EXPECT_FALSE(plane.geographic);
  // At a node the value is that of the source there.
  std::vector<double> x{plane.easting[40]}, y{plane.northing[99]};
  laea.inverse(x, y, x, y);
  EXPECT_NEAR(plane.at(40, 99), 1000 + 300 * std::sin(2 * x[0]) * std::cos(3 * y[0]), 0.2);
  // Volume over the source's nodes that fall into the rectangle, each with its area on the ellipsoid.
  double volume = 0, area = 0;
  const double a = 6378137, e2 = 0.00669437999014, step = pi / 180 / 60;
  for (std::size_t j = 0; j < source.n_north(); ++j)
    for (std::size_t i = 0; i < source.n_east(); ++i) {
      const double phi = source.northing[j] * pi / 180, w = 1 - e2 * std::sin(phi) * std::sin(phi);
      std::array<double, 1> px{source.easting[i]}, py{source.northing[j]};
      laea.forward(px, py, px, py);
      if (std::fabs(px[0]) > 200000 || std::fabs(py[0]) > 150000) continue;
      const double cell = a * a * (1 - e2) * std::cos(phi) / (w * w) * step * step;
      volume += cell * source.at(i, j);
      area += cell;
    }
  EXPECT_NEAR(area, 400e3 * 300e3, 0.01 * area);  // the rim is ragged
  double mean = 0;
  for (double value : plane.values) mean += value / static_cast<double>(plane.values.size());
  EXPECT_NEAR(mean, volume / area, 2);
}

TEST(ProjectGrid, TakesTheSourcesOwnSpacingAndMarksWhatLiesOutside) {
  const Projection utm("EPSG:32735");
  const auto source = wavy(1.0 / 6);
  const auto plane = project_grid(source, utm);
  EXPECT_NEAR(plane.easting[1] - plane.easting[0], 111320 / 6.0 * std::cos(25 * pi / 180), 200);
  EXPECT_NEAR(plane.northing[1] - plane.northing[0], 110780 / 6.0, 200);
  const auto region = projected_region(source, utm);
  EXPECT_EQ(plane.easting.front(), region.west);
  EXPECT_GE(plane.easting.back(), region.east - 1e-3);
  std::size_t gaps = 0;
  for (double value : plane.values) gaps += std::isnan(value);
  EXPECT_GT(gaps, 0U);  // the corners of the rectangle
  EXPECT_LT(gaps, plane.values.size() / 4);
}

TEST(ProjectGrid, AcceptsLongitudesOfEitherConvention) {
  Grid world;
  world.geographic = true;
  for (int i = 0; i <= 36; ++i) world.easting.push_back(10.0 * i);  // 0 ... 360
  for (int j = -9; j <= 9; ++j) world.northing.push_back(10.0 * j);
  for (std::size_t j = 0; j < 19; ++j)
    for (std::size_t i = 0; i < 37; ++i) world.values.push_back(static_cast<double>(i % 36));
  const Region region{-100000, 100000, -100000, 100000};
  const auto plane =
      project_grid(world, Projection("+proj=laea +lat_0=30 +lon_0=-65"), {50000, 50000}, &region);
  EXPECT_NEAR(plane.at(2, 2), 29.5, 1e-6);  // 295 degrees east
}

TEST(ProjectGrid, WhatCannotBeProjectedIsRefused) {
  const Projection utm("EPSG:32735");
  auto flat = wavy(1);
  flat.geographic = false;
  EXPECT_THAT(refusal([&] { project_grid(flat, utm); }), HasSubstr("not in degrees"));
  EXPECT_THAT(refusal([&] { project_grid(wavy(1), utm, {-5, 10}); }), HasSubstr("the spacing is -5 m"));
  EXPECT_THAT(refusal([&] { project_grid(wavy(1), utm, {0.1, 0.1}); }), HasSubstr("nodes"));
  const Region turned{10, 0, 0, 10};
  EXPECT_THAT(refusal([&] { project_grid(wavy(1), utm, {1, 1}, &turned); }), HasSubstr("west < east"));
}

TEST(Geoid, IsAddedToTheHeightAboveSeaLevel) {
  Grid geoid{{-180, -90, 0, 90, 180}, {-90, 0, 90}, std::vector<double>(15, 0.0), true};
  for (std::size_t i = 0; i < 5; ++i) geoid.values[5 + i] = 10.0 * static_cast<double>(i);
  const std::vector<double> longitude{0, 45, 270, -45}, latitude{0, 0, 0, 45}, height{100, 200, 300, 400};
  EXPECT_EQ(ellipsoidal_height(longitude, latitude, height, geoid),
            (std::vector<double>{120, 225, 310, 407.5}));
  const std::vector<double> x{0, 0}, y{0, 91}, h{0, 0};
  EXPECT_THAT(refusal([&] { ellipsoidal_height(x, y, h, geoid); }),
              HasSubstr("row 2: longitude 0, latitude 91"));
  EXPECT_THROW(ellipsoidal_height(x, y, height, geoid), ShapeError);
}

}  // namespace
}  // namespace terrane
