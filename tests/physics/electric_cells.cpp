// Potentials, fields and currents of all cells.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/electric/forward.hpp"
#include "terrane/physics/electric/grid/ground.hpp"

namespace terrane::electric::cells {
namespace {

constexpr Device cpu{Device::Kind::cpu, -1};
constexpr Volume everything{true, true, true};

std::vector<double> faces(bool down = false) {
  std::vector<double> to_the_side;
  double at = 0, width = 2;
  while (at < 23) to_the_side.push_back(at += 2);
  for (int n = 0; n < 12; ++n) to_the_side.push_back(at += width *= 1.4);
  std::vector<double> all;
  for (auto face = to_the_side.rbegin(); face != to_the_side.rend(); ++face) all.push_back(-*face);
  all.push_back(0);
  if (!down) all.insert(all.end(), to_the_side.begin(), to_the_side.end());
  return all;
}

struct Ground {
  TensorMesh mesh{faces(), faces(), faces(true)};
  Electrodes electrodes{{{1, -1, 0}, {-10, 3, 0}, {8, 3, 0}, {12, 3, 0}}, {{0, 1, 2, 3}}};

  DirectCurrentData data(const Medium& medium, Potential potential) const {
    Stream stream(cpu);
    return direct_current(mesh, medium, electrodes,
                          {.potential = potential, .tolerance = 1e-10, .volume = everything}, stream);
  }
  Point middle(std::size_t cell) const {
    const auto p = mesh.prism(cell);
    return {(p.west + p.east) / 2, (p.south + p.north) / 2, (p.bottom + p.top) / 2};
  }
  /// Cells 12 to 24 m from the first electrode.
  bool between(std::size_t cell) const {
    const double r = distance(middle(cell), electrodes.place[0]);
    return r > 12 && r < 24;
  }
};

double length(const std::array<double, 3>& v) { return std::hypot(v[0], v[1], v[2]); }

TEST(CellsOfDirectCurrent, OfAHomogeneousEarthAreThoseOfThePointInAHalfSpace) {
  const Ground ground;
  Medium medium;
  medium.conductivity.assign(ground.mesh.size(), 0.02);
  for (const auto& [potential, allowed] : {std::pair{Potential::total, 0.04}, {Potential::secondary, 1e-9}}) {
    const auto volume = ground.data(medium, potential).volume;
    ASSERT_EQ(volume.size(), 7U);
    double worst_potential = 0, worst_field = 0, worst_current = 0;
    std::size_t seen = 0;
    for (std::size_t source = 0; source < 2; ++source)
      for (std::size_t cell = 0; cell < ground.mesh.size(); ++cell) {
        const auto& from = ground.electrodes.place[source];
        const auto p = ground.middle(cell);
        const double r = distance(p, from);
        if (r < 12 || r > 24) continue;
        ++seen;
        const auto at = [&](std::size_t n) { return volume[n].real[source * ground.mesh.size() + cell]; };
        const double phi = half_space_potential(from, p, 0, 0.02);
        const auto e = half_space_field(from, p, 0, 0.02);
        worst_potential = worse(worst_potential, std::abs(at(0) - phi) / phi);
        for (std::size_t a = 0; a < 3; ++a) {
          worst_field = worse(worst_field, std::abs(at(1 + a) - e[a]) / length(e));
          worst_current = worse(worst_current, std::abs(at(4 + a) - 0.02 * e[a]) / (0.02 * length(e)));
        }
      }
    EXPECT_GT(seen, 1000U);
    EXPECT_LT(worst_potential, allowed);
    EXPECT_LT(worst_field, allowed);
    EXPECT_LT(worst_current, allowed);
  }
}

TEST(CellsOfDirectCurrent, OverAConductorAreTheSameByBothPotentials) {
  const Ground ground;
  Medium medium;
  for (std::size_t cell = 0; cell < ground.mesh.size(); ++cell) {
    const auto p = ground.middle(cell);
    medium.conductivity.push_back(
        std::abs(p.e - 14) < 5 && std::abs(p.n) < 8 && p.u < -6 && p.u > -16 ? 0.2 : 0.01);
  }
  const auto total = ground.data(medium, Potential::total).volume,
             secondary = ground.data(medium, Potential::secondary).volume;
  double differs = 0, all = 0, changed = 0;
  for (std::size_t cell = 0; cell < ground.mesh.size(); ++cell) {
    if (!ground.between(cell)) continue;
    const auto of = [&](const auto& volume, std::size_t first) {
      return std::array{volume[first].real[cell], volume[first + 1].real[cell], volume[first + 2].real[cell]};
    };
    const auto one = of(total, 1), other = of(secondary, 1);
    const auto primary = half_space_field(ground.electrodes.place[0], ground.middle(cell), 0, 0.01);
    differs += std::pow(length({one[0] - other[0], one[1] - other[1], one[2] - other[2]}), 2);
    all += std::pow(length(other), 2);
    changed =
        std::max(changed, length({primary[0] - other[0], primary[1] - other[1], primary[2] - other[2]}) /
                              length(primary));
    EXPECT_DOUBLE_EQ(of(total, 4)[2], medium.conductivity[cell] * one[2]);
  }
  EXPECT_LT(std::sqrt(differs / all), 0.02);
  EXPECT_GT(changed, 0.5);
}

TEST(CellsOfDirectCurrent, OfRockThatLagsAlikeAllPotentialsLagAndNoCurrentDoes) {
  const Ground ground;
  Medium medium, lagging;
  for (std::size_t cell = 0; cell < ground.mesh.size(); ++cell) {
    medium.conductivity.push_back(cell % 7 == 0 && ground.middle(cell).u < -4 ? 0.05 : 0.01);
    lagging.quadrature.push_back(0.1 * medium.conductivity.back());
  }
  lagging.conductivity = medium.conductivity;
  const auto real = ground.data(medium, Potential::automatic).volume,
             complex = ground.data(lagging, Potential::automatic).volume;
  for (std::size_t n = 0; n < 7; ++n) {
    const std::complex<double> turned = n < 4 ? 1.0 / std::complex(1.0, 0.1) : 1.0;
    EXPECT_TRUE(real[n].imaginary.empty());
    ASSERT_EQ(complex[n].imaginary.size(), 2 * ground.mesh.size());
    double largest = 0, worst = 0;
    for (std::size_t cell = 0; cell < real[n].real.size(); ++cell) {
      if (!ground.between(cell % ground.mesh.size())) continue;
      const auto expected = real[n].real[cell] * turned;
      largest = std::max(largest, std::abs(expected));
      worst =
          worse(worst, std::abs(std::complex(complex[n].real[cell], complex[n].imaginary[cell]) - expected));
    }
    EXPECT_LT(worst, 1e-6 * largest) << n;
  }
}

TEST(CellsOfDirectCurrent, HaveNoCurrentInTheAir) {
  const Ground ground;
  Medium medium;
  medium.conductivity.assign(ground.mesh.size(), 0.02);
  medium.ground = ground_below(ground.mesh, [](double e, double) { return e < -5 ? 0.0 : -4.0; });
  auto lower = ground;
  for (auto& p : lower.electrodes.place) p.u = p.e < -5 ? 0 : -4;
  const auto volume = lower.data(medium, Potential::automatic).volume;
  double air = 0, rocks = 0;
  for (std::size_t cell = 0; cell < medium.ground.size(); ++cell)
    for (std::size_t n = 4; n < 7; ++n)
      (medium.ground[cell] > 0 ? rocks : air) =
          std::max(medium.ground[cell] > 0 ? rocks : air, std::abs(volume[n].real[cell]));
  EXPECT_GT(rocks, 1e-3);
  EXPECT_LT(air, 1e-6 * rocks);
}

}  // namespace
}  // namespace terrane::electric::cells
