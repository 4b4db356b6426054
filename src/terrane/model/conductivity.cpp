#include "terrane/model/conductivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane {

std::vector<Conducts> conducts_along(std::string_view axis) {
  std::vector<Conducts> all;
  if (!axis.empty())
    all = {{fmt::format("conductivity_{}", axis), false}, {fmt::format("resistivity_{}", axis), true}};
  all.push_back({"conductivity", false});
  all.push_back({"resistivity", true});
  return all;
}

bool conduct_by_axis(const std::vector<std::string>& properties) {
  return std::any_of(properties.begin(), properties.end(), [](const std::string& name) {
    return std::any_of(axis_names.begin(), axis_names.end(), [&](std::string_view axis) {
      return name == fmt::format("conductivity_{}", axis) || name == fmt::format("resistivity_{}", axis);
    });
  });
}

bool conducts_by_axis(const EarthModel& model) {
  std::vector<std::string> names;
  for (const auto& property : model.properties) names.push_back(property.name);
  return conduct_by_axis(names);
}

namespace {

/// Throws InputError if a cell has a conductivity and a resistivity that contradict each other. Files round
/// both, so a hundredth is allowed.
void expect_one_statement(const EarthModel& model, const std::string& conductivity,
                          const std::string& resistivity) {
  if (!model.has(conductivity) || !model.has(resistivity)) return;
  const auto &sigma = model.property(conductivity), &rho = model.property(resistivity);
  const auto* cells = std::get_if<MeshCells>(&model.geometry);
  const auto n = first_where(sigma.size(), 0, [&](std::size_t i) {
    return std::fabs(sigma[i] * rho[i] - 1) > 0.01;  // false if σ or ρ has no value (NaN)
  });
  if (n == sigma.size()) return;
  throw InputError("model",
                   fmt::format("cell {} has a {} of {:.6g} S/m and a {} of {:.6g} ohm m, which is {:.6g} S/m",
                               cells != nullptr ? cells->cell[n] : n, conductivity, sigma[n], resistivity,
                               rho[n], 1 / rho[n]),
                   "They are one property: keep one of the two.");
}

}  // namespace

std::vector<double> conductivity_along(const EarthModel& model, std::string_view axis) {
  std::vector<double> values;
  const auto sources = conducts_along(axis);
  for (std::size_t n = 0; n + 1 < sources.size(); n += 2)
    expect_one_statement(model, sources[n].property, sources[n + 1].property);
  for (const auto& source : sources) {
    if (!model.has(source.property)) continue;
    const auto given = model.dense(source.property);
    if (values.empty()) values = filled(given.size(), std::numeric_limits<double>::quiet_NaN());
    for_each_stretch(values.size(), 0, [&](std::size_t first, std::size_t last) {
      for (auto cell = first; cell < last; ++cell)
        if (std::isnan(values[cell])) values[cell] = source.conductivity(given[cell]);
    });
  }
  return values;
}

std::vector<Column> conductivity_columns(const std::array<const std::vector<double>*, 3>& along,
                                         bool with_values) {
  const auto values = [&](std::size_t axis) { return with_values ? *along[axis] : std::vector<double>{}; };
  if (along[1] == along[0] && along[2] == along[0])
    return {{"conductivity", "S/m", "electric conductivity", values(0)}};
  std::vector<Column> all;
  for (std::size_t axis = 0; axis < 3; ++axis)
    all.push_back({fmt::format("conductivity_{}", axis_names[axis]), "S/m",
                   fmt::format("electric conductivity along {}", axis_names[axis]), values(axis)});
  return all;
}

std::vector<Column> charge_columns(const std::vector<double>& chargeability, const std::vector<double>& time,
                                   const std::vector<double>& exponent, bool with_values) {
  std::vector<Column> all;
  const auto add = [&](const char* name, const char* unit, const char* what,
                       const std::vector<double>& values) {
    if (!values.empty()) all.push_back({name, unit, what, with_values ? values : std::vector<double>{}});
  };
  add("chargeability", "V/V", "chargeability", chargeability);
  add("cole_cole_time", "s", "time constant of the Cole-Cole model", time);
  add("cole_cole_exponent", "1", "exponent of the Cole-Cole model", exponent);
  return all;
}

}  // namespace terrane
