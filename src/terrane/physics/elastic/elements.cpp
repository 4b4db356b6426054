#include "terrane/physics/elastic/elements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/job/blame.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/earth_on.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/elastic/element/basis.hpp"
#include "terrane/physics/elastic/medium/attenuation.hpp"
#include "terrane/physics/elastic/medium/media.hpp"
#include "terrane/physics/elastic/medium/tomography.hpp"
#include "terrane/physics/elastic/mesh/layers.hpp"
#include "terrane/physics/elastic/mesh/mesh_files.hpp"
#include "terrane/physics/elastic/mesh/variation.hpp"

namespace terrane::elastic {

namespace {

constexpr Key element_keys[] = {
    {"kind", "text", "",
     "layers: columns between interfaces; chunk: a piece of the sphere; gmsh: a .msh 4.1 file; specfem: a "
     "folder with "
     "an external mesh of SPECFEM3D. Without this table each cell of [mesh] is an element.",
     "\"layers\""},
    {"file", "path", "none", "For kind gmsh the file, for kind specfem the folder."},
    {"curved", "true or false", "true",
     "For kinds gmsh and specfem: elements of 20 and 27 nodes have curved sides, from degree 4 on; false: "
     "only their corners are used."},
    {"columns", "list of 2 counts", "none",
     "For kinds layers and chunk: numbers of elements at the surface, east and north.", "[40, 40]"},
    {"box", "list of 4 lengths", "none",
     "For kind layers: west, east, south, north; by default those of [mesh]."},
    {"top", "length", "none",
     "For kind layers: height of a flat surface, if there is no simulation.surface; by default the top of "
     "[mesh]."},
    {"width", "list of 2 angles", "none",
     "For kind chunk: width as an angle at the Earth's centre, up to 90 degrees.", "[20, 20]"},
    {"centre", "list of 2 angles", "[0, 0]",
     "For kind chunk: longitude and geographic latitude of its middle."},
    {"azimuth", "angle", "0", "For kind chunk: azimuth of its north axis, clockwise from north."},
    {"earth", "path", "none",
     "For kind chunk, for layers that name no rock: prem, ak135, or a CSV with depth, density, velocity_p "
     "and "
     "velocity_s from the surface down, a depth twice if they jump there; and optionally quality_kappa and "
     "quality_mu.",
     "\"prem\""},
    {"attenuation", "true or false", "false",
     "For kind chunk: rock has the Q of prem, of ak135, or of the CSV."},
    {"layer", "tables", "none", "[[elements.layer]]: of kinds layers and chunk, from the surface down."},
    {"rock", "tables", "none",
     "[[elements.rock]]: rocks that layers and volumes name; all others take the properties of [model] at "
     "the centre of each element, in a chunk those of elements.earth."},
};
constexpr Key layer_keys[] = {
    {"bottom", "length", "none", "Where the layer ends below.", "-1000"},
    {"interface", "path", "none", "For kind layers: elevation grid in place of bottom."},
    {"rows", "count", "1",
     "Number of elements from the top to the bottom of the layer, including the two rows of a doubling."},
    {"doubling", "true or false", "false", "It begins with two rows in which columns become twice as wide."},
    {"rock", "text", "none",
     "Name of its [[elements.rock]]; by default the properties of [model], in a chunk those of "
     "elements.earth."},
};
constexpr Key rock_keys[] = {
    {"name", "text", "", "Name of layers, of physical volumes of Gmsh, or number of a material of SPECFEM3D.",
     "\"granite\""},
    {"density", "density", "none",
     "Density; must be given, with both velocities or the stiffness, unless there is a tomography.", "2700"},
    {"velocity_p", "velocity", "none", "Velocity of compressional waves, along the axis of anisotropic rock.",
     "6000"},
    {"velocity_s", "velocity", "none", "Velocity of shear waves; 0: a fluid.", "3464"},
    {"tomography", "path", "none",
     "Instead of all numbers: a file tomography_model.xyz of SPECFEM3D, of which each element takes the rock "
     "at its centre, or with simulation.properties = \"points\" at each of its points."},
    {"stiffness", "list of 21 pressures", "none",
     "In place of velocities: all constants of Hooke's law, in axes east, north, up: C11 … C16, C22 … C26, "
     "C33 … C36, C44 C45 C46, C55 C56, C66, where 4 is north-up, 5 east-up, 6 east-north. The list may end "
     "with its "
     "unit, \"GPa\"."},
    {"quality_p", "number", "none", "Quality factor Q of compressional waves."},
    {"quality_s", "number", "none", "Quality factor Q of shear waves."},
    {"epsilon", "number", "0", "Thomsen's ε."},
    {"delta", "number", "0", "Thomsen's δ."},
    {"gamma", "number", "0", "Thomsen's γ."},
    {"tilt", "angle", "0", "Angle of the axis to the vertical."},
    {"tilt_azimuth", "angle", "0", "Azimuth towards which its upper end leans, clockwise from north."},
};
constexpr Section element_tables[] = {
    {"elements", "", "Elements in place of the cells of [mesh].", element_keys, false},
    {"elements.layer", "", "A layer of elements between two interfaces.", layer_keys, false},
    {"elements.rock", "", "A rock, to which layers and volumes refer by its name.", rock_keys, false},
};

constexpr std::array<std::string_view, 6> side_names{"west", "east", "south", "north", "bottom", "top"};

OpenSides read_sides(const Config& table) {
  OpenSides open{false, false, false, false, false, false};
  bool* const sides[6] = {&open.west, &open.east, &open.south, &open.north, &open.bottom, &open.top};
  for (const auto& name : table.texts("absorbing")) {
    const auto at = std::find(side_names.begin(), side_names.end(), name);
    if (at == side_names.end())
      throw table.wrong("absorbing", fmt::format("\"{}\" is no side", name),
                        "Sides are west, east, south, north, bottom and top; [] for none.");
    *sides[at - side_names.begin()] = true;
  }
  return open;
}

using Surface = std::function<double(double, double)>;

Surface read_surface(const Config& table, const char* key, const MemoryBudget& memory) {
  if (!table.has(key)) return {};
  auto grid = read_elevation(table, key, std::nullopt, memory);
  return [grid = std::move(grid)](double easting, double northing) {
    return grid.interpolate(easting, northing);
  };
}

/// The model's medium at a position: at() returns the medium of the cell that contains it (or of the nearest
/// cell), between() interpolates between the centres of cells.
class Sampled {
 public:
  Sampled(const TensorMesh& cells, CellMedia media) : cells_(cells), media_(std::move(media)) {}
  std::uint32_t at(const Vector& x) const {
    return media_.medium[cells_.index(index(cells_.easting(), x[0]), index(cells_.northing(), x[1]),
                                      index(cells_.up(), x[2]))];
  }
  const std::vector<Medium>& media() const { return media_.media; }

