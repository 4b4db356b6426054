#include "terrane/physics/electromagnetic/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <set>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/base/progress.hpp"
#include "terrane/io/emg3d.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/blame.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/model/conductivity.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electromagnetic/earth_widths.hpp"
#include "terrane/physics/electromagnetic/errors.hpp"
#include "terrane/physics/electromagnetic/mesh_plan.hpp"
#include "terrane/physics/electromagnetic/survey/gridding.hpp"
#include "terrane/simulation/checkpoint.hpp"
#include "terrane/simulation/describe.hpp"

namespace terrane::electromagnetic {

namespace {

constexpr Key source_keys[] = {
    {"kind", "text", "\"dipole\"",
     "dipole (electric), magnetic_dipole, wire (points, grounded at both ends), loop (a wire that is "
     "closed), file (the sources of a survey of emg3d), or plane_wave (magnetotellurics: both polarisations, "
     "and no other source).",
     "\"dipole\""},
};
constexpr Key dipole_keys[] = {
    {"at", "list of 3 lengths", "", "Easting, northing, up of the dipole.", "[0, 0, -10]"},
    {"azimuth", "number", "90", "Its direction, degrees east of north."},
    {"dip", "number", "0", "Degrees below the horizontal; 90 points down."},
    {"moment", "number", "1", "Dipole moment: A m of an electric, A m2 of a magnetic dipole."},
    {"length", "length", "none",
     "Of an electric dipole: a straight wire of this length around the place, with current moment/length."},
};
constexpr Key wire_keys[] = {
    {"points", "list of 3 lengths each", "", "Corners: easting, northing, up.",
     "[[0, 0, -10], [100, 0, -10]]"},
    {"current", "number", "1", "Current, A."},
};
constexpr Key source_file_keys[] = {
    {"file", "path", "",
     "A survey of emg3d (.npz, .h5, .json): its sources, and its frequencies where simulation.frequencies "
     "are left out.",
     "\"survey.npz\""},
};
std::span<const Key> simulation_keys() {
  return keys_of<Problem, Accuracy>(
      {{"physics", "text", "", "What is computed.", "\"electromagnetic\""}},
      {{"responses", "list of texts", "all",
        "For plane waves, in place of components: impedance, apparent_resistivity, phase, tipper, "
        "phase_tensor."},
       {"gridding", "text", "none",
        "Solves that share a mesh: same (all, on the job's own mesh), or, for planned meshes, single (all), "
        "frequency, source or both (each frequency, source, or pair has its own). none: same or single."},
       {"min_width_pps", "number", "4",
        "For planned meshes: cells per skin depth of the highest frequency near the sources. 4 for errors of "
        "1 to 2 % near the sources, 8 for 0.5 %; farther away stretching matters, too. For plane waves 1.6 "
        "times as many vertically, in the surrounding medium: 4 for 1 % over layers."},
       {"min_width_limits", "length or list of 2 lengths", "none",
        "For planned meshes: smallest and largest width of the smallest cells; or their width. Vertically "
        "half "
        "of it; cells are narrower only where contrasts are closer to each other."},
       {"stretching", "number or list of 2 numbers", "1.3",
        "For planned meshes: factor by which cells grow away from sources and receivers, up to 1.5; or [in "
        "the domain, beyond it]."},
       {"domain", "list of 3 pairs of lengths", "none",
        "For planned meshes: [[west, east], [south, north], [down, up]] of the domain of uniform cells. "
        "none: the box of sources and receivers, and three cells around them; cells are smaller where a "
        "source and a receiver are near each other, and at bodies."},
       {"distance", "list of 3 pairs of lengths", "none",
        "In place of domain: its extent from center on each side."},
       {"center", "list of 3 lengths", "none",
        "For planned meshes: easting, northing, up of a face, and with stretching in the domain of the "
        "smallest cells. none: the mean of the sources, without a face."},
       {"center_on_edge", "flag", "true", "Whether center is on a face, or in the middle of a cell."},
       {"vector_east", "list of lengths", "none",
        "For planned meshes: given faces along easting, which are continued over the domain and to the "
        "boundary."},
       {"vector_north", "list of lengths", "none", "Like vector_east, along northing."},
       {"vector_up", "list of lengths", "none",
        "Like vector_east, upwards; contrasts get no additional faces."},
       {"seasurface", "length", "none",
        "For planned meshes: height of a face up to which the domain extends. Contrasts of ground, sea and "
        "air always have faces."},
       {"properties", "number or list of numbers", "none",
        "For planned meshes, in place of the model's: p, of the medium at the sources; or [p, q], with q "
        "between sources and boundary; or [p, down, else]; [p, horizontal, down, up]; [p, west, east, south, "
        "north, down, "
        "up]."},
       {"mapping", "text", "\"Resistivity\"",
        "Meaning of properties: Resistivity (ohm m), Conductivity (S/m), or their logarithms: LgResistivity, "
        "LgConductivity (decimal), LnResistivity, LnConductivity (natural)."},
       {"lambda_factor", "number", "1",
        "For planned meshes: distance of the boundary in wavelengths (2 pi skin depths) of the lowest "
        "frequency. By default it is no nearer than 2.5 times the largest distance from a source to a "
        "receiver."},
       {"lambda_from_center", "flag", "false",
        "For planned meshes: whether the path from center to the boundary and back to the end of the domain "
        "has two such lengths, so that the boundary is nearer."},
       {"cell_numbers", "list of counts", "none",
        "For planned meshes: numbers of cells that an axis may have; by default any, since all are computed "
        "equally fast."},
       {"max_buffer", "length", "\"100 km\"", "For planned meshes: largest distance of the boundary."}});
}

Source read_source(const Config& outer) {
  const auto kind = outer.has("kind") ? outer.text("kind") : std::string("dipole");
  const bool of_points = kind == "wire" || kind == "loop";
  const auto table = outer.describe(
      {source_keys, of_points ? std::span<const Key>(wire_keys) : std::span<const Key>(dipole_keys)});
  table.choice("kind", {"dipole", "magnetic_dipole", "wire", "loop", "file", "plane_wave"});
  Source source;
  if (of_points) {
    source.kind = Source::Kind::wire;
    source.points = read_positions(table, "points");
    if (source.points.size() < (kind == "loop" ? 3U : 2U))
      throw table.wrong("points", fmt::format("{} of them are no {}", source.points.size(), kind));
    if (kind == "loop") source.points.push_back(source.points.front());
    source.current = table.number("current");
    if (source.current == 0) throw table.wrong("current", "it is zero: nothing is sent");
    return source;
  }
  const auto at = read_position(table, "at");
  const double azimuth = table.number("azimuth") * std::numbers::pi / 180,
               dip = table.number("dip") * std::numbers::pi / 180, moment = table.number("moment");
  if (moment == 0) throw table.wrong("moment", "it is zero: nothing is sent");
  const auto length = table.optional_number("length", Quantity::length);
  const Vector3 direction{std::sin(azimuth) * std::cos(dip), std::cos(azimuth) * std::cos(dip),
                          -std::sin(dip)};
  if (length && kind == "magnetic_dipole")
    throw table.wrong("length", "a magnetic dipole has none", "Take kind = \"loop\" for one of some size.");
  if (length && !(*length > 0)) throw table.wrong("length", "it is not above zero");
  if (length) {
    source.kind = Source::Kind::wire;
    source.current = moment / *length;
    for (const double side : {-0.5, 0.5})
      source.points.push_back({at[0] + side * *length * direction[0], at[1] + side * *length * direction[1],
                               at[2] + side * *length * direction[2]});
    return source;
  }
  source.kind = kind == "dipole" ? Source::Kind::electric_dipole : Source::Kind::magnetic_dipole;
  source.points = {at};
  for (std::size_t a = 0; a < 3; ++a) source.moment[a] = moment * direction[a];
  return source;
}

/// The sources of a survey file of emg3d. frequencies: receives the frequencies of the file, if it has any
std::vector<Source> read_source_file(const Config& outer, std::vector<double>* frequencies) {
  const auto table = outer.describe({source_keys, source_file_keys});
  const auto survey = io::read_emg3d_survey(table.input_file("file").string());
  if (frequencies != nullptr) {
    if (!frequencies->empty() && *frequencies != survey.frequencies)
      throw table.wrong("file", "its frequencies are not those of the files before",
                        "Give one survey, or simulation.frequencies.");
    *frequencies = survey.frequencies;
  }
  std::vector<Source> all;
  for (const auto& one : survey.sources)
    all.push_back(
        {one.wire ? Source::Kind::wire : Source::Kind::electric_dipole, one.points, one.moment, one.current});
  return all;
}

/// The sources of a job: any number of [[source]] tables, or plane waves. frequencies: receives the
/// frequencies of a source file; null: the job specifies them itself
std::vector<Source> read_sources(const Config& job, std::vector<double>* frequencies) {
  std::vector<Source> all;
  const auto tables = job.tables("source");
  for (const auto& table : tables) {
    if (table.has("kind") && table.text("kind") == "file") {
      for (auto& source : read_source_file(table, frequencies)) all.push_back(std::move(source));
      continue;
    }
    if (!table.has("kind") || table.text("kind") != "plane_wave") {
      all.push_back(read_source(table));
      continue;
    }
    if (tables.size() > 1)
      throw table.wrong("kind", "plane waves come with other sources",
                        "Give one [source] with kind = \"plane_wave\", which is both polarisations.");
    table.describe({source_keys});
    all = both_polarisations();
  }
  if (all.empty())
    throw InputError(job.where("source"), "nothing sends",
                     "Give [[source]] tables, such as kind = \"dipole\"; magnetotelluric sites have one "
                     "[source] with kind = \"plane_wave\".");
  return all;
}

/// The position of source n in the job file: "job.toml:12: source.at".
std::string place_of_source(const Config& job, std::size_t n) {
  std::size_t before = 0;
  for (const auto& table : job.tables("source")) {
    const auto kind = table.has("kind") ? table.text("kind") : "dipole";
    if (kind == "plane_wave") return table.where();
    const bool of_file = kind == "file";
    before += of_file ? io::read_emg3d_survey(table.input_file("file").string()).sources.size() : 1;
    if (n < before)
      return of_file ? table.where("file") : table.has("at") ? table.where("at") : table.where();
  }
  return job.where("source");
}

/// Rethrows an error of a problem, which names sources and receivers by number, with the position of their
/// table in the job file.
[[noreturn]] void throw_at_its_table(const InputError& error, const Config& job) {
  const std::string_view where = error.where();
  const auto number_after = [&](std::string_view what) -> std::size_t {
    std::size_t n = 0;
    if (where.starts_with(what)) std::from_chars(where.data() + what.size(), where.data() + where.size(), n);
    return n;
  };
  std::string place;
  if (const auto n = number_after("source "); n > 0) place = place_of_source(job, n - 1);
  else if (number_after("receiver ") > 0) place = place_of_stations(job, error.problem());
  else if (where == "mesh") throw InputError(job.where("mesh"), error.problem(), error.next());
  else throw_at_its_key<Problem>(error, "electromagnetic", job);
  throw InputError(place, fmt::format("{}: {}", where, error.problem()), error.next());
}

void refuse_twice(const Config& table, const char* key, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    throw table.wrong(key, fmt::format("\"{}\" stands there twice", *twice), "Name each once.");
}

std::vector<std::string> read_responses(const Config& table) {
  if (table.has("components"))
    throw table.wrong("components", "plane waves have responses",
                      "Write simulation.responses = [\"impedance\", \"tipper\"], or leave it out for all.");
  const auto allowed = names_of_responses();
  if (!table.has("responses")) return {allowed.begin(), allowed.end()};
  auto wanted = table.texts("responses");
  for (const auto& one : wanted)
    if (std::find(allowed.begin(), allowed.end(), one) == allowed.end())
      throw table.wrong("responses", fmt::format("\"{}\" is no response", one),
                        fmt::format("Allowed: {}.", fmt::join(allowed, ", ")));
  if (wanted.empty()) throw table.wrong("responses", "there are none");
  refuse_twice(table, "responses", wanted);
  return wanted;
}

/// Positions of stations; for plane waves each position once, even if it has several rows of data.
std::vector<Vector3> places_of(const Survey& survey, bool once) {
  std::vector<Vector3> all;
  std::set<Vector3> seen;
  for (std::size_t n = 0; n < survey.size(); ++n) {
    const Vector3 place{survey.easting[n], survey.northing[n], survey.up[n]};
    if (!once || seen.insert(place).second) all.push_back(place);
  }
  return all;
}

/// Names, longitudes and latitudes of sites, in the order of places_of().
std::vector<Variable> names_of_sites(const Stations& stations) {
  std::vector<std::string> names;
  std::vector<double> longitude, latitude;
  const auto *east = stations.survey.find("longitude"), *north = stations.survey.find("latitude");
  std::set<Vector3> seen;
  for (std::size_t n = 0; n < stations.survey.size(); ++n) {
    const auto& at = stations.survey;
    if (!seen.insert({at.easting[n], at.northing[n], at.up[n]}).second) continue;
    if (!stations.sites.empty()) names.push_back(stations.sites[n]);
    if (east != nullptr && north != nullptr) {
      longitude.push_back(east->values[n]);
      latitude.push_back(north->values[n]);
    }
  }
  std::vector<Variable> made;
  if (!names.empty()) made.push_back({"site", "", "name of the site", {"receiver"}, std::move(names), {}});
  if (!longitude.empty()) {
    made.push_back({"longitude", "degree", "longitude of the site", {"receiver"}, std::move(longitude), {}});
    made.push_back({"latitude", "degree", "latitude of the site", {"receiver"}, std::move(latitude), {}});
  }
  return made;
}

std::vector<Component> read_components(const Config& table) {
  std::vector<Component> all;
  refuse_twice(table, "components", table.texts("components"));
  for (const auto& text : table.texts("components")) {
    const auto letter = text.size() == 3 ? std::string_view("une").find(text[2]) : std::string_view::npos;
    if (letter == std::string_view::npos || text[1] != '_' || (text[0] != 'e' && text[0] != 'h'))
      throw table.wrong("components", fmt::format("\"{}\" is no component", text),
                        "Allowed: e_e, e_n, e_u, h_e, h_n, h_u.");
    all.push_back({text[0] == 'h', static_cast<int>(letter)});
  }
  if (all.empty())
    throw table.wrong("components", "nothing is recorded", "Allowed: e_e, e_n, e_u, h_e, h_n, h_u.");
  return all;
}

/// Conductivity of the model along up, north, east; the last two are empty if they equal the first.
std::array<std::vector<double>, 3> read_conductivity(const EarthModel& model, const Config& job) {
  mesh_of_cells(model, job, "fields need");
  const auto along = [&](std::string_view axis) {
    return conductivity_of_cells(model, job, axis,
                                 "Give [model.background] one, and air a small one, such as 1e-8 S/m.");
  };
  if (conducts_by_axis(model)) return {along("up"), along("north"), along("east")};
  return {along(""), {}, {}};
}

/// Reads sources and frequencies into p.
void read_sent(Problem& p, const Config& job, const Config& table) {
  std::vector<double> of_file;
  p.sources = read_sources(job, table.has("frequencies") ? nullptr : &of_file);
  if (table.has("frequencies")) p.frequencies = table.numbers("frequencies");
  else p.frequencies = of_file;
  if (p.frequencies.empty())
    throw table.wrong("frequencies", "there are none", "Write simulation.frequencies = [1, 10], in Hz.");
  for (const double hertz : p.frequencies)
    if (!(hertz > 0))
      throw table.wrong("frequencies", fmt::format("{} Hz is not above zero", hertz),
                        "physics = \"electric\" is direct current.");
  auto sorted = p.frequencies;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw table.wrong("frequencies", fmt::format("{} Hz stands there twice", *twice), "Name each once.");
}

/// Reads which fields of all cells are to be stored.
void read_volume(Problem& p, const Config& table) {
  for (const auto& field : table.texts("volume")) {
    if (field == "e") p.electric_volume = true;
    else if (field == "h") p.magnetic_volume = true;
    else if (field == "edges") p.edge_volume = true;
    else throw table.wrong("volume", fmt::format("\"{}\" is no field", field), "Allowed: e, h, edges.");
  }
}

/// Reads which solves share a mesh.
Gridding read_sharing(const Config& table, const Config& job, const Problem& p) {
  const bool plans = plans_mesh(job);
  if (!table.has("gridding")) return plans ? Gridding::single : Gridding::same;
  const auto gridding = chosen<Gridding>(table, "gridding", griddings);
  if (plans && gridding == Gridding::same)
    throw table.wrong("gridding", "the job has no mesh of its own to take",
                      "Allowed: single, frequency, source, both; or give [mesh].");
  if (!plans && gridding != Gridding::same)
    throw table.wrong(
        "gridding", "these are planned meshes, and the job has one of its own",
        "Leave [mesh] out, so that meshes are planned; model.file may bring a model on a mesh of "
        "its own, of which they take averages. Or take same.");
  const bool by_source = gridding == Gridding::source || gridding == Gridding::both;
  if (by_source && p.sources.front().kind == Source::Kind::plane_wave)
    throw table.wrong("gridding", "both polarisations of plane waves are needed on one mesh",
                      "Allowed: single, frequency.");
  if (shares_of(gridding, p.sources.size(), p.frequencies.size()).size() > 1 &&
      (p.electric_volume || p.magnetic_volume || p.edge_volume))
    throw table.wrong("volume",
                      "fields of all cells are of one mesh, and simulation.gridding asks for several",
                      "Take gridding = \"single\", or one job for each frequency.");
  return gridding;
}

constexpr int usual_iterations = 30;  // usual upper limit; the report says why a solve needs more

constexpr const char* gridding_keys[] = {
    "min_width_pps",  "min_width_limits", "stretching",   "domain",       "distance",          "center",
    "center_on_edge", "vector_east",      "vector_north", "vector_up",    "seasurface",        "properties",
    "mapping",        "lambda_factor",    "max_buffer",   "cell_numbers", "lambda_from_center"};

/// Conductivities of the listed properties, S/m.
std::vector<double> read_properties(const Config& table) {
  constexpr std::string_view maps[] = {"Resistivity",    "Conductivity",  "LgResistivity",
                                       "LgConductivity", "LnResistivity", "LnConductivity"};
  const auto map = table.choice("mapping", maps);
  auto values = table.is_list("properties") ? table.numbers("properties")
                                            : std::vector<double>{table.number("properties")};
  for (double& value : values) {
    if (map.starts_with("Lg")) value = std::pow(10, value);
    else if (map.starts_with("Ln")) value = std::exp(value);
    if (!(value > 0) || !std::isfinite(value))
      throw table.wrong("properties", "they are no resistivities or conductivities above zero",
                        "mapping says what they are.");
    if (map.ends_with("Resistivity")) value = 1 / value;
  }
  return values;
}

/// Expands the listed conductivities to the six that determine the distances of walls: west, east, south,
/// north, down, up.
std::array<double, 6> beyond_of(const Config& table, const std::vector<double>& p) {
  switch (p.size()) {
    case 1:
      return {p[0], p[0], p[0], p[0], p[0], p[0]};
    case 2:
      return {p[1], p[1], p[1], p[1], p[1], p[1]};
    case 3:
      return {p[2], p[2], p[2], p[2], p[1], p[2]};
    case 4:
      return {p[1], p[1], p[1], p[1], p[2], p[3]};
    case 7:
      return {p[1], p[2], p[3], p[4], p[5], p[6]};
    default:
      throw table.wrong("properties", fmt::format("there are {}", p.size()), "Allowed: 1, 2, 3, 4 or 7.");
  }
}

/// Reads the domain, or the given faces.
void read_domain(GridRequest& wanted, const Config& table) {
  if (table.has("center")) wanted.center = read_position(table, "center");
  for (const char* key : {"distance", "center_on_edge", "lambda_from_center"})
    if (table.has(key) && !wanted.center) throw table.wrong(key, "it is from center", "Give center.");
  wanted.center_on_face = table.flag("center_on_edge");
  wanted.wavelengths_of_way = table.flag("lambda_from_center");
  if (table.has("domain") && table.has("distance"))
    throw table.wrong("distance", "the domain is given already", "Leave one of them out.");
  for (const char* key : {"domain", "distance"}) {
    if (!table.has(key)) continue;
    const auto rows = table.rows(key, Quantity::length, 2);
    if (rows.size() != 3)
      throw table.wrong(key, fmt::format("it has {} pairs", rows.size()),
                        "Give three: along east, north, up.");
    for (std::size_t a = 0; a < 3; ++a) {
      auto& [low, high] = wanted.domain[a].emplace(std::array{rows[a][0], rows[a][1]});
      if (std::string_view(key) == "distance") {
        low = (*wanted.center)[a] - std::abs(low);
        high = (*wanted.center)[a] + std::abs(high);
      }
      if (!(low < high)) throw table.wrong(key, "a pair is not from a lower to a higher place");
    }
  }
  constexpr const char* vectors[] = {"vector_east", "vector_north", "vector_up"};
  for (std::size_t a = 0; a < 3; ++a)
    if (table.has(vectors[a])) wanted.faces[a] = table.numbers(vectors[a], Quantity::length);
  wanted.sea_surface = table.optional_number("seasurface", Quantity::length);
}

/// Reads emg3d's settings of a planned mesh.
GridRequest read_gridding(const Config& table) {
  GridRequest wanted;
  wanted.cells_per_skin_depth = table.positive("min_width_pps");
  if (table.has("min_width_limits")) {
    const auto limits = table.is_list("min_width_limits")
                            ? table.numbers("min_width_limits", Quantity::length)
                            : std::vector<double>(2, table.number("min_width_limits", Quantity::length));
    if (limits.size() != 2 || !(limits[0] > 0) || !(limits[1] >= limits[0]))
      throw table.wrong("min_width_limits",
                        "they are not two lengths, the first above zero, the second no less");
    wanted.limits = {limits[0], limits[1]};
  }
  if (table.is_list("stretching")) {
    const auto both = table.numbers("stretching", Quantity::dimensionless, 2);
    wanted.growth_in_domain = both[0];
    wanted.growth = both[1];
  } else {
    wanted.growth = table.number("stretching");
  }
  if (!(wanted.growth > 1 && wanted.growth <= 1.5))
    throw table.wrong("stretching", fmt::format("cells do not grow by {}", wanted.growth),
                      "Allowed: above 1, up to 1.5; more makes fields wrong.");
  if (const double inside = wanted.growth_in_domain.value_or(1); !(inside >= 1 && inside <= wanted.growth))
    throw table.wrong("stretching", fmt::format("cells do not grow by {} in the domain", inside),
                      "Allowed: 1 to what they grow by beyond it.");
  if (table.has("cell_numbers"))
    for (const double number : table.numbers("cell_numbers")) {
      if (!(number >= 1 && number <= 1e6 && number == std::floor(number)))
        throw table.wrong("cell_numbers", fmt::format("{:g} is no number of cells", number),
                          "Allowed: whole numbers from 1, as [32, 40, 48, 64].");
      wanted.cell_numbers.push_back(static_cast<std::size_t>(number));
    }
  wanted.wavelengths = table.positive("lambda_factor");
  wanted.by_offset = !table.has("lambda_factor");
  if (table.has("max_buffer")) wanted.farthest = table.positive("max_buffer", Quantity::length);
  read_domain(wanted, table);
  wanted.at_sources = 0;
  if (table.has("properties")) {
    const auto properties = read_properties(table);
    wanted.at_sources = properties.front();
    wanted.beyond = beyond_of(table, properties);
  } else if (table.has("mapping")) {
    throw table.wrong("mapping", "there are no properties", "Leave the key out, or give properties.");
  }
  return wanted;
}

/// Completes a mesh request by the sources, frequencies and receivers of a problem.
GridRequest request_of(const Problem& problem, GridRequest wanted) {
  wanted.frequencies = problem.frequencies;
  wanted.receivers = problem.receivers;
  for (const auto& source : problem.sources) {
    wanted.sources.insert(wanted.sources.end(), source.points.begin(), source.points.end());
    wanted.upright.insert(wanted.upright.end(), source.points.size(), flows_upright(source));
    for (std::size_t n = 0; n + 1 < source.points.size(); ++n)
      wanted.parts.push_back({source.points[n], source.points[n + 1]});
  }
  return wanted;
}

/// Reads the Cole-Cole parameters of a medium that stores charge, if the model has them.
void read_charges(Problem& p, const EarthModel& model, std::vector<std::string>& notes) {
  if (!model.has("chargeability")) return;
  auto charge = model.dense("chargeability");
  for (double& m : charge)
    if (std::isnan(m)) m = 0;
  if (std::all_of(charge.begin(), charge.end(), [](double m) { return m == 0; })) return;
  if (!model.has("cole_cole_time") && !model.has("cole_cole_exponent")) {
    notes.push_back(
        "the model's chargeability has no effect: it acts at a frequency where the medium also has "
        "cole_cole_time and cole_cole_exponent");
    return;
  }
  const auto values = [&](const char* name) {
    return model.has(name) ? model.dense(name) : std::vector<double>(charge.size(), 0.0);
  };
  p.charge_time = values("cole_cole_time");
  p.charge_exponent = values("cole_cole_exponent");
  p.chargeability = std::move(charge);
}

/// Adds air above sites of one height if the model, as those of ModEM, is ground up to its top.
void put_air(Problem& p, std::vector<std::string>& notes) {
  const double height = p.receivers.front()[2];
  const auto& up = p.mesh.up();
  const auto ground =
      std::find_if(up.begin(), up.end(), [&](double f) { return std::abs(f - height) < 1e-6; });
  const auto first = static_cast<std::size_t>(ground - up.begin()) * p.mesh.n_east() * p.mesh.n_north();
  const auto conducts = [](double sigma) { return sigma > conductivity_of_air; };
  if (first >= p.mesh.size() ||
      std::any_of(p.receivers.begin(), p.receivers.end(), [&](const Vector3& q) { return q[2] != height; }) ||
      !std::all_of(p.conductivity[0].begin() + static_cast<std::ptrdiff_t>(first), p.conductivity[0].end(),
                   conducts))
    return;
  for (auto& along : p.conductivity)
    if (!along.empty()) std::fill(along.begin() + static_cast<std::ptrdiff_t>(first), along.end(), 1e-8);
  if (!p.chargeability.empty())
    std::fill(p.chargeability.begin() + static_cast<std::ptrdiff_t>(first), p.chargeability.end(), 0.0);
  notes.push_back(
      fmt::format("the model has no air: what lies above the receivers, at {:.6g} m, is taken for air "
                  "of 1e-8 S/m",
                  height));
}

std::string device_text(Device device, const Runtime& runtime) {
  const auto each = device.kind == Device::Kind::cuda
                        ? device_name(device)
                        : fmt::format("{} ({} threads)", device_name(device), thread_count(runtime.threads));
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  return ranks == 1 ? each : fmt::format("{} ranks, each {}", ranks, each);
}

/// For a mesh that causes warnings: a suitable mesh, as lines of a job file.
std::vector<std::string> advice(const Problem& problem) {
  auto request = request_of(problem, {});
  double mean = 0, count = 0;
  request.at_sources = 0;
  const auto& mesh = problem.mesh;
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const double sigma = problem.conductivity[0][n];
    if (sigma <= 1e-6) continue;  // air is left out of the mean
    mean += std::log(sigma);
    count += 1;
  }
  request.mean = count > 0 ? std::exp(mean / count) : 1;
  request.plane_waves = request.sources.empty();
  if (request.plane_waves) request.sources = problem.receivers;
  for (const auto& p : request.sources)
    request.at_sources = std::max(request.at_sources, problem.conductivity_at(p));
  if (request.at_sources <= 1e-6) request.at_sources = request.mean;
  // Heights of contrasts in the middle column of the mesh.
  const std::size_t i = mesh.n_east() / 2, j = mesh.n_north() / 2;
  for (std::size_t k = 1; k < mesh.n_up(); ++k)
    if (problem.conductivity[0][mesh.index(i, j, k)] != problem.conductivity[0][mesh.index(i, j, k - 1)])
      request.heights.push_back(mesh.up()[k]);
  const auto plan = plan_mesh(request);
  auto lines = plan.reasons;
  for (auto& line : lines) line = "a mesh that suits: " + line;
  const std::pair<const char*, const std::vector<double>*> axes[3] = {
      {"easting", &plan.mesh.easting()}, {"northing", &plan.mesh.northing()}, {"up", &plan.mesh.up()}};
  for (const auto& [name, faces] : axes) {
    std::vector<double> rounded;
    for (const double face : *faces) rounded.push_back(std::round(10 * face) / 10);
    lines.push_back(fmt::format("mesh.{} = [{}]", name, fmt::join(rounded, ", ")));
  }
  return lines;
}

/// Fields at the receivers, [source, frequency, receiver]; without values if `outcome` has none.
std::vector<Variable> field_variables(const Problem& problem, const Outcome& outcome) {
  static constexpr const char* directions[3] = {"up", "northing", "easting"};
  const std::size_t receivers = problem.receivers.size(), components = problem.components.size();
  std::vector<Variable> all;
  for (std::size_t c = 0; c < components; ++c) {
    const auto& component = problem.components[c];
    std::vector<std::complex<double>> values;
    if (!outcome.data.empty())
      for (std::size_t n = 0; n < problem.solves(); ++n) {
        const auto first =
            outcome.data.begin() + static_cast<std::ptrdiff_t>((n * components + c) * receivers);
        values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(receivers));
      }
    all.push_back({name(component),
                   component.magnetic ? "A/m" : "V/m",
                   fmt::format("{} field, {}", component.magnetic ? "magnetic" : "electric",
                               directions[component.axis]),
                   {"source", "frequency", "receiver"},
                   std::move(values),
                   {}});
  }
  return all;
}

