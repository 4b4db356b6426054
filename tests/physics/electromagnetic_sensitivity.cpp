// J v and Jᵀ w of electromagnetic fields, known fields of layers, the limit of direct current, and
// reciprocity.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "support/land.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/electromagnetic/formula/layered.hpp"
#include "terrane/physics/electromagnetic/sensitivity.hpp"
#include "terrane/physics/electromagnetic/transfer.hpp"

namespace terrane::electromagnetic {
namespace {

using Z = std::complex<double>;
using Values = std::vector<Z>;

/// Around the sources, which fields in layers are sent from.
bool beside_sources(const Prism& cell) {
  return cell.west > -210 && cell.east < 210 && cell.south > -210 && cell.north < 210 && cell.bottom > -310;
}

bool at_a_side(const TensorMesh& mesh, std::size_t cell) {
  const auto [i, j, k] = mesh.cell(cell);
  return i == 0 || j == 0 || i + 1 == mesh.n_east() || j + 1 == mesh.n_north();
}

/// Wires, plane waves, and a loop whose field in layers is known, over land whose cells differ by some
/// percent from their neighbours, with receivers in the ground and on it.
enum class Sent { wires, plane_waves, over_layers };
Problem land_problem(Sent sent) {
  const bool plane = sent == Sent::plane_waves;
  const auto earth = sent == Sent::over_layers ? test::land(8, 1.6) : test::land(12, 1.3);
  Problem problem;
  problem.mesh = earth.mesh;
  problem.conductivity[0] = earth.sigma;
  std::mt19937 generator(13);
  std::uniform_real_distribution<double> some(0.93, 1.07);
  for (std::size_t n = 0; n < problem.mesh.size(); ++n) {
    const auto cell = problem.mesh.prism(n);
    if (!at_a_side(problem.mesh, n) && cell.bottom < 0 && !beside_sources(cell))
      problem.conductivity[0][n] *= some(generator);
  }
  problem.contrasts = problem.conductivity[0];
  problem.sources =
      plane ? both_polarisations()
            : std::vector<Source>{{Source::Kind::wire, {{-133, 77, -21}, {112.5, -40, -155}}, {}, 1},
                                  {Source::Kind::magnetic_dipole, {{30, 40, -60}}, {1, -2, 3}, 1}};
  problem.frequencies = {0.5, 20};
  problem.receivers = {{310, 50, -60}, {-220, 160, 0}, {140, -330, -35}};
  for (const bool magnetic : {false, true})
    for (const int axis : {2, 1, 0}) problem.components.push_back({magnetic, axis});
  if (sent == Sent::over_layers) {
    problem.sources = {{Source::Kind::magnetic_dipole, {{30, 40, -60}}, {0, 0, 3}, 1}};
    problem.frequencies = {20};
    problem.parameters.field = Field::secondary;
  }
  problem.parameters.tolerance = 1e-12;
  problem.parameters.receiver_tolerance = 1e-10;
  return problem;
}

/// Changes of cells that are not at the sides of the mesh nor beside the sources.
std::vector<double> direction(const TensorMesh& mesh, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> v(mesh.size());
  for (std::size_t n = 0; n < v.size(); ++n) {
    const double some = normal(generator);
    if (!at_a_side(mesh, n) && !beside_sources(mesh.prism(n))) v[n] = some;
  }
  return v;
}

Values changed(Problem problem, const std::vector<double>& v, double step, Stream& stream) {
  for (std::size_t n = 0; n < v.size(); ++n) problem.conductivity[0][n] *= std::exp(step * v[n]);
  return forward(problem, stream).data;
}

double norm(const Values& all, std::size_t each, const Problem& problem) {
  double sum = 0;  // H counts as much as E: by the impedance of a hundred ohm m
  for (std::size_t n = 0; n < all.size(); ++n) {
    const bool magnetic = problem.components[n % each / problem.receivers.size()].magnetic;
    sum += std::norm(all[n]) * (magnetic ? 4e-4 : 1);
  }
  return std::sqrt(sum);
}

// Two steps of halves: what the tangent leaves falls by four.
TEST(Sensitivity, IsTheTangentOfFieldsOfSourcesAndOfPlaneWaves) {
  Stream stream({Device::Kind::cpu, -1});
  for (const auto sent : {Sent::wires, Sent::plane_waves, Sent::over_layers}) {
    const auto problem = land_problem(sent);
    const int plane = static_cast<int>(sent);
    const auto v = direction(problem.mesh, 7);
    Sensitivity j(problem, stream);
    const auto tangent = j.times(v);
    double left[2] = {4, 1};
    for (std::size_t halved = 0; halved < 2 && sent != Sent::over_layers; ++halved) {
      const double step = halved ? 0.02 : 0.04;
      auto difference = changed(problem, v, step, stream);
      for (std::size_t n = 0; n < difference.size(); ++n)
        difference[n] -= j.outcome().data[n] + step * tangent[n];
      left[halved] = norm(difference, problem.data_of_a_solve(), problem);
    }
    EXPECT_GT(left[0] / left[1], 3.8) << plane;
    EXPECT_LT(left[0] / left[1], 4.2) << plane;
    // And central differences agree.
    auto central = changed(problem, v, 1e-3, stream);
    const auto minus = changed(problem, v, -1e-3, stream);
    for (std::size_t n = 0; n < central.size(); ++n) central[n] = (central[n] - minus[n]) / 2e-3 - tangent[n];
    EXPECT_LT(norm(central, problem.data_of_a_solve(), problem),
              1e-5 * norm(tangent, problem.data_of_a_solve(), problem))
        << plane;
  }
}

TEST(Sensitivity, AndItsTransposeGiveTheSameProduct) {
  Stream stream({Device::Kind::cpu, -1});
  for (const auto sent : {Sent::wires, Sent::plane_waves}) {
    const auto problem = land_problem(sent);
    const int plane = static_cast<int>(sent);
    Sensitivity j(problem, stream);
    const auto v = direction(problem.mesh, 3);
    std::mt19937 generator(5);
    std::normal_distribution<double> normal;
    Values w(j.data());
    for (std::size_t n = 0; n < w.size(); ++n) {
      const bool magnetic = problem.components[n % problem.data_of_a_solve() / 3].magnetic;
      // The upright E on the ground is of charges in air, and its λ there 1e6 times that in the earth.
      const bool in_air = n % problem.data_of_a_solve() == 2 * 3 + 1;
      w[n] = (in_air ? 0.0 : magnetic ? 1.0 : 50.0) * Z(normal(generator), normal(generator));
    }
    const auto jv = j.times(v);
    const auto jtw = j.transposed_times(w);
    Z one = 0, other = 0;
    double size = 0;
    for (std::size_t n = 0; n < w.size(); ++n) {
      one += w[n] * jv[n];
      size += std::abs(w[n] * jv[n]);
    }
    for (std::size_t n = 0; n < v.size(); ++n) other += v[n] * jtw[n];
    EXPECT_LT(std::abs(one - other), 1e-9 * size) << plane;
    // Rows of two sources at one receiver, and of another frequency, in any order.
    const std::size_t each = problem.data_of_a_solve();
    const std::vector<std::size_t> places{2 * each + 3, each + 17, 3};
    const auto solves = j.rows(places, [&](std::size_t n, std::span<const Z> row) {
      Z product = 0;
      double largest = 0;
      for (std::size_t c = 0; c < v.size(); ++c) {
        product += row[c] * v[c];
        largest += std::abs(row[c] * v[c]);
      }
      EXPECT_LT(std::abs(product - jv[places[n]]), 1e-8 * largest) << plane << " " << n;
    });
    EXPECT_EQ(solves.size(), 2U);
    EXPECT_THROW(j.times(std::vector<double>(3)), ShapeError);
    EXPECT_THROW(j.transposed_times(Values(3)), ShapeError);
  }
}

TEST(Sensitivity, OfImpedancesFollowsFromThatOfFields) {
  Stream stream({Device::Kind::cpu, -1});
  auto problem = land_problem(Sent::plane_waves);
  problem.components = recorded_of_plane_waves();
  problem.receivers.resize(2);
  Sensitivity j(problem, stream);
  const auto v = direction(problem.mesh, 11);
  const auto change = transfer_function_changes(problem, j.outcome(), j.times(v));
  auto plus = j.outcome(), minus = j.outcome();
  plus.data = changed(problem, v, 1e-3, stream);
  minus.data = changed(problem, v, -1e-3, stream);
  const auto high = transfer_functions(problem, plus), low = transfer_functions(problem, minus);
  for (std::size_t n = 0; n < change.size(); ++n) {
    for (std::size_t c = 0; c < 4; ++c)
      EXPECT_LT(std::abs((high[n].z[c] - low[n].z[c]) / 2e-3 - change[n].z[c]),
                1e-4 * std::abs(change[n].z[2]));
    for (std::size_t c = 0; c < 2; ++c)
      EXPECT_LT(std::abs((high[n].tipper[c] - low[n].tipper[c]) / 2e-3 - change[n].tipper[c]), 1e-5);
  }
  // Weights of impedances and tippers become weights of fields: the same product.
  std::vector<TransferFunction> w(change.size());
  std::mt19937 generator(2);
  std::normal_distribution<double> normal;
  Z one = 0, other = 0;
  double size = 0;
  for (std::size_t n = 0; n < w.size(); ++n) {
    for (std::size_t c = 0; c < 4; ++c) {
      w[n].z[c] = Z(normal(generator), normal(generator));
      one += w[n].z[c] * change[n].z[c];
      size += std::abs(w[n].z[c] * change[n].z[c]);
    }
    for (std::size_t c = 0; c < 2; ++c) {
      w[n].tipper[c] = Z(normal(generator), normal(generator));
      one += w[n].tipper[c] * change[n].tipper[c];
      size += std::abs(w[n].tipper[c] * change[n].tipper[c]);
    }
  }
  const auto jtw = j.transposed_times(weights_of_fields(problem, j.outcome(), w));
  for (std::size_t n = 0; n < v.size(); ++n) other += v[n] * jtw[n];
  EXPECT_LT(std::abs(one - other), 1e-8 * size);
}

/// Two layers, and a body in the lower one.
Problem body_in_layers(double cell, Field field, bool body) {
  std::vector<double> across, up;
  const auto axis = [&](double low, double high, double far) {
    std::vector<double> faces;
    for (double x = low; x < high + cell / 2; x += cell) faces.push_back(x);
    for (double h = cell * 1.4; faces.back() < far; h *= 1.5) faces.push_back(faces.back() + h);
    for (double h = cell * 1.4; faces.front() > -far; h *= 1.5)
      faces.insert(faces.begin(), faces.front() - h);
    return faces;
  };
  Problem problem;
  problem.mesh = TensorMesh(axis(-400, 600, 4000), axis(-400, 400, 4000), axis(-600, 200, 4000));
  const auto& mesh = problem.mesh;
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const auto p = mesh.prism(n);
    const double e = (p.west + p.east) / 2, b = (p.south + p.north) / 2, u = (p.bottom + p.top) / 2;
    const bool in = body && e > 0 && e < 400 && std::abs(b) < 200 && u > -400 && u < -200;
    problem.conductivity[0].push_back(u > 0 ? 1e-8 : in ? 0.2 : u > -200 ? 0.02 : 0.01);
  }
  problem.sources = {{Source::Kind::wire, {{-230, 15, -30}, {-170, 15, -30}}, {}, 1}};
  problem.frequencies = {20};
  problem.components = {{false, 2}, {true, 1}};
  problem.parameters.field = field;
  return problem;
}

TEST(SecondaryField, OfLayersIsNothingSoFieldsNearTheSourceAreThoseOfLayers) {
  auto problem = body_in_layers(100, Field::secondary, false);
  problem.receivers = {{-60, 80, -40}, {300, 20, -5}};
  Stream stream({Device::Kind::cpu, -1});
  const auto out = forward(problem, stream);
  EXPECT_EQ(out.solves[0].iterations, 0);
  const LayeredEarth earth{{{0.01, 0.01}, {0.02, 0.02}, {1e-8, 1e-8}}, {-200, 0}};
  for (std::size_t n = 0; n < 2; ++n) {
    // The middle of the wire does for the far receiver; the near one is a length away.
    const auto expected = electric_dipole(earth, 20, {-200, 15, -30}, {60, 0, 0}, problem.receivers[n]);
    EXPECT_LT(std::abs(out.data[n] - expected.e[0]), (n == 0 ? 0.1 : 0.01) * std::abs(expected.e[0])) << n;
  }
}

TEST(SecondaryField, AndWholeFieldAgreeAwayFromTheSource) {
  Stream stream({Device::Kind::cpu, -1});
  Values data[2], without;
  for (const auto field : {Field::total, Field::secondary}) {
    auto problem = body_in_layers(50, field, true);
    problem.receivers = {{420, 60, -5}, {250, -180, -5}};
    const auto out = forward(problem, stream);
    EXPECT_TRUE(out.solves[0].converged());
    data[field == Field::secondary] = out.data;
    auto plain = body_in_layers(50, Field::secondary, false);
    plain.receivers = problem.receivers;
    without = forward(plain, stream).data;
  }
  for (std::size_t n = 0; n < data[0].size(); ++n) {
    EXPECT_LT(std::abs(data[0][n] - data[1][n]), 0.03 * std::abs(data[1][n])) << n;
    EXPECT_GT(std::abs(without[n] - data[1][n]), 0.05 * std::abs(data[1][n])) << "the body is not seen";
  }
}

TEST(SecondaryField, IsRefusedWhereTheSourceLiesInTheBody) {
  auto problem = body_in_layers(100, Field::secondary, true);
  problem.receivers = {{300, 20, -5}};
  EXPECT_NO_THROW(problem.check());
  problem.sources[0].points = {{150, 20, -300}, {250, 20, -300}};
  EXPECT_THROW(problem.check(), InputError);
  problem.sources = {{Source::Kind::magnetic_dipole, {{-200, 0, -30}}, {1, 0, 1}, 1}};
  EXPECT_THROW(problem.check(), InputError);
}

// Whole space: φ = I/4πσ (1/r₊ − 1/r₋).
TEST(Fields, OfAGroundedWireBecomeThoseOfDirectCurrentAsTheFrequencyFalls) {
  auto problem = body_in_layers(50, Field::total, false);
  problem.conductivity[0].assign(problem.mesh.size(), 0.01);
  const Vector3 minus{-250, 0, -200}, plus{250, 0, -200};
  problem.sources = {{Source::Kind::wire, {minus, plus}, {}, 2}};
  problem.receivers = {{25, 350, -200}, {400, -250, -350}, {-375, 325, 0}};
  problem.components = {{false, 2}, {false, 1}, {false, 0}};
  problem.frequencies = {100, 1, 0.01};
  Stream stream({Device::Kind::cpu, -1});
  const auto out = forward(problem, stream);
  for (std::size_t n = 0; n < problem.receivers.size(); ++n) {
    double error[3], size = 0;
    for (std::size_t f = 0; f < 3; ++f) {
      double sum = 0;
      size = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        double expected = 0;
        for (const auto& [end, current] : {std::pair{plus, 2.0}, std::pair{minus, -2.0}}) {
          double r2 = 0;
          for (std::size_t a = 0; a < 3; ++a) r2 += std::pow(problem.receivers[n][a] - end[a], 2);
          expected += current * (problem.receivers[n][c] - end[c]) /
                      (4 * std::numbers::pi * 0.01 * std::pow(r2, 1.5));
        }
        sum += std::norm(out.data[(f * 3 + c) * 3 + n] - expected);
        size += expected * expected;
      }
      error[f] = std::sqrt(sum / size);
    }
    EXPECT_GT(error[0], 0.05) << "100 Hz is not direct current";
    EXPECT_LT(error[2], 0.02) << n;
    // What is not static is i ωμ₀ times a vector potential: the imaginary part goes with the frequency.
    const auto imaginary = [&](std::size_t f) {
      double sum = 0;
      for (std::size_t c = 0; c < 3; ++c) sum += std::pow(out.data[(f * 3 + c) * 3 + n].imag(), 2);
      return std::sqrt(sum);
    };
    EXPECT_NEAR(imaginary(1) / imaginary(2), 100, 3) << n;
  }
}

