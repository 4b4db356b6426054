#include "terrane/inversion/job/cell_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/npy.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/io/ubc.hpp"
#include "terrane/io/ubc_octree.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/model/properties.hpp"

namespace terrane::inversion {

namespace {

// Tolerance of face positions, relative to the thinnest cell: files give faces with few digits, or widths
// that have to be summed.
constexpr double mesh_tolerance = 1e-3;

/// Whether the faces of two meshes along one axis agree, up to the digits that programs write.
bool alike(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return false;
  double thinnest = std::numeric_limits<double>::infinity();
  for (std::size_t n = 1; n < a.size(); ++n) thinnest = std::min(thinnest, a[n] - a[n - 1]);
  for (std::size_t n = 0; n < a.size(); ++n)
    if (!(std::fabs(a[n] - b[n]) <= mesh_tolerance * thinnest)) return false;
  return true;
}

void expect_mesh(const Config& table, const char* key, const std::string& path, const TensorMesh& mesh,
                 const TensorMesh& there) {
  const std::pair<const char*, std::pair<std::span<const double>, std::span<const double>>> axes[] = {
      {"easting", {mesh.easting(), there.easting()}},
      {"northing", {mesh.northing(), there.northing()}},
      {"up", {mesh.up(), there.up()}}};
  for (const auto& [name, faces] : axes)
    if (!alike(faces.first, faces.second))
      throw table.wrong(
          key,
          fmt::format("\"{}\" is of another mesh: along {} it has {} cells from {:g} to {:g} m", path, name,
                      faces.second.size() - 1, faces.second.front(), faces.second.back()),
          fmt::format("The job's mesh has {} from {:g} to {:g} m there.", faces.first.size() - 1,
                      faces.first.front(), faces.first.back()));
}

/// The octree mesh of a mesh file; empty if the file contains none.
io::Octree octree_of(const std::string& mesh_file) {
  if (mesh_file.empty() || io::format_of(mesh_file).name != "ubc-mesh") return {};
  auto in = io::TextReader::open(mesh_file);
  return io::is_ubc_octree(in) ? io::read_ubc_octree(in).octree : io::Octree{};
}

std::vector<double> of_array(const Config& table, const char* key, const std::string& path, io::Array array,
                             const TensorMesh& mesh, const std::string& mesh_file) {
  if (const auto octree = octree_of(mesh_file); octree.cells > 0)
    array = io::on_cells_of(octree, std::move(array));
  const std::vector<std::size_t> wanted{mesh.n_up(), mesh.n_north(), mesh.n_east()};
  if (array.shape != wanted && !(array.shape.size() == 1 && array.values.size() == mesh.size()))
    throw table.wrong(
        key, fmt::format("\"{}\" has {} values on {} axes", path, array.values.size(), array.shape.size()),
        fmt::format("The array must be [up, north, east]: {} x {} x {}.", wanted[0], wanted[1], wanted[2]));
  return std::move(array.values);
}

/// The index of the cell that contains a point; nothing if the point is outside the mesh or on a face.
std::optional<std::size_t> cell_at(const TensorMesh& mesh, double e, double n, double u) {
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  const double at[3] = {e, n, u};
  std::size_t place[3];
  for (std::size_t a = 0; a < 3; ++a) {
    const auto above = std::upper_bound(faces[a]->begin(), faces[a]->end(), at[a]) - faces[a]->begin();
    if (above <= 0 || above >= static_cast<std::ptrdiff_t>(faces[a]->size())) return std::nullopt;
    place[a] = static_cast<std::size_t>(above - 1);
  }
  return mesh.index(place[0], place[1], place[2]);
}

/// Values of cells from a table whose rows contain a cell's centre and its value, in the column `named` or
/// the last one.
std::vector<double> of_table(const Config& table, const char* key, const std::string& path,
                             const io::Table& rows, const std::string& named, const TensorMesh& mesh) {
  const Column* column = rows.find(named);
  for (const auto& one : rows.columns)
    if (column == nullptr && &one == &rows.columns.back()) column = &one;
  if (column == nullptr || rows.find("easting") == nullptr || rows.find("northing") == nullptr ||
      rows.find("up") == nullptr || column->name == "up")
    throw table.wrong(key, fmt::format("\"{}\" has no columns easting, northing, up and {}", path, named),
                      "One row for each cell: its centre, and the value.");
  const auto e = rows.si("easting", Quantity::length, "m"), n = rows.si("northing", Quantity::length, "m"),
             u = rows.si("up", Quantity::length, "m");
  std::vector<double> values(mesh.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t row = 0; row < e.size(); ++row) {
    const auto cell = cell_at(mesh, e[row], n[row], u[row]);
    if (!cell)
      throw InputError(rows.where(row), "the point lies outside the mesh", "Give the centres of cells.");
    if (!std::isnan(values[*cell])) throw InputError(rows.where(row), "its cell was there before");
    values[*cell] = column->values[row];
  }
  const auto missing = std::count_if(values.begin(), values.end(), [](double v) { return std::isnan(v); });
  if (missing > 0)
    throw table.wrong(key, fmt::format("\"{}\" has no value for {} of {} cells", path, missing, mesh.size()),
                      "One row for each cell: its centre, and the value.");
  return values;
}

/// Values of cells from a table of prisms; cells that the table lacks get the property's value `absent`, for
/// example density 0.
std::vector<double> of_prisms(const Config& table, const char* key, const std::string& path,
                              const io::PrismData& data, const std::string& property,
                              const TensorMesh& mesh) {
  const auto column = std::find_if(data.properties.begin(), data.properties.end(),
                                   [&](const Property& p) { return p.name == property; });
  if (column == data.properties.end())
    throw table.wrong(key, fmt::format("\"{}\" holds prisms without {}", path, property));
  const double absent = kind_of_values(property).absent;
  std::vector<double> values(mesh.size(), absent);
  const auto& p = data.prisms;
  for (std::size_t row = 0; row < p.size(); ++row) {
    const auto cell = cell_at(mesh, (p.west[row] + p.east[row]) / 2, (p.south[row] + p.north[row]) / 2,
                              (p.bottom[row] + p.top[row]) / 2);
    const auto is_cell = [&](const Prism& c) {
      const double within = mesh_tolerance * std::min({c.east - c.west, c.north - c.south, c.top - c.bottom});
      const double off[] = {c.west - p.west[row],   c.east - p.east[row],     c.south - p.south[row],
                            c.north - p.north[row], c.bottom - p.bottom[row], c.top - p.top[row]};
      return std::all_of(std::begin(off), std::end(off), [&](double d) { return std::fabs(d) <= within; });
    };
    if (!cell || !is_cell(mesh.prism(*cell)))
      throw table.wrong(key, fmt::format("prism {} of \"{}\" is no cell of the mesh", row + 1, path),
                        "Give the model on the job's own mesh.");
    values[*cell] = column->values[row];
  }
  if (const auto none = std::count_if(values.begin(), values.end(), [](double v) { return std::isnan(v); });
      none > 0)
    throw table.wrong(key,
                      fmt::format("\"{}\" has no {} for {} of {} cells", path, property, none, mesh.size()),
                      "Give every cell one.");
  return values;
}

/// Whether the first lines contain only numbers, one per line (or UBC's 3*1), blanks and UBC's comments.
bool begins_with_bare_numbers(std::string_view head) {
  std::size_t numbers = 0;
  while (!head.empty()) {
    const auto end = head.find('\n');
    if (end == head.npos && numbers > 0) break;  // the last line of `head` may be incomplete
    auto line = head.substr(0, end);
    head = end == head.npos ? std::string_view{} : head.substr(end + 1);
    if (const auto comment = line.find('!'); comment != line.npos) line = line.substr(0, comment);
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front()))) line.remove_prefix(1);
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.remove_suffix(1);
    if (line.empty()) continue;
    if (line.find_first_not_of("0123456789+-.eE*") != line.npos) return false;
    ++numbers;
  }
  return numbers > 0;
}

}  // namespace

