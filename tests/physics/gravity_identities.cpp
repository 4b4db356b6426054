// What the field of any body obeys, held by forward() with its packed kernels: Laplace and Poisson, symmetry,
// superposition, translation, the derivatives of V, and the limits every textbook has.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "support/quad_field.hpp"
#include "support/worse.hpp"
#include "terrane/base/constants.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

constexpr double G = default_gravitational_constant;

Parameters best(ChannelSet channels = ChannelSet::all()) {
  Parameters p;
  p.channels = channels;
  p.accuracy = best_accuracy;
  p.method = Method::direct;
  return p;
}

FieldTable field(const PrismList& prisms, const StationList& stations,
                 ChannelSet channels = ChannelSet::all()) {
  return test::field(prisms.view(), stations.view(), best(channels));
}

/// 6 × 5 × 4 cells of random density; faces at multiples of 10 m.
PrismList random_block(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> density(-500, 2500);
  return test::mesh_block({0, 60, 0, 50, -40, 0}, {6, 5, 4}, [&](int, int, int) { return density(random); });
}

/// Stations in and about the block: at random, and in line with faces and edges but not on them.
StationList stations_outside(unsigned seed) {
  std::mt19937 random(seed);
  StationList list = test::random_stations({-50, 110, -50, 100, 0.01, 90}, 60, random);
  for (double x : {-30.0, 0.0, 10.0, 25.0, 60.0, 120.0})
    for (double y : {-20.0, 0.0, 20.0, 33.0, 50.0})
      for (double z : {0.5, 10.0, 40.0, 500.0}) list.add(x, y, z);
  for (double y : {0.0, 10.0, 25.0, 50.0})  // beside it: in the planes of faces, on extensions of edges
    for (double z : {0.0, -10.0, -25.0, -40.0}) {
      list.add(-7, y, z);
      list.add(60.25, y, z);
      list.add(400, y, z);
    }
  return list;
}

double largest_norm(const FieldTable& all, std::size_t first, std::size_t last) {
  double largest = 0;
  for (std::size_t n = 0; n < all[0].size(); ++n) {
    double sum = 0;
    for (std::size_t c = first; c < last; ++c) sum += all[c][n] * all[c][n];
    if (std::isfinite(sum)) largest = std::max(largest, std::sqrt(sum));
  }
  return largest;
}

TEST(PrismGravity, TraceOfTheGradientVanishesOutsideAndIsMinusFourPiGRhoInside) {
  const auto block = random_block(1);
  auto stations = stations_outside(2);
  const std::size_t outside = stations.size();
  std::vector<double> density;  // inside: the middle of each cell, and a place in line with no symmetry
  for (std::size_t n = 0; n < block.size(); ++n)
    for (double f : {0.5, 0.137}) {
      stations.add(block.west[n] + 10 * f, block.south[n] + 7 * f, block.bottom[n] + 9 * f);
      density.push_back(block.density[n]);
    }
  // Each diagonal element by itself: with others it may come from the other two.
  const auto ee = field(block, stations, {Channel::g_ee}), nn = field(block, stations, {Channel::g_nn}),
             uu = field(block, stations, {Channel::g_uu});
  for (std::size_t n = 0; n < stations.size(); ++n) {
    const double truth = n < outside ? 0.0 : -4 * pi * G * density[n - outside];
    const double size = 4 * pi * G * 2500;
    EXPECT_NEAR(ee[0][n] + nn[0][n] + uu[0][n], truth, 2e-14 * size)
        << stations.easting[n] << " " << stations.northing[n] << " " << stations.up[n];
  }
}