TEST(Fields, OfCellsAreThoseOfReceiversAtTheirCentres) {
  for (const bool plane : {false, true}) {
    auto problem = land_problem(plane ? Sent::plane_waves : Sent::wires);
    problem.frequencies = {5};
    problem.electric_volume = problem.magnetic_volume = true;
    const auto& mesh = problem.mesh;
    const std::size_t cells[2] = {mesh.index(7, 5, 4), mesh.index(4, 6, 7)};  // in the ground, and in air
    problem.receivers.clear();
    for (const auto cell : cells) {
      const auto p = mesh.prism(cell);
      problem.receivers.push_back({(p.west + p.east) / 2, (p.south + p.north) / 2, (p.bottom + p.top) / 2});
    }
    Stream stream({Device::Kind::cpu, -1});
    const auto out = forward(problem, stream);
    for (std::size_t s = 0; s < 2; ++s)
      for (std::size_t n = 0; n < 2; ++n)
        for (const bool magnetic : {false, true}) {
          double difference = 0, size = 0;
          for (std::size_t c = 0; c < 3; ++c) {
            const std::size_t part = (magnetic ? 3 : 0) + c;
            const Z here = out.volume[s * problem.volume_of_a_solve() + part * mesh.size() + cells[n]],
                    there = out.data[s * problem.data_of_a_solve() + part * 2 + n];
            difference += std::norm(here - there);
            size += std::norm(there);
          }
          EXPECT_LT(difference, 0.2 * 0.2 * size) << plane << s << n << magnetic;  // means against cubes
        }
  }
}

