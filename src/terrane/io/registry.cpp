#include "terrane/io/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/airborne.hpp"
#include "terrane/io/axes.hpp"
#include "terrane/io/beside_grid.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/electrodes.hpp"
#include "terrane/io/emg3d.hpp"
#include "terrane/io/ert_protocols.hpp"
#include "terrane/io/ert_tables.hpp"
#include "terrane/io/esri.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/gathers.hpp"
#include "terrane/io/geotiff.hpp"
#include "terrane/io/gmsh.hpp"
#include "terrane/io/hdf5.hpp"
#include "terrane/io/magnetotellurics.hpp"
#include "terrane/io/netcdf.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/io/npy.hpp"
#include "terrane/io/rsf.hpp"
#include "terrane/io/segy.hpp"
#include "terrane/io/sites.hpp"
#include "terrane/io/specfem.hpp"
#include "terrane/io/specfem_mesh.hpp"
#include "terrane/io/surfer.hpp"
#include "terrane/io/tomofast.hpp"
#include "terrane/io/tomography.hpp"
#include "terrane/io/ubc.hpp"
#include "terrane/io/ubc_octree.hpp"
#include "terrane/io/vtk.hpp"
#include "terrane/io/vtkhdf.hpp"

namespace terrane::io {

namespace {

/// The extension of a path in small letters, without that of compression: ".csv" for "a/b.CSV.xz".
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

/// The property of values without a name in the file: the one asked for, or the usual one for the extension.
std::string unnamed(const std::string& path, const std::string& property) {
  constexpr std::array<std::array<std::string_view, 2>, 3> usual{
      {{".sus", "susceptibility"}, {".con", "conductivity"}, {".chg", "chargeability"}}};
  if (!property.empty()) return std::string(property_kind(property, path).name);
  for (const auto& [end, name] : usual)
    if (extension(path) == end) return std::string(name);
  return "density";
}

}  // namespace

// --- arguments of readers and writers

/// A file to read.
struct Source {
  const std::string& path;
  const ReadOptions& options;

  TextReader text() const { return TextReader::open(path, options.memory); }
  std::string bytes() const { return read_bytes(path, options.memory); }
  std::string property() const { return unnamed(path, options.property); }
  MeshData mesh() const;  ///< the mesh, if the file has only values of cells and the mesh is in another file
  /// The grid with coordinates in metres, according to files beside it and options.length_unit. stored:
  /// whether the format has no scale and offset of its own.
  GridData scaled(GridData grid, bool stored = false) const;
};

/// The content to write, converted if possible to the kind that a format can hold.
struct Destination {
  const std::string& path;
  const Format& format;
  const Content& content;
  const WriteOptions& options;

