#include "terrane/job/earth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <numeric>

#include "terrane/base/constants.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/gathers.hpp"
#include "terrane/io/notes.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/io/scattered.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/described.hpp"
#include "terrane/job/earth_on.hpp"
#include "terrane/job/ground.hpp"
#include "terrane/mesh/overlaps.hpp"
#include "terrane/mesh/triangulation.hpp"
#include "terrane/model/bodies.hpp"
#include "terrane/model/conductivity.hpp"
#include "terrane/model/description.hpp"
#include "terrane/model/in_other_words.hpp"
#include "terrane/model/maps.hpp"
#include "terrane/model/terrain.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane {

namespace {

constexpr std::array<std::string_view, 7> mesh_kinds{"regular", "tensor", "file",   "prisms",
                                                     "terrain", "random", "planned"};

constexpr Key mesh_keys[] = {
    {"kind", "text", "\"regular\"",
     "regular, tensor, file (a mesh), prisms (a list), terrain (columns below an elevation grid), random, or "
     "planned (by the physics; also if there is no [mesh]). Without kind, other keys determine it: "
     "easting_widths tensor, file a mesh, elevation terrain, cell planned.",
     "\"regular\""},
    {"projection", "text", "none",
     "Map projection of the job's coordinates, for longitudes and latitudes in its files: an EPSG code, a "
     "PROJ string, or \"utm\" for the zone of the stations."},
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
     "A tensor mesh: UBC .msh, or .h5, .nc and .rsf that hold cells and may hold properties; a model or mesh "
     "of emg3d (.npz, .h5, .json)."},
    {"format", "text", "none",
     "Format of the file, if neither its name nor its first lines determine it: \"ubc-mesh\"."},
};
constexpr Key prisms_keys[] = {
    {"file", "path", "",
     "Prisms and densities: columns west, east, south, north, bottom, top, density, or x1 y1 z1 x2 y2 z2 rho "
     "in any corner order; also columns of other properties."},
    {"length_unit", "text", "none", "Unit of the lengths, if the file's header does not state it."},
    {"density_unit", "text", "none", "Unit of the densities, if the file's header does not state it."},
};
constexpr Key terrain_keys[] = {
    {"elevation", "path", "", "Elevation grid, m: .nc, .tif, .grd, .asc, also packed by gzip or xz."},
    {"field", "text", "\"\"", "Variable of the file, if it has several."},
    {"reference", "length or path", "0", "Level at which the columns start, or a grid of such levels."},
    {"window", "list of 4 angles", "none",
     "Part of a geographic grid to use: longitudes west, east, latitudes south, north, in degrees."},
    {"region", "list of 4 lengths", "none", "Rectangle to cover after projection: west, east, south, north."},
    {"spacing", "list of 2 lengths", "[0, 0]",
     "Width of the columns along easting and northing after projection; 0: as the grid has it."},
};
constexpr Key planned_keys[] = {
    {"cell", "length", "none",
     "Width of the smallest cells; by default it follows from the survey and the rock."},
    {"depth", "length", "none", "Depth of the mesh below the ground."},
    {"box", "list of 6 lengths", "none",
     "West, east, south, north, bottom, top, in place of the planned ones."},
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
     "SEG-Y, a trace per column from the top."},
    {"format", "text", "none", "Format of the file, where its name does not say it: \"ubc-density\"."},
    {"property", "text", "none",
     "Property of values without a name; by default that of the extension (.sus, .con, .chg), or density."},
    {"field", "text", "none", "Which variable of the file is `property`, where it has another name."},
    {"unit", "text", "none", "Unit of values whose file does not say it."},
    {"overlap", "text", "\"replace\"",
     "If bodies overlap: the last one counts (replace), or they are added (add)."},
    {"transfer", "text", "\"auto\"",
     "Properties of a cell: centre (those at its centre), or average (a mean that suits each property). "
     "auto: average on planned meshes, else centre."},
    {"topography", "length or path", "none",
     "The ground, above which is air: an elevation grid, scattered points or points along a line (then it is "
     "the "
     "same across), a level, or the name of a [[model.surface]]."},
    {"air", "table", "none", "[model.air]: properties of what is above the topography."},
    {"surface", "tables", "none", "[[model.surface]]: surfaces by name, for layers and the topography."},
    {"background", "table", "none",
     "[model.background]: properties of all cells, before bodies are painted; with a file, of the cells to "
     "which it gives none."},
    {"unit", "tables", "none", "[[model.unit]]: kinds of rock by name, for bodies and the background."},
    {"body", "tables", "none", "[[model.body]]: bodies painted into the mesh, in order."},
};
constexpr Key model_terrain_keys[] = {
    {"rock", "density", "2670", "Density of the columns above the reference."},
    {"water", "density", "1040",
     "Density of the filling of columns below the reference; their contrast is water minus rock. 0 for dry "
     "land."},
};
constexpr Key model_random_keys[] = {
    {"densities", "list of 2 densities", "[0.1, 3.0, \"g/cm3\"]", "Smallest and largest density."},
};

std::span<const Key> model_prisms_keys() {
  static const auto keys = keys_of_properties(true, [](const PropertyKind& kind) {
    return kind.name == "density" ? std::string("One density for all prisms, in place of the file's.")
                                  : fmt::format("{}: one for all prisms.", kind.meaning);
  });
  return keys;
}

