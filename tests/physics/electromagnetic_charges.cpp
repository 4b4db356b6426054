// Fields over rock that stores charge: conductivity is complex, and differs from frequency to frequency.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "devices/device.hpp"
#include "support/land.hpp"
#include "terrane/base/error.hpp"
#include "terrane/model/polarization.hpp"
#include "terrane/physics/electromagnetic/formula/layered.hpp"
#include "terrane/physics/electromagnetic/sensitivity.hpp"
#include "terrane/physics/electromagnetic/transfer.hpp"

namespace terrane::electromagnetic::charges {
namespace {

using Z = std::complex<double>;
using Values = std::vector<Z>;

Stream on_cpu() { return Stream({Device::Kind::cpu, -1}); }

LayeredEarth::Layer alike(Z sigma) { return {sigma, sigma}; }

/// Air, 500 m of 100 ohm m and m = 0.4, 300 m of 10 ohm m, 1000 ohm m and m = 0.2.
LayeredEarth ground(double hertz) {
  return {{alike(cole_cole(1e-3, 0.2, 1, 0.3, hertz)), alike(0.1),
           alike(cole_cole(0.01, 0.4, 0.05, 0.5, hertz)), alike(1e-12)},
          {-800, -500, 0}};
}

// empymod 2, its filter of 401 points, without displacement currents, ρ of Pelton et al.; z is down there,
// which also turns H.
TEST(ChargedLayers, HaveTheFieldsOfAnotherProgram) {
  struct Row {
    double hertz;
    Vector3 moment, receiver;
    double field[12];  // re, im of e_e, e_n, e_down, h_e, h_n, h_down
  };
  const Row rows[] = {
      {1,
       {1, 0, 0},
       {1500, 400, -550},
       {1.358297219e-09, -2.421564644e-10, 8.396489490e-10, -6.008516154e-11, 1.956665384e-10,
        -9.562179938e-12, -1.222440672e-08, 7.866820395e-10, 1.293322938e-08, -2.086588541e-09,
        7.111693200e-09, -1.076494092e-09}},
      {30,
       {1, 0, 0},
       {300, 200, -20},
       {2.340940289e-07, -6.239440492e-08, 3.086078994e-07, -3.208787935e-08, 2.956653080e-08,
        -5.073799505e-09, -4.267459466e-07, 1.861977068e-08, 1.315999921e-07, -3.045703459e-08,
        3.286728576e-07, -3.396796888e-08}},
      {30,
       {0, 0, -1},
       {1500, 400, -550},
       {1.999749367e-11, -1.129241283e-11, 5.332664979e-12, -3.011310087e-12, -1.443273382e-11,
        1.677121420e-11, -8.463270268e-11, 1.643350801e-10, 3.173726351e-10, -6.162565506e-10, 0, 0}}};
  for (const auto& row : rows) {
    const auto field = electric_dipole(ground(row.hertz), row.hertz, {0, 0, -40}, row.moment, row.receiver);
    for (std::size_t c = 0; c < 6; ++c) {
      const bool same = (c < 3) == (c % 3 != 2);
      const Z expected = (same ? 1.0 : -1.0) * Z(row.field[2 * c], row.field[2 * c + 1]);
      EXPECT_LE(std::abs((c < 3 ? field.e[c] : field.h[c - 3]) - expected), 1e-6 * std::abs(expected) + 1e-20)
          << row.hertz << " " << row.moment[0] << " " << c;
    }
  }
}

/// Faces on both sides of 0: even ones, then such that grow.
std::vector<double> growing(double half, double step, double growth, double reach) {
  std::vector<double> faces;
  for (double x = -half; x < half + step / 2; x += step) faces.push_back(x);
  for (double h = step * growth; faces.back() < reach; h *= growth) {
    faces.push_back(faces.back() + h);
    faces.insert(faces.begin(), -faces.back());
  }
  return faces;
}

/// Cells of ground() at rest, with what it stores.
Problem layers(const TensorMesh& mesh, std::vector<double> frequencies, bool stores) {
  Problem problem;
  problem.mesh = mesh;
  problem.frequencies = std::move(frequencies);
  for (std::size_t k = 0; k < mesh.n_up(); ++k) {
    const double middle = (mesh.up()[k] + mesh.up()[k + 1]) / 2;
    const std::size_t layer = middle > 0 ? 3 : middle > -500 ? 2 : middle > -800 ? 1 : 0;
    const double sigma[4] = {1e-3, 0.1, 0.01, 1e-8}, m[4] = {0.2, 0, 0.4, 0}, tau[4] = {1, 1, 0.05, 1},
                 c[4] = {0.3, 1, 0.5, 1};
    const auto add = [&](std::vector<double>& to, double value) {
      to.insert(to.end(), mesh.n_east() * mesh.n_north(), value);
    };
    add(problem.conductivity[0], sigma[layer]);
    if (!stores) continue;
    add(problem.chargeability, m[layer]);
    add(problem.charge_time, tau[layer]);
    add(problem.charge_exponent, c[layer]);
  }
  return problem;
}

// The charges' part of the field is compared, as the rest has errors of the mesh that both share.
TEST(ChargedFields, AreThoseOfChargedLayers) {
  const auto sides = growing(900, 75, 1.45, 9000);
  std::vector<double> up{0, 50, 120, 230, 400, 700, 1200, 2000, 3300, 5500, 9000};
  for (const double depth : {25.,  50.,  80.,  115., 160.,  210.,  270.,  340.,  420.,  500.,  570.,
                             650., 730., 800., 900., 1050., 1300., 1700., 2400., 3500., 5500., 9000.})
    up.insert(up.begin(), -depth);
  auto problem = layers(TensorMesh(sides, sides, up), {10}, true);
  problem.sources = {{Source::Kind::electric_dipole, {{-350, 40, -40}}, {1, 0, 0}, 1}};
  problem.receivers = {{300, 200, -20}, {150, -300, -60}};
  problem.components = {{false, 2}, {false, 1}, {true, 2}, {true, 1}, {true, 0}};
  auto stream = on_cpu();
  const auto with = forward(problem, stream);
  const auto without = forward(
      [&] {
        auto other = problem;
        for (auto* values : {&other.chargeability, &other.charge_time, &other.charge_exponent})
          values->clear();
        return other;
      }(),
      stream);
  EXPECT_TRUE(with.solves[0].converged());
  EXPECT_LE(with.solves[0].iterations, without.solves[0].iterations + 4);
  EXPECT_LT(with.solves[0].divergence, 1e-7);
  auto slow = ground(10);
  slow.layers[0] = alike(1e-3);
  slow.layers[2] = alike(0.01);
  const std::size_t count = problem.receivers.size();
  for (std::size_t n = 0; n < count; ++n) {
    const auto charged = electric_dipole(ground(10), 10, problem.sources[0].points[0], {1, 0, 0},
                                         problem.receivers[n]),
               rest =
                   electric_dipole(slow, 10, problem.sources[0].points[0], {1, 0, 0}, problem.receivers[n]);
    for (const bool magnetic : {false, true}) {
      double wrong = 0, size = 0, effect = 0;
      for (std::size_t c = 0; c < problem.components.size(); ++c) {
        if (problem.components[c].magnetic != magnetic) continue;
        const auto axis = static_cast<std::size_t>(2 - problem.components[c].axis);
        const Z whole = magnetic ? charged.h[axis] : charged.e[axis],
                part = whole - (magnetic ? rest.h[axis] : rest.e[axis]),
                found = with.data[c * count + n] - without.data[c * count + n];
        wrong += std::norm(found - part);
        effect += std::norm(part);
        size += std::norm(whole);
      }
      EXPECT_GT(std::sqrt(effect / size), magnetic ? 0.01 : 0.08) << n;
      EXPECT_LT(std::sqrt(wrong / effect), 0.03) << n << magnetic;
    }
  }
}

TEST(ChargedFields, OfPlaneWavesOverLayersHaveTheirImpedanceAtEveryFrequencyWithoutAnIteration) {
  std::vector<double> up{0, 20, 60, 140, 300, 600, 1200, 2500, 5000, 12000};
  for (double depth = 15; depth < 499; depth += 15 + 0.06 * depth) up.insert(up.begin(), -depth);
  up.front() = -500;
  for (int n = 1; n <= 20; ++n) up.insert(up.begin(), -500 - 15. * n);
  for (double h = 20; up.front() > -30000; h *= 1.15) up.insert(up.begin(), up.front() - h);
  const std::vector<double> across{-4000, -2000, -1000, 0, 1000, 2000, 4000};
  for (const Strike strike : {Strike::none, Strike::north}) {
    auto problem = layers(TensorMesh(across, across, up), {1, 30}, true);
    problem.parameters.strike = strike;
    problem.sources = both_polarisations();
    problem.components = recorded_of_plane_waves();
    problem.receivers = {{300, -400, 0}};
    auto stream = on_cpu();
    const auto out = forward(problem, stream);
    for (const auto& solve : out.solves) EXPECT_EQ(solve.iterations, 0);
    const auto sites = transfer_functions(problem, out);
    for (std::size_t f = 0; f < 2; ++f) {
      const double hertz = problem.frequencies[f];
      const Z expected = plane_wave_impedance(ground(hertz), hertz);
      EXPECT_LT(std::abs(sites[f].z[2] - expected), 0.004 * std::abs(expected)) << hertz;
      EXPECT_LT(std::abs(sites[f].z[1] + expected), 0.004 * std::abs(expected)) << hertz;
      auto rest = ground(hertz);
      rest.layers[0] = alike(1e-3);
      rest.layers[2] = alike(0.01);
      EXPECT_GT(std::abs(plane_wave_impedance(rest, hertz) - expected), 0.025 * std::abs(expected));
    }
  }
}

/// land of test::land with phases up to `phase` that differ from cell to cell, and by axis.
struct Turned {
  test::Land earth;
  std::array<std::vector<double>, 3> size;
  std::array<Values, 3> beyond;
  Turned(double phase, int cells) : earth(test::land(cells, 1.3)) {
    std::mt19937 generator(3);
    std::uniform_real_distribution<double> part(0, 1);
    for (std::size_t a = 0; a < 3; ++a)
      for (const double sigma : earth.sigma) {
        size[a].push_back(sigma * (1 + 0.3 * static_cast<double>(a)));
        beyond[a].push_back(size[a].back() *
                            (std::polar(1.0, sigma > 1e-6 ? phase * part(generator) : 0) - 1.0));
      }
  }
  Conductivity sizes() const { return {&size[0], &size[1], &size[2]}; }
  Beyond more() const { return {&beyond[0], &beyond[1], &beyond[2]}; }
};

void expect_symmetry_and_iterations(Device device) {
  Stream stream(device);
  const Vector3 at{60, 40, -90};
  const bool debug = device.kind == Device::Kind::debug;  // slow
  for (const auto& [phase, hertz, most] : {std::tuple{0.3, 1.0, 14}, std::tuple{0.0, 1.0, 12},
                                           std::tuple{1.2, 1.0, 30}, std::tuple{0.3, 100.0, 24}}) {
    if (debug && (phase != 0.3 || hertz > 1)) continue;
    const Turned rock(phase, debug ? 8 : 16);
    MaxwellSolver<float> solver(stream, rock.earth.mesh, rock.sizes(), nullptr, 32768, rock.more());
    solver.set_frequency(hertz);
    auto b = solver.image(), q = solver.image(), s = solver.image();
    auto x = solver.vector(), y = solver.vector();
    add(stream, solver.metric(),
        moments(rock.earth.mesh, {Source::Kind::electric_dipole, {at}, {1, 2, 3}, 1}, ""),
        {0, -8e-7 * std::numbers::pi * std::numbers::pi * hertz}, b);
    solver.complete(b);
    const auto report = solver.solve(b, x, {.relative = 1e-10});
    EXPECT_TRUE(report.converged()) << phase;
    EXPECT_LE(report.iterations, most) << phase << " " << hertz;
    if (std::getenv("SHOW")) printf("%g rad, %g Hz: %d iterations\n", phase, hertz, report.iterations);
    EXPECT_LT(solver.divergence(b, x), 1e-7) << phase;
    add(stream, solver.metric(),
        moments(rock.earth.mesh, {Source::Kind::magnetic_dipole, {at}, {3, 1, 2}, 1}, ""), {1, 1}, y);
    solver.apply(x, q);
    solver.apply(y, s);
    const auto one = solver.dot(y, q), other = solver.dot(x, s);
    EXPECT_LT(std::hypot(one.re - other.re, one.im - other.im), 1e-9 * std::hypot(one.re, one.im)) << phase;
    // A x is b, with σ of the cells itself.
    if (phase == 0) continue;
    MaxwellSolver<float> real(stream, rock.earth.mesh, rock.sizes());
    real.set_frequency(hertz);
    real.apply(x, s);
    EXPECT_GT(std::hypot(real.dot(y, s).re - one.re, real.dot(y, s).im - one.im),
              1e-4 * std::hypot(one.re, one.im))
        << "charges must matter";
  }
}

class ChargedOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(ChargedOn);

TEST(ChargedFields, OperatorIsSymmetricAndASolveTakesAFewIterationsMore) {
  expect_symmetry_and_iterations({Device::Kind::cpu, -1});
}
TEST_P(ChargedOn, OperatorIsSymmetricAndASolveTakesAFewIterationsMore) {
  expect_symmetry_and_iterations(GetParam());
}

/// Wires over land whose blocks store charge.
Problem charged_land() {
  const auto earth = test::land(12, 1.3);
  Problem problem;
  problem.mesh = earth.mesh;
  problem.conductivity[0] = earth.sigma;
  for (const double sigma : earth.sigma) {
    problem.quadrature[0].push_back(sigma > 1e-6 ? 0.1 * sigma : 0);
    problem.chargeability.push_back(sigma > 0.02 ? 0.3 : 0);
    problem.charge_time.push_back(0.02);
    problem.charge_exponent.push_back(0.6);
  }
  problem.sources = {{Source::Kind::wire, {{-133, 77, -21}, {112.5, -40, -155}}, {}, 1}};
  problem.frequencies = {0.5, 20};
  problem.receivers = {{310, 50, -60}, {-220, 160, 0}};
  for (const bool magnetic : {false, true})
    for (const int axis : {2, 1}) problem.components.push_back({magnetic, axis});
  problem.parameters = {.tolerance = 1e-12, .receiver_tolerance = 1e-10};
  return problem;
}

TEST(ChargedFields, HaveTheSensitivityThatIsTheirTangentAndItsTranspose) {
  auto stream = on_cpu();
  const auto problem = charged_land();
  std::mt19937 generator(7);
  std::normal_distribution<double> normal;
  std::vector<double> v(problem.mesh.size());
  for (double& value : v) value = normal(generator);
  Sensitivity j(problem, stream);
  const auto tangent = j.times(v);
  const auto changed = [&](double step) {
    auto other = problem;
    for (std::size_t n = 0; n < v.size(); ++n)
      for (auto* sigma : {&other.conductivity[0], &other.quadrature[0]}) (*sigma)[n] *= std::exp(step * v[n]);
    return forward(other, stream).data;
  };
  const auto plus = changed(1e-3), minus = changed(-1e-3);
  Z one = 0, other = 0;
  double difference = 0, size = 0, products = 0;
  Values w;
  for (std::size_t n = 0; n < tangent.size(); ++n) {
    const double weight = problem.components[n % 8 / 2].magnetic ? 50 : 1;
    difference += weight * std::norm((plus[n] - minus[n]) / 2e-3 - tangent[n]);
    size += weight * std::norm(tangent[n]);
    w.push_back(Z(normal(generator), normal(generator)));
    one += w[n] * tangent[n];
    products += std::abs(w[n] * tangent[n]);
  }
  EXPECT_LT(std::sqrt(difference / size), 1e-5);
  const auto transposed = j.transposed_times(w);
  for (std::size_t n = 0; n < v.size(); ++n) other += v[n] * transposed[n];
  EXPECT_LT(std::abs(one - other), 1e-9 * products);
  j.rows(std::vector<std::size_t>{3, 8 + 5}, [&](std::size_t n, std::span<const Z> row) {
    Z product = 0;
    double largest = 0;
    for (std::size_t c = 0; c < v.size(); ++c) {
      product += row[c] * v[c];
      largest += std::abs(row[c] * v[c]);
    }
    EXPECT_LT(std::abs(product - tangent[n == 0 ? 3 : 13]), 1e-8 * largest) << n;
  });
}

/// ‖one − other‖/‖one‖, of every kind of field by itself: components [from, from + count) and every eighth
/// further.
double difference(const Values& one, const Values& other, std::size_t from, std::size_t count) {
  double wrong = 0, size = 0;
  for (std::size_t n = 0; n < one.size(); ++n) {
    if (n % 8 < from || n % 8 >= from + count) continue;
    wrong += std::norm(one[n] - other[n]);
    size += std::norm(one[n]);
  }
  return std::sqrt(wrong / size);
}

TEST_P(ChargedOn, FieldsAndTheirSensitivityAreThoseOfTheProcessors) {
  auto problem = charged_land();
  problem.frequencies = {20};
  problem.parameters = {.tolerance = 1e-9, .receiver_tolerance = 1e-7};
  std::mt19937 generator(7);
  std::normal_distribution<double> normal;
  std::vector<double> v(problem.mesh.size());
  for (double& value : v) value = normal(generator);
  Values w;
  for (std::size_t n = 0; n < problem.solves() * 8; ++n) w.emplace_back(normal(generator), normal(generator));
  struct Found {
    Outcome fields;
    Values tangent, gradient;
  };
  const auto on = [&](Device device) {
    Stream stream(device);
    Sensitivity j(problem, stream);
    return Found{j.outcome(), j.times(v), j.transposed_times(w)};
  };
  const auto here = on({Device::Kind::cpu, -1}), there = on(GetParam());
  for (std::size_t n = 0; n < here.fields.solves.size(); ++n) {
    EXPECT_TRUE(there.fields.solves[n].converged());
    EXPECT_NEAR(there.fields.solves[n].iterations, here.fields.solves[n].iterations, 1);
    EXPECT_LT(there.fields.solves[n].divergence, 1e-7);
  }
  for (const std::size_t kind : {0U, 4U}) {  // E, then H
    EXPECT_LT(difference(here.fields.data, there.fields.data, kind, 4), 1e-6);
    EXPECT_LT(difference(here.tangent, there.tangent, kind, 4), 1e-5);
  }
  double wrong = 0, size = 0;
  for (std::size_t c = 0; c < v.size(); ++c) {
    wrong += std::norm(here.gradient[c] - there.gradient[c]);
    size += std::norm(here.gradient[c]);
  }
  EXPECT_LT(wrong, 1e-10 * size);
  // The test would see charges that a device left out.
  auto real = problem;
  for (auto* values : {&real.chargeability, &real.charge_time, &real.charge_exponent, &real.quadrature[0]})
    values->clear();
  Stream stream({Device::Kind::cpu, -1});
  EXPECT_GT(difference(here.fields.data, forward(real, stream).data, 0, 4), 1e-2);
}

TEST(ChargedFields, AreSolvedFrequencyAfterFrequencyAndAreThoseOfEachSourceAlone) {
  auto stream = on_cpu();
  auto both = charged_land();
  both.parameters.tolerance = 1e-8;
  both.sources.push_back({Source::Kind::electric_dipole, {{60, 40, -90}}, {1, 2, 3}, 1});
  std::vector<std::size_t> order;
  for (std::size_t turn = 0; turn < 4; ++turn) order.push_back(both.solve_at(turn));
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 2, 1, 3}));
  const auto found = forward(both, stream).data;
  Sensitivity j(both, stream);
  EXPECT_EQ(j.outcome().data, found);
  const std::vector<double> v(both.mesh.size(), 0.1);
  const Values w(found.size(), Z(1, 2));
  const auto tangent = j.times(v), gradient = j.transposed_times(w);
  Values fields, tangents, gradients(v.size(), 0.0);
  for (const auto& source : both.sources) {
    auto alone = both;
    alone.sources = {source};
    const auto data = forward(alone, stream).data;
    fields.insert(fields.end(), data.begin(), data.end());
    Sensitivity own(alone, stream);
    const auto part = own.times(v);
    tangents.insert(tangents.end(), part.begin(), part.end());
    const auto sum = own.transposed_times(std::span(w).first(data.size()));
    for (std::size_t c = 0; c < sum.size(); ++c) gradients[c] += sum[c];
  }
  EXPECT_EQ(found, fields);
  EXPECT_EQ(tangent, tangents);
  double wrong = 0, size = 0;
  for (std::size_t c = 0; c < v.size(); ++c) {
    wrong += std::norm(gradient[c] - gradients[c]);
    size += std::norm(gradients[c]);
  }
  EXPECT_LT(wrong, 1e-24 * size);
  for (auto* values : {&both.chargeability, &both.quadrature[0]}) values->clear();
  EXPECT_EQ(both.solve_at(1), 1U) << "one network does for all";
}

