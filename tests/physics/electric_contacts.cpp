// Direct current beside contacts of rock: images behind one plane and behind the two of a dyke are exact, on
// either side and inside; what is solved for, and how well it holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include "support/worse.hpp"
#include "terrane/physics/electric/forward.hpp"
#include "terrane/physics/electric/grid/difference.hpp"
#include "terrane/physics/electric/sensitivity.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

namespace terrane::electric::contacts {
namespace {

constexpr Device cpu{Device::Kind::cpu, -1};

std::vector<double> faces(double half, int padding, bool down = false) {
  std::vector<double> one{0};
  while (one.back() < half - 0.5) one.push_back(one.back() + 1);
  for (double width = 1.3; padding > 0; --padding, width *= 1.3) one.push_back(one.back() + width);
  std::vector<double> all;
  for (auto x = one.rbegin(); x != one.rend(); ++x) all.push_back(-*x);
  if (!down) all.insert(all.end(), one.begin() + 1, one.end());
  return all;
}

/// Cells of 1 m around the middle of the surface.
TensorMesh mesh_along(bool north, double half = 14) {
  const auto line = faces(half, 16), across = faces(4, 18);
  return {north ? across : line, north ? line : across, faces(4, 18, true)};
}

/// x: along the line, from the first contact
std::vector<double> cells_of(const TensorMesh& mesh, bool north, const std::function<double(double)>& sigma) {
  std::vector<double> all;
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) {
    const auto p = mesh.prism(cell);
    all.push_back(sigma(north ? (p.south + p.north) / 2 : (p.west + p.east) / 2));
  }
  return all;
}

/// Voltages of one source and poles along a line, at x.
Electrodes poles(double source, const std::vector<double>& x, bool north, double aside) {
  const auto at = [&](double place) { return north ? Point{aside, place, 0} : Point{place, aside, 0}; };
  Electrodes electrodes{{at(source)}, {}};
  for (const double place : x) {
    electrodes.place.push_back(at(place));
    electrodes.arrays.push_back(
        {0, Array::far_away, static_cast<int>(electrodes.place.size()) - 1, Array::far_away});
  }
  return electrodes;
}

/// On and off the nodes, on both sides of a source.
std::vector<double> along_line(double source) {
  std::vector<double> x;
  for (const double r : {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0})
    for (const double sign : {-1.0, 1.0}) {
      x.push_back(source + sign * r);
      x.push_back(std::floor(source + sign * (r + 0.5)));
    }
  std::erase_if(x, [&](double place) { return std::abs(place - source) < 0.9; });
  return x;
}

/// Of 1 A at −d on a surface, where rock changes at x = 0 from rho[0] to rho[1] and at x = t to rho[2]:
/// images behind both planes (Telford et al. 1990, § 8.3.6).
template <class Number>
Number dyke(double d, double t, const std::array<Number, 3>& rho, double x) {
  const Number k = (rho[1] - rho[0]) / (rho[1] + rho[0]), q = (rho[2] - rho[1]) / (rho[2] + rho[1]);
  const auto from = [](double length) { return 1 / std::abs(length); };
  Number sum = x <= 0 ? from(x + d) + k * from(d - x) : Number(0);
  Number factor = x <= 0 ? (1.0 - k * k) * q : x <= t ? 1.0 + k : (1.0 + k) * (1.0 + q);
  for (int n = 0; n < 20'000 && std::abs(factor) > 1e-13; ++n, factor *= -k * q) {
    if (x <= 0) sum += factor * from(d - x + 2 * t * (n + 1));
    else if (x > t) sum += factor * from(x + d + 2 * t * n);
    else sum += factor * (from(x + d + 2 * t * n) + q * from(2 * t * (n + 1) - x + d));
  }
  return rho[0] / (2 * std::numbers::pi) * sum;
}

/// The largest relative error from the second cell on; of so many solves for what.
struct Outcome {
  double worst = 0;
  std::size_t secondary = 0, held = 0;
};
Outcome outcome(const TensorMesh& mesh, double d, double t, const std::array<double, 3>& rho,
                Potential potential, bool north = false, double sign = 1, double aside = 0.3) {
  const auto sigma = cells_of(mesh, north, [&](double x) {
    const double place = sign * x;
    return 1 / (place < 0 ? rho[0] : place < t ? rho[1] : rho[2]);
  });
  const auto electrodes = poles(-sign * d, along_line(-sign * d), north, aside);
  Stream stream(cpu);
  DirectCurrentReport report;
  const auto data =
      direct_current(mesh, {{&sigma, &sigma, &sigma}}, electrodes, {.potential = potential}, stream, &report);
  Outcome found{0, report.secondary, report.held_against};
  for (std::size_t n = 0; n < data.resistance.size(); ++n) {
    const auto& p = electrodes.place[n + 1];
    const double x = sign * (north ? p.n : p.e);
    if (std::abs(x + d) < 1.9) continue;
    found.worst = worse(found.worst, std::abs(data.resistance[n] / dyke(d, t, rho, x) - 1));
  }
  return found;
}

// ---- one contact ----

TEST(DirectCurrentBesideAContact, HasThePotentialOfImagesOnBothSidesHoweverNearItIs) {
  for (const bool north : {false, true}) {
    const auto mesh = mesh_along(north, 10);
    double sign = 1;
    for (const double beyond : {1.0, 33.0, 300.0, 1e4})
      for (const double d : {0.0, 0.1, 0.56, 1.0, 2.0, 4.4}) {
        sign = -sign;
        const auto found = outcome(mesh, d, 1e9, {100, beyond, beyond}, Potential::automatic, north, sign);
        EXPECT_EQ(found.secondary, 1U);
        EXPECT_EQ(found.held, 0U);
        EXPECT_LT(found.worst, 1e-7) << beyond << ' ' << d;
      }
  }
}

/// What rock measures that lags by another angle on each side, and of which both conduct less upwards.
TEST(DirectCurrentBesideAContact, HasThatOfComplexImagesAndOfStretchedOnes) {
  const auto mesh = mesh_along(false, 10);
  const auto side = [](double x) { return x < 0 ? 0.01 : 0.1; };
  Medium medium;
  medium.conductivity = cells_of(mesh, false, side);
  medium.quadrature = cells_of(mesh, false, [&](double x) { return side(x) * (x < 0 ? 0.02 : 0.3); });
  const auto along = along_line(-0.4);
  const auto electrodes = poles(-0.4, along, false, 0.3);
  Stream stream(cpu);
  DirectCurrentReport report;
  const auto data = direct_current(mesh, medium, electrodes, {}, stream, &report);
  EXPECT_EQ(report.secondary, 1U);
  using Number = std::complex<double>;
  const Number one = 1.0 / Number(0.01, 0.0002), other = 1.0 / Number(0.1, 0.03);
  for (std::size_t n = 0; n < along.size(); ++n) {
    const Number exact = dyke<Number>(0.4, 1e9, {one, other, other}, along[n]);
    EXPECT_NEAR(data.resistance[n], exact.real(), 1e-7 * std::abs(exact)) << n;
    EXPECT_NEAR(data.reactance[n], exact.imag(), 1e-7 * std::abs(exact)) << n;
  }
  medium.quadrature.clear();
  medium.conductivity_up = medium.conductivity;
  for (double& value : medium.conductivity_up) value /= 4;  // (σ_h σ_v)^½ is a half
  const auto stretched = direct_current(mesh, medium, electrodes, {}, stream, &(report = {}));
  EXPECT_EQ(report.secondary, 1U);
  for (std::size_t n = 0; n < along.size(); ++n) {
    const double exact = dyke<double>(0.4, 1e9, {200, 20, 20}, along[n]);
    EXPECT_NEAR(stretched.resistance[n], exact, 1e-7 * exact) << n;
  }
}

/// A dyke whose real conductivity is that of the rock around it, but which stores a hundred times the charge.
TEST(DirectCurrentBesideAContact, RockMayDifferInItsImaginaryPartAlone) {
  const auto mesh = mesh_along(false, 10);
  Medium medium;
  medium.conductivity.assign(mesh.size(), 0.01);
  medium.quadrature = cells_of(mesh, false, [](double x) { return x > 0 && x < 1 ? 0.05 : 0.0005; });
  const auto along = along_line(-0.4);
  Stream stream(cpu);
  DirectCurrentReport report;
  const auto data = direct_current(mesh, medium, poles(-0.4, along, false, 0.3), {}, stream, &report);
  EXPECT_EQ(report.secondary, 1U);  // from the images behind the near side
  using Number = std::complex<double>;
  const Number one = 1.0 / Number(0.01, 0.0005), other = 1.0 / Number(0.01, 0.05);
  for (std::size_t n = 0; n < along.size(); ++n) {
    if (std::abs(along[n] + 0.4) < 1.9) continue;
    const Number exact = dyke<Number>(0.4, 1, {one, other, one}, along[n]);
    EXPECT_LT(std::abs(Number(data.resistance[n], data.reactance[n]) - exact), 0.05 * std::abs(exact)) << n;
  }
}

TEST(DirectCurrentBesideAContact, PrimaryFieldsAreSlopesOfTheirPotentials) {
  const Primary primary{{{0.02, 0.03, 0.01}, {0.001, 0.0015, 0.0005}},
                        Contact{1, 3, true, {{0.2, 0.3, 0.1}, {0, 0, 0}}}};
  const Point source{0.5, 2.2, -1};
  for (const Point& p : {Point{-2, 1, -3}, Point{4, 4.5, -2}}) {
    const auto e = primary.field(source, p, 0);
    for (std::size_t a = 0; a < 3; ++a) {
      Point low = p, high = p;
      for (auto [place, sign] : {std::pair{&low, -1.0}, std::pair{&high, 1.0}})
        (a == 0 ? place->e : a == 1 ? place->n : place->u) += sign * 1e-4;
      const auto slope = (primary.potential(source, high, 0) - primary.potential(source, low, 0)) / 2e-4;
      EXPECT_NEAR(std::abs(e[a] + slope), 0, 1e-6 * std::abs(primary.potential(source, p, 0)));
    }
  }
}

TEST(DirectCurrentBesideAContact, DifferencesFromItsRockAreThoseOfTheTwoNetworks) {
  const auto mesh = mesh_along(false, 6);
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  auto sigma = cells_of(mesh, false, [&](double) { return std::exp(normal(generator)); });
  for (const std::size_t axis : {0, 1}) {
    const Primary primary{{{0.2, 0.2, 0.2}, {}}, Contact{axis, 2, axis == 1, {{3, 3, 3}, {}}}};
    const Point source{0.3, 0.2, 0};
    std::vector<double> taken;
    for (std::size_t cell = 0; cell < mesh.size(); ++cell) {
      const auto p = mesh.prism(cell);
      const double x = axis == 0 ? (p.west + p.east) / 2 : (p.south + p.north) / 2;
      taken.push_back((x > 2) == (axis == 1) ? 3 : 0.2);
    }
    const Viewpoint from{{1, 1, 0}, 0};
    const auto k = network_of(mesh, {{&sigma, &sigma, &sigma}}, {}, from),
               k0 = network_of(mesh, {{&taken, &taken, &taken}}, {}, from);
    std::vector<double> phi(static_cast<std::size_t>(k.nodes.count()));
    for (double& value : phi) value = normal(generator);
    Stream stream(cpu);
    solve::Field<double> there(stream, k.nodes), by_k(stream, k.nodes), by_k0(stream, k.nodes);
    there.upload(stream, phi);
    solve::apply(stream, k.on(stream, k.nodes), there, by_k);
    solve::apply(stream, k0.on(stream, k.nodes), there, by_k0);
    const auto one = by_k.download(stream), other = by_k0.download(stream);
    const auto got =
        difference_times(mesh, {&sigma, &sigma, &sigma}, {primary, {source, 0}}, {}, from, phi, 2);
    for (std::size_t n = 0; n < got.size(); ++n)
      ASSERT_NEAR(got[n], one[n] - other[n], 1e-12 * (std::abs(one[n]) + std::abs(other[n])) + 1e-12) << n;
  }
}

// ---- two of them ----

/// Rock that is not that of the primary begins beyond a dyke. What is taken is what leaves less: images
/// behind the first contact, a half space, or the total potential times what homogeneous ground has wrong.
TEST(DirectCurrentBesideADyke, IsRightOnBothSidesAndInside) {
  const auto mesh = mesh_along(false);
  struct Case {
    double thick, rho, d;
    std::size_t held;
    double bound;
  };
  for (const auto& c : {Case{8, 1, 0.25, 0, 0.065}, Case{8, 10, 0.56, 0, 0.004}, Case{4, 10, 0.25, 0, 0.015},
                        Case{1, 10, 0.56, 1, 0.045}, Case{1, 10, 1, 1, 0.006}, Case{1, 10, 2, 0, 0.016},
                        Case{4, 1, 2, 1, 0.02}, Case{4, 1, 0.25, 1, 0.13}, Case{8, 1000, 0.25, 0, 0.008},
                        Case{8, 1000, 2, 0, 0.005}, Case{2, 1000, 0.56, 0, 0.055},
                        Case{1, 1e4, 0.56, 1, 0.09}, Case{4, 1e4, 2, 1, 0.01}}) {
    const auto found = outcome(mesh, c.d, c.thick, {100, c.rho, 100}, Potential::automatic);
    EXPECT_EQ(found.held, c.held) << c.thick << ' ' << c.rho << ' ' << c.d;
    EXPECT_EQ(found.secondary, 1 - c.held);
    EXPECT_LT(found.worst, c.bound) << c.thick << ' ' << c.rho << ' ' << c.d;
  }
}

/// A third of the error, and less, where total potentials are held against homogeneous ground.
TEST(DirectCurrentBesideADyke, HeldAgainstHomogeneousGroundTotalPotentialsLoseTheErrorsOfTheMesh) {
  const auto mesh = mesh_along(false);
  for (const double aside : {0.0, 0.3})
    for (const double d : {0.56, 1.0}) {
      const auto plain = outcome(mesh, d, 1, {100, 10, 100}, Potential::total, false, 1, aside),
                 held = outcome(mesh, d, 1, {100, 10, 100}, Potential::automatic, false, 1, aside);
      ASSERT_EQ(held.held, 1U);
      EXPECT_GT(plain.worst, 0.01);
      EXPECT_LT(held.worst, plain.worst / 3) << d << ' ' << aside;
    }
}

/// Of arrays the potentials almost cancel, and so must their errors: the factor is that of a whole array.
/// Beyond the dyke rock is that of the source again, which secondary potentials had wrong by 150 %.
TEST(DirectCurrentBesideADyke, ArraysAcrossItAreRightInAForwardRunAndToAFewPercentInSensitivities) {
  const auto mesh = mesh_along(false);
  Medium medium;
  medium.conductivity = cells_of(mesh, false, [](double x) { return x > 0 && x < 1 ? 1e-3 : 1e-2; });
  const std::array<double, 3> rho{100, 1000, 100};
  const auto pole = [&](double from, double to) {
    return from < 0 ? dyke<double>(-from, 1, rho, to) : dyke<double>(from - 1, 1, rho, 1 - to);
  };
  Electrodes electrodes;
  for (int n = -4; n <= 4; ++n) electrodes.place.push_back({2 * n + 1.44, 0, 0});
  std::vector<double> exact;
  for (const bool wenner : {true, false})
    for (int n = 0; n + 3 < 9; ++n) {
      const Array array = wenner ? Array{n, n + 3, n + 1, n + 2} : Array{n, n + 1, n + 2, n + 3};
      electrodes.arrays.push_back(array);
      const auto at = [&](int place) { return electrodes.place[static_cast<std::size_t>(place)].e; };
      exact.push_back(pole(at(array.a), at(array.m)) - pole(at(array.b), at(array.m)) -
                      pole(at(array.a), at(array.n)) + pole(at(array.b), at(array.n)));
    }
  Stream stream(cpu);
  DirectCurrentReport report;
  const auto data = direct_current(mesh, medium, electrodes, {}, stream, &report);
  EXPECT_GE(report.held_against, 2U);
  const Sensitivity sensitivity(mesh, medium, electrodes, {}, Datum::resistance, Unknown::log_conductivity,
                                stream);
  for (std::size_t n = 0; n < exact.size(); ++n) {
    EXPECT_NEAR(data.resistance[n], exact[n], (n < 6 ? 0.025 : 0.1) * std::abs(exact[n])) << n;
    EXPECT_NEAR(sensitivity.data()[n], exact[n], 0.12 * std::abs(exact[n])) << n;
  }
}

}  // namespace
}  // namespace terrane::electric::contacts