/// `count` values of each solve's volume, from `offset` on; empty if `outcome` has no volume.
std::vector<std::complex<double>> part_of_volume(const Problem& problem, const Outcome& outcome,
                                                 std::size_t offset, std::size_t count) {
  std::vector<std::complex<double>> values;
  for (std::size_t n = 0; n < problem.solves() && !outcome.volume.empty(); ++n) {
    const auto first =
        outcome.volume.begin() + static_cast<std::ptrdiff_t>(n * problem.volume_of_a_solve() + offset);
    values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(count));
  }
  return values;
}

/// Adds fields at the centres of cells, [source, frequency, cell_up, cell_northing, cell_easting], and on
/// edges, which have the dimensions of faces across their axis.
void add_volume(const Problem& problem, const Outcome& outcome, Dataset& data) {
  if (problem.volume_of_a_solve() == 0) return;
  const auto cells = add_cell_axes(data, problem.mesh);
  std::size_t offset = 0;
  const auto add = [&](const std::string& name, const char* unit, const std::string& what,
                       const std::vector<std::string>& axes, std::size_t count) {
    std::vector<std::string> on{"source", "frequency"};
    on.insert(on.end(), axes.begin(), axes.end());
    data.variables.push_back({name, unit, what, on, part_of_volume(problem, outcome, offset, count), {}});
    offset += count;
  };
  for (const bool magnetic : {false, true}) {
    if (!(magnetic ? problem.magnetic_volume : problem.electric_volume)) continue;
    for (const char axis : {'e', 'n', 'u'})
      add(fmt::format("{}_{}_cells", magnetic ? 'h' : 'e', axis), magnetic ? "A/m" : "V/m",
          fmt::format("{} field of the cells, {}", magnetic ? "magnetic" : "electric", axis), cells,
          problem.mesh.size());
  }
  for (const std::size_t axis : {2U, 1U, 0U}) {
    if (!problem.edge_volume) continue;
    auto axes = cells;
    for (std::size_t a = 0; a < 3; ++a)
      if (a != axis) axes[a].replace(0, 4, "face");
    add(fmt::format("e_{}_edges", "une"[axis]), "V/m",
        fmt::format("electric field of the edges, {}", "une"[axis]), axes, problem.edges_along(axis));
  }
}