TEST(PrismGravity, EachChannelAloneIsWhatItIsAmongAllTen) {
  const auto block = random_block(3);
  auto stations = stations_outside(4);
  for (std::size_t n = 0; n < block.size(); n += 7) stations.add(block.west[n] + 3, block.south[n] + 4, -17);
  const auto all = field(block, stations);
  const auto channels = ChannelSet::all().list();
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const auto alone = field(block, stations, {channels[c]});
    const std::size_t first = c == 0 ? 0 : c < 4 ? 1 : 4, last = c == 0 ? 1 : c < 4 ? 4 : 10;
    const double size = largest_norm(all, first, last);
    for (std::size_t n = 0; n < stations.size(); ++n)
      EXPECT_NEAR(alone[0][n], all[c][n], 1e-14 * size) << name(channels[c]) << " at station " << n;
  }
  for (ChannelSet some : {vector_channels, tensor_channels, ChannelSet{Channel::potential, Channel::g_u},
                          ChannelSet{Channel::g_e, Channel::g_nu}}) {
    const auto together = field(block, stations, some);
    std::size_t at = 0;
    for (auto channel : some.list()) {
      const auto c = static_cast<std::size_t>(channel);
      const double size = largest_norm(all, c == 0 ? 0 : c < 4 ? 1 : 4, c == 0 ? 1 : c < 4 ? 4 : 10);
      for (std::size_t n = 0; n < stations.size(); ++n) EXPECT_NEAR(together[at][n], all[c][n], 1e-14 * size);
      ++at;
    }
  }
}

TEST(PrismGravity, AMirroredBodyHasAMirroredField) {
  const auto block = random_block(5);
  const auto stations = stations_outside(6);
  const auto plain = field(block, stations);
  constexpr int flips[3][4] = {{1, 7, 8, -1}, {2, 7, 9, -1}, {3, 8, 9, -1}};  // odd in easting, northing, up
  for (int axis = 0; axis < 3; ++axis) {
    auto mirrored = block;
    auto places = stations;
    std::vector<double>* const low[3] = {&mirrored.west, &mirrored.south, &mirrored.bottom};
    std::vector<double>* const high[3] = {&mirrored.east, &mirrored.north, &mirrored.top};
    std::vector<double>* const at[3] = {&places.easting, &places.northing, &places.up};
    std::swap(*low[axis], *high[axis]);
    for (auto* column : {low[axis], high[axis], at[axis]})
      for (double& x : *column) x = -x;
    auto field_there = field(mirrored, places);
    for (int c : flips[axis])
      if (c >= 0)
        for (double& value : field_there[static_cast<std::size_t>(c)]) value = -value;
    EXPECT_LT(test::largest_error(field_there, plain), 5e-15) << "axis " << axis;
  }
}

TEST(PrismGravity, AxesOfABodyCanBeExchanged) {
  const auto block = random_block(7);
  const auto stations = stations_outside(8);
  const auto plain = field(block, stations);
  auto turned = block;  // easting → northing → up → easting
  turned.south = block.west, turned.north = block.east;
  turned.bottom = block.south, turned.top = block.north;
  turned.west = block.bottom, turned.east = block.top;
  StationList places;
  places.northing = stations.easting, places.up = stations.northing, places.easting = stations.up;
  const auto there = field(turned, places);
  constexpr std::size_t from[10] = {0, 2, 3, 1, 5, 6, 4, 9, 7, 8};
  FieldTable back(10);
  for (std::size_t c = 0; c < 10; ++c) back[c] = there[from[c]];
  EXPECT_LT(test::largest_error(back, plain), 5e-15);
}

