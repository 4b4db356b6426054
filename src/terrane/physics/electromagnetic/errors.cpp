#include "terrane/physics/electromagnetic/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace terrane::electromagnetic {

namespace {

using Z = std::complex<double>;

constexpr double of_fields = 1.6, of_responses = 1.5;  // s in e = |d_companion − d|/s, the error of a datum d

/// A variable for the errors of another one, with the same unit and dimensions.
Variable errors_of(const Variable& of, std::vector<double> errors) {
  return {of.name + "_error", of.unit, "error of " + of.long_name, of.dimensions, std::move(errors), {}};
}

std::array<const std::vector<double>*, 8> values_of_medium(const Problem& problem) {
  return {&problem.conductivity[0], &problem.conductivity[1], &problem.conductivity[2],
          &problem.quadrature[0],   &problem.quadrature[1],   &problem.quadrature[2],
          &problem.chargeability,   &problem.charge_time};
}

}  // namespace

CompanionWish wish_of(const Problem& problem) {
  CompanionWish wish;
  const auto see = [&](const Vector3& place) {
    for (std::size_t a = 0; a < 3; ++a) wish.places[a].push_back(place[a]);
  };
  for (const auto& place : problem.receivers) see(place);
  for (const auto& source : problem.sources) std::for_each(source.points.begin(), source.points.end(), see);
  return wish;
}

TensorMesh finer_mesh_of(const Problem& problem, const CompanionWish& wish,
                         const std::array<double, 3>& factor, KeptFaces keeps) {
  return finer_mesh(problem.mesh, values_of_medium(problem), wish, factor, keeps);
}

Problem problem_on(const Problem& problem, const TensorMesh& cells) {
  auto other = problem;
  other.mesh = cells;
  const auto take = [&](std::vector<double>& values) { values = values_on(cells, problem.mesh, values); };
  for (std::size_t a = 0; a < 3; ++a) take(other.conductivity[a]), take(other.quadrature[a]);
  for (auto* values : {&other.chargeability, &other.charge_time, &other.charge_exponent, &other.contrasts})
    take(*values);
  return other;
}

Problem companion_of(const Problem& problem, const CompanionWish& wish) {
  const Companion companion(problem.mesh, values_of_medium(problem), wish);
  Problem other;
  other.mesh = companion.mesh();
  for (std::size_t a = 0; a < 3; ++a) {
    other.conductivity[a] = companion.geometric_mean(problem.conductivity[a]);
    other.quadrature[a] = companion.mean(problem.quadrature[a]);
  }
  other.chargeability = companion.mean(problem.chargeability);
  other.charge_time = companion.mean(problem.charge_time);
  other.charge_exponent = companion.mean(problem.charge_exponent);
  other.contrasts = companion.geometric_mean(problem.contrasts);
  other.sources = problem.sources;
  other.first_source = problem.first_source;
  other.frequencies = problem.frequencies;
  other.receivers = problem.receivers;
  other.components = problem.components;
  other.planned = problem.planned;
  other.parameters = problem.parameters;
  return other;
}

std::vector<Variable> field_errors(const Problem& problem, const std::vector<Z>& mine,
                                   const std::vector<Z>& its, StatedErrors& stated) {
  const std::size_t receivers = problem.receivers.size(), components = problem.components.size();
  const auto place = [&](std::size_t n) {
    const std::size_t solve = n / receivers;
    return fmt::format("receiver {} of {} at {:.4g} Hz", n % receivers + 1,
                       problem.source_name(solve / problem.frequencies.size()),
                       problem.frequencies[solve % problem.frequencies.size()]);
  };
  std::array<std::vector<double>, 2> errors;  // [0]: of E, [1]: of H, each [source, frequency, receiver]
  for (const bool magnetic : {false, true}) {
    JudgedData judged{magnetic ? "H" : "E", {}, {}, {}, place};
    for (std::size_t n = 0; n < problem.solves() * receivers && !mine.empty(); ++n) {
      double squares = 0, differences = 0;
      for (std::size_t c = 0; c < components; ++c) {
        if (problem.components[c].magnetic != magnetic) continue;
        const std::size_t at = (n / receivers * components + c) * receivers + n % receivers;
        squares += std::norm(mine[at]);
        differences += its.empty() ? NAN : std::norm(its[at] - mine[at]);
      }
      judged.difference.push_back(std::sqrt(differences) / of_fields);
      judged.scale.push_back(std::sqrt(squares));
      judged.source.push_back(n / receivers);
    }
    errors[magnetic ? 1 : 0] = stated.of(judged);
  }
  std::vector<Variable> all;
  for (const auto& component : problem.components)
    all.push_back({name(component) + "_error",
                   component.magnetic ? "A/m" : "V/m",
                   fmt::format("error of {}, of the vector that is recorded", name(component)),
                   {"source", "frequency", "receiver"},
                   errors[component.magnetic ? 1 : 0],
                   {}});
  return all;
}