  /// The medium at x, with density and velocities interpolated trilinearly between cells of the same kind,
  /// solid or fluid, as the cell that contains `middle`.
  Medium between(const Vector& x, const Vector& middle) const {
    const auto& own = media_.media[at(middle)];
    if (!own.isotropic) return own;
    const Pair pairs[3] = {pair(cells_.easting(), x[0]), pair(cells_.northing(), x[1]),
                           pair(cells_.up(), x[2])};
    double sum = 0, density = 0, velocity_p = 0, velocity_s = 0;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      std::size_t cell[3];
      double weight = 1;
      for (std::size_t d = 0; d < 3; ++d) {
        const bool upper = corner >> d & 1;
        cell[d] = pairs[d].low + (upper ? 1 : 0);
        weight *= upper ? pairs[d].part : 1 - pairs[d].part;
      }
      if (weight == 0) continue;
      const auto& here = media_.media[media_.medium[cells_.index(cell[0], cell[1], cell[2])]];
      if (!here.isotropic || here.is_fluid() != own.is_fluid()) continue;
      sum += weight;
      density += weight * here.density;
      velocity_p += weight * std::sqrt((here.lambda() + 2 * here.mu()) / here.density);
      velocity_s += weight * std::sqrt(here.mu() / here.density);
    }
    if (sum == 0) return own;
    return Medium::from_speeds(velocity_p / sum, velocity_s / sum, density / sum);
  }