std::vector<std::int32_t> whole_numbers(std::size_t count) {
  std::vector<std::int32_t> all;
  for (std::size_t n = 1; n <= count; ++n) all.push_back(static_cast<std::int32_t>(n));
  return all;
}

}  // namespace

std::span<const Section> sections() {
  static const std::array all{
      Section{"source", "", "The source; [[source]] once for each of several.", source_keys},
      Section{"source", "dipole", "A dipole at any place and angle.", dipole_keys},
      Section{"source", "wire", "A wire through points; a loop returns to its first point.", wire_keys},
      Section{"source", "file", "Sources of a survey that another program wrote.", source_file_keys},
      Section{"simulation", "", "What is computed, and how.", simulation_keys()},
  };
  return all;
}

Simulation::Simulation(Problem problem, JobOrigin job)
    : RefinedSimulation("electromagnetic", std::move(job)), problem_(std::move(problem)) {
  problem_.check();
  if (is_magnetotelluric(problem_))
    responses_.assign(names_of_responses().begin(), names_of_responses().end());
  warnings_ = problem_.warnings();
  if (!warnings_.empty()) notes_ = advice(problem_);
}

Simulation::Simulation(std::vector<OnMesh> meshes, Gridding gridding, JobOrigin job)
    : RefinedSimulation("electromagnetic", std::move(job)), meshes_(std::move(meshes)), gridding_(gridding) {
  std::vector<std::vector<std::string>> warnings;
  for (const auto& mesh : meshes_) {
    mesh.problem.check();
    warnings.push_back(mesh.problem.warnings());
  }
  warnings_ = told_of(meshes_, gridding_, warnings);
  problem_ = whole_of(meshes_);
  if (is_magnetotelluric(problem_))
    responses_.assign(names_of_responses().begin(), names_of_responses().end());
}

