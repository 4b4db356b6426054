#include "terrane/job/earth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <numeric>

#include "terrane/base/text.hpp"
#include "terrane/io/gathers.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/mesh/overlaps.hpp"
#include "terrane/model/bodies.hpp"
#include "terrane/model/maps.hpp"
#include "terrane/model/terrain.hpp"

namespace terrane {

namespace {

constexpr std::array<std::string_view, 6> mesh_kinds{"regular", "tensor",  "file",
                                                     "prisms",  "terrain", "random"};

constexpr Key mesh_keys[] = {
    {"kind", "text", "\"regular\"",
     "regular, tensor, file (a mesh), prisms (a list), terrain (columns below an elevation grid) or random.",
     "\"regular\""},
    {"projection", "text", "none",
     "Map projection of the job's coordinates, for longitudes and latitudes in its files: an EPSG code, a "
     "PROJ"
     " string, or \"utm\" for the zone of the stations."},
};
constexpr Key regular_keys[] = {
    {"box", "list of 6 lengths", "", "West, east, south, north, bottom, top of the whole mesh.",
     "[0, 22, 0, 22, -8, 0, \"km\"]"},
    {"shape", "list of 3 counts", "", "Cells along easting, northing and up.", "[110, 110, 40]"},
};
constexpr Key tensor_keys[] = {
    {"easting", "list of lengths", "none", "Faces of the cells along easting, ascending."},
    {"northing", "list of lengths", "none", "Faces along northing."},
    {"up", "list of lengths", "none", "Faces along up."},
    {"origin", "list of 3 lengths", "[0, 0, 0]", "Lower south-west corner, when widths are given."},
    {"easting_widths", "list of lengths", "none",
     "Widths along easting in place of faces; \"60*20 m\" stands for sixty cells of 20 m."},
    {"northing_widths", "list of lengths", "none", "Widths along northing, from the south."},
    {"up_widths", "list of lengths", "none", "Thicknesses, from the bottom."},
};
constexpr Key mesh_file_keys[] = {
    {"file", "path", "",
     "A tensor mesh: UBC .msh, or .h5, .nc and .rsf that hold cells and may hold properties."},
    {"format", "text", "none",
     "Format of the file, where neither its name nor its beginning says it: \"ubc-mesh\"."},
};
constexpr Key prisms_keys[] = {
    {"file", "path", "",
     "Prisms and densities: columns west, east, south, north, bottom, top, density, or x1 y1 z1 x2 y2 z2 rho "
     "in"
     " any corner order; also columns of other properties."},
    {"length_unit", "text", "none", "Unit of the lengths, where the file's header does not say."},
    {"density_unit", "text", "none", "Unit of the densities, where the file's header does not say."},
};
constexpr Key terrain_keys[] = {
    {"elevation", "path", "", "Elevation grid, m: .nc, .grd, .asc, also packed by gzip or xz."},
    {"field", "text", "\"\"", "Which variable of the file, when it has several."},
    {"reference", "length or path", "0", "Level the columns start from, or a grid of it."},
    {"window", "list of 4 angles", "none",
     "Part of a geographic grid to use: longitudes west, east, latitudes south, north, in degrees."},
    {"region", "list of 4 lengths", "none", "Rectangle to cover after projection: west, east, south, north."},
    {"spacing", "list of 2 lengths", "[0, 0]",
     "Width of the columns along easting and northing after projection; 0: as the grid has it."},
};
constexpr Key random_keys[] = {
    {"shape", "list of 3 counts", "[2, 2, 2]", "Cells along easting, northing and up."},
    {"widths", "list of 2 lengths", "[1, 11, \"km\"]",
     "Smallest and largest width of a cell along every axis."},
    {"origin", "list of 3 lengths", "[0, 0, 0]", "West, south and top of the blocks."},
    {"seed", "count", "1", "The same seed gives the same blocks everywhere."},
};

constexpr Key model_keys[] = {
    {"file", "path", "none",
     "Properties of every cell: .h5 and .nc hold several; .npy, .rsf, UBC .den, .sus, .con one; so does "
     "SEG-Y, a "
     "trace per column from the top."},
    {"format", "text", "none", "Format of the file, where its name does not say it: \"ubc-density\"."},
    {"property", "text", "none",
     "What values without a name are; without it what the extension says (.sus, .con, .chg), or density."},
    {"field", "text", "none", "Which variable of the file is `property`, where it has another name."},
    {"unit", "text", "none", "Unit of values whose file does not say it."},
    {"overlap", "text", "\"replace\"",
     "Where bodies overlap: the last one rules (replace), or they add (add)."},
    {"background", "table", "none",
     "[model.background]: properties of all cells, before bodies are painted; with a file, of the cells to "
     "which it gives none."},
    {"unit", "tables", "none", "[[model.unit]]: kinds of rock by name, for bodies and the background."},
    {"body", "tables", "none", "[[model.body]]: bodies painted into the mesh, in order."},
};
constexpr Key unit_keys[] = {
    {"name", "text", "", "What bodies call it: unit = \"salt\"."},
};
constexpr Key of_unit_keys[] = {
    {"unit", "text", "none",
     "The rock it is made of, by the name of a [[model.unit]]; properties given here rule."},
};
constexpr Key model_terrain_keys[] = {
    {"rock", "density", "2670", "Density of the columns above the reference."},
    {"water", "density", "1040",
     "What fills the columns below the reference; they count with water less rock. 0 for dry land."},
};
constexpr Key model_random_keys[] = {
    {"densities", "list of 2 densities", "[0.1, 3.0, \"g/cm3\"]", "Smallest and largest density."},
};

constexpr std::array<std::string_view, 5> body_kinds{"sphere", "ellipsoid", "box", "polygon", "layer"};
constexpr Key body_keys[] = {
    {"kind", "text", "", "sphere, ellipsoid, box, polygon or layer.", "\"sphere\""},
    {"density", "density", "none",
     "Of the body, or its contrast to what surrounds it; 0 carves a hole. A body has one property or "
     "several.",
     "\"0.4 g/cm3\""},
    {"name", "text", "\"\"", "For messages."},
};
constexpr Key map_keys[] = {
    {"maps", "list of texts", "none",
     "What one property says about another: [\"density from velocity_p by gardner\"], in order."},
};

/// Keys are views of texts: those that are made of the table of properties live here.
std::string_view kept(std::string text) {
  static std::deque<std::string> all;
  return all.emplace_back(std::move(text));
}

/// One key per property; the density has words of its own in body_keys.
std::vector<Key> keys_of_properties(bool with_density,
                                    const std::function<std::string(const PropertyKind&)>& help) {
  std::vector<Key> keys;
  for (const auto& kind : known_properties()) {
    if (kind.name == "density" && !with_density) continue;
    const auto unit = si_unit(kind.quantity);
    keys.push_back({kind.name, unit == "1" ? "number" : unit, "none", kept(help(kind))});
  }
  return keys;
}

std::span<const Key> body_property_keys() {
  static const auto keys =
      keys_of_properties(false, [](const PropertyKind& kind) { return fmt::format("{}.", kind.meaning); });
  return keys;
}

std::span<const Key> background_keys() {
  static const auto keys =
      keys_of_properties(true, [](const PropertyKind& kind) { return fmt::format("{}.", kind.meaning); });
  return keys;
}

std::span<const Key> model_prisms_keys() {
  static const auto keys = keys_of_properties(true, [](const PropertyKind& kind) {
    return kind.name == "density" ? std::string("One density for all prisms, in place of the file's.")
                                  : fmt::format("{}: one for all prisms.", kind.meaning);
  });
  return keys;
}

constexpr Key sphere_keys[] = {
    {"centre", "list of 3 lengths", "", "Easting, northing, up of the centre.", "[11, 11, -4, \"km\"]"},
    {"radius", "length", "", "Radius.", "\"2.5 km\""},
};
constexpr Key ellipsoid_keys[] = {
    {"centre", "list of 3 lengths", "", "Easting, northing, up of the centre."},
    {"semi_axes", "list of 3 lengths", "", "Half lengths a, b, c: east, north, up before turning."},
    {"trend", "number", "90", "Azimuth of axis a, degrees clockwise from north."},
    {"plunge", "number", "0", "Dip of axis a below the horizontal, degrees."},
    {"roll", "number", "0", "Turn about axis a, degrees, clockwise when looking along it."},
};
constexpr Key box_keys[] = {
    {"box", "list of 6 lengths", "", "West, east, south, north, bottom, top."},
};
constexpr Key polygon_keys[] = {
    {"vertices", "list of pairs of lengths", "", "Outline: [[easting, northing], ...], at least three."},
    {"bottom", "length", "", "Lower end."},
    {"top", "length", "", "Upper end."},
};
constexpr Key layer_keys[] = {
    {"bottom", "length or path", "",
     "Lower surface: a level, or a grid of elevations in the job's coordinates."},
    {"top", "length or path", "", "Upper surface."},
};

std::span<const Section> all_sections() {
  static const std::array sections{
      Section{"mesh", "", "Where the model's cells or prisms are. Lengths in metres, or with a unit.",
              mesh_keys},
      Section{"mesh", "regular", "A box cut into equal cells.", regular_keys},
      Section{"mesh", "tensor", "Cells between faces that need not be even.", tensor_keys},
      Section{"mesh", "file", "A tensor mesh from a file.", mesh_file_keys},
      Section{"mesh", "prisms", "A list of prisms from a file.", prisms_keys},
      Section{"mesh", "terrain", "One column per node of an elevation grid, from a reference to the surface.",
              terrain_keys},
      Section{"mesh", "random", "Blocks of random size, to test with.", random_keys},
      Section{"model", "", "What the cells are made of: bodies painted into the mesh, or a file.",
              model_keys},
      Section{"model", "", "Between properties:", map_keys, false},
      Section{"model.background", "", "What every cell is made of where no body and no file says otherwise.",
              background_keys(), false},
      Section{"model.background", "", "Or:", of_unit_keys, false},
      Section{"model.unit", "", "A kind of rock: its properties stand once, and bodies name it.", unit_keys,
              false},
      Section{"model.unit", "", "Properties:", background_keys(), false},
      Section{"model.body", "", "A body; a cell belongs to it when its centre does.", body_keys},
      Section{"model.body", "", "Or:", of_unit_keys, false},
      Section{"model.body", "", "Other properties that a body may have:", body_property_keys(), false},
      Section{"model.body", "sphere", "A sphere.", sphere_keys},
      Section{"model.body", "ellipsoid", "An ellipsoid, turned any way.", ellipsoid_keys},
      Section{"model.body", "box", "A box.", box_keys},
      Section{"model.body", "polygon", "An outline between two levels.", polygon_keys},
      Section{"model.body", "layer", "What lies between two surfaces.", layer_keys},
      Section{"model", "prisms", "For mesh.kind = \"prisms\".", model_prisms_keys().first(1)},
      Section{"model", "prisms", "Other properties:", model_prisms_keys().subspan(1), false},
      Section{"model", "prisms", "Between properties:", map_keys, false},
      Section{"model", "terrain", "For mesh.kind = \"terrain\".", model_terrain_keys},
      Section{"model", "random", "For mesh.kind = \"random\".", model_random_keys},
  };
  return sections;
}

Prism box_of(const Config& table, std::string_view key) {
  const auto faces = table.numbers(key, Quantity::length, 6);
  const Prism box{faces[0], faces[1], faces[2], faces[3], faces[4], faces[5]};
  if (!(box.west < box.east) || !(box.south < box.north) || !(box.bottom < box.top))
    throw table.wrong(key, "the box has no volume",
                      "It reads west, east, south, north, bottom, top, in metres or with a unit at the end.");
  return box;
}

/// Faces of a mesh cost memory only along its axes, but no axis is longer than this.
constexpr std::uint64_t longest_axis = 10'000'000;

TensorMesh regular_mesh(const Config& table) {
  const auto box = box_of(table, "box");
  const auto shape = table.counts("shape", 3);
  for (const auto n : shape)
    if (n > longest_axis)
      throw table.wrong("shape", fmt::format("{} cells along one axis are more than {}", n, longest_axis));
  return TensorMesh::regular(box, {shape[0], shape[1], shape[2]});
}

TensorMesh tensor_mesh(const Config& table) {
  const auto origin = table.numbers("origin", Quantity::length, 3);
  const auto axis = [&](const std::string& name, double start) {
    const std::string widths_key = name + "_widths";
    if (table.has(name) && table.has(widths_key))
      throw table.wrong(widths_key, fmt::format("{} gives the faces already", name), "Keep one of the two.");
    if (table.has(name)) {
      auto faces = table.numbers(name, Quantity::length, 0, longest_axis);
      if (faces.size() < 2) throw table.wrong(name, "one cell needs two faces");
      for (std::size_t i = 1; i < faces.size(); ++i)
        if (!(faces[i - 1] < faces[i]))
          throw table.wrong(
              name, fmt::format("faces must ascend, and face {} ({} m) is not beyond face {} ({} m)", i + 1,
                                faces[i], i, faces[i - 1]));
      return faces;
    }
    if (!table.has(widths_key))
      throw table.wrong(name, "missing", fmt::format("Give {} (faces) or {}_widths.", name, name));
    const auto widths = table.numbers(widths_key, Quantity::length, 0, longest_axis);
    if (widths.empty()) throw table.wrong(widths_key, "there are no cells");
    std::vector<double> faces{start};
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (!(widths[i] > 0))
        throw table.wrong(widths_key, fmt::format("cell {} is {} m wide: every width must be above zero",
                                                  i + 1, widths[i]));
      faces.push_back(faces.back() + widths[i]);
    }
    return faces;
  };
  auto easting = axis("easting", origin[0]);
  auto northing = axis("northing", origin[1]);
  auto up = axis("up", origin[2]);
  return TensorMesh(std::move(easting), std::move(northing), std::move(up));
}

Surface surface_of(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                   const MemoryBudget& memory) {
  if (!table.is_text(key)) return table.number(key, Quantity::length);
  const auto text = table.text(key);
  const bool starts_as_number =
      !text.empty() && std::string_view("0123456789+-.").find(text.front()) != std::string_view::npos &&
      !std::filesystem::exists(table.path(key));
  if (starts_as_number) return table.number(key, Quantity::length);
  return read_elevation(table, key, projection, memory);
}

/// The properties that a table names, SI.
std::vector<PropertyValue> values_of(const Config& table) {
  std::vector<PropertyValue> values;
  for (const auto& kind : known_properties())
    if (const auto value = table.optional_number(kind.name, kind.quantity)) {
      check_value(kind, *value, table.where(kind.name));
      values.push_back({std::string(kind.name), *value});
    }
  return values;
}

/// What each [[model.unit]] is made of, by its name.
using Units = std::map<std::string, std::vector<PropertyValue>, std::less<>>;

Units units_of(const Config& model) {
  Units units;
  for (const auto& raw : model.tables("unit")) {
    const auto table = raw.describe({unit_keys, background_keys()});
    auto values = values_of(table);
    if (values.empty())
      throw InputError(table.where(), "it names no property", "Give it a density, a conductivity, ...");
    if (!units.emplace(table.text("name"), std::move(values)).second)
      throw table.wrong("name", fmt::format("there are two units \"{}\"", table.text("name")),
                        "Give one of them another name.");
  }
  return units;
}

/// What a table says of rock: the properties of its unit, and those that it gives itself.
std::vector<PropertyValue> values_of(const Config& table, const Units& units) {
  auto own = values_of(table);
  const auto name = table.optional_text("unit");
  if (!name) return own;
  const auto unit = units.find(*name);
  if (unit == units.end()) {
    std::vector<std::string_view> names;
    for (const auto& [known, values] : units) names.push_back(known);
    throw table.wrong("unit", fmt::format("there is no unit \"{}\".{}", *name, did_you_mean(*name, names)),
                      names.empty() ? "Describe it: [[model.unit]], name = \"...\" and its properties."
                                    : fmt::format("Units: {}.", joined(names)));
  }
  for (const auto& value : unit->second)
    if (std::none_of(own.begin(), own.end(), [&](const auto& v) { return v.property == value.property; }))
      own.push_back(value);
  return own;
}

/// What [model.background] says of every cell.
std::vector<PropertyValue> background_of(const Config& model) {
  if (!model.has("background")) return {};
  const auto table = model.table("background").describe({background_keys(), of_unit_keys});
  auto values = values_of(table, units_of(model));
  if (values.empty())
    throw InputError(table.where(), "it names no property",
                     "Give it a density, a conductivity, ... or a unit.");
  return values;
}

Body body_of(const Config& raw, const Units& units, const std::optional<Projection>& projection,
             const MemoryBudget& memory) {
  if (!raw.has("kind")) throw raw.wrong("kind", "missing", fmt::format("Allowed: {}.", joined(body_kinds)));
  const auto kind = raw.choice("kind", body_kinds);
  Body body;
  const auto common = [&](std::span<const Key> own) {
    const auto table = raw.describe({body_keys, of_unit_keys, body_property_keys(), own});
    body.values = values_of(table, units);
    if (body.values.empty())
      throw table.wrong("density", "missing",
                        "Give the body a density, or another property: conductivity, ...; or a unit.");
    body.name = table.text("name");
    return table;
  };
  if (kind == "sphere") {
    const auto table = common(sphere_keys);
    const auto centre = table.numbers("centre", Quantity::length, 3);
    body.shape = Sphere{centre[0], centre[1], centre[2], table.positive("radius", Quantity::length)};
  } else if (kind == "ellipsoid") {
    const auto table = common(ellipsoid_keys);
    const auto centre = table.numbers("centre", Quantity::length, 3);
    const auto axes = table.numbers("semi_axes", Quantity::length, 3);
    body.shape = Ellipsoid{centre[0],
                           centre[1],
                           centre[2],
                           {axes[0], axes[1], axes[2]},
                           table.number("trend"),
                           table.number("plunge"),
                           table.number("roll")};
  } else if (kind == "box") {
    body.shape = box_of(common(box_keys), "box");
  } else if (kind == "polygon") {
    const auto table = common(polygon_keys);
    Polygon polygon;
    for (const auto& vertex : table.rows("vertices", Quantity::length, 2)) {
      polygon.easting.push_back(vertex[0]);
      polygon.northing.push_back(vertex[1]);
    }
    polygon.bottom = table.number("bottom", Quantity::length);
    polygon.top = table.number("top", Quantity::length);
    body.shape = std::move(polygon);
  } else {
    const auto table = common(layer_keys);
    body.shape =
        Layer{surface_of(table, "bottom", projection, memory), surface_of(table, "top", projection, memory)};
  }
  try {
    check(body);
  } catch (const InputError& error) {
    throw InputError(raw.where(), error.problem(), error.next());
  }
  return body;
}

/// How many cells have their centre in the box, about.
double cells_within(const TensorMesh& mesh, const Prism& box) {
  const auto along = [](const std::vector<double>& faces, double low, double high) {
    const auto first = std::upper_bound(faces.begin(), faces.end(), low);
    const auto last = std::lower_bound(faces.begin(), faces.end(), high);
    return std::max<double>(0, static_cast<double>(last - first) + 1);
  };
  return along(mesh.easting(), box.west, box.east) * along(mesh.northing(), box.south, box.north) *
         along(mesh.up(), box.bottom, box.top);
}

Prism bounds_of(const Body& body, const TensorMesh& mesh) {
  const Prism all = mesh.bounds();
  return std::visit(
      [&](const auto& shape) -> Prism {
        using Shape = std::decay_t<decltype(shape)>;
        if constexpr (std::is_same_v<Shape, Sphere>) {
          return {shape.easting - shape.radius,  shape.easting + shape.radius, shape.northing - shape.radius,
                  shape.northing + shape.radius, shape.up - shape.radius,      shape.up + shape.radius};
        } else if constexpr (std::is_same_v<Shape, Ellipsoid>) {
          const double r = *std::max_element(shape.semi_axes.begin(), shape.semi_axes.end());
          return {shape.easting - r,  shape.easting + r, shape.northing - r,
                  shape.northing + r, shape.up - r,      shape.up + r};
        } else if constexpr (std::is_same_v<Shape, Box>) {
          return shape;
        } else if constexpr (std::is_same_v<Shape, Polygon>) {
          const auto [west, east] = std::minmax_element(shape.easting.begin(), shape.easting.end());
          const auto [south, north] = std::minmax_element(shape.northing.begin(), shape.northing.end());
          return {*west, *east, *south, *north, shape.bottom, shape.top};
        } else {
          return all;
        }
      },
      body.shape);
}

EarthModel painted(const Config& table, const TensorMesh& mesh, const std::optional<Projection>& projection,
                   const MemoryBudget& memory, Earth& earth) {
  std::vector<Body> bodies;
  double cells = 0, bytes = 0;
  const auto tables = table.tables("body");
  const auto add = [&](Body body) {
    const double own = cells_within(mesh, bounds_of(body, mesh));
    cells += own;
    bytes += own * (8.0 + 8.0 * static_cast<double>(body.values.size()));
    bodies.push_back(std::move(body));
  };
  const auto units = units_of(table);
  auto background = background_of(table);
  const std::size_t first = background.empty() ? 0 : 1;
  if (first == 0 && tables.empty())
    throw table.wrong("body", "the model is empty",
                      "Add [[model.body]] tables or a [model.background], or model.file with the properties "
                      "of every cell.");
  if (first == 1) add({mesh.bounds(), std::move(background), "background"});
  for (const auto& body : tables) add(body_of(body, units, projection, memory));
  const auto rule =
      table.choice("overlap", {"replace", "add"}) == "add" ? OverlapRule::add : OverlapRule::replace;
  memory.require(table.where(), fmt::format("about {:.2g} painted cells", cells), bytes);
  PaintReport report;
  auto model = paint(mesh, bodies, rule, &report);
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (report.cells[first + i] == 0)
      earth.warnings.push_back(fmt::format(
          "{}: the body holds no cell: it is finer than the mesh, or outside it", tables[i].where()));
  return model;
}

/// model.property. Throws InputError when it is not known.
std::optional<std::string> property_of(const Config& table) {
  auto name = table.optional_text("property");
  if (name) {
    try {
      property_kind(*name);
    } catch (const InputError& error) {
      throw table.wrong("property", error.problem(), error.next());
    }
  }
  return name;
}

/// Cells from traces that go down: one for each column, easting first, then northing, the sample at the top
/// first.
std::vector<double> columns_of_traces(const Config& table, const std::string& path, const io::Gathers& traces,
                                      const TensorMesh& mesh) {
  const std::size_t columns = mesh.n_east() * mesh.n_north(), cells = mesh.n_up();
  if (traces.traces() != columns || traces.samples != cells)
    throw table.wrong(
        "file",
        fmt::format("\"{}\" has {} traces of {} samples, the mesh {} × {} columns of {} cells", path,
                    traces.traces(), traces.samples, mesh.n_east(), mesh.n_north(), cells),
        "A trace is a column of the model, from the top; columns run easting first, then northing.");
  std::vector<double> values(columns * cells);
  for (std::size_t n = 0; n < columns; ++n)
    for (std::size_t k = 0; k < cells; ++k)
      values[(cells - 1 - k) * columns + n] = static_cast<double>(traces.values[n * cells + k]);
  return values;
}

/// Properties of a mesh from model.file, in the order and unit the file has.
EarthModel from_file(const Config& table, TensorMesh mesh, const MemoryBudget& memory,
                     const std::string& mesh_file, const std::string& mesh_format) {
  const auto path = table.input_file("file");
  const auto field = table.optional_text("field").value_or("");
  const auto unit = table.optional_text("unit");
  const auto property = property_of(table);
  memory.require(table.where("file"), fmt::format("{} cells", mesh.size()),
                 static_cast<double>(mesh.size()) * 24.0);
  io::ReadOptions options;
  options.format = table.optional_text("format").value_or("");
  options.mesh = mesh_file;
  options.mesh_format = mesh_format;
  options.memory = memory.bytes;
  if (unit) options.unit = *unit;
  options.property = property.value_or("");
  const auto wrong_size = [&](std::size_t count) {
    return table.wrong(
        "file",
        fmt::format("\"{}\" has {} values, the mesh has {} × {} × {} = {} cells", path.filename().string(),
                    count, mesh.n_east(), mesh.n_north(), mesh.n_up(), mesh.size()),
        "Cells run easting first, then northing, then up; arrays are [up, north, east].");
  };
  auto content = io::read(path.string(), options);
  if (auto* data = std::get_if<io::MeshData>(&content)) {
    if (data->mesh.size() != mesh.size()) throw wrong_size(data->mesh.size());
    if (data->mesh.n_east() != mesh.n_east() || data->mesh.n_north() != mesh.n_north())
      throw wrong_size(data->mesh.size());
    data->mesh = std::move(mesh);
    return io::to_earth_model(*data, property.value_or("density"), field);
  }
  const auto& kind = property_kind(property.value_or("density"));
  std::vector<double> values;
  double factor = unit ? si_factor(kind.quantity, *unit) : 1;  // the header of a table knows better
  if (auto* array = std::get_if<io::Array>(&content)) {
    if (array->values.size() != mesh.size() ||
        (array->shape.size() == 3 && (array->shape[0] != mesh.n_up() || array->shape[1] != mesh.n_north() ||
                                      array->shape[2] != mesh.n_east())))
      throw wrong_size(array->values.size());
    values = std::move(array->values);
  } else if (auto* rows = std::get_if<io::Table>(&content)) {
    const auto* column =
        rows->columns.size() == 1 ? &rows->columns.front() : rows->find(field.empty() ? kind.name : field);
    if (!column || column->values.size() != mesh.size()) throw wrong_size(rows->rows());
    values = rows->si(column->name, kind.quantity, unit.value_or(std::string(si_unit(kind.quantity))),
                      std::isnan(kind.absent));
    factor = 1;
  } else if (auto* data = std::get_if<Dataset>(&content)) {
    values = columns_of_traces(table, path.string(), io::to_gathers(path.string(), *data, field), mesh);
  } else {
    throw table.wrong("file", fmt::format("\"{}\" holds no cells", path.filename().string()),
                      "`terrane info FILE` tells what a file holds.");
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) && !(std::isnan(values[i]) && std::isnan(kind.absent)))
      throw table.wrong("file", fmt::format("the {} of cell {} is {}", kind.name, i, values[i]));
    values[i] *= factor;
  }
  return from_dense(std::move(mesh), {{std::string(kind.name), std::move(values)}});
}

