#include "terrane/io/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/axes.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/esri.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/hdf5.hpp"
#include "terrane/io/netcdf.hpp"
#include "terrane/io/npy.hpp"
#include "terrane/io/surfer.hpp"
#include "terrane/io/tomofast.hpp"
#include "terrane/io/ubc.hpp"
#include "terrane/io/vtk.hpp"

namespace terrane::io {

namespace {

constexpr std::size_t head_bytes = 4096;

// name, title, extensions, what it holds, reads, writes, all columns
constexpr std::array<Format, 16> all_formats{{
    {"netcdf", "CF NetCDF", ".nc .nc4 .cdf", "grid table mesh", true, true, true},
    {"hdf5", "HDF5 tensor mesh", ".h5 .hdf5", "mesh", true, true},
    {"csv", "CSV with units in its header", ".csv .tsv .txt .dat .xyz", "table prisms", true, true, true},
    {"ubc-mesh", "UBC-GIF tensor mesh", ".msh", "mesh", true, true},
    {"ubc-density", "UBC-GIF density model", ".den", "mesh", true, true},
    {"ubc-model", "UBC-GIF model of another property", ".sus .con .chg", "mesh", true, true},
    {"ubc-gravity", "GRAV3D observations or locations", ".grv .obs .loc .pre", "table", true, true},
    {"ubc-gradient", "GG3D gradient observations", ".gg .gra", "table", true, true},
    {"esri", "ESRI ASCII grid", ".asc", "grid", true, true},
    {"surfer", "Surfer 7 grid (reads Surfer 6 text and binary too)", ".grd", "grid", true, true},
    {"surfer-text", "Surfer 6 text grid (DSAA)", "", "grid", true, true},
    {"npy", "NumPy array", ".npy", "array mesh", true, true},
    {"vtr", "VTK rectilinear mesh", ".vtr", "mesh", false, true},
    {"vts", "VTK structured grid of stations", ".vts", "grid", false, true, true},
    {"tomofast-grid", "Tomofast-x model grid", "", "prisms", true, false},
    {"tomofast-data", "Tomofast-x data", "", "table", true, false},
}};

/// ".csv" of "a/b.CSV.xz".
std::string extension(const std::string& path) {
  auto name = lower(path.substr(path.find_last_of('/') + 1));
  for (const auto* packed : {".gz", ".xz"})
    if (name.ends_with(packed)) name.resize(name.size() - 3);
  const auto dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? std::string{} : name.substr(dot);
}

bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

std::string format_names() {
  std::vector<std::string_view> names;
  for (const auto& f : all_formats) names.push_back(f.name);
  return joined(names);
}

const Format& named(const std::string& name) {
  const auto it =
      std::find_if(all_formats.begin(), all_formats.end(), [&](const Format& f) { return f.name == name; });
  if (it == all_formats.end()) {
    std::vector<std::string_view> names;
    for (const auto& f : all_formats) names.push_back(f.name);
    throw UnsupportedError("format",
                           fmt::format("\"{}\" is not a format.{}", name, did_you_mean(name, names)),
                           "Allowed: " + format_names() + ".");
  }
  return *it;
}

const Format* by_extension(const std::string& path) {
  const auto wanted = extension(path);
  if (wanted.empty()) return nullptr;
  const auto it = std::find_if(all_formats.begin(), all_formats.end(),
                               [&](const Format& f) { return lists(f.extensions, wanted); });
  return it == all_formats.end() ? nullptr : &*it;
}

const Format* by_content(std::string_view head, const std::string& path) {
  if (head.starts_with("CDF")) return &named("netcdf");
  if (head.starts_with("\x89HDF")) {
    const auto* by_name = by_extension(path);
    return &named(by_name != nullptr && by_name->name == "hdf5" ? "hdf5" : "netcdf");
  }
  if (head.starts_with("DSAA") || head.starts_with("DSBB") || head.starts_with("DSRB"))
    return &named("surfer");
  if (head.starts_with("\x93NUMPY")) return &named("npy");
  const auto begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return nullptr;
  const auto start = lower(head.substr(begin, 8));
  if (start.starts_with("ncols") || start.starts_with("nrows")) return &named("esri");
  if (start.starts_with("datacomp")) return &named("ubc-gradient");
  return nullptr;
}

/// Whether this is the beginning of a UBC mesh: three counts, the corner, and widths as many as the first
/// count, some perhaps as 60*20. (Three widths without a star could be a list of points.)
bool begins_ubc_mesh(std::string_view head) {
  std::array<std::vector<std::string_view>, 3> lines;
  for (auto& words : lines)
    while (words.empty() && !head.empty()) {
      const auto end = std::min(head.find('\n'), head.size());
      auto line = head.substr(0, end);
      head.remove_prefix(std::min(end + 1, head.size()));
      line = line.substr(0, line.find('!'));
      constexpr std::string_view blanks = " \t\r";
      for (auto at = line.find_first_not_of(blanks); at != std::string_view::npos;
           at = line.find_first_not_of(blanks, at)) {
        const auto stop = std::min(line.find_first_of(blanks, at), line.size());
        words.push_back(line.substr(at, stop - at));
        at = stop;
      }
    }
  if (lines[0].size() != 3 || lines[1].size() != 3 || lines[2].empty()) return false;
  std::int64_t count = 0;
  double number = 0;
  for (const auto word : lines[0])
    if (!parse_integer(word, count) || count < 1) return false;
  for (const auto word : lines[1])
    if (!parse_number(word, number)) return false;
  const bool stars = std::any_of(lines[2].begin(), lines[2].end(),
                                 [](std::string_view word) { return word.find('*') != word.npos; });
  if (stars) return true;
  parse_integer(lines[0][0], count);
  return lines[2].size() != 3 && lines[2].size() == static_cast<std::size_t>(count) &&
         std::all_of(lines[2].begin(), lines[2].end(),
                     [&](std::string_view word) { return parse_number(word, number) && number > 0; });
}

void give_unit(std::vector<Column>& columns, const std::string& unit) {
  for (auto& c : columns)
    if (c.unit.empty() && !unit.empty()) c.unit = unit;
}

/// A grid whose file does not say in what its coordinates are.
GridData scaled(GridData grid, const ReadOptions& options) {
  if (!options.length_unit.empty() && !grid.geographic) {
    const auto unit = lower(options.length_unit);
    if (unit.starts_with("deg")) {
      grid.geographic = true;
    } else {
      const double factor = si_factor(Quantity::length, options.length_unit);
      for (auto& x : grid.easting) x *= factor;
      for (auto& y : grid.northing) y *= factor;
    }
  }
  give_unit(grid.fields, options.unit);
  return grid;
}

TensorMesh mesh_of(const std::string& path, const ReadOptions& options) {
  if (options.mesh.empty())
    throw InputError(path, "holds cell values without their mesh",
                     "Name the file of the mesh too (.msh, .nc or .h5).");
  ReadOptions of_mesh;
  of_mesh.format = options.mesh_format;
  of_mesh.memory = options.memory;
  auto content = read(options.mesh, of_mesh);
  auto* data = std::get_if<MeshData>(&content);
  if (data == nullptr)
    throw InputError(options.mesh, "does not hold a mesh", "Give a UBC mesh, or NetCDF or HDF5 with a mesh.");
  return std::move(data->mesh);
}

/// What values are whose file does not say it: what was asked for, or what the extension stands for.
std::string unnamed(const std::string& path, const std::string& property) {
  constexpr std::array<std::array<std::string_view, 2>, 3> usual{
      {{".sus", "susceptibility"}, {".con", "conductivity"}, {".chg", "chargeability"}}};
  if (!property.empty()) return std::string(property_kind(property, path).name);
  for (const auto& [end, name] : usual)
    if (extension(path) == end) return std::string(name);
  return "density";
}

Content array_on_mesh(Array array, const std::string& path, const ReadOptions& options) {
  if (options.mesh.empty()) return array;
  MeshData data{mesh_of(path, options), {}, {}};
  const std::vector<std::size_t> wanted{data.mesh.n_up(), data.mesh.n_north(), data.mesh.n_east()};
  if (array.shape != wanted && !(array.shape.size() == 1 && array.values.size() == data.mesh.size()))
    throw ShapeError(path,
                     fmt::format("the array has {} values on {} axes, and the mesh has {} x {} x {} cells",
                                 array.values.size(), array.shape.size(), wanted[0], wanted[1], wanted[2]),
                     "The array must be [up, north, east].");
  data.cells.push_back({options.field.empty() ? unnamed(path, options.property) : options.field, options.unit,
                        "", std::move(array.values)});
  to_si(data.cells.back());
  return data;
}

Content read_table(const std::string& path, const ReadOptions& options) {
  auto in = TextReader::open(path, options.memory);
  auto table = read_csv(in);
  if (holds_prisms(table)) {
    // Seven bare numbers a line, as in lists of prisms without a header: metres and kg/m³ unless told
    // otherwise.
    const bool bare = table.find("rho") != nullptr;
    return to_prisms(table, options.length_unit.empty() && bare ? "m" : options.length_unit,
                     options.unit.empty() && bare ? "kg/m3" : options.unit, unnamed(path, options.property));
  }
  for (auto& c : table.columns)
    if (c.unit.empty() && (c.name == "easting" || c.name == "northing" || c.name == "up"))
      c.unit = options.length_unit;
  return table;
}

// --- writing
// -----------------------------------------------------------------------------------------------------

std::string_view kind(const Content& content) {
  constexpr std::array<std::string_view, 5> kinds{"grid", "table", "mesh", "prisms", "array"};
  return kinds[content.index()];
}

[[noreturn]] void fail_kind(const std::string& path, const Format& format, const Content& content,
                            std::string_view next) {
  throw UnsupportedError(path,
                         fmt::format("{} ({}) cannot hold a {}", format.title, format.name, kind(content)),
                         std::string(next));
}

GridData as_grid(const std::string& path, const Format& format, const Content& content) {
  if (const auto* grid = std::get_if<GridData>(&content)) return *grid;
  if (const auto* table = std::get_if<Table>(&content)) {
    if (auto grid = to_grid(*table)) return std::move(*grid);
    throw UnsupportedError(path,
                           fmt::format("{} ({}) holds grids, and the rows of the table do not form one",
                                       format.title, format.name),
                           "Write NetCDF or CSV.");
  }
  fail_kind(path, format, content, "It holds horizontal grids.");
}

bool holds_property(const MeshData& mesh) {
  return std::any_of(mesh.cells.begin(), mesh.cells.end(),
                     [](const Column& c) { return find_property(c.name) != nullptr; });
}

Table as_table(const std::string& path, const Format& format, const Content& content) {
  if (const auto* table = std::get_if<Table>(&content)) return *table;
  if (const auto* grid = std::get_if<GridData>(&content)) return to_table(*grid);
  if (const auto* prisms = std::get_if<PrismData>(&content)) return to_table(*prisms);
  if (const auto* mesh = std::get_if<MeshData>(&content); mesh != nullptr && holds_property(*mesh)) {
    auto model = to_earth_model(*mesh);
    return to_table(PrismData{prisms_of(model), std::move(model.properties), mesh->attributes});
  }
  fail_kind(path, format, content, "It holds tables.");
}

const MeshData& as_mesh(const std::string& path, const Format& format, const Content& content) {
  if (const auto* mesh = std::get_if<MeshData>(&content)) return *mesh;
  fail_kind(path, format, content, "It holds tensor meshes.");
}

Array as_array(const std::string& path, const Format& format, const Content& content,
               const std::string& field) {
  if (const auto* array = std::get_if<Array>(&content)) return *array;
  if (const auto* grid = std::get_if<GridData>(&content))
    return {{grid->northing.size(), grid->easting.size()}, one_field(path, *grid, field).values, {}};
  if (const auto* mesh = std::get_if<MeshData>(&content)) {
    for (const auto& c : mesh->cells)
      if (c.name == field || (field.empty() && (mesh->cells.size() == 1 || c.name == "density")))
        return {{mesh->mesh.n_up(), mesh->mesh.n_north(), mesh->mesh.n_east()}, c.values, {}};
    throw InputError(path, fmt::format("there is no one cell property to write{}",
                                       field.empty() ? "" : " called " + field));
  }
  const auto table = as_table(path, format, content);
  Array out{{table.columns.size(), table.rows()}, {}, {}};
  if (!field.empty()) {
    const auto* column = table.find(field);
    if (column == nullptr) throw InputError(path, fmt::format("there is no column \"{}\" to write", field));
    return {{table.rows()}, column->values, {}};
  }
  for (const auto& c : table.columns) out.values.insert(out.values.end(), c.values.begin(), c.values.end());
  return out;
}

// --- describing
// --------------------------------------------------------------------------------------------------

std::string range_of(const std::vector<double>& values, std::string_view unit) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::size_t gaps = 0;
  for (const double v : values) {
    if (std::isnan(v)) ++gaps;
    else low = std::min(low, v), high = std::max(high, v);
  }
  const auto unit_text = unit.empty() ? std::string("(no unit)") : std::string(unit);
  if (gaps == values.size()) return fmt::format("no values, {}", unit_text);
  return fmt::format("{:.8g} to {:.8g} {}{}", low, high, unit_text,
                     gaps == 0 ? "" : fmt::format(", {} empty", gaps));
}

class Lines {
 public:
  void add(std::string_view label, std::string_view text) {
    fmt::format_to(std::back_inserter(out_), "{:<14}{}\n", label, text);
  }
  void columns(const std::vector<Column>& all, std::string_view label) {
    std::size_t width = 0;
    for (const auto& c : all) width = std::max(width, c.name.size());
    for (const auto& c : all) {
      add(label, fmt::format("{:<{}}  {}", c.name, width, range_of(c.values, c.unit)));
      label = "";
    }
  }
  void attributes(const Attributes& all) {
    constexpr std::string_view continuation = "\n              ";
    for (const auto& [key, value] : all) {
      auto text = value;
      for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += continuation.size())
        text.replace(at, 1, continuation);
      add(key.size() < 13 ? key : key + " ", text);
    }
  }
  std::string text() const { return fmt::to_string(out_); }