std::span<const Section> all_sections() {
  static const auto sections = [] {
    std::vector<Section> all{
        Section{"mesh", "", "Where the model's cells or prisms are. Lengths in metres, or with a unit.",
                mesh_keys},
        Section{"mesh", "regular", "A box cut into equal cells.", regular_keys},
        Section{"mesh", "tensor", "Cells between faces that need not be evenly spaced.", tensor_keys},
        Section{"mesh", "file", "A tensor mesh from a file.", mesh_file_keys},
        Section{"mesh", "prisms", "A list of prisms from a file.", prisms_keys},
        Section{"mesh", "terrain",
                "One column per node of an elevation grid, from a reference to the surface.", terrain_keys},
        Section{"mesh", "random", "Blocks of random size, for tests.", random_keys},
        Section{"mesh", "planned",
                "The physics plans the mesh for its survey and the earth; `terrane check` gives the reasons.",
                planned_keys, false},
        Section{"model", "", "What the cells are made of: bodies painted into the mesh, or a file.",
                model_keys},
    };
    const auto described = description_sections();
    all.insert(all.end(), described.begin(), described.end());
    const Section others[] = {
        Section{"model", "prisms", "For mesh.kind = \"prisms\".", model_prisms_keys().first(1)},
        Section{"model", "prisms", "Other properties:", model_prisms_keys().subspan(1), false},
        Section{"model", "prisms", "Properties from other properties:", law_keys(), false},
        Section{"model", "terrain", "For mesh.kind = \"terrain\".", model_terrain_keys},
        Section{"model", "random", "For mesh.kind = \"random\".", model_random_keys},
    };
    all.insert(all.end(), std::begin(others), std::end(others));
    return all;
  }();
  return sections;
}

/// The most cells along one axis: it limits the memory for the coordinates of faces.
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
      if (!(faces[i + 1] > faces[i]))
        throw table.wrong(
            std::abs(start) > std::abs(faces[i] - start) ? "origin" : std::string_view(widths_key),
            fmt::format("a cell of {:g} m is lost in the rounding of {:g} m", widths[i], faces[i]));
    }
    return faces;
  };
  auto easting = axis("easting", origin[0]);
  auto northing = axis("northing", origin[1]);
  auto up = axis("up", origin[2]);
  return TensorMesh(std::move(easting), std::move(northing), std::move(up));
}

/// The approximate number of cells whose centre lies in the box.
double cells_within(const TensorMesh& mesh, const Prism& box) {
  const auto along = [](const std::vector<double>& faces, double low, double high) {
    const auto first = std::upper_bound(faces.begin(), faces.end(), low);
    const auto last = std::lower_bound(faces.begin(), faces.end(), high);
    return std::max<double>(0, static_cast<double>(last - first) + 1);
  };
  return along(mesh.easting(), box.west, box.east) * along(mesh.northing(), box.south, box.north) *
         along(mesh.up(), box.bottom, box.top);
}

/// Transfers the description to cells: averages of each cell's contents, or the properties at cell centres.
/// Throws MemoryError before large arrays are allocated.
EarthModel transferred(const Config& table, const TensorMesh& mesh, const Description& earth, bool averages,
                       const EarthRequest& request, const MemoryBudget& memory, Earth& out) {
  const auto tables = table.tables("body");
  if (earth.bodies.empty() && earth.background.empty() && !earth.cells)
    throw table.wrong("body", "the model is empty",
                      "Add [[model.body]] tables or a [model.background], or model.file with the properties "
                      "of every cell.");
  PaintReport report;
  EarthModel model;
  if (averages) {
    const auto columns = static_cast<double>(earth.properties().size() +
                                             (request.along_axes || request.along_axes_of_layers ? 3 : 0));
    memory.require(table.where(), fmt::format("averages of {} cells", mesh.size()),
                   static_cast<double>(mesh.size()) * 8 * (columns + 2));
    AverageOptions options;
    options.along_axes = request.along_axes || request.along_axes_of_layers;
    options.of_layers_alone = !request.along_axes;
    options.above_ground = request.cuts_ground;
    model = average(mesh, earth, options, &report);
    out.notes.push_back(
        "cells have the mean of what is in them: density by volume, velocities by compliance, conductivity "
        "in series and parallel");
  } else {
    // Upper limits: a cell in several bodies is counted for each body, but stores each property once.
    double cells = 0, values = 0;
    const auto add = [&](const Prism& box, std::size_t each) {
      const double own = cells_within(mesh, box);
      cells += own;
      values += own * static_cast<double>(each);
    };
    if (!earth.background.empty()) add(mesh.bounds(), earth.background.size());
    for (const auto& body : earth.bodies) add(bounds(body.shape), body.values.size());
    const auto all = static_cast<double>(mesh.size());
    cells = std::min(cells, all);
    values = std::min(values, all * static_cast<double>(earth.properties().size()));
    memory.require(table.where(), fmt::format("about {:.2g} painted cells", cells), 8 * (cells + values));
    auto painted = earth;
    if (request.cuts_ground) painted.topography.reset();
    model = paint(mesh, painted, &report);
  }
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (report.cells[i] == 0)
      out.warnings.push_back(fmt::format(
          "{}: the body holds no cell: it is finer than the mesh, or outside it", tables[i].where()));
  if (!request.warn) return model;
  std::vector<std::string> names;
  for (const auto& body : tables) names.push_back(body.where());
  for (auto& text : request.warn(earth, mesh, names)) out.warnings.push_back(std::move(text));
  return model;
}

void look_at(const Description& description, const TensorMesh& mesh, const EarthRequest& request,
             Earth& earth) {
  if (!request.look) return;
  for (auto& line : request.look(description, mesh)) earth.warnings.push_back(std::move(line));
}

/// The value of model.property. Throws InputError if there is no such property.
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

/// The values of cells from vertical traces: one trace for each column of cells, easting varying fastest,
/// then northing; the first sample is the uppermost cell.
std::vector<double> columns_of_traces(const Config& table, const std::string& path, const io::Gathers& traces,
                                      const TensorMesh& mesh) {
  const std::size_t columns = mesh.n_east() * mesh.n_north(), cells = mesh.n_up();
  if (traces.traces() != columns || traces.samples != cells)
    throw table.wrong(
        "file",
        fmt::format("\"{}\" has {} traces of {} samples, the mesh {} × {} columns of {} cells", path,
                    traces.traces(), traces.samples, mesh.n_east(), mesh.n_north(), cells),
        "A trace is a column of the model, from the top; columns run easting first, then northing.");
  auto values = filled(columns * cells, 0.0);
  constexpr std::size_t at_once = 64;  // columns, so that threads write whole lines of the cache
  const auto take = [&](std::size_t first, std::size_t last) {
    for (std::size_t k = 0; k < cells; ++k)
      for (std::size_t n = first; n < last; ++n)
        values[(cells - 1 - k) * columns + n] = static_cast<double>(traces.values[n * cells + k]);
  };
  for_each_stretch(columns, 0, take, at_once);
  return values;
}

