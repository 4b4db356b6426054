// Companions of meshes: which faces stay, where walls go, and what cells get.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "terrane/mesh/companion.hpp"

namespace terrane {
namespace {

std::vector<double> even(int cells) {
  std::vector<double> faces;
  for (int n = 0; n <= cells; ++n) faces.push_back(n);
  return faces;
}
bool has(const std::vector<double>& faces, double place) {
  return std::any_of(faces.begin(), faces.end(), [&](double f) { return std::abs(f - place) < 1e-12; });
}
const CompanionWish none_moves{{}, {{{false, false}, {false, false}, {false, false}}}};

TEST(Companions, HaveCellsTwiceAsWideAndKeepFacesWhereRockChanges) {
  const TensorMesh mesh(even(12), even(4), even(4));
  std::vector<double> sigma;
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) sigma.push_back(cell % 12 < 5 ? 0.1 : 0.3);
  const std::vector<double>* rock[] = {&sigma};
  const Companion made(mesh, rock, none_moves);
  EXPECT_TRUE(has(made.mesh().easting(), 5));
  EXPECT_EQ(made.mesh().n_east(), 3U + 4U);  // of five cells three, of seven four
  EXPECT_EQ(made.mesh().northing(), (std::vector<double>{0, 2, 4}));
  const auto values = made.geometric_mean(sigma);
  for (std::size_t cell = 0; cell < values.size(); ++cell)
    EXPECT_EQ(values[cell], cell % 7 < 3 ? 0.1 : 0.3);  // no rock is mixed, and none is rounded
}

TEST(Companions, CoarsenModelsOfCellsToTheirMeans) {
  const TensorMesh mesh(even(8), even(2), even(2));
  std::vector<double> sigma;
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) sigma.push_back(std::exp(double(cell % 8)));
  const std::vector<double>* rock[] = {&sigma};
  const Companion made(mesh, rock, none_moves);
  EXPECT_LE(made.mesh().n_east(), 5U);
  const auto mean = made.mean(sigma);
  double before = 0, after = 0;
  for (std::size_t cell = 0; cell < 8; ++cell) before += 4 * sigma[cell];
  for (std::size_t cell = 0; cell < mean.size(); ++cell) {
    const auto box = made.mesh().prism(cell);
    after += mean[cell] * (box.east - box.west) * (box.north - box.south) * (box.top - box.bottom);
  }
  EXPECT_NEAR(after / before, 1, 1e-14);
}

// More cells than one thread takes at a time; rock changes at the last cell alone.
TEST(Companions, OfManyCellsHaveTheirMeansAndTheFacesAtTheLast) {
  const TensorMesh mesh(even(64), even(64), even(64));
  std::vector<double> rock(mesh.size(), 1.0), values;
  rock.back() = 2;
  double before = 0, after = 0;
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) before += values.emplace_back(cell % 7);
  const std::vector<double>* const all[] = {&rock};
  const Companion made(mesh, all, none_moves);
  for (const auto* faces : {&made.mesh().easting(), &made.mesh().northing(), &made.mesh().up()})
    EXPECT_TRUE(has(*faces, 63));
  const auto mean = made.mean(values);
  for (std::size_t cell = 0; cell < mean.size(); ++cell) {
    const auto box = made.mesh().prism(cell);
    after += mean[cell] * (box.east - box.west) * (box.north - box.south) * (box.top - box.bottom);
  }
  EXPECT_NEAR(after / before, 1, 1e-12);
  EXPECT_EQ(mean.back(), values.back());
}

TEST(Companions, KeepFacesAtElectrodesThatAreTwoCellsApartAndMoveWallsTwiceAsFar) {
  const TensorMesh mesh(even(12), even(12), even(12));
  CompanionWish wish;
  wish.places = {{{3, 5, 7, 9}, {6}, {12}}};
  wish.goes_on[2][1] = false;
  const std::vector<double> alike(mesh.size(), 1.0);
  const std::vector<double>* rock[] = {&alike};
  const Companion made(mesh, rock, wish);
  for (const double place : wish.places[0]) EXPECT_TRUE(has(made.mesh().easting(), place)) << place;
  EXPECT_LE(made.mesh().easting().front(), -3 + 1e-9);
  EXPECT_GE(made.mesh().easting().back(), 15 - 1e-9);
  EXPECT_LE(made.mesh().up().front(), -12 + 1e-9);
  EXPECT_EQ(made.mesh().up().back(), 12);
  EXPECT_EQ(made.mean(alike), std::vector<double>(made.mesh().size(), 1.0));
}