TEST(Fields, OfAnElectricAndAMagneticSourceAreReciprocal) {
  const auto problem = land_problem(Sent::wires);
  Stream stream({Device::Kind::cpu, -1});
  MaxwellSolver<double> solver(stream, problem.mesh, problem.along());
  solver.set_frequency(2);
  // m·H of the wire at the dipole, and the voltage of the dipole along the wire: −iωμ₀ m·H = U.
  const EdgeSum both[2] = {moments(problem.mesh, problem.sources[0], "wire"),
                           moments(problem.mesh, problem.sources[1], "dipole")};
  Z taken[2];
  for (std::size_t n = 0; n < 2; ++n) {
    auto b = solver.image();
    auto x = solver.vector();
    add(stream, solver.metric(), both[n], {0, -1}, b);
    solver.complete(b);
    EXPECT_TRUE(solver.solve(b, x, {.relative = 1e-12}).converged());
    taken[n] = Sampler(stream, solver.metric(), x, std::span(&both[1 - n], 1)).of(stream, x)[0];
  }
  EXPECT_LT(std::abs(taken[0] - taken[1]), 1e-10 * std::abs(taken[0]));
}

TEST(LayeredEarth, AnElectricAndAMagneticDipoleMayChangePlaces) {
  const LayeredEarth earth{{{0.01, 0.005}, {0.1, 0.1}, {0.02, 0.02}, {1e-8, 1e-8}}, {-300, -100, 0}};
  const Vector3 a{20, -30, -150}, b{400, 260, -20}, p{1, 2, -1};
  const double hertz = 30, omega_mu = 2 * std::numbers::pi * hertz * 4e-7 * std::numbers::pi;
  const auto of_wire = electric_dipole(earth, hertz, a, p, b);
  const auto of_loop = vertical_magnetic_dipole(earth, hertz, b, 3, a);
  Z voltage = 0;
  for (std::size_t c = 0; c < 3; ++c) voltage += p[c] * of_loop.e[c];
  const Z flux = Z(0, -omega_mu) * 3.0 * of_wire.h[2];
  EXPECT_LT(std::abs(voltage - flux), 1e-6 * std::abs(flux));
}

}  // namespace
}  // namespace terrane::electromagnetic
