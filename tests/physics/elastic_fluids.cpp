// Fluids: waves of a potential, and what passes between them and rock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <map>
#include <numbers>

#include "support/elastic_meshes.hpp"
#include "support/elastic_whole.hpp"
#include "support/files.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/elastic/march/march.hpp"

namespace terrane::elastic {
namespace {

using std::numbers::pi;
using testing::HasSubstr;
using testing_support::message;

Medium water(double speed = 1, double density = 1) { return Medium::from_speeds(speed, 0, density); }

/// Bent elements, fluid where `wet` says so of their centres.
Mesh bay(std::array<std::size_t, 3> shape, const Medium& fluid, const Medium& rock, double bend,
         const std::function<bool(const Vector&)>& wet) {
  auto mesh = test::cubes(shape, 1, rock);
  test::shake(mesh, bend);
  mesh.media.push_back(fluid);
  for (std::size_t n = 0; n < mesh.size(); ++n) mesh.medium[n] = wet(mesh.element(n).monomial[0]) ? 1 : 0;
  return mesh;
}
Mesh bay() {
  return bay({3, 3, 3}, water(), Medium::from_speeds(1.8, 1, 2), 0.12,
             [](const Vector& x) { return x[2] > 2 || (x[2] > 1 && x[0] < 1); });
}

TEST(FluidForces, OfKernelsAreThoseOfTheSlowTwinOnAllDevicesAndInAllDegrees) {
  for (const auto precision : {Precision::double_precision, Precision::single_precision})
    for (const int degree : {2, 3, 4, 5}) {
      auto mesh = test::cubes({3, 2, 2}, 1, water(1.5, 2));
      test::shake(mesh, 0.1, [](const Vector& x) { return x[0] < 1.5; });
      FieldOptions plain, lanes, debug;
      plain.plain = true;
      debug.device.kind = Device::Kind::debug;
      Whole sea(mesh, degree, plain, precision);
      const auto u = sea.random_values(5), expected = sea.forces(u);
      const double bound = (precision == Precision::double_precision ? 1e-14 : 1e-6) * largest(expected);
      EXPECT_GT(bound, 0);
      for (const auto& options : {lanes, debug}) {
        sea.reset(options);
        const auto computed = sea.forces(u);
        double error = 0;
        for (std::size_t n = 0; n < computed.size(); ++n)
          error = worse(error, std::fabs(computed[n] - expected[n]));
        EXPECT_LT(error, bound) << "degree " << degree << ", device " << to_string(options.device);
      }
    }
}

/// Energy of steps of rock and fluid between two instants, which they keep to rounding: with a = −χ̈ M_f,
/// ½ (vᵀ M_s v + χ̇ᵀ K_f χ̇) + ½ (u⁺ᵀ K_s u + a⁺ᵀ M_f⁻¹ a).
double coupled_energy(Whole& earth) {
  const auto& part = earth.field->part();
  std::vector<bool> in_fluid(part.points, false);
  for (std::size_t e = 0; e < part.elements.size(); ++e)
    for (std::size_t n = 0; n < earth.problem.points_of_element(); ++n)
      if (earth.problem.mesh.medium_of(part.elements[e]).is_fluid())
        in_fluid[part.point[e * earth.problem.points_of_element() + n]] = true;
  const auto pushed = [&](const std::vector<double>& u) {  // K u, and of the fluid Bᵀ u + K_f χ
    auto all = earth.field->forces();
    for (double& f : all) f = -f;
    for (const auto& c : part.contacts)
      for (std::size_t d = 0; d < 3; ++d) all[3 * c.fluid] += c.area[d] * u[3 * c.solid + d];
    return all;
  };
  const auto before = earth.field->state();
  const auto first = pushed(before.displacement);
  earth.field->step();
  const auto after = earth.field->state();
  const auto second = pushed(after.displacement);
  earth.field->set_state({after.change, after.change});
  auto rate = earth.field->forces();
  earth.field->set_state(after);
  const double dt = earth.problem.step;
  double energy = 0;
  for (std::size_t p = 0; p < part.points; ++p)
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t n = 3 * p + d;
      if (!in_fluid[p])
        energy += after.change[n] * after.change[n] / part.factor[p] + after.displacement[n] * first[n];
      else if (d == 0 && part.factor[p] > 0)
        energy += -after.change[n] * rate[n] / (dt * dt) + first[n] * second[n] * part.factor[p] / (dt * dt);
    }
  return energy / 2;
}

/// A state in which nothing moves where the sea's surface holds the potential.
void start_at_random(Whole& earth) {
  const auto& part = earth.field->part();
  auto u = earth.random_values(3), w = earth.random_values(4);
  for (std::size_t p = 0; p < part.points; ++p)
    for (std::size_t d = 0; d < 3; ++d) {
      w[3 * p + d] *= earth.problem.step;
      if (part.factor[p] == 0) u[3 * p + d] = w[3 * p + d] = 0;
    }
  earth.field->set_state({u, w});
  earth.field->load_courses({});
}

TEST(FluidAndRock, KeepTheirEnergyToRounding) {
  for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
    FieldOptions options;
    options.device.kind = kind;
    Whole earth(bay(), 4, options);
    ASSERT_FALSE(earth.field->part().contacts.empty());
    start_at_random(earth);
    const double first = coupled_energy(earth);
    EXPECT_GT(first, 0);
    for (int n = 0; n < 300; ++n) earth.field->step();
    EXPECT_NEAR(coupled_energy(earth) / first, 1, 1e-11);
  }
}

