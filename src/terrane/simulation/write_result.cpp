#include "terrane/simulation/write_result.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/io/dataset.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/io/vtkhdf.hpp"

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

std::string without_slashes(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

/// The dimensions of fields at stations: those of their grid, or one.
std::vector<Dimension> dimensions_of(const Survey& survey) {
  if (survey.grid)
    return {{"northing", survey.grid->northing.size()}, {"easting", survey.grid->easting.size()}};
  return {{"station", survey.size()}};
}

/// The columns of a file of fields at stations, each with what it has beside name and unit, one after the
/// other. see(variable without values, values in double precision).
template <class See>
void for_each_variable(const Result& result, const std::vector<std::string>& on_stations, const See& see) {
  const auto add = [&](const Column& c) {
    Variable v{
        without_slashes(c.name), c.unit, c.description.empty() ? c.name : c.description, on_stations, {}, {}};
    if (c.single) v.values = std::vector<float>{};
    see(std::move(v), c.values);
  };
  for (const auto* columns : {&result.survey.columns, &result.fields, &result.residuals})
    for (const auto& column : *columns) add(column);
}

/// Coordinates with values, and variables without.
Dataset header_of(const Result& result) {
  const auto& survey = result.survey;
  Dataset header;
  header.dimensions = dimensions_of(survey);
  std::vector<std::string> on_stations;
  for (const auto& d : header.dimensions) on_stations.push_back(d.name);
  const auto axis = [&](const char* name, const char* letter, std::vector<std::string> on,
                        std::vector<double> values) {
    header.coordinates.push_back(
        {name,
         "m",
         name,
         std::move(on),
         std::move(values),
         {{"standard_name",
           std::string(letter[0] == 'X' ? "projection_x_coordinate" : "projection_y_coordinate")},
          {"axis", letter}}});
  };
  if (survey.grid) {
    axis("northing", "Y", {"northing"}, survey.grid->northing);
    axis("easting", "X", {"easting"}, survey.grid->easting);
  } else {
    axis("easting", "X", on_stations, survey.easting);
    axis("northing", "Y", on_stations, survey.northing);
  }
  header.coordinates.push_back({"up", "m", "height", on_stations, survey.up, {{"positive", "up"}}});
  if (!survey.grid) header.coordinates.back().attributes.push_back({"axis", "Z"});
  for_each_variable(result, on_stations, [&](Variable v, const std::vector<double>& values) {
    const bool longitude = v.name == "longitude";
    if (survey.grid || (!longitude && v.name != "latitude")) return header.variables.push_back(std::move(v));
    v.unit = longitude ? "degrees_east" : "degrees_north";
    v.attributes = {{"standard_name", v.name}, {"axis", longitude ? "X" : "Y"}};
    v.values = values;
    header.coordinates.push_back(std::move(v));
  });
  for (const auto& column : result.words)
    header.coordinates.push_back(
        {without_slashes(column.name), "", column.name, on_stations, column.values, {}});
  if (!result.singular.empty())
    header.variables.push_back({"singular",
                                "1",
                                "1 where the gradient tensor has no single value",
                                on_stations,
                                std::vector<double>{},
                                {}});
  if (!survey.grid) header.attributes.push_back({"featureType", "point"});
  for (const auto& [name, value] : result.attributes) header.attributes.push_back({name, value});
  return header;
}

/// Fields at stations as a data set, piece by piece: nothing but one column in single precision is copied.
void write_stations(const Result& result, Sink& sink) {
  const auto header = header_of(result);
  sink.define(header);
  for_each_variable(result, {}, [&](const Variable& v, const std::vector<double>& values) {
    const auto& coordinates = header.coordinates;
    if (std::any_of(coordinates.begin(), coordinates.end(),
                    [&](const Variable& c) { return c.name == v.name; }))
      return;  // written with the header
    if (v.values.index() == Values(std::vector<float>{}).index())
      sink.put(v.name, ValueSpan(std::span<const float>(std::vector<float>(values.begin(), values.end()))));
    else sink.put(v.name, ValueSpan(std::span<const double>(values)));
  });
  if (!result.singular.empty())
    sink.put("singular", ValueSpan(std::span<const double>(
                             std::vector<double>(result.singular.begin(), result.singular.end()))));
  sink.finish();
}

/// A data set of which some variables come entry by entry.
void write_entries(const Result& result, Sink& sink) {
  const auto& data = result.data;
  sink.define(data);
  for (const auto& [name, read] : result.entries) {
    Slab slab;
    slab.count = data.shape(*data.find(name));
    slab.start.assign(slab.count.size(), 0);
    const std::size_t entries = std::exchange(slab.count[0], 1);
    std::vector<float> values(
        std::accumulate(slab.count.begin(), slab.count.end(), std::size_t{1}, std::multiplies<>()));
    for (; slab.start[0] < entries; ++slab.start[0]) {
      read(slab.start[0], values);
      sink.put(name, slab, ValueSpan(std::span<const float>(values)));
    }
  }
  sink.finish();
}

/// Into a file of a format that takes entries; all others are given what is in memory.
void write_data(const std::string& path, const Result& result) {
  if (result.entries.empty()) return io::write(path, result.data);
  const auto format = io::format_to_write(path).name;
  if (format == "netcdf") {
    io::NetcdfSink sink(path);
    return write_entries(result, sink);
  }
  if (format == "vtkhdf") {
    io::VtkhdfSink sink(path);
    return write_entries(result, sink);
  }
  auto held = result.data;
  std::erase_if(held.variables, [&](const Variable& v) {
    return std::any_of(result.entries.begin(), result.entries.end(),
                       [&](const Entries& e) { return e.variable == v.name; });
  });
  io::write(path, held);
}

/// Formats that take the fields of cells in place of those at stations.
bool takes_cells(const std::string& path, const Result& result) {
  const auto& format = io::format_to_write(path).name;
  return !result.cells.variables.empty() && (format == "hdf5" || format == "vtr");
}

bool is_large(const Result& result) {
  const auto columns = 3 + result.survey.columns.size() + result.fields.size() + result.residuals.size();
  return result.survey.size() > io::netcdf_held_bytes / sizeof(double) / columns;
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
  table.texts = result.words;
  return table;
}

/// What a file of this name is given: formats without room for every column get what was computed, and are
/// never left to take what was observed in its place.
io::Content content_for(const std::string& path, const Result& result) {
  return content_of(result, io::format_to_write(path).all_columns ? all_columns(result) : result.fields);
}

io::WriteOptions options_of(const Result& result) {
  io::WriteOptions options;
  options.conventions = result.conventions;
  return options;
}

}  // namespace