InputError wrong_size(const Config& table, const TensorMesh& mesh, std::size_t count) {
  return table.wrong("file",
                     fmt::format("\"{}\" has {} values, the mesh has {} × {} × {} = {} cells",
                                 table.path("file").filename().string(), count, mesh.n_east(), mesh.n_north(),
                                 mesh.n_up(), mesh.size()),
                     "Cells run easting first, then northing, then up; arrays are [up, north, east].");
}

/// The values of one property for all cells, SI, from an array, a column of a table, or traces.
std::vector<double> values_of_cells(const Config& table, io::Content& content, const TensorMesh& mesh,
                                    const PropertyKind& kind, const std::string& field) {
  const auto path = table.input_file("file");
  const auto unit = table.optional_text("unit");
  std::vector<double> values;
  // a unit in the header of a table has precedence
  double factor = unit ? si_factor(kind.quantity, *unit) : 1;
  if (auto* array = std::get_if<io::Array>(&content)) {
    if (array->values.size() != mesh.size() ||
        (array->shape.size() == 3 && (array->shape[0] != mesh.n_up() || array->shape[1] != mesh.n_north() ||
                                      array->shape[2] != mesh.n_east())))
      throw wrong_size(table, mesh, array->values.size());
    values = std::move(array->values);
  } else if (auto* rows = std::get_if<io::Table>(&content)) {
    const auto* column =
        rows->columns.size() == 1 ? &rows->columns.front() : rows->find(field.empty() ? kind.name : field);
    if (!column || column->values.size() != mesh.size()) throw wrong_size(table, mesh, rows->rows());
    values = rows->si(column->name, kind.quantity, unit.value_or(std::string(si_unit(kind.quantity))),
                      std::isnan(kind.absent));
    factor = 1;
  } else if (auto* data = std::get_if<Dataset>(&content)) {
    values = columns_of_traces(table, path.string(), io::to_gathers(path.string(), *data, field), mesh);
  } else {
    throw table.wrong("file", fmt::format("\"{}\" holds no cells", path.filename().string()),
                      "`terrane info FILE` tells what a file holds.");
  }
  const auto wrong = first_where(values.size(), 0, [&](std::size_t i) {
    return !std::isfinite(values[i]) && !(std::isnan(values[i]) && std::isnan(kind.absent));
  });
  if (wrong < values.size())
    throw table.wrong("file", fmt::format("the {} of cell {} is {}", kind.name, wrong, values[wrong]));
  for_each_stretch(values.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) values[i] *= factor;
  });
  return values;
}

/// Which columns of a file of cells are properties of the model: those with known names, and the field that
/// the job names.
UsedColumns used_as_properties(const Config& table) {
  return [field = table.optional_text("field").value_or("")](std::string_view name) {
    return name == field || find_property(name) != nullptr;
  };
}

/// An earth model on `mesh` with the properties in model.file; the file has its own order of cells and its
/// own unit.
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
  auto content = io::read(path.string(), options);
  const auto* rows = std::get_if<io::Table>(&content);
  refuse_written_for_none(
      table, "file", content,
      rows != nullptr && rows->columns.size() == 1 ? UsedColumns() : used_as_properties(table));
  const auto* of_octree = std::get_if<io::MeshData>(&content);
  // If the mesh is an octree, its notes were already added when mesh.file was read.
  const bool said = of_octree != nullptr && of_octree->octree.cells > 0 && !mesh_file.empty();
  if (!said) tell_notes(table, "file", content);
  if (auto* data = std::get_if<io::MeshData>(&content)) {
    if (data->mesh.size() != mesh.size() || data->mesh.n_east() != mesh.n_east() ||
        data->mesh.n_north() != mesh.n_north())
      throw wrong_size(table, mesh, data->mesh.size());
    data->mesh = std::move(mesh);
    return io::to_earth_model(std::move(*data), property.value_or("density"), field);
  }
  const auto& kind = property_kind(property.value_or("density"));
  std::vector<Property> properties(1, {std::string(kind.name), {}});
  properties.front().values = values_of_cells(table, content, mesh, kind, field);
  return from_dense(std::move(mesh), std::move(properties));
}

void warn_of_overlaps(const PrismSet& prisms, Earth& earth) {
  if (const auto message = overlaps(prisms).message(); !message.empty())
    earth.warnings.push_back(message + "; their densities add");
}