 private:
  fmt::memory_buffer out_;
};

void describe_axis(Lines& lines, std::string_view name, const std::vector<double>& axis,
                   std::string_view unit, std::string_view things) {
  if (axis.empty()) return;
  bool even = axis.size() > 1;
  const double step = even ? (axis.back() - axis.front()) / static_cast<double>(axis.size() - 1) : 0;
  for (std::size_t i = 0; i < axis.size(); ++i)
    even = even && std::abs(axis[i] - axis.front() - step * static_cast<double>(i)) <= 1e-6 * step;
  lines.add(name, fmt::format("{} {}, {:.10g} to {:.10g} {}{}", axis.size(), things, axis.front(),
                              axis.back(), unit,
                              even              ? fmt::format(", every {:.6g}", step)
                              : axis.size() > 1 ? ", spacing varies"
                                                : ""));
}

}  // namespace

std::span<const Format> formats() { return all_formats; }

const Format& format_of(const std::string& path) {
  const auto head = read_head(path, head_bytes);
  if (const auto* format = by_content(head, path)) return *format;
  const auto* by_name = by_extension(path);
  if ((by_name == nullptr || by_name->name == "csv") && begins_ubc_mesh(head)) return named("ubc-mesh");
  if (by_name != nullptr) return *by_name;
  throw UnsupportedError(path, "neither its name nor its first bytes say what format it has",
                         "Name the format: " + format_names() + ".");
}