 private:
  static std::size_t index(const std::vector<double>& faces, double here) {
    const auto above = std::upper_bound(faces.begin() + 1, faces.end() - 1, here);
    return static_cast<std::size_t>(above - faces.begin() - 1);
  }
  /// The two cells between whose centres a coordinate lies, and the relative distance from the first, 0 … 1;
  /// outside the mesh, the cells at its edge.
  struct Pair {
    std::size_t low;
    double part;
  };
  static Pair pair(const std::vector<double>& faces, double here) {
    const auto middle = [&](std::size_t n) { return (faces[n] + faces[n + 1]) / 2; };
    auto low = index(faces, here);
    if (here < middle(low) && low > 0) --low;
    if (low + 2 >= faces.size() || here <= middle(low)) return {low, 0};
    return {low, std::min(1.0, (here - middle(low)) / (middle(low + 1) - middle(low)))};
  }

  const TensorMesh& cells_;
  CellMedia media_;
};

/// Collects the elements whose medium is to vary from point to point (simulation.properties = "points"), and
/// the functions that return it.
class AtPoints {
 public:
  explicit AtPoints(const Config& simulation)
      : wanted_(simulation.choice("properties", {"elements", "points"}) == "points"),
        degree_(static_cast<int>(simulation.count("degree", least_degree, most_degree))) {}
  /// Registers `from` as the function that returns the medium in element n; does nothing if the job has
  /// properties = "elements". `from` must exist until give().
  void take(std::size_t n, const MediumAt* from) {
    if (!wanted_) return;
    if (from_.size() <= n) from_.resize(n + 1, nullptr);
    from_[n] = from;
  }
  /// Sets the medium at the points of all registered elements. Throws MemoryError.
  void give(Mesh& mesh, const MemoryBudget& memory, std::vector<std::string>& notes) {
    if (!wanted_) return;
    from_.resize(mesh.size(), nullptr);
    const auto those = std::count_if(from_.begin(), from_.end(), [](const auto* from) { return from; });
    memory.require("simulation.properties", "rock at the points of elements",
                   static_cast<double>(those) * std::pow(degree_ + 1, 3) * sizeof(PointRock));
    notes.push_back(vary_within(mesh, degree_, from_).text());
  }

 private:
  bool wanted_;
  int degree_;
  std::vector<const MediumAt*> from_;
};

/// The named media of [[elements.rock]], which are assigned to elements.
class NamedMedia {
 public:
  explicit NamedMedia(const Config& elements) {
    for (const auto& given : elements.tables("rock")) {
      const auto table = given.describe({rock_keys});
      auto name = table.text("name");
      if (media_.count(name) > 0) throw table.wrong("name", "there is a rock of this name already");
      if (table.has("tomography")) add(std::move(name), Tomography::read(table.input_file("tomography")));
      else media_.emplace(std::move(name), One{of_numbers(table), {}, {}, {}});
    }
  }
  /// Adds a medium, unless the job has one of this name.
  void add(std::string name, Tomography tomography) {
    One one;
    one.tomography = std::make_shared<const Tomography>(std::move(tomography));
    one.at = [kept = one.tomography](const Vector& x, const Vector&) { return kept->at(x); };
    media_.emplace(std::move(name), std::move(one));
  }
  bool has(const std::string& name) const { return media_.count(name) > 0; }
  /// The function that returns the varying medium of this name; null if the medium is uniform.
  const MediumAt* varying(const std::string& name) const {
    const auto found = media_.find(name);
    return found == media_.end() || !found->second.tomography ? nullptr : &found->second.at;
  }
  /// Assigns the medium of this name to element n; returns false if there is none.
  bool give(Mesh& mesh, std::uint32_t n, const std::string& name) {
    const auto found = media_.find(name);
    if (found == media_.end()) return false;
    auto& named = found->second;
    if (named.tomography || !named.number) {
      named.number = static_cast<std::uint32_t>(mesh.media.size());
      mesh.media.push_back(named.tomography ? named.tomography->at(mesh.element(n).monomial[0])
                                            : named.medium);
    }
    mesh.medium[n] = *named.number;
    return true;
  }