Earth prism_list(const Config& mesh, const Config& job, const MemoryBudget& memory) {
  const auto table = mesh.describe({mesh_keys, prisms_keys});
  const auto model = job.table("model").describe({model_prisms_keys(), law_keys()});
  const auto path = table.path("file");
  io::ReadOptions options;
  options.memory = memory.bytes;
  options.length_unit = table.optional_text("length_unit").value_or("");
  options.unit = table.optional_text("density_unit").value_or("");
  const auto of_job = values_of(model);  // these values of the job replace those of the file
  auto content = read_content(table, "file", options, [&](std::string_view name) {
    const auto meant = name == "rho" ? std::string_view("density") : name;
    return find_property(meant) != nullptr &&
           std::none_of(of_job.begin(), of_job.end(),
                        [&](const auto& value) { return value.property == meant; });
  });
  tell_notes(table, "file", content);
  Earth earth;
  if (auto* rows = std::get_if<io::Table>(&content))  // to_prisms() names a missing column in its error
    content = io::to_prisms(*rows, options.length_unit, options.unit);
  auto* prisms = std::get_if<io::PrismData>(&content);
  if (!prisms)
    throw table.wrong("file", fmt::format("\"{}\" holds no prisms", path.filename().string()),
                      "`terrane info FILE` tells what a file holds.");
  const auto& set = prisms->prisms;
  for (const auto& [name, value] : of_job) {
    std::erase_if(prisms->properties, [&wanted = name](const Property& p) {
      return p.name == wanted || supersedes(wanted, p.name);
    });
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

/// Whether points along a line may stand for a grid.
enum class LineOfHeights { refused, taken };

Grid elevation_of(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                  const MemoryBudget& memory, const std::string& field, const Region* window,
                  const Region* region, std::array<double, 2> spacing, LineOfHeights lines);

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
  Earth earth;
  const auto elevation =
      elevation_of(table, "elevation", projection, memory, table.text("field"), window ? &*window : nullptr,
                   region ? &*region : nullptr, {spacing[0], spacing[1]}, LineOfHeights::refused);
  TerrainOptions options;
  options.reference = surface_of(table, "reference", projection, memory);
  options.density_above = model.number("rock", Quantity::density);
  options.density_below = model.number("water", Quantity::density) - options.density_above;
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

/// Subtracts the reference from the densities, if the model has them, except in cells without rock.
void take_contrasts(Earth& earth, double reference, const std::vector<bool>& above = {}) {
  if (reference == 0) return;
  for (auto& property : earth.model.properties)
    if (property.name == "density")
      for_each_stretch(property.values.size(), 0, [&](std::size_t first, std::size_t last) {
        for (std::size_t n = first; n < last; ++n)
          if (property.values[n] != 0 && (above.empty() || !above[n])) property.values[n] -= reference;
      });
}

}  // namespace

void require_widths(const Config& table, const io::MeshData& data) {
  if (!data.width_is_guessed) return;
  throw table.wrong(
      "file",
      fmt::format("\"{}\" has one cell along northing and does not say how wide it is", table.text("file")),
      "Give the coordinate bounds (the attribute \"bounds\"), or more than one cell.");
}

namespace {

/// The model in model.file on the file's own mesh, from which values are averaged onto another mesh. Cells
/// without a value get the background's.
EarthModel cells_of_file(const Config& table, const MemoryBudget& memory) {
  io::ReadOptions options;
  options.format = table.optional_text("format").value_or("");
  options.memory = memory.bytes;
  options.unit = table.optional_text("unit").value_or("");
  auto content = read_content(table, "file", options, used_as_properties(table));
  tell_notes(table, "file", content);
  auto* data = std::get_if<io::MeshData>(&content);
  if (data == nullptr || data->mesh.size() == 0)
    throw table.wrong(
        "file", fmt::format("\"{}\" has no mesh that averages could be taken of", table.text("file")),
        "Take a file of a mesh with properties (.nc, .h5, .rsf), or transfer = \"centre\" on its mesh.");
  require_widths(table, *data);
  auto model = io::to_earth_model(std::move(*data), property_of(table).value_or("density"),
                                  table.optional_text("field").value_or(""));
  fill(model, background_of(table));
  return model;
}

/// The bodies that have a conductivity and extend above the top of the file's mesh.
std::vector<const Body*> conductors_above(const Description& earth, double top) {
  const auto names = conducts_along("east");
  const auto conducts = [&](const PropertyValue& value) {
    return std::any_of(names.begin(), names.end(),
                       [&](const Conducts& source) { return source.property == value.property; });
  };
  std::vector<const Body*> found;
  for (const auto& body : earth.bodies)
    if (bounds(body.shape).top > top && std::any_of(body.values.begin(), body.values.end(), conducts))
      found.push_back(&body);
  return found;
}

/// For models that are continued outside the file's mesh, also upwards. Throws InputError if the mesh of the
/// physics extends above the file's mesh and the space there would be rock outside all bodies: a file that
/// ends at the ground contains no air, so its half-space would become a full space.
void expect_air_above(const Config& table, const TensorMesh& mesh, const Description& earth) {
  if (!earth.cells || !earth.cells_go_on || earth.topography) return;
  const auto& cells = std::get<MeshCells>(earth.cells->geometry).mesh;
  const double top = cells.up().back();
  const auto values = conductivity_along(*earth.cells, "east");
  if (values.empty() && earth.laws.empty()) return;
  const auto middle = [](const std::vector<double>& faces, std::size_t n) {
    return faces[n] + 0.5 * (faces[n + 1] - faces[n]);
  };
  const auto nearest = [](const std::vector<double>& faces, double x) {
    return static_cast<std::size_t>(std::upper_bound(faces.begin() + 1, faces.end() - 1, x) - faces.begin()) -
           1;
  };
  const auto is_air = [&](double x, double y) {
    return !values.empty() && !(values[cells.index(nearest(cells.easting(), x), nearest(cells.northing(), y),
                                                   cells.n_up() - 1)] > conductivity_of_air);
  };
  const auto bodies = conductors_above(earth, top);
  const auto in_a_body = [&](double x, double y, double z) {
    return std::any_of(bodies.begin(), bodies.end(), [&](const Body* body) {
      const auto part = along_vertical(body->shape, x, y);
      return part.bottom <= z && z < part.top;
    });
  };
  for (std::size_t k = mesh.n_up(); k-- > 0 && middle(mesh.up(), k) > top;)
    for (std::size_t j = 0; j < mesh.n_north(); ++j)
      for (std::size_t i = 0; i < mesh.n_east(); ++i) {
        const double x = middle(mesh.easting(), i), y = middle(mesh.northing(), j);
        if (!is_air(x, y) && !in_a_body(x, y, middle(mesh.up(), k)))
          throw table.wrong(
              "file",
              fmt::format(
                  "the mesh reaches up to {:.6g} m, and above {:.6g} m rock would go on as in the top "
                  "cells of \"{}\"",
                  mesh.up().back(), top, table.text("file")),
              fmt::format("Give it air: [[model.body]] kind = \"layer\", bottom = {:.6g}, top = {:.6g}, "
                          "conductivity = 1e-8, or model.topography.",
                          top, std::ceil(mesh.up().back()) + 1));
      }
}

MeshWish wish_of(const Config& table) {
  MeshWish wish;
  if (table.has("cell")) wish.cell = table.positive("cell", Quantity::length);
  if (table.has("depth")) wish.depth = table.positive("depth", Quantity::length);
  if (table.has("box")) wish.box = box_of(table, "box");
  return wish;
}

/// The mesh that the physics plans.
TensorMesh planned(const Config& mesh, const Description& description, const EarthRequest& request,
                   const MemoryBudget& memory, Earth& earth) {
  const auto table = mesh.describe({mesh_keys, planned_keys});
  const auto wish = wish_of(table);
  try {
    auto plan = request.plan(description, wish);
    memory.require(table.has("cell") ? table.where("cell") : table.where(),
                   fmt::format("{} cells", plan.mesh.size()), static_cast<double>(plan.mesh.size()) * 16);
    for (const auto& reason : plan.reasons) earth.notes.push_back("mesh: " + reason);
    return std::move(plan.mesh);
  } catch (const InputError& error) {
    // An error in a file that the plan reads already names its file and line.
    if (error.where().find(':') != std::string::npos || std::filesystem::exists(error.where())) throw;
    throw InputError(table.where(), error.problem(), error.next());
  }
}

/// The settings in [mesh] and [model] that describe an earth on cells, for any mesh.
struct CellsOfJob {
  Config mesh, model;
  std::string kind;  // kind of the mesh
  bool averages;     // true: values are averages over cells; false: values at cell centres
};

CellsOfJob cells_of_job(const Config& job, const std::string& kind) {
  auto model = job.table("model").describe({model_keys, law_keys()});
  const auto transfer = model.choice("transfer", {"auto", "centre", "average"});
  return {job.table("mesh"), std::move(model), kind,
          transfer == "average" || (transfer == "auto" && kind == "planned")};
}

/// The description of the earth in [model]. earth: receives notes, warnings and the height of the ground
Description describe_earth(const CellsOfJob& of, const std::optional<Projection>& projection,
                           const MemoryBudget& memory, const EarthRequest& request, Earth& earth) {
  auto description = described(of.model, projection, memory, earth);
  if (request.ground && !description.topography) {
    description.topography = request.ground;
    earth.ground = ground_of(description);
  }
  if (!of.averages) return description;
  description.laws = laws_of(of.model);
  description.reference_density = request.reference_density;
  if (!of.model.has("file")) return description;
  description.cells = cells_of_file(of.model, memory);
  description.cells_go_on = request.cells_go_on && !of.model.has("background");
  complete_axes(description);
  return description;
}

void take_averages(const CellsOfJob& of, const TensorMesh& cells, const Description& description,
                   const EarthRequest& request, const MemoryBudget& memory, Earth& earth) {
  expect_air_above(of.model, cells, description);
  tell_of_maps(of.model, description, earth);
  earth.model = transferred(of.model, cells, description, true, request, memory, earth);
}

std::string kind_of_mesh(const Config& job, const EarthRequest& request) {
  const auto mesh = job.table("mesh");
  const bool without = !mesh.has("kind") && plans_mesh(job);
  if (without && (!request.plan || !job.has("model")))
    throw InputError(mesh.where(), "missing",
                     request.plan
                         ? "A job needs a table [mesh]; `terrane new gravity` shows one. Or describe the "
                           "rock ([model.background]), and a mesh is planned."
                         : "A job needs a table [mesh]; `terrane new gravity` shows one.");
  const std::string kind = without ? "planned" : kind_of_mesh(mesh);
  if (kind == "planned" && !request.plan)
    throw mesh.wrong("kind", "this physics plans no mesh", "Take mesh.kind = \"regular\" or \"tensor\".");
  return kind;
}

}  // namespace

std::span<const Section> earth_sections() { return all_sections(); }

std::optional<std::string> projection_definition(const Config& job) {
  const auto mesh = job.table("mesh");
  return mesh.has("projection") ? std::optional(mesh.text("projection")) : std::nullopt;
}

namespace {

/// Whether the coordinates of a grid without a stated unit are degrees. In a job with a map projection, a
/// grid whose coordinates all lie within ±360 and ±90 cannot be in metres. Throws InputError if that cannot
/// be decided.
bool taken_for_degrees(const Config& table, std::string_view key, const io::GridData& data,
                       const std::optional<Projection>& projection) {
  if (!io::may_be_degrees(data)) return false;
  if (projection) return true;
  const auto& x = data.easting;
  const auto& y = data.northing;
  const auto file = std::filesystem::path(table.text(key)).filename().string();
  throw table.wrong(
      key,
      fmt::format(
          "\"{}\" does not say whether its nodes, {:.6g} to {:.6g} and {:.6g} to {:.6g}, {:.4g} apart, "
          "are in metres or in degrees",
          file, x.front(), x.back(), y.front(), y.back(),
          (x.back() - x.front()) / static_cast<double>(x.size() - 1)),
      fmt::format("Of degrees: set mesh.projection, for example \"utm\" or \"EPSG:32735\". Of metres: "
                  "`terrane convert {} grid.nc --length-unit m` makes a file that says so.",
                  file));
}

/// The grid in a file; from a table if its rows are the nodes of a grid.
io::GridData grid_of(const Config& table, std::string_view key, const std::string& field, LineOfHeights lines,
                     const MemoryBudget& memory) {
  const std::filesystem::path path = table.text(key);
  io::ReadOptions options;
  options.field = field;
  options.memory = memory.bytes;
  const UsedColumns only_field = [&](std::string_view name) { return name == field; };
  auto content = read_content(table, key, options, field.empty() ? UsedColumns() : only_field);
  std::string about_rows;
  if (auto* rows = std::get_if<io::Table>(&content)) {
    auto gridded = io::to_grid(*rows);
    if (!gridded && lines == LineOfHeights::taken) gridded = io::along_line(*rows);
    if (!gridded) {
      memory.require(table.where(key), fmt::format("{} points", rows->rows()),
                     400.0 * static_cast<double>(rows->rows()));
      gridded = io::triangulated(*rows, field);
    }
    if (gridded) content = std::move(*gridded);
    else about_rows = fmt::format(": its {} rows name no places and heights", rows->rows());
  }
  if (auto* data = std::get_if<io::GridData>(&content)) return std::move(*data);
  throw table.wrong(
      key, fmt::format("\"{}\" is not a grid{}", path.filename().string(), about_rows),
      about_rows.empty()
          ? "`terrane info FILE` tells what a file holds."
          : std::string("A table holds heights as easting, northing, height, or the three without "
                        "names: a row for each node of a grid, or for scattered points") +
                (lines == LineOfHeights::taken ? ", or as x and z along a line." : "."));
}

/// The name of a map for messages: the code, or the name that stands in WKT.
std::string name_of_map(const std::string& definition) {
  const auto open = definition.find('[') == definition.npos ? definition.npos : definition.find('"');
  return open == definition.npos ? definition
                                 : definition.substr(open, definition.find('"', open + 1) + 1 - open);
}

/// Throws InputError if the file's map projection differs from the job's.
void expect_same_map(const Config& table, std::string_view key, const io::GridData& data,
                     const std::optional<Projection>& projection) {
  if (data.geographic || data.projection.empty()) return;
  const auto file = std::filesystem::path(table.text(key)).filename().string();
  if (!projection) {
    table.note(
        key,
        fmt::format(
            "\"{}\" is on the map {}, which the job does not name: its coordinates are taken as they are",
            file, name_of_map(data.projection)));
    return;
  }
  if (data.projection == projection->definition()) return;
  const std::array x{data.easting.front(), data.easting.back()},
      y{data.northing.front(), data.northing.back()};
  std::array<double, 2> east{}, north{};
  try {
    Projection(data.projection).inverse(x, y, east, north);
    projection->forward(east, north, east, north);
  } catch (const InputError&) {
    east = {nan, nan};
  }
  constexpr double same_place = 0.5;  // m; less than the offset between projections of different datums
  if (std::hypot(east[0] - x[0], north[0] - y[0]) < same_place &&
      std::hypot(east[1] - x[1], north[1] - y[1]) < same_place)
    return;
  const auto& definition = projection->definition();
  throw table.wrong(key,
                    fmt::format("\"{}\" is on the map {}, and the job on {}", file,
                                name_of_map(data.projection), name_of_map(definition)),
                    fmt::format("`gdalwarp -t_srs {} IN OUT.tif` brings it there; or set mesh.projection.",
                                definition.find('[') == definition.npos ? definition : "EPSG:CODE"));
}

/// The part of a grid within a region. Longitudes are taken modulo 360°: the region may cross the edge of the
/// grid.
Grid cropped(const Grid& from, const Region& to) {
  Grid part;
  part.geographic = from.geographic;
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
}

Grid elevation_of(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                  const MemoryBudget& memory, const std::string& field, const Region* window,
                  const Region* region, std::array<double, 2> spacing, LineOfHeights lines) {
  const std::filesystem::path path = table.text(key);
  const auto data = grid_of(table, key, field, lines, memory);
  Grid grid = data.grid(field);
  const Column* column = field.empty() ? nullptr : data.find(field);
  if (field.empty())
    for (const auto& f : data.fields)
      if (f.name != "up" || data.fields.size() == 1) column = &f;
  if (column && !column->unit.empty()) {
    const double factor = si_factor(Quantity::length, column->unit);
    if (factor != 1)
      for (double& value : grid.values) value *= factor;
  }
  if (column && std::find(data.downward.begin(), data.downward.end(), column->name) != data.downward.end())
    for (double& value : grid.values) value = -value;
  if (const auto note = data.attributes.find("note"); note != data.attributes.end())
    table.note(key, note->second);
  expect_same_map(table, key, data, projection);
  if (taken_for_degrees(table, key, data, projection)) {
    grid.geographic = true;
    table.note(key, fmt::format("\"{}\" does not say its unit: it is taken for longitudes and latitudes",
                                path.filename().string()));
  }
  if (!grid.geographic) {
    if (!window && !region) return grid;
    if (window)
      throw table.wrong("window", "the grid is not in longitude and latitude", "Use region, in metres.");
  }
  if (window) {
    grid = cropped(grid, *window);
    if (grid.n_east() < 2 || grid.n_north() < 2)
      throw table.wrong("window", "fewer than two nodes of the grid lie inside along an axis");
  }
  if (!grid.geographic) return cropped(grid, *region);
  if (!projection)
    throw table.wrong(key, fmt::format("\"{}\" is in longitude and latitude", path.filename().string()),
                      "Set mesh.projection, for example \"utm\" or \"EPSG:32735\".");
  return project_grid(grid, *projection, spacing, region);
}

}  // namespace

Grid read_elevation(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                    const MemoryBudget& memory, const std::string& field, const Region* window,
                    const Region* region, std::array<double, 2> spacing) {
  return elevation_of(table, key, projection, memory, field, window, region, spacing, LineOfHeights::refused);
}

Grid read_ground(const Config& table, std::string_view key, const std::optional<Projection>& projection,
                 const MemoryBudget& memory) {
  auto grid =
      elevation_of(table, key, projection, memory, {}, nullptr, nullptr, {0, 0}, LineOfHeights::taken);
  if (const auto filled = fill_margins(grid); filled > 0)
    table.note(key,
               fmt::format("{} of the {} nodes are gaps at the grid's edge: the ground there is as high as "
                           "at the nearest node, as it is beyond the grid",
                           filled, grid.values.size()));
  const auto gap =
      std::find_if(grid.values.begin(), grid.values.end(), [](double z) { return std::isnan(z); });
  if (gap == grid.values.end()) return grid;
  const auto count = std::count_if(gap, grid.values.end(), [](double z) { return std::isnan(z); });
  const auto n = static_cast<std::size_t>(gap - grid.values.begin());
  throw table.wrong(key,
                    fmt::format("the grid has {} gaps inside, the first at easting {:.10g}, northing {:.10g}",
                                count, grid.easting[n % grid.n_east()], grid.northing[n / grid.n_east()]),
                    "Fill them (`gdal_fillnodata IN OUT` does): the ground is somewhere everywhere.");
}

namespace {

/// The usual range of a property of rock, water and air; if the largest value of a model lies outside, the
/// model is probably in another unit.
struct Usual {
  std::string_view property;
  double least, most;  ///< range of the largest absolute value in a model
  std::string_view advice;
};
constexpr Usual usual_values[] = {
    {"density", 100, 25'000, "A plain number is in kg/m3; write \"2.67 g/cm3\"."},
    {"velocity_p", 50, 15'000, "A plain number is in m/s; write \"3.5 km/s\"."},
    {"velocity_s", 1, 10'000, "A plain number is in m/s; write \"2 km/s\"."},
};
constexpr double least_contrast = 5;  // kg/m³; replaces `least` if densities are contrasts

/// The place of the key that gives this value of the property; if there is none, that of [model].
std::string where_is(const Config& job, std::string_view property, double value) {
  const auto model = job.table("model");
  std::vector<Config> tables = model.tables("body");
  if (model.has("background")) tables.push_back(model.table("background"));
  for (const auto& table : tables)
    if (table.has(property) && table.number(property, property_kind(property).quantity) == value)
      return table.where(property);
  return model.where();
}

std::string physics_of(const Config& job) {
  const auto simulation = job.table("simulation");
  return simulation.has("physics") ? simulation.text("physics") : "gravity";
}

void warn_of_unusual(const Config& job, Earth& earth) {
  const bool of_gravity = physics_of(job) == "gravity";
  for (const auto& one : usual_values) {
    const std::string name(one.property);
    if (!earth.model.has(name)) continue;
    const auto& values = earth.model.property(name);
    const auto size = [&](std::size_t n) { return std::fabs(values[n]); };
    const double most = largest_value(values.size(), 0, size);
    const auto at = first_where(values.size(), 0, [&](std::size_t n) { return size(n) == most; });
    const double largest = at < values.size() ? values[at] : 0;
    const bool contrast = name == "density" && of_gravity;
    if (largest == 0 ||
        (std::fabs(largest) >= (contrast ? least_contrast : one.least) && std::fabs(largest) <= one.most))
      continue;
    const auto& kind = property_kind(name);
    const auto word = name == "density" ? "density" : "velocity";
    earth.warnings.push_back(fmt::format("{}: {:g} {} is no {} of rock. {}", where_is(job, name, largest),
                                         largest, si_unit(kind.quantity), word, one.advice));
  }
}

Earth random_earth(const Config& job, const MemoryBudget& memory, const EarthRequest& request) {
  const auto table = job.table("mesh").describe({mesh_keys, random_keys});
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
  Earth earth;
  earth.model = random_blocks({{shape[0], shape[1], shape[2]},
                               widths[0],
                               widths[1],
                               densities[0],
                               densities[1],
                               origin[0],
                               origin[1],
                               origin[2],
                               table.count("seed")});
  take_contrasts(earth, request.reference_density);
  return earth;
}

/// The file of the mesh; it may also contain properties of the cells.
struct CellsOfFile {
  std::string path, format, where;
  std::optional<io::MeshData> data;  ///< mesh and values of the cells, if the file contains both
};

TensorMesh mesh_of_file(const Config& mesh, const MemoryBudget& memory, CellsOfFile& file) {
  const auto table = mesh.describe({mesh_keys, mesh_file_keys});
  file.path = table.path("file").string();
  file.format = table.optional_text("format").value_or("");
  io::ReadOptions options;
  options.format = file.format;
  options.memory = memory.bytes;
  file.where = table.where("file");
  auto content =
      read_content(table, "file", options, no_column);  // put_properties() checks the values it uses
  tell_notes(table, "file", content);
  auto* data = std::get_if<io::MeshData>(&content);
  if (!data)
    throw table.wrong("file", fmt::format("\"{}\" holds no tensor mesh", file.path),
                      "`terrane info FILE` tells what a file holds.");
  require_widths(table, *data);
  auto cells = data->mesh;
  file.data = std::move(*data);
  return cells;
}

/// Sets the properties of the cells from the model's file; without one and without bodies, from the mesh's
/// file if it has any; else from the description.
void put_properties(Earth& earth, const Config& model, TensorMesh cells, CellsOfFile file,
                    const Description& description, const EarthRequest& request, const MemoryBudget& memory) {
  if (model.has("file")) {
    if (model.has("body"))
      throw model.wrong("body", "model.file gives the properties of every cell already",
                        "Keep one of the two.");
    earth.model = from_file(model, std::move(cells), memory, file.path, file.format);
    if (model.has("topography"))
      throw model.wrong("topography", "model.file says where rock ends",
                        "Take transfer = \"average\", which cuts the file's cells at the ground.");
    fill(earth.model, background_of(model));
  } else if (file.data && !model.has("body") && !file.data->cells.empty()) {
    for (const auto& column : file.data->cells)
      if (const auto text = io::written_for_none(column);
          !text.empty() && used_as_properties(model)(column.name))
        throw InputError(file.where, text, "Write what the value is there, or NaN where there may be none.");
    earth.model = io::to_earth_model(std::move(*file.data), property_of(model).value_or("density"),
                                     model.optional_text("field").value_or(""));
    fill(earth.model, background_of(model));
  } else {
    earth.model = transferred(model, cells, description, false, request, memory, earth);
  }
}

Earth built_earth(const Config& job, const std::optional<Projection>& projection, const MemoryBudget& memory,
                  const EarthRequest& request) {
  const auto mesh = job.table("mesh");
  const auto kind = kind_of_mesh(job, request);
  if (kind == "prisms" || kind == "terrain") {
    auto made =
        kind == "prisms" ? prism_list(mesh, job, memory) : terrain_layer(mesh, job, projection, memory);
    take_contrasts(made, request.reference_density);
    return made;
  }
  if (kind == "random") return random_earth(job, memory, request);
  Earth earth;
  const auto of = cells_of_job(job, kind);
  const auto& model = of.model;
  const auto description = describe_earth(of, projection, memory, request, earth);
  CellsOfFile file;
  TensorMesh cells = kind == "planned"   ? planned(mesh, description, request, memory, earth)
                     : kind == "regular" ? regular_mesh(mesh.describe({mesh_keys, regular_keys}))
                     : kind == "tensor"  ? tensor_mesh(mesh.describe({mesh_keys, tensor_keys}))
                                         : mesh_of_file(mesh, memory, file);
  if (kind != "planned")
    earth.notes.push_back(fmt::format("mesh: {} × {} × {} = {} cells", cells.n_east(), cells.n_north(),
                                      cells.n_up(), cells.size()));
  look_at(description, cells, request, earth);
  if (of.averages) {
    take_averages(of, cells, description, request, memory, earth);
    return earth;
  }
  put_properties(earth, model, std::move(cells), std::move(file), description, request, memory);
  std::vector<bool> above;
  if (earth.ground && !request.cuts_ground) above = above_ground(earth.model, earth.ground);
  apply_maps(model, earth, above);
  take_contrasts(earth, request.reference_density, above);
  return earth;
}

/// The laws that [model] and its units name.
std::vector<Law> all_laws(const Config& model) {
  auto all = laws_of(model);
  for (const auto& unit : model.tables("unit")) {
    const auto more = laws_of(unit);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

/// Adds a note on properties of rock that the physics does not read, not even through a law.
void note_unread(const Config& job, const EarthRequest& request, Earth& earth) {
  if (request.reads.empty()) return;
  auto read = request.reads;
  for (const auto& [name, other] : request.reads_beside)
    if (!earth.model.has(other)) std::erase(read, name);
  const auto is_read = [&](std::string_view name) {
    return std::find(read.begin(), read.end(), name) != read.end();
  };
  const auto laws = all_laws(job.table("model"));
  for (std::size_t before = 0; before != read.size();) {
    before = read.size();
    for (const auto& law : laws)
      if (is_read(law.to) && !is_read(law.from)) read.push_back(law.from);
  }
  std::vector<std::string_view> unread;
  for (const auto& [name, values] : earth.model.properties) {
    const double absent = property_kind(name).absent;
    const auto says_something = [&, &of = values](std::size_t n) {
      return !std::isnan(of[n]) && of[n] != absent;
    };
    const bool made_by_law =
        std::any_of(laws.begin(), laws.end(), [&made = name](const Law& law) { return law.to == made; });
    if (!is_read(name) && !made_by_law && first_where(values.size(), 0, says_something) < values.size())
      unread.push_back(name);
  }
  if (!unread.empty())
    earth.notes.push_back(fmt::format("the model's {} {} not used by this simulation (physics = \"{}\")",
                                      joined(unread), unread.size() == 1 ? "is" : "are", physics_of(job)));
}

}  // namespace

Earth build_earth(const Config& job, const std::optional<Projection>& projection, const MemoryBudget& memory,
                  const EarthRequest& request) {
  auto earth = built_earth(job, projection, memory, request);
  warn_of_unusual(job, earth);
  note_unread(job, request, earth);
  return earth;
}

void build_earths(const Config& job, const std::optional<Projection>& projection, const MemoryBudget& memory,
                  std::span<const EarthRequest> requests,
                  const std::function<void(std::size_t number, Earth earth)>& take) {
  if (requests.empty()) return;
  const auto kind = kind_of_mesh(job, requests.front());
  const auto of = kind == "planned" ? std::optional(cells_of_job(job, kind)) : std::nullopt;
  // The description cannot be shared if values are those at cell centres or the mesh is not planned.
  if (!of || !of->averages) {
    for (std::size_t n = 0; n < requests.size(); ++n)
      take(n, build_earth(job, projection, memory, requests[n]));
    return;
  }
  Earth read;
  const auto description = describe_earth(*of, projection, memory, requests.front(), read);
  for (std::size_t n = 0; n < requests.size(); ++n) {
    Earth earth = read;
    const auto cells = planned(of->mesh, description, requests[n], memory, earth);
    look_at(description, cells, requests[n], earth);
    take_averages(*of, cells, description, requests[n], memory, earth);
    note_unread(job, requests[n], earth);
    take(n, std::move(earth));
  }
}

std::optional<EarthModel> described_earth_on(const TensorMesh& mesh, const Config& job,
                                             const MemoryBudget& memory, const EarthRequest& request) {
  const auto kind = kind_of_mesh(job, request);
  if (kind != "planned" && kind != "regular" && kind != "tensor") return std::nullopt;
  auto of = cells_of_job(job, kind);
  if (of.model.has("file")) return std::nullopt;
  of.averages = true;
  Earth earth;
  const auto description = describe_earth(of, std::nullopt, memory, request, earth);
  return transferred(of.model, mesh, description, true, request, memory, earth);
}

Ground build_ground(const Config& job, const std::optional<Projection>& projection,
                    const MemoryBudget& memory) {
  if (!job.has("model")) return {};
  Earth earth;
  described(job.table("model").describe({model_keys, law_keys()}), projection, memory, earth);
  return std::move(earth.ground);
}

std::string kind_of_mesh(const Config& mesh) {
  if (mesh.has("kind")) return mesh.choice("kind", mesh_kinds);
  // Each of these keys exists in one kind of mesh only.
  constexpr std::pair<std::string_view, std::string_view> signs[] = {{"shape", "regular"},
                                                                     {"easting_widths", "tensor"},
                                                                     {"northing_widths", "tensor"},
                                                                     {"up_widths", "tensor"},
                                                                     {"easting", "tensor"},
                                                                     {"northing", "tensor"},
                                                                     {"up", "tensor"},
                                                                     {"elevation", "terrain"},
                                                                     {"cell", "planned"},
                                                                     {"depth", "planned"},
                                                                     {"file", "file"}};
  for (const auto& [key, kind] : signs)
    if (mesh.has(key)) return std::string(kind);
  return "regular";
}

bool plans_mesh(const Config& job) {
  const auto mesh = job.table("mesh");
  const auto keys = mesh.keys();
  const bool says_nothing =
      std::all_of(keys.begin(), keys.end(), [](const std::string& key) { return key == "projection"; });
  if (says_nothing || !mesh.has("kind")) return says_nothing || kind_of_mesh(mesh) == "planned";
  return mesh.is_text("kind") && mesh.text("kind") == "planned";
}

MeshWish read_wish(const Config& job) {
  return wish_of(job.table("mesh").describe({mesh_keys, planned_keys}));
}

std::span<const Section> mesh_sections() { return all_sections().first(3); }

TensorMesh build_mesh(const Config& job) {
  const auto mesh = job.table("mesh");
  if (mesh.keys().empty())
    throw InputError(mesh.where(), "missing", "A job needs a table [mesh]; `terrane new PHYSICS` shows one.");
  if (mesh.has("kind")) mesh.choice("kind", {"regular", "tensor"});
  if (kind_of_mesh(mesh) == "tensor") return tensor_mesh(mesh.describe({mesh_keys, tensor_keys}));
  return regular_mesh(mesh.describe({mesh_keys, regular_keys}));
}

}  // namespace terrane
