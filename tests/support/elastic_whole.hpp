// A whole mesh whose forces and steps tests ask for.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/elastic/march/field.hpp"

namespace terrane::elastic {

/// A field in double precision on all of a mesh, and where its points are.
struct Whole {
  explicit Whole(Mesh mesh, int degree = 4, FieldOptions options = {},
                 Precision precision = Precision::double_precision) {
    problem.mesh = std::move(mesh);
    problem.degree = degree;
    problem.precision = precision;
    problem.end = 1e5;
    problem.step = 0;
    try {
      problem.settle();
    } catch (const InputError& error) {  // too many steps until the end, which no test takes
      if (error.where() != "elastic: step") throw;
    }
    reset(options);
  }
  void reset(FieldOptions options) {
    options.most_rows = 1 << 16;
    field = make_field(problem, make_part(problem, 0, 1), options, comm);
    const auto& part = field->part();
    const Basis basis(problem.degree);
    const auto p = static_cast<std::size_t>(basis.points()), each = problem.points_of_element();
    at.resize(part.points);
    for (std::size_t e = 0; e < part.elements.size(); ++e)
      for (std::size_t n = 0; n < each; ++n)
        at[part.point[e * each + n]] = problem.mesh.element(part.elements[e])
                                           .at({basis.x[n % p], basis.x[n / p % p], basis.x[n / p / p]});
  }
  std::vector<double> forces(const std::vector<double>& u) {
    field->set_state({u, std::vector<double>(u.size(), 0.0)});
    return field->forces();
  }
  std::vector<double> values(const std::function<Vector(const Vector&)>& of) const {
    std::vector<double> all;
    for (const auto& x : at) {
      const auto v = of(x);
      all.insert(all.end(), v.begin(), v.end());
    }
    return all;
  }
  std::vector<double> random_values(unsigned seed) const {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> all(3 * at.size());
    for (auto& v : all) v = uniform(random);
    return all;
  }
  Problem problem;
  Alone comm;
  std::unique_ptr<Field> field;
  std::vector<Vector> at;
};

/// Of what is not a number: infinite.
inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = worse(most, std::fabs(v));
  return most;
}
inline double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}

/// The energy after `steps` steps of a random motion, divided by that at first: ½ vᵀ M v between two
/// instants, and ½ u⁺ᵀ K u.
inline double energy_kept(Whole& earth, int steps) {
  const double dt = earth.problem.step;
  const auto& factor = earth.field->part().factor;  // Δt² over the mass of a point
  auto w = earth.random_values(4);
  for (auto& v : w) v *= dt;
  earth.field->set_state({earth.random_values(3), w, {}});
  earth.field->load_courses({});
  const auto energy = [&] {
    const auto before = earth.field->state().displacement;
    const auto ku = earth.field->forces();
    earth.field->step();
    const auto after = earth.field->state();
    double kinetic = 0;
    for (std::size_t n = 0; n < after.change.size(); ++n)
      kinetic += 0.5 * after.change[n] * after.change[n] / factor[n / 3];
    return kinetic - 0.5 * product(after.displacement, ku);
  };
  const double first = energy();
  for (int n = 0; n < steps; ++n) earth.field->step();
  return energy() / first;
}

}  // namespace terrane::elastic