TEST(FluidAndRock, AreStableAtTheStepThatTheirContactAllowsAndNotFarBeyondIt) {
  for (const double density : {0.1, 1.0, 3.0}) {
    const auto grows = [&](double of_limit) {
      Whole earth(bay({2, 2, 4}, water(1.8, density), Medium::from_speeds(1.8, 1, 1), 0.05,
                      [](const Vector& x) { return x[2] > 2; }));
      earth.problem.step = of_limit * earth.problem.stable_step;
      earth.reset({});
      start_at_random(earth);
      for (int n = 0; n < 1500; ++n) earth.field->step();
      const auto end = earth.field->state().displacement;
      return !(product(end, end) < 1e8);  // also where it is no number
    };
    EXPECT_FALSE(grows(1)) << density;
    EXPECT_TRUE(grows(1.2)) << density;
  }
}

/// Elements of a side of 1/nx that repeat after 1 along x and after three of them along y, nz of them around
/// z = 0.
void repeat(Mesh& mesh, std::uint32_t nx, std::uint32_t nz) {
  for (std::uint32_t n = 0; n < mesh.nodes.size(); ++n) {
    const std::uint32_t x = n % (nx + 1), y = n / (nx + 1) % 4, z = n / (nx + 1) / 4;
    mesh.vertex.push_back(x % nx + (nx + 1) * (y % 3 + 4 * z));
    for (auto& at : mesh.nodes[n]) at /= nx;
    mesh.nodes[n][2] -= nz / 2.0 / nx;
  }
}

std::vector<bool> points_in_fluid(const Whole& earth) {
  std::vector<bool> in_fluid(earth.at.size(), false);
  const auto& part = earth.field->part();
  for (std::size_t e = 0; e < part.elements.size(); ++e)
    for (std::size_t n = 0; n < earth.problem.points_of_element(); ++n)
      if (earth.problem.mesh.medium_of(part.elements[e]).is_fluid())
        in_fluid[part.point[e * earth.problem.points_of_element() + n]] = true;
  return in_fluid;
}

/// Of half the stable one; how many make the period.
int take_whole_steps(Whole& earth, double period) {
  const auto steps = static_cast<int>(std::ceil(period / (0.5 * earth.problem.stable_step)));
  earth.problem.step = period / steps;
  earth.reset({});
  return steps;
}