io::Content to_content(const Result& result) { return content_of(result, all_columns(result)); }

std::vector<std::string> left_out(const std::string& path, const Result& result) {
  if (!result.data.variables.empty()) return io::left_out(path, result.data);
  if (takes_cells(path, result)) {
    std::vector<std::string> names;
    for (const auto& column : all_columns(result)) names.push_back(column.name);
    return names;
  }
  if (!result.cells.variables.empty() && io::format_to_write(path).name != "netcdf") {
    auto stations = result;
    stations.cells = {};
    auto names = left_out(path, stations);
    for (const auto& variable : result.cells.variables) names.push_back(variable.name);
    return names;
  }
  // These hold whatever there is; surveys may be too large to be copied for nothing.
  const auto& format = io::format_to_write(path).name;
  if (format == "npy" || format == "netcdf" || format == "csv") return {};
  return io::left_out(path, content_for(path, result), options_of(result));
}

std::vector<std::string> written_files(const std::string& path, const Result& result) {
  if (!result.data.variables.empty()) return io::written_files(path, result.data);
  if (io::format_to_write(path).files == nullptr) return {path};
  return io::written_files(path, content_for(path, result), options_of(result));
}

double bytes_to_write(std::size_t stations, std::size_t survey_columns, std::size_t fields) {
  // Of each column: as formats have it, and as the NetCDF library holds it and the file that it makes in
  // memory; of large files a column at a time.
  constexpr double copies = 3.5;
  const auto of_survey = static_cast<double>(survey_columns), of_fields = static_cast<double>(fields),
             each = 8 * static_cast<double>(stations);
  const double columns = 1 + of_survey + of_fields;
  const bool whole = each * (columns + 2) <= static_cast<double>(io::netcdf_held_bytes);
  return each * (3 + of_survey + of_fields + (whole ? copies * columns : 2));
}

Dataset to_dataset(const Result& result) {
  MemorySink sink;
  if (!result.entries.empty()) {
    write_entries(result, sink);
    return sink.take();
  }
  if (!result.data.variables.empty()) return result.data;
  write_stations(result, sink);
  auto all = sink.take();
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(all.dimensions, result.cells.dimensions);
  append(all.coordinates, result.cells.coordinates);
  append(all.variables, result.cells.variables);
  return all;
}

void write_result(const std::string& path, const Result& result) {
  if (!result.data.variables.empty()) return write_data(path, result);
  if (takes_cells(path, result)) return io::write(path, result.cells);
  if (!result.cells.variables.empty() && io::format_to_write(path).name == "netcdf")
    return io::write(path, to_dataset(result));
  if (is_large(result) && io::format_to_write(path).name == "netcdf") {
    io::NetcdfSink sink(path);
    return write_stations(result, sink);
  }
  if (path.ends_with(".npy")) {
    io::Array array{{result.fields.size(), result.survey.size()}, {}, {}, false};
    array.single =
        std::all_of(result.fields.begin(), result.fields.end(), [](const Column& f) { return f.single; });
    for (const auto& f : result.fields)
      array.values.insert(array.values.end(), f.values.begin(), f.values.end());
    return io::write(path, array);
  }
  io::write(path, content_for(path, result), options_of(result));
}

}  // namespace terrane