TEST(PrismGravity, APrismIsTheSumOfItsPartsEvenWhereTheyMeet) {
  const Prism whole{-20, 44, 3, 51, -30, -2};
  const double cut[3] = {7, 30, -11};
  PrismList one, parts;
  one.add(whole, 730);
  for (int o = 0; o < 8; ++o)
    parts.add({o & 1 ? cut[0] : whole.west, o & 1 ? whole.east : cut[0], o & 2 ? cut[1] : whole.south,
               o & 2 ? whole.north : cut[1], o & 4 ? cut[2] : whole.bottom, o & 4 ? whole.top : cut[2]},
              730);
  StationList stations;
  std::mt19937 random(9);
  stations = test::random_stations({-60, 90, -40, 90, -60, 40}, 100, random);
  // On the inner corner, the inner edges and the inner faces, and where their planes go on outside.
  stations.add(cut[0], cut[1], cut[2]);
  for (double f : {-11.0, 3.0, 80.0}) {
    stations.add(cut[0], cut[1], f - 4);
    stations.add(cut[0], f + 2, cut[2]);
    stations.add(f, cut[1], cut[2]);
    stations.add(cut[0], f + 1, f);
    stations.add(f, cut[1], f + 1);
    stations.add(f, f + 5, cut[2]);
  }
  // Singular nowhere: no station lies on the surface of the whole.
  auto parameters = best();
  parameters.singular = SingularPolicy::nan;
  Report report;
  const auto sum = test::field(parts.view(), stations.view(), parameters, &report);
  EXPECT_EQ(report.singular_stations, 0U);
  const auto truth = field(one, stations);
  for (std::size_t c = 0; c < 10; ++c)
    for (std::size_t n = 0; n < stations.size(); ++n) ASSERT_TRUE(std::isfinite(sum[c][n])) << c << " " << n;
  EXPECT_LT(test::largest_error(sum, truth), 1e-14);
}

TEST(PrismGravity, FieldsOfBodiesAdd) {
  const auto a = random_block(10);
  auto b = random_block(11), both = a;
  for (auto* column : {&b.west, &b.east})
    for (double& x : *column) x += 23.5;
  for (std::size_t n = 0; n < b.size(); ++n)
    both.add({b.west[n], b.east[n], b.south[n], b.north[n], b.bottom[n], b.top[n]}, b.density[n]);
  const auto stations = stations_outside(12);
  auto sum = field(a, stations);
  const auto other = field(b, stations);
  for (std::size_t c = 0; c < 10; ++c)
    for (std::size_t n = 0; n < stations.size(); ++n) sum[c][n] += other[c][n];
  EXPECT_LT(test::largest_error(sum, field(both, stations)), 5e-15);
}

TEST(PrismGravity, CoordinatesOfAnyOffsetLoseNothing) {
  const auto block = random_block(13);
  const auto stations = stations_outside(14);  // random ones rounded to 1/1024 m: exact at any offset below
  StationList rounded;
  for (std::size_t n = 0; n < stations.size(); ++n)
    rounded.add(std::round(stations.easting[n] * 1024) / 1024, std::round(stations.northing[n] * 1024) / 1024,
                std::round(stations.up[n] * 1024) / 1024);
  const auto at_home = field(block, rounded);
  for (const auto& offset :
       {std::array{500000.0, 4649776.5, 1234.25}, std::array{-6378137.0, 6356752.25, -6371008.75}}) {
    auto prisms = block;
    auto places = rounded;
    std::vector<double>* const columns[9] = {&prisms.west,   &prisms.east,  &places.easting,
                                             &prisms.south,  &prisms.north, &places.northing,
                                             &prisms.bottom, &prisms.top,   &places.up};
    for (std::size_t i = 0; i < 9; ++i)
      for (double& x : *columns[i]) x += offset[i / 3];
    const auto there = field(prisms, places);
    for (std::size_t c = 0; c < 10; ++c)
      EXPECT_EQ(std::memcmp(there[c].data(), at_home[c].data(), at_home[c].size() * sizeof(double)), 0)
          << "channel " << c << ", offset " << offset[0];
  }
}

