#include "terrane/simulation/station_fields.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrane {

namespace {

/// A name that NetCDF allows: without slashes, which separate groups, and not "complex", the dimension of
/// complex values.
std::string clean(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name == "complex" ? "complex_" : name;
}

/// Gives new, unique names to survey columns whose names NetCDF does not allow.
void clean_names(StationFields& stations) {
  const auto taken = [&](const std::string& name) {
    for (const auto* columns : {&stations.survey.columns, &stations.fields, &stations.residuals})
      if (std::any_of(columns->begin(), columns->end(), [&](const Column& c) { return c.name == name; }))
        return true;
    return false;
  };
  for (auto& column : stations.survey.columns) {
    auto name = clean(column.name);
    if (name == column.name) continue;
    while (taken(name)) name += '_';
    if (column.description.empty()) column.description = column.name;
    column.name = std::move(name);
  }
}

/// Whether a survey column contains coordinates or the line of stations.
bool is_place(std::string_view name) {
  if (name == "longitude" || name == "latitude" || name == "line" || name == "distance") return true;
  const bool of_electrode = name.size() > 2 && std::string_view("abmn").find(name[0]) != name.npos;
  const auto rest = of_electrode ? name.substr(1) : name;
  return of_electrode && (rest == "_easting" || rest == "_northing" || rest == "_up");
}

Variable variable_of(Column column, const std::vector<std::string>& on, VariableRole role) {
  Variable v{clean(column.name), column.unit, column.description, on, {}, {}, role};
  if (v.long_name.empty()) v.long_name = v.name;
  if (column.single) v.values = std::vector<float>(column.values.begin(), column.values.end());
  else v.values = std::move(column.values);
  const bool longitude = v.name == "longitude";
  if (on.size() == 1 && (longitude || v.name == "latitude")) {
    v.unit = longitude ? "degrees_east" : "degrees_north";
    v.attributes = {{"standard_name", v.name}, {"axis", longitude ? "X" : "Y"}};
  }
  return v;
}

void add_places(Dataset& data, Survey& survey, const std::vector<std::string>& on) {
  const auto axis = [&](const char* name, char letter, std::vector<std::string> along,
                        std::vector<double> values) {
    const std::string standard = letter == 'X' ? "projection_x_coordinate" : "projection_y_coordinate";
    data.coordinates.push_back({name,
                                "m",
                                name,
                                std::move(along),
                                std::move(values),
                                {{"standard_name", standard}, {"axis", std::string(1, letter)}}});
  };
  if (survey.grid) {
    axis("northing", 'Y', {"northing"}, survey.grid->northing);
    axis("easting", 'X', {"easting"}, survey.grid->easting);
  } else {
    axis("easting", 'X', on, std::move(survey.easting));
    axis("northing", 'Y', on, std::move(survey.northing));
  }
  data.coordinates.push_back({"up", "m", "height", on, std::move(survey.up), {{"positive", "up"}}});
  if (!survey.grid) data.coordinates.back().attributes.push_back({"axis", "Z"});
}

}  // namespace

Dataset to_dataset(StationFields stations) {
  auto& survey = stations.survey;
  Dataset data;
  data.dimensions = {{"station", survey.size()}};
  if (survey.grid)
    data.dimensions = {{"northing", survey.grid->northing.size()}, {"easting", survey.grid->easting.size()}};
  std::vector<std::string> on;
  for (const auto& d : data.dimensions) on.push_back(d.name);
  add_places(data, survey, on);
  clean_names(stations);
  for (auto& column : survey.columns) {
    auto& list = is_place(column.name) ? data.coordinates : data.variables;
    list.push_back(variable_of(std::move(column), on, VariableRole::given));
  }
  for (auto& column : stations.fields)
    data.variables.push_back(variable_of(std::move(column), on, VariableRole::computed));
  for (auto& column : stations.residuals)
    data.variables.push_back(variable_of(std::move(column), on, VariableRole::residual));
  if (!stations.singular.empty())
    data.variables.push_back({"singular",
                              "1",
                              "1 where the gradient tensor has no single value",
                              on,
                              std::vector<double>(stations.singular.begin(), stations.singular.end()),
                              {},
                              VariableRole::mark});
  if (!survey.grid) data.attributes.push_back({"featureType", "point"});
  if (!survey.projection.empty()) data.attributes.push_back({"projection", survey.projection});
  return data;
}

}  // namespace terrane