namespace {

/// Adds to a MemoryError which keys make a planned mesh smaller.
template <class Work>
void with_way_out(const Work& work, bool planned) {
  try {
    work();
  } catch (const MemoryError& error) {
    if (!planned) throw;
    throw MemoryError(error.where(), error.problem(),
                      "Let cells grow faster, as by simulation.stretching = 1.5; take fewer or wider ones "
                      "(min_width_pps, min_width_limits, cell_numbers), a mesh for each frequency "
                      "(gridding), or a machine with more memory.");
  }
}

}  // namespace

namespace {

/// The properties of the medium that a job of this physics reads.
std::vector<std::string_view> properties_read() {
  return {"conductivity",  "conductivity_east", "conductivity_north", "conductivity_up",
          "resistivity",   "resistivity_east",  "resistivity_north",  "resistivity_up",
          "chargeability", "cole_cole_time",    "cole_cole_exponent"};
}

/// What a job asks for, independent of its medium and its meshes.
struct Asked {
  Problem problem;                     ///< the problem, still without a medium and a mesh
  bool plane = false;                  ///< whether the sources are plane waves
  std::vector<std::string> responses;  ///< responses of plane waves that the job asks for
  Accuracy accuracy;
  Stations stations;
  Gridding gridding = Gridding::same;
};

Asked read_asked(const Config& job, const Config& table, const MemoryBudget& memory) {
  Asked asked;
  auto& p = asked.problem;
  table.text("physics");
  read_sent(p, job, table);
  asked.plane = p.sources.front().kind == Source::Kind::plane_wave;
  if (asked.plane) asked.responses = read_responses(table);
  else if (table.has("responses"))
    throw table.wrong("responses", "these are of plane waves", "Take simulation.components.");
  p.components = asked.plane ? recorded_of_plane_waves() : read_components(table);
  read_volume(p, table);
  read_fields(table, p);
  read_fields(table, asked.accuracy);
  if (p.parameters.strike != Strike::none && !asked.plane)
    throw table.wrong("strike", "these sources are no plane waves", "Leave the key out.");
  asked.stations = build_survey(job, memory);
  p.receivers = places_of(asked.stations.survey, asked.plane);
  asked.gridding = read_sharing(table, job, p);
  for (const char* key : gridding_keys)
    if (asked.gridding == Gridding::same && table.has(key))
      throw table.wrong(key, "the job has a mesh of its own",
                        "Leave the key out, or [mesh], so that the mesh is planned.");
  for (const char* key : {"min_width_pps", "min_width_limits"})
    if (table.has(key) && job.table("mesh").has("cell"))
      throw table.wrong(key,
                        fmt::format("{} says how wide cells are already", job.table("mesh").where("cell")),
                        "Keep one of the two.");
  return asked;
}

/// The requests to the earth for the medium on each mesh: a planned one, or one of `instead`.  holds_all: is
/// set to false if a mesh does not contain all layers and bodies; it must outlive the requests
std::vector<EarthRequest> requests_for(const std::vector<OnMesh>& meshes, const Config& table, bool isotropic,
                                       const std::vector<TensorMesh>& instead, bool& holds_all) {
  std::vector<EarthRequest> requests(meshes.size());
  for (std::size_t n = 0; n < meshes.size(); ++n) {
    requests[n].along_axes = !isotropic;
    requests[n].cells_go_on = true;
    requests[n].reads = properties_read();
    requests[n].reads_beside = {{"cole_cole_time", "chargeability"}, {"cole_cole_exponent", "chargeability"}};
    requests[n].plan = [&meshes, &table, &instead, n](const Description& described, const MeshWish& wish) {
      if (!instead.empty()) return MeshPlan{instead.at(n), {}};
      return plan_mesh(described, wish, request_of(meshes[n].problem, read_gridding(table)));
    };
    requests[n].look = [&meshes, &holds_all, n](const Description& described, const TensorMesh& mesh) {
      auto places = meshes[n].problem.receivers;
      for (const auto& source : meshes[n].problem.sources)
        places.insert(places.end(), source.points.begin(), source.points.end());
      auto lines = not_resolved(described, mesh, places);
      holds_all = holds_all && lines.empty();
      return lines;
    };
  }
  return requests;
}

/// Copies mesh and medium from an earth.  with_air: air for plane waves is added at the top
void take_medium(Problem& part, Earth& earth, const Config& job, bool with_air) {
  part.conductivity = read_conductivity(earth.model, job);
  part.mesh = std::get<MeshCells>(earth.model.geometry).mesh;
  read_charges(part, earth.model, earth.warnings);
  if (with_air) put_air(part, earth.notes);
}

}  // namespace

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime,
                                                          bool isotropic) {
  auto made = from_job_on(job, runtime, isotropic, {});
  if (made->accuracy_.verify == Verify::refine && plans_mesh(job))
    made->on_cells_ = [job, isotropic](const std::vector<TensorMesh>& meshes, const Runtime& where) {
      return from_job_on(job, where, isotropic, meshes);
    };
  return made;
}