TEST(FluidAndRock, ScholtesWaveRunsAlongTheirContactAsOnPaper) {
  // Potentials e^{pz} and e^{qz} below, e^{−sz} above; the speed is the root of what the contact asks for.
  const double alpha = 1.8, beta = 1, rock_density = 2.2, c = 1.3, density = 1, k = 2 * pi;
  const auto root = [](double v, double of) { return std::sqrt(1 - v * v / (of * of)); };
  const auto misses = [&](double v) {
    const double b = v * v / (beta * beta);
    return 4 * root(v, alpha) * root(v, beta) - (2 - b) * (2 - b) -
           density / rock_density * b * b * root(v, alpha) / root(v, c);
  };
  double low = 0.3, high = 0.999999;
  ASSERT_GT(misses(low) * misses(0.95), -1e300);
  for (int n = 0; n < 200; ++n) {
    const double middle = 0.5 * (low + high);
    (misses(middle) * misses(low) > 0 ? low : high) = middle;
  }
  const double v = low, p = k * root(v, alpha), q = k * root(v, beta), s = k * root(v, c), omega = k * v;
  ASSERT_NEAR(misses(v), 0, 1e-9);
  const std::complex<double> i(0, 1), b = 2.0 * i * k * p / (q * q + k * k),
                                      above = -density * (p + i * k * b) / s;

  constexpr std::uint32_t nx = 3, nz = 12;
  auto mesh = bay({nx, 3, nz}, water(c, density), Medium::from_speeds(alpha, beta, rock_density), 0,
                  [](const Vector& x) { return x[2] > nz / 2; });
  repeat(mesh, nx, nz);
  Whole earth(std::move(mesh), 5);
  const auto in_fluid = points_in_fluid(earth);
  const int steps = take_whole_steps(earth, 2 * pi / omega);
  const double theta = 2 * std::asin(omega * earth.problem.step / 2);
  const auto wave = [&](double phase) {
    std::vector<double> all;
    for (std::size_t n = 0; n < earth.at.size(); ++n) {
      const auto& x = earth.at[n];
      const auto turn = std::exp(i * (k * x[0] - phase));
      if (in_fluid[n]) {
        all.insert(all.end(), {std::real(above * std::exp(-s * x[2]) * turn), 0, 0});
      } else {
        all.insert(all.end(), {std::real((i * k * std::exp(p * x[2]) - q * b * std::exp(q * x[2])) * turn), 0,
                               std::real((p * std::exp(p * x[2]) + i * k * b * std::exp(q * x[2])) * turn)});
      }
    }
    return all;
  };
  const auto now = wave(0), before = wave(-theta);
  auto change = now;
  for (std::size_t n = 0; n < now.size(); ++n) change[n] -= before[n];
  earth.field->set_state({now, change});
  earth.field->load_courses({});
  for (int n = 0; n < steps; ++n) earth.field->step();
  const auto end = earth.field->state().displacement, expected = wave(steps * theta);
  double error = 0, all = 0;
  for (std::size_t n = 0; n < end.size(); ++n) {
    if (std::fabs(earth.at[n / 3][2]) > 0.8) continue;  // what the ends of the box send back
    error += (end[n] - expected[n]) * (end[n] - expected[n]);
    all += expected[n] * expected[n];
  }
  EXPECT_LT(std::sqrt(error / all), 2e-3);
}

/// How far a plane wave that comes down through a fluid at an angle, with what rock reflects and lets through
/// as Zoeppritz's equations say, is after a period from where it began; reflection: of the potential.
/// reflected_too_much: by how much more than that.
double strays_from_zoeppritz(double degrees, std::complex<double>& reflection, double reflected_too_much) {
  using Complex = std::complex<double>;
  const Complex i(0, 1);
  const double c = 1, density = 1, alpha = 1.9, beta = 1.05, rock_density = 2.2, k = 2 * pi;
  const double omega = k * c / std::sin(degrees * pi / 180), mu = rock_density * beta * beta,
               lambda = rock_density * alpha * alpha - 2 * mu;
  // u = ∇χ/ρ of A e^{−iqz} + R e^{iqz} above; below ∇φ + (−∂_z ψ, 0, ∂_x ψ) of φ = T e^{−iq_p z}, ψ = S
  // e^{−iq_s z}; all times e^{i(kx − ωt)}. Below the critical angle of P its wave fades downward.
  const auto vertical = [&](double v) {
    const double square = omega * omega / (v * v) - k * k;
    return square >= 0 ? Complex(std::sqrt(square)) : Complex(0, std::sqrt(-square));
  };
  const Complex q = vertical(c), qp = vertical(alpha), qs = vertical(beta);
  const Complex shear = 2 * k * qp / (k * k - qs * qs);       // S / T, without shear stress on the fluid
  const Complex difference = density / q * (qp - k * shear),  // (A − R) / T, of the same motion across
      sum = (lambda * (k * k + qp * qp) + 2 * mu * (qp * qp - k * qs * shear)) /
            (omega * omega);  // (A + R) / T
  const Complex through = 2.0 / (sum + difference);
  reflection = (sum - difference) / (sum + difference);
  const Complex reflected = reflection * (1 + reflected_too_much);

  constexpr std::uint32_t nx = 4, nz = 16;
  auto mesh = bay({nx, 3, nz}, water(c, density), Medium::from_speeds(alpha, beta, rock_density), 0,
                  [](const Vector& x) { return x[2] > nz / 2; });
  repeat(mesh, nx, nz);
  Whole earth(std::move(mesh), 6);
  const auto in_fluid = points_in_fluid(earth);
  const int steps = take_whole_steps(earth, 2 * pi / omega);
  const double theta = 2 * std::asin(omega * earth.problem.step / 2);
  const auto wave = [&](double phase) {
    std::vector<double> all;
    for (std::size_t n = 0; n < earth.at.size(); ++n) {
      const auto& x = earth.at[n];
      const auto turn = std::exp(i * (k * x[0] - phase));
      if (in_fluid[n]) {
        const auto value = std::exp(-i * q * x[2]) + reflected * std::exp(i * q * x[2]);
        all.insert(all.end(), {std::real(value * turn), 0, 0});
      } else {
        const auto p = through * std::exp(-i * qp * x[2]), s = through * shear * std::exp(-i * qs * x[2]);
        all.insert(all.end(), {std::real((i * k * p + i * qs * s) * turn), 0,
                               std::real((-i * qp * p + i * k * s) * turn)});
      }
    }
    return all;
  };
  const auto now = wave(0), before = wave(-theta);
  auto change = now;
  for (std::size_t n = 0; n < now.size(); ++n) change[n] -= before[n];
  earth.field->set_state({now, change});
  earth.field->load_courses({});
  for (int n = 0; n < steps; ++n) earth.field->step();
  const auto end = earth.field->state().displacement, expected = wave(steps * theta);
  std::array<double, 2> error{}, all{};  // in rock, in the fluid
  for (std::size_t n = 0; n < end.size(); ++n) {
    if (std::fabs(earth.at[n / 3][2]) > 0.8) continue;  // what the ends of the box send back
    error[in_fluid[n / 3]] += (end[n] - expected[n]) * (end[n] - expected[n]);
    all[in_fluid[n / 3]] += expected[n] * expected[n];
  }
  return std::sqrt(std::max(error[0] / all[0], error[1] / all[1]));
}