void warn_of_overlaps(const PrismSet& prisms, Earth& earth) {
  if (const auto message = overlaps(prisms).message(); !message.empty())
    earth.warnings.push_back(message + "; their densities add");
}

/// What model.maps asks for, in its order.
void apply_maps(const Config& table, Earth& earth) {
  if (!table.has("maps")) return;
  for (const auto& text : table.texts("maps")) {
    try {
      const auto& law = law_from_text(text);
      if (const auto outside = apply(law, earth.model); outside > 0)
        earth.warnings.push_back(
            fmt::format("{}: {} values of {} lie outside {} to {} {}, for which the law was made", text,
                        outside, law.from, law.least, law.most, si_unit(property_kind(law.from).quantity)));
      earth.notes.push_back(fmt::format("{}: {} ({})", text, law.formula, law.source));
    } catch (const InputError& error) {
      throw table.wrong("maps", error.problem(), error.next());
    }
  }
}

Earth prism_list(const Config& mesh, const Config& job, const MemoryBudget& memory) {
  const auto table = mesh.describe({mesh_keys, prisms_keys});
  const auto model = job.table("model").describe({model_prisms_keys(), map_keys});
  const auto path = table.path("file");
  io::ReadOptions options;
  options.memory = memory.bytes;
  options.length_unit = table.optional_text("length_unit").value_or("");
  options.unit = table.optional_text("density_unit").value_or("");
  auto content = read_content(table, "file", options);
  Earth earth;
  if (auto* rows = std::get_if<io::Table>(&content))  // says which column is missing
    content = io::to_prisms(*rows, options.length_unit, options.unit);
  auto* prisms = std::get_if<io::PrismData>(&content);
  if (!prisms)
    throw table.wrong("file", fmt::format("\"{}\" holds no prisms", path.filename().string()),
                      "`terrane info FILE` tells what a file holds.");
  const auto& set = prisms->prisms;
  for (const auto& [name, value] : values_of(model)) {
    std::erase_if(prisms->properties, [&wanted = name](const Property& p) { return p.name == wanted; });
    prisms->properties.push_back({name, std::vector<double>(set.size(), value)});
  }
  if (set.size() == 0) throw table.wrong("file", "there are no prisms in it");
  for (std::size_t i = 0; i < set.size(); ++i)
    if (!(set[i].volume() > 0))
      throw table.wrong(
          "file", fmt::format("prism {} has no volume: {} m × {} m × {} m", i + 1, set.east[i] - set.west[i],
                              set.north[i] - set.south[i], set.top[i] - set.bottom[i]));
  warn_of_overlaps(set, earth);
  earth.model = io::to_earth_model(std::move(*prisms));
  apply_maps(model, earth);
  return earth;
}