std::unique_ptr<Simulation> Simulation::from_job_on(const Config& job, const Runtime& runtime, bool isotropic,
                                                    const std::vector<TensorMesh>& instead) {
  const auto memory = memory_budget(runtime);
  const auto table = job.table("simulation").describe({simulation_keys(), Runtime::section().keys});
  auto asked = read_asked(job, table, memory);
  const auto gridding = asked.gridding;
  std::vector<OnMesh> meshes;
  for (auto& share : shares_of(gridding, asked.problem.sources.size(), asked.problem.frequencies.size())) {
    auto part = part_of(asked.problem, share);
    meshes.push_back({std::move(share), std::move(part)});
  }
  bool holds_all = true;
  const auto requests = requests_for(meshes, table, isotropic, instead, holds_all);
  expect_above_zero(job,
                    {"conductivity", "conductivity_east", "conductivity_north", "conductivity_up",
                     "resistivity", "resistivity_east", "resistivity_north", "resistivity_up"},
                    "currents need");
  std::vector<std::vector<std::string>> notes, warnings;
  double held = 0;
  const auto take = [&](std::size_t n, Earth earth) {
    auto& part = meshes[n].problem;
    part.planned = gridding != Gridding::same;
    take_medium(part, earth, job, part.planned && asked.plane);
    held += part.model_memory();
    memory.require("simulation.gridding", fmt::format("models on {} meshes", n + 1), held);
    notes.push_back(std::move(earth.notes));
    warnings.push_back(std::move(earth.warnings));
  };
  with_way_out([&] { build_earths(job, asked.stations.projection, memory, requests, take); },
               gridding != Gridding::same);
  const bool several = meshes.size() > 1;
  const auto of_earth = several ? told_of(meshes, gridding, notes) : notes.front(),
             warned = several ? told_of(meshes, gridding, warnings) : warnings.front();
  JobOrigin origin{job.source(), asked.stations.survey.projection};
  std::unique_ptr<Simulation> made;
  try {
    made = several ? std::make_unique<Simulation>(std::move(meshes), gridding, std::move(origin))
                   : std::make_unique<Simulation>(std::move(meshes.front().problem), std::move(origin));
  } catch (const InputError& error) {
    throw_at_its_table(error, job);
  }
  made->gridding_ = gridding;
  made->accuracy_ = asked.accuracy;
  if (asked.accuracy.states_errors()) made->make_companion();
  if (!holds_all)
    made->no_error_ =
        "the mesh does not hold all layers and bodies (see the warnings), which no wider cells show";
  if (asked.plane) made->responses_ = std::move(asked.responses);
  if (asked.plane) made->of_sites_ = names_of_sites(asked.stations);
  made->notes_.insert(made->notes_.begin(), of_earth.begin(), of_earth.end());
  made->warnings_.insert(made->warnings_.end(), warned.begin(), warned.end());
  made->take_notes(asked.stations);
  return made;
}