TEST(FluidAndRock, APlaneWaveAtAnAngleIsReflectedAsZoeppritzsEquationsSay) {
  for (const double degrees :
       {25.0, 37.0}) {  // P goes on into the rock, and does not: its critical angle is 32
    std::complex<double> reflection;
    EXPECT_LT(strays_from_zoeppritz(degrees, reflection, 0), 1e-3) << degrees;
    EXPECT_GT(strays_from_zoeppritz(degrees, reflection, 0.05), 1e-2) << degrees;
    EXPECT_LT(std::abs(reflection), 1);
    EXPECT_GT(std::abs(reflection), 0.1);
  }
}

/// A column of which the sides repeat, 3 × 3 elements wide; fluid above the height 0.
Problem column(std::uint32_t below, std::uint32_t above, double h, const Medium& rock, const Medium& fluid) {
  Problem p;
  const std::uint32_t nz = below + above;
  p.mesh = bay({3, 3, nz}, fluid, rock, 0, [&](const Vector& x) { return x[2] > below; });
  for (std::uint32_t n = 0; n < p.mesh.nodes.size(); ++n) {
    p.mesh.vertex.push_back(n % 4 % 3 + 4 * (n / 4 % 4 % 3 + 4 * (n / 16)));
    p.mesh.nodes[n][2] -= below;
    for (double& x : p.mesh.nodes[n]) x *= h;
  }
  for (std::uint32_t n = 0; n < 9; ++n) p.mesh.absorbing.push_back({n, 4});
  for (std::uint32_t n = 0; n < 9; ++n) p.mesh.absorbing.push_back({9 * (nz - 1) + n, 5});
  p.precision = Precision::double_precision;
  return p;
}

TEST(FluidAndRock, APlaneWaveIsReflectedAndTransmittedByTheRatioOfImpedances) {
  const auto rock = Medium::from_speeds(2000, 1100, 2000), sea = water(1500, 1000);
  const double h = 50;
  auto p = column(24, 24, h, rock, sea);
  // Vertical forces on all points of a plane, as the quadrature would spread them: the same course for each
  // of 9 corners, whose waves add up to a plane one after a few elements.
  for (std::size_t n = 0; n < 9; ++n)
    p.sources.push_back({{h * static_cast<double>(n % 3), h * static_cast<double>(n / 3), -600},
                         false,
                         {0, 0, 1e9, 0, 0, 0},
                         {Pulse::gaussian, 0.06, 0.2, {}}});
  p.receivers = {{75, 75, -300}, {75, 75, 300}};
  p.end = 0.9;
  p.settle();
  const auto traces = seismograms(p, march(p, {}), Quantity::velocity);
  const auto at = times(p, Quantity::velocity);
  const auto extreme = [&](std::size_t receiver, double from, double to) {
    double most = 0;
    for (std::size_t n = 0; n < at.size(); ++n)
      if (const double value = traces[(3 * receiver + 2) * at.size() + n];
          at[n] > from && at[n] < to && std::fabs(value) > std::fabs(most))
        most = value;
    return most;
  };
  const double incident = extreme(0, 0.2, 0.5), reflected = extreme(0, 0.5, 0.8),
               through = extreme(1, 0.5, 0.9);
  const double z1 = 2000.0 * 2000, z2 = 1500.0 * 1000;
  EXPECT_NEAR(reflected / incident, (z1 - z2) / (z1 + z2), 3e-3);
  EXPECT_NEAR(through / incident, 2 * z1 / (z1 + z2), 5e-3);
}