  const std::string& field() const { return options.field; }
  std::string property() const { return unnamed(path, options.field); }
  const Conventions& conventions() const {
    return options.conventions != nullptr ? *options.conventions : names_in_ubc_files();
  }
  GridData grid() const;
  Table table() const;
  const MeshData& mesh() const;
  Array array() const;
  Gathers gathers() const;
  /// Gathers of all components, for formats that store the component of each trace.
  Gathers gathers_of_kinds() const;
  const Dataset& dataset() const;
  [[noreturn]] void refuse(std::string_view next) const;
};

namespace {

void give_unit(std::vector<Column>& columns, const std::string& unit) {
  for (auto& c : columns)
    if (c.unit.empty() && !unit.empty()) c.unit = unit;
}

bool holds_property(const MeshData& mesh) {
  return std::any_of(mesh.cells.begin(), mesh.cells.end(),
                     [](const Column& c) { return find_property(c.name) != nullptr; });
}

}  // namespace

GridData Source::scaled(GridData grid, bool stored) const {
  place_by_files_beside(path, stored, grid);
  if (!options.length_unit.empty()) {
    const bool degrees = lower(options.length_unit).starts_with("deg");
    const double factor = degrees ? 1 : si_factor(Quantity::length, options.length_unit);
    if (!grid.unit_is_assumed && (degrees != grid.geographic || factor != 1))
      throw InputError(path,
                       fmt::format("says itself that its nodes are in {}",
                                   grid.geographic ? "degrees" : "a unit of length"),
                       "Leave the unit of length out.");
    if (grid.unit_is_assumed) {
      grid.geographic = degrees;
      for (auto* axis : {&grid.easting, &grid.northing})
        for (auto& x : *axis) x *= factor;
      grid.unit_is_assumed = false;
    }
  }
  give_unit(grid.fields, options.unit);
  return grid;
}

MeshData Source::mesh() const {
  if (options.mesh.empty())
    throw InputError(path, "holds cell values without their mesh",
                     "Name the file of the mesh too (.msh, .nc or .h5).");
  ReadOptions of_mesh;
  of_mesh.format = options.mesh_format;
  of_mesh.memory = options.memory;
  auto held = io::read(options.mesh, of_mesh);
  auto* data = std::get_if<MeshData>(&held);
  if (data == nullptr)
    throw InputError(options.mesh, "does not hold a mesh", "Give a UBC mesh, or NetCDF or HDF5 with a mesh.");
  return std::move(*data);
}

void Destination::refuse(std::string_view next) const {
  constexpr std::array<std::string_view, 6> kinds{"grid", "table", "mesh", "prisms", "array", "data set"};
  throw UnsupportedError(
      path, fmt::format("{} ({}) cannot hold a {}", format.title, format.name, kinds[content.index()]),
      std::string(next));
}

GridData Destination::grid() const {
  if (const auto* held = std::get_if<GridData>(&content)) return *held;
  if (const auto* rows = std::get_if<Table>(&content)) {
    if (auto made = to_grid(*rows)) return std::move(*made);
    throw UnsupportedError(path,
                           fmt::format("{} ({}) holds grids, and the rows of the table do not form one",
                                       format.title, format.name),
                           "Write NetCDF or CSV.");
  }
  refuse("It holds horizontal grids.");
}

Table Destination::table() const {
  if (const auto* held = std::get_if<Table>(&content)) return *held;
  if (const auto* nodes = std::get_if<GridData>(&content)) return to_table(*nodes);
  if (const auto* prisms = std::get_if<PrismData>(&content)) return to_table(*prisms);
  if (const auto* cells = std::get_if<MeshData>(&content); cells != nullptr && holds_property(*cells)) {
    auto model = to_earth_model(*cells);
    auto attributes = cells->attributes;
    if (const auto all = cells->mesh.size(); model.size() < all)
      attributes["left_out"] =
          fmt::format("{} of {} cells of the mesh, which hold 0 or nothing", all - model.size(), all);
    return to_table(PrismData{prisms_of(model), std::move(model.properties), std::move(attributes)});
  }
  refuse("It holds tables.");
}

const MeshData& Destination::mesh() const {
  if (const auto* held = std::get_if<MeshData>(&content)) return *held;
  refuse("It holds tensor meshes.");
}

Array Destination::array() const {
  if (const auto* held = std::get_if<Array>(&content)) return *held;
  if (const auto* nodes = std::get_if<GridData>(&content))
    return {{nodes->northing.size(), nodes->easting.size()}, one_field(path, *nodes, field()).values, {}};
  if (const auto* cells = std::get_if<MeshData>(&content)) {
    const auto& m = cells->mesh;
    for (const auto& c : cells->cells)
      if (c.name == field() || (field().empty() && (cells->cells.size() == 1 || c.name == "density")))
        return {{m.n_up(), m.n_north(), m.n_east()}, c.values, {}};
    throw InputError(path, fmt::format("there is no one cell property to write{}",
                                       field().empty() ? "" : " called " + field()));
  }
  const auto rows = table();
  Array out{{rows.columns.size(), rows.rows()}, {}, {}};
  if (!field().empty()) {
    const auto* column = rows.find(field());
    if (column == nullptr) throw InputError(path, fmt::format("there is no column \"{}\" to write", field()));
    return {{rows.rows()}, column->values, {}};
  }
  for (const auto& c : rows.columns) out.values.insert(out.values.end(), c.values.begin(), c.values.end());
  return out;
}

Gathers Destination::gathers() const {
  if (const auto* held = std::get_if<Dataset>(&content)) return to_gathers(path, *held, field());
  refuse("It holds gathers: traces of shots.");
}

Gathers Destination::gathers_of_kinds() const {
  if (const auto* held = std::get_if<Dataset>(&content)) return to_gathers_of_kinds(path, *held, field());
  refuse("It holds gathers: traces of shots.");
}

const Dataset& Destination::dataset() const {
  if (const auto* held = std::get_if<Dataset>(&content)) return *held;
  refuse("It holds fields at points that cells join, as snapshots are.");
}

// --- the formats
// -----------------------------------------------------------------------------------------------------

namespace {

using Names = std::vector<std::string>;

/// Whether the first word of a text begins with one of `words`; case is ignored.
template <class... Words>
bool first_word_begins(std::string_view head, Words... words) {
  const auto begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const auto start = lower(head.substr(begin, 8));
  return (start.starts_with(words) || ...);
}

/// Whether this is the beginning of a UBC mesh: three counts, the corner, and as many widths as the first
/// count, also in the form 60*20. (Three widths without a star could be a list of points.)
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

/// Whether this is the beginning of a ModEM data list: comments, then "> Full_Impedance" or another block,
/// also one that the reader then refuses.
bool begins_modem_data(std::string_view head) {
  while (!head.empty()) {
    const auto end = std::min(head.find('\n'), head.size());
    auto line = head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != '>') return false;
    return first_word_begins(line.substr(1), "full_imp", "off_diag", "full_ver", "full_int", "te_imped",
                             "tm_imped", "phase_te", "ex_field", "ey_field", "ez_field", "bx_field",
                             "by_field", "bz_field", "hx_field", "hy_field", "hz_field", "exy_fiel",
                             "exy_ampp", "ezz_fiel");
  }
  return false;
}

Content array_on_mesh(Array array, const Source& from) {
  const auto& options = from.options;
  if (options.mesh.empty()) return array;
  auto data = from.mesh();
  data.cells.clear();
  array = on_cells_of(data.octree, std::move(array));
  const std::vector<std::size_t> wanted{data.mesh.n_up(), data.mesh.n_north(), data.mesh.n_east()};
  if (array.shape != wanted && !(array.shape.size() == 1 && array.values.size() == data.mesh.size()))
    throw ShapeError(from.path,
                     fmt::format("the array has {} values on {} axes, and the mesh has {} x {} x {} cells",
                                 array.values.size(), array.shape.size(), wanted[0], wanted[1], wanted[2]),
                     "The array must be [up, north, east].");
  data.cells.push_back(
      {options.field.empty() ? from.property() : options.field, options.unit, "", std::move(array.values)});
  to_si(data.cells.back());
  return data;
}

Content read_rows(const Source& from) {
  const auto& options = from.options;
  auto in = from.text();
  if (const auto beside = aseg_definition(from.path); !beside.empty()) {
    auto definition = TextReader::open(beside, options.memory);
    return read_aseg(in, definition);
  }
  auto table = read_csv(in);
  if (holds_prisms(table)) {
    // Seven numbers per line without a header are prisms in metres and kg/m³ unless options give other units.
    const bool bare = table.find("rho") != nullptr;
    return to_prisms(table, options.length_unit.empty() && bare ? "m" : options.length_unit,
                     options.unit.empty() && bare ? "kg/m3" : options.unit, from.property());
  }
  const bool bare = holds_bare_points(table);
  for (std::size_t n = 0; n < table.columns.size(); ++n)
    if (auto& c = table.columns[n];
        c.unit.empty() && (c.name == "easting" || c.name == "northing" || c.name == "up" || (bare && n < 2)))
      c.unit = options.length_unit;
  return table;
}

/// Reads DCIP arrays. options.property: the quantity of values if the file does not state it.
Content read_arrays_of_ubc(const Source& from) {
  const auto& options = from.options;
  constexpr std::array<std::string_view, 3> known{"", "resistance", "chargeability"};
  if (std::find(known.begin(), known.end(), options.property) == known.end())
    throw InputError(from.path, fmt::format("arrays of UBC DCIP have no \"{}\"", options.property),
                     "Allowed: resistance, chargeability.");
  auto in = from.text();
  return to_table(read_ubc_dcip(in, {options.property, options.unit}));
}

Content read_cells(const Source& from) {
  const auto mesh = from.mesh();
  auto in = from.text();
  return read_ubc_property(in, mesh, from.property());
}

void write_cells(const Destination& to) { write_ubc_property(to.path, to.mesh(), to.property()); }

Names check_cells(const Destination& to) {
  check_ubc_property(to.path, to.mesh(), to.property());
  return {};
}

Content read_any_surfer(const Source& from) {
  return from.scaled(read_surfer(from.path, from.bytes()), true);
}

/// Reads NetCDF with grids, stations or a mesh; gathers are returned as a data set.
Content read_any_netcdf(const Source& from) {
  const auto& options = from.options;
  if (options.field.empty() && holds_gathers(from.path)) return read_dataset(from.path);
  auto content = read_netcdf(from.path, options.field, options.memory);
  if (auto* grid = std::get_if<GridData>(&content); grid != nullptr && grid->unit_is_assumed)
    return from.scaled(std::move(*grid));
  return content;
}

/// The path of the file of numbers named in a header. A header from an unknown source must not choose which
/// file of this machine is read: throws InputError if the file is not in the folder of the header or not an
/// ordinary file.
std::string beside(const std::string& header, const std::string& file) {
  namespace fs = std::filesystem;
  check_name(file);
  std::error_code error;
  const auto folder = fs::canonical(fs::absolute(header).parent_path(), error);
  const auto numbers =
      fs::weakly_canonical(fs::path(file).is_absolute() ? fs::path(file) : folder / file, error);
  const auto inside = numbers.lexically_relative(folder);
  if (inside.empty() || *inside.begin() == "..")
    throw InputError(header, fmt::format("in=\"{}\" leads out of the folder of this header", shown(file)),
                     "Move the numbers beside it and write in=\"NAME\", or keep both in one file (sfcp "
                     "--out=stdout).");
  if (fs::exists(numbers, error) && !fs::is_regular_file(numbers, error))
    throw InputError(header, fmt::format("in=\"{}\" is not an ordinary file", shown(file)));
  return numbers.string();
}

Content read_any_rsf(const Source& from) {
  const auto numbers = [&](const std::string& file) {
    return read_bytes(beside(from.path, file), from.options.memory);
  };
  auto held = read_rsf(from.path, from.bytes(), numbers, from.options.property, from.options.memory);
  if (auto* mesh = std::get_if<MeshData>(&held)) return std::move(*mesh);
  return to_dataset(std::move(std::get<Gathers>(held)));
}

void write_any_rsf(const Destination& to) {
  if (const auto* mesh = std::get_if<MeshData>(&to.content)) return write_rsf(to.path, *mesh, to.field());
  write_rsf(to.path, to.gathers());
}

Names check_any_rsf(const Destination& to) {
  if (const auto* mesh = std::get_if<MeshData>(&to.content)) check_rsf(to.path, *mesh, to.field());
  else check_rsf(to.path, to.gathers());
  return {};
}

/// Names of the variables of gathers that are not written.
Names other_series(const Destination& to, const Gathers& written) {
  Names names;
  const auto all = ", " + written.name + ",";
  if (const auto* data = std::get_if<Dataset>(&to.content))
    for (const auto& v : data->variables)
      if (all.find(", " + v.name + ",") == std::string::npos) names.push_back(v.name);
  return names;
}

Names check_any_segy(const Destination& to) {
  const auto gathers = to.gathers_of_kinds();
  check_segy(to.path, gathers);
  return other_series(to, gathers);
}

Names check_any_su(const Destination& to) {
  const auto gathers = to.gathers_of_kinds();
  check_su(to.path, gathers);
  return other_series(to, gathers);
}

/// Reads a text format with a reader that has the text as its only argument.
template <auto reader>
Content from_text(const Source& from) {
  auto in = from.text();
  return reader(in);
}

Names all_of_mesh(const Destination& to) {
  to.mesh();
  return {};
}

/// Names of left-out columns for table formats that hold every column: none. Throws for arrays and data sets,
/// which these formats cannot hold; accepts prisms and mesh properties.
Names all_of_table(const Destination& to) {
  const auto* mesh = std::get_if<MeshData>(&to.content);
  const bool shapeless =
      std::holds_alternative<Array>(to.content) || std::holds_alternative<Dataset>(to.content);
  if (mesh != nullptr ? !holds_property(*mesh) : shapeless) to.refuse("It holds tables.");
  return {};
}

// Formats in the order in which they are listed and tried. A row states only what differs from the defaults
// of Format.
const std::array all_formats{
    Format{
        .name = "netcdf",
        .title = "CF NetCDF",
        .extensions = ".nc .nc4 .cdf",
        .holds = "grid table mesh dataset",
        .all_columns = true,
        .begins =
            [](std::string_view head) { return head.starts_with("CDF") || head.starts_with("\x89HDF"); },
        .read = read_any_netcdf,
        .write =
            [](const Destination& to) {
              if (const auto* grid = std::get_if<GridData>(&to.content)) return write_netcdf(to.path, *grid);
              if (const auto* mesh = std::get_if<MeshData>(&to.content)) return write_netcdf(to.path, *mesh);
              if (const auto* data = std::get_if<Dataset>(&to.content)) return write_netcdf(to.path, *data);
              return write_netcdf(to.path, to.table());
            },
        .left_out =
            [](const Destination& to) {
              const auto& held = to.content;
              if (std::holds_alternative<MeshData>(held) || std::holds_alternative<Dataset>(held))
                return Names{};
              return all_of_table(to);
            },
    },
    Format{
        .name = "hdf5",
        .title = "HDF5 tensor mesh",
        .extensions = ".h5 .hdf5",
        .holds = "mesh",
        .begins = [](std::string_view head) { return head.starts_with("\x89HDF"); },
        .read = [](const Source& from) -> Content {
          if (holds_emg3d(from.path)) return read_emg3d(from.path, from.options.memory);
          return read_hdf5(from.path, from.options.memory);
        },
        .write = [](const Destination& to) { write_hdf5(to.path, to.mesh()); },
        .left_out = all_of_mesh,
    },
    Format{
        .name = "emg3d",
        .title = "emg3d model, mesh or survey",
        .extensions = ".npz .json",
        .holds = "mesh table",
        .read = [](const Source& from) { return read_emg3d(from.path, from.options.memory); },
    },
    Format{
        .name = "emg3d-survey",
        .title = "receivers of an emg3d survey",
        .extensions = "",
        .holds = "table",
        .read = [](const Source& from) -> Content {
          return read_emg3d_survey(from.path, from.options.memory).receivers;
        },
    },
    Format{
        .name = "csv",
        .title = "CSV with units in its header",
        .extensions = ".csv .tsv .txt .dat .xyz",
        .holds = "table prisms",
        .all_columns = true,
        .read = read_rows,
        .write = [](const Destination& to) { write_csv(to.path, to.table()); },
        .left_out = all_of_table,
    },
    Format{
        .name = "ubc-mesh",
        .title = "UBC-GIF mesh (octrees as tensor meshes)",
        .extensions = ".msh",
        .holds = "mesh",
        .resembles = [](std::string_view head) { return begins_ubc_mesh(head) || begins_ubc_octree(head); },
        .read = [](const Source& from) -> Content {
          auto in = from.text();
          if (is_ubc_octree(in)) return read_ubc_octree(in);
          return MeshData{read_ubc_mesh(in), {}, {}};
        },
        .write = [](const Destination& to) { write_ubc_mesh(to.path, to.mesh().mesh); },
        .left_out = all_of_mesh,
    },
    Format{
        .name = "ubc-density",
        .title = "UBC-GIF density model",
        .extensions = ".den",
        .holds = "mesh",
        .read = read_cells,
        .write = write_cells,
        .left_out = check_cells,
    },
    Format{
        .name = "ubc-model",
        .title = "UBC-GIF model of another property",
        .extensions = ".sus .con .chg",
        .holds = "mesh",
        .read = read_cells,
        .write = write_cells,
        .left_out = check_cells,
    },
    Format{
        .name = "ubc-gravity",
        .title = "GRAV3D observations or locations",
        .extensions = ".grv .obs .loc .pre .topo",
        .holds = "table",
        .read = from_text<static_cast<Table (*)(TextReader&)>(read_ubc_gravity)>,
        .write =
            [](const Destination& to) {
              write_ubc_gravity(to.path, to.table(), to.field(), to.conventions());
            },
        .left_out =
            [](const Destination& to) {
              return left_out_of_ubc_gravity(to.path, to.table(), to.field(), to.conventions());
            },
    },
    Format{
        .name = "ubc-magnetic",
        .title = "MAG3D total-field anomalies",
        .extensions = ".mag",
        .holds = "table",
        .begins = begins_ubc_magnetic,
        .read = from_text<static_cast<Table (*)(TextReader&)>(read_ubc_magnetic)>,
    },
    Format{
        .name = "ubc-gradient",
        .title = "GG3D gradient observations",
        .extensions = ".gg .gra",
        .holds = "table",
        .begins = [](std::string_view head) { return first_word_begins(head, "datacomp"); },
        .read = from_text<static_cast<Table (*)(TextReader&)>(read_ubc_gradient)>,
        .write =
            [](const Destination& to) {
              write_ubc_gradient(to.path, to.table(), to.field(), to.conventions());
            },
        .left_out =
            [](const Destination& to) {
              return left_out_of_ubc_gradient(to.path, to.table(), to.field(), to.conventions());
            },
    },
    Format{
        .name = "ubc-dcip",
        .title = "DCIP2D and DCIP3D arrays of electrodes",
        .extensions = ".dcip",
        .holds = "table",
        .all_columns = true,
        .begins = [](std::string_view head) { return begins_ubc_dcip(head) && !begins_res2dinv(head); },
        .read = read_arrays_of_ubc,
        .write = [](const Destination& to) { write_ubc_dcip_rows(to.path, to.table(), to.field()); },
        .left_out =
            [](const Destination& to) { return left_out_of_ubc_dcip(to.path, to.table(), to.field()); },
    },
    Format{
        .name = "bert",
        .title = "BERT and pyGIMLi arrays of electrodes",
        .extensions = ".ohm",
        .holds = "table",
        .all_columns = true,
        .begins = begins_bert,
        .read = [](const Source& from) -> Content {
          auto in = from.text();
          return to_table(read_bert(in, {from.options.property, ""}));
        },
        .write = [](const Destination& to) { write_bert_rows(to.path, to.table()); },
        .left_out = [](const Destination& to) { return left_out_of_bert(to.path, to.table()); },
    },
    Format{
        .name = "geosoft-xyz",
        .title = "Geosoft XYZ table of lines",
        .extensions = "",
        .holds = "table",
        .resembles = [](std::string_view head) { return begins_geosoft_xyz(head) && !begins_res2dinv(head); },
        .read = from_text<static_cast<Table (*)(TextReader&)>(read_geosoft)>,
    },
    Format{
        .name = "res2dinv",
        .title = "Res2dinv arrays of electrodes",
        .extensions = "",
        .holds = "table",
        .resembles = begins_res2dinv,
        .read = [](const Source& from) -> Content {
          auto in = from.text();
          return to_table(read_res2dinv(in));
        },
    },
    Format{
        .name = "syscal",
        .title = "Syscal (Prosys) table of arrays",
        .extensions = "",
        .holds = "table",
        .resembles = begins_syscal,
        .read = [](const Source& from) -> Content {
          auto in = from.text();
          return to_table(read_syscal(in));
        },
    },
    Format{
        .name = "sting",
        .title = "SuperSting records of arrays",
        .extensions = ".stg",
        .holds = "table",
        .begins = begins_sting,
        .read = [](const Source& from) -> Content {
          auto in = from.text();
          return to_table(read_sting(in));
        },
    },
    Format{
        .name = "r2-protocol",
        .title = "R2 and ResIPy protocol of arrays, with electrodes.dat",
        .extensions = "",
        .holds = "table",
        .resembles = begins_protocol,
        .read = [](const Source& from) -> Content {
          auto in = from.text();
          return to_table(read_protocol(in));
        },
    },
    Format{
        .name = "modem-data",
        .title = "ModEM list of magnetotelluric data",
        .extensions = ".modem",
        .holds = "table",
        .takes_rows = true,
        .begins = begins_modem_data,
        .read = from_text<static_cast<Table (*)(TextReader&)>(read_modem_data)>,
        .write = [](const Destination& to) { write_modem_data(to.path, to.table()); },
        .left_out = [](const Destination& to) { return left_out_of_modem_data(to.path, to.table()); },
    },
    Format{
        .name = "modem-model",
        .title = "ModEM model of resistivity",
        .extensions = ".ws .rho",
        .holds = "mesh",
        .read = from_text<static_cast<MeshData (*)(TextReader&)>(read_modem_model)>,
        .write = [](const Destination& to) { write_modem_model(to.path, to.mesh()); },
        .left_out =
            [](const Destination& to) {
              check_modem_model(to.path, to.mesh());
              return Names{};
            },
    },
    Format{
        .name = "edi",
        .title = "EDI, a file for each magnetotelluric site",
        .extensions = ".edi",
        .holds = "table",
        .takes_rows = true,
        .begins = [](std::string_view head) { return first_word_begins(head, ">head"); },
        .read = from_text<static_cast<Table (*)(TextReader&)>(read_edi)>,
        .write = [](const Destination& to) { write_edi(to.path, to.table()); },
        .left_out = [](const Destination& to) { return left_out_of_edi(to.path, to.table()); },
        .files = [](const Destination& to) { return files_of_edi(to.path, to.table()); },
    },
    Format{
        .name = "geotiff",
        .title = "GeoTIFF grid",
        .extensions = ".tif .tiff",
        .holds = "grid",
        .begins = begins_tiff,
        .read = [](const Source& from) -> Content {
          return from.scaled(read_geotiff(from.path, from.bytes(), from.options.memory));
        },
    },
    Format{
        .name = "esri",
        .title = "ESRI ASCII grid",
        .extensions = ".asc",
        .holds = "grid",
        .begins = [](std::string_view head) { return first_word_begins(head, "ncols", "nrows"); },
        .read = [](const Source& from) -> Content {
          auto in = from.text();
          return from.scaled(read_esri(in), true);
        },
        .write = [](const Destination& to) { write_esri(to.path, to.grid(), to.field()); },
        .left_out =
            [](const Destination& to) {
              check_esri(to.path, to.grid(), to.field());
              return Names{};
            },
    },
    Format{
        .name = "surfer",
        .title = "Surfer 7 grid (reads Surfer 6 text and binary too)",
        .extensions = ".grd",
        .holds = "grid",
        .begins =
            [](std::string_view head) {
              return head.starts_with("DSAA") || head.starts_with("DSBB") || head.starts_with("DSRB");
            },
        .read = read_any_surfer,
        .write = [](const Destination& to) { write_surfer7(to.path, to.grid(), to.field()); },
        .left_out =
            [](const Destination& to) {
              check_surfer7(to.path, to.grid(), to.field());
              return Names{};
            },
    },
    Format{
        .name = "surfer-text",
        .title = "Surfer 6 text grid (DSAA)",
        .extensions = "",
        .holds = "grid",
        .read = read_any_surfer,
        .write = [](const Destination& to) { write_surfer_text(to.path, to.grid(), to.field()); },
        .left_out =
            [](const Destination& to) {
              check_surfer_text(to.path, to.grid(), to.field());
              return Names{};
            },
    },
    Format{
        .name = "npy",
        .title = "NumPy array",
        .extensions = ".npy",
        .holds = "array mesh",
        .begins = [](std::string_view head) { return head.starts_with("\x93NUMPY"); },
        .read = [](const Source& from) { return array_on_mesh(read_npy(from.path, from.bytes()), from); },
        .write = [](const Destination& to) { write_npy(to.path, to.array()); },
        .left_out =
            [](const Destination& to) {
              to.array();
              return Names{};
            },
    },
    Format{
        .name = "segy",
        .title = "SEG-Y (reads revisions 0 to 2)",
        .extensions = ".segy .sgy",
        .holds = "dataset",
        .begins = begins_segy,
        .read = [](const Source& from) -> Content {
          return to_dataset(read_segy(from.path, from.bytes(), from.options.memory));
        },
        .write = [](const Destination& to) { write_segy(to.path, to.gathers_of_kinds()); },
        .left_out = check_any_segy,
    },
    Format{
        .name = "segy-ibm",
        .title = "SEG-Y with IBM floats",
        .extensions = "",
        .holds = "dataset",
        .read = [](const Source& from) -> Content {
          return to_dataset(read_segy(from.path, from.bytes(), from.options.memory));
        },
        .write = [](const Destination& to) { write_segy(to.path, to.gathers_of_kinds(), SegySamples::ibm); },
        .left_out = check_any_segy,
    },
    Format{
        .name = "su",
        .title = "Seismic Unix (reads both byte orders)",
        .extensions = ".su",
        .holds = "dataset",
        .read = [](const Source& from) -> Content {
          return to_dataset(read_su(from.path, from.bytes(), from.options.memory));
        },
        .write = [](const Destination& to) { write_su(to.path, to.gathers_of_kinds()); },
        .left_out = check_any_su,
    },
    Format{
        .name = "su-xdr",
        .title = "Seismic Unix, big-endian",
        .extensions = "",
        .holds = "dataset",
        .read = [](const Source& from) -> Content {
          return to_dataset(read_su(from.path, from.bytes(), from.options.memory));
        },
        .write = [](const Destination& to) { write_su(to.path, to.gathers_of_kinds(), std::endian::big); },
        .left_out = check_any_su,
    },
    Format{
        .name = "rsf",
        .title = "Madagascar RSF",
        .extensions = ".rsf",
        .holds = "dataset mesh",
        .read = read_any_rsf,
        .write = write_any_rsf,
        .left_out = check_any_rsf,
    },
    Format{
        .name = "vtr",
        .title = "VTK rectilinear mesh",
        .extensions = ".vtr",
        .holds = "mesh",
        .write = [](const Destination& to) { write_vtr(to.path, to.mesh()); },
        .left_out = all_of_mesh,
    },
    Format{
        .name = "vtkhdf",
        .title = "VTKHDF films of points and cells",
        .extensions = ".vtkhdf",
        .holds = "dataset",
        .write = [](const Destination& to) { write_vtkhdf(to.path, to.dataset()); },
        .left_out = [](const Destination& to) { return left_out_of_vtkhdf(to.path, to.dataset()); },
    },
    Format{
        .name = "vts",
        .title = "VTK structured grid of stations",
        .extensions = ".vts",
        .holds = "grid",
        .all_columns = true,
        .write = [](const Destination& to) { write_vts(to.path, to.grid()); },
        .left_out =
            [](const Destination& to) {
              to.grid();
              return Names{};
            },
    },
    Format{
        .name = "tomofast-grid",
        .title = "Tomofast-x model grid",
        .extensions = "",
        .holds = "prisms",
        .read = from_text<static_cast<PrismData (*)(TextReader&)>(read_tomofast_grid)>,
    },
    Format{
        .name = "gmsh",
        .title = "Gmsh mesh of hexahedra (4.1)",
        .extensions = "",
        .holds = "dataset",
        .begins = begins_gmsh,
        .read = [](const Source& from) -> Content { return to_dataset(read_gmsh(from.path, from.bytes())); },
    },
    Format{
        .name = "specfem-mesh",
        .title = "folder with a mesh of SPECFEM3D",
        .extensions = "",
        .holds = "dataset",
        .read = [](const Source& from) -> Content {
          return to_dataset(read_specfem_mesh(from.path, from.options.memory));
        },
    },
    Format{
        .name = "specfem-par",
        .title = "Par_file of SPECFEM3D",
        .extensions = "",
        .holds = "table",
        .begins = begins_par_file,
        .read = [](const Source& from) -> Content {
          return to_table(read_par_lines(from.path, from.bytes()));
        },
    },
    Format{
        .name = "specfem-sources",
        .title = "CMTSOLUTION or FORCESOLUTION of SPECFEM3D",
        .extensions = "",
        .holds = "table",
        .begins = begins_specfem_sources,
        .read = [](const Source& from) -> Content {
          return to_table(read_specfem_sources(from.path, from.bytes()));
        },
    },
    Format{
        .name = "specfem-stations",
        .title = "STATIONS of SPECFEM3D",
        .extensions = "",
        .holds = "table",
        .resembles = resembles_specfem_stations,
        .read = [](const Source& from) -> Content {
          return to_table(read_specfem_stations(from.path, from.bytes()));
        },
    },
    Format{
        .name = "specfem-tomography",
        .title = "tomography_model.xyz of SPECFEM3D",
        .extensions = "",
        .holds = "table",
        .resembles = begins_tomography,
        .read = [](const Source& from) -> Content {
          auto in = from.text();
          return to_table(read_tomography(in));
        },
    },
    Format{
        .name = "tomofast-data",
        .title = "Tomofast-x data",
        .extensions = "",
        .holds = "table",
        .read = from_text<static_cast<Table (*)(TextReader&)>(read_tomofast_data)>,
    },
};

std::vector<std::string_view> names_of_formats() {
  std::vector<std::string_view> names;
  for (const auto& f : all_formats) names.push_back(f.name);
  return names;
}

const Format& named(const std::string& name) {
  const auto it = std::ranges::find(all_formats, name, &Format::name);
  if (it != all_formats.end()) return *it;
  const auto names = names_of_formats();
  throw UnsupportedError("format", fmt::format("\"{}\" is not a format.{}", name, did_you_mean(name, names)),
                         "Allowed: " + joined(names) + ".");
}

const Format* by_extension(const std::string& path) {
  const auto wanted = extension(path);
  if (wanted.empty()) return nullptr;
  const auto it = std::find_if(all_formats.begin(), all_formats.end(),
                               [&](const Format& f) { return lists(f.extensions, wanted); });
  return it == all_formats.end() ? nullptr : &*it;
}

/// The format of files that begin with these bytes. If several formats do, it is the one that the extension
/// suggests, otherwise the first.
const Format* by_content(std::string_view head, const Format* by_name) {
  const Format* found = nullptr;
  for (const auto& format : all_formats)
    if (format.begins != nullptr && format.begins(head) && (found == nullptr || &format == by_name))
      found = &format;
  return found;
}

/// A file format that is recognised but not read.
struct Foreign {
  std::string_view name, next;
  bool (*begins)(std::string_view head);
  /// File name extension that the file must have, if the first bytes do not suffice.
  std::string_view only = {};
};

template <std::size_t N>
bool begins_any(std::string_view head, const std::array<std::string_view, N>& starts) {
  return std::any_of(starts.begin(), starts.end(), [&](auto start) { return head.starts_with(start); });
}

/// Whether the head is that of a Geosoft grid: bytes per node (plus 1024 if compressed), type of numbers, two
/// counts, direction.
bool begins_geosoft(std::string_view head) {
  constexpr std::size_t header = 512;
  if (head.size() < header) return false;
  std::array<std::int32_t, 5> said{};
  std::memcpy(said.data(), head.data(), sizeof said);
  const auto bytes = said[0] >= 1024 ? said[0] - 1024 : said[0];
  return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) && said[1] >= 0 && said[1] <= 3 &&
         said[2] > 0 && said[3] > 0 && (said[4] == 1 || said[4] == -1);
}