std::vector<const Problem*> Simulation::on_meshes() const {
  if (meshes_.empty()) return {&problem_};
  std::vector<const Problem*> all;
  for (const auto& mesh : meshes_) all.push_back(&mesh.problem);
  return all;
}

/// Bytes of a run on several meshes: solves are computed mesh by mesh, but the models of all meshes are
/// stored.
double Simulation::memory_on_meshes(const Runtime& runtime) const {
  double held = 0, most = 0;
  for (const auto* problem : on_meshes()) {
    if (!meshes_.empty()) held += problem->model_memory();
    most = std::max(most, memory_needed(solves_of(*problem), ranks_of(runtime)));
  }
  return held + most;
}

Found Simulation::solved(const Runtime& runtime) const {
  Found found;
  auto& [all, device] = found;
  if (meshes_.empty()) {
    all = forward_on_ranks(problem_, runtime, device);
    return found;
  }
  Progress silent;
  Progress& whole = runtime.progress ? *runtime.progress : silent;
  whole.start("solving for fields", problem_.solves());
  if (const auto& file = runtime.checkpoint.file;
      runtime.checkpoint.resume && !file.empty() && !is_left(file))
    all.warnings.push_back(no_checkpoint(file));
  for (std::size_t n = 0; n < meshes_.size(); ++n) {
    const auto& mesh = meshes_[n];
    ShareOfProgress mine(whole, static_cast<double>(mesh.problem.solves()));
    Runtime with_mine = runtime;
    with_mine.progress = &mine;
    with_mine.checkpoint = checkpoint_of_one(runtime.checkpoint, n, meshes_.size());
    put(problem_, mesh, forward_on_ranks(mesh.problem, with_mine, device), all);
  }
  whole.finish();
  return found;
}