Earth terrain_layer(const Config& mesh, const Config& job, const std::optional<Projection>& projection,
                    const MemoryBudget& memory) {
  const auto table = mesh.describe({mesh_keys, terrain_keys});
  const auto model = job.table("model").describe({model_terrain_keys});
  const auto rectangle = [&](std::string_view key, Quantity quantity) -> std::optional<Region> {
    if (!table.has(key)) return std::nullopt;
    const auto sides = table.numbers(key, quantity, 4);
    if (!(sides[0] < sides[1]) || !(sides[2] < sides[3]))
      throw table.wrong(key, "it reads west, east, south, north, ascending");
    return Region{sides[0], sides[1], sides[2], sides[3]};
  };
  const auto window = rectangle("window", Quantity::angle);
  const auto region = rectangle("region", Quantity::length);
  const auto spacing = table.numbers("spacing", Quantity::length, 2);
  if (region && spacing[0] > 0 && spacing[1] > 0)
    memory.require(
        table.where("spacing"), "the columns",
        (region->east - region->west) / spacing[0] * ((region->north - region->south) / spacing[1]) * 80.0);
  const auto elevation =
      read_elevation(table, "elevation", projection, memory, table.text("field"), window ? &*window : nullptr,
                     region ? &*region : nullptr, {spacing[0], spacing[1]});
  TerrainOptions options;
  options.reference = surface_of(table, "reference", projection, memory);
  options.density_above = model.number("rock", Quantity::density);
  options.density_below = model.number("water", Quantity::density) - options.density_above;
  Earth earth;
  Terrain made;
  try {
    made = terrain(elevation, options);
  } catch (const InputError& error) {
    throw InputError(table.where("elevation"), error.problem(), error.next());
  }
  earth.notes.push_back(fmt::format("terrain: {} columns {:.4g} m × {:.4g} m of {} × {} nodes",
                                    made.density.size(), elevation.easting[1] - elevation.easting[0],
                                    elevation.northing[1] - elevation.northing[0], elevation.n_east(),
                                    elevation.n_north()));
  if (made.gaps) earth.warnings.push_back(fmt::format("terrain: {} nodes have no elevation", made.gaps));
  earth.model = {std::move(made.prisms), {{"density", std::move(made.density)}}};
  return earth;
}

}  // namespace

