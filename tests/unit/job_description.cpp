// An earth described in a job: kinds of rock with laws, surfaces by name, the ground, and meshes that a
// physics plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "support/files.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/mesh_plan.hpp"

namespace terrane {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing_support::message;

constexpr std::string_view of_a_basin = R"([model]
topography = "ground"
[model.air]
resistivity = 1e8
[[model.surface]]
name = "ground"
elevation = 20
[[model.surface]]
name = "floor"
depth = 45
below = "ground"
[[model.unit]]
name = "rock"
velocity_p = 4000
maps = ["density from velocity_p by gardner", "velocity_s from velocity_p by castagna"]
[[model.unit]]
name = "sand"
porosity = 0.2
maps = ["resistivity from porosity by archie with water = 0.4", "velocity_p from porosity by wyllie"]
[model.background]
unit = "rock"
[[model.body]]
kind = "layer"
top = "ground"
bottom = "floor"
unit = "sand"
)";

MeshPlan two_cells(const Description&, const MeshWish& wish) {
  return {TensorMesh({0, 10}, {0, 10}, {-100, -40, wish.cell.value_or(100)}), {"two cells: it is a test"}};
}

Earth earth_of(std::string_view text, const EarthRequest& request = {two_cells}) {
  return build_earth(Config::parse(text, "job.toml"), std::nullopt, {}, request);
}

std::string basin_with(std::string_view old_text, std::string_view new_text) {
  std::string text(of_a_basin);
  return text.replace(text.find(old_text), old_text.size(), new_text);
}

TEST(EarthOfAJob, HasRockByLawsBetweenSurfacesUnderAGround) {
  const auto earth = earth_of(of_a_basin);
  EXPECT_THAT(earth.notes, Contains(HasSubstr("mesh: two cells: it is a test")));
  EXPECT_THAT(earth.notes, Contains(HasSubstr("unit rock: density 2465 kg/m3")));
  EXPECT_THAT(earth.notes, Contains(HasSubstr("Archie (1942)")));
  const double gardner = 310 * std::pow(4000, 0.25);
  EXPECT_NEAR(earth.model.dense("density")[0], gardner, 1e-9);
  EXPECT_NEAR(earth.model.dense("velocity_s")[0], 2640 / 1.16, 1e-9);
  // The upper cell: 15 m of rock below the floor at -25 m, 45 m of sand, 80 m of air; sand says nothing of
  // its density, so that it keeps the background's; of sand 0.4 / 0.2² = 10 ohm m.
  EXPECT_NEAR(earth.model.dense("density")[1], gardner * 60 / 140, 1e-9);
  const auto sand_alone =
      earth_of("[mesh]\nbox = [0, 10, 0, 10, -20, 15]\nshape = [1, 1, 1]\n" + std::string(of_a_basin));
  EXPECT_NEAR(sand_alone.model.dense("resistivity")[0], 10, 1e-9);
  ASSERT_TRUE(earth.ground);
  EXPECT_EQ(earth.ground(3, 4), 20);
  EXPECT_FALSE(earth_of(basin_with("topography = \"ground\"\n[model.air]\nresistivity = 1e8\n", "")).ground);
}

TEST(EarthOfAJob, IsAveragedOnAMeshWhereThatIsAskedFor) {
  const auto mesh = "[mesh]\nbox = [0, 10, 0, 10, -100, 20]\nshape = [1, 1, 1]\n" + std::string(of_a_basin);
  EXPECT_NEAR(earth_of(mesh).model.dense("velocity_p")[0], 4000, 1e-9) << "at its centre";
  auto averages = mesh;
  averages.insert(averages.find("topography"), "transfer = \"average\"\n");
  const double sand = 1 / (0.2 / 1500 + 0.8 / 5500);
  // One density: the mean of 1/v², 75 m of rock and 45 m of sand.
  const double slowness = (75 / (4000. * 4000) + 45 / (sand * sand)) / 120;
  EXPECT_NEAR(earth_of(averages).model.dense("velocity_p")[0], 1 / std::sqrt(slowness), 1e-9);
}

