#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "support/files.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/document.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/model/conductivity.hpp"

namespace terrane {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_support::message;

Earth earth(std::string_view text, const MemoryBudget& memory = {}) {
  return build_earth(Config::parse(text), std::nullopt, memory);
}

TEST(EarthFromJob, SphereTakesTheCellsWhoseCentresItHolds) {
  const auto built = earth(R"(
    mesh = {box = [0, 10, 0, 10, -10, 0], shape = [10, 10, 10]}
    [[model.body]]
    kind = "sphere"
    centre = [5, 5, -5]
    radius = 0.9
    density = "0.5 g/cm3")");
  EXPECT_EQ(built.model.property("density"), std::vector<double>(8, 500.0));
  EXPECT_TRUE(built.warnings.empty());
}

TEST(EarthFromJob, ABackgroundFillsTheCellsThatNoBodyHolds) {
  const auto built = earth(R"(
    mesh = {box = [0, 4, 0, 1, -1, 0], shape = [4, 1, 1]}
    [model]
    background = {resistivity = "1 kOhm.m", chargeability = "5 mV/V", density = 0.3}
    [[model.body]]
    kind = "box"
    box = [1, 3, 0, 1, -1, 0]
    chargeability = "20 mV/V"
    density = 0
    tilt = "1 rad"
    susceptibility = "0.001 SI")");
  EXPECT_THAT(built.model.dense("resistivity"), ElementsAre(1000, 1000, 1000, 1000));
  EXPECT_THAT(built.model.dense("chargeability"), ElementsAre(0.005, 0.02, 0.02, 0.005));
  EXPECT_THAT(built.model.dense("density"), ElementsAre(0.3, 0, 0, 0.3));
  EXPECT_THAT(built.model.dense("susceptibility"), ElementsAre(0, 0.001, 0.001, 0));
  EXPECT_NEAR(built.model.dense("tilt")[1], 57.29577951308232, 1e-12);
}

TEST(TablesOfPhysics, HavePlacesInMetresAndWordsAsEnumerators) {
  constexpr Key keys[] = {{"at", "", "none", ""}, {"points", "", "none", ""}, {"shape", "", "\"round\"", ""}};
  const auto table = Config::parse(R"(
    at = [1, 2, -0.5, "km"]
    points = [[0, 0, 0], [1, 2, 3]]
    shape = "flat")")
                         .describe({keys});
  enum class Shape { round, flat };
  constexpr std::array<std::string_view, 2> shapes{"round", "flat"};
  EXPECT_THAT(read_position(table, "at"), ElementsAre(1000, 2000, -500));
  EXPECT_EQ(read_positions(table, "points"), (std::vector<Position>{{0, 0, 0}, {1, 2, 3}}));
  EXPECT_EQ(chosen<Shape>(table, "shape", shapes), Shape::flat);
}

TEST(TablesOfPhysics, CountTheCellsThatDoNotConduct) {
  const auto job = Config::parse(R"(
    mesh = {box = [0, 4, 0, 1, -1, 0], shape = [4, 1, 1]}
    [[model.body]]
    kind = "box"
    box = [0, 3, 0, 1, -1, 0]
    conductivity = 0.1)");
  const auto model = build_earth(job, std::nullopt).model;
  EXPECT_EQ(mesh_of_cells(model, job, "fields need").size(), 4u);
  EXPECT_THAT(message([&] { conductivity_of_cells(model, job, "", "Give air a small one."); }),
              AllOf(HasSubstr("model: 1 of 4 cells have no conductivity or resistivity, or one that is zero"),
                    HasSubstr("Give air a small one.")));
  EXPECT_THAT(message([&] { conductivity_of_cells(model, job, "up", ""); }), HasSubstr("along up, or one"));
  EXPECT_TRUE(std::isnan(conductivity_of_cells(model, job, "", "", {1, 1, 1, 0}).back()))
      << "where it is not needed";
  const auto without = from_dense(TensorMesh({0, 1}, {0, 1}, {0, 1}), {{"density", {2000}}});
  EXPECT_THAT(message([&] { conductivity_of_cells(without, job, "", ""); }),
              HasSubstr("neither conductivity nor resistivity"));
  const EarthModel prisms{PrismSet{}, {}};
  EXPECT_THAT(message([&] { mesh_of_cells(prisms, job, "fields need"); }),
              AllOf(HasSubstr("mesh: fields need a mesh of cells, not a list of prisms"),
                    HasSubstr("Take mesh.kind")));
}

TEST(Conductivity, AlongAnAxisIsTheFirstThatACellKnows) {
  const double none = std::nan("");
  const auto model = from_dense(TensorMesh({0, 1, 2, 3, 4, 5}, {0, 1}, {0, 1}),
                                {{"conductivity", {none, none, none, 0.2, none}},
                                 {"resistivity", {none, none, 10, 5, 10}},
                                 {"conductivity_up", {0.5, none, none, none, none}},
                                 {"resistivity_up", {2, 8, none, none, none}},
                                 {"conductivity_east", {none, none, none, none, 3}}});
  EXPECT_TRUE(conducts_by_axis(model));
  const auto up = conductivity_along(model, "up"), east = conductivity_along(model, "east"),
             north = conductivity_along(model, "north"), all = conductivity_along(model, "");
  EXPECT_THAT(up, ElementsAre(0.5, 0.125, 0.1, 0.2, 0.1));
  EXPECT_THAT(std::vector(east.begin() + 2, east.end()), ElementsAre(0.1, 0.2, 3));
  EXPECT_THAT(std::vector(north.begin() + 2, north.end()), ElementsAre(0.1, 0.2, 0.1));
  EXPECT_EQ(std::vector(all.begin() + 2, all.end()), std::vector(north.begin() + 2, north.end()));
  EXPECT_TRUE(std::isnan(east[0]) && std::isnan(north[1]));
  const auto alike = from_dense(TensorMesh({0, 1}, {0, 1}, {0, 1}), {{"resistivity", {10}}});
  EXPECT_FALSE(conducts_by_axis(alike));
  EXPECT_EQ(conductivity_along(alike, "north"), conductivity_along(alike, ""));
}

TEST(EarthFromJob, ABackgroundAloneIsAnEarth) {
  const auto built = earth(R"(
    mesh = {box = [0, 4, 0, 1, -1, 0], shape = [4, 1, 1]}
    [model.background]
    velocity_p = "3 km/s"
    cole_cole_time = "10 ms")");
  EXPECT_EQ(built.model.property("velocity_p"), std::vector<double>(4, 3000.0));
  EXPECT_EQ(built.model.property("cole_cole_time"), std::vector<double>(4, 0.01));
}

TEST(EarthFromJob, BodiesAddToTheBackgroundWhereBodiesAdd) {
  const auto built = earth(R"(
    mesh = {box = [0, 2, 0, 1, -1, 0], shape = [2, 1, 1]}
    [model]
    overlap = "add"
    background.density = 2000
    [[model.body]]
    kind = "box"
    box = [1, 2, 0, 1, -1, 0]
    density = 300)");
  EXPECT_THAT(built.model.dense("density"), ElementsAre(2000, 2300));
}

TEST(EarthFromJob, ABackgroundSaysWhatTheFileLeavesOut) {
  const testing_support::TemporaryFolder folder;
  std::ofstream(folder / "earth.csv") << "velocity_p\n3000\nnan\n";
  const auto built = earth("mesh = {box = [0, 2, 0, 1, -1, 0], shape = [2, 1, 1]}\n[model]\nfile = \"" +
                           folder / "earth.csv" +
                           "\"\nproperty = \"velocity_p\"\n[model.background]\nvelocity_p = 1500\n"
                           "velocity_s = 800\n");
  EXPECT_THAT(built.model.dense("velocity_p"), ElementsAre(3000, 1500));
  EXPECT_THAT(built.model.dense("velocity_s"), ElementsAre(800, 800));
}

TEST(EarthFromJob, ABackgroundOutsideTheRangeOfItsPropertyIsRefusedWithItsLine) {
  const auto refused = [](std::string_view background) {
    return message([&] {
      earth("mesh = {box = [0, 2, 0, 1, -1, 0], shape = [2, 1, 1]}\n[model]\n" + std::string(background));
    });
  };
  EXPECT_THAT(refused("background = {chargeability = 2}"),
              AllOf(HasSubstr("job.toml:3: model.background.chargeability"), HasSubstr("between 0 and 1")));
  EXPECT_THAT(refused("background = {chargeability = \"20 mV\"}"), HasSubstr("1, %, V/V, mV/V"));
  EXPECT_THAT(refused("background = {}"), HasSubstr("it names no property"));
  EXPECT_THAT(refused("background = {tilt = 200}"), HasSubstr("between -180 and 180"));
  EXPECT_THAT(refused("background = 3"), HasSubstr("a table is needed here"));
  EXPECT_THAT(refused("[[model.background]]\ndensity = 3"),
              AllOf(HasSubstr("of [[model.background]] there is one"), HasSubstr("[model.background] once"),
                    Not(HasSubstr("density = ["))));
}

TEST(EarthFromJob, WidthsMakeTheMeshTheyDescribe) {
  const auto built = earth(R"(
    [mesh]
    kind = "tensor"
    origin = [100, 0, -60]
    easting_widths = ["2*10", 20]
    northing = [0, 1, 5]
    up_widths = ["3*20"]
    [[model.body]]
    kind = "box"
    box = [100, 140, 0, 5, -60, 0]
    density = 1)");
  const auto& mesh = std::get<MeshCells>(built.model.geometry).mesh;
  EXPECT_THAT(mesh.easting(), ElementsAre(100, 110, 120, 140));
  EXPECT_THAT(mesh.northing(), ElementsAre(0, 1, 5));
  EXPECT_THAT(mesh.up(), ElementsAre(-60, -40, -20, 0));
}

TEST(EarthFromJob, UnitsOfTheJobStandInWhereAListOfPrismsNamesNone) {
  const testing_support::TemporaryFolder folder;
  for (const std::string header : {"", "west,east,south,north,bottom,top,density\n"}) {
    const auto path = folder / "prisms.csv";
    std::ofstream(path) << header << (header.empty() ? "0 0 -2 1 1 -1 0.3\n" : "0,1,0,1,-2,-1,0.3\n");
    const auto built = earth("[mesh]\nkind = \"prisms\"\nfile = \"" + path +
                             "\"\nlength_unit = \"km\"\ndensity_unit = \"g/cm3\"");
    EXPECT_EQ(std::get<PrismSet>(built.model.geometry)[0], (Prism{0, 1000, 0, 1000, -2000, -1000})) << header;
    EXPECT_EQ(built.model.property("density"), std::vector<double>{300.0}) << header;
  }
}

TEST(EarthFromJob, DensitiesOfATableHaveTheUnitOfItsHeader) {
  const testing_support::TemporaryFolder folder;
  const auto path = folder / "densities.csv";
  std::ofstream(path) << "density [g/cm3]\n0.1\n0.2\n";
  const auto built =
      earth("[mesh]\nbox = [0, 2, 0, 1, -1, 0]\nshape = [2, 1, 1]\n[model]\nfile = \"" + path + "\"");
  EXPECT_EQ(built.model.property("density"), (std::vector<double>{100.0, 200.0}));
}

TEST(EarthFromJob, ABodyHasSeveralPropertiesAndChangesOnlyThose) {
  const auto built = earth(R"(
    mesh = {box = [0, 4, 0, 1, -1, 0], shape = [4, 1, 1]}
    [[model.body]]
    kind = "box"
    box = [0, 3, 0, 1, -1, 0]
    density = 200
    conductivity = "10 mS/m"
    [[model.body]]
    kind = "box"
    box = [2, 4, 0, 1, -1, 0]
    conductivity = 2)");
  const auto& model = built.model;
  EXPECT_EQ(model.size(), 4U);
  EXPECT_THAT(model.property("density"), ElementsAre(200, 200, 200, 0));
  EXPECT_THAT(model.property("conductivity"), ElementsAre(0.01, 0.01, 2, 2));
  EXPECT_EQ(model.property_along("conductivity", "up"), model.property("conductivity"));
  EXPECT_EQ(sources(model, "density").prisms.size(), 3U);
  EXPECT_THAT(message([&] { model.property("susceptibility"); }),
              AllOf(HasSubstr("it has no susceptibility"), HasSubstr("It has: density, conductivity")));
}

TEST(EarthFromJob, ABodyWithoutAPropertyIsRefused) {
  EXPECT_THAT(message([] {
                earth(
                    "mesh = {box = [0, 4, 0, 1, -1, 0], shape = [4, 1, 1]}\n[[model.body]]\nkind = \"box\"\n"
                    "box = [0, 3, 0, 1, -1, 0]\n");
              }),
              AllOf(HasSubstr("model.body[0].density: missing"), HasSubstr("or another property")));
  EXPECT_THAT(message([] {
                earth(
                    "mesh = {box = [0, 4, 0, 1, -1, 0], shape = [4, 1, 1]}\n[[model.body]]\nkind = \"box\"\n"
                    "box = [0, 3, 0, 1, -1, 0]\nvelocity_p = -1\n");
              }),
              HasSubstr("the velocity_p is -1 m/s"));
}

TEST(EarthFromJob, AMapMakesDensitiesOfVelocitiesAndSaysByWhichLaw) {
  const auto job = [](const std::string& map) {
    return "mesh = {box = [0, 2, 0, 1, -1, 0], shape = [2, 1, 1]}\n[model]\nmaps = [\"" + map +
           "\"]\n[[model.body]]\nkind = \"box\"\nbox = [0, 1, 0, 1, -1, 0]\nvelocity_p = \"4 km/s\"\n"
           "[[model.body]]\nkind = \"box\"\nbox = [1, 2, 0, 1, -1, 0]\nvelocity_p = \"1 km/s\"\ndensity = "
           "7\n";
  };
  const auto built = earth(job("density from velocity_p by gardner"));
  EXPECT_NEAR(built.model.property("density")[0], 2465.3, 0.1);  // 0.31 · 4000^(1/4) g/cm³
  EXPECT_EQ(built.model.property("density")[1], 7);              // what is given stays
  EXPECT_THAT(built.notes.back(), HasSubstr("Gardner & Gregory (1974)"));
  EXPECT_THAT(message([&] { earth(job("density from velocity_p by gardener")); }),
              AllOf(HasSubstr("job.toml:3: model.maps"),
                    HasSubstr("Did you mean \"density from velocity_p by gardner\"")));
  EXPECT_THAT(message([&] { earth(job("density from velocity_s by gardner")); }),
              HasSubstr("not a map known here"));
  EXPECT_THAT(message([&] { earth(job("resistivity from conductivity by reciprocal")); }),
              AllOf(HasSubstr("model.maps"), HasSubstr("it has no conductivity")));
}

TEST(EarthFromJob, OneFileServesEveryPhysicsAndAFieldMayHaveAnotherName) {
  const testing_support::TemporaryFolder folder;
  const io::MeshData data{TensorMesh({0, 1, 2}, {0, 1}, {-1, 0}),
                          {{"density", "g/cm3", "", {0.1, 0}},
                           {"conductivity", "mS/m", "", {std::nan(""), 5}},
                           {"vp", "km/s", "", {2, 3}}},
                          {}};
  for (const std::string name : {"earth.nc", "earth.h5"}) {
    io::write(folder / name, data);
    const auto mesh = "[mesh]\nkind = \"file\"\nfile = \"" + folder / name + "\"\n";
    const auto built = earth(mesh);
    EXPECT_THAT(built.model.property("density"), ElementsAre(100, 0)) << name;
    EXPECT_THAT(built.model.property("conductivity"), ElementsAre(testing::IsNan(), 0.005)) << name;
    const auto named = earth(mesh + "[model]\nproperty = \"velocity_p\"\nfield = \"vp\"");
    EXPECT_THAT(named.model.property("velocity_p"), ElementsAre(2000, 3000)) << name;
    EXPECT_TRUE(named.model.has("density"));
    EXPECT_THAT(message([&] { earth(mesh + "[model]\nproperty = \"velocity\""); }),
                HasSubstr("model.property: \"velocity\" is not a property known here"));
  }
}

/// A reader guesses the width of images in two dimensions, which is none to compute with.
TEST(EarthFromJob, AMeshWhoseWidthAlongNorthingIsNotInItsFileIsRefused) {
  const testing_support::TemporaryFolder folder;
  Dataset slab;
  slab.dimensions = {{"up", 2}, {"northing", 1}, {"easting", 2}};
  slab.coordinates = {{"up", "m", "up", {"up"}, std::vector<double>{-30, -10}, {}},
                      {"northing", "m", "northing", {"northing"}, std::vector<double>{5}, {}},
                      {"easting", "m", "easting", {"easting"}, std::vector<double>{0, 20}, {}}};
  slab.variables = {
      {"density", "kg/m3", "density", {"up", "northing", "easting"}, std::vector<double>(4, 1), {}}};
  io::write_netcdf(folder / "slab.nc", slab);
  const auto file = "file = \"" + folder / "slab.nc" + "\"\n";
  const auto refused = HasSubstr("has one cell along northing and does not say how wide it is");
  const std::string box = "[mesh]\nbox = [0, 40, 0, 20, -40, 0]\nshape = [2, 1, 2]\n[model]\n" + file;
  EXPECT_THAT(message([&] { earth("[mesh]\nkind = \"file\"\n" + file); }), refused);
  EXPECT_THAT(message([&] { earth(box + "transfer = \"average\""); }), refused);
  EXPECT_THAT(earth(box).model.property("density"), ElementsAre(1, 1, 1, 1));  // cells of a known mesh
}

TEST(EarthFromJob, AFileOfOneUnnamedPropertyIsWhatTheJobSays) {
  const testing_support::TemporaryFolder folder;
  const auto mesh = "[mesh]\nbox = [0, 2, 0, 1, -1, 0]\nshape = [2, 1, 1]\n[model]\n";
  io::write(folder / "cells.npy", io::Array{{1, 1, 2}, {3, 4}, {}, false});
  const auto file = "file = \"" + folder / "cells.npy" + "\"\n";
  EXPECT_THAT(earth(mesh + file).model.property("density"), ElementsAre(3, 4));
  EXPECT_THAT(earth(mesh + file + "property = \"velocity_s\"\nunit = \"km/s\"").model.property("velocity_s"),
              ElementsAre(3000, 4000));
  EXPECT_THAT(message([&] { earth(mesh + file + "property = \"chargeability\""); }),
              HasSubstr("cell 0: the chargeability is 3"));
}

TEST(EarthFromJob, NumbersForNoValueAreRefusedInModelsOfAnyFormatAndNotInFacesOfPrisms) {
  const testing_support::TemporaryFolder folder;
  const auto refused = [&](const std::string& keys) { return message([&] { earth(keys); }); };
  const std::vector<double> values{3, 4, 5, -9999};
  io::write(folder / "cells.npy", io::Array{{1, 1, 4}, values, {}, false});
  const std::string box = "[mesh]\nbox = [0, 4, 0, 1, -1, 0]\nshape = [4, 1, 1]\n[model]\n";
  EXPECT_THAT(refused(box + "file = \"" + folder / "cells.npy" + "\""),
              HasSubstr("model.file: the array: -9999 (value 4) is far from all others"));
  const auto mesh = [&](const std::string& name) {
    io::write(folder / "cells.nc",
              io::MeshData{TensorMesh({0, 1, 2, 3, 4}, {0, 1}, {-1, 0}),
                           {{"density", "kg/m3", "", {1, 2, 3, 4}}, {name, "", "", values}},
                           {}});
    return "[mesh]\nkind = \"file\"\nfile = \"" + folder / "cells.nc" + "\"\n";
  };
  EXPECT_THAT(refused(mesh("resistivity")), HasSubstr("mesh.file: resistivity: -9999"));
  EXPECT_EQ(refused(mesh("zone")), "no error") << "no property: the job does not read it";
  const auto prisms = [&](const std::string& last) {
    const auto file = folder.put("prisms.csv",
                                 "west [m],east [m],south [m],north [m],bottom [m],top [m],density\n"
                                 "0,1,0,1,-3,0,1\n1,2,0,1,-2,0,2\n2,3,0,1,-2,0,3\n" +
                                     last);
    return refused("[mesh]\nkind = \"prisms\"\nfile = \"" + file + "\"\ndensity_unit = \"kg/m3\"\n");
  };
  EXPECT_EQ(prisms("3,999999,-999999,1,-9999,0,4\n"), "no error");
  EXPECT_THAT(prisms("3,4,0,1,-2,0,-9999\n"), HasSubstr("mesh.file: density: -9999 (value 4)"));
  // As it comes from Python: a table whose density is called rho.
  io::Table table;
  for (const auto& [name, of_prisms] :
       std::vector<std::pair<std::string, std::vector<double>>>{{"x1", {0, 1, 2, 3}},
                                                                {"y1", {0, 0, 0, 0}},
                                                                {"z1", {-2, -2, -2, -2}},
                                                                {"x2", {1, 2, 3, 4}},
                                                                {"y2", {1, 1, 1, 1}},
                                                                {"z2", {0, 0, 0, 0}},
                                                                {"rho", {300, 320, 400, -9999}}})
    table.columns.push_back({name, name == "rho" ? "kg/m3" : "m", "", of_prisms});
  Config::Options options;
  options.contents = std::make_shared<Contents>(Contents{{{"given", std::move(table)}}});
  EXPECT_THAT(message([&] {
                build_earth(
                    Config::parse("[mesh]\nkind = \"prisms\"\nfile = \"given\"\n", "job.toml", {}, options),
                    std::nullopt, {});
              }),
              HasSubstr("mesh.file: rho: -9999 (value 4)"));
}

TEST(EarthFromJob, PrismsOfAFileMayHaveSeveralProperties) {
  const testing_support::TemporaryFolder folder;
  const auto path =
      folder.put("prisms.csv",
                 "west [m],east [m],south [m],north [m],bottom [m],top [m],susceptibility,density [g/cm3]\n"
                 "0,1,0,1,-2,-1,0.01,0.3\n");
  const auto mesh = "[mesh]\nkind = \"prisms\"\nfile = \"" + path + "\"\n";
  EXPECT_THAT(earth(mesh).model.property("susceptibility"), ElementsAre(0.01));
  const auto all = earth(mesh +
                         "[model]\ndensity = 5\nvelocity_p = \"3 km/s\"\n"
                         "maps = [\"velocity_s from velocity_p by castagna\"]");
  EXPECT_THAT(all.model.property("density"), ElementsAre(5));
  EXPECT_NEAR(all.model.property("velocity_s")[0], 1640 / 1.16, 1e-9);
}

TEST(EarthFromJob, BodyThatHoldsNoCellIsAWarningWithItsLine) {
  const auto built = earth(
      "mesh = {box = [0, 10, 0, 10, -10, 0], shape = [2, 2, 2]}\n[[model.body]]\nkind = \"sphere\"\n"
      "centre = [50, 5, -5]\nradius = 1\ndensity = 1\n");
  ASSERT_EQ(built.warnings.size(), 1U);
  EXPECT_THAT(built.warnings[0], AllOf(HasSubstr("job.toml:2: model.body[0]"), HasSubstr("holds no cell")));
}

TEST(EarthFromJob, PaintingBeyondTheMemoryIsRefusedBeforehand) {
  EXPECT_THROW(earth("mesh = {box = [0, 1, 0, 1, -1, 0], shape = [100000, 100000, 100000]}\n[[model.body]]\n"
                     "kind = \"box\"\nbox = [0, 1, 0, 1, -1, 0]\ndensity = 1\n",
                     MemoryBudget{1'000'000'000}),
               MemoryError);
}

TEST(SurveyFromJob, GridRunsEastwardFirst) {
  const auto stations =
      build_survey(Config::parse("survey = {region = [0, 2, 10, 11, \"km\"], shape = [3, 2], height = 7}"));
  EXPECT_THAT(stations.survey.easting, ElementsAre(0, 1000, 2000, 0, 1000, 2000));
  EXPECT_THAT(stations.survey.northing, ElementsAre(10e3, 10e3, 10e3, 11e3, 11e3, 11e3));
  EXPECT_THAT(stations.survey.up, testing::Each(7));
  ASSERT_TRUE(stations.survey.grid);
}

/// A magnetic channel of a gravity survey with a dummy in it stopped the job.
TEST(SurveyFromJob, NumbersForNoValueAreRefusedInHeightsAndNotedInOtherColumns) {
  const testing_support::TemporaryFolder folder;
  const auto config = [&](const std::string& keys) {
    const auto file =
        folder.put("stations.csv",
                   "easting [m],northing [m],up [m],raised [m],tmi [nT]\n"
                   "0,0,10,-9999,20\n1,0,11,12,30\n2,0,12,13,-9999\n3,0,13,14,25\n4,0,9,12,25\n");
    return Config::parse("[survey]\nkind = \"list\"\nfile = \"" + file + "\"\n" + keys, "job.toml");
  };
  const auto job = config("");
  EXPECT_THAT(build_survey(job).survey.up, ElementsAre(10, 11, 12, 13, 9));
  EXPECT_THAT(job.notes(), testing::Contains(HasSubstr("raised: -9999")));
  EXPECT_THAT(message([&] { build_survey(config("up_column = \"raised\"")); }),
              AllOf(HasSubstr("job.toml:3: survey.file: raised: -9999 (value 1)"), HasSubstr("Leave such")));
  EXPECT_NO_THROW(build_survey(config("up_column = \"raised\"\nheight = 5")));
}

TEST(SurveyFromJob, NumbersForNoValueInAGeoidAreRefused) {
  const testing_support::TemporaryFolder folder;
  const auto survey = [&](double last) {
    const io::GridData geoid{{26, 27, 28}, {-31, -30}, true, {{"geoid", "m", "", {30, 31, 30, 32, 31, last}}},
                             "",           {}};
    io::write(folder / "geoid.nc", geoid);
    const auto file = folder.put("stations.csv", "longitude,latitude,up [m]\n26.5,-30.5,1000\n");
    return build_survey(
        Config::parse("[mesh]\nprojection = \"EPSG:32735\"\n[survey]\nkind = \"list\"\nfile = \"" + file +
                          "\"\ngeoid = \"" + folder / "geoid.nc" + "\"",
                      "job.toml"));
  };
  EXPECT_NE(survey(33).survey.find("ellipsoidal_height"), nullptr);
  EXPECT_THAT(message([&] { survey(-9999); }), HasSubstr("job.toml:6: survey.geoid: geoid: -9999"));
}

TEST(SurveyFromJob, ListInTheJobKeepsItsOrderAndWindow) {
  const auto stations = build_survey(Config::parse(
      "survey = {kind = \"list\", stations = [[5, 1, 0], [1, 2, 3], [9, 9, 9]], window = [0, 6, 0, 6]}"));
  EXPECT_THAT(stations.survey.easting, ElementsAre(5, 1));
  EXPECT_THAT(stations.survey.up, ElementsAre(0, 3));
}

TEST(SurveyFromJob, ColumnsOfOtherNamesAreAnsweredWithTheKeysToWrite) {
  const testing_support::TemporaryFolder folder;
  const auto refused = [&](const std::string& head, const std::string& more = "") {
    std::ofstream(folder / "s.csv") << head << "\n1,2,3,4\n5,6,7,8\n";
    return message(
        [&] { build_survey(Config::parse("survey = {file = \"" + folder / "s.csv" + "\"" + more + "}")); });
  };
  EXPECT_THAT(
      refused("ID,X,Y,Elev_m"),
      HasSubstr(
          "Write into [survey] easting_column = \"X\", northing_column = \"Y\", up_column = \"Elev_m\", "
          "length_unit = \"m\". Its columns: ID, X, Y, Elev_m."));
  EXPECT_THAT(refused("ID,Lat,Long,g", ", height = 5"),
              HasSubstr("longitude_column = \"Long\", latitude_column = \"Lat\". Its"));
  EXPECT_THAT(refused("ID,East [m],North [m],g"),
              HasSubstr("northing_column = \"North\", height = METRES. Its"));
  EXPECT_THAT(refused("a,b,c,d"), HasSubstr("Name it with survey.easting_column"));
  std::ofstream(folder / "s.csv") << "Easting (m),NORTHING (m),Up [m]\n1,2,3\n";
  EXPECT_THAT(build_survey(Config::parse("survey = {file = \"" + folder / "s.csv" + "\"}")).survey.up,
              ElementsAre(3));
}

TEST(SurveyFromJob, AGridOfAFileStaysOneAndSoDoesItsPartInAWindow) {
  const testing_support::TemporaryFolder folder;
  io::GridData nodes;
  nodes.easting = {0, 10, 30};
  nodes.northing = {5, 6};
  nodes.fields.push_back({"up", "m", "height", {1, 2, 3, 4, 5, 6}});
  io::write(folder / "nodes.nc", nodes);
  const auto made = [&](const std::string& more) {
    return build_survey(Config::parse("survey = {file = \"" + folder / "nodes.nc" + "\"" + more + "}"))
        .survey;
  };
  const auto all = made("");
  ASSERT_TRUE(all.grid);
  EXPECT_THAT(all.grid->easting, ElementsAre(0, 10, 30));
  EXPECT_THAT(all.grid->northing, ElementsAre(5, 6));
  const auto part = made(", window = [5, 40, 0, 9]");
  ASSERT_TRUE(part.grid);
  EXPECT_THAT(part.grid->easting, ElementsAre(10, 30));
  EXPECT_THAT(part.up, ElementsAre(2, 3, 5, 6));
  EXPECT_FALSE(made(", every = 4").grid);  // two nodes that are no grid
}

TEST(SurveyFromJob, HeightAndClearanceExcludeEachOther) {
  EXPECT_THAT(message([] {
                build_survey(Config::parse(
                    "[survey]\nregion = [0, 1, 0, 1]\nshape = [2, 2]\nheight = 1\nclearance = 2"));
              }),
              AllOf(HasSubstr("job.toml:5: survey.clearance"), HasSubstr("Keep one of the two")));
}

TEST(SurveyFromJob, StationsBeyondTheMemoryAreRefusedBeforehand) {
  EXPECT_THAT(
      message([] {
        build_survey(Config::parse("[survey]\nregion = [0, 1, 0, 1]\nspacing = [1e-6, 1e-6]\nheight = 1"),
                     MemoryBudget{1'000'000});
      }),
      AllOf(HasSubstr("job.toml:3: survey.spacing: would need 24 TB"), HasSubstr("1.0 MB available")));
}

TEST(OutputOfJob, AFormatThatCannotHoldFieldsIsRefusedBeforeTheRun) {
  const auto refused = [](const std::string& table) {
    return message([&] { Output::read(Config::parse("[output]\n" + table)); });
  };
  EXPECT_THAT(refused("files = [\"fields.msh\"]"), HasSubstr("holds fields at stations or gathers"));
  EXPECT_THAT(refused("model = [\"model.vts\"]"), HasSubstr("holds a model"));
}

TEST(EarthFromJob, AWindowMayCrossTheSeamOfAGlobalGrid) {
  const testing_support::TemporaryFolder folder;
  io::GridData globe;
  for (int i = 0; i < 36; ++i) globe.easting.push_back(10.0 * i);  // 0 … 350°
  for (int j = -2; j <= 2; ++j) globe.northing.push_back(10.0 * j);
  globe.geographic = true;
  globe.fields.push_back({"elevation", "m", "", {}});
  for (std::size_t n = 0; n < globe.size(); ++n)
    globe.fields[0].values.push_back(static_cast<double>(n % 36));
  io::write(folder / "globe.nc", globe);
  const auto built =
      build_earth(Config::parse("[mesh]\nkind = \"terrain\"\nelevation = \"" + folder / "globe.nc" + "\"\n" +
                                "projection = \"+proj=eqc +units=m\"\nwindow = [-30, 30, -20, 20]\n"
                                "region = [-2000, 2000, -1000, 1000, \"km\"]\nspacing = [500, 500, \"km\"]"),
                  Projection("+proj=eqc +units=m"));
  const auto& prisms = std::get<PrismSet>(built.model.geometry);
  EXPECT_LT(*std::ranges::min_element(prisms.west), -1.5e6);
  EXPECT_GT(*std::ranges::max_element(prisms.east), 1.5e6);
}

TEST(EarthFromJob, GridsWithoutAUnitAreDegreesWhereNothingElseCanBeAndElseRefused) {
  const testing_support::TemporaryFolder folder;
  // 0.01 degrees at 45 north: 1.11 km along northing, 0.79 km along easting.
  const std::string rows = "10 10 10\n10 10 10\n10 10 10\n";
  folder.put("a.asc", "ncols 3\nnrows 3\nxllcenter 9.00\nyllcenter 45.00\ncellsize 0.01\n" + rows);
  folder.put("a.grd", "DSAA\n3 3\n9.00 9.02\n45.00 45.02\n10 10\n" + rows);
  std::string points;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) points += "9.0" + std::to_string(i) + " 45.0" + std::to_string(j) + " 10\n";
  folder.put("a.xyz", points);
  for (const auto* name : {"a.asc", "a.grd", "a.xyz"}) {
    SCOPED_TRACE(name);
    const auto table = "[mesh]\nkind = \"terrain\"\nelevation = \"" + folder / name + "\"\n";
    EXPECT_THAT(message([&] { build_earth(Config::parse(table), {}); }),
                AllOf(HasSubstr("job.toml:3: mesh.elevation"), HasSubstr("in metres or in degrees"),
                      HasSubstr("set mesh.projection"), HasSubstr("--length-unit m")));
    const auto job = Config::parse(table + "projection = \"EPSG:32632\"\n");
    const auto built = build_earth(job, Projection("EPSG:32632"));
    const auto& prisms = std::get<PrismSet>(built.model.geometry);
    EXPECT_GT(prisms.north[0] - prisms.south[0], 500);
    EXPECT_NEAR(std::ranges::min_element(prisms.south)[0], 4.983e6, 2e3);
    EXPECT_THAT(job.notes(), ElementsAre(HasSubstr("is taken for longitudes and latitudes")));
  }
  // A small model in metres: its file says so.
  io::ReadOptions options;
  options.length_unit = "m";
  io::write(folder / "m.nc", io::read(folder / "a.asc", options));
  EXPECT_NO_THROW(build_earth(
      Config::parse("[mesh]\nkind = \"terrain\"\nelevation = \"" + folder / "m.nc" + "\"\n"), {}));
}

TEST(EarthFromJob, DepthsOfAGridAreTurnedUpAndPointsThatFillNoneAreTriangulated) {
  const testing_support::TemporaryFolder folder;
  io::GridData grid;
  grid.easting = grid.northing = {0, 1000};
  grid.fields.push_back({"depth", "km", "", {1, 1, 1, 1}});
  grid.downward = {"depth"};
  io::write(folder / "a.nc", grid);
  const auto table = [&](const char* name) {
    return Config::parse("[mesh]\nkind = \"terrain\"\nelevation = \"" + folder / name + "\"\n");
  };
  const auto built = build_earth(table("a.nc"), {});
  EXPECT_EQ(std::get<PrismSet>(built.model.geometry).bottom[0], -1000);
  folder.put("a.xyz", "0 0 1\n1000 0 2\n0 1000 3\n400 400 5\n");
  const auto scattered = table("a.xyz");
  build_earth(scattered, {});
  EXPECT_THAT(scattered.notes(),
              ElementsAre(HasSubstr("4 scattered points: heights are linear in the triangles")));
  folder.put("b.xyz", "0 0 1\n1000 0 2\n2000 0 3\n");
  EXPECT_THAT(message([&] { build_earth(table("b.xyz"), {}); }), HasSubstr("they lie on one line"));
}

TEST(EarthFromJob, AGridOnAnotherMapThanTheJobIsRefused) {
  const testing_support::TemporaryFolder folder;
  io::GridData grid;
  grid.easting = {500'000, 501'000};
  grid.northing = {7'000'000, 7'001'000};
  grid.fields.push_back({"height", "m", "", {1, 1, 1, 1}});
  grid.projection = "EPSG:32734";
  io::write(folder / "a.nc", grid);
  const auto job = Config::parse("[mesh]\nkind = \"terrain\"\nelevation = \"" + folder / "a.nc" + "\"\n");
  const auto on = [&](const char* map) { return message([&] { build_earth(job, Projection(map)); }); };
  EXPECT_THAT(on("EPSG:32735"), AllOf(HasSubstr("job.toml:3: mesh.elevation"),
                                      HasSubstr("is on the map EPSG:32734, and the job on EPSG:32735")));
  EXPECT_EQ(on("EPSG:32734"), "no error");
  EXPECT_EQ(on("+proj=utm +zone=34 +south +datum=WGS84"), "no error");
  EXPECT_TRUE(job.notes().empty());
  build_earth(job, {});
  EXPECT_THAT(job.notes(), ElementsAre(HasSubstr("which the job does not name")));
}

TEST(OutputOfJob, FilesStartFromTheFolderOfTheJob) {
  const auto output =
      Output::read(Config::parse("output = {folder = \"maps\", files = [\"a.nc\"]}", "job.toml", "jobs"));
  EXPECT_THAT(output.files, ElementsAre("jobs/maps/a.nc"));
  EXPECT_THAT(message([] { Output::read(Config::parse("output = {files = [\"a.nc\", \"a.nc\"]}")); }),
              HasSubstr("\"a.nc\" is written twice"));
}

TEST(MemoryBudget, ReadsAndWritesAmounts) {
  EXPECT_EQ(bytes_from_text("2 GB"), 2'000'000'000U);
  EXPECT_EQ(bytes_from_text("1.5MiB"), 1'572'864U);
  EXPECT_EQ(bytes_text(184e6), "184 MB");
  EXPECT_EQ(bytes_text(1.25e9), "1.2 GB");
  EXPECT_THAT(message([] { bytes_from_text("2 cows"); }), HasSubstr("is not an amount of memory"));
  EXPECT_GT(available_memory(), 1'000'000U);
  EXPECT_GT(peak_memory(), 1'000'000U);
}

TEST(JobLists, OneRowMayStandWithoutBracketsOfItsOwn) {
  const auto rows = [](const std::string& value) {
    return Config::parse("at = " + value).rows("at", Quantity::length, 3);
  };
  const std::vector<std::vector<double>> one{{1000, 0, -20}};
  EXPECT_EQ(rows("[1000, 0, -20]"), one);
  EXPECT_EQ(rows("[[1000, 0, -20]]"), one);
  EXPECT_EQ(rows("[1, 0, -0.02, \"km\"]"), one);
  EXPECT_EQ(rows("[[1, 0, -0.02], \"km\"]"), one);
  EXPECT_THAT(message([&] { rows("[1000, 0]"); }), HasSubstr("a list of 3 numbers is needed"));
}

TEST(JobTemplate, ShowsDefaultsAsCommentsAndExamplesAsKeys) {
  constexpr Key keys[] = {{"kind", "text", "\"grid\"", "Which."},
                          {"height", "length", "none", "Up.", "5"},
                          {"every", "count", "1", "Thin."}};
  const Section sections[] = {{"survey", "", "Stations.", keys}};
  const auto text = job_template(sections, {{"survey", "list"}}, "A job.");
  EXPECT_THAT(text, AllOf(HasSubstr("# A job.\n"), HasSubstr("[survey]\nkind = \"list\""),
                          HasSubstr("\nheight = 5"), HasSubstr("\n# every = 1")));
  EXPECT_NO_THROW(Config::parse(text));
  EXPECT_THAT(job_reference("gravity", "Of prisms.", sections),
              HasSubstr("| `every` | count | `1` | Thin. |"));
}

TEST(JobReference, TablesOfAnArrayHaveTwoBrackets) {
  constexpr Key survey[] = {{"source", "tables", "none", "[[survey.source]]: each a shot."},
                            {"wavelet", "table", "none", "[survey.wavelet]: of all."}};
  constexpr Key keys[] = {{"peak", "number", "1", "Of it."}};
  const Section sections[] = {{"survey", "", "Where.", survey},
                              {"survey.source", "", "A shot.", keys},
                              {"survey.wavelet", "", "A pulse.", keys}};
  const auto text = job_template(sections, {}, "A job.");
  EXPECT_THAT(text, AllOf(HasSubstr("\n[[survey.source]]\n"), HasSubstr("\n[survey.wavelet]\n")));
  EXPECT_NO_THROW(Config::parse(text));
}

TEST(JobReference, EveryDefaultIsTomlThatItsKeyCanHold) {
  for (const auto sections : {earth_sections(), survey_sections()})
    for (const auto& section : sections)
      for (const auto& key : section.keys)
        for (const auto text : {key.fallback, key.example})
          if (!text.empty() && text != "none") {
            EXPECT_NO_THROW(Config::parse("x = " + std::string(text))) << section.path << "." << key.name;
          }
}

}  // namespace
}  // namespace terrane
