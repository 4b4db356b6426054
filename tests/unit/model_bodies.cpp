#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "support/heap.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/model/bodies.hpp"
#include "terrane/model/model_bytes.hpp"

namespace terrane {
namespace {

using testing::ElementsAre;
using testing::IsNan;

/// A model of densities, as most tests here have it.
struct Densities {
  TensorMesh mesh;
  std::vector<std::uint64_t> cell;
  std::vector<double> density;
};

Densities densities(const EarthModel& model) {
  const auto& cells = std::get<MeshCells>(model.geometry);
  Densities all{cells.mesh, {}, model.property("density")};
  for (std::size_t n = 0; n < cells.cell.size(); ++n) all.cell.push_back(cells.cell[n]);
  return all;
}

std::vector<PropertyValue> rho(double density) { return {{"density", density}}; }

Densities painted(const TensorMesh& mesh, std::vector<Body> bodies, OverlapRule rule = OverlapRule::replace,
                  PaintReport* report = nullptr) {
  return densities(paint(mesh, bodies, rule, report));
}

double volume(const Densities& model) {
  double sum = 0;
  for (auto c : model.cell) sum += model.mesh.prism(c).volume();
  return sum;
}

/// The slow way: asks of every cell of the mesh whether its centre lies inside.
std::vector<std::uint64_t> cells_where(const TensorMesh& mesh,
                                       const std::function<bool(double, double, double)>& inside) {
  std::vector<std::uint64_t> cells;
  for (std::size_t c = 0; c < mesh.size(); ++c) {
    const auto p = mesh.prism(c);
    if (inside((p.west + p.east) / 2, (p.south + p.north) / 2, (p.bottom + p.top) / 2)) cells.push_back(c);
  }
  return cells;
}

TensorMesh uneven_mesh() {
  std::vector<double> east{0}, north{0}, up{-60};
  for (int i = 0; i < 37; ++i) east.push_back(east.back() + 1 + 0.37 * (i % 5));
  for (int i = 0; i < 29; ++i) north.push_back(north.back() + 1.3 + 0.41 * (i % 4));
  for (int i = 0; i < 23; ++i) up.push_back(up.back() + 1.1 + 0.53 * (i % 3));
  return {east, north, up};
}

TEST(Bodies, TheVolumeOfAPaintedSphereTendsToFourThirdsPiRCubed) {
  const double r = 1000, exact = 4.0 / 3 * pi * r * r * r;
  double last = 1;
  for (std::size_t n : {20U, 60U, 180U}) {
    const auto mesh = TensorMesh::regular({-1100, 1100, -1100, 1100, -1100, 1100}, {n, n, n});
    const double error = std::fabs(volume(painted(mesh, {{Sphere{3, -7, 11, r}, rho(300), ""}})) / exact - 1);
    EXPECT_LT(error, last / 2) << n;
    last = error;
  }
  EXPECT_LT(last, 2e-4);
}

TEST(Bodies, ASphereHoldsTheCellsWhoseCentreLiesInIt) {
  const auto mesh = uneven_mesh();
  for (const Sphere& s : {Sphere{30, 25, -40, 12.5}, Sphere{0, 0, -60, 20}, Sphere{64, 50, -25, 9}}) {
    const auto model = painted(mesh, {{s, rho(1), ""}});
    EXPECT_FALSE(model.cell.empty());
    EXPECT_EQ(model.cell, cells_where(mesh, [&](double x, double y, double z) {
                return (x - s.easting) * (x - s.easting) + (y - s.northing) * (y - s.northing) +
                           (z - s.up) * (z - s.up) <
                       s.radius * s.radius;
              }));
  }
}

TEST(Bodies, AnEllipsoidWithEqualAxesIsASphereHoweverItIsTurned) {
  const auto mesh = uneven_mesh();
  const auto sphere = painted(mesh, {{Sphere{30, 25, -40, 12.3}, rho(1), ""}});
  const auto ellipsoid =
      painted(mesh, {{Ellipsoid{30, 25, -40, {12.3, 12.3, 12.3}, 33, 21, 77}, rho(1), ""}});
  EXPECT_EQ(sphere.cell, ellipsoid.cell);
}

TEST(Bodies, AnUnrotatedEllipsoidHasItsAxesEastNorthAndUp) {
  const auto mesh = uneven_mesh();
  const auto model = painted(mesh, {{Ellipsoid{30, 25, -40, {20, 10, 5}}, rho(1), ""}});
  EXPECT_EQ(model.cell, cells_where(mesh, [](double x, double y, double z) {
              return std::pow((x - 30) / 20, 2) + std::pow((y - 25) / 10, 2) + std::pow((z + 40) / 5, 2) < 1;
            }));
}

TEST(Bodies, TheLongAxisOfAnEllipsoidFollowsTrendAndPlunge) {
  const auto mesh = TensorMesh::regular({-50, 50, -50, 50, -50, 50}, {100, 100, 100});
  const auto holds = [&](const Ellipsoid& e, double x, double y, double z) {
    const auto model = painted(mesh, {{e, rho(1), ""}});
    const auto cell = mesh.index(static_cast<std::size_t>(x + 50), static_cast<std::size_t>(y + 50),
                                 static_cast<std::size_t>(z + 50));
    return std::binary_search(model.cell.begin(), model.cell.end(), cell);
  };
  // A needle 40 m long: its end, 35 m from the centre, tells where it points.
  const double s = 35 * std::sqrt(0.5);
  EXPECT_TRUE(holds({0, 0, 0, {40, 4, 4}, 0, 0, 0}, 0, 35, 0));  // north
  EXPECT_TRUE(holds({0, 0, 0, {40, 4, 4}, 45, 0, 0}, s, s, 0));  // north-east
  EXPECT_FALSE(holds({0, 0, 0, {40, 4, 4}, 45, 0, 0}, s, -s, 0));
  EXPECT_TRUE(holds({0, 0, 0, {40, 4, 4}, 90, 45, 0}, s, 0, -s));  // east and down
  EXPECT_FALSE(holds({0, 0, 0, {40, 4, 4}, 90, 45, 0}, s, 0, s));
  EXPECT_TRUE(holds({0, 0, 0, {40, 4, 4}, 0, 90, 0}, 0, 0, -35));  // straight down
  // A blade: b is 40 m long; rolled clockwise by 45 degrees as seen looking east, b (north) turns up.
  EXPECT_TRUE(holds({0, 0, 0, {4, 40, 4}, 90, 0, 45}, 0, s, s));
  EXPECT_FALSE(holds({0, 0, 0, {4, 40, 4}, 90, 0, 45}, 0, s, -s));
}

TEST(Bodies, TheVolumeOfARotatedEllipsoidIsKept) {
  const auto mesh = TensorMesh::regular({-50, 50, -50, 50, -50, 50}, {200, 200, 200});
  const double exact = 4.0 / 3 * pi * 40 * 25 * 10;
  EXPECT_NEAR(
      volume(painted(mesh, {{Ellipsoid{0.1, 0.2, 0.3, {40, 25, 10}, 31, 27, 63}, rho(1), ""}})) / exact, 1,
      1e-3);
}

TEST(Bodies, BoxesThatTouchShareNoCell) {
  const auto mesh = TensorMesh::regular({0, 10, 0, 10, 0, 10}, {10, 10, 10});
  PaintReport report;
  const auto model =
      painted(mesh, {{Box{0, 4.5, 0, 10, 0, 10}, rho(1), ""}, {Box{4.5, 10, 0, 10, 0, 10}, rho(2), ""}},
              OverlapRule::add, &report);
  EXPECT_EQ(report.cells, (std::vector<std::size_t>{400, 600}));
  EXPECT_EQ(model.cell.size(), 1000U);
  for (double rho : model.density) EXPECT_TRUE(rho == 1 || rho == 2);
}

TEST(Bodies, APolygonHoldsItsAreaTimesItsThickness) {
  const auto mesh = TensorMesh::regular({0, 100, 0, 100, -10, 0}, {500, 500, 10});
  // An arrowhead: not convex.  Shoelace area 2000 + ...: half of |sum of cross products|.
  const Polygon arrow{{10.03, 90.01, 10.02, 40.04}, {10.01, 50.03, 90.02, 50.01}, -7, -2};
  double twice = 0;
  for (std::size_t n = 0, m = 3; n < 4; m = n++)
    twice += arrow.easting[m] * arrow.northing[n] - arrow.easting[n] * arrow.northing[m];
  const double exact = std::fabs(twice) / 2 * 5;
  EXPECT_NEAR(volume(painted(mesh, {{arrow, rho(1), ""}})) / exact, 1, 2e-3);
  // The other way round and from another vertex it is the same polygon.
  const Polygon turned{{90.01, 10.03, 40.04, 10.02}, {50.03, 10.01, 50.01, 90.02}, -7, -2};
  EXPECT_EQ(painted(mesh, {{arrow, rho(1), ""}}).cell, painted(mesh, {{turned, rho(1), ""}}).cell);
}

TEST(Bodies, APolygonWithCornersOnCellCentresStillTiles) {
  // Two polygons that share a slanted edge through cell centres paint every cell once.
  const auto mesh = TensorMesh::regular({0, 20, 0, 20, 0, 1}, {20, 20, 1});
  PaintReport report;
  painted(mesh,
          {{Polygon{{0.5, 15.5, 15.5}, {0.5, 0.5, 15.5}, 0, 1}, rho(1), ""},
           {Polygon{{0.5, 15.5, 0.5}, {0.5, 15.5, 15.5}, 0, 1}, rho(2), ""}},
          OverlapRule::replace, &report);
  EXPECT_EQ(report.cells[0] + report.cells[1], 15U * 15U);
}

TEST(Bodies, TheVolumeOfALayerIsTheIntegralBetweenItsSurfaces) {
  const auto mesh = TensorMesh::regular({0, 100, 0, 80, -30, 10}, {100, 80, 800});
  Grid top{{-1, 101}, {-1, 81}, {}};  // a plane: up = 5 - 0.1 x + 0.02 y
  for (double y : top.northing)
    for (double x : top.easting) top.values.push_back(5 - 0.1 * x + 0.02 * y);
  const auto model = painted(mesh, {{Layer{-20.0, top}, rho(1), ""}});
  const double exact = 100 * 80 * (20 + 5 - 0.1 * 50 + 0.02 * 40);
  EXPECT_NEAR(volume(model) / exact, 1, 1e-4);
}

TEST(Bodies, ALayerStopsWhereItsSurfacesHaveGapsOrCross) {
  const auto mesh = TensorMesh::regular({0, 4, 0, 1, 0, 1}, {4, 1, 1});
  const Grid top{{0, 2, 4}, {0, 1}, {1, 1, nan, 1, 1, nan}};
  const Grid bottom{{0, 1, 2, 4}, {0, 1}, {0, 0, 2, 2, 0, 0, 2, 2}};
  EXPECT_EQ(painted(mesh, {{Layer{-1.0, top}, rho(1), ""}}).cell, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(painted(mesh, {{Layer{bottom, 3.0}, rho(1), ""}}).cell, (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(painted(mesh, {{Layer{0.0, 1.0}, rho(1), ""}}).cell.size(), 4U);
}

TEST(Bodies, OfManyPlanesOfCellsThatThreadsShareAreWhatEachCellSays) {
  const auto mesh = TensorMesh::regular({0, 90, 0, 80, -70, 0}, {90, 80, 70});
  const Grid top{{-1, 91}, {-1, 81}, {-30, -30, -30, -30}};
  const std::vector<Body> bodies{{Sphere{40, 35, -30, 28.3}, rho(1), ""},
                                 {Box{10, 70, 5, 75, -65, -3}, rho(2), ""},
                                 {Layer{-60.0, -10.0}, rho(4), ""},
                                 {Layer{-50.0, top}, rho(8), ""},
                                 {Polygon{{20, 80, 80, 20}, {10, 10, 60, 60}, -69, -1}, rho(16), ""}};
  const auto inside = [](double x, double y, double z) {
    const auto within = [](double v, double low, double high) { return low <= v && v < high; };
    const double square = (x - 40) * (x - 40) + (y - 35) * (y - 35) + (z + 30) * (z + 30);
    return (square < 28.3 * 28.3 ? 1 : 0) +
           (within(x, 10, 70) && within(y, 5, 75) && within(z, -65, -3) ? 2 : 0) +
           (within(z, -60, -10) ? 4 : 0) + (within(z, -50, -30) ? 8 : 0) +
           (within(x, 20, 80) && within(y, 10, 60) && within(z, -69, -1) ? 16 : 0);
  };
  const auto model = painted(mesh, bodies, OverlapRule::add);
  ASSERT_EQ(model.cell, cells_where(mesh, [&](double x, double y, double z) { return inside(x, y, z) > 0; }));
  for (std::size_t n = 0; n < model.cell.size(); n += 7) {
    const auto p = mesh.prism(model.cell[n]);
    ASSERT_EQ(model.density[n],
              inside((p.west + p.east) / 2, (p.south + p.north) / 2, (p.bottom + p.top) / 2));
  }
}

TEST(Bodies, TheLastOnePaintedRulesUnlessDensitiesAdd) {
  const auto mesh = uneven_mesh();
  const std::vector<Body> bodies{{Box{5, 40, 5, 40, -55, -20}, rho(300), ""},
                                 {Sphere{20, 20, -40, 12}, rho(-100), ""},
                                 {Ellipsoid{25, 25, -35, {15, 8, 6}, 40, 30, 10}, rho(50), ""},
                                 {Sphere{20, 20, -40, 6}, rho(0), ""},
                                 {Polygon{{0, 60, 30}, {0, 10, 50}, -45, -38}, rho(7), ""}};
  std::map<std::uint64_t, double> replaced, added;
  for (const auto& body : bodies) {
    auto solid = body;
    solid.values = rho(1);
    for (auto c : painted(mesh, {solid}).cell) {
      replaced[c] = body.values.front().value;
      added[c] += body.values.front().value;
    }
  }
  const auto expect_same = [](const Densities& model, std::map<std::uint64_t, double> expected) {
    std::erase_if(expected, [](const auto& cell) { return cell.second == 0; });
    std::map<std::uint64_t, double> got;
    for (std::size_t n = 0; n < model.cell.size(); ++n) got[model.cell[n]] = model.density[n];
    EXPECT_EQ(got, expected);
    EXPECT_EQ(got.size(), model.cell.size());
    EXPECT_TRUE(std::is_sorted(model.cell.begin(), model.cell.end()));
  };
  expect_same(painted(mesh, bodies), replaced);
  expect_same(painted(mesh, bodies, OverlapRule::add), added);
}

TEST(Bodies, OfSeveralPropertiesStoreTheCellsOfAny) {
  const TensorMesh mesh({0, 1, 2, 3, 4, 5, 6, 7}, {0, 1}, {0, 1});
  const auto model = paint(mesh, std::vector<Body>{{Box{1, 3, 0, 1, 0, 1}, {{"density", 2}}, ""},
                                                   {Box{5, 6, 0, 1, 0, 1}, {{"density", 3}}, ""},
                                                   {Box{2, 4, 0, 1, 0, 1}, {{"velocity_p", 4}}, ""}});
  EXPECT_EQ(densities(model).cell, (std::vector<std::uint64_t>{1, 2, 3, 5}));
  EXPECT_THAT(model.property("density"), ElementsAre(2, 2, 0, 3));
  EXPECT_THAT(model.dense("density"), ElementsAre(0, 2, 2, 0, 0, 3, 0));
  EXPECT_THAT(model.property("velocity_p"), ElementsAre(IsNan(), 4, 4, IsNan()));
}

TEST(Bodies, ThatFillTheMeshTakeTheMemoryOfTheirValuesAlone) {
  const auto mesh = TensorMesh::regular({0, 1600, 0, 1600, -1000, 0}, {160, 160, 100});
  const std::vector<Body> bodies{{Layer{-2000.0, 0.0}, {{"density", 2000}, {"velocity_p", 3000}}, ""},
                                 {Layer{-2000.0, -500.0}, {{"density", 2500}}, ""},
                                 {Box{0, 900, 0, 700, -400, 0}, {{"velocity_p", 2000}}, ""}};
  EarthModel model;
  const double values = 8.0 * 2 * static_cast<double>(mesh.size()),
               held = test::most_bytes([&] { model = paint(mesh, bodies); });
  const auto& cells = std::get<MeshCells>(model.geometry).cell;
  EXPECT_EQ(cells.size(), mesh.size());
  EXPECT_EQ(cells[mesh.size() - 1], mesh.size() - 1);
  EXPECT_EQ(model.property("density")[mesh.index(0, 0, 49)], 2500);
  EXPECT_EQ(model.property("density")[mesh.index(0, 0, 50)], 2000);
  EXPECT_EQ(model.property("velocity_p")[mesh.index(89, 69, 60)], 2000);
  EXPECT_EQ(model.property("velocity_p")[mesh.index(89, 70, 60)], 3000);
  if (held <= 0) GTEST_SKIP() << "this build has another heap";
  EXPECT_LT(held, 1.1 * values);
  EXPECT_EQ(bytes_of(model), values);
}

TEST(Bodies, OneThatHoldsNoCellCentreIsReported) {
  const auto mesh = TensorMesh::regular({0, 10, 0, 10, 0, 10}, {10, 10, 10});
  PaintReport report;
  const auto model = painted(mesh,
                             {{Sphere{5, 5, 5, 0.1}, rho(1), ""},
                              {Sphere{100, 5, 5, 2}, rho(1), ""},
                              {Sphere{5.5, 5.5, 5.5, 0.1}, rho(1), ""}},
                             OverlapRule::replace, &report);
  EXPECT_EQ(report.cells, (std::vector<std::size_t>{0, 0, 1}));
  EXPECT_EQ(model.cell.size(), 1U);
  EXPECT_EQ(paint(mesh, {}).size(), 0U);
}

TEST(Bodies, SevenSpheresInTwentyFourMillionCellsTakeAQuarterMillion) {
  const auto mesh = TensorMesh::regular({0, 22000, 0, 22000, -8000, 0}, {700, 700, 50});
  const double radius = 1107.5;
  const std::vector<Body> spheres{{Sphere{3500, 3500, -1500, radius}, rho(300), ""},
                                  {Sphere{18500, 3600, -2600, radius}, rho(-250), ""},
                                  {Sphere{3700, 18300, -2000, radius}, rho(400), ""},
                                  {Sphere{18200, 18400, -1400, radius}, rho(200), ""},
                                  {Sphere{11000, 11000, -4000, radius}, rho(-500), ""},
                                  {Sphere{7000, 12500, -6400, radius}, rho(600), ""},
                                  {Sphere{15000, 8000, -5200, radius}, rho(350), ""}};
  const auto begin = std::chrono::steady_clock::now();
  PaintReport report;
  const auto model = densities(paint(mesh, spheres, OverlapRule::replace, &report));
  RecordProperty(
      "seconds",
      std::to_string(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()));
  RecordProperty("cells", std::to_string(model.cell.size()));
  for (auto cells : report.cells) EXPECT_NEAR(static_cast<double>(cells), 36000, 200);
  EXPECT_NEAR(static_cast<double>(model.cell.size()), 251946, 50);
  const double cell = mesh.prism(0).volume(), exact = 7 * 4.0 / 3 * pi * std::pow(radius, 3);
  EXPECT_NEAR(static_cast<double>(model.cell.size()) * cell / exact, 1, 2e-3);
}

TEST(Bodies, AreAllThatIsHeldOfAMeshTooLargeForAnyMemory) {
  const auto mesh = TensorMesh::regular({0, 1e5, 0, 1e5, -1e4, 0}, {100000, 100000, 10000});
  const auto model =
      painted(mesh, {{Sphere{5e4, 5e4, -5e3, 20}, rho(1), ""}, {Box{0, 30, 0, 20, -10, 0}, rho(1), ""}});
  const auto expected = 4.0 / 3 * pi * 8000 + 6000;
  EXPECT_NEAR(static_cast<double>(model.cell.size()) / expected, 1, 2e-3);
  EXPECT_NEAR(volume(model) / expected, 1, 2e-3);
}

TEST(Bodies, BadOnesAreRefusedByName) {
  using testing::HasSubstr;
  const auto mesh = TensorMesh::regular({0, 1, 0, 1, 0, 1}, {1, 1, 1});
  const auto refusal = [&](const Body& body) -> std::string {
    try {
      paint(mesh, std::vector<Body>{{Sphere{0, 0, 0, 1}, rho(1), ""}, body});
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal({Sphere{0, 0, 0, 0}, rho(1), "ore"}), HasSubstr("body 2 (\"ore\"): the radius is 0 m"));
  EXPECT_THAT(refusal({Sphere{0, nan, 0, 1}, rho(1), ""}), HasSubstr("body 2: the centre's northing is nan"));
  EXPECT_THAT(refusal({Sphere{0, 0, 0, 1}, rho(nan), ""}), HasSubstr("the density is nan"));
  EXPECT_THAT(refusal({Ellipsoid{0, 0, 0, {1, -1, 1}}, rho(1), ""}), HasSubstr("a semi-axis is -1 m"));
  EXPECT_THAT(refusal({Box{0, 1, 0, 1, 2, 2}, rho(1), ""}),
              HasSubstr("bottom (2 m) does not lie below top (2 m)"));
  EXPECT_THAT(refusal({Box{1, 0, 0, 1, 0, 1}, rho(1), ""}),
              HasSubstr("west (1 m) does not lie below east (0 m)"));
  EXPECT_THAT(refusal({Polygon{{0, 1}, {0, 1}, 0, 1}, rho(1), ""}), HasSubstr("the polygon has 2 vertices"));
  EXPECT_THAT(refusal({Polygon{{0, 1, 1}, {0, 1}, 0, 1}, rho(1), ""}),
              HasSubstr("3 eastings but 2 northings"));
  EXPECT_THAT(refusal({Polygon{{0, 1, nan}, {0, 1, 0}, 0, 1}, rho(1), ""}), HasSubstr("vertex 3"));
  EXPECT_THAT(refusal({Polygon{{0, 1, 1}, {0, 1, 0}, 1, 0}, rho(1), ""}), HasSubstr("bottom (1 m)"));
  EXPECT_THAT(refusal({Layer{1.0, 0.0}, rho(1), ""}), HasSubstr("bottom (1 m)"));
  EXPECT_THAT(refusal({Layer{nan, 0.0}, rho(1), ""}), HasSubstr("bottom is nan"));
  EXPECT_THAT(refusal({Layer{0.0, Grid{{0, 1}, {0, 1}, {1, 2}}}, rho(1), ""}),
              HasSubstr("top: 2 values for 2 × 2 nodes"));
  EXPECT_THAT(refusal({Layer{0.0, Grid{{0, 1}, {0, 1}, {1, 2, 3, 4}, true}}, rho(1), ""}),
              HasSubstr("degrees"));
}

TEST(RandomBlocks, AreTheSameForTheSameSeedAndKeepTheirRanges) {
  RandomBlocks blocks;
  blocks.shape = {6, 5, 4};
  blocks.seed = 2010;
  const auto a = densities(random_blocks(blocks)), b = densities(random_blocks(blocks));
  EXPECT_EQ(a.density, b.density);
  EXPECT_EQ(a.mesh.easting(), b.mesh.easting());
  ASSERT_EQ(a.density.size(), 120U);
  double mean = 0;
  for (double rho : a.density) {
    EXPECT_GE(rho, 100);
    EXPECT_LE(rho, 3000);
    mean += rho / 120;
  }
  EXPECT_NEAR(mean, 1550, 250);
  for (const auto* faces : {&a.mesh.easting(), &a.mesh.northing(), &a.mesh.up()})
    for (std::size_t i = 1; i < faces->size(); ++i) {
      EXPECT_GE((*faces)[i] - (*faces)[i - 1], 1000 - 1e-9);
      EXPECT_LE((*faces)[i] - (*faces)[i - 1], 11000 + 1e-9);
    }
  EXPECT_EQ(a.mesh.up().back(), 0);
  blocks.seed = 2011;
  EXPECT_NE(densities(random_blocks(blocks)).density, a.density);
}

TEST(RandomBlocks, TheGeneratorIsThatOfItsPaper) {
  // First outputs of SplitMix64 for seed 1234567: 6457827717110365317, 3203168211198807973, ...
  RandomBlocks blocks;
  blocks.shape = {1, 1, 1};
  blocks.seed = 1234567;
  blocks.width_min = 1;
  blocks.width_max = 2;
  const auto model = densities(random_blocks(blocks));
  EXPECT_DOUBLE_EQ(model.mesh.easting()[1], 1 + 6457827717110365317.0 / 0x1p64);
  EXPECT_DOUBLE_EQ(model.mesh.northing()[1], 1 + 3203168211198807973.0 / 0x1p64);
}

TEST(RandomBlocks, EmptyRangesAreRefused) {
  RandomBlocks none;
  none.shape = {2, 0, 2};
  EXPECT_THROW(random_blocks(none), InputError);
  RandomBlocks flat;
  flat.width_min = 0;
  EXPECT_THROW(random_blocks(flat), InputError);
  RandomBlocks turned;
  turned.density_min = 4000;
  EXPECT_THROW(random_blocks(turned), InputError);
}

}  // namespace
}  // namespace terrane