 private:
  struct One {
    Medium medium;
    std::shared_ptr<const Tomography> tomography;
    std::optional<std::uint32_t> number;  // index of the medium in the mesh's media
    MediumAt at;                          // the medium of a tomography
  };

  /// Reads a medium with 21 elastic constants.
  static Medium of_stiffness(const Config& table) {
    for (const char* key : {"velocity_p", "velocity_s", "epsilon", "delta", "gamma", "tilt", "tilt_azimuth"})
      if (table.has(key))
        throw table.wrong(key, "a rock with a stiffness has this in its constants", "Leave one of both out.");
    const auto given = table.numbers("stiffness", Quantity::pressure, 21);
    Stiffness c{};
    auto next = given.begin();
    for (std::size_t p = 0; p < 6; ++p)
      for (std::size_t q = p; q < 6; ++q) c[p][q] = c[q][p] = *next++;
    auto medium = Medium::from_stiffness(c, table.positive("density", Quantity::density));
    medium.quality_mu = table.optional_number("quality_s").value_or(INFINITY);
    if (const auto quality_p = table.optional_number("quality_p")) {
      const auto speeds = medium.mean().speeds({0, 0, 1});
      medium.quality_kappa = quality_kappa(*quality_p, medium.quality_mu, speeds[0], speeds[2]);
    }
    medium.name = table.where();
    try {
      medium.check(medium.name);
    } catch (const InputError& error) {
      throw table.wrong("stiffness", error.problem(), error.next());
    }
    return medium;
  }

