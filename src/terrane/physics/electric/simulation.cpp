#include "terrane/physics/electric/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "terrane/base/error.hpp"
#include "terrane/base/free_memory.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/base/version.hpp"
#include "terrane/io/notes.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/blame.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/described.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/fields.hpp"
#include "terrane/job/mesh_plan.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/model/conductivity.hpp"
#include "terrane/parallel/device/device.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electric/edges.hpp"
#include "terrane/physics/electric/formula/polarization.hpp"
#include "terrane/physics/electric/grid/ground.hpp"
#include "terrane/physics/electric/mesh_plan.hpp"
#include "terrane/physics/electric/ranks.hpp"
#include "terrane/physics/electric/survey/arrays.hpp"
#include "terrane/simulation/compare.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/write_result.hpp"
#include "terrane/solve/multigrid/coarsening.hpp"

namespace terrane::electric {

namespace {

constexpr std::string_view as_simulation = "none";
constexpr Key side_keys[] = {
    {"top", "text", "\"insulated\"",
     "insulated, as air above the ground, or grounded; none: insulated, whatever simulation.boundary says."},
    {"bottom", "text", "\"none\"",
     "mixed, grounded (no potential), insulated (no current: a plane of symmetry, the side of a tank); none: "
     "as simulation.boundary says."},
    {"west", "text", "\"none\"", "The same for the west side."},
    {"east", "text", "\"none\"", "The same for the east side."},
    {"south", "text", "\"none\"", "The same for the south side."},
    {"north", "text", "\"none\"", "The same for the north side."},
};
constexpr Section sides_table{"sides", "", "Boundary conditions of single sides of the mesh.", side_keys};
constexpr struct {
  std::string_view name;
  Wall wall;
} sides[] = {{"top", {0, true}},  {"bottom", {0, false}}, {"west", {2, false}},
             {"east", {2, true}}, {"south", {1, false}},  {"north", {1, true}}};

constexpr Key survey_keys[] = {
    {"kind", "text", "\"line\"",
     "line: electrodes along a line; boreholes: in two holes; file: arrays from a file, also where "
     "survey.file alone is given.",
     "\"line\""},
};
constexpr Key line_keys[] = {
    {"start", "list of 2 lengths", "", "Easting and northing of the first electrode.", "[-100, 0]"},
    {"azimuth", "number", "90", "Direction of the line, degrees east of north."},
    {"electrodes", "count", "", "Number of electrodes.", "41"},
    {"spacing", "length", "", "Distance between neighbours.", "5"},
    {"height", "length", "0",
     "Height of all electrodes; above the ground where there is simulation.topography. Below 0: buried."},
    {"array", "text", "\"dipole-dipole\"",
     "dipole-dipole, pole-dipole, pole-pole, wenner, schlumberger, gradient.", "\"dipole-dipole\""},
    {"levels", "count", "6", "Largest separation n."},
};
constexpr Key file_keys[] = {
    {"file", "path", "",
     "CSV with columns a_easting, a_northing, a_up and so for b, m, n; empty: far away, without a height: on "
     "the ground. Or a file of UBC DCIP (2-D, 3-D), of BERT and pyGIMLi (.ohm, .dat), of Res2dinv, Syscal "
     "(.csv of Prosys), SuperSting (.stg) or R2 (protocol.dat), whose data are compared."},
    {"column", "text", "\"none\"",
     "What the data of a UBC file are: resistance, V/A, or chargeability, mV/V; none: chargeability where it "
     "says IPTYPE=1. chargeability: also of a file of BERT whose ip has no unit, otherwise a phase in mrad."},
};
constexpr Key hole_keys[] = {
    {"first", "list of 3 lengths", "", "Easting, northing and up of the highest electrode of one hole.",
     "[-10, 0, -2]"},
    {"second", "list of 3 lengths", "", "The same for the other hole.", "[10, 0, -2]"},
    {"electrodes", "count", "", "Number of electrodes in each hole.", "12"},
    {"spacing", "length", "", "Distance between neighbours, downwards.", "2"},
    {"levels", "count", "6", "Largest distance between A and M, in electrodes."},
};
constexpr Section survey_tables[] = {
    {"survey", "", "The electrodes, and the arrays of four that measure together.", survey_keys},
    {"survey", "line", "Electrodes at even distances along a straight line.", line_keys},
    {"survey", "boreholes",
     "Two boreholes: current between them at one depth, voltage between them at another.", hole_keys},
    {"survey", "file", "Arrays of electrodes from a table.", file_keys},
};

std::string text_of(Device device, const Runtime& runtime) {
  if (device.kind == Device::Kind::cuda) return device_name(device);
  return fmt::format("{} ({} threads)", device_name(device), thread_count(runtime.threads));
}

Boundaries read_boundaries(const Config& job, Boundary all) {
  const auto table = job.table("sides").describe({side_keys});
  Boundaries boundary(all);
  for (const auto& side : sides) {
    const auto word = table.text(side.name);
    if (word == as_simulation) {
      boundary(side.wall.axis, side.wall.high) = side.name == "top" ? Boundary::insulated : all;
      continue;
    }
    const auto found = std::find(boundary_names.begin(), boundary_names.end(), word) - boundary_names.begin();
    const auto kind = static_cast<Boundary>(found);
    if (found == static_cast<std::ptrdiff_t>(boundary_names.size()) ||
        (side.name == "top" && kind == Boundary::mixed))
      throw table.wrong(side.name, fmt::format("\"{}\" is no boundary of the {}", word, side.name),
                        side.name == "top" ? "Allowed: insulated, grounded."
                                           : "Allowed: mixed, grounded, insulated; none: as "
                                             "simulation.boundary says.");
    boundary(side.wall.axis, side.wall.high) = kind;
  }
  return boundary;
}

/// Replaces conductivity and chargeability of the medium by the complex σ at a frequency: σ' in
/// medium.conductivity, σ'' in medium.quadrature.
void turn(Medium& medium, const EarthModel& model, const Config& job, double frequency) {
  const auto where = job.table("model").where();
  if (medium.chargeability.empty() || !model.has("cole_cole_time") || !model.has("cole_cole_exponent"))
    throw InputError(where,
                     "at a frequency the medium needs chargeability, cole_cole_time and cole_cole_exponent",
                     "Give [model.background] or bodies all three, or leave simulation.frequency out.");
  const auto time = model.dense("cole_cole_time"), exponent = model.dense("cole_cole_exponent");
  const std::size_t axes = medium.differs_by_axis() ? 3 : 1;
  std::vector<double>* const real[] = {&medium.conductivity, &medium.conductivity_north,
                                       &medium.conductivity_up};
  std::vector<double>* const imaginary[] = {&medium.quadrature, &medium.quadrature_north,
                                            &medium.quadrature_up};
  for (std::size_t a = 0; a < axes; ++a) imaginary[a]->assign(medium.conductivity.size(), 0.0);
  for (std::size_t cell = 0; cell < time.size(); ++cell) {
    if (medium.chargeability[cell] == 0) continue;
    if (!(time[cell] > 0) || !(exponent[cell] > 0))
      throw InputError(
          where, fmt::format("cell {} has a chargeability without a time constant or exponent", cell + 1),
          "Give its body cole_cole_time and cole_cole_exponent, above zero.");
    for (std::size_t a = 0; a < axes; ++a) {
      double& sigma = (*real[a])[cell];
      const auto turned = cole_cole(sigma, medium.chargeability[cell], time[cell], exponent[cell], frequency);
      sigma = turned.real();
      (*imaginary[a])[cell] = turned.imag();
    }
  }
  medium.chargeability.clear();
}

/// The medium from conductivity or resistivity, chargeability and the Cole-Cole parameters. ground: fraction
/// of ground in each cell, or empty
Medium medium_of(const EarthModel& model, const TensorMesh& mesh, const Config& job, const Settings& settings,
                 std::vector<double> ground) {
  const auto table = job.table("model");
  Medium medium;
  medium.ground = std::move(ground);
  const auto along = [&](std::string_view axis) {
    return conductivity_of_cells(
        model, job, axis,
        "Begin with a body that fills the mesh, such as kind = \"layer\", and paint others over it.",
        medium.ground);  // cells of air need no conductivity
  };
  if (conducts_by_axis(model)) {
    medium.conductivity = along("east");
    medium.conductivity_north = along("north");
    medium.conductivity_up = along("up");
    const auto alike = [&](const std::vector<double>& other) {
      return std::equal(other.begin(), other.end(), medium.conductivity.begin(),
                        [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
    };
    if (alike(medium.conductivity_north) && alike(medium.conductivity_up)) {
      free_memory(medium.conductivity_north);  // the medium is isotropic: no cell contains several media
      free_memory(medium.conductivity_up);
    }
  } else {
    medium.conductivity = along("");
  }
  if (medium.ground.empty()) medium.ground = ground_below_air(mesh, medium.conductivity);
  if (model.has("chargeability")) {
    medium.chargeability = model.dense("chargeability");
    for (double& m : medium.chargeability) {
      if (std::isnan(m)) m = 0;
      if (m >= 1)
        throw InputError(table.where(), fmt::format("a chargeability is {} V/V", m),
                         "Allowed: from 0 to below 1; \"20 mV/V\" is 0.02.");
    }
  }
  if (settings.frequency > 0) turn(medium, model, job, settings.frequency);
  return medium;
}

}  // namespace

const Section& Settings::section() {
  static const Section all{
      "simulation", "", "How potentials are computed.",
      keys_of<Settings>({{"physics", "text", "\"gravity\"", "What is computed.", "\"electric\""}},
                        {{"topography", "path", "none",
                          "Elevation grid of the ground: cells above it are air, the conductivity of those "
                          "that it cuts is weighted by their fraction of ground. By default the ground is "
                          "the top of the mesh, or the bottom of top cells of at most 1e-7 S/m; such cells "
                          "below ground, as in a cavity, count as ground."}})};
  return all;
}
const Section& sides_section() { return sides_table; }

std::string text_of(const Boundaries& boundary) {
  std::string text;
  for (const auto& side : sides)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", side.name,
                        boundary_names[static_cast<std::size_t>(boundary(side.wall.axis, side.wall.high))]);
  return text;
}
std::span<const Section> survey_sections() { return survey_tables; }

Settings Settings::read(const Config& job) {
  const auto table = job.table("simulation").describe({section().keys, Runtime::section().keys});
  Settings settings;
  auto& p = settings.parameters;
  table.text("physics");
  read_fields(table, settings);
  p.boundary = read_boundaries(job, chosen<Boundary>(table, "boundary", boundary_names));
  for (const auto& field : table.texts("volume")) {
    if (field == "potential") p.volume.potential = true;
    else if (field == "e") p.volume.electric = true;
    else if (field == "j") p.volume.current = true;
    else throw table.wrong("volume", fmt::format("\"{}\" is no field", field), "Allowed: potential, e, j.");
  }
  if (table.has("topography")) table.text("topography");  // marks the key as read; from_job() reads the file
  return settings;
}

namespace {

/// The distance between two electrodes, and the width, in the direction of this distance, of the cells at the
/// first electrode.
std::pair<double, double> apart(const TensorMesh& mesh, const Point& one, const Point& other) {
  const auto width = [](const std::vector<double>& faces, double x) {
    const auto above = std::upper_bound(faces.begin() + 1, faces.end() - 1, x);
    return *above - *(above - 1);
  };
  const double length = distance(one, other);
  return {length, std::max({width(mesh.easting(), one.e) * std::abs(one.e - other.e),
                            width(mesh.northing(), one.n) * std::abs(one.n - other.n),
                            width(mesh.up(), one.u) * std::abs(one.u - other.u)}) /
                      length};
}

/// Finds the two electrodes of an array with the fewest cells between them. Returns their distance, and the
/// width of the cells at the first of them.
std::pair<double, double> tightest(const TensorMesh& mesh, const Electrodes& electrodes) {
  std::pair<double, double> found{INFINITY, 0};
  for (const auto& array : electrodes.arrays) {
    const int all[4] = {array.a, array.b, array.m, array.n};
    for (int p = 0; p < 4; ++p)
      for (int q = p + 1; q < 4; ++q) {
        if (all[p] == Array::far_away || all[q] == Array::far_away) continue;
        const auto [length, cell] = apart(mesh, electrodes.place[static_cast<std::size_t>(all[p])],
                                          electrodes.place[static_cast<std::size_t>(all[q])]);
        if (length > 0 && cell * found.first > found.second * length) found = {length, cell};
      }
  }
  return found;
}

/// A warning about the error of total potentials (docs/theory/electric.md), if potential electrodes are close
/// to a source without a primary potential; else "".
std::string warning_of_total(const TensorMesh& mesh, const Electrodes& electrodes, const Primaries& primaries,
                             const Parameters& parameters) {
  if (parameters.potential != Potential::automatic) return "";
  const auto& walls = parameters.boundary;
  constexpr double near = 8;  // cells between source and potential electrode; fewer cause the warning
  std::set<std::size_t> sources;
  double nearest = INFINITY;
  for (const auto& array : electrodes.arrays)
    for (const int a : {array.a, array.b}) {
      if (a == Array::far_away) continue;
      const auto source = static_cast<std::size_t>(a);
      if (primaries.at(source)) continue;
      for (const int m : {array.m, array.n}) {
        if (m == Array::far_away) continue;
        const auto [length, cell] =
            apart(mesh, electrodes.place[source], electrodes.place[static_cast<std::size_t>(m)]);
        if (!(length > 0) || length >= near * cell) continue;
        sources.insert(source);
        nearest = std::min(nearest, length / cell);
      }
    }
  if (sources.empty()) return "";
  const char* why = walls.of_half_space() ? "," : ", or sides are grounded or insulated,";
  return fmt::format(
      "the medium changes around {} current electrode{} (first: {}) otherwise than at one vertical contact{} "
      "and voltages are measured down to {:.2g} cells from there: potentials within 4 cells may be wrong by "
      "20 %, within 8 by 5 %; let cells be smaller, so that eight lie between these electrodes",
      sources.size(), sources.size() == 1 ? "" : "s", *sources.begin() + 1, why, nearest);
}

/// A warning about the error of potentials below slopes (docs/theory/electric.md), if arrays measure small
/// differences of such potentials; else "".
std::string warning_of_slopes(const Medium& medium, const Electrodes& electrodes) {
  constexpr double left = 0.0015;  // relative error of a potential, with two cells between electrodes
  constexpr double much = 0.045, nothing = 1;  // range of relative errors of ΔV that cause a warning
  if (medium.ground.empty() || electrodes.place.empty()) return "";
  double low = INFINITY, high = -INFINITY;
  for (const auto& p : electrodes.place) low = std::min(low, p.u), high = std::max(high, p.u);
  std::size_t count = 0, first = 0;
  double most = 0, longest = 0;
  for (std::size_t n = 0; n < electrodes.arrays.size(); ++n) {
    const auto& array = electrodes.arrays[n];
    double largest = 0, sum = 0;
    for (const int from : {array.a, array.b})
      for (const int to : {array.m, array.n}) {
        if (from == Array::far_away || to == Array::far_away) continue;
        const double length = distance(electrodes.place[static_cast<std::size_t>(from)],
                                       electrodes.place[static_cast<std::size_t>(to)]);
        longest = std::max(longest, length);
        largest = std::max(largest, 1 / length);
        sum += ((from == array.a) == (to == array.m) ? 1 : -1) / length;
      }
    const double wrong = left * largest / std::abs(sum);
    if (!(wrong > much) || wrong > nothing) continue;
    if (++count == 1) first = n;
    most = std::max(most, wrong);
  }
  if (count == 0 || high - low < 0.02 * longest) return "";
  return fmt::format(
      "{} arrays (first: {}) are small differences of potentials, of which uneven ground leaves 0.15 % to "
      "errors of the mesh: they may be wrong by up to {:.2g} %; halve mesh.cell to see, or leave them out",
      count, first + 1, 100 * most);
}

/// The primaries of all sources. For a chargeable medium each source is solved for twice, with two
/// conductivities; the source then has a primary only if it has one in both solves.
Primaries primaries_of_medium(const TensorMesh& mesh, const Medium& medium, const Electrodes& electrodes,
                              const Parameters& parameters) {
  auto primaries = primaries_of(mesh, medium.view(), parameters, electrodes);
  if (medium.chargeability.empty()) return primaries;
  const auto first = begun(medium);
  for (auto& [source, primary] : primaries_of(mesh, first.view(), parameters, electrodes))
    if (!primary) primaries[source] = std::nullopt;
  return primaries;
}

Electrodes across(const Config& table) {
  HolePair holes;
  for (auto [key, top] : {std::pair{"first", &holes.first}, {"second", &holes.second}}) {
    const auto at = table.numbers(key, Quantity::length, 3);
    *top = {at[0], at[1], at[2]};
  }
  holes.count = table.count("electrodes", 2, 100'000);
  holes.spacing = table.positive("spacing", Quantity::length);
  return arrays_across(holes, table.count("levels", 1, 10'000));
}

/// Arrays and data of survey.file, which may contain numbers written for "no value": expect_values() and
/// inversions refuse these in data that they use.
Measured measured_in_file(const Config& table) {
  const auto column = table.choice("column", {"none", "resistance", "chargeability"});
  if (is_given(table, "file")) {
    const auto content = read_content(table, "file", {}, no_column);
    if (const auto* rows = std::get_if<io::Table>(&content))
      return io::to_electrode_data(*rows, io::TakenValues::observed);
  }
  return read_measured(table.input_file("file"), {column == "none" ? "" : column, ""});
}

/// Throws InputError: measured data that a run compares with computed data contain numbers written for "no
/// value".
void expect_values(const Config& job, const Measured& survey, bool chargeable) {
  for (const auto& column : survey.columns) {
    const bool compared = column.name == "chargeability" ? chargeable
                          : column.name == "phase"       ? job.table("simulation").has("frequency")
                                                         : column.name != "geometric_factor";
    if (compared)
      refuse_written_for_none(job.table("survey"), "file", Column{column.name, "", "", column.values});
  }
}

}  // namespace

Measured build_survey(const Config& job, const std::function<double(double, double)>& height) {
  const auto outer = job.table("survey");
  const auto given = outer.has("kind") ? outer.choice("kind", {"line", "boreholes", "file"})
                                       : std::string(outer.has("file") ? "file" : "line");
  const auto keys = given == "file"        ? std::span<const Key>(file_keys)
                    : given == "boreholes" ? std::span<const Key>(hole_keys)
                                           : std::span<const Key>(line_keys);
  const auto table = outer.describe({survey_keys, keys});
  if (given == "file") {
    auto measured = measured_in_file(table);
    Column heights{"height of an electrode", "m", "", {}};
    for (const auto& p : measured.electrodes.place) heights.values.push_back(p.u);
    refuse_written_for_none(table, "file", heights);
    for (const auto& column :
         measured.columns)  // The notes on the file. Values that the run uses are refused in expect_values()
      if (const auto text = io::written_for_none(Column{column.name, "", "", column.values}); !text.empty())
        table.note("file", text);
    return measured;
  }
  if (given == "boreholes") return {across(table), {}};
  const auto start = table.numbers("start", Quantity::length, 2);
  ElectrodeLine line;
  line.start = {start[0], start[1], table.number("height", Quantity::length)};
  line.azimuth = table.number("azimuth");
  line.count = table.count("electrodes", 2, 100'000);
  line.spacing = table.positive("spacing", Quantity::length);
  const auto kind = chosen<ArrayKind>(table, "array", array_names);
  const auto levels = table.count("levels", 1, 10'000);
  try {
    auto electrodes = arrays_on_line(line, kind, levels);
    if (height)
      for (auto& p : electrodes.place) p.u += height(p.e, p.n);
    return {std::move(electrodes), {}};
  } catch (const InputError& error) {
    throw table.wrong("electrodes", error.problem(), error.next());
  }
}

std::optional<Surface> named_ground(const Config& job, const MemoryBudget& memory) {
  const auto table = job.table("simulation");
  if (!table.has("topography") || table.text("topography") == "none") return {};
  if (job.has("model") && job.table("model").has("topography"))
    throw table.wrong(
        "topography",
        fmt::format("a second ground, beside that of {}", job.table("model").where("topography")),
        "Keep model.topography, from which all simulations take it.");
  auto grid = read_elevation(table, "topography", std::nullopt, memory);
  for (const double value : grid.values)
    if (std::isnan(value))
      throw table.wrong("topography", "the grid has gaps", "Fill them: the ground is somewhere everywhere.");
  return grid;
}

std::function<double(double, double)> topography_of(const Config& job, const MemoryBudget& memory) {
  const auto named = named_ground(job, memory);
  if (!named) return {};
  Description earth;
  earth.topography = named;
  return ground_of(earth);
}

double height_of_feet(const Electrodes& electrodes) {
  std::vector<Position> places;
  for (const auto& p : electrodes.place) places.push_back({p.e, p.n, p.u});
  return 0.05 * smallest_distance(places);
}

namespace {

std::vector<std::string> warnings_of_places(const TensorMesh& mesh, const Electrodes& electrodes) {
  std::vector<std::string> warnings;
  double nearest_wall = INFINITY, widest = 0;
  const auto box = mesh.bounds();
  for (const auto& p : electrodes.place) {
    nearest_wall = std::min(
        {nearest_wall, p.e - box.west, box.east - p.e, p.n - box.south, box.north - p.n, p.u - box.bottom});
    widest = std::max(widest, distance(p, electrodes.place.front()));
  }
  if (nearest_wall < widest)
    warnings.push_back(
        fmt::format("electrodes reach over {:.4g} m and come within {:.4g} m of a wall of the mesh, which "
                    "then shows in the "
                    "data; let cells that grow go on for three times that length",
                    widest, nearest_wall));
  if (const auto [apart, cell] = tightest(mesh, electrodes); cell > apart)
    warnings.push_back(
        fmt::format("electrodes {:.4g} m apart are in cells of {:.4g} m, which do not tell them from each "
                    "other where the medium differs; planned meshes have two cells between electrodes",
                    apart, cell));
  return warnings;
}

}  // namespace

std::vector<std::string> warnings_of(const TensorMesh& mesh, const Medium& medium,
                                     const Electrodes& electrodes, const Parameters& parameters) {
  auto warnings = warnings_of_places(mesh, electrodes);
  const auto solved = as_solved(mesh, medium.view(), parameters, electrodes);
  const auto primaries = primaries_of_medium(mesh, medium, solved, parameters);
  if (auto text = warning_of_slopes(medium, electrodes); !text.empty())
    warnings.insert(warnings.begin(), std::move(text));
  if (auto text = warning_of_total(mesh, solved, primaries, parameters); !text.empty())
    warnings.insert(warnings.begin(), std::move(text));
  return warnings;
}

std::vector<std::string> warnings_of(const DirectCurrentReport& found) {
  std::vector<std::string> warnings;
  if (found.null_arrays > 0)
    warnings.push_back(
        fmt::format("{} arrays have no geometric factor below 1e6 m: their apparent resistivity is NaN",
                    found.null_arrays));
  for (std::size_t n = 0; n < found.solves.size(); ++n)
    if (!found.solves[n].converged())
      warnings.push_back(fmt::format("electrode {}: {}", found.sources[n] + 1, found.solves[n].text()));
  return warnings;
}

namespace {

/// The axis along which the electrodes extend farthest. The companion (the run for error estimates) keeps two
/// cells between electrodes on this axis: below uneven ground the error depends on how cells are cut beside
/// each electrode, and with one cell between neighbours it is more than four times as large as with two.
std::size_t axis_of_line(const Electrodes& electrodes) {
  const auto reach = [&](double Point::*along) {
    const auto [low, high] =
        std::minmax_element(electrodes.place.begin(), electrodes.place.end(),
                            [&](const Point& p, const Point& q) { return p.*along < q.*along; });
    return low == electrodes.place.end() ? 0.0 : (*high).*along - (*low).*along;
  };
  return reach(&Point::n) > reach(&Point::e) ? 1 : 0;
}

}  // namespace

Simulation::Simulation(TensorMesh mesh, Medium medium, Electrodes electrodes, Settings settings)
    : RefinedSimulation("electric", {}),
      mesh_(std::move(mesh)),
      medium_(std::move(medium)),
      electrodes_(std::move(electrodes)),
      settings_(std::move(settings)) {
  electrodes_.check();
  electric::check(settings_.parameters.boundary, electrodes_, settings_.parameters.volume);
  for (std::size_t n = 0; n < electrodes_.place.size(); ++n) {
    const auto name = fmt::format("survey: electrode {}", n + 1);
    node_weights(mesh_, electrodes_.place[n], name);
    if (!medium_.ground.empty()) refuse_air(mesh_, medium_.ground, electrodes_.place[n], name);
  }
  {
    electric::check(mesh_, medium_.view(), electrodes_.place);
    const auto& parameters = settings_.parameters;
    const auto solved = as_solved(mesh_, medium_.view(), parameters, electrodes_);
    sources_ = sources_of(electrodes_, solved, parameters).size();
    const auto primaries = primaries_of_medium(mesh_, medium_, solved, parameters);
    held_against_ = held_against_homogeneous(primaries, medium_.view(), parameters).size();
    for (auto text :
         {warning_of_total(mesh_, solved, primaries, parameters), warning_of_slopes(medium_, electrodes_)})
      if (!text.empty()) warnings_.push_back(std::move(text));
  }
  for (auto& warning : warnings_of_places(mesh_, electrodes_)) warnings_.push_back(std::move(warning));
  accuracy_ = settings_.accuracy;
  if (!states_errors()) return;
  // Total potentials have similar errors beside their source on any mesh, so that two runs with total
  // potentials would differ too little: the companion then uses `automatic`.
  const auto asked = settings_.parameters.potential;
  auto wish = wish_of_mesh();
  if (!medium_.ground.empty()) wish.two_between[axis_of_line(electrodes_)] = true;
  make_companion(
      [&] { return on_companion(wish, asked == Potential::total ? Potential::automatic : asked); });
}

namespace {

/// Rethrows an error about an electrode or an array, given by its number, with the key that specifies it.
[[noreturn]] void throw_at_survey(const InputError& error, const Config& survey) {
  const std::string_view where = error.where();
  constexpr std::string_view of_electrode = "survey: electrode ";
  const bool of_array = where.starts_with("array ");
  if (!where.starts_with(of_electrode) && !of_array) throw;
  const bool first = where == "survey: electrode 1", deep = error.problem().find(" up") != std::string::npos;
  const char* key = survey.has("file")                                       ? "file"
                    : of_array || (!first && !deep && survey.has("spacing")) ? "spacing"
                    : survey.has("first")                                    ? "first"
                    : deep && survey.has("height")                           ? "height"
                                                                             : "start";
  const auto who = of_array ? where : where.substr(8);
  throw InputError(survey.has(key) ? survey.where(key) : survey.where(),
                   fmt::format("{}: {}", who, error.problem()), error.next());
}

}  // namespace

void expect_electrodes_inside(const TensorMesh& mesh, const Electrodes& electrodes, const Config& survey) {
  try {
    for (std::size_t n = 0; n < electrodes.place.size(); ++n)
      node_weights(mesh, electrodes.place[n], fmt::format("survey: electrode {}", n + 1));
  } catch (const InputError& error) {
    throw_at_survey(error, survey);
  }
}

namespace {

/// Throws InputError if the job asks for a checkpoint: runs of this physics write none.
void refuse_checkpoint(const Config& job) {
  const auto checkpoint = Output::read(job).checkpoint;
  if (checkpoint.interval == CheckpointSettings::never || checkpoint.least_run > 0)
    return;  // `checkpoint` is "never" or "auto"
  throw job.table("output").wrong(
      "checkpoint", "runs of direct current keep no checkpoints",
      "Allowed: \"auto\", \"never\", or leave it out. Cut a long survey into several jobs.");
}

}  // namespace

namespace {

/// The properties of the medium that a job of this physics reads.
std::vector<std::string_view> properties_read() {
  return {"conductivity",  "conductivity_east", "conductivity_north", "conductivity_up",
          "resistivity",   "resistivity_east",  "resistivity_north",  "resistivity_up",
          "chargeability", "cole_cole_time",    "cole_cole_exponent"};
}

/// The electrodes of a job, with heights above the described ground.
std::vector<Position> places_over(const Description& described, const Config& job) {
  std::function<double(double, double)> ground;
  if (described.topography) ground = [&](double e, double n) { return described.ground(e, n); };
  std::vector<Position> places;
  for (const auto& p : build_survey(job, ground).electrodes.place) places.push_back({p.e, p.n, p.u});
  return places;
}

/// The request to the earth for the medium on a planned mesh or on `instead`.  holds_all: is set to false if
/// the mesh does not contain all layers and bodies; it must outlive the request
EarthRequest request_for(const Config& job, const Settings& settings, const TensorMesh* instead,
                         bool& holds_all) {
  EarthRequest request;
  request.cuts_ground = true;
  request.along_axes_of_layers = true;
  request.plan = [&job, instead](const Description& described, const MeshWish& wish) {
    return instead ? MeshPlan{*instead, {}} : plan_mesh(described, wish, places_over(described, job));
  };
  request.warn = [&job, &holds_all](const Description& described, const TensorMesh& mesh,
                                    const auto& tables) {
    auto missed = what_mesh_misses(described, mesh, places_over(described, job), tables);
    holds_all = holds_all && missed.empty();
    return missed;
  };
  request.reads = properties_read();
  if (!(settings.frequency > 0))
    std::erase_if(request.reads, [](std::string_view name) { return name.starts_with("cole_cole"); });
  return request;
}

}  // namespace

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  auto made = from_job_on(job, runtime, nullptr);
  if (made->accuracy_.verify == Verify::refine && plans_mesh(job))
    made->on_cells_ = [job](const TensorMesh& mesh, const Runtime& where) {
      return from_job_on(job, where, &mesh);
    };
  return made;
}

std::unique_ptr<Simulation> Simulation::from_job_on(const Config& job, const Runtime& runtime,
                                                    const TensorMesh* instead) {
  refuse_checkpoint(job);
  const auto settings = Settings::read(job);
  const auto memory = memory_budget(runtime);
  bool holds_all = true;
  auto request = request_for(job, settings, instead, holds_all);
  request.ground = named_ground(job, memory);
  expect_above_zero(job,
                    {"conductivity", "conductivity_east", "conductivity_north", "conductivity_up",
                     "resistivity", "resistivity_east", "resistivity_north", "resistivity_up"},
                    "currents need");
  auto earth = build_earth(job, std::nullopt, memory, request);
  const auto mesh = mesh_of_cells(earth.model, job, "direct current needs");
  const auto& height = earth.ground;
  std::vector<double> ground;
  if (height) {
    ground = ground_below(mesh, height);
    if (std::all_of(ground.begin(), ground.end(), [](double share) { return share == 1; })) ground.clear();
  }
  auto survey = build_survey(job, height);
  expect_values(job, survey, earth.model.has("chargeability"));
  auto medium = medium_of(earth.model, mesh, job, settings, std::move(ground));
  for (auto& p : survey.electrodes.place)
    if (std::isnan(p.u))
      p.u = height                  ? std::min(height(p.e, p.n), mesh.up().back())
            : medium.ground.empty() ? mesh.up().back()
                                    : ground_level(mesh, medium.ground, p);
  if (height && !medium.ground.empty()) {
    auto& electrodes = survey.electrodes;
    if (auto text =
            lower_to_ground(mesh, medium.ground, height, height_of_feet(electrodes), electrodes.place);
        !text.empty())
      earth.notes.push_back(std::move(text));
    medium.slopes = slopes_at(mesh, electrodes.place, height);
  }
  std::unique_ptr<Simulation> made;
  try {
    made = std::make_unique<Simulation>(mesh, std::move(medium), std::move(survey.electrodes), settings);
  } catch (const InputError& error) {
    throw_at_survey(error, job.table("survey"));
  }
  made->measured_ = std::move(survey.columns);
  if (!holds_all)
    made->no_error_ =
        "the mesh does not hold all layers and bodies (see the warnings), which no wider cells show";
  if (height && made->medium_.ground.empty())
    made->warnings_.push_back("the topography lies above the whole mesh: its top is the ground");
  made->job_ = {job.source(), {}};
  made->take_notes(earth);
  if (!survey.note.empty()) made->notes_.push_back(survey.note);
  return made;
}

std::size_t Simulation::sources() const { return sources_; }

std::size_t Simulation::solves_of_source() const {
  return 1 + (medium_.ground.empty() ? 0 : 1) + (medium_.chargeability.empty() ? 0 : 1);
}

/// A corrected source needs one further solve below a flat surface, and two below uneven ground.
std::size_t Simulation::solves() const {
  return sources() * solves_of_source() + held_against_ * (medium_.ground.empty() ? 1 : 2);
}

/// Bytes of the fields in all cells: one copy while the solver exists; after the solver is freed 3.2 copies,
/// as a data set and its copies for a file format.
double Simulation::volume_bytes(double solver) const {
  constexpr double copies = 3.2;
  const double found = static_cast<double>(current_electrodes(electrodes_).size()) * volume_bytes_of_solve();
  return std::max(found, copies * found - solver);
}

double Simulation::volume_bytes_of_solve() const {
  return (medium_.quadrature.empty() ? 8.0 : 16.0) *
         static_cast<double>(settings_.parameters.volume.arrays() * mesh_.size());
}

/// Bytes of the medium; of its copy that includes air, if there is uneven ground; of the medium when currents
/// are switched on, if it is chargeable; and of homogeneous ground, if it corrects total potentials.
double Simulation::medium_bytes() const {
  std::size_t values = 0;
  for (const auto* of : {&medium_.conductivity, &medium_.conductivity_north, &medium_.conductivity_up,
                         &medium_.quadrature, &medium_.quadrature_north, &medium_.quadrature_up,
                         &medium_.chargeability, &medium_.ground, &medium_.slopes})
    values += of->size();
  const int copies = 1 + (medium_.ground.empty() ? 0 : 1) + (medium_.chargeability.empty() ? 0 : 1);
  const std::size_t even = held_against_ > 0 ? (medium_.differs_by_axis() ? 3 : 1) * mesh_.size() : 0;
  // The source of a potential below a slope needs six temporary fields (add_difference_of_slope() in
  // potentials.cpp: share, taken, currents, by_slope, free, alike).
  const std::size_t of_slope = medium_.ground.empty() ? 0 : 6 * mesh_.size();
  return 8.0 * (copies * static_cast<double>(values) + static_cast<double>(even + of_slope));
}

double Simulation::found_bytes() const {
  const auto solver = load();
  return 8 * static_cast<double>(sources() * electrodes_.place.size()) +
         volume_bytes(bytes_needed(solver.nodes, solver.complex, false, solver.coarser));
}

Load Simulation::load() const {
  const double nodes = static_cast<double>(mesh_.n_east() + 1) * static_cast<double>(mesh_.n_north() + 1) *
                       static_cast<double>(mesh_.n_up() + 1);
  return {.solves = sources(),
          .nodes = nodes,
          .complex = !medium_.quadrature.empty(),
          .bytes_of_rank = medium_bytes(),
          .ranks_per_field = settings_.parameters.ranks_per_field,
          .bytes_found = volume_bytes_of_solve(),
          .coarser = solve::points_of_coarser_levels({mesh_.up(), mesh_.northing(), mesh_.easting()})};
}

SolvesToShare Simulation::solves_to_share() const { return solves_of(load(), found_bytes()); }

MemoryBudget Simulation::choose(const Runtime& runtime) const { return memory_budget(runtime); }

void Simulation::describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const {
  const std::uint64_t nodes = (mesh_.n_east() + 1) * (mesh_.n_north() + 1) * (mesh_.n_up() + 1);
  facts.problem = fmt::format("{} arrays of {} electrodes on {} nodes", grouped(electrodes_.arrays.size()),
                              grouped(electrodes_.place.size()), grouped(nodes));
  facts.method = "multigrid";
  facts.reason = "conjugate gradients with one cycle per iteration, one solve per current electrode";
  facts.add("arrays", std::uint64_t{electrodes_.arrays.size()}, "", "arrays");
  facts.add("electrodes", std::uint64_t{electrodes_.place.size()}, "", "electrodes");
  facts.add("solves", std::uint64_t{solves()}, "", "solves");
  facts.add("nodes", nodes, "", "nodes");
  if (const int ranks = runtime.comm ? runtime.comm->size() : 1; ranks > 1) {
    const auto sharing = share_ranks(solves_to_share(), ranks_of(runtime));
    facts.add("fields_at_once", std::uint64_t(sharing.fields_at_once), "", "ranks",
              terrane::text_of(sharing, ranks));
  }
  facts.memory_bytes = static_cast<std::size_t>(memory_needed(solves_to_share(), ranks_of(runtime)));
  if (const auto* other = companion()) {
    const auto its_nodes = static_cast<std::uint64_t>(other->load().nodes);
    facts.add("companion_nodes", its_nodes, "", "companion",
              fmt::format("a second run on {} nodes states errors, with {} of memory", grouped(its_nodes),
                          bytes_text(memory_needed(other->solves_to_share(), ranks_of(runtime)))));
  }
  if (!medium_.ground.empty())
    facts.notes.push_back(
        "the ground is uneven: geometric factors are those of a homogeneous one with the same surface, on "
        "this mesh");
}

void Simulation::foresee(Plan& plan, const MemoryBudget&, const Runtime& runtime) const {
  require_memory(solves_to_share(), runtime, plan.problem);
  plan.device = text_of(resolve(runtime.device), runtime);
  plan.seconds = seconds_of_run(runtime);
  foresee_errors(plan);
  if (!companion()) return;
  require_memory(companion()->solves_to_share(), runtime, plan.problem);
  plan.seconds += companion()->seconds_of_run(runtime);
}

double Simulation::seconds_of_run(const Runtime& runtime) const {
  const auto at_once =
      static_cast<std::size_t>(share_ranks(solves_to_share(), ranks_of(runtime)).fields_at_once);
  const auto turns = [at_once](std::size_t solves) { return (solves + at_once - 1) / at_once; };
  return static_cast<double>(turns(sources()) * solves_of_source() + turns(held_against_)) *
         seconds_of_solve(resolve(runtime.device));
}

/// Estimated time: 12 iterations, each reading 22 fields in single and 19 in double precision from memory at
/// 8 GB/s, or 1 TB/s on a GPU.
double Simulation::seconds_of_solve(const Device& device) const {
  return 12 * load().nodes * (22 * 4 * 1.5 + 19 * 8) / (device.kind == Device::Kind::cuda ? 1e12 : 8e9);
}

Dataset Simulation::compute(Result& result, const MemoryBudget&, const Runtime& runtime) {
  if (runtime.checkpoint.resume)
    throw InputError("--resume", "runs of direct current keep no checkpoints to go on from",
                     "Run without --resume.");
  Rounds rounds(accuracy_);
  auto solved = solved_in_rounds(result, runtime, rounds);
  auto& [data, done, device] = solved.mine;
  auto& report = result.report;
  report.device = text_of(device, runtime);
  report.add("most_iterations", std::uint64_t(done.most_iterations()), "", "iterations",
             fmt::format("{} at most in one solve", done.most_iterations()));
  report.add("secondary", std::uint64_t{done.secondary}, "", "secondary",
             fmt::format("{} of {} solves for the secondary potential", done.secondary, done.solves.size()));
  report.add(
      "held_against", std::uint64_t{done.held_against}, "", done.held_against > 0 ? "held" : "",
      fmt::format("{} total potentials against homogeneous ground, a solve for each", done.held_against));
  report.add("null_arrays", std::uint64_t{done.null_arrays});
  for (auto& warning : warnings_of(done)) report.warnings.push_back(std::move(warning));
  auto stations = fields_of(data);
  if (states_errors()) {
    StatedErrors stated(accuracy_, solved.why);
    const auto columns = errors_of(solved, stated);
    stations.fields.insert(stations.fields.end(), columns.begin(), columns.end());
    tell(result, solved, stated, rounds);
  }
  compare_with_measured(stations, report);
  add_attributes(result);
  auto all = to_dataset(std::move(stations));
  add_cells(all, std::move(data.volume));
  return all;
}

Found Simulation::solved(const Runtime& runtime) const {
  Found found;
  found.data =
      direct_current_on_ranks(mesh_, medium_, electrodes_, settings_.parameters, runtime, found.report,
                              found.device, share_ranks(solves_to_share(), ranks_of(runtime)).fields_at_once);
  return found;
}

CompanionWish Simulation::wish_of_mesh() const {
  CompanionWish wish;
  for (const auto& p : electrodes_.place) {
    wish.places[0].push_back(p.e);
    wish.places[1].push_back(p.n);
    wish.places[2].push_back(p.u);
  }
  // The earth continues beyond mixed walls; other walls, and the top, are where the user placed them.
  const auto& boundary = settings_.parameters.boundary;
  for (std::size_t a = 0; a < 3; ++a)
    for (const bool high : {false, true})
      wish.goes_on[a][high ? 1 : 0] = boundary(2 - a, high) == Boundary::mixed;
  return wish;
}

std::vector<const std::vector<double>*> Simulation::values_of_medium() const {
  return {&medium_.conductivity, &medium_.conductivity_north, &medium_.conductivity_up,
          &medium_.quadrature,   &medium_.chargeability,      &medium_.ground};
}

bool Simulation::has_contacts_alone() const {
  std::array<bool, 3> changes{};
  for (const auto* values : values_of_medium()) {
    if (values->empty()) continue;
    const std::size_t east = mesh_.n_east(), north = mesh_.n_north(), up = mesh_.n_up();
    for (std::size_t k = 0; k < up; ++k)
      for (std::size_t j = 0; j < north; ++j)
        for (std::size_t i = 0; i < east; ++i) {
          const double here = (*values)[mesh_.index(i, j, k)];
          changes[0] = changes[0] || (i > 0 && here != (*values)[mesh_.index(i - 1, j, k)]);
          changes[1] = changes[1] || (j > 0 && here != (*values)[mesh_.index(i, j - 1, k)]);
          changes[2] = changes[2] || (k > 0 && here != (*values)[mesh_.index(i, j, k - 1)]);
        }
  }
  return !changes[2] && changes[0] != changes[1];
}

std::unique_ptr<Simulation> Simulation::on_companion(std::array<bool, 3> coarser, bool moves_walls) const {
  auto wish = moves_walls ? wish_of_mesh() : wish_of_mesh().with_its_walls();
  wish.coarser = coarser;
  return on_companion(wish, settings_.parameters.potential);
}

namespace {

/// The tolerance of a companion's solves below uneven ground, where errors of cells are a thousand times as
/// large.
constexpr double tolerance_below_hills = 1e-6;

}  // namespace

std::unique_ptr<Simulation> Simulation::on_companion(const CompanionWish& wish, Potential potential) const {
  const Companion companion(mesh_, values_of_medium(), wish);
  Medium medium;
  medium.ground = companion.mean(medium_.ground);
  for (auto [to, from] : {std::pair{&medium.conductivity, &medium_.conductivity},
                          {&medium.conductivity_north, &medium_.conductivity_north},
                          {&medium.conductivity_up, &medium_.conductivity_up}})
    *to = companion.geometric_mean(*from, medium_.ground);
  for (auto [to, from] : {std::pair{&medium.quadrature, &medium_.quadrature},
                          {&medium.quadrature_north, &medium_.quadrature_north},
                          {&medium.quadrature_up, &medium_.quadrature_up},
                          {&medium.chargeability, &medium_.chargeability}})
    *to = companion.mean(*from, medium_.ground);
  medium.slopes = medium_.slopes;
  auto settings = settings_;
  settings.accuracy.verify = Verify::off;
  settings.parameters.volume = {};
  settings.parameters.potential = potential;
  if (!medium_.ground.empty())
    settings.parameters.tolerance = std::max(settings.parameters.tolerance, tolerance_below_hills);
  if (potential == settings_.parameters.potential && medium_.chargeability.empty())
    settings.parameters.taken = taken_on(mesh_, medium_.view(), settings_.parameters, electrodes_);
  return std::make_unique<Simulation>(companion.mesh(), std::move(medium), electrodes_, settings);
}

/// The same job on other cells, each with the medium of the cell in which it lies.
std::unique_ptr<Simulation> Simulation::split_into(const TensorMesh& cells) const {
  if (!medium_.ground.empty())
    throw InputError("simulation.verify",
                     "the mesh is given and the ground cuts its cells, of which finer ones do not know where",
                     "Leave [mesh] out, so that it is planned.");
  auto medium = medium_;
  for (auto* values :
       {&medium.conductivity, &medium.conductivity_north, &medium.conductivity_up, &medium.quadrature,
        &medium.quadrature_north, &medium.quadrature_up, &medium.chargeability})
    *values = values_on(cells, mesh_, *values);
  auto made = std::make_unique<Simulation>(cells, std::move(medium), electrodes_, settings_);
  made->measured_ = measured_;
  return continued_by(std::move(made));
}

std::unique_ptr<Simulation> Simulation::finer(const FinerWish& wish, const Runtime& runtime) const {
  auto keeps = wish_of_mesh();
  if (!wish.walls) keeps = keeps.with_its_walls();
  const auto kept = on_cells_ ? KeptFaces::every_second : KeptFaces::all;
  const auto cells = finer_mesh(mesh_, values_of_medium(), keeps, wish.factor, kept);
  if (!on_cells_) return split_into(cells);
  auto next = on_cells_(cells, runtime);
  next->on_cells_ = on_cells_;
  return next;
}

namespace {

/// Σ 1/(2πr) over the four pairs of an array, 1/m.
double potentials_of_unit(const Electrodes& electrodes, const Array& array) {
  double sum = 0;
  for (const int source : {array.a, array.b})
    for (const int other : {array.m, array.n})
      if (source != Array::far_away && other != Array::far_away)
        sum += 1 / (2 * std::numbers::pi *
                    distance(electrodes.place[static_cast<std::size_t>(source)],
                             electrodes.place[static_cast<std::size_t>(other)]));
  return sum;
}

/// For each array the index of its shape: arrays that differ only in position, to a thousandth of their
/// length, have the same index.
std::vector<std::size_t> shapes_of(const Electrodes& electrodes) {
  std::map<std::vector<long>, std::size_t> known;
  std::vector<std::size_t> all;
  for (const auto& array : electrodes.arrays) {
    std::vector<Point> places;
    std::vector<long> shape;
    for (const int one : {array.a, array.b, array.m, array.n}) {
      shape.push_back(one == Array::far_away ? 1 : 0);
      if (one != Array::far_away) places.push_back(electrodes.place[static_cast<std::size_t>(one)]);
    }
    double length = 1e-300;
    for (const auto& p : places) length = std::max(length, distance(p, places.front()));
    shape.push_back(std::lround(std::log(length) * 1e3));
    for (const auto& p : places)
      for (const double along : {p.e - places.front().e, p.n - places.front().n})
        shape.push_back(std::lround(1e3 * along / length));
    all.push_back(known.try_emplace(std::move(shape), known.size()).first->second);
  }
  return all;
}

double median_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value) || value == 0; });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return std::abs(*middle);
}

double largest_of(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values)
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace

namespace {

/// A lower limit of the relative error of every datum over uneven ground: a fraction of the rms error of all
/// data. Errors are caused by cells that the surface cuts, which differ from electrode to electrode, so the
/// difference of two runs may be small by chance.
double mean_part(const JudgedData& judged) {
  constexpr double part = 0.5;
  double squares = 0, count = 0;
  for (std::size_t n = 0; n < judged.difference.size(); ++n) {
    const double relative = judged.difference[n] / judged.scale[n];
    if (!std::isfinite(relative)) continue;
    squares += std::pow(std::min(relative, StatedErrors::largest_told), 2);
    ++count;
  }
  return count > 0 ? part * std::sqrt(squares / count) : 0;
}

}  // namespace

/// The error of a datum, divided by the difference of the two runs. Below uneven ground the companion's cells
/// differ along two of three axes only (axis_of_line()). If errors are equal along each axis, the part is 3/2
/// for errors of first order, as of cells that the ground cuts, and 1/2 for errors of second order; 1.3 was
/// measured. Else it is 1/s of simulation/stated_errors.hpp, s from the sharpest edge of the earth
/// (edges.hpp). Total potentials err most beside electrodes, where edges do not matter.
double Simulation::part_of_difference() const {
  constexpr double below_hills = 1.3, least = 1, most = 1.7;
  if (!medium_.ground.empty()) return below_hills;
  if (settings_.parameters.potential == Potential::total) return 1 / least;
  const double exponent = smallest_exponent(mesh_, medium_.view());
  return 1 / std::clamp(std::exp2(2 * exponent) - 1, least, most);
}

/// Columns of estimated errors. Errors of resistances are relative to ΔV/I, or to a thousandth of the
/// potentials whose difference ΔV is, if that is larger; errors of phases are relative to 1 rad, those of
/// chargeabilities to the largest chargeability.
std::vector<Column> Simulation::errors_of(const Solved& solved, StatedErrors& stated) const {
  const auto &data = solved.mine.data, &other = solved.other.data;
  const auto shape = fields_of({});
  const std::size_t count = electrodes_.arrays.size();
  const double rho = median_of(data.apparent_resistivity);
  std::vector<double> impedances, resistivities;
  std::vector<std::size_t> sources;
  for (std::size_t n = 0; n < count; ++n) {
    const auto& array = electrodes_.arrays[n];
    const double z = data.reactance.empty() ? std::abs(data.resistance[n])
                                            : std::hypot(data.resistance[n], data.reactance[n]);
    impedances.push_back(std::max(z, 1e-3 * rho * potentials_of_unit(electrodes_, array)));
    resistivities.push_back(impedances.back() * std::abs(data.geometric_factor[n]));
    sources.push_back(static_cast<std::size_t>(array.a != Array::far_away ? array.a : array.b));
  }
  const auto shapes = shapes_of(electrodes_);
  std::vector<Column> columns;
  const bool of_contacts = settings_.parameters.potential != Potential::total && has_contacts_alone();
  const bool uneven = !medium_.ground.empty();
  const double of_difference = part_of_difference();
  const auto add = [&](const char* name, const std::vector<double>& mine, const std::vector<double>& its,
                       const std::vector<double>& scale, double factor) {
    const auto field = std::find_if(shape.fields.begin(), shape.fields.end(),
                                    [&](const Column& column) { return column.name == name; });
    if (field == shape.fields.end()) return;
    JudgedData judged{name,
                      {},
                      scale,
                      sources,
                      [&](std::size_t n) { return fmt::format("array {}", n + 1); },
                      true,
                      least_stated,
                      of_contacts ? std::vector<std::size_t>{} : shapes};
    for (std::size_t n = 0; n < count; ++n)
      judged.difference.push_back(solved.why.empty() ? of_difference * std::abs(mine[n] - its[n]) : NAN);
    if (uneven) judged.floor.assign(count, mean_part(judged));
    auto errors = stated.of(judged);
    for (double& error : errors) error *= factor;
    columns.push_back(error_column(*field, std::move(errors)));
  };
  add("resistance", data.resistance, other.resistance, impedances, 1);
  add("apparent_resistivity", data.apparent_resistivity, other.apparent_resistivity, resistivities, 1);
  add("reactance", data.reactance, other.reactance, impedances, 1);
  add("phase", data.phase, other.phase, std::vector<double>(count, 1.0), 1e3);
  add("chargeability", data.chargeability, other.chargeability,
      std::vector<double>(count, largest_of(data.chargeability)), 1e3);
  return columns;
}

Result Simulation::outline() const {
  Result result;
  auto stations = fields_of({});
  if (states_errors())
    for (const auto& field : std::vector<Column>(stations.fields))
      if (field.name != "geometric_factor") stations.fields.push_back(error_column(field, {}));
  add_attributes(result);
  auto data = to_dataset(std::move(stations));
  add_cells(data, {});
  conclude(result, physics_, job_, std::move(data));
  return result;
}

Survey Simulation::places() const {
  Survey survey;
  const double surface = mesh_.up().back();
  for (const auto& array : electrodes_.arrays) {
    const Point p = plotting_point(electrodes_, array, surface);
    survey.easting.push_back(p.e);
    survey.northing.push_back(p.n);
    survey.up.push_back(p.u);
  }
  static constexpr const char* letters[4] = {"a", "b", "m", "n"};
  for (std::size_t which = 0; which < 4; ++which) {
    std::array<std::vector<double>, 3> at;
    for (const auto& array : electrodes_.arrays) {
      const int n = std::array{array.a, array.b, array.m, array.n}[which];
      const Point p =
          n == Array::far_away ? Point{NAN, NAN, NAN} : electrodes_.place[static_cast<std::size_t>(n)];
      at[0].push_back(p.e);
      at[1].push_back(p.n);
      at[2].push_back(p.u);
    }
    static constexpr const char* axes[3] = {"easting", "northing", "up"};
    for (std::size_t x = 0; x < 3; ++x)
      survey.columns.push_back({fmt::format("{}_{}", letters[which], axes[x]), "m",
                                fmt::format("electrode {}, {}", letters[which], axes[x]), at[x]});
  }
  return survey;
}

StationFields Simulation::fields_of(const DirectCurrentData& data) const {
  StationFields stations;
  stations.survey = places();
  stations.fields.push_back({"resistance", "V/A", "voltage per current", data.resistance});
  stations.fields.push_back({"geometric_factor", "m", "geometric factor", data.geometric_factor});
  stations.fields.push_back(
      {"apparent_resistivity", "ohm m", "apparent resistivity", data.apparent_resistivity});
  if (!medium_.quadrature.empty()) {
    stations.fields.push_back({"reactance", "V/A", "imaginary part of voltage per current", data.reactance});
    stations.fields.push_back({"phase", "mrad", "lag of the voltage", data.phase});
    for (double& value : stations.fields.back().values) value *= 1e3;
  }
  if (!medium_.chargeability.empty())
    stations.fields.push_back({"chargeability", "mV/V", "apparent chargeability", data.chargeability});
  if (!medium_.chargeability.empty())
    for (double& value : stations.fields.back().values) value *= 1e3;
  return stations;
}

void Simulation::add_attributes(Result& result) const {
  result.attributes["boundary"] = text_of(settings_.parameters.boundary);
  result.attributes["tolerance"] = fmt::format("{}", settings_.parameters.tolerance);
  if (settings_.frequency > 0) result.attributes["frequency"] = fmt::format("{}", settings_.frequency);
}

/// Adds potentials and fields in cells as variables [electrode, cell_up, cell_northing, cell_easting].
/// volume: as in DirectCurrentData; empty: the variables get no values
void Simulation::add_cells(Dataset& data, std::vector<CellValues> volume) const {
  const auto& wanted = settings_.parameters.volume;
  if (wanted.arrays() == 0) return;
  const auto sources = current_electrodes(electrodes_);
  data.dimensions.push_back({"electrode", sources.size()});
  std::vector<std::int32_t> numbers;
  std::array<std::vector<double>, 3> at;
  for (const std::size_t n : sources) {
    const auto& p = electrodes_.place[n];
    numbers.push_back(static_cast<std::int32_t>(n + 1));
    at[0].push_back(p.e);
    at[1].push_back(p.n);
    at[2].push_back(p.u);
  }
  data.coordinates.push_back(
      {"electrode", "1", "number of the current electrode", {"electrode"}, std::move(numbers), {}});
  static constexpr const char* axes[3] = {"easting", "northing", "up"};
  for (std::size_t a = 0; a < 3; ++a)
    data.coordinates.push_back({fmt::format("electrode_{}", axes[a]),
                                "m",
                                fmt::format("{} of the current electrode", axes[a]),
                                {"electrode"},
                                std::move(at[a]),
                                {}});
  std::vector<std::string> on{"electrode"};
  for (auto& axis : add_cell_axes(data, mesh_)) on.push_back(std::move(axis));
  std::size_t part = 0;
  const auto add = [&](const std::string& name, const char* unit, const std::string& what) {
    Values values;
    if (part < volume.size() && !volume[part].imaginary.empty()) {
      std::vector<std::complex<double>> all;
      for (std::size_t n = 0; n < volume[part].real.size(); ++n)
        all.emplace_back(volume[part].real[n], volume[part].imaginary[n]);
      values = std::move(all);
    } else if (part < volume.size()) {
      values = std::move(volume[part].real);
    }
    ++part;
    data.variables.push_back({name, unit, what + " of 1 A", on, std::move(values), {}});
  };
  if (wanted.potential) add("potential_cells", "V", "potential");
  for (std::size_t a = 0; a < 3 && wanted.electric; ++a)
    add(fmt::format("e_{}_cells", axes[a][0]), "V/m", fmt::format("electric field, {},", axes[a]));
  for (std::size_t a = 0; a < 3 && wanted.current; ++a)
    add(fmt::format("j_{}_cells", axes[a][0]), "A/m2", fmt::format("current density, {},", axes[a]));
}

void Simulation::compare_with_measured(StationFields& stations, Report& report) const {
  ObservedColumns columns;
  columns.others = stations.survey.columns;
  for (const auto& measured : measured_) {
    if (measured.name == "geometric_factor") continue;  // files may contain factors for a different ground
    const auto same = [&](const auto& field) { return field.name == measured.name; };
    const auto field = std::find_if(stations.fields.begin(), stations.fields.end(), same);
    if (field == stations.fields.end()) {
      report.warnings.push_back(fmt::format(
          "the survey has {}, which this run does not compute: {}", measured.name,
          measured.name == "phase" ? "give simulation.frequency" : "give the model a chargeability"));
      continue;
    }
    ObservedColumn column{
        measured.name,
        {measured.name + "_observed", field->unit, "observed " + field->description, measured.values},
        std::nullopt};
    if (!measured.uncertainty.empty())
      column.uncertainty = Column{measured.name + "_uncertainty", field->unit,
                                  "uncertainty of " + field->description, measured.uncertainty};
    columns.observed.push_back(std::move(column));
  }
  if (columns.observed.empty()) return;
  const auto field_of = [&](const char* name) {
    return std::find_if(stations.fields.begin(), stations.fields.end(),
                        [&](const Column& field) { return field.name == name; });
  };
  const auto resistance = field_of("resistance"), reactance = field_of("reactance");
  if (reactance == stations.fields.end()) return compare(stations, report, columns);
  // At a frequency the measured value is the magnitude of ΔV/I; the computed resistance is its real part.
  auto magnitude = resistance->values;
  for (std::size_t n = 0; n < magnitude.size(); ++n)
    magnitude[n] = std::copysign(std::hypot(magnitude[n], reactance->values[n]), magnitude[n]);
  resistance->values.swap(magnitude);
  compare(stations, report, columns);
  resistance->values.swap(magnitude);
}

/// The properties of cells, as columns of a file.
std::vector<Column> Simulation::cells(bool with_values) const {
  auto all = conductivity_columns(medium_.view().along, with_values);
  for (auto& column : charge_columns(medium_.chargeability, {}, {}, with_values))
    all.push_back(std::move(column));
  return all;
}

io::Content Simulation::model(bool with_values) const {
  return io::MeshData{mesh_, cells(with_values), provenance(physics_, job_)};
}

}  // namespace terrane::electric