Content read(const std::string& path, const ReadOptions& options) {
  check_name(path);
  const Format& format = options.format.empty() ? format_of(path) : named(options.format);
  if (!format.reads)
    throw UnsupportedError(path,
                           fmt::format("{} ({}) can be written and not read", format.title, format.name),
                           "Keep NetCDF or HDF5 beside it.");
  const auto& name = format.name;
  if (name == "netcdf") return read_netcdf(path, options.field, options.memory);
  if (name == "hdf5") return read_hdf5(path, options.memory);
  if (name == "surfer" || name == "surfer-text")
    return scaled(read_surfer(path, read_bytes(path, options.memory)), options);
  if (name == "npy") return array_on_mesh(read_npy(path, read_bytes(path, options.memory)), path, options);
  if (name == "csv") return read_table(path, options);
  std::optional<TensorMesh> mesh;
  const bool ubc_property = name == "ubc-density" || name == "ubc-model";
  if (ubc_property) mesh = mesh_of(path, options);
  auto in = TextReader::open(path, options.memory);
  if (name == "ubc-mesh") return MeshData{read_ubc_mesh(in), {}, {}};
  if (ubc_property) return read_ubc_property(in, *mesh, unnamed(path, options.property));
  if (name == "ubc-gravity") return read_ubc_gravity(in);
  if (name == "ubc-gradient") return read_ubc_gradient(in);
  if (name == "esri") return scaled(read_esri(in), options);
  if (name == "tomofast-grid") return read_tomofast_grid(in);
  return read_tomofast_data(in);
}

