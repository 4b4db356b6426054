#include "terrane/io/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

#include "terrane/base/error.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/io/npy.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::io {

namespace {

std::size_t count_of(const std::vector<std::size_t>& shape) {
  std::size_t n = 1;
  for (const auto size : shape) n *= size;
  return n;
}

/// For each combination of indices along `dimensions`, the index of its value in `variable`; empty if the
/// variable has another dimension.
std::optional<std::vector<std::size_t>> rows_of(const Dataset& data, const Variable& variable,
                                                const std::vector<std::string>& dimensions,
                                                const std::vector<std::size_t>& shape) {
  const auto own = data.shape(variable);
  std::vector<std::size_t> step(dimensions.size(), 0);
  std::size_t stride = 1;
  for (std::size_t d = own.size(); d-- > 0;) {
    const auto at = std::find(dimensions.begin(), dimensions.end(), variable.dimensions[d]);
    if (at == dimensions.end()) return {};
    step[static_cast<std::size_t>(at - dimensions.begin())] = stride;
    stride *= own[d];
  }
  std::vector<std::size_t> entries(count_of(shape)), index(shape.size(), 0);
  for (auto& entry : entries) {
    for (std::size_t d = 0; d < shape.size(); ++d) entry += index[d] * step[d];
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return entries;
}

/// Adds a variable to a table as one column, two for complex values, or a text column; without values if the
/// variable has none.
void add_columns(Table& table, const Variable& v, std::vector<std::size_t> entries) {
  if (size(v.values) == 0) entries.clear();
  const auto column = [&](const std::string& end, auto&& part) {
    Column c{v.name + end, v.unit, v.long_name, {}};
    c.values.reserve(entries.size());
    for (const auto entry : entries) c.values.push_back(part(entry));
    table.columns.push_back(std::move(c));
  };
  std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) {
          TextColumn words{v.name, {}};
          for (const auto entry : entries) words.values.push_back(values[entry]);
          table.texts.push_back(std::move(words));
        } else if constexpr (std::is_same_v<T, std::complex<double>> ||
                             std::is_same_v<T, std::complex<float>>) {
          column("_real", [&](std::size_t entry) { return static_cast<double>(values[entry].real()); });
          column("_imag", [&](std::size_t entry) { return static_cast<double>(values[entry].imag()); });
        } else {
          column("", [&](std::size_t entry) { return static_cast<double>(values[entry]); });
          table.columns.back().single = std::is_same_v<T, float>;
        }
      },
      v.values);
}

bool same_dimensions(const Variable& a, const Variable& b) {
  return std::is_permutation(a.dimensions.begin(), a.dimensions.end(), b.dimensions.begin(),
                             b.dimensions.end());
}

bool holds_datasets(const Format& format) { return format.holds.find("dataset") != std::string_view::npos; }

/// A real variable of any type as a column; empty for other variables.
std::optional<Column> column_of(const Variable& v) {
  Column column{v.name, v.unit, v.long_name, {}};
  const bool real = std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        column.single = std::is_same_v<T, float>;
        if constexpr (std::is_arithmetic_v<T>) column.values.assign(values.begin(), values.end());
        return std::is_arithmetic_v<T>;
      },
      v.values);
  return real ? std::optional(std::move(column)) : std::nullopt;
}

/// The computed fields at all stations, [fields, stations].
Array array_of_stations(const Dataset& data) {
  Array array{{0, 1}, {}, {}, true};
  const auto& on = data.variables.front().dimensions;
  for (const auto size : data.shape(data.variables.front())) array.shape[1] *= size;
  for (const auto& v : data.variables) {
    const auto column = v.role == VariableRole::computed && v.dimensions == on ? column_of(v) : std::nullopt;
    if (!column) continue;
    ++array.shape[0];
    array.single = array.single && column->single;
    array.values.insert(array.values.end(), column->values.begin(), column->values.end());
  }
  return array;
}

