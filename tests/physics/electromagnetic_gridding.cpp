// Planned meshes by emg3d's words: where cells are small, where faces and walls are, and what is refused.
// That emg3d's own meshes have the same domain, cells and walls is tested in tests/python/test_emg3d.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/refusal.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/electromagnetic/survey/gridding.hpp"

namespace terrane::electromagnetic {
namespace {

/// One frequency in rock of 1 ohm m at the sources and on all ways: cells of 503.292/4 = 125.8 m.
GridRequest sea() {
  GridRequest wanted;
  wanted.frequencies = {1};
  wanted.sources = {{30, 0, -950}};
  wanted.receivers = {{2030, 40, -1000}};
  return wanted;
}
constexpr double skin = 503.292, wave = 2 * std::numbers::pi * skin;

bool has_face(const std::vector<double>& faces, double at) {
  return std::any_of(faces.begin(), faces.end(), [&](double f) { return std::abs(f - at) < 1e-6; });
}
/// The widest cell between two places, and the largest ratio of neighbours there.
struct Cells {
  double least = INFINITY, widest = 0, growth = 1;
};
Cells between(const std::vector<double>& faces, double low, double high) {
  Cells found;
  for (std::size_t n = 0; n + 1 < faces.size(); ++n) {
    if (faces[n] < low - 1e-6 || faces[n + 1] > high + 1e-6) continue;
    const double h = faces[n + 1] - faces[n];
    found.least = std::min(found.least, h);
    found.widest = std::max(found.widest, h);
    if (n > 0 && faces[n - 1] >= low - 1e-6) {
      const double before = faces[n] - faces[n - 1];
      found.growth = std::max({found.growth, h / before, before / h});
    }
  }
  return found;
}

TEST(PlannedMeshes, HaveNumbersOfCellsThatAreAllowedAndReachAsFar) {
  auto wanted = sea();
  wanted.domain = {std::array{-500.0, 3000.0}, std::array{-600.0, 600.0}, std::array{-2200.0, -800.0}};
  for (const double in_domain : {1.0, 1.05}) {
    wanted.growth_in_domain = in_domain;
    wanted.cell_numbers.clear();
    const auto any = plan_mesh(wanted).mesh;
    wanted.cell_numbers = {96, 16, 48, 128, 32, 64, 80, 40};
    const auto plan = plan_mesh(wanted);
    const auto& mesh = plan.mesh;
    const std::vector<double>*some[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()},
          *least[3] = {&any.easting(), &any.northing(), &any.up()};
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t cells = some[a]->size() - 1, needed = least[a]->size() - 1;
      EXPECT_TRUE(std::count(wanted.cell_numbers.begin(), wanted.cell_numbers.end(), cells)) << cells;
      EXPECT_GE(cells, needed);
      for (const std::size_t one : wanted.cell_numbers) EXPECT_FALSE(one >= needed && one < cells) << one;
      EXPECT_LE(some[a]->front(), least[a]->front() + 1e-6);
      EXPECT_GE(some[a]->back(), least[a]->back() - 1e-6);
      const auto all = between(*some[a], -1e9, 1e9), before = between(*least[a], -1e9, 1e9);
      EXPECT_LT(all.growth, 1.001 * before.growth) << a;
      EXPECT_NEAR(all.least, before.least, 0.1 * before.least) << a;
    }
  }
  wanted.cell_numbers = {16, 24};
  const auto said = test::refusal([&] { plan_mesh(wanted); });
  EXPECT_THAT(said, testing::HasSubstr("cell_numbers ends with 24"));
  EXPECT_THAT(said, testing::HasSubstr("lambda_factor"));
}

/// What layers, bodies and sites ask for was planned whatever min_width_limits said.
TEST(PlannedMeshes, KeepTheirSmallestCellsWithinMinWidthLimitsWhateverTheEarthAsksFor) {
  for (const bool plane_waves : {false, true})
    for (const double least : {2.0, 40.0}) {
      auto wanted = sea();
      wanted.plane_waves = plane_waves;
      if (plane_waves) wanted.sources = wanted.receivers;
      wanted.finer[0] = {{2000, 2100, 10, 1.3}};
      wanted.finer[2] = {{-1100, -1000, 5, 1.3}};
      wanted.heights = {-1100, -1000};
      wanted.layers = {{-1100, -1000, 2}};
      wanted.limits = {least, 1.5 * least};
      const auto plan = plan_mesh(wanted);
      const double across = between(plan.mesh.easting(), -1e6, 1e6).least,
                   upright = between(plan.mesh.up(), -1e6, 1e6).least;
      EXPECT_GT(across, 0.7 * least) << plane_waves;
      EXPECT_LE(across, 1.53 * least) << plane_waves;
      EXPECT_GT(upright, 0.5 * 0.7 * least) << plane_waves;
      EXPECT_LE(upright, 0.5 * 1.53 * least) << plane_waves;
      EXPECT_THAT(plan.reasons, testing::Contains(testing::HasSubstr("min_width_limits"))) << plane_waves;
    }
}

TEST(PlannedMeshes, HaveEvenCellsInADomainAndWallsAWavelengthFromIt) {
  auto wanted = sea();
  wanted.domain = {std::array{-500.0, 3000.0}, std::array{-600.0, 600.0}, std::array{-2200.0, -800.0}};
  const auto plan = plan_mesh(wanted);
  const std::vector<double>* faces[3] = {&plan.mesh.easting(), &plan.mesh.northing(), &plan.mesh.up()};
  for (std::size_t a = 0; a < 3; ++a) {
    const auto [low, high] = *wanted.domain[a];
    EXPECT_NEAR(faces[a]->front(), low - wave, 1e-6) << a;
    EXPECT_NEAR(faces[a]->back(), high + wave, 1e-6) << a;
    const auto cells = between(*faces[a], low, high);
    EXPECT_LT(cells.growth, 1.0001) << a;
    EXPECT_NEAR(cells.widest, skin / (a == 2 ? 8 : 4), 0.07 * cells.widest) << a;
    EXPECT_LT(between(*faces[a], -1e9, 1e9).growth, 1.45) << a;
  }
}

TEST(PlannedMeshes, HaveTheirSmallestCellsAtTheCenterAndGrowInTheDomainWhereThatIsAskedFor) {
  auto wanted = sea();
  wanted.domain = {std::array{-3000.0, 3000.0}, std::array{-3000.0, 3000.0}, std::array{-2200.0, -800.0}};
  const auto even = plan_mesh(wanted);
  wanted.center = {{100, 50, -950}};
  wanted.growth_in_domain = 1.1;
  for (const bool on_face : {true, false}) {
    wanted.center_on_face = on_face;
    const auto plan = plan_mesh(wanted);
    EXPECT_LT(plan.mesh.size(), even.mesh.size() / 2);
    const auto& f = plan.mesh.easting();
    EXPECT_EQ(has_face(f, 100), on_face);
    if (!on_face) {
      EXPECT_TRUE(has_face(f, 100 - skin / 8));
      EXPECT_TRUE(has_face(f, 100 + skin / 8));
    }
    const auto cells = between(f, -3000, 3000);
    EXPECT_NEAR(cells.least, skin / 4, 0.2 * cells.least);
    EXPECT_GT(cells.widest, 2 * cells.least);
    EXPECT_LT(cells.growth, 1.2);
  }
}

TEST(PlannedMeshes, AscendWhereTheCenterLiesOutsideTheDomain) {
  for (const double east : {-3000.0, -1250.0, 6000.0}) {
    auto wanted = sea();
    wanted.domain[0] = std::array{0.0, 3000.0};
    wanted.growth_in_domain = 1.1;
    wanted.center = {{east, 0, -950}};
    const auto faces = plan_mesh(wanted).mesh.easting();  // which a mesh checks, too
    EXPECT_LE(faces.front(), 0) << east;
    EXPECT_GE(faces.back(), 3000) << east;
  }
}

TEST(PlannedMeshes, KeepGivenFacesAndGoOnBeyondThem) {
  auto wanted = sea();
  wanted.faces[2] = {-2100, -2000, -1500, -1200, -1000, -900, -800};
  wanted.domain[2] = std::array{-2300.0, -850.0};
  const auto plan = plan_mesh(wanted);
  const auto& f = plan.mesh.up();
  for (const double face : wanted.faces[2]) EXPECT_TRUE(has_face(f, face)) << face;
  EXPECT_TRUE(has_face(f, -2200));  // with the width of the last, as growth in the domain is one
  EXPECT_TRUE(has_face(f, -2300));
  EXPECT_EQ(std::count_if(f.begin(), f.end(), [](double x) { return x > -2150 && x < -750; }), 7);
  EXPECT_NEAR(f.front(), -2300 - wave, 1e-6);
  EXPECT_NEAR(f.back(), -850 + wave, 1e-6);
  EXPECT_TRUE(std::is_sorted(f.begin(), f.end(), std::less_equal<>()));
}

TEST(PlannedMeshes, HaveAFaceAtTheSeaSurfaceUpToWhichTheDomainReaches) {
  auto wanted = sea();
  wanted.domain[2] = std::array{-1200.0, -800.0};
  wanted.sea_surface = 0.0;
  const auto plan = plan_mesh(wanted);
  EXPECT_TRUE(has_face(plan.mesh.up(), 0));
  EXPECT_LT(between(plan.mesh.up(), -1200, 0).growth, 1.0001);
  EXPECT_NEAR(plan.mesh.up().back(), wave, 1e-6);
}

TEST(PlannedMeshes, HaveWallsBySideAndTwoWavelengthsOfWayFromTheCenter) {
  auto wanted = sea();
  wanted.domain = {std::array{-500.0, 3000.0}, std::array{-600.0, 600.0}, std::array{-2200.0, -800.0}};
  wanted.beyond = {1, 0.25, 1, 1, 4, 1e-8};
  const auto plan = plan_mesh(wanted);
  EXPECT_NEAR(plan.mesh.easting().back(), 3000 + 2 * wave, 1e-6);
  EXPECT_NEAR(plan.mesh.up().front(), -2200 - wave / 2, 1e-6);
  EXPECT_NEAR(plan.mesh.up().back(), -800 + 1e5, 1e-6);  // no farther

  wanted.beyond = {};
  wanted.center = {{0, 0, -950}};
  wanted.wavelengths_of_way = true;
  const auto near = plan_mesh(wanted);
  EXPECT_NEAR(near.mesh.easting().front(), -500 - (wave - 250), 1e-6);
  EXPECT_NEAR(near.mesh.easting().back(), 3000 + (wave - 1500), 1e-6);
}

TEST(PlannedMeshes, AreRefusedWhereNoMeshIsMeant) {
  const auto refused = [](const auto& spoil) {
    auto wanted = sea();
    spoil(wanted);
    return test::refusal([&] { plan_mesh(wanted); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(refused([](GridRequest& r) { r.domain[1] = std::array{5.0, -5.0}; }), HasSubstr("along north"));
  EXPECT_THAT(refused([](GridRequest& r) { r.faces[0] = {0, 100}; }), HasSubstr("fewer than three"));
  EXPECT_THAT(refused([](GridRequest& r) { r.faces[2] = {0, 100, 100}; }), HasSubstr("do not ascend"));
  EXPECT_THAT(refused([](GridRequest& r) { r.growth_in_domain = 1.4; }), HasSubstr("in the domain"));
  EXPECT_THAT(refused([](GridRequest& r) {
                r.center = {{0, 0, 10}};
                r.sea_surface = 0.0;
              }),
              HasSubstr("not above the center"));
}

}  // namespace
}  // namespace terrane::electromagnetic