const Format& format_to_write(const std::string& path, const WriteOptions& options) {
  const Format* found = options.format.empty() ? by_extension(path) : &named(options.format);
  if (found == nullptr)
    throw UnsupportedError(
        path, "its name does not say what format to write",
        "Use an extension such as .nc, .csv, .h5, .vtr, or name the format: " + format_names() + ".");
  const Format& format = *found;
  if (!format.writes)
    throw UnsupportedError(path,
                           fmt::format("{} ({}) can be read and not written", format.title, format.name),
                           "Write NetCDF or CSV.");
  const auto lowered = lower(path);
  if (lowered.ends_with(".gz") || lowered.ends_with(".xz"))
    throw UnsupportedError(path, "packed files are read and not written",
                           "Write it plain and pack it afterwards.");
  return format;
}

void write(const std::string& path, const Content& content, const WriteOptions& options) {
  const Format& format = format_to_write(path, options);
  const auto& name = format.name;
  if (name == "netcdf") {
    if (const auto* grid = std::get_if<GridData>(&content)) return write_netcdf(path, *grid);
    if (const auto* mesh = std::get_if<MeshData>(&content)) return write_netcdf(path, *mesh);
    return write_netcdf(path, as_table(path, format, content));
  }
  if (name == "hdf5") return write_hdf5(path, as_mesh(path, format, content));
  if (name == "csv") return write_csv(path, as_table(path, format, content));
  if (name == "ubc-mesh") return write_ubc_mesh(path, as_mesh(path, format, content).mesh);
  if (name == "ubc-density" || name == "ubc-model")
    return write_ubc_property(path, as_mesh(path, format, content), unnamed(path, options.field));
  if (name == "ubc-gravity") return write_ubc_gravity(path, as_table(path, format, content), options.field);
  if (name == "ubc-gradient") return write_ubc_gradient(path, as_table(path, format, content), options.field);
  if (name == "esri") return write_esri(path, as_grid(path, format, content), options.field);
  if (name == "surfer") return write_surfer7(path, as_grid(path, format, content), options.field);
  if (name == "surfer-text") return write_surfer_text(path, as_grid(path, format, content), options.field);
  if (name == "npy") return write_npy(path, as_array(path, format, content, options.field));
  if (name == "vtr") return write_vtr(path, as_mesh(path, format, content));
  return write_vts(path, as_grid(path, format, content));
}