namespace {

/// The largest difference between runs among the given values of each transfer function, and the scale of
/// these values, [frequency, receiver].
template <class Numbers, class Size>
JudgedData judge(const Problem& problem, std::string name, const std::vector<TransferFunction>& mine,
                 const std::vector<TransferFunction>& its, const Numbers& numbers, const Size& size) {
  const std::size_t receivers = problem.receivers.size();
  JudgedData judged{std::move(name), {}, {}, {}, [&problem, receivers](std::size_t n) {
                      return fmt::format("receiver {} at {:.4g} Hz", n % receivers + 1,
                                         problem.frequencies[n / receivers]);
                    }};
  for (std::size_t n = 0; n < mine.size(); ++n) {
    double most = its.empty() ? NAN : 0;
    const auto here = numbers(mine[n]);
    for (std::size_t c = 0; c < here.size() && !its.empty(); ++c)
      most = std::fmax(most, std::abs(numbers(its[n])[c] - here[c]));
    judged.difference.push_back(most / of_responses);
    judged.scale.push_back(size(here));
    judged.source.push_back(n / receivers);
  }
  return judged;
}

}  // namespace

std::vector<Variable> response_errors(const Problem& problem, const std::vector<TransferFunction>& mine,
                                      const std::vector<TransferFunction>& its,
                                      const std::vector<std::string>& responses, StatedErrors& stated) {
  const auto asked = [&](std::string_view response) {
    return std::find(responses.begin(), responses.end(), response) != responses.end();
  };
  std::vector<double> of_z, of_tipper, of_tensor;
  if (asked("impedance") || asked("apparent_resistivity") || asked("phase"))
    of_z = stated.of(judge(
        problem, "Z", mine, its, [](const auto& t) { return t.z; },
        [](const auto& z) { return std::sqrt((std::norm(z[1]) + std::norm(z[2])) / 2); }));
  if (asked("tipper"))
    of_tipper = stated.of(judge(
        problem, "tipper", mine, its, [](const auto& t) { return t.tipper; },
        [](const auto&) { return 1.0; }));
  if (asked("phase_tensor"))
    of_tensor = stated.of(judge(
        problem, "phase tensor", mine, its, [](const auto& t) { return t.phase_tensor(); },
        [](const auto& p) {
          return std::hypot(std::hypot(p[0], p[1]), std::hypot(p[2], p[3])) / std::sqrt(2.0);
        }));
  std::vector<Variable> all;
  for (const auto& variable : response_variables(problem, {}, responses)) {
    std::vector<double> errors;
    const bool rho = variable.name.starts_with("rho_"), z = variable.name.starts_with("z_"),
               tipper = variable.name.starts_with("tipper_"),
               tensor = variable.name.starts_with("phase_tensor_");
    const auto element =
        static_cast<std::size_t>((variable.name.ends_with("_ee") || variable.name.ends_with("_en") ? 0 : 2) +
                                 (variable.name.ends_with("n") ? 1 : 0));
    for (std::size_t n = 0; n < mine.size(); ++n) {
      if (z || tipper || tensor) {
        errors.push_back(z ? of_z[n] : tipper ? of_tipper[n] : of_tensor[n]);
        continue;
      }
      const double size = std::abs(mine[n].z[element]),
                   omega = 2 * std::numbers::pi * problem.frequencies[n / problem.receivers.size()];
      errors.push_back(rho ? (2 * size + of_z[n]) * of_z[n] / (omega * 4e-7 * std::numbers::pi)
                           : std::min(of_z[n] / size, std::numbers::pi) * 180 / std::numbers::pi);
    }
    all.push_back(errors_of(variable, std::move(errors)));
  }
  return all;
}

}  // namespace terrane::electromagnetic