using namespace std::string_view_literals;
constexpr std::string_view by_gdal = "`gdal_translate -of netCDF IN OUT.nc` makes NetCDF of it.";
constexpr std::string_view by_res2dinv =
    "Export it as Res2dinv, or as a table with A, B, M, N and what was measured: rhoa, or R.";
constexpr std::array foreigners{
    Foreign{"a grid of Oasis montaj (Geosoft)", "Export it there as a Surfer grid or ESRI ASCII.",
            begins_geosoft, ".grd"},
    Foreign{"a Geosoft GXF grid", by_gdal,
            [](std::string_view head) {
              return head.starts_with('#') && head.find("\n#") != head.npos &&
                     (head.find("#POINTS") != head.npos || head.find("#GRID") != head.npos) &&
                     head.find("#ROWS") != head.npos;
            }},
    Foreign{"a grid of ICGEM", "Keep the lines behind end_of_head, with a first line longitude,latitude,…",
            [](std::string_view head) { return head.find("end_of_head") != head.npos; }},
    Foreign{"an ERDAS image", by_gdal,
            [](std::string_view head) { return head.starts_with("EHFA_HEADER_TAG"); }},
    Foreign{"GRIB", by_gdal, [](std::string_view head) { return head.starts_with("GRIB"); }},
    Foreign{"a point cloud (LAS)", "Make a grid of it first.",
            [](std::string_view head) { return head.starts_with("LASF"); }},
    Foreign{"a database (SQLite, GeoPackage)", "Export a table or a grid of it.",
            [](std::string_view head) { return head.starts_with("SQLite format 3"); }},
    Foreign{"a shapefile", "Export its points as CSV.",
            [](std::string_view head) { return head.starts_with("\0\0\x27\x0A"sv); }},
    Foreign{"a spreadsheet of Excel", "Save it as CSV.",
            [](std::string_view head) { return head.starts_with("\xD0\xCF\x11\xE0"); }},
    Foreign{"a MATLAB file", "Save arrays as .npy, or columns as CSV.",
            [](std::string_view head) { return head.starts_with("MATLAB "); }},
    Foreign{"a SEG-2 file", "Convert it to SEG-Y.",
            [](std::string_view head) {
              return begins_any(head, std::array{"\x55\x3A"sv, "\x3A\x55"sv});
            }},
    Foreign{"a picture or a document", "Give the numbers.",
            [](std::string_view head) {
              return begins_any(head, std::array{"%PDF"sv, "\x89PNG"sv, "\xFF\xD8\xFF"sv, "GIF8"sv});
            }},
    Foreign{"a page of HTML", "Was a page of an error downloaded in place of the file?",
            [](std::string_view head) {
              const auto begin =
                  lower(head.substr(std::min(head.find_first_not_of(" \t\r\n"), head.size()), 9));
              return begin == "<!doctype" || begin.starts_with("<html");
            }},
    Foreign{"a VTK file of the old kind", "Keep NetCDF or HDF5 beside it.",
            [](std::string_view head) { return head.starts_with("# vtk DataFile"); }},
    Foreign{"StationXML",
            "terrane.compat.obspy.stations(obspy.read_inventory(FILE), \"STATIONS\") in Python makes a file "
            "STATIONS of it.",
            [](std::string_view head) { return head.find("<FDSNStationXML") != head.npos; }},
    Foreign{"QuakeML",
            "obspy.read_events(FILE).write(\"CMTSOLUTION\", format=\"CMTSOLUTION\") in Python makes a file "
            "CMTSOLUTION of it.",
            [](std::string_view head) { return head.find("quakeml") != head.npos && head.find('<') == 0; }},
    Foreign{"miniSEED", "Its traces become SEG-Y by obspy.read(FILE).write(OUT, format=\"SEGY\").",
            [](std::string_view head) {
              constexpr std::size_t sequence = 6;
              return head.size() > sequence + 1 &&
                     std::all_of(head.begin(), head.begin() + sequence,
                                 [](char c) { return c >= '0' && c <= '9'; }) &&
                     "DRQM"sv.find(head[sequence]) != std::string_view::npos && head[sequence + 1] == ' ';
            }},
    Foreign{"a file of an ARES instrument", by_res2dinv,
            [](std::string_view head) { return head.starts_with("Device: ARES"); }},
    Foreign{"a file of a Lippmann instrument", by_res2dinv,
            [](std::string_view head) { return head.starts_with("* Data file >"); }},
    Foreign{"a file of a DAS-1 instrument (ERTLab)", by_res2dinv,
            [](std::string_view head) { return head.find("ERTLab DACQ") != head.npos; }},
    Foreign{"a file of an Electra instrument", by_res2dinv,
            [](std::string_view head) {
              return head.starts_with("# Original file") && head.find(".electra") != head.npos;
            }},
    Foreign{"a file of a PRIME instrument", by_res2dinv,
            [](std::string_view head) { return head.starts_with("# Prime:"); }},
    Foreign{"packed by bzip2 or zstd", "Unpack it first, or pack it by gzip or xz.",
            [](std::string_view head) {
              return begins_any(head, std::array{"BZh"sv, "\x28\xB5\x2F\xFD"sv});
            }},
};

