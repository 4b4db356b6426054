// Elements with curved sides, and the chunk of the sphere that is made of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>
#include <numeric>

#include "support/elastic_meshes.hpp"
#include "support/elastic_whole.hpp"
#include "support/files.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/elastic/march/march.hpp"
#include "terrane/physics/elastic/mesh/chunk.hpp"
#include "terrane/physics/elastic/mesh/numbering.hpp"
#include "terrane/physics/elastic/simulation.hpp"

namespace terrane::elastic {
namespace {

using std::numbers::pi;
using testing::HasSubstr;
using testing_support::message;

/// Cubes whose 27 nodes are all moved by one smooth motion, so that neighbours still meet.
Mesh bent_cubes(std::array<std::size_t, 3> shape, const Medium& rock) {
  auto mesh = test::cubes(shape, 1, rock);
  const auto moved = [](const Vector& x) {
    return Vector{x[0] + 0.08 * std::sin(1.3 * x[1] + 0.4 * x[2]), x[1] + 0.07 * std::sin(1.7 * x[2] + x[0]),
                  x[2] + 0.09 * std::sin(1.1 * x[0] - 0.8 * x[1])};
  };
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const auto straight = mesh.element(n);
    mesh.curves.emplace_back();
    for (int k = 0; k < 27; ++k)
      mesh.curves[n][static_cast<std::size_t>(k)] = moved(straight.at(of_27_points(k)));
  }
  for (std::uint32_t n = 0; n < mesh.size(); ++n) mesh.curve.push_back(n);
  for (auto& node : mesh.nodes) node = moved(node);
  return mesh;
}

TEST(CurvedElements, HaveTheForcesOfTheSlowTwinOnAllDevices) {
  for (const auto precision : {Precision::double_precision, Precision::single_precision})
    for (const int degree : {4, 5}) {
      auto mesh = bent_cubes({3, 2, 2}, Medium::from_speeds(1.8, 1, 2));
      mesh.media.push_back(test::triclinic());
      mesh.media.push_back(Medium::from_speeds(1.5, 0, 1));
      for (std::size_t n = 0; n < mesh.size(); ++n) mesh.medium[n] = n >= 6 ? 2 : n % 2;
      mesh.curve[1] = Mesh::straight;  // only to have both kinds; it does not quite meet its neighbours
      FieldOptions plain, lanes, debug;
      plain.plain = true;
      debug.device.kind = Device::Kind::debug;
      Whole earth(mesh, degree, plain, precision);
      const auto u = earth.random_values(5), expected = earth.forces(u);
      const double bound = (precision == Precision::double_precision ? 1e-13 : 2e-6) * largest(expected);
      for (const auto& options : {lanes, debug}) {
        earth.reset(options);
        const auto computed = earth.forces(u);
        double error = 0;
        for (std::size_t n = 0; n < computed.size(); ++n)
          error = worse(error, std::fabs(computed[n] - expected[n]));
        EXPECT_LT(error, bound) << "degree " << degree << ", device " << to_string(options.device);
      }
    }
}

TEST(CurvedElements, AreNotStrainedByEvenStrainInsideNorByRotation) {
  Whole earth(bent_cubes({3, 3, 3}, test::triclinic()));
  const auto even = earth.forces(earth.values([](const Vector& x) {
    return Vector{0.3 * x[0] - 0.2 * x[1], 0.5 * x[2] + 0.1 * x[0], -0.4 * x[0] + 0.7 * x[2]};
  }));
  const auto turned = earth.forces(earth.values([](const Vector& x) {
    return Vector{x[1] - 2 * x[2], -x[0] + 3 * x[2], 2 * x[0] - 3 * x[1]};
  }));
  const double size = largest(earth.forces(earth.random_values(2)));
  const auto& part = earth.field->part();
  double inside = 0;  // at points that all elements around them share: no stress acts there from outside
  for (std::size_t p = 0; p < part.points; ++p) {
    const auto& x = earth.at[p];
    if (std::fabs(x[0] - 1.5) < 1.2 && std::fabs(x[1] - 1.5) < 1.2 && std::fabs(x[2] - 1.5) < 1.2)
      for (std::size_t d = 0; d < 3; ++d) inside = worse(inside, std::fabs(even[3 * p + d]));
  }
  EXPECT_LT(inside, 1e-12 * size);
  EXPECT_GT(largest(even), 1e-3 * size);
  EXPECT_LT(largest(turned), 1e-12 * size);
}

TEST(CurvedElements, NeedDegreeFour) {
  Problem p;
  p.mesh = bent_cubes({1, 1, 1}, test::granite());
  p.end = 1e-5;
  p.degree = 3;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("degree 3"));
}

