// What cells of a mesh take from an earth that is described without one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "support/files.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/model/conductivity.hpp"
#include "terrane/model/description.hpp"
#include "terrane/model/in_other_words.hpp"

namespace terrane {
namespace {

using testing::HasSubstr;
using testing_support::message;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> even(double low, double high, std::size_t cells) {
  std::vector<double> faces;
  for (std::size_t n = 0; n <= cells; ++n)
    faces.push_back(low + (high - low) * static_cast<double>(n) / static_cast<double>(cells));
  return faces;
}

TensorMesh uneven() {
  return {{0, 13, 29, 40, 55, 77, 100}, {0, 21, 34, 60, 83, 100}, {-100, -71, -52, -40, -33, -20, -9, 0}};
}

double mass(const EarthModel& model) {
  const auto& cells = std::get<MeshCells>(model.geometry);
  const auto& density = model.property("density");
  double sum = 0;
  for (std::size_t n = 0; n < cells.cell.size(); ++n)
    sum += density[n] * cells.mesh.prism(cells.cell[n]).volume();
  return sum;
}

Description of(std::vector<Body> bodies) {
  Description earth;
  earth.bodies = std::move(bodies);
  return earth;
}

/// z = low + slope (x - x0), as a grid of few nodes.
Grid tilted(double at_zero, double per_metre) {
  Grid grid;
  grid.easting = {-50, 31, 150};
  grid.northing = {-50, 47, 150};
  for (std::size_t j = 0; j < 3; ++j)
    for (const double x : grid.easting) grid.values.push_back(at_zero + per_metre * x);
  return grid;
}

TEST(CellAverages, LoseNoMassOfBoxesAndOfLayersBetweenSurfaces) {
  const Box box{5, 61.5, 10, 90, -80, -12.25};
  EXPECT_NEAR(mass(average(uneven(), of({{box, {{"density", 300}}, ""}}))), 300 * box.volume(),
              1e-11 * 300 * box.volume());
  // Between the plane and the level lie 100 m × 100 m × (25 + 0.1 × 50) m.
  const auto layer = of({{Layer{tilted(-30, -0.1), -5.0}, {{"density", 300}}, ""}});
  EXPECT_NEAR(mass(average(uneven(), layer)), 300 * 1e4 * 30, 1e-11 * 300 * 1e4 * 30);
  // And hills, of which the mesh cuts nothing off.
  auto hills = of({{Box{-1e3, 1e3, -1e3, 1e3, -1e3, 1e3}, {{"density", 2000}}, ""}});
  hills.topography = tilted(-30, 0.2);
  EXPECT_NEAR(mass(average(uneven(), hills)), 2000 * 1e4 * 80, 1e-11 * 2000 * 1e4 * 80);
}

TEST(CellAverages, OfAnotherMeshLoseNoMassEither) {
  const TensorMesh fine(even(0, 100, 17), even(0, 100, 7), even(-100, 0, 23));
  std::vector<double> density(fine.size());
  double expected = 0;
  for (std::size_t n = 0; n < fine.size(); ++n) {
    density[n] = std::sin(0.1 * static_cast<double>(n)) * 500;
    expected += density[n] * fine.prism(n).volume();
  }
  Description earth;
  earth.cells = from_dense(fine, {{"density", density}});
  EXPECT_NEAR(mass(average(uneven(), earth)), expected, 1e-9 * 500 * 1e6);
  const auto same = average(fine, earth);
  EXPECT_EQ(same.dense("density"), density) << "on its own mesh nothing changes";
}

TEST(CellAverages, OfASphereAndAPolygonConvergeToTheirVolume) {
  const Polygon triangle{{10, 92, 37}, {12, 40, 88}, -70, -15};
  const double area = 0.5 * std::fabs((92. - 10) * (88. - 12) - (37. - 10) * (40. - 12));
  const std::pair<Shape, double> solids[] = {
      {Sphere{47, 52, -48, 31}, 4 * pi / 3 * 31 * 31 * 31},
      {Ellipsoid{47, 52, -48, {40, 20, 15}, 30, 25, 40}, 4 * pi / 3 * 40 * 20 * 15},
      {triangle, area * 55}};
  for (const auto& [shape, volume] : solids) {
    const auto error = [&, &solid = shape, &whole = volume](std::size_t parts) {
      return std::fabs(
          mass(average(uneven(), of({{solid, {{"density", 1}}, ""}}), {parts, false, false, 0})) / whole - 1);
    };
    EXPECT_LT(error(4), 0.02);
    EXPECT_LT(error(32), 0.002);
  }
}

/// Largest error of the cells' mean of a linear function cut at a tilted interface, on n × 1 × n cells.
double error_of_tilted_interface(std::size_t n) {
  const TensorMesh mesh(even(0, 100, n), {0, 10}, even(-100, 0, n));
  const auto earth = of({{Layer{-100.0, tilted(-70, 0.37)}, {{"density", 1}}, ""}});
  const auto found = average(mesh, earth, {8, false, false, 0}).dense("density");
  // The moment of the body about the top: ∫ z dV, which is second order in the cell only if shares are right.
  double moment = 0, exact = 0;
  for (std::size_t c = 0; c < mesh.size(); ++c) {
    const auto p = mesh.prism(c);
    moment += found[c] * p.volume() * (p.bottom + p.top) / 2;
  }
  const std::size_t fine = 200000;
  for (std::size_t m = 0; m < fine; ++m) {
    const double x = 100 * (static_cast<double>(m) + 0.5) / fine, z = -70 + 0.37 * x;
    exact += (z * z - 1e4) / 2 * 10 * 100 / fine;
  }
  return std::fabs(moment / exact - 1);
}

TEST(CellAverages, OfATiltedInterfaceConvergeWithTheSquareOfTheCell) {
  const double coarse = error_of_tilted_interface(8), fine = error_of_tilted_interface(16),
               finest = error_of_tilted_interface(32);
  EXPECT_LT(coarse, 2e-2);
  EXPECT_GT(coarse / fine, 3.5);
  EXPECT_GT(fine / finest, 3.5);
}

TEST(CellAverages, AThinResistiveSheetResistsAcrossAndNotAlong) {
  // 1 m of 1e-4 S/m in cells of 10 m of 0.1 S/m: across it R = 9/0.1 + 1/1e-4, along it G = 0.9 0.1.
  const TensorMesh mesh(even(0, 30, 3), even(0, 30, 3), even(-30, 0, 3));
  const auto host = Body{Box{-1, 31, -1, 31, -31, 1}, {{"conductivity", 0.1}}, ""};
  const double across = 10 / (9 / 0.1 + 1 / 1e-4), along = 0.9 * 0.1 + 0.1 * 1e-4;
  const std::array<Box, 3> sheets{Box{14, 15, -1, 31, -31, 1}, Box{-1, 31, 14, 15, -31, 1},
                                  Box{-1, 31, -1, 31, -16, -15}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto model =
        average(mesh, of({host, {sheets[axis], {{"conductivity", 1e-4}}, ""}}), {4, true, false, 0});
    const std::array<const char*, 3> names{"conductivity_east", "conductivity_north", "conductivity_up"};
    for (std::size_t a = 0; a < 3; ++a) {
      const auto values = model.dense(names[a]);
      EXPECT_NEAR(values[mesh.index(1, 1, 1)], a == axis ? across : along, 1e-12) << axis << " " << names[a];
      EXPECT_EQ(values[mesh.index(0, 0, 0)], 0.1) << "of one rock: to the bit";
    }
    EXPECT_NEAR(model.dense("conductivity")[mesh.index(1, 1, 1)], along, 1e-12) << "a resistor, by volume";
  }
  // And the whole column has the resistance of the series, wherever the sheet lies.
  for (const double top : {-2.0, -9.5, -10.0, -17.3}) {
    const auto model = average(
        mesh,
        of({host, {Box{-1, 31, -1, 31, top - 1, top}, {{"resistivity", 1e4}, {"conductivity", 1e-4}}, ""}}),
        {4, true, false, 0});
    const auto up = model.dense("conductivity_up");
    double resistance = 0;
    for (std::size_t k = 0; k < 3; ++k) resistance += 10 / up[mesh.index(1, 1, k)];
    EXPECT_NEAR(resistance, 29 / 0.1 + 1 / 1e-4, 1e-8) << top;
  }
}

TEST(CellAverages, AConductorInACellCountsByItsResistance) {
  const TensorMesh mesh({0, 10}, {0, 10}, {-10, 0});
  const auto model = average(mesh, of({{Box{-1, 11, -1, 11, -11, 1}, {{"resistivity", 100}}, ""},
                                       {Box{0, 5, -1, 11, -11, 1}, {{"resistivity", 1}}, ""}}));
  EXPECT_NEAR(model.property("resistivity")[0], 50.5, 1e-12);
}

TEST(CellAverages, OfRockForWavesKeepComplianceAndMass) {
  const TensorMesh mesh({0, 10}, {0, 10}, {-10, 0});
  const auto model = average(
      mesh,
      of({{Box{-1, 11, -1, 11, -11, 1}, {{"velocity_p", 2000}, {"density", 2000}, {"quality_p", 50}}, ""},
          {Box{-1, 11, -1, 11, -11, -4},
           {{"velocity_p", 4000}, {"density", 2600}, {"quality_p", 200}},
           ""}}));
  const double rho = 0.4 * 2000 + 0.6 * 2600,
               soft = 0.4 / (2000. * 2000 * 2000) + 0.6 / (2600. * 4000 * 4000);
  EXPECT_NEAR(model.property("density")[0], rho, 1e-9);
  EXPECT_NEAR(model.property("velocity_p")[0], std::sqrt(1 / (rho * soft)), 1e-9);
  EXPECT_NEAR(model.property("quality_p")[0], 1 / (0.4 / 50 + 0.6 / 200), 1e-9);
}

TEST(CellAverages, QualitiesOfWavesAndOfModuliBecomeThoseOfModuli) {
  const TensorMesh mesh({0, 10}, {0, 10}, {-10, 0});
  const double b = 4. / 3 * 2000 * 2000 / (4000. * 4000), kappa = (1 - b) / (1. / 60 - b / 50);
  const std::vector<PropertyValue> speeds{{"velocity_p", 4000}, {"velocity_s", 2000}, {"density", 2600}};
  auto moduli = speeds, waves = speeds;
  moduli.insert(moduli.end(), {{"quality_kappa", 300}, {"quality_mu", 50}});
  waves.insert(waves.end(), {{"quality_p", 60}, {"quality_s", 50}});
  const auto model = average(
      mesh, of({{Box{-1, 11, -1, 11, -11, 1}, moduli, ""}, {Box{-1, 11, -1, 11, -11, -4}, waves, ""}}));
  EXPECT_NEAR(model.property("quality_kappa")[0], 1 / (0.4 / 300 + 0.6 / kappa), 1e-9);
  EXPECT_NEAR(model.property("quality_mu")[0], 50, 1e-9);
  EXPECT_TRUE(std::isnan(model.dense("quality_p")[0]));
  EXPECT_TRUE(std::isinf(quality_of_bulk(1 / (4.0 / 9 / 50), 50, std::sqrt(3.0), 1))) << "all of it is shear";
  // A file whose two values contradict each other keeps both, for the physics to refuse.
  for (const double of_mass : {800.0, 900.0}) {
    Description earth;
    earth.cells =
        from_dense(mesh, {{"density", {2500}}, {"heat_capacity", {2e6}}, {"specific_heat", {of_mass}}});
    const auto capacity = average(mesh, earth).dense("specific_heat")[0];
    if (of_mass == 800) EXPECT_TRUE(std::isnan(capacity));
    else EXPECT_EQ(capacity, 900);
  }
}

TEST(CellAverages, AboveTheGroundIsAirAndCutCellsHaveTheirShareOfRock) {
  const TensorMesh mesh({0, 10}, {0, 10}, {-20, -10, 0, 10});
  auto earth = of({{Box{-1, 11, -1, 11, -1e3, 1e3},
                    {{"conductivity", 0.1}, {"density", 2000}, {"velocity_p", 3000}},
                    ""}});
  earth.topography = -4.0;
  earth.air = {{"conductivity", 1e-8}};
  for (const bool axes : {false, true}) {
    const auto model = average(mesh, earth, {4, axes, false, 0});
    const auto sigma = model.dense(axes ? "conductivity_up" : "conductivity");
    EXPECT_EQ(sigma[0], 0.1);
    EXPECT_NEAR(sigma[1], 0.06 + 0.4e-8, 1e-15);
    EXPECT_EQ(sigma[2], 1e-8);
    EXPECT_NEAR(model.dense("density")[1], 1200, 1e-9);
    EXPECT_NEAR(model.dense("velocity_p")[1], 3000, 1e-9) << "more than half of it is rock";
    EXPECT_TRUE(std::isnan(model.dense("velocity_p")[2]));
  }
  const auto painted = paint(mesh, earth);
  EXPECT_EQ(painted.dense("conductivity"), (std::vector<double>{0.1, 0.1, 1e-8}))
      << "its centre is below the ground";
  EXPECT_EQ(painted.dense("density")[2], 0);
  const auto whole = average(mesh, earth, {4, false, true, 0});
  EXPECT_EQ(whole.dense("conductivity")[2], 0.1) << "for a physics that cuts cells itself";
}

TEST(CellAverages, AboveTheGroundRockGoesOnAsItIsThereForAPhysicsThatCutsCells) {
  const TensorMesh mesh({0, 10}, {0, 10}, {-20, -10, 0, 10});
  auto earth =
      of({{Layer{-1e3, 1e3}, {{"density", 2700}}, ""}, {Layer{-12.0, -4.0}, {{"density", 2000}}, ""}});
  earth.topography = -4.0;
  const auto density = average(mesh, earth, {4, false, true, 0}).dense("density");
  EXPECT_NEAR(density[0], 0.8 * 2700 + 0.2 * 2000, 1e-9);
  EXPECT_EQ(density[1], 2000) << "not in part the rock that is described above the ground";
  EXPECT_EQ(density[2], 2000);
}

TEST(CellAverages, OfContrastsCountTheShareOfRock) {
  const TensorMesh mesh({0, 10}, {0, 10}, {-10, 0, 10});
  auto earth = of({{Box{-1, 11, -1, 11, -1e3, 1e3}, {{"density", 2500}}, ""}});
  earth.topography = 4.0;
  earth.reference_density = 2750;
  const auto density = average(mesh, earth).dense("density");
  EXPECT_EQ(density[0], -250);
  EXPECT_NEAR(density[1], -100, 1e-9) << "not 0.4 of 2500 less 2750";
}

TEST(CellAverages, LawsHoldForRockBeforeItIsAveraged) {
  const TensorMesh mesh({0, 10}, {0, 10}, {-10, 0});
  auto earth = of({{Box{-1, 11, -1, 11, -11, 1}, {{"velocity_p", 2000}}, ""},
                   {Box{-1, 11, -1, 11, -11, -5}, {{"velocity_p", 4000}}, ""}});
  earth.laws = {law_from_text("density from velocity_p by gardner")};
  const double expected = 0.5 * (earth.laws[0].value(2000) + earth.laws[0].value(4000));
  EXPECT_NEAR(average(mesh, earth).property("density")[0], expected, 1e-9);
}

TEST(CellAverages, AreThoseOfTheCentreWhereACellHasOneRockAndTheSameOnAllThreads) {
  auto earth = of({{Layer{-1e3, 0.0}, {{"density", 2000}, {"conductivity", 0.01}}, ""},
                   {Sphere{50, 50, -50, 30}, {{"density", 2500}}, ""},
                   {Ellipsoid{60, 40, -30, {30, 20, 10}, 20, 30, 10}, {{"conductivity", 1}}, ""}});
  const auto mesh = uneven();
  const auto one = average(mesh, earth, {4, true, false, 1}),
             three = average(mesh, earth, {4, true, false, 3});
  std::size_t same = 0;
  for (const auto& property : one.properties) EXPECT_EQ(property.values, three.property(property.name));
  const auto painted = paint(mesh, earth).dense("density"), averages = one.dense("density");
  for (std::size_t n = 0; n < mesh.size(); ++n)
    if (averages[n] == 2000 || averages[n] == 2500) {
      EXPECT_EQ(averages[n], painted[n]);
      ++same;
    }
  EXPECT_GT(same, mesh.size() / 2);
}

TEST(Description, CellsOfAFileAndBodiesThatSayLessConductAlikeAlongAxesOfWhichTheySayNothing) {
  const TensorMesh two({0, 50, 100}, {0, 100}, {-100, 0});
  Description earth;
  earth.cells = from_dense(two, {{"resistivity", {10, 20}}, {"resistivity_up", {40, std::nan("")}}});
  earth.bodies = {{Box{0, 100, 0, 100, -100, -50}, {{"conductivity", 0.5}}, ""}};
  complete_axes(earth);
  const auto model = average(TensorMesh({0, 50, 100}, {0, 100}, {-100, -50, 0}), earth);
  const auto up = conductivity_along(model, "up"), east = conductivity_along(model, "east");
  EXPECT_EQ(up, (std::vector<double>{0.5, 0.5, 1.0 / 40, 1.0 / 20}));
  EXPECT_EQ(east, (std::vector<double>{0.5, 0.5, 1.0 / 10, 1.0 / 20}));
  // A cell that is half of each: slabs along east, a series upwards.
  const auto mixed = average(TensorMesh({0, 50}, {0, 100}, {-100, 0}), earth);
  EXPECT_NEAR(conductivity_along(mixed, "up")[0], 1 / (0.5 / 0.5 + 0.5 * 40), 1e-15);
  EXPECT_NEAR(conductivity_along(mixed, "north")[0], 0.5 * 0.5 + 0.5 / 10, 1e-15);
}

TEST(Description, RockPaintedOverOneThatConductsByDirectionRulesAlongAllAxes) {
  const Box west{0, 50, 0, 100, -100, 0}, all{0, 100, 0, 100, -100, 0};
  auto earth =
      of({{all, {{"resistivity", 10}, {"resistivity_up", 40}}, ""}, {west, {{"conductivity", 0.5}}, ""}});
  earth.background = {{"resistivity", 100}};
  complete_axes(earth);
  for (const auto* axis : {"conductivity_east", "conductivity_north", "conductivity_up"}) {
    const bool up = axis == std::string("conductivity_up");
    EXPECT_DOUBLE_EQ(earth.at(axis, 75, 50, -50), up ? 1 / 40.0 : 0.1) << axis;
    EXPECT_DOUBLE_EQ(earth.at(axis, 25, 50, -50), 0.5) << axis;
    EXPECT_DOUBLE_EQ(earth.at(axis, 25, 50, -500), 0.01) << axis;
  }
  auto alike = of({{all, {{"resistivity", 10}}, ""}});
  complete_axes(alike);
  EXPECT_EQ(alike.properties(), std::vector<std::string>{"resistivity"});
}

TEST(Description, TheBodyPaintedLastCountsInWhateverWordsItStatesAProperty) {
  const Box west{0, 50, 0, 100, -100, 0};
  const TensorMesh halves({0, 50, 100}, {0, 100}, {-100, 0}), mixed({25, 75}, {0, 100}, {-100, 0});
  const auto of_two = [&](std::vector<PropertyValue> all, std::vector<PropertyValue> body) {
    auto earth = of({{west, std::move(body), ""}});
    earth.background = std::move(all);
    complete_axes(earth);
    return earth;
  };
  const auto of_conductor = of_two({{"resistivity", 100}}, {{"conductivity", 0.1}});
  const auto of_resistor = of_two({{"conductivity", 0.1}}, {{"resistivity", 100}});
  for (const auto& mesh : {halves, mixed}) {
    const auto same = of_two({{"conductivity", 0.1}}, {{"conductivity", 0.01}});
    EXPECT_EQ(conductivity_along(average(mesh, of_resistor), ""),
              conductivity_along(average(mesh, same), ""));
  }
  EXPECT_EQ(conductivity_along(paint(halves, of_conductor), "up"), (std::vector<double>{0.1, 0.01}));
  EXPECT_EQ(conductivity_along(paint(halves, of_resistor), "up"), (std::vector<double>{0.01, 0.1}));
  auto under_air = of_two({{"conductivity", 0.1}}, {{"conductivity", 0.01}}), in_other_words = under_air;
  under_air.topography = in_other_words.topography = -40.0;
  under_air.air = {{"conductivity", 1 / 1e8}}, in_other_words.air = {{"resistivity", 1e8}};
  EXPECT_EQ(conductivity_along(average(mixed, in_other_words), ""),
            conductivity_along(average(mixed, under_air), ""));
  const auto by_axis = of_two({{"resistivity_up", 20}, {"conductivity", 0.1}}, {{"resistivity", 100}});
  EXPECT_EQ(conductivity_along(paint(halves, by_axis), "up"), (std::vector<double>{0.01, 0.05}));
  EXPECT_EQ(conductivity_along(average(halves, by_axis), "up"), (std::vector<double>{0.01, 0.05}));
}

TEST(Description, KnowsItsGroundItsRockAndItsExtent) {
  auto earth = of({{Layer{-1e4, 0.0}, {{"velocity_p", 2000}}, ""},
                   {Sphere{50, 60, -50, 30}, {{"velocity_p", 4000}}, ""}});
  earth.topography = tilted(-10, 0.1);
  EXPECT_NEAR(earth.ground(40, 0), -6, 1e-12);
  EXPECT_NEAR(earth.ground(1e6, 0), 5, 1e-12) << "as at its edge";
  EXPECT_EQ(earth.at("velocity_p", 50, 60, -40), 4000);
  EXPECT_EQ(earth.at("velocity_p", 50, 60, -90), 2000);
  EXPECT_TRUE(std::isnan(earth.at("velocity_p", 50, 60, -1)));
  const auto box = earth.bounds();
  EXPECT_EQ(box.west, 20);
  EXPECT_EQ(box.top, -20);
  earth.topography = Grid{{0, 1}, {0, 1}, {0, 0, nan, 0}, false};
  EXPECT_THAT(message([&] { paint(uneven(), earth); }), HasSubstr("the grid has gaps"));
}

// More cells than one thread takes at a time.
TEST(Description, OfManyCellsHasAirAboveItsGroundInEachOfThem) {
  const TensorMesh mesh(even(0, 700, 70), even(0, 600, 60), even(-100, 10, 55));
  auto earth = of({{Layer{-1e4, 1e4}, {{"density", 2000}}, ""}});
  earth.topography = tilted(-60, 0.1);
  const auto density = paint(mesh, earth).dense("density");
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const auto box = mesh.prism(n);
    const bool air =
        (box.bottom + box.top) / 2 >= earth.ground((box.west + box.east) / 2, (box.south + box.north) / 2);
    ASSERT_EQ(density[n], air ? 0 : 2000) << n;
  }
}

}  // namespace
}  // namespace terrane