TEST(PrismGravity, GravityIsTheGradientOfThePotentialAndItsGradientTheTensor) {
  const auto block = random_block(15);
  std::mt19937 random(16);
  auto centres = test::random_stations({-60, 120, -60, 110, 20, 90}, 12, random);
  for (int n = 0; n < 6; ++n) centres.add(5 + 10 * n, 25, -15);  // inside
  const double h = 0.6;
  // Sixth-order central difference.
  constexpr double weight[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
  const auto values = field(block, centres);
  FieldTable slope[3];
  for (int axis = 0; axis < 3; ++axis) {
    slope[axis].assign(10, std::vector<double>(centres.size()));
    for (int k = 1; k <= 3; ++k)
      for (int side : {-1, 1}) {
        auto moved = centres;
        for (double& x : axis == 0 ? moved.easting : axis == 1 ? moved.northing : moved.up) x += side * k * h;
        const auto there = field(block, moved);
        for (std::size_t c = 0; c < 10; ++c)
          for (std::size_t n = 0; n < centres.size(); ++n)
            slope[axis][c][n] += side * weight[k - 1] / h * there[c][n];
      }
  }
  constexpr std::size_t tensor[3][3] = {{4, 7, 8}, {7, 5, 9}, {8, 9, 6}};
  const double g_size = largest_norm(values, 1, 4), gradient_size = largest_norm(values, 4, 10);
  for (std::size_t n = 0; n < centres.size(); ++n)
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(slope[i][0][n], values[1 + i][n], 1e-7 * g_size);
      for (std::size_t j = 0; j < 3; ++j)
        EXPECT_NEAR(slope[j][1 + i][n], values[tensor[i][j]][n], 1e-6 * gradient_size);
    }
}

TEST(PrismGravity, AWidePlatePullsAsTheBouguerSlab) {
  const double thickness = 200, rho = 2670;
  for (double half : {1e5, 2e5, 4e5, 1e6}) {
    PrismList plate;
    plate.add({-half, half, -half, half, -thickness, 0}, rho);
    StationList stations;
    stations.add(0, 0, 1);
    const double g_u = field(plate, stations, {Channel::g_u})[0][0];
    // What is missing is the plate's edge: a square sheet is seen under 4 arcsin[a²/(a²+z²)] ≈ 2π − 4√2 z/a.
    const double missing = (2 * pi * G * rho * thickness + g_u) / (G * rho * thickness);
    EXPECT_NEAR(missing, 4 * std::sqrt(2.0) * (1 + thickness / 2) / half, 1e-3 * missing) << half;
  }
}

TEST(PrismGravity, ABallOfCellsConvergesToTheSphereInSecondOrder) {
  const double radius = 100, rho = 300;
  StationList stations;
  stations.add(0, 0, 150);
  stations.add(90, 80, 70);
  stations.add(-130, 10, -40);
  stations.add(500, 300, 100);
  const auto error = [&](int cells) {
    // Cells take the share of them that lies in the sphere.
    const int fine = 8;
    const double side = 2 * radius / cells, step = side / fine;
    const auto ball = test::mesh_block({-radius, radius, -radius, radius, -radius, radius},
                                       {cells, cells, cells}, [&](int i, int j, int k) {
                                         int inside = 0;
                                         for (int a = 0; a < fine; ++a)
                                           for (int b = 0; b < fine; ++b)
                                             for (int c = 0; c < fine; ++c) {
                                               const double x = -radius + i * side + (a + 0.5) * step,
                                                            y = -radius + j * side + (b + 0.5) * step,
                                                            z = -radius + k * side + (c + 0.5) * step;
                                               inside += x * x + y * y + z * z < radius * radius;
                                             }
                                         return rho * inside / (fine * fine * fine);
                                       });
    const auto values = field(ball, stations);
    double worst = 0;
    for (std::size_t n = 0; n < stations.size(); ++n) {
      const double at[3] = {stations.easting[n], stations.northing[n], stations.up[n]};
      const double d = std::hypot(at[0], at[1], at[2]);
      const double pull = G * rho * 4 / 3 * pi * radius * radius * radius / (d * d);
      for (std::size_t i = 0; i < 3; ++i)
        worst = worse(worst, std::fabs(values[1 + i][n] + pull * at[i] / d) / pull);
      for (std::size_t i = 0; i < 3; ++i)
        worst = worse(
            worst, std::fabs(values[4 + i][n] - pull / d * (3 * at[i] * at[i] / (d * d) - 1)) / (pull / d));
    }
    return worst;
  };
  const double coarse = error(6), middle = error(12), fine = error(24);
  EXPECT_LT(fine, 1e-3);
  EXPECT_GT(std::log2(coarse / middle), 1.5) << coarse << " " << middle;
  EXPECT_GT(std::log2(middle / fine), 1.5) << middle << " " << fine;
}