MemoryBudget Simulation::choose(const Runtime& runtime) const { return memory_budget(runtime); }

void Simulation::describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const {
  std::size_t cells = 0, least = problem_.mesh.size(), most = least;
  for (const auto* problem : on_meshes()) {
    const auto own = problem->mesh.size();
    least = cells == 0 ? own : std::min(least, own);
    most = std::max(most, own);
    cells += own;
  }
  facts.problem =
      fmt::format("{} solves on {}{} cells", grouped(problem_.solves()),
                  meshes_.empty() ? "" : fmt::format("{} meshes of {} to ", meshes_.size(), grouped(least)),
                  grouped(most));
  facts.method = "multigrid";
  facts.reason = "COCG with cycles for potentials and components, one solve per source and frequency";
  facts.device = device_text(resolve(runtime.device), runtime);
  facts.add("sources", std::uint64_t{problem_.sources.size()}, "", "sources");
  facts.add("frequencies", std::uint64_t{problem_.frequencies.size()}, "", "frequencies");
  facts.add("receivers", std::uint64_t{problem_.receivers.size()}, "", "receivers");
  facts.add("cells", std::uint64_t{cells}, "", "cells");
  if (!meshes_.empty()) facts.add("meshes", std::uint64_t{meshes_.size()}, "", "meshes");
  if (const int ranks = runtime.comm ? runtime.comm->size() : 1; ranks > 1) {
    const auto all = on_meshes();
    const auto* largest = *std::max_element(all.begin(), all.end(), [](const auto* one, const auto* other) {
      return one->mesh.size() < other->mesh.size();
    });
    const auto sharing = share_ranks(solves_of(*largest), ranks_of(runtime));
    facts.add("fields_at_once", std::uint64_t(sharing.fields_at_once), "", "ranks",
              text_of(sharing, ranks, meshes_.empty() ? "" : " on the largest mesh"));
  }
  if (const auto* other = companion())
    facts.add("companion_cells", other->cells_of_run(), "", "companion",
              fmt::format("a second run on {} cells states errors, with {} of memory",
                          grouped(other->cells_of_run()), bytes_text(other->memory_on_meshes(runtime))));
  facts.memory_bytes = static_cast<std::size_t>(memory_on_meshes(runtime));
}

void Simulation::foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const {
  with_way_out(
      [&] {
        for (const auto* problem : on_meshes()) require_memory(solves_of(*problem), runtime, plan.problem);
        memory.require("run", plan.problem, memory_on_meshes(runtime));
      },
      on_meshes().front()->planned);
  plan.seconds = seconds_of_run(runtime);
  if (companion()) plan.seconds += companion()->seconds_of_run(runtime);
  foresee_errors(plan);
}

/// Estimated time: 15 iterations, each of which reads about 1000 bytes per unknown from memory, at 8 GB/s; a
/// GPU is a hundred times as fast.
double Simulation::seconds_of_run(const Runtime& runtime) const {
  const bool gpu = resolve(runtime.device).kind == Device::Kind::cuda;
  double seconds = 0;
  for (const auto* problem : on_meshes())
    seconds += (problem->parameters.field == Field::corrected ? 2 : 1) *
               static_cast<double>(problem->solves()) * 15 * 3 * static_cast<double>(problem->mesh.size()) *
               1000 / (gpu ? 1e12 : 8e9);
  return seconds;
}

std::unique_ptr<Simulation> Simulation::on_companion(std::array<bool, 3> coarser, bool moves_walls) const {
  const auto other = [&](const Problem& problem) {
    auto wish = wish_of(problem);
    if (!moves_walls) wish = wish.with_its_walls();
    wish.coarser = coarser;
    return companion_of(problem, wish);
  };
  if (meshes_.empty()) return std::make_unique<Simulation>(other(problem_));
  std::vector<OnMesh> others;
  for (const auto& mesh : meshes_) others.push_back({mesh.share, other(mesh.problem)});
  return std::make_unique<Simulation>(std::move(others), gridding_);
}

bool Simulation::converged(const Found& found) {
  const auto& solves = found.outcome.solves;
  return std::all_of(solves.begin(), solves.end(), [](const auto& solve) { return solve.converged(); });
}

std::uint64_t Simulation::cells_of_run() const {
  std::uint64_t cells = 0;
  for (const auto* problem : on_meshes()) cells += problem->mesh.size();
  return cells;
}

/// The same job on other cells, each with the medium of the cell in which it lies; a mesh given by the user
/// is used by all solves.
std::unique_ptr<Simulation> Simulation::split_into(const TensorMesh& cells) const {
  auto made = std::make_unique<Simulation>(problem_on(problem_, cells));
  made->gridding_ = gridding_;
  made->responses_ = responses_;
  made->of_sites_ = of_sites_;
  return continued_by(std::move(made));
}

std::unique_ptr<Simulation> Simulation::finer(const FinerWish& finer, const Runtime& runtime) const {
  const auto kept = on_cells_ ? KeptFaces::every_second : KeptFaces::all;
  std::vector<TensorMesh> meshes;
  for (const auto* problem : on_meshes()) {
    auto wish = wish_of(*problem);
    if (!finer.walls) wish = wish.with_its_walls();
    meshes.push_back(finer_mesh_of(*problem, wish, finer.factor, kept));
  }
  if (!on_cells_) return split_into(meshes.front());
  auto next = on_cells_(meshes, runtime);
  next->on_cells_ = on_cells_;
  return next;
}

std::vector<Variable> Simulation::errors_of(const Solved& solved, StatedErrors& stated) const {
  const Outcome none;
  const auto &mine = solved.mine.outcome, &other = solved.why.empty() ? solved.other.outcome : none;
  if (!is_magnetotelluric(problem_)) return field_errors(problem_, mine.data, other.data, stated);
  const auto functions = [&](const Outcome& of) {
    return of.data.empty() ? std::vector<TransferFunction>{} : transfer_functions(problem_, of);
  };
  return response_errors(problem_, functions(mine), functions(other), responses_, stated);
}

