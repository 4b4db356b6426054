// The convolution on a lattice against the direct sum: the same field to rounding.
#include <gtest/gtest.h>

#include <random>

#include "support/prism_field.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/lattice/lattice.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

PrismList noisy_mesh(unsigned seed, bool gaps) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> density(-500, 500);
  return test::mesh_block({5000, 5000 + 9 * 40, -300, -300 + 7 * 30, -260, -40}, {9, 7, 4},
                          [&](int i, int j, int k) {
                            const double rho = density(random);
                            return gaps && (i * 3 + j * 5 + k * 7) % 4 == 0 ? 0.0 : rho;
                          });
}

/// Stations at (i + across, j + along) · spacing from a corner of the mesh.
StationList grid(double across, double along, double spacing_e, double spacing_n, int ni, int nj, double up) {
  StationList list;
  for (int j = 0; j < nj; ++j)
    for (int i = 0; i < ni; ++i)
      list.add(5000 + (across + i) * spacing_e, -300 + (along + j) * spacing_n, up);
  return list;
}

void expect_as_direct(const PrismList& prisms, const StationList& stations, std::size_t groups) {
  std::string reason;
  auto lattice = recognise_lattice(prisms.view(), stations.view(), reason);
  ASSERT_TRUE(lattice) << reason;
  EXPECT_EQ(lattice->groups.size(), groups);
  LatticeOperator convolve(std::move(*lattice), ChannelSet::all());
  Progress silent;
  const auto sums = convolve.apply(prisms.density, stations.size(), 0, silent);
  const auto truth = test::direct_field(prisms.view(), stations.view(), best_accuracy);
  EXPECT_LT(test::largest_error(sums.values, truth), 2e-14);
}

TEST(Lattice, ServesStationsAtAnyOffsetFromTheCells) {
  expect_as_direct(noisy_mesh(1, false), grid(0.37, 0.21, 40, 30, 9, 7, 35), 1);
}

TEST(Lattice, UsesTheSymmetryOfStationsAtCentresAndCorners) {
  expect_as_direct(noisy_mesh(2, false), grid(0.5, 0.5, 40, 30, 9, 7, 35), 1);
  expect_as_direct(noisy_mesh(2, false), grid(0, 0, 40, 30, 10, 8, 35), 1);
  expect_as_direct(noisy_mesh(2, false), grid(0.5, 0, 40, 30, 9, 8, 35), 1);
}

TEST(Lattice, ServesStationsBeyondTheMeshAndIncompleteGrids) {
  auto stations = grid(-20.25, 6.5, 40, 30, 12, 5, 10);
  StationList some;
  for (std::size_t n = 0; n < stations.size(); n += 3)
    some.add(stations.easting[n], stations.northing[n], stations.up[n]);
  expect_as_direct(noisy_mesh(3, true), some, 1);
}

TEST(Lattice, ServesSeveralHeightsAndFinerGrids) {
  auto stations = grid(0.3, 0.4, 40, 30, 6, 7, 35);
  const auto above = grid(0.3, 0.4, 40, 30, 6, 7, 120);
  for (std::size_t n = 0; n < above.size(); ++n)
    stations.add(above.easting[n], above.northing[n], above.up[n]);
  expect_as_direct(noisy_mesh(4, true), stations, 2);
  expect_as_direct(noisy_mesh(4, true), grid(0.1, 0.2, 20, 10, 17, 20, 35), 6);
}

TEST(Lattice, ServesLayersOfAnyThickness) {
  PrismList list;
  const double up[] = {-500, -300, -120, -100, -95};
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 5; ++j)
      for (int i = 0; i < 6; ++i)
        list.add({i * 33.3, (i + 1) * 33.3, j * 41.7, (j + 1) * 41.7, up[k], up[k + 1]},
                 100.0 + i * 7 - j * 11 + k);
  StationList stations;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 6; ++i) stations.add((i + 0.2) * 33.3, (j + 0.7) * 41.7, 12.5);
  expect_as_direct(list, stations, 1);
}

TEST(Lattice, TreatsStationsInsideAndOnCellsAsTheDirectSum) {
  const auto mesh = noisy_mesh(5, true);
  for (const double up : {-150.0, -95.0, -40.0, -122.7})
    for (const double across : {0.5, 0.0, 0.31}) {
      const auto stations = grid(across, 0.5, 40, 30, 9, 7, up);
      Parameters parameters;
      parameters.channels = ChannelSet::all();
      for (const auto policy : {SingularPolicy::mean, SingularPolicy::outside, SingularPolicy::inside}) {
        parameters.singular = policy;
        parameters.accuracy = 1e-13;
        parameters.method = Method::lattice;
        Report by_lattice, by_direct;
        const auto values = test::field(mesh.view(), stations.view(), parameters, &by_lattice);
        parameters.method = Method::direct;
        const auto truth = test::field(mesh.view(), stations.view(), parameters, &by_direct);
        EXPECT_EQ(by_lattice.method, "lattice");
        EXPECT_EQ(by_lattice.singular_stations, by_direct.singular_stations);
        EXPECT_EQ(by_lattice.inside_stations, by_direct.inside_stations);
        for (std::size_t c = 0; c < values.size(); ++c)
          for (std::size_t n = 0; n < stations.size(); ++n)
            EXPECT_EQ(std::isnan(values[c][n]), std::isnan(truth[c][n]))
                << "channel " << c << " station " << n;
        EXPECT_LT(test::largest_error(values, truth), 1e-12);
      }
    }
}