TEST(CurvedElements, FindThePlaceOfAPoint) {
  const auto mesh = bent_cubes({2, 2, 2}, test::granite());
  for (const Vector xi : {Vector{0.3, -0.7, 0.9}, Vector{-1, 1, 0.2}, Vector{0, 0, 0}}) {
    const auto x = mesh.element(5).at(xi);
    const auto found = mesh.element(5).locate(x);
    for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(found.xi[d], xi[d], 1e-10);
  }
}

double quadrature(const Mesh& mesh, const Basis& basis, const std::function<double(std::size_t)>& of) {
  const auto p = static_cast<std::size_t>(basis.points());
  double sum = 0;
  for (std::size_t e = 0; e < mesh.size(); ++e) {
    const auto shape = mesh.element(e);
    for (std::size_t n = 0; n < p * p * p; ++n)
      sum += of(e) * basis.weight[n % p] * basis.weight[n / p % p] * basis.weight[n / p / p] *
             shape.map({basis.x[n % p], basis.x[n / p % p], basis.x[n / p / p]}).det;
  }
  return sum;
}

/// A sixth of the shell between the core and the surface.
Chunk face(std::size_t columns) {
  Chunk chunk;
  chunk.width_east = chunk.width_north = pi / 2;
  chunk.columns_east = chunk.columns_north = columns;
  for (const auto& [bottom, rows] : std::initializer_list<std::pair<double, std::size_t>>{{-15e3, 1},
                                                                                          {-24.4e3, 1},
                                                                                          {-220e3, 2},
                                                                                          {-400e3, 2},
                                                                                          {-600e3, 2},
                                                                                          {-670e3, 1},
                                                                                          {-771e3, 1},
                                                                                          {-2741e3, 8},
                                                                                          {-2891e3, 1}})
    chunk.layers.push_back({bottom, rows});
  return chunk;
}

TEST(SphereChunk, HasTheVolumeAndTheMassOfASixthOfPremsMantle) {
  const Basis basis(4);
  const double outer = 6'371'000, inner = 3'480'000;
  const double volume = 4 * pi / 3 * (std::pow(outer, 3) - std::pow(inner, 3)) / 6;
  // ∫ ρ 4π r² dr of PREM by radius, by small steps that end at its discontinuities
  const auto prem = RadialEarth::prem();
  double mass = 0, below = inner;
  for (const double top : {3630e3, 5600e3, 5701e3, 5771e3, 5971e3, 6151e3, 6346.6e3, 6356e3, 6371e3}) {
    constexpr int steps = 2000;
    for (int n = 0; n < steps; ++n) {
      const double dr = (top - below) / steps, r = below + (n + 0.5) * dr;
      mass += prem.at(r).density * 4 * pi * r * r * dr / 6;
    }
    below = top;
  }
  // The earth's less the core's; crust in place of the ocean weighs 0.0024e24 kg more.
  EXPECT_NEAR(6 * mass, 5.9732e24 - 1.9395e24 + 0.0024e24, 0.001e24);
  std::array<double, 2> errors{};
  for (const std::size_t columns : {4u, 8u}) {
    std::vector<std::uint32_t> layer;
    auto mesh = chunk_of_sphere(face(columns), {}, layer);
    std::vector<double> density;
    for (std::size_t n = 0; n < mesh.size(); ++n) {
      const auto x = mesh.element(n).monomial[0];
      density.push_back(prem.at(norm({x[0], x[1], x[2] + outer})).density);
    }
    mesh.media = {test::granite()};
    mesh.check();
    errors[columns / 8] = std::fabs(quadrature(mesh, basis, [](std::size_t) { return 1.0; }) / volume - 1);
    EXPECT_NEAR(quadrature(mesh, basis, [&](std::size_t e) { return density[e]; }) / mass, 1, 1e-3);
    mesh.curve.clear();  // with straight edges
    EXPECT_GT(std::fabs(quadrature(mesh, basis, [](std::size_t) { return 1.0; }) / volume - 1), 2e-3);
  }
  EXPECT_LT(errors[0], 3e-4);
  EXPECT_LT(errors[1], errors[0] / 12);  // of fourth order
}

