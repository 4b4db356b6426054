#include "terrane/simulation/write_result.hpp"

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/io/registry.hpp"

namespace terrane {

namespace {

std::vector<Column> all_columns(const Result& result) {
  auto columns = result.survey.columns;
  columns.insert(columns.end(), result.fields.begin(), result.fields.end());
  columns.insert(columns.end(), result.residuals.begin(), result.residuals.end());
  if (!result.singular.empty())
    columns.push_back({"singular",
                       "1",
                       "1 where the gradient tensor has no single value",
                       {result.singular.begin(), result.singular.end()}});
  return columns;
}

io::Content content_of(const Result& result, std::vector<Column> columns) {
  const auto& survey = result.survey;
  if (survey.grid) {
    io::GridData grid;
    grid.easting = survey.grid->easting;
    grid.northing = survey.grid->northing;
    grid.fields.push_back({"up", "m", "height", survey.up});
    for (auto& c : columns) grid.fields.push_back(std::move(c));
    grid.projection = survey.projection;
    grid.attributes = result.attributes;
    return grid;
  }
  auto table = io::to_table(survey, result.attributes);
  table.columns.resize(3);
  for (auto& c : columns) table.columns.push_back(std::move(c));
  return table;
}

/// What a file of this name is given: formats without room for every column get what was computed, and are
/// never left to take what was observed in its place.
io::Content content_for(const std::string& path, const Result& result) {
  return content_of(result, io::format_to_write(path).all_columns ? all_columns(result) : result.fields);
}

/// Throws UnsupportedError: data sets go to NetCDF alone.
void expect_netcdf(const std::string& path) {
  if (io::format_to_write(path).name != "netcdf")
    throw UnsupportedError(path, "this format does not hold data sets", "Give the file an ending .nc.");
}

}  // namespace

io::Content to_content(const Result& result) { return content_of(result, all_columns(result)); }

std::vector<std::string> left_out(const std::string& path, const Result& result) {
  if (!result.data.variables.empty()) return expect_netcdf(path), std::vector<std::string>();
  if (path.ends_with(".npy")) return {};
  return io::left_out(path, content_for(path, result));
}

void write_result(const std::string& path, const Result& result) {
  if (!result.data.variables.empty()) return expect_netcdf(path), io::write_netcdf(path, result.data);
  if (path.ends_with(".npy")) {
    io::Array array{{result.fields.size(), result.survey.size()}, {}, {}, false};
    array.single =
        std::all_of(result.fields.begin(), result.fields.end(), [](const Column& f) { return f.single; });
    for (const auto& f : result.fields)
      array.values.insert(array.values.end(), f.values.begin(), f.values.end());
    return io::write(path, array);
  }
  io::write(path, content_for(path, result));
}

}  // namespace terrane