Array to_array(const std::string& path, const Dataset& data) {
  if (has_stations(data)) return array_of_stations(data);
  const auto& first = data.variables.front();
  Array array{data.shape(first), {}, {}, false};
  if (const auto* single = std::get_if<std::vector<float>>(&first.values)) {
    array.values.assign(single->begin(), single->end());
    array.single = true;
  } else if (const auto* real = std::get_if<std::vector<double>>(&first.values)) {
    array.values = *real;
  } else {
    throw UnsupportedError(path, fmt::format("an array of numbers cannot hold \"{}\"", first.name),
                           "Write NetCDF, which keeps complex numbers and words.");
  }
  return array;
}

Attributes text_attributes(const Dataset& data) {
  Attributes out;
  for (const auto& a : data.attributes) {
    const auto* words = std::get_if<std::string>(&a.value);
    out[a.name] = words != nullptr ? *words : fmt::format("{}", std::get<double>(a.value));
  }
  return out;
}

constexpr std::array<const char*, 3> cell_axes{"cell_up", "cell_northing", "cell_easting"},
    face_axes{"face_up", "face_northing", "face_easting"};

bool is_of_cells(const Variable& v) {
  return v.dimensions.size() >= 3 && std::equal(cell_axes.begin(), cell_axes.end(), v.dimensions.end() - 3) &&
         !std::holds_alternative<std::vector<std::string>>(v.values);
}

/// The text by which names of columns refer to an entry of a dimension, such as "1" or "0.5": the coordinate
/// if that is a number, otherwise the index from 0.
std::string entry_text(const Dataset& data, const std::string& dimension, std::size_t entry) {
  const auto* at = data.find(dimension);
  if (at != nullptr && at->dimensions == std::vector<std::string>{dimension}) {
    if (const auto* real = std::get_if<std::vector<double>>(&at->values))
      return fmt::format("{}", (*real)[entry]);
    if (const auto* whole = std::get_if<std::vector<std::int32_t>>(&at->values))
      return fmt::format("{}", (*whole)[entry]);
  }
  return fmt::format("{}", entry);
}

/// Adds a variable on cells to the columns of a mesh: one column, or two for complex values, for each entry
/// of the dimensions before the cells.
void add_cells(MeshData& mesh, const Dataset& data, const Variable& v) {
  const auto shape = data.shape(v);
  const std::size_t cells = mesh.mesh.size(), outer = shape.size() - 3;
  const std::size_t blocks = count_of({shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(outer)});
  for (std::size_t block = 0; block < blocks; ++block) {
    std::string name, phrase;
    for (std::size_t d = outer, rest = block; d-- > 0; rest /= shape[d]) {
      const auto entry = entry_text(data, v.dimensions[d], rest % shape[d]);
      name = fmt::format("_{}_{}{}", v.dimensions[d], entry, name);
      phrase = fmt::format(", {} {}{}", v.dimensions[d], entry, phrase);
    }
    const auto column = [&](const char* end, const char* part, auto&& value) {
      Column c{v.name + name + end, v.unit, v.long_name + phrase + part, std::vector<double>(cells)};
      for (std::size_t n = 0; n < cells; ++n) c.values[n] = value(block * cells + n);
      mesh.cells.push_back(std::move(c));
    };
    std::visit(
        [&](const auto& values) {
          using T = typename std::decay_t<decltype(values)>::value_type;
          if constexpr (std::is_same_v<T, std::complex<double>> || std::is_same_v<T, std::complex<float>>) {
            column("_real", ", real part", [&](std::size_t n) { return double(values[n].real()); });
            column("_imag", ", imaginary part", [&](std::size_t n) { return double(values[n].imag()); });
          } else if constexpr (!std::is_same_v<T, std::string>) {
            column("", "", [&](std::size_t n) { return static_cast<double>(values[n]); });
          }
        },
        v.values);
  }
}

/// Whether a format can hold fields in cells together with their mesh.
bool holds_cells(const Format& format) { return format.name == "hdf5" || format.name == "vtr"; }