const PropertyKind& kind_of_values(const std::string& property) {
  const auto* of_component = find_property(property + "_east");
  return of_component != nullptr ? *of_component : property_kind(property);
}

bool is_octree(const std::string& mesh_file) { return octree_of(mesh_file).cells > 0; }

std::vector<double> values_of_file(const Config& table, const char* key, const std::string& property,
                                   const TensorMesh& mesh, const std::string& mesh_file) {
  const bool given = is_given(table, key);
  const auto path = given ? table.text(key) : table.input_file(key).string();
  const std::string_view format = given ? std::string_view() : io::format_of(path).name;
  if (format == "npy") {
    io::Content array = io::read_npy(path);
    refuse_written_for_none(table, key, array);
    return of_array(table, key, path, std::move(std::get<io::Array>(array)), mesh, mesh_file);
  }
  if (format.starts_with("ubc-") && format != "ubc-mesh" && mesh_file.empty()) {
    auto in = io::TextReader::open(path);  // the file's values belong to the job's own mesh
    const auto data = io::read_ubc_property(in, io::MeshData{mesh, {}, {}}, property);
    refuse_written_for_none(table, key, data.cells.front());
    return data.cells.front().values;
  }
  io::ReadOptions options;
  options.mesh = mesh_file;
  options.property = property;
  auto content = read_content(table, key, options, no_column);
  tell_notes(table, key, content);
  if (std::holds_alternative<io::Array>(content) || std::holds_alternative<io::PrismData>(content))
    refuse_written_for_none(table, key, content, [&](std::string_view name) { return name == property; });
  const auto values_in = [&](const Column& column) {
    refuse_written_for_none(table, key, column);
    return column.values;
  };
  if (auto* array = std::get_if<io::Array>(&content))
    return of_array(table, key, path, std::move(*array), mesh, mesh_file);
  if (const auto* rows = std::get_if<io::Table>(&content)) {
    const auto quantity = kind_of_values(property).quantity;
    auto values = of_table(table, key, path, *rows, property, mesh);
    const auto* column = rows->find(property) ? rows->find(property) : &rows->columns.back();
    refuse_written_for_none(table, key, *column);
    if (!column->unit.empty())
      for (double& value : values) value *= si_factor(quantity, column->unit);
    return values;
  }
  if (const auto* prisms = std::get_if<io::PrismData>(&content))
    return of_prisms(table, key, path, *prisms, property, mesh);
  const auto* data = std::get_if<io::MeshData>(&content);
  if (data == nullptr || data->cells.empty())
    throw table.wrong(key, fmt::format("\"{}\" holds no values of cells", path));
  expect_mesh(table, key, path, mesh, data->mesh);
  if (const auto* column = data->find(property)) return values_in(*column);
  const char* inverse = property == "resistivity" ? "conductivity" : "resistivity";
  if (const auto* column = data->find(inverse);
      column != nullptr && (property == "resistivity" || property == "conductivity")) {
    auto values = values_in(*column);
    for (double& value : values) value = 1 / value;
    return values;
  }
  const auto& only = data->cells.front();
  const bool known = find_property(property) != nullptr || find_property(property + "_east") != nullptr;
  if (find_property(only.name) != nullptr && known)
    throw table.wrong(key, fmt::format("\"{}\" holds {}, no {}", path, only.name, property));
  return values_in(only);
}