TEST(SphereChunk, WithDoublingsHasItsVolumeAndItsElementsMeet) {
  auto chunk = face(8);
  chunk.layers = {{-24.4e3, 1}, {-400e3, 4, true}, {-1500e3, 4, true}};
  std::vector<std::uint32_t> layer;
  const auto mesh = chunk_of_sphere(chunk, {}, layer);
  ASSERT_EQ(mesh.size(), 64u + 4 * 36 + 2 * 16 + 36 + 2 * 4);
  const double outer = chunk.radius, inner = outer - 1500e3,
               volume = 4 * pi / 3 * (std::pow(outer, 3) - std::pow(inner, 3)) / 6;
  EXPECT_NEAR(quadrature(mesh, Basis(4), [](std::size_t) { return 1.0; }) / volume, 1, 3e-3);
  std::vector<std::uint32_t> all(mesh.size());
  std::iota(all.begin(), all.end(), 0u);
  const auto numbering = number_points(mesh, 5, all);
  std::vector<Vector> place(numbering.count);
  std::vector<bool> known(numbering.count, false);
  const Basis basis(4);
  double apart = 0;
  for (std::size_t n = 0; n < numbering.point.size(); ++n) {
    const std::size_t k = n % 125;
    const auto x = mesh.element(n / 125).at({basis.x[k % 5], basis.x[k / 5 % 5], basis.x[k / 25]});
    auto& there = place[numbering.point[n]];
    if (known[numbering.point[n]])
      apart = worse(apart, norm({x[0] - there[0], x[1] - there[1], x[2] - there[2]}));
    known[numbering.point[n]] = true, there = x;
  }
  EXPECT_LT(apart, 1e-6);
  EXPECT_LT(numbering.count, 100 * mesh.size());  // so most of them are shared
}

TEST(RadialEarths, EchoesOfTheCoreComeBackThroughAk135WhenItsTablesSay) {
  const auto earth = RadialEarth::ak135();
  double p = 0, s = 0;
  constexpr double step = 500;  // m; the core begins at 2891.5 km
  for (double depth = step / 2; depth < 2'891'500; depth += step) {
    const auto v = earth.at(earth_radius - depth).speeds({0, 0, 1});
    p += 2 * step / v[0], s += 2 * step / v[2];
  }
  EXPECT_NEAR(p, 8 * 60 + 31.69, 0.05);   // PcP at no distance
  EXPECT_NEAR(s, 15 * 60 + 35.78, 0.05);  // ScS
  EXPECT_TRUE(earth.at(earth_radius - 4e6).is_fluid());
  EXPECT_FALSE(earth.at(1e6).is_fluid());
}

TEST(RadialEarths, LoseEnergyAsPremAndTablesSayAndFluidsLoseNone) {
  const auto at = [](const RadialEarth& earth, double depth) { return earth.at(earth_radius - depth); };
  const auto prem = RadialEarth::prem(true);
  for (const auto& [depth, quality] : {std::pair{10e3, 600.0},
                                       {60e3, 600.0},
                                       {150e3, 80.0},
                                       {500e3, 143.0},
                                       {2000e3, 312.0},
                                       {6000e3, 84.6}})
    EXPECT_EQ(at(prem, depth).quality_mu, quality) << depth;
  EXPECT_EQ(at(prem, 500e3).quality_kappa, 57823);
  EXPECT_EQ(at(prem, 6000e3).quality_kappa, 1327.7);
  EXPECT_EQ(at(prem, 4000e3).quality_mu, INFINITY);
  EXPECT_EQ(at(prem, 4000e3).quality_kappa, INFINITY);
  EXPECT_EQ(at(RadialEarth::prem(), 150e3).quality_mu, INFINITY);
  const RadialEarth table({{0, 3000, 6000, 3500, 1000, 100}, {2e5, 3000, 6000, 3500, 1000, 300}}, "");
  EXPECT_NEAR(at(table, 1e5).quality_mu, 150, 1e-9);
  EXPECT_NEAR(at(table, 1e5).quality_kappa, 1000, 1e-9);
}