std::vector<std::string> left_out(const std::string& path, const Content& content,
                                  const WriteOptions& options) {
  const Format& format = format_to_write(path, options);
  const auto& name = format.name;
  const auto* mesh = std::get_if<MeshData>(&content);
  if (name == "netcdf" && mesh != nullptr) return {};
  if (name == "netcdf" || name == "csv") {
    if (mesh != nullptr ? !holds_property(*mesh) : std::holds_alternative<Array>(content))
      fail_kind(path, format, content, "It holds tables.");
  } else if (name == "hdf5" || name == "ubc-mesh" || name == "vtr") {
    as_mesh(path, format, content);
  } else if (name == "ubc-density" || name == "ubc-model") {
    check_ubc_property(path, as_mesh(path, format, content), unnamed(path, options.field));
  } else if (name == "ubc-gravity") {
    return left_out_of_ubc_gravity(path, as_table(path, format, content), options.field);
  } else if (name == "ubc-gradient") {
    return left_out_of_ubc_gradient(path, as_table(path, format, content), options.field);
  } else if (name == "esri") {
    check_esri(path, as_grid(path, format, content), options.field);
  } else if (name == "surfer") {
    check_surfer7(path, as_grid(path, format, content), options.field);
  } else if (name == "surfer-text") {
    check_surfer_text(path, as_grid(path, format, content), options.field);
  } else if (name == "vts") {
    as_grid(path, format, content);
  } else {  // npy
    as_array(path, format, content, options.field);
  }
  return {};
}