void refuse_foreign(const std::string& path, std::string_view head) {
  for (const auto& kind : foreigners)
    if (kind.begins(head) && (kind.only.empty() || kind.only == extension(path)))
      throw UnsupportedError(path, fmt::format("is {}, which is not read", kind.name),
                             std::string(kind.next));
}

/// Advice for an error in the first lines of a file whose format was determined by its name alone.
std::string by_name_only(const std::string& path, const Format& format, const InputError& error) {
  constexpr std::size_t few = 3;
  std::int64_t line = 0;
  const auto rest = std::string_view(error.where()).substr(std::min(path.size(), error.where().size()));
  const bool late =
      rest.starts_with(':') && parse_integer(rest.substr(1), line) && line > static_cast<std::int64_t>(few);
  if (late || !error.where().starts_with(path)) return {};
  const bool noddy = extension(path) == ".grv";
  return fmt::format(" It was taken for {} by its name{}; `format` names another.", format.title,
                     noddy ? " (Noddy's files .grv are something else, and not read)" : "");
}

}  // namespace

std::span<const Format> formats() { return all_formats; }

const Format& format_of(const std::string& path) {
  if (is_specfem_mesh(path)) return named("specfem-mesh");
  const auto head = read_head(path, head_bytes);
  const auto* by_name = by_extension(path);
  if (const auto* format = by_content(head, by_name)) return *format;
  refuse_foreign(path, head);
  if (head.starts_with("PK\x03\x04") && (by_name == nullptr || by_name->name != "emg3d"))
    throw UnsupportedError(path, "is a zip archive (as .kmz, .xlsx and .ods are)", "Unpack it, or save CSV.");
  if (by_name == nullptr || by_name->name == "csv")  // any text file may have an extension such as this
    for (const auto& format : all_formats)
      if (format.resembles != nullptr && format.resembles(head)) return format;
  if (by_name != nullptr) return *by_name;
  throw UnsupportedError(path, "neither its name nor its first bytes say what format it has",
                         "Name the format: " + joined(names_of_formats()) + ".");
}

