#include "terrane/model/conductivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

std::vector<double> conductivity_along(const EarthModel& model, std::string_view axis) {
  std::vector<double> values;
  for (const auto& source : conducts_along(axis)) {
    if (!model.has(source.property)) continue;
    const auto given = model.dense(source.property);
    if (values.empty()) values.assign(given.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t cell = 0; cell < values.size(); ++cell)
      if (std::isnan(values[cell])) values[cell] = source.conductivity(given[cell]);
  }
  return values;
}

}  // namespace terrane