bool has_cells(const Dataset& data) {
  return std::any_of(data.variables.begin(), data.variables.end(), is_of_cells);
}

}  // namespace

bool has_stations(const Dataset& data) {
  if (data.variables.empty()) return false;
  const auto& on = data.variables.front().dimensions;
  const bool grid = on == std::vector<std::string>{"northing", "easting"};
  if (!grid && on != std::vector<std::string>{"station"}) return false;
  const auto on_place = [&](const char* name, const std::vector<std::string>& dimensions) {
    const auto* place = data.find(name);
    return place != nullptr && place->dimensions == dimensions &&
           std::holds_alternative<std::vector<double>>(place->values);
  };
  return on_place("up", on) && on_place("easting", grid ? std::vector{on[1]} : on) &&
         on_place("northing", grid ? std::vector{on[0]} : on);
}

Content stations_of(const Dataset& data, bool all_columns) {
  const auto& on = data.variables.front().dimensions;
  Table table;
  table.attributes = text_attributes(data);
  if (const auto* projection = data.text("projection")) table.projection = *projection;
  for (const char* name : {"easting", "northing", "up"})
    table.columns.push_back(*column_of(*data.find(name)));
  const auto add = [&](const Variable& v) {
    if (v.dimensions != on || v.name == "up" || v.name == "easting" || v.name == "northing") return;
    if (!all_columns && v.role != VariableRole::computed) return;
    if (auto column = column_of(v)) table.columns.push_back(std::move(*column));
    else if (const auto* words = std::get_if<std::vector<std::string>>(&v.values))
      table.texts.push_back({v.name, *words});
  };
  for (const auto& c : data.coordinates) add(c);
  for (const auto& v : data.variables) add(v);
  if (on.size() == 1) return table;
  GridData grid;
  grid.easting = std::move(table.columns[0].values);
  grid.northing = std::move(table.columns[1].values);
  if (!table.texts.empty()) {  // grids cannot have texts
    for (auto& column : table.columns) column.values.reserve(grid.size());
    table.columns[0].values.clear(), table.columns[1].values.clear();
    for (const double north : grid.northing)
      for (const double east : grid.easting)
        table.columns[0].values.push_back(east), table.columns[1].values.push_back(north);
    table.attributes["grid"] = fmt::format("{} x {}", grid.easting.size(), grid.northing.size());
    return table;
  }
  grid.fields.assign(std::make_move_iterator(table.columns.begin() + 2),
                     std::make_move_iterator(table.columns.end()));
  grid.projection = table.projection;
  grid.attributes = std::move(table.attributes);
  return grid;
}

MeshData to_mesh(const Dataset& data) {
  check(data);
  if (!has_cells(data))
    throw InputError("data set", "no variable has values in cells",
                     "Their last axes are cell_up, cell_northing, cell_easting.");
  std::array<std::vector<double>, 3> faces;
  for (std::size_t a = 0; a < 3; ++a) faces[a] = data.real(face_axes[a]);
  MeshData out{
      TensorMesh(std::move(faces[2]), std::move(faces[1]), std::move(faces[0])), {}, text_attributes(data)};
  for (const auto& v : data.variables)
    if (is_of_cells(v)) add_cells(out, data, v);
  return out;
}