/// The Q of a wave is its time by what it loses, ∫ ds / v over ∫ ds / (v Q).
TEST(RadialEarths, TakeFromAnEchoOfTheCoreWhatSeismogramsShow) {
  const auto quality = [](const RadialEarth& earth) {
    double time = 0, lost = 0;
    constexpr double step = 500;  // m
    for (double depth = step / 2; depth < 2'891'000; depth += step) {
      const auto rock = earth.at(earth_radius - depth);
      const double here = step / rock.speeds({0, 0, 1})[2];
      time += here, lost += here / rock.quality_mu;
    }
    return time / lost;
  };
  EXPECT_NEAR(quality(RadialEarth::ak135(true)), 225, 55);  // of ScS; measured from 170 to 280, most near 230
  EXPECT_NEAR(quality(RadialEarth::prem(true)), 235, 25);
  const auto earth = RadialEarth::ak135(true);
  EXPECT_EQ(earth.at(earth_radius - 4000e3).quality_mu, INFINITY);  // a fluid
  EXPECT_NEAR(earth.at(1e6).quality_mu, 85.03, 1e-9);
  EXPECT_EQ(RadialEarth::ak135().at(earth_radius - 10e3).quality_mu, INFINITY);
}

/// 1/Q_P = b/Q_mu + (1 − b)/Q_kappa, b = 4/3 (vS/vP)²: what ak135-f gives as a column of its own.
TEST(RadialEarths, OfAk135LoseNothingInBulkAndLittleAboveTheLowQZone) {
  const auto earth = RadialEarth::ak135(true);
  for (const auto& [depth, quality] :
       {std::pair{120e3, 182.57}, {165e3, 188.72}, {760e3, 1277.93}, {2740e3, 933.21}, {6371e3, 601.27}}) {
    const auto rock = earth.at(earth_radius - depth);
    const auto v = rock.speeds({0, 0, 1});
    const double b = 4.0 / 3 * std::pow(v[2] / v[0], 2);
    EXPECT_NEAR(1 / (b / rock.quality_mu + (1 - b) / rock.quality_kappa), quality, 1e-3 * quality) << depth;
  }
  for (const auto& [depth, quality] :
       {std::pair{10e3, 599.99}, {30e3, 599.99}, {35.001e3, 403.93}, {77.499e3, 417.59}, {77.501e3, 75.6}})
    EXPECT_NEAR(earth.at(earth_radius - depth).quality_mu, quality, 1e-3) << depth;
}

TEST(SphereChunk, OfAJobHasDoublingsAndTheQOfItsEarth) {
  const std::string job = R"([elements]
kind = "chunk"
width = [8, 8]
columns = [4, 4]
[[elements.layer]]
bottom = -120e3
[[elements.layer]]
bottom = -600e3
rows = 3
doubling = true
[survey]
kind = "list"
stations = [[1000, 1000, -1000]]
[source]
at = [0, 0, -2e5]
force = [0, 0, 1e15]
pulse = "gaussian"
duration = 200
[simulation]
physics = "elastic"
end = 10
)";
  const auto made = [&](const std::string& earth) {
    auto text = job;
    text.insert(text.find("width"), earth);
    return elastic::Simulation::from_job(Config::parse(text), {});
  };
  const auto problem = [](const auto& simulation) -> const Problem& {
    return dynamic_cast<const elastic::Simulation&>(*simulation).problem();
  };
  const auto plain = made("earth = \"ak135\"\n"), losing = made("earth = \"prem\"\nattenuation = true\n");
  EXPECT_EQ(problem(plain).mesh.size(), 16u + 36 + 4);
  EXPECT_NEAR(problem(plain).mesh.medium_of(0).density, 3319.8 + (60 - 35) / 42.5 * 25.7, 20);
  EXPECT_EQ(problem(losing).mesh.medium_of(0).quality_mu, 600);
  EXPECT_TRUE(problem(losing).mesh.medium_of(20).loses_energy());
  EXPECT_FALSE(problem(plain).mesh.medium_of(20).loses_energy());
  const auto losing_too = made("earth = \"ak135\"\nattenuation = true\n");
  const double t = (60 - 35) / 42.5;  // of the lid, at a depth of 60 km
  EXPECT_NEAR(problem(losing_too).mesh.medium_of(0).quality_mu, 1 / ((1 - t) / 403.93 + t / 417.59), 0.5);
}