TEST(PrismGravity, FluxThroughAClosedSurfaceIsMinusFourPiGTimesTheMassWithin) {
  auto block = random_block(17);
  double mass = 0;
  for (std::size_t n = 0; n < block.size(); ++n) mass += 1000 * block.density[n];
  block.add({500, 530, -20, 40, -80, -10}, 1e5);  // outside the surface: adds nothing
  // Gauss–Legendre, 8 points on each of 8 panels.
  constexpr double node[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  constexpr double weight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                0.1012285362903763};
  const double low[3] = {-40, -45, -75}, high[3] = {95, 105, 50};
  std::vector<double> at[3], share[3];
  for (int axis = 0; axis < 3; ++axis)
    for (int panel = 0; panel < 8; ++panel)
      for (int q = -4; q < 4; ++q) {
        const int i = q < 0 ? -q - 1 : q;
        const double half = (high[axis] - low[axis]) / 16;
        at[axis].push_back(low[axis] + half * (2 * panel + 1 + (q < 0 ? -node[i] : node[i])));
        share[axis].push_back(half * weight[i]);
      }
  double flux = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (int side : {-1, 1}) {
      StationList face;
      std::vector<double> area;
      for (std::size_t i = 0; i < at[b].size(); ++i)
        for (std::size_t j = 0; j < at[c].size(); ++j) {
          double p[3];
          p[axis] = side < 0 ? low[axis] : high[axis];
          p[b] = at[b][i];
          p[c] = at[c][j];
          face.add(p[0], p[1], p[2]);
          area.push_back(share[b][i] * share[c][j]);
        }
      const auto g = field(block, face, {static_cast<Channel>(1 + axis)});
      for (std::size_t n = 0; n < area.size(); ++n) flux += side * area[n] * g[0][n];
    }
  }
  EXPECT_NEAR(flux, -4 * pi * G * mass, 1e-9 * 4 * pi * G * mass);
}

TEST(PrismGravity, TwoBodiesPullEachOtherAlike) {
  const std::array<double, 6> box[2] = {{-30, 20, -10, 30, -60, -25}, {45, 60, -40, 55, -30, 10}};
  const double density[2] = {2670, -400};
  // The pull of one on the other, by Gauss-Legendre with 8 points on each of 2 panels along each axis.
  constexpr double node[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  constexpr double weight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                0.1012285362903763};
  double pull[2][3] = {}, energy[2] = {};
  for (int body : {0, 1}) {
    PrismList one;
    one.add({box[body][0], box[body][1], box[body][2], box[body][3], box[body][4], box[body][5]},
            density[body]);
    const auto& other = box[1 - body];
    std::vector<double> at[3], share[3];
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (int panel = 0; panel < 2; ++panel)
        for (int q = -4; q < 4; ++q) {
          const int i = q < 0 ? -q - 1 : q;
          const double half = (other[2 * axis + 1] - other[2 * axis]) / 4;
          at[axis].push_back(other[2 * axis] + half * (2 * panel + 1 + (q < 0 ? -node[i] : node[i])));
          share[axis].push_back(half * weight[i]);
        }
    StationList inside;
    std::vector<double> mass;
    for (std::size_t i = 0; i < at[0].size(); ++i)
      for (std::size_t j = 0; j < at[1].size(); ++j)
        for (std::size_t k = 0; k < at[2].size(); ++k) {
          inside.add(at[0][i], at[1][j], at[2][k]);
          mass.push_back(density[1 - body] * share[0][i] * share[1][j] * share[2][k]);
        }
    const auto f = field(one, inside);
    for (std::size_t n = 0; n < mass.size(); ++n) {
      energy[body] += mass[n] * f[0][n];
      for (int axis = 0; axis < 3; ++axis)
        pull[body][axis] += mass[n] * f[static_cast<std::size_t>(1 + axis)][n];
    }
  }
  const double size = std::hypot(pull[0][0], pull[0][1], pull[0][2]);
  ASSERT_GT(size, 0);
  EXPECT_NEAR(energy[0], energy[1], 1e-9 * std::abs(energy[0]));
  for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(pull[0][axis], -pull[1][axis], 1e-9 * size);
}