std::span<const Section> earth_sections() { return all_sections(); }

std::optional<std::string> projection_definition(const Config& job) {
  const auto mesh = job.table("mesh");
  return mesh.has("projection") ? std::optional(mesh.text("projection")) : std::nullopt;
}

Grid read_elevation(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                    const MemoryBudget& memory, const std::string& field, const Region* window,
                    const Region* region, std::array<double, 2> spacing) {
  const auto path = table.input_file(key);
  io::ReadOptions options;
  options.field = field;
  options.memory = memory.bytes;
  auto content = io::read(path.string(), options);
  if (auto* rows = std::get_if<io::Table>(&content))
    if (auto gridded = io::to_grid(*rows)) content = std::move(*gridded);
  const auto* data = std::get_if<io::GridData>(&content);
  if (!data)
    throw table.wrong(key, fmt::format("\"{}\" is not a grid", path.filename().string()),
                      "`terrane info FILE` tells what a file holds.");
  Grid grid = data->grid(field);
  const Column* column =
      field.empty() ? (data->fields.size() == 1 ? &data->fields.front() : nullptr) : data->find(field);
  if (column && !column->unit.empty()) {
    const double factor = si_factor(Quantity::length, column->unit);
    if (factor != 1)
      for (double& value : grid.values) value *= factor;
  }
  if (!grid.geographic) {
    if (!window && !region) return grid;
    if (window)
      throw table.wrong("window", "the grid is not in longitude and latitude", "Use region, in metres.");
  }
  const auto crop = [](const Grid& from, const Region& to) {
    Grid part;
    part.geographic = from.geographic;
    // Longitudes are the same after a full turn: a window may cross the seam of the grid.
    std::vector<std::pair<double, std::size_t>> turned;
    for (const double turn : {-360.0, 0.0, 360.0})
      for (std::size_t i = 0; i < from.n_east(); ++i)
        if (const double x = from.easting[i] + turn;
            (from.geographic || turn == 0) && x >= to.west && x <= to.east)
          turned.emplace_back(x, i);
    std::sort(turned.begin(), turned.end());
    const auto same = [](const auto& a, const auto& b) { return b.first - a.first < 1e-9; };
    turned.erase(std::unique(turned.begin(), turned.end(), same), turned.end());
    std::vector<std::size_t> columns, rows;
    for (std::size_t j = 0; j < from.n_north(); ++j)
      if (from.northing[j] >= to.south && from.northing[j] <= to.north) rows.push_back(j);
    for (const auto& [x, i] : turned) {
      part.easting.push_back(x);
      columns.push_back(i);
    }
    for (const auto j : rows) {
      part.northing.push_back(from.northing[j]);
      for (const auto i : columns) part.values.push_back(from.at(i, j));
    }
    return part;
  };
  if (window) {
    grid = crop(grid, *window);
    if (grid.n_east() < 2 || grid.n_north() < 2)
      throw table.wrong("window", "fewer than two nodes of the grid lie inside along an axis");
  }
  if (!grid.geographic) return crop(grid, *region);
  if (!projection)
    throw table.wrong(key, fmt::format("\"{}\" is in longitude and latitude", path.filename().string()),
                      "Set mesh.projection, for example \"utm\" or \"EPSG:32735\".");
  return project_grid(grid, *projection, spacing, region);
}