TEST(ChargedFields, AtRestAndWithoutChargeAreThoseOfRealConductivity) {
  auto stream = on_cpu();
  auto charged = charged_land();
  charged.quadrature[0].clear();
  charged.frequencies = {0.5};
  charged.charge_time.assign(charged.mesh.size(), 1e-16);
  auto real = charged;
  for (auto* values : {&real.chargeability, &real.charge_time, &real.charge_exponent}) values->clear();
  EXPECT_TRUE(charged.stores_charge());
  EXPECT_FALSE(real.stores_charge());
  const auto one = forward(charged, stream).data, other = forward(real, stream).data;
  for (std::size_t n = 0; n < one.size(); ++n)
    EXPECT_LT(std::abs(one[n] - other[n]), 1e-7 * std::abs(other[n]));
}

TEST(ChargedFields, AreRefusedWithoutATimeOrWithAChargeabilityOfOne) {
  const auto refused = [](const auto& spoil) {
    auto problem = charged_land();
    spoil(problem);
    EXPECT_THROW(problem.check(), Error);
  };
  EXPECT_NO_THROW(charged_land().check());
  refused([](Problem& p) { p.chargeability[5] = 1; });
  refused([](Problem& p) { p.chargeability[0] = 0.1, p.charge_time[0] = 0; });
  refused([](Problem& p) { p.chargeability[0] = 0.1, p.charge_exponent[0] = 1.5; });
  refused([](Problem& p) { p.charge_time.pop_back(); });
  refused([](Problem& p) { p.quadrature[0].pop_back(); });
  refused([](Problem& p) { p.quadrature[0][2] = NAN; });
  refused([](Problem& p) { p.quadrature[1].swap(p.quadrature[0]); });  // north alone
}

}  // namespace
}  // namespace terrane::electromagnetic::charges