TEST(Lattice, KeepsItsSpectraForOtherDensities) {
  auto mesh = noisy_mesh(6, false);
  const auto stations = grid(0.37, 0.21, 40, 30, 9, 7, 35);
  std::string reason;
  LatticeOperator convolve(*recognise_lattice(mesh.view(), stations.view(), reason), ChannelSet::all(), true);
  Progress silent;
  convolve.apply(mesh.density, stations.size(), 0, silent);
  std::mt19937 random(8);
  for (auto& rho : mesh.density) rho = std::uniform_real_distribution<double>(0, 900)(random);
  const auto again = convolve.apply(mesh.density, stations.size(), 0, silent);
  const auto truth = test::direct_field(mesh.view(), stations.view(), best_accuracy);
  EXPECT_LT(test::largest_error(again.values, truth), 1e-14);
  EXPECT_THROW(convolve.apply(std::vector<double>(3), stations.size(), 0, silent), ShapeError);
}

TEST(Lattice, HasTheSameBitsForAnyNumberOfThreads) {
  const auto mesh = noisy_mesh(9, false);
  const auto stations = grid(0.37, 0.21, 40, 30, 9, 7, 35);
  std::string reason;
  Progress silent;
  LatticeOperator convolve(*recognise_lattice(mesh.view(), stations.view(), reason), ChannelSet::all());
  const auto one = convolve.apply(mesh.density, stations.size(), 1, silent);
  EXPECT_EQ(convolve.apply(mesh.density, stations.size(), 3, silent).values, one.values);
}

TEST(Lattice, NamesTheFirstPrismThatDoesNotFitOnAnyNumberOfThreads) {
  const auto whole =
      test::mesh_block({0, 500, 0, 400, -200, 0}, {50, 40, 20}, [](int, int, int) { return 1; });
  const auto stations = grid(0.5, 0.5, 10, 10, 9, 7, 35);
  const auto reason_for = [&](std::size_t wider, std::size_t astray, std::size_t twice, int threads) {
    auto mesh = whole;
    if (wider != 0) mesh.east[wider] += 1;
    if (astray != 0) {
      mesh.west[astray] += 0.5;
      mesh.east[astray] += 0.5;
    }
    if (twice != 0) {
      mesh.bottom[twice] = mesh.bottom[twice - 2000];
      mesh.top[twice] = mesh.top[twice - 2000];
    }
    std::string reason = "none";
    recognise_lattice(mesh.view(), stations.view(), reason, threads);
    return reason;
  };
  for (const int threads : {1, 3}) {
    EXPECT_EQ(reason_for(39000, 30000, 20001, threads), "prisms 0 and 39000 have different widths");
    EXPECT_EQ(reason_for(0, 30000, 38001, threads), "prism 30000 is out of step with the mesh of the others");
    EXPECT_EQ(reason_for(0, 39500, 38001, threads), "prism 38001 lies where another is");
    EXPECT_EQ(reason_for(0, 0, 0, threads), "none");
  }
}

TEST(Lattice, SaysWhyThereIsNone) {
  const auto reason_for = [](const PrismList& prisms, const StationList& stations) {
    std::string reason;
    EXPECT_FALSE(recognise_lattice(prisms.view(), stations.view(), reason));
    return reason;
  };
  const auto stations = grid(0.5, 0.5, 40, 30, 9, 7, 35);
  auto mesh = noisy_mesh(1, false);
  mesh.add({0, 55, 0, 30, -10, 0}, 100);
  EXPECT_EQ(reason_for(mesh, stations), "prisms 0 and 252 have different widths");
  mesh = noisy_mesh(1, false);
  mesh.add({5010, 5050, -300, -270, -10, 0}, 100);
  EXPECT_EQ(reason_for(mesh, stations), "prism 252 is out of step with the mesh of the others");
  mesh = noisy_mesh(1, false);
  mesh.add({5000, 5040, -300, -270, -95, -40}, 100);
  EXPECT_EQ(reason_for(mesh, stations), "prism 252 lies where another is");
  std::mt19937 random(1);
  EXPECT_EQ(reason_for(noisy_mesh(1, false), test::random_stations({5000, 5300, -300, 0, 5, 9}, 300, random)),
            "the stations are not in step with the mesh");
}

}  // namespace
}  // namespace terrane::gravity