Earth build_earth(const Config& job, const std::optional<Projection>& projection,
                  const MemoryBudget& memory) {
  const auto mesh = job.table("mesh");
  if (mesh.keys().empty())
    throw InputError(mesh.where(), "missing", "A job needs a table [mesh]; `terrane new gravity` shows one.");
  const std::string kind = mesh.has("kind") ? mesh.choice("kind", mesh_kinds) : "regular";
  if (kind == "prisms") return prism_list(mesh, job, memory);
  if (kind == "terrain") return terrain_layer(mesh, job, projection, memory);
  Earth earth;
  if (kind == "random") {
    const auto table = mesh.describe({mesh_keys, random_keys});
    const auto model = job.table("model").describe({model_random_keys});
    const auto range = [](const Config& from, std::string_view key, Quantity quantity) {
      const auto both = from.numbers(key, quantity, 2);
      if (!(both[0] <= both[1])) throw from.wrong(key, "the smallest comes first");
      return both;
    };
    const auto shape = table.counts("shape", 3);
    memory.require(
        table.where("shape"), "the blocks",
        static_cast<double>(shape[0]) * static_cast<double>(shape[1]) * static_cast<double>(shape[2]) * 16.0);
    const auto widths = range(table, "widths", Quantity::length);
    const auto densities = range(model, "densities", Quantity::density);
    const auto origin = table.numbers("origin", Quantity::length, 3);
    earth.model = random_blocks({{shape[0], shape[1], shape[2]},
                                 widths[0],
                                 widths[1],
                                 densities[0],
                                 densities[1],
                                 origin[0],
                                 origin[1],
                                 origin[2],
                                 table.count("seed")});
    return earth;
  }

  const auto model = job.table("model").describe({model_keys, map_keys});
  TensorMesh cells;
  std::string mesh_file, mesh_format;
  std::optional<io::MeshData> with_density;
  if (kind == "regular") {
    cells = regular_mesh(mesh.describe({mesh_keys, regular_keys}));
  } else if (kind == "tensor") {
    cells = tensor_mesh(mesh.describe({mesh_keys, tensor_keys}));
  } else {
    const auto table = mesh.describe({mesh_keys, mesh_file_keys});
    mesh_file = table.path("file").string();
    mesh_format = table.optional_text("format").value_or("");
    io::ReadOptions options;
    options.format = mesh_format;
    options.memory = memory.bytes;
    auto content = read_content(table, "file", options);
    auto* data = std::get_if<io::MeshData>(&content);
    if (!data)
      throw table.wrong("file", fmt::format("\"{}\" holds no tensor mesh", mesh_file),
                        "`terrane info FILE` tells what a file holds.");
    cells = data->mesh;
    with_density = std::move(*data);
  }
  earth.notes.push_back(fmt::format("mesh: {} × {} × {} = {} cells", cells.n_east(), cells.n_north(),
                                    cells.n_up(), cells.size()));
  if (model.has("file")) {
    if (model.has("body"))
      throw model.wrong("body", "model.file gives the properties of every cell already",
                        "Keep one of the two.");
    earth.model = from_file(model, std::move(cells), memory, mesh_file, mesh_format);
    fill(earth.model, background_of(model));
  } else if (with_density && !model.has("body") && !with_density->cells.empty()) {
    earth.model = io::to_earth_model(*with_density, property_of(model).value_or("density"),
                                     model.optional_text("field").value_or(""));
    fill(earth.model, background_of(model));
  } else {
    earth.model = painted(model, cells, projection, memory, earth);
  }
  apply_maps(model, earth);
  return earth;
}

std::span<const Section> mesh_sections() { return all_sections().first(3); }

TensorMesh build_mesh(const Config& job) {
  const auto mesh = job.table("mesh");
  if (mesh.keys().empty())
    throw InputError(mesh.where(), "missing", "A job needs a table [mesh]; `terrane new PHYSICS` shows one.");
  if (mesh.has("kind") && mesh.choice("kind", {"regular", "tensor"}) == "tensor")
    return tensor_mesh(mesh.describe({mesh_keys, tensor_keys}));
  return regular_mesh(mesh.describe({mesh_keys, regular_keys}));
}

}  // namespace terrane