  static Medium of_numbers(const Config& table) {
    if (table.has("stiffness")) return of_stiffness(table);
    const auto needed = [&](const char* key, Quantity quantity) {
      const auto value = table.optional_number(key, quantity);
      if (!value)
        throw table.wrong(key, "missing",
                          "A rock has density, velocity_p and velocity_s, a stiffness, or a tomography.");
      return *value;
    };
    const auto optional = [&](const char* key) { return table.optional_number(key).value_or(NAN); };
    const MediumValues values{needed("velocity_p", Quantity::velocity),
                              needed("velocity_s", Quantity::velocity),
                              needed("density", Quantity::density),
                              optional("quality_p"),
                              optional("quality_s"),
                              NAN,
                              NAN,
                              table.number("epsilon"),
                              table.number("delta"),
                              table.number("gamma"),
                              table.number("tilt", Quantity::angle),
                              table.number("tilt_azimuth", Quantity::angle)};
    if (!(values.density > 0)) throw table.wrong("density", "it is not above zero");
    return medium_of(values, table.where());
  }
  std::map<std::string, One> media_;
};

/// Assigns media to elements: the named medium; else the medium that the mesh already has; else the model's.
/// name(n): name of element n's medium; may be empty.
template <class Name>
void give_media(Mesh& mesh, const Config& elements, NamedMedia named, const std::optional<Sampled>& model,
                AtPoints points, const MemoryBudget& memory, std::vector<std::string>& notes,
                const Name& name) {
  const MediumAt of_cells = [&](const Vector& x, const Vector& middle) { return model->between(x, middle); };
  const bool has_own = !mesh.media.empty();
  const auto of_model = static_cast<std::uint32_t>(mesh.media.size());
  if (!has_own && model) mesh.media = model->media();
  for (std::uint32_t n = 0; n < mesh.size(); ++n) {
    const std::string& here = name(n);
    const bool has_name = named.give(mesh, n, here);
    if (has_name) points.take(n, named.varying(here));
    if (has_name || has_own) continue;
    if (!model || !(here.empty() || !elements.has("columns")))
      throw elements.wrong("rock", fmt::format("there is no rock \"{}\"", here),
                           model ? "Give an [[elements.rock]] of this name."
                                 : "Give an [[elements.rock]] of this name, or tables [mesh] and [model].");
    mesh.medium[n] = of_model + model->at(mesh.element(n).monomial[0]);
    points.take(n, &of_cells);
  }
  points.give(mesh, memory, notes);
}

Mesh build_layers(const Config& elements, const Config& simulation, const std::optional<Sampled>& model,
                  const TensorMesh& cells, Elements& out, const MemoryBudget& memory) {
  const bool has_cells = cells.size() > 0;
  const auto needed = [&](const char* key, const char* what) {
    if (!elements.has(key) && !has_cells) throw elements.wrong(key, "missing", what);
  };
  needed("box", "West, east, south, north of the layers; or a table [mesh].");
  if (!out.surface) needed("top", "The height of the surface; or simulation.surface, or a table [mesh].");
  if (!elements.has("columns"))
    throw elements.wrong("columns", "missing", "Elements at the surface, east and north.");
  LayeredBox box;
  if (elements.has("box")) {
    const auto four = elements.numbers("box", Quantity::length, 4);
    box.west = four[0], box.east = four[1], box.south = four[2], box.north = four[3];
  } else {
    box.west = cells.easting().front(), box.east = cells.easting().back();
    box.south = cells.northing().front(), box.north = cells.northing().back();
  }
  const auto columns = elements.counts("columns", 2);
  box.columns_east = columns[0], box.columns_north = columns[1];
  const double top =
      elements.optional_number("top", Quantity::length).value_or(has_cells ? cells.up().back() : 0);
  box.surface = out.surface ? out.surface : [top](double, double) { return top; };
  std::vector<std::string> names;
  double rows = 0;
  for (const auto& given : elements.tables("layer")) {
    const auto table = given.describe({layer_keys});
    Layer layer;
    layer.bottom = read_surface(table, "interface", memory);
    if (!layer.bottom) {
      if (!table.has("bottom"))
        throw table.wrong("bottom", "missing", "A height; or interface = \"grid.nc\".");
      layer.bottom = [bottom = table.number("bottom", Quantity::length)](double, double) { return bottom; };
    }
    layer.rows = table.count("rows", 1, 100'000);
    layer.doubling = table.flag("doubling");
    layer.name = table.optional_text("rock").value_or("");
    names.push_back(layer.name);
    rows += static_cast<double>(layer.rows);
    box.layers.push_back(std::move(layer));
  }
  memory.require("elements", "elements of the layers",
                 static_cast<double>(columns[0]) * static_cast<double>(columns[1]) * rows * 400);
  std::vector<std::uint32_t> layer_of;
  Mesh mesh;
  try {
    mesh = layered(box, read_sides(simulation), layer_of);
  } catch (const InputError& error) {
    throw InputError(elements.where(), error.problem(), error.next());
  }
  give_media(mesh, elements, NamedMedia(elements), model, AtPoints(simulation), memory, out.notes,
             [&](std::uint32_t n) -> const std::string& { return names[layer_of[n]]; });
  return mesh;
}

RadialEarth read_earth(const Config& elements) {
  if (!elements.has("earth"))
    throw elements.wrong("earth", "missing",
                         "earth = \"prem\", \"ak135\", or a CSV; or give each layer a rock.");
  const bool attenuating = elements.flag("attenuation");
  const auto no_quality = [&](const char* problem) {
    return elements.wrong("attenuation", problem, "Take earth = \"prem\" or \"ak135\", or a CSV with both.");
  };
  if (elements.text("earth") == "prem") return RadialEarth::prem(attenuating);
  if (elements.text("earth") == "ak135") return RadialEarth::ak135(attenuating);
  const auto table = io::read_csv(elements.input_file("earth").string());
  const auto depth = table.si("depth", Quantity::length, "m"),
             density = table.si("density", Quantity::density, "kg/m3"),
             p = table.si("velocity_p", Quantity::velocity, "m/s"),
             s = table.si("velocity_s", Quantity::velocity, "m/s");
  std::vector<RadialEarth::Row> rows;
  for (std::size_t n = 0; n < table.rows(); ++n) rows.push_back({depth[n], density[n], p[n], s[n]});
  if (attenuating) {
    if (table.find("quality_kappa") == nullptr || table.find("quality_mu") == nullptr)
      throw no_quality("the table has no quality_kappa and quality_mu");
    const auto kappa = table.si("quality_kappa", Quantity::dimensionless, "1"),
               mu = table.si("quality_mu", Quantity::dimensionless, "1");
    for (std::size_t n = 0; n < rows.size(); ++n) {
      if (s[n] == 0) continue;  // fluids have no Q
      if (!(kappa[n] > 0 && mu[n] > 0))
        throw InputError(table.where(n), fmt::format("a Q of {:g} and {:g}", kappa[n], mu[n]),
                         "Q of rock is above zero.");
      rows[n].quality_kappa = kappa[n], rows[n].quality_mu = mu[n];
    }
  }
  return {std::move(rows), elements.where("earth")};
}

/// Reads a chunk of the sphere from [elements], and the name of each layer's medium, empty if there is none.
Chunk read_chunk(const Config& elements, std::vector<std::string>& names) {
  if (!elements.has("width")) throw elements.wrong("width", "missing", "East and north, in degrees.");
  if (!elements.has("columns"))
    throw elements.wrong("columns", "missing", "Elements at the surface, east and north.");
  const auto width = elements.numbers("width", Quantity::angle, 2),
             centre = elements.numbers("centre", Quantity::angle, 2);
  if (!(std::fabs(centre[1]) <= 90))
    throw elements.wrong("centre", fmt::format("a latitude of {:g} degrees", centre[1]),
                         "The longitude comes first: [longitude, latitude].");
  const auto columns = elements.counts("columns", 2);
  constexpr double degree = pi / 180;
  Chunk chunk;
  chunk.width_east = width[0] * degree, chunk.width_north = width[1] * degree;
  chunk.columns_east = columns[0], chunk.columns_north = columns[1];
  for (const auto& given : elements.tables("layer")) {
    const auto table = given.describe({layer_keys});
    if (!table.has("bottom") || table.has("interface"))
      throw table.wrong("bottom", "layers of a chunk have a bottom, and no interface");
    chunk.layers.push_back(
        {table.number("bottom", Quantity::length), table.count("rows", 1, 100'000), table.flag("doubling")});
    names.push_back(table.optional_text("rock").value_or(""));
  }
  return chunk;
}

Mesh build_chunk(const Config& elements, const Config& simulation, Elements& out,
                 const MemoryBudget& memory) {
  if (out.surface) throw simulation.wrong("surface", "a chunk of the sphere has none", "Leave it out.");
  std::vector<std::string> names;
  const auto chunk = read_chunk(elements, names);
  double rows = 0;
  for (const auto& layer : chunk.layers) rows += static_cast<double>(layer.rows);
  memory.require(
      "elements", "elements of the chunk",
      static_cast<double>(chunk.columns_east) * static_cast<double>(chunk.columns_north) * rows * 1200);
  const auto centre = elements.numbers("centre", Quantity::angle, 2);
  std::vector<std::uint32_t> layer_of;
  Mesh mesh;
  try {
    mesh = chunk_of_sphere(chunk, read_sides(simulation), layer_of);
  } catch (const InputError& error) {
    throw InputError(elements.where(), error.problem(), error.next());
  }
  out.sphere = Placement{chunk.radius,
                         centre[0],
                         centre[1],
                         elements.number("azimuth", Quantity::angle),
                         chunk.width_east,
                         chunk.width_north,
                         -chunk.layers.back().bottom};
  // Elements without a named medium get that of the earth at the radius of their centre, rounded to 1 mm.
  const bool all_named =
      std::none_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); });
  const auto earth = all_named ? RadialEarth::prem() : read_earth(elements);
  NamedMedia named(elements);
  AtPoints points(simulation);
  // Layers may end at discontinuities of the earth: a point gets the medium on its element's side. Because
  // elements approximate the sphere by polynomials, a point may lie slightly beyond the discontinuity.
  const MediumAt of_earth = [&](const Vector& x, const Vector& middle) {
    const auto radius_of = [&](const Vector& v) { return norm({v[0], v[1], v[2] + chunk.radius}); };
    const double here = radius_of(x), within = 1e-3;
    return earth.at(here, here + within * (radius_of(middle) - here));
  };
  std::map<long long, std::uint32_t> at_radius;
  for (std::uint32_t n = 0; n < mesh.size(); ++n) {
    const auto& name = names[layer_of[n]];
    if (!name.empty()) {
      if (named.give(mesh, n, name)) {
        points.take(n, named.varying(name));
        continue;
      }
      throw elements.wrong("rock", fmt::format("there is no rock \"{}\"", name),
                           "Give an [[elements.rock]] of this name.");
    }
    const auto x = mesh.element(n).monomial[0];
    const double radius = norm({x[0], x[1], x[2] + chunk.radius});
    const auto [at, is_new] =
        at_radius.emplace(std::llround(1000 * radius), static_cast<std::uint32_t>(mesh.media.size()));
    if (is_new) mesh.media.push_back(earth.at(radius));
    mesh.medium[n] = at->second;
    points.take(n, &of_earth);
  }
  points.give(mesh, memory, out.notes);
  return mesh;
}

Mesh build_from_file(const Config& elements, const Config& simulation, const std::optional<Sampled>& model,
                     bool specfem, Elements& out, const MemoryBudget& memory) {
  if (!elements.has("file"))
    throw elements.wrong("file", "missing", "The mesh file, or the folder of SPECFEM3D's files.");
  const auto path = specfem ? elements.path("file") : elements.input_file("file");
  const auto file = specfem ? read_specfem_mesh(path) : read_gmsh(path);
  out.notes.insert(out.notes.end(), file.notes.begin(), file.notes.end());
  std::vector<std::string> absorbing;
  for (const auto& name : simulation.texts("absorbing"))
    if (simulation.has("absorbing") ||
        std::find(file.sides.begin(), file.sides.end(), name) != file.sides.end())
      absorbing.push_back(name);
  Mesh mesh;
  try {
    mesh = mesh_of(file, absorbing, elements.flag("curved"));
  } catch (const InputError& error) {
    if (error.where() == "elastic: absorbing")
      throw simulation.wrong("absorbing", error.problem(), error.next());
    throw InputError(path.string(), error.problem(), error.next());
  }
  const auto groups = mesh.medium;
  NamedMedia named(elements);
  for (std::size_t n = 0; n < file.tomography.size(); ++n)
    if (!file.tomography[n].empty() && !named.has(file.groups[n]))
      named.add(file.groups[n], Tomography::read(path / file.tomography[n]));
  give_media(mesh, elements, std::move(named), model, AtPoints(simulation), memory, out.notes,
             [&](std::uint32_t n) -> const std::string& { return file.groups[groups[n]]; });
  out.notes.push_back(
      fmt::format("{}: {} elements, volumes {}; sides {}", path.filename().string(), mesh.size(),
                  fmt::join(file.groups, ", "),
                  file.sides.empty() ? "none" : fmt::format("{}", fmt::join(file.sides, ", "))));
  return mesh;
}

/// One element for each cell, in columns that end at out.surface, if there is one.  cuts_ground: rock is that
/// at the height of an element; else it is stretched with its column
void put_bricks(const TensorMesh& cells, const Sampled& model, const Config& simulation, bool cuts_ground,
                const MemoryBudget& memory, Elements& out) {
  std::vector<std::uint32_t> medium(cells.size());
  const double bottom = cells.up().front(), top = cells.up().back();
  const auto give = [&](std::size_t n) {
    const auto box = cells.prism(n);
    const double east = (box.west + box.east) / 2, north = (box.south + box.north) / 2;
    double up = (box.bottom + box.top) / 2;
    if (out.surface && cuts_ground)  // height of the element after stretching
      up = bottom + (up - bottom) * (out.surface(east, north) - bottom) / (top - bottom);
    medium[n] = model.at({east, north, up});
  };
  for_each_stretch(cells.size(), 0, [&](std::size_t first, std::size_t last) {
    for (auto n = first; n < last; ++n) give(n);
  });
  out.mesh = bricks(cells, model.media(), std::move(medium), read_sides(simulation), out.surface);
  // In columns that are stretched to a surface, media are stretched with their cells.
  const MediumAt of_cells = [&](Vector x, Vector middle) {
    for (auto* const place : {&x, &middle})
      if (out.surface && !cuts_ground)
        (*place)[2] = bottom + ((*place)[2] - bottom) * (top - bottom) /
                                   (out.surface((*place)[0], (*place)[1]) - bottom);
    return model.between(x, middle);
  };
  AtPoints points(simulation);
  for (std::size_t n = 0; n < out.mesh.size(); ++n) points.take(n, &of_cells);
  points.give(out.mesh, memory, out.notes);
}

}  // namespace

std::span<const Section> element_sections() { return element_tables; }

Elements elements_on(const OtherCells& other, const TensorMesh& of, const Mesh& mesh, const Config& job,
                     const Config& simulation, const MemoryBudget& memory, const EarthRequest& request) {
  Elements out;
  if (const auto earth = described_earth_on(other.within, job, memory, request)) {
    const Sampled model(other.within, media_of(*earth, job.table("model").where()));
    put_bricks(other.cells, model, simulation, request.cuts_ground, memory, out);
  } else {
    const auto end = mesh.medium.begin() + static_cast<std::ptrdiff_t>(of.size());
    const Sampled model(of, {mesh.media, {mesh.medium.begin(), end}});
    put_bricks(other.cells, model, simulation, request.cuts_ground, memory, out);
  }
  return out;
}

Elements build_elements(const Config& job, const Config& simulation,
                        const std::optional<Projection>& projection, const MemoryBudget& memory,
                        const EarthRequest& request) {
  Elements out;
  const bool own = job.has("elements");
  out.surface = read_surface(simulation, "surface", memory);
  std::optional<Sampled> model;
  TensorMesh cells;
  if (own && job.has("mesh") && !job.has("model")) {
    cells = build_mesh(job);  // the mesh gives only the positions of the layers; their media have names
  } else if (!own || job.has("mesh")) {
    expect_above_zero(job, {"velocity_p", "density"}, "elastic waves need");
    auto earth = build_earth(job, projection, memory, request);
    if (!out.surface) out.surface = earth.ground;
    cells = mesh_of_cells(earth.model, job, "elastic waves need");
    model.emplace(cells, media_of(earth.model, job.table("model").where()));
    out.notes = std::move(earth.notes);
    out.warnings = std::move(earth.warnings);
  }
  if (!own) {
    put_bricks(cells, *model, simulation, request.cuts_ground, memory, out);
    out.cells = std::move(cells);
    return out;
  }
  const auto elements = job.table("elements").describe({element_keys});
  const auto kind = elements.choice("kind", {"layers", "chunk", "gmsh", "specfem"});
  if (kind == "layers") out.mesh = build_layers(elements, simulation, model, cells, out, memory);
  else if (kind == "chunk") out.mesh = build_chunk(elements, simulation, out, memory);
  else out.mesh = build_from_file(elements, simulation, model, kind == "specfem", out, memory);
  return out;
}

}  // namespace terrane::elastic