TEST(Fluids, AnExplosionSendsPressureAsOnPaper) {
  // χ̈ = c² Δχ − M s δ: p = M s̈(t − r/c) / (4π c² r)
  Problem p;
  const double c = 1500, h = 100, moment = 1e12, tau = 0.05;
  p.mesh = bricks(TensorMesh::regular({0, 10 * h, 0, 10 * h, 0, 10 * h}, {10, 10, 10}), {water(c, 1000)},
                  std::vector<std::uint32_t>(1000, 0), {true, true, true, true, true, true});
  p.sources.push_back(
      {{480, 520, 510}, true, {moment, moment, moment, 0, 0, 0}, {Pulse::gaussian, tau, 0, {}}});
  p.receivers = {{710, 610, 420}, {300, 300, 300}};
  p.records_pressure = true;
  p.end = 0.45;
  p.settle();
  const auto traces = seismograms(p, march(p, {}), Quantity::pressure);
  const auto at = times(p, Quantity::pressure);
  ASSERT_EQ(traces.size(), 2 * at.size());
  for (std::size_t r = 0; r < 2; ++r) {
    Vector off;
    for (std::size_t d = 0; d < 3; ++d) off[d] = p.receivers[r][d] - p.sources[0].at[d];
    double error = 0, all = 0;
    for (std::size_t n = 0; n < at.size(); ++n) {
      const double x = (at[n] - norm(off) / c) / tau,
                   second = (4 * x * x - 2) * std::exp(-x * x) / (std::sqrt(pi) * tau * tau * tau),
                   exact = moment * second / (4 * pi * c * c * norm(off)),
                   miss = traces[r * at.size() + n] - exact;
      error += miss * miss;
      all += exact * exact;
    }
    EXPECT_LT(std::sqrt(error / all), 0.02) << r;
  }
}

TEST(FluidOnDevices, AGpuDiffersFromTheProcessorsByRounding) {
  Runtime cpu, gpu;
  cpu.device.kind = Device::Kind::cpu, gpu.device = resolve({});
  if (gpu.device.kind != Device::Kind::cuda) GTEST_SKIP() << "there is no GPU";
  for (const auto sums : {Sums::fixed, Sums::fast})
    for (const auto precision : {Precision::double_precision, Precision::single_precision}) {
      auto p = test::rough_earth(precision);
      p.sums = sums;
      const auto a = march(p, cpu), b = march(p, gpu);
      // Displacements, which are many times their changes, are what is rounded.
      const std::size_t traces = 3 * p.receivers.size();
      std::vector<double> here(traces, 0), there(traces, 0);
      double most = 0, apart = 0;
      for (std::size_t n = 0; n < a.changes.size(); ++n) {
        const auto trace = n % traces;
        here[trace] += a.changes[n], there[trace] += b.changes[n];
        most = std::max(most, std::fabs(here[trace]));
        apart = worse(apart, std::fabs(here[trace] - there[trace]));
      }
      EXPECT_LT(apart, (precision == Precision::double_precision ? 1e-12 : 5e-5) * most);
      if (sums == Sums::fixed) {
        EXPECT_EQ(march(p, gpu).changes, b.changes);
      }
    }
}

TEST(Fluids, RefuseForcesShearAndPressureInRock) {
  const auto problem = [] {
    Problem p;
    p.mesh = bay();
    p.sources = {{{1.5, 1.5, 2.5}, true, {1, 1, 1, 0, 0, 0}, {Pulse::ricker, 0.2, 0, {}}}};
    p.end = 1;
    return p;
  };
  problem().settle();
  auto p = problem();
  p.sources[0].strength[1] = 2;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("no explosion"));
  p = problem();
  p.sources[0].is_moment = false;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("no explosion"));
  p = problem();
  p.records_pressure = true;
  p.receivers = {{1.5, 1.5, 2.5}, {1.5, 1.5, 0.5}};
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("receiver 2"));
  p = problem();
  p.mesh.media[1].quality_kappa = 100;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("fluid with a Q"));
}

}  // namespace
}  // namespace terrane::elastic