std::string describe(const Content& content, const std::string& path) {
  Lines lines;
  lines.add("file", path);
  if (const auto* grid = std::get_if<GridData>(&content)) {
    lines.add("holds", fmt::format("grid, {} north x {} east", grid->northing.size(), grid->easting.size()));
    const auto* unit = grid->geographic ? "degrees" : "m";
    describe_axis(lines, grid->geographic ? "longitude" : "easting", grid->easting, unit, "nodes");
    describe_axis(lines, grid->geographic ? "latitude" : "northing", grid->northing, unit, "nodes");
    lines.columns(grid->fields, "fields");
    if (!grid->projection.empty()) lines.add("projection", grid->projection);
    lines.attributes(grid->attributes);
  } else if (const auto* table = std::get_if<Table>(&content)) {
    lines.add("holds", fmt::format("table, {} rows", table->rows()));
    lines.columns(table->columns, "columns");
    for (const auto& t : table->texts) lines.add("text", t.name);
    if (!table->projection.empty()) lines.add("projection", table->projection);
    lines.attributes(table->attributes);
  } else if (const auto* mesh = std::get_if<MeshData>(&content)) {
    const auto& m = mesh->mesh;
    lines.add("holds", fmt::format("tensor mesh, {} up x {} north x {} east = {} cells", m.n_up(),
                                   m.n_north(), m.n_east(), m.size()));
    describe_axis(lines, "easting", m.easting(), "m", "faces");
    describe_axis(lines, "northing", m.northing(), "m", "faces");
    describe_axis(lines, "up", m.up(), "m", "faces");
    lines.columns(mesh->cells, "cells");
    lines.attributes(mesh->attributes);
  } else if (const auto* prisms = std::get_if<PrismData>(&content)) {
    lines.add("holds", fmt::format("{} prisms", prisms->prisms.size()));
    lines.columns(to_table(*prisms).columns, "columns");
    lines.attributes(prisms->attributes);
  } else if (const auto* array = std::get_if<Array>(&content)) {
    std::string shape;
    for (const auto n : array->shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", n);
    lines.add("holds", fmt::format("array [{}], no coordinates", shape));
    lines.add("values", range_of(array->values, ""));
    lines.attributes(array->attributes);
  }
  return printable(lines.text());
}

}  // namespace terrane::io