TEST(SphereChunk, KnowsWhereItLiesOnTheEarth) {
  const Placement europe{6'371'000, 10, 48, 30};
  const auto middle = europe.at(10, 48, 5000);
  EXPECT_NEAR(middle[0], 0, 1e-6);
  EXPECT_NEAR(middle[1], 0, 1e-6);
  EXPECT_NEAR(middle[2], -5000, 1e-6);
  // At the middle the axes are east and north, turned by the azimuth.
  const auto frame = europe.frame(10, 48);
  EXPECT_NEAR(frame[1][0], -0.5, 1e-12);  // north, seen from an axis that points 30 degrees east of it
  EXPECT_NEAR(frame[1][1], std::sqrt(0.75), 1e-12);
  // A degree along the equator, and the same place by its position.
  const Placement equator{6'371'000, 0, 0, 0};
  const auto there = equator.at(1, 0, 0);
  EXPECT_NEAR(there[0], 6'371'000 * std::sin(pi / 180), 1e-6);
  for (const auto& [longitude, latitude] : {std::pair{12.0, 50.0}, std::pair{-100.0, -80.0}}) {
    const auto by_name = europe.frame(longitude, latitude),
               by_place = europe.frame(europe.at(longitude, latitude, 1e5));
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(by_name[a][d], by_place[a][d], 1e-9);
  }
  // Seen from the centre latitudes are smaller: 11.5 minutes at 45 degrees.
  EXPECT_NEAR(std::asin((equator.at(0, 45, 0)[1]) / 6'371'000) * 180 / pi, 45 - 0.1924, 1e-3);
}

/// Polynomials do not follow a sphere: what lies on the ground lies a little above wide elements.
TEST(SphereChunk, HasStationsOnTheGroundBetweenNodesOfWideElements) {
  Chunk chunk;
  chunk.width_east = chunk.width_north = 10 * pi / 180;
  chunk.columns_east = chunk.columns_north = 2;
  chunk.layers = {{-1e5, 1}};
  std::vector<std::uint32_t> layer;
  Problem p;
  p.mesh = chunk_of_sphere(chunk, {}, layer);
  p.mesh.media = {test::granite()};
  p.end = 1;
  const Placement placed{chunk.radius, 10, 0, 0};
  for (const double degrees : {0.0, 0.7, 1.3, 3.1, 4.4})
    p.receivers.push_back(placed.at(10 + degrees, 1.9, 0));
  p.settle();
  ASSERT_EQ(p.receiver_places.size(), 5u);
  for (std::size_t n = 0; n < 5; ++n) {
    const auto found = p.mesh.element(p.receiver_places[n].element).at(p.receiver_places[n].xi);
    for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(found[d], p.receivers[n][d], 10);
  }
  p.receivers = {placed.at(11.3, 1.9, -1000)};
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("outside the mesh"));
}

TEST(SphereChunk, RefusesWhatIsNoPieceOfASphere) {
  std::vector<std::uint32_t> layer;
  Chunk chunk;
  chunk.width_east = 1, chunk.width_north = 2;
  chunk.layers = {{-1e5, 1}};
  EXPECT_THAT(message([&] { chunk_of_sphere(chunk, {}, layer); }), HasSubstr("a width of"));
  chunk.width_north = 1;
  chunk.layers.push_back({-0.5e5, 1});
  EXPECT_THAT(message([&] { chunk_of_sphere(chunk, {}, layer); }), HasSubstr("a layer from -100000"));
  EXPECT_THAT(message([] { RadialEarth({{0, 1, 1, 1}}, "here"); }), HasSubstr("two rows"));
}