namespace {

/// The first variable, and all others with the same dimensions, as columns of a table. header: variables may
/// be without values, and then so are their columns.
Table rows_of_first(const Dataset& data, bool header) {
  check(data, header);
  if (data.variables.empty()) throw InputError("data set", "there is no variable");
  const auto& first = data.variables.front();
  const auto shape = data.shape(first);
  Table table;
  table.attributes = text_attributes(data);
  for (const auto& name : first.dimensions)
    if (data.find(name) == nullptr) {
      Variable index{name, "", "", {name}, std::vector<std::int32_t>(data.dimension(name)->size), {}};
      auto& numbers = std::get<std::vector<std::int32_t>>(index.values);
      for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = static_cast<std::int32_t>(n);
      if (first.dimensions.size() > 1)
        add_columns(table, index, *rows_of(data, index, first.dimensions, shape));
    }
  for (const auto& c : data.coordinates)
    if (const auto entries = rows_of(data, c, first.dimensions, shape)) add_columns(table, c, *entries);
  for (const auto& v : data.variables)
    if (same_dimensions(v, first)) add_columns(table, v, *rows_of(data, v, first.dimensions, shape));
  if (const auto at = table.attributes.find("projection"); at != table.attributes.end())
    table.projection = at->second;
  return table;
}

/// The columns of rows_of_first(), with names and units only.
Table columns_of_first(const Dataset& data) {
  Dataset empty;
  for (const auto& d : data.dimensions) empty.dimensions.push_back({d.name, 0});
  const auto add = [](const Variable& v, std::vector<Variable>& to) {
    auto none = std::visit([](const auto& held) { return Values(std::decay_t<decltype(held)>()); }, v.values);
    to.push_back({v.name, v.unit, v.long_name, v.dimensions, std::move(none), {}});
  };
  for (const auto& c : data.coordinates) add(c, empty.coordinates);
  for (const auto& v : data.variables) add(v, empty.variables);
  return rows_of_first(empty, true);
}

}  // namespace

Table to_table(const Dataset& data) { return rows_of_first(data, false); }

std::vector<std::string> left_out(const Dataset& data) {
  std::vector<std::string> names;
  for (const auto& v : data.variables)
    if (!same_dimensions(v, data.variables.front())) names.push_back(v.name);
  return names;
}

std::vector<std::string> left_out(const std::string& path, const Dataset& data, const WriteOptions& options) {
  const auto& format = format_to_write(path);
  if (format.name == "netcdf") return {};
  if (format.name == "csv" || format.name == "npy") return left_out(data);
  if (holds_cells(format) && has_cells(data)) {
    std::vector<std::string> names;
    for (const auto& c : data.coordinates)
      if (c.role == VariableRole::given) names.push_back(c.name);
    for (const auto& v : data.variables)
      if (!is_of_cells(v)) names.push_back(v.name);
    return names;
  }
  if (has_stations(data)) {
    auto names = left_out(data);
    for (auto& name : left_out(path, stations_of(data, format.all_columns), options))
      names.push_back(std::move(name));
    return names;
  }
  if (format.takes_rows && !data.variables.empty()) {
    auto names = left_out(data);
    for (auto& name : left_out(path, Content(columns_of_first(data)))) names.push_back(std::move(name));
    return names;
  }
  if (!holds_datasets(format))
    throw UnsupportedError(path, "this format does not hold data sets",
                           holds_cells(format)
                               ? "It holds fields of cells, of which there are none: give the "
                                 "file an ending .nc, or .csv for a table."
                               : "Give the file an ending .nc, or .csv for a table.");
  return left_out(path, Content(data));
}

std::vector<std::string> written_files(const std::string& path, const Dataset& data,
                                       const WriteOptions& options) {
  const auto& format = format_to_write(path);
  if (format.files == nullptr) return {path};
  if (has_stations(data)) return written_files(path, stations_of(data, format.all_columns), options);
  return written_files(path, Content(rows_of_first(data, true)));
}

void write(const std::string& path, const Dataset& data, const WriteOptions& options) {
  const auto& format = format_to_write(path);
  if (format.name == "netcdf") return write_netcdf(path, data);
  if (data.variables.empty()) throw InputError(path, "there is no variable to write");
  if (format.name == "npy") return write_npy(path, to_array(path, data));
  if (holds_cells(format) && has_cells(data)) return write(path, Content(to_mesh(data)));
  if (has_stations(data)) return write(path, stations_of(data, format.all_columns), options);
  if (holds_datasets(format)) return write(path, Content(data));
  write(path, Content(to_table(data)));
}

}  // namespace terrane::io