Content read(const std::string& path, const ReadOptions& options) {
  check_name(path);
  // Whether the path is a folder with a single mesh.
  const bool one = options.format == "specfem-mesh" || is_specfem_mesh(path);
  if (const auto files = one ? std::vector{path} : files_named(path);
      files.size() > 1 || files.front() != path)
    return read_sites(files, options);
  const Format& format = options.format.empty() ? format_of(path) : named(options.format);
  if (!format.reads())
    throw UnsupportedError(path,
                           fmt::format("{} ({}) can be written and not read", format.title, format.name),
                           "Keep NetCDF or HDF5 beside it.");
  try {
    return format.read({path, options});
  } catch (const InputError& error) {
    const bool by_name = options.format.empty() && by_extension(path) == &format && format.name != "csv" &&
                         by_content(read_head(path, head_bytes), &format) == nullptr;
    const auto more = by_name ? by_name_only(path, format, error) : std::string();
    if (more.empty()) throw;
    throw InputError(error.where(), error.problem(), error.next() + more);
  }
}

const Format& format_to_write(const std::string& path, const WriteOptions& options) {
  const Format* found = options.format.empty() ? by_extension(path) : &named(options.format);
  if (found == nullptr)
    throw UnsupportedError(path, "its name does not say what format to write",
                           "Use an extension such as .nc, .csv, .h5, .vtr, or name the format: " +
                               joined(names_of_formats()) + ".");
  const Format& format = *found;
  if (!format.writes())
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
  format.write({path, format, content, options});
}

std::vector<std::string> left_out(const std::string& path, const Content& content,
                                  const WriteOptions& options) {
  const Format& format = format_to_write(path, options);
  auto names = format.left_out({path, format, content, options});
  if (const auto* grid = std::get_if<GridData>(&content); grid != nullptr && format.name != "netcdf")
    for (const auto& field : grid->downward)
      names.push_back(fmt::format("that {} is positive downward", field));
  return names;
}

std::vector<std::string> written_files(const std::string& path, const Content& content,
                                       const WriteOptions& options) {
  const Format& format = format_to_write(path, options);
  if (format.files == nullptr) return {path};
  return format.files({path, format, content, options});
}

}  // namespace terrane::io