void Simulation::tell_of_solves(const Outcome& outcome, Report& report) const {
  report.notes.insert(report.notes.end(), outcome.notes.begin(), outcome.notes.end());
  report.warnings.insert(report.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  int most = 0;
  double divergence = 0, in_earth = 0, in_air = 0, residual = 0;
  std::size_t rough = 0;
  for (std::size_t n = 0; n < outcome.solves.size(); ++n) {
    const auto& solve = outcome.solves[n];
    most = std::max(most, solve.iterations);
    divergence = std::max(divergence, solve.divergence);
    in_earth = std::max(in_earth, solve.divergence_in_earth);
    in_air = std::max(in_air, solve.divergence_in_air);
    residual = std::max(residual, solve.residual);
    rough += solve.rough ? 1 : 0;
    if (!solve.converged()) report.warnings.push_back(trouble(problem_, n, solve));
    else if (solve.residual > 10 * problem_.parameters.tolerance)
      report.notes.push_back(fmt::format(
          "{} at {:.4g} Hz: rounding ends the residual at {:.1e}, above simulation.tolerance, long after "
          "receivers have settled (they change by {:.1e})",
          problem_.source_name(n / problem_.frequencies.size()),
          problem_.frequencies[n % problem_.frequencies.size()], solve.residual, solve.change));
  }
  if (most > usual_iterations) {
    std::string why = "conductivities that differ by decades from cell to cell may take more";
    for (const Problem* problem : on_meshes())
      if (const auto thin = problem->thin_air(); !thin.empty())
        why = thin +
              ", and between the lid and ground that conducts fields die out slowly: give it a third of that";
    report.warnings.push_back(
        fmt::format("a solve took {} iterations, where 7 to 25 are usual: {}", most, why));
  }
  report.add("most_iterations", std::uint64_t(most), "", "iterations",
             fmt::format("{} at most in one solve", most));
  report.add("divergence", divergence, "", "divergence",
             fmt::format("{:.1e} of the currents in the earth at most, {:.1e} in air", in_earth, in_air));
  report.add("divergence_in_earth", in_earth);
  report.add("divergence_in_air", in_air);
  report.add("residual", residual, "", "residual", fmt::format("{:.1e} at most", residual));
  report.add("rough", std::uint64_t{rough});
}

Dataset Simulation::compute(Result& result, const MemoryBudget&, const Runtime& runtime) {
  Rounds rounds(accuracy_);
  const auto solved = solved_in_rounds(result, runtime, rounds);
  auto& report = result.report;
  report.device = device_text(solved.mine.device, runtime);
  tell_of_solves(solved.mine.outcome, report);
  result.attributes["time_dependence"] = "exp(+i omega t)";
  StatedErrors stated(accuracy_, solved.why);
  auto data = dataset(solved, stated);
  if (states_errors()) tell(result, solved, stated, rounds);
  return data;
}

Result Simulation::outline() const {
  StatedErrors stated(accuracy_);
  return outline_of(physics_, job_, dataset({}, stated));
}

Dataset Simulation::dataset(const Solved& solved, StatedErrors& stated) const {
  const auto& outcome = solved.mine.outcome;
  Dataset data;
  data.dimensions = {{"source", problem_.sources.size()},
                     {"frequency", problem_.frequencies.size()},
                     {"receiver", problem_.receivers.size()}};
  data.coordinates = {
      {"source", "1", "number of the source", {"source"}, whole_numbers(problem_.sources.size()), {}},
      {"frequency", "Hz", "frequency", {"frequency"}, problem_.frequencies, {}},
      {"receiver",
       "1",
       "number of the receiver",
       {"receiver"},
       whole_numbers(problem_.receivers.size()),
       {}}};
  static constexpr const char* axes[3] = {"easting", "northing", "up"};
  for (std::size_t a = 0; a < 3; ++a) {
    std::vector<double> places;
    for (const auto& place : problem_.receivers) places.push_back(place[a]);
    data.coordinates.push_back({fmt::format("receiver_{}", axes[a]),
                                "m",
                                fmt::format("{} of the receiver", axes[a]),
                                {"receiver"},
                                std::move(places),
                                {}});
  }
  data.coordinates.insert(data.coordinates.end(), of_sites_.begin(), of_sites_.end());
  data.variables = !is_magnetotelluric(problem_) ? field_variables(problem_, outcome)
                   : outcome.data.empty()
                       ? response_variables(problem_, {}, responses_)
                       : response_variables(problem_, transfer_functions(problem_, outcome), responses_);
  std::vector<Variable> errors;
  if (states_errors()) errors = errors_of(solved, stated);
  std::move(errors.begin(), errors.end(), std::back_inserter(data.variables));
  if (meshes_.empty()) add_volume(problem_, outcome, data);
  std::vector<std::int32_t> iterations, converged;
  std::vector<std::int32_t> cells(parts_solves(gridding_) ? problem_.solves() : 0,
                                  static_cast<std::int32_t>(problem_.mesh.size()));
  std::vector<double> residual;
  for (const auto& solve : outcome.solves) {
    iterations.push_back(solve.iterations);
    converged.push_back(solve.converged() ? 1 : 0);
    residual.push_back(solve.residual);
  }
  for (const auto& [share, problem] : meshes_)
    for (const auto source : share.sources)
      for (const auto frequency : share.frequencies)
        cells[source * problem_.frequencies.size() + frequency] =
            static_cast<std::int32_t>(problem.mesh.size());
  const std::vector<std::string> pairs{"source", "frequency"};
  data.variables.push_back({"iterations", "1", "iterations of the solve", pairs, std::move(iterations), {}});
  data.variables.push_back(
      {"residual", "1", "residual of the solve, relative", pairs, std::move(residual), {}});
  data.variables.push_back(
      {"converged", "1", "1 where the solve converged", pairs, std::move(converged), {}});
  if (parts_solves(gridding_))
    data.variables.push_back({"cells", "1", "cells of the mesh of the solve", pairs, std::move(cells), {}});
  return data;
}

namespace {

/// The properties of cells, as columns of a file.
std::vector<Column> cells_of(const Problem& problem, bool with_values) {
  const auto along = problem.along();  // up, north, east
  auto all = conductivity_columns({along[2], along[1], along[0]}, with_values);
  for (auto& column :
       charge_columns(problem.chargeability, problem.charge_time, problem.charge_exponent, with_values))
    all.push_back(std::move(column));
  return all;
}

}  // namespace

io::Content Simulation::model(bool with_values) const {
  if (!meshes_.empty())
    throw UnsupportedError("output.model",
                           fmt::format("the job has {} meshes, and a file holds one", meshes_.size()),
                           "Take simulation.gridding = \"single\", or one job for each frequency.");
  return io::MeshData{problem_.mesh, cells_of(problem_, with_values), provenance(physics_, job_)};
}

}  // namespace terrane::electromagnetic