std::vector<double> marks_of_file(const Config& table, const char* key, const TensorMesh& mesh,
                                  const std::string& mesh_file) {
  if (is_given(table, key)) return values_of_file(table, key, "active", mesh, mesh_file);
  const auto path = table.input_file(key).string();
  const auto head = io::read_head(path, 4096);
  if (begins_with_bare_numbers(head)) {
    auto in = io::TextReader::open(path);
    const auto octree = octree_of(mesh_file);
    return octree.cells > 0 ? io::read_octree_model(in, octree) : io::read_ubc_model(in, mesh);
  }
  const auto& format = io::format_of(path);
  if (format.name == "npy") return of_array(table, key, path, io::read_npy(path), mesh, mesh_file);
  if (format.name == "csv") return of_table(table, key, path, io::read_csv(path), "active", mesh);
  io::ReadOptions options;
  options.mesh = mesh_file;
  const auto content = io::read(path, options);
  tell_notes(table, key, content);
  const auto* data = std::get_if<io::MeshData>(&content);
  if (data == nullptr || data->cells.empty())
    throw table.wrong(
        key, fmt::format("\"{}\" holds no values of cells", path),
        "A UBC model or another list of numbers, .npy, .nc, .h5, or a table with easting, northing, "
        "up and active.");
  expect_mesh(table, key, path, mesh, data->mesh);
  const auto* column = data->find("active");
  return (column != nullptr ? *column : data->cells.front()).values;
}

}  // namespace terrane::inversion