/// Time of the ray between two points at one depth and a distance (radians), of speeds v(r), that turns
/// below.
double ray_time(const std::function<double(double)>& v, double radius, double distance) {
  const auto along = [&](double turn) {
    const double p = turn / v(turn);
    std::array<double, 2> sums{};
    constexpr int steps = 4000;
    for (int n = 0; n < steps; ++n) {  // r = turn + (radius − turn) s², smooth at the turning point
      const double s = (n + 0.5) / steps, r = turn + (radius - turn) * s * s,
                   dr = 2 * (radius - turn) * s / steps;
      const double eta = r / v(r), root = std::sqrt(eta * eta - p * p);
      sums[0] += 2 * p / (r * root) * dr;
      sums[1] += 2 * eta * eta / (r * root) * dr;
    }
    return sums;
  };
  double low = radius - 6e5, high = radius - 1;
  for (int n = 0; n < 60; ++n) {
    const double middle = (low + high) / 2;
    (along(middle)[0] > distance ? low : high) = middle;
  }
  return along(high)[1];
}

TEST(SphereChunk, BringsPAndSWhenRaysDo) {
  // A force and a receiver 500 km deep and ten degrees apart, in rock that becomes faster with depth.
  constexpr double top = 7500, more = 2.5e-3, depth = 5e5, outer = 6'371'000;  // m/s, 1/s, m
  const RadialEarth earth(
      {{0, 3500, top, top / 1.8}, {1e6, 3500, top + more * 1e6, (top + more * 1e6) / 1.8}}, "");
  Chunk chunk;
  chunk.width_east = 16 * pi / 180, chunk.width_north = 10 * pi / 180;
  chunk.columns_east = 20, chunk.columns_north = 12;
  chunk.layers = {{-1e6, 12}};
  Problem p;
  std::vector<std::uint32_t> layer;
  p.mesh = chunk_of_sphere(chunk, {true, true, true, true, true, true}, layer);
  for (std::size_t n = 0; n < p.mesh.size(); ++n) {
    const auto x = p.mesh.element(n).monomial[0];
    p.mesh.media.push_back(earth.at(norm({x[0], x[1], x[2] + outer})));
    p.mesh.medium[n] = static_cast<std::uint32_t>(n);
  }
  const Placement place{outer, 0, 0, 0};
  constexpr double tau = 16;
  p.sources = {{place.at(-5, 0, depth), false, {1e15, 0, 1e15, 0, 0, 0}, {Pulse::gaussian, tau, 0, {}}}};
  p.receivers = {place.at(5, 0, depth)};
  p.end = 260;
  p.precision = Precision::double_precision;
  p.settle();
  // Acceleration, whose far field is largest when the middle of the pulse is there, and its near field is
  // weak.
  const auto v = seismograms(p, march(p, {}), Quantity::velocity);
  const auto t = times(p, Quantity::velocity);
  const auto frame = place.frame(5, 0);
  const auto arrives = [&](std::size_t axis, double from, double to) {
    double most = 0, when = 0;
    for (std::size_t n = 0; n + 1 < t.size(); ++n) {
      double here = 0;
      for (std::size_t d = 0; d < 3; ++d)
        here += frame[axis][d] * (v[d * t.size() + n + 1] - v[d * t.size() + n]);
      if (t[n] > from && t[n] < to && std::fabs(here) > most)
        most = std::fabs(here), when = (t[n] + t[n + 1]) / 2;
    }
    return when;
  };
  const double distance = 10 * pi / 180,
               of_p = ray_time(
                   [&](double r) {
                     return earth.at(r).speeds({0, 0, 1})[0];
                   },
                   outer - depth, distance),
               of_s = ray_time(
                   [&](double r) {
                     return earth.at(r).speeds({0, 0, 1})[2];
                   },
                   outer - depth, distance);
  EXPECT_NEAR(of_s / of_p, 1.8, 1e-6);
  EXPECT_NEAR(arrives(0, of_p - 40, of_p + 40), of_p, 0.015 * of_p);
  EXPECT_NEAR(arrives(2, of_s - 40, of_s + 40), of_s, 0.015 * of_s);
}

}  // namespace
}  // namespace terrane::elastic