TEST(PrismGravity, FarAwayABodyIsAPointOfItsMass) {
  PrismList one;
  one.add({-3, 5, -2, 2, -1, 4}, 2670);
  const double mass = 8 * 4 * 5 * 2670.0, centre[3] = {1, 0, 1.5};
  StationList stations;
  for (double d : {1e5, 1e7, 1e9}) stations.add(centre[0] + 0.6 * d, centre[1], centre[2] - 0.8 * d);
  const auto f = field(one, stations);
  for (std::size_t n = 0; n < stations.size(); ++n) {
    const double x = stations.easting[n] - centre[0], z = stations.up[n] - centre[2], d = std::hypot(x, z);
    const double size = 8 / d, tolerance = size * size + 4e-15;  // the quadrupole
    EXPECT_NEAR(f[0][n] / (G * mass / d), 1, tolerance);
    EXPECT_NEAR(std::hypot(f[1][n], f[2][n], f[3][n]) / (G * mass / (d * d)), 1, tolerance);
    EXPECT_NEAR(f[1][n] / (-G * mass * x / (d * d * d)), 1, 10 * tolerance);
    EXPECT_NEAR(f[8][n] / (3 * G * mass * x * z / std::pow(d, 5)), 1, 20 * tolerance);
  }
}

TEST(PrismGravity, AlignedStationsOnALatticeAgreeWithQuadruplePrecision) {
  const auto block = random_block(18);
  StationList stations;
  for (double x : {-10.0, 0.0, 10.0, 30.0, 60.0, 80.0})
    for (double y : {0.0, 20.0, 50.0})
      for (double z : {-40.0, -20.0, 0.0, 10.0}) stations.add(x, y, z);
  const auto truth = test::quad_table(block, stations);
  const auto values = field(block, stations);
  // V and g are regular at every node; the tensor of random densities is not on the block's own nodes.
  const double v_size = largest_norm(truth, 0, 1), g_size = largest_norm(truth, 1, 4);
  for (std::size_t n = 0; n < stations.size(); ++n) {
    EXPECT_NEAR(values[0][n], truth[0][n], 5e-15 * v_size);
    for (std::size_t c = 1; c < 4; ++c) EXPECT_NEAR(values[c][n], truth[c][n], 5e-15 * g_size);
  }
  auto regular = truth;
  std::size_t counted = 0;
  const auto [west, east] = std::pair{std::ranges::min(block.west), std::ranges::max(block.east)};
  const auto [south, north] = std::pair{std::ranges::min(block.south), std::ranges::max(block.north)};
  const auto [bottom, top] = std::pair{std::ranges::min(block.bottom), std::ranges::max(block.top)};
  for (std::size_t n = 0; n < stations.size(); ++n) {
    const double x = stations.easting[n], y = stations.northing[n], z = stations.up[n];
    if (x >= west && x <= east && y >= south && y <= north && z >= bottom && z <= top)
      for (std::size_t c = 4; c < 10; ++c) regular[c][n] = NAN;
    else ++counted;
  }
  EXPECT_GE(counted, 20u);
  EXPECT_LT(test::largest_error(values, regular), 1e-14);
}

TEST(PrismGravity, TheEnsembleOfTheReferenceKeepsBest) {
  const auto rows = test::ensemble();
  const auto values = field(rows.prisms, rows.stations);
  // Against the file, and against quadruple precision computed now, which must agree with the file.
  EXPECT_LT(test::largest_error(values, rows.field), 2e-15);
  EXPECT_LT(test::largest_error(test::quad_table(rows.prisms, rows.stations), rows.field), 1e-15);
}

}  // namespace
}  // namespace terrane::gravity