/// What differs by nothing from the reference differs by nothing, and air stays air: laws are for rock, once.
TEST(EarthOfAJob, GivesByLawsWhatRockLacksAndNeitherAirNorContrasts) {
  const std::string earth = R"([mesh]
box = [0, 10, 0, 10, -100, 100]
shape = [1, 1, 2]
[model]
topography = 0
maps = ["density from velocity_p by gardner"]
[model.air]
velocity_p = 340
[model.background]
velocity_p = 4000
density = 2670
)";
  for (const std::string transfer : {"centre", "average"}) {
    auto text = earth;
    text.insert(text.find("topography"), "transfer = \"" + transfer + "\"\n");
    const auto density = earth_of(text, {two_cells, 2670}).model.dense("density");
    EXPECT_EQ(density[0], 0) << transfer;
    EXPECT_EQ(density[1], 0) << transfer;
    text.insert(text.find("velocity_p = 340"), "density = 1.2\n");
    EXPECT_EQ(earth_of(text, {two_cells, 2670}).model.dense("density")[1], 1.2) << transfer;
  }
  auto high = earth;
  high.replace(high.find("topography = 0"), 14, "topography = 500");
  EXPECT_EQ(earth_of(high).model.dense("density")[1], 2670) << "a mesh that lies below the ground";
}

TEST(EarthOfAJob, SaysWhatCannotBe) {
  const auto refusal = [](std::string_view text) { return message([&] { earth_of(text); }); };
  EXPECT_THAT(refusal(basin_with("below = \"ground\"", "elevation = 3")),
              HasSubstr("there is an elevation, too"));
  EXPECT_THAT(refusal(basin_with("name = \"floor\"", "name = \"ground\"")),
              HasSubstr("two surfaces \"ground\""));
  EXPECT_THAT(refusal(basin_with("velocity_p by gardner", "porosity by mixture")),
              HasSubstr("the unit has no porosity"));
  EXPECT_THAT(refusal(basin_with("velocity_p = 4000", "velocity_p = 4000\ndensity = 1")),
              HasSubstr("has a density already"));
  EXPECT_THAT(refusal(basin_with("topography = \"ground\"\n", "")),
              HasSubstr("there is no topography that air is above"));
  EXPECT_THAT(refusal("[mesh]\nkind = \"planned\"\ncells = 3\n" + std::string(of_a_basin)),
              HasSubstr("Did you mean \"cell\"?"));
  EXPECT_THAT(message([] { earth_of(of_a_basin, {}); }), HasSubstr("A job needs a table [mesh]"));
  EXPECT_THAT(message([] { earth_of("[mesh]\nkind = \"planned\"\n" + std::string(of_a_basin), {}); }),
              HasSubstr("this physics plans no mesh"));
}

TEST(EarthOfAJob, RefusesToAddConductivitiesToResistivities) {
  const std::string text = R"(
    mesh = {box = [0, 20, 0, 10, -10, 0], shape = [2, 1, 1]}
    [model]
    overlap = "add"
    [model.background]
    conductivity = 0.1
    [[model.body]]
    kind = "box"
    box = [0, 10, 0, 10, -10, 0]
    resistivity = 100)";
  EXPECT_THAT(message([&] { earth_of(text); }),
              AllOf(HasSubstr("model.overlap: values add, and the model gives conductivity and resistivity"),
                    HasSubstr("replace")));
}

TEST(EarthOfAJob, OnSeveralPlannedMeshesReadsItsFilesOnce) {
  const testing_support::TemporaryFolder folder;
  const std::vector<double> faces{-100, 0, 100};
  io::write(
      folder / "rock.nc",
      io::MeshData{TensorMesh(faces, faces, {-100, 0}), {{"conductivity", "S/m", "", {1, 2, 3, 4}}}, {}});
  const auto job = Config::parse("[model]\nfile = \"rock.nc\"\n", "job.toml", folder / ".");
  const auto request = [&](double cell, bool last) {
    EarthRequest made;
    made.plan = [&, cell, last](const Description&, const MeshWish&) -> MeshPlan {
      if (!last) std::filesystem::remove(folder / "rock.nc");
      return {TensorMesh({0, 10}, {0, 10}, {-cell, 0}), {last ? "second" : "first"}};
    };
    return made;
  };
  std::vector<Earth> earths;
  build_earths(job, std::nullopt, {}, std::array{request(10, false), request(20, true)},
               [&](std::size_t n, Earth earth) {
                 EXPECT_EQ(n, earths.size());
                 earths.push_back(std::move(earth));
               });
  ASSERT_EQ(earths.size(), 2U);
  for (const auto& earth : earths) EXPECT_EQ(earth.model.dense("conductivity"), std::vector<double>{4});
  EXPECT_THAT(earths[0].notes, Contains(HasSubstr("mesh: first")));
  EXPECT_THAT(earths[1].notes, testing::Not(Contains(HasSubstr("mesh: first"))));
}

}  // namespace
}  // namespace terrane