TEST(Companions, KeepCellsBetweenNeighboursAlongAnAxisThatAsksForTwoOfThem) {
  const TensorMesh mesh(even(20), even(12), even(12));
  CompanionWish wish = none_moves;
  wish.places = {{{3, 5, 7, 15}, {6, 8}, {12}}};
  wish.two_between[0] = true;
  const Companion made(mesh, {}, wish);
  for (const double face : {3, 4, 5, 6, 7, 15}) EXPECT_TRUE(has(made.mesh().easting(), face)) << face;
  for (const double face : {8, 10, 12, 14, 16, 18}) EXPECT_FALSE(has(made.mesh().easting(), face)) << face;
  EXPECT_FALSE(has(made.mesh().northing(), 7));
}

TEST(Companions, SquareTheGrowthOfCells) {
  std::vector<double> faces{0};
  for (double width = 1; faces.size() < 14; width *= 1.3) faces.push_back(faces.back() + width);
  const Companion made(TensorMesh(faces, even(2), even(2)), {}, none_moves);
  const auto& wide = made.mesh().easting();
  for (std::size_t n = 2; n + 1 < wide.size(); ++n)
    EXPECT_NEAR((wide[n] - wide[n - 1]) / (wide[n - 1] - wide[n - 2]), 1.69, 0.2) << n;
}

TEST(Companions, HaveTheirOwnCellsAlongAxesThatAreNotToBeCoarser) {
  const TensorMesh mesh(even(8), even(8), even(8));
  auto wish = none_moves;
  wish.coarser = {true, false, true};
  const auto made = Companion(mesh, {}, wish).mesh();
  EXPECT_EQ(made.n_east(), 4U);
  EXPECT_EQ(made.northing(), mesh.northing());
}

TEST(FinerMeshes, KeepFacesWhereRockChangesAndGrowAsSmoothly) {
  std::vector<double> faces{0};
  for (double width = 1; faces.size() < 14; width *= 1.3) faces.push_back(faces.back() + width);
  const TensorMesh mesh(faces, even(12), even(12));
  std::vector<double> sigma;
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) sigma.push_back(cell / 13 % 12 < 5 ? 0.1 : 0.3);
  const std::vector<double>* rock[] = {&sigma};
  const auto made = finer_mesh(mesh, rock, none_moves, {0.5, 0.6, 1.15}, KeptFaces::every_second);
  EXPECT_TRUE(has(made.northing(), 5));
  EXPECT_EQ(made.n_north(), 8U + 12U);  // of five cells 8.3, of seven 11.7
  EXPECT_EQ(made.n_up(), 10U);
  EXPECT_EQ(made.n_east(), 26U);
  EXPECT_EQ(made.easting().back(), faces.back());
  const auto& fine = made.easting();
  for (std::size_t n = 2; n < fine.size(); ++n)
    EXPECT_NEAR((fine[n] - fine[n - 1]) / (fine[n - 1] - fine[n - 2]), std::sqrt(1.3), 0.06) << n;
}

TEST(FinerMeshes, MoveTheirWallsWhereTheseAreWrong) {
  const TensorMesh mesh(even(12), even(12), even(12));
  CompanionWish wish;
  wish.places = {{{3, 9}, {6}, {12}}};
  wish.goes_on[2][1] = false;
  const auto made = finer_mesh(mesh, {}, wish, {1, 1, 1}, KeptFaces::all);
  EXPECT_LE(made.easting().front(), -3 + 1e-9);
  EXPECT_EQ(made.up().back(), 12);
  EXPECT_EQ(finer_mesh(mesh, {}, wish.with_its_walls(), {1, 1, 1}, KeptFaces::all).easting(), mesh.easting());
  const std::vector<double> alike(mesh.size(), 3.0);
  EXPECT_EQ(values_on(made, mesh, alike), std::vector<double>(made.size(), 3.0));
}

TEST(FinerMeshes, HaveTheRockOfCellsThatAllDiffer) {
  const TensorMesh mesh(even(5), even(4), even(3));
  std::vector<double> sigma;
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) sigma.push_back(1 + static_cast<double>(cell));
  const std::vector<double>* rock[] = {&sigma};
  const auto made = finer_mesh(mesh, rock, none_moves, {0.6, 0.6, 1.15}, KeptFaces::all);
  EXPECT_EQ(made.n_east(), 10U);
  EXPECT_EQ(made.n_up(), 3U);
  const auto values = values_on(made, mesh, sigma);
  double before = 0, after = 0;
  for (const double value : sigma) before += value;
  for (std::size_t cell = 0; cell < values.size(); ++cell) {
    const auto box = made.prism(cell);
    after += values[cell] * (box.east - box.west) * (box.north - box.south) * (box.top - box.bottom);
  }
  EXPECT_NEAR(after, before, 1e-12 * before);
}

}  // namespace
}  // namespace terrane
