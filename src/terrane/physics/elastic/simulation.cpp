#include "terrane/physics/elastic/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <list>
#include <map>

#include "terrane/base/memory.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/blame.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/elastic/elements.hpp"
#include "terrane/physics/elastic/march/march.hpp"
#include "terrane/physics/elastic/march/part.hpp"
#include "terrane/physics/elastic/mesh/layers.hpp"
#include "terrane/physics/elastic/mesh/margin.hpp"
#include "terrane/physics/elastic/mesh/mesh_plan.hpp"
#include "terrane/physics/elastic/specfem/par_file.hpp"
#include "terrane/physics/elastic/specfem/specfem.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/wavelet_cut.hpp"

namespace terrane::elastic {

namespace {

std::span<const Key> simulation_keys() {
  return keys_of<Problem, AccuracyOfTraces>(
      {{"physics", "text", "", "What is computed.", "\"elastic\""},
       {"par_file", "path", "none",
        "Par_file of SPECFEM3D. It sets keys that the job leaves out: end, step, absorbing, boundary, "
        "quantity, reference_frequency, the sources of CMTSOLUTION or FORCESOLUTION and the STATIONS in the "
        "same folder, and snapshots."}},
      {{"absorbing", "list of texts", "[\"west\", \"east\", \"south\", \"north\", \"bottom\"]",
        "Absorbing sides; the others are free surfaces."},
       {"boundary", "text", "\"stacey\"",
        "How sides absorb: stacey, a condition on the face, which reflects some 10 %; pml, perfectly matched "
        "layers of elements that are added beyond each side, which reflect some 0.3 % and take longer."},
       {"boundary_elements", "count", "3", "Elements of each perfectly matched layer, 2 to 8."},
       {"surface", "path", "none",
        "Elevation grid of the ground: columns of cells are stretched from the fixed bottom up to it."},
       {"properties", "text", "\"elements\"",
        "Where rock is taken: elements, at the middle of each; points, at each of its points, so that it "
        "varies "
        "within elements, between the middles of cells of [mesh] and the points of a tomography as on lines. "
        "Q is always that of the middle."},
       {"stations", "path", "none",
        "Receivers from a STATIONS file of SPECFEM3D, in addition to those of [survey], which may then be "
        "left out; survey.file takes such a file alone, too."}});
}
std::span<const Key> source_keys() {
  return keys_of<Course>(
      {{"table", "path", "none",
        "CSV of many sources, as of a finite fault: easting, northing, up in m; ee, nn, uu, nu, eu, en in N "
        "m, or force_east, force_north, force_up in N; delay and duration or frequency if they differ. The "
        "time function is that of this [[source]]."},
       {"file", "path", "none", "CMTSOLUTION or FORCESOLUTION of SPECFEM3D, in place of all other keys."},
       {"at", "list of 3 lengths", "none", "Easting, northing, up.", "[1000, 1000, -500]"},
       {"force", "list of 3 numbers", "none",
        "East, north, up, N; in a chunk of the sphere those of its middle, as of moment.", "[0, 0, 1e9]"},
       {"moment", "list of 6 numbers", "none",
        "Moment tensor in place of a force: ee, nn, uu, nu, eu, en in N m."}},
      {{"frequency", "frequency", "none", "Peak frequency of a ricker.", "8"},
       {"duration", "time", "none",
        "τ of a gaussian exp(−t²/τ²) or of a step; of samples the time between two."}});
}

/// Reads the time function of a [[source]]: kind of pulse, width and delay.
Course read_course(const Config& table, bool width_is_elsewhere) {
  Course course;
  read_fields(table, course);
  const bool ricker = course.pulse == Pulse::ricker;
  const char* const width = ricker ? "frequency" : "duration";
  if (course.pulse == Pulse::samples) course.samples = table.numbers("samples");
  if (width_is_elsewhere && !table.has(width)) return course;
  if (!table.has(width))
    throw table.wrong(
        width, fmt::format("missing: a {} needs it", pulse_names[static_cast<std::size_t>(course.pulse)]),
        ricker ? "Its peak frequency." : "A time.");
  course.width = table.positive(width, ricker ? terrane::Quantity::frequency : terrane::Quantity::time);
  return course;
}

Source read_source(const Config& table) {
  Source source;
  if (!table.has("at"))
    throw table.wrong("at", "missing", "Easting, northing, up of the source; or file = \"CMTSOLUTION\".");
  source.at = read_position(table, "at");
  source.is_moment = table.has("moment");
  if (source.is_moment == table.has("force"))
    throw table.wrong("force", source.is_moment ? "a source has a force or a moment, not both" : "missing",
                      "Give force = [east, north, up] in N, or moment = [ee, nn, uu, nu, eu, en] in N m.");
  const char* const what = source.is_moment ? "moment" : "force";
  const auto strength = table.numbers(what, terrane::Quantity::dimensionless, source.is_moment ? 6 : 3);
  if (std::all_of(strength.begin(), strength.end(), [](double one) { return one == 0; }))
    throw table.wrong(what, "it is zero: nothing would move");
  std::copy(strength.begin(), strength.end(), source.strength.begin());
  source.course = read_course(table, false);
  return source;
}

/// Converts positions in SPECFEM3D's files to the mesh's coordinates: on the sphere if the mesh is a chunk of
/// it, else by the projection if there is one. Vertically they are depths below the mesh's surface, or
/// heights.
struct Ground {
  std::optional<Projection> projection;
  /// Height of the mesh's surface, m; none outside the mesh.
  std::function<std::optional<double>(double easting, double northing)> surface;
  std::optional<Placement> sphere;
  bool heights = false;

  /// depth: m below the surface, or a height if `heights` is set. Throws InputError at `where` if the
  /// position lies outside the mesh.
  Vector at(double longitude, double latitude, double depth, const std::string& where) const {
    if (sphere) {
      sphere->require_inside(longitude, latitude, depth, where);
      return sphere->at(longitude, latitude, depth);
    }
    const auto [easting, northing] = in_the_plane(longitude, latitude, where);
    const auto top = surface(easting, northing);
    if (!top && !projection && std::fabs(latitude) <= 90 && std::fabs(longitude) <= 360)
      throw InputError(
          where, fmt::format("northing {:g}, easting {:g} m lies outside the mesh", latitude, longitude),
          hint(longitude, latitude));
    return {easting, northing, heights ? depth : top.value_or(0) - depth};
  }

 private:
  std::pair<double, double> in_the_plane(double longitude, double latitude, const std::string& where) const {
    double easting = longitude, northing = latitude;
    if (!projection) return {easting, northing};
    try {
      projection->forward({&longitude, 1}, {&latitude, 1}, {&easting, 1}, {&northing, 1});
    } catch (const InputError&) {
      throw InputError(
          where,
          fmt::format("latitude {:g}, longitude {:g} degrees cannot be projected to {}", latitude, longitude,
                      projection->definition()),
          "Where these are metres, leave mesh.projection out, or write SUPPRESS_UTM_PROJECTION = .true. "
          "into the Par_file.");
    }
    return {easting, northing};
  }
  static std::string hint(double longitude, double latitude) {
    const bool has_zone = std::fabs(latitude) < 80;
    return fmt::format("Where these are degrees, give mesh.projection{}.",
                       has_zone ? fmt::format(" = \"{}\"", utm_zone({&longitude, 1}, {&latitude, 1})) : "");
  }
};

/// The projection of positions in SPECFEM3D's files: that of the job, else that of its Par_file.
std::optional<Projection> projection_of_files(const std::optional<Projection>& of_job,
                                              const std::optional<ParFile>& par,
                                              std::vector<std::string>& notes) {
  if (!par || (!par->in_metres && !par->utm_zone)) return of_job;
  if (par->in_metres) {
    if (of_job)
      notes.push_back(
          fmt::format("{}: latitudes and longitudes of SPECFEM3D's files are northings and eastings in m",
                      par->where("SUPPRESS_UTM_PROJECTION")));
    return std::nullopt;
  }
  const int zone = *par->utm_zone;
  const auto code = fmt::format("EPSG:{}", zone > 0 ? 32600 + zone : 32700 - zone);
  if (of_job && of_job->definition() == code) return of_job;
  notes.push_back(fmt::format("{}: latitudes and longitudes of SPECFEM3D's files are projected to {}",
                              par->where("UTM_PROJECTION_ZONE"),
                              of_job ? of_job->definition() + ", mesh.projection" : code));
  return of_job ? of_job : Projection(code);
}

/// A Par_file of SPECFEM3D, and the defaults that the file gives for keys and tables that the job leaves out.
class Defaults {
 public:
  Defaults(const Config& job, const Config& simulation)
      : keys_(simulation_keys().begin(), simulation_keys().end()) {
    const auto file = simulation.optional_input_file("par_file");
    if (!file) return;
    const auto own = own_parts(job);
    par_ = read_par_file(*file, own);
    const auto beside = [&](const char* name) {
      const auto path = std::filesystem::absolute(*file).parent_path() / name;
      return std::filesystem::exists(path) ? path : std::filesystem::path();
    };
    if (const auto faults = beside("Par_file_faults"); !faults.empty() && !own.sources)
      throw InputError(faults.string(), "faults that rupture by their friction are not offered",
                       "Give the fault as table of a [[source]].");
    solution_ = beside(par_->forces ? "FORCESOLUTION" : "CMTSOLUTION");
    set("end", fmt::format("{}", static_cast<double>(par_->steps) * par_->step));
    if (!par_->own_step) set("step", fmt::format("{}", par_->step));
    set("boundary", par_->matched ? "\"pml\"" : "\"stacey\"");
    set("quantity", fmt::format("\"{}\"", par_->quantity));
    set("absorbing",
        par_->absorbing.empty() ? "[]" : fmt::format("[\"{}\"]", fmt::join(par_->absorbing, "\", \"")));
    if (par_->reference_frequency) set("reference_frequency", fmt::format("{}", *par_->reference_frequency));
    if (const auto stations = beside("STATIONS"); !stations.empty())
      set("stations", fmt::format("'{}'", stations.string()));
  }
  Defaults(const Defaults&) = delete;
  Defaults& operator=(const Defaults&) = delete;

  /// The keys of [simulation], whose defaults are those of the Par_file. The keys have views of texts in this
  /// object, which must outlive them.
  std::span<const Key> keys() const { return keys_; }
  const std::optional<ParFile>& par() const { return par_; }
  SourceRules rules() const {
    if (!par_) return {};
    return {par_->ricker, par_->heights, par_->keeps_sign, par_->step};
  }
  /// The file of the sources in the Par_file's folder; empty if there is none.
  const std::filesystem::path& solution() const { return solution_; }

 private:
  /// The subjects that the job describes itself, such as its sources; keys of the Par_file on these subjects
  /// are not needed.
  static OwnParts own_parts(const Config& job) {
    OwnParts own;
    const auto given = job.tables("source");
    own.sources = !given.empty() && std::none_of(given.begin(), given.end(),
                                                 [](const Config& source) { return source.has("file"); });
    const auto elements = job.table("elements").describe({element_sections().front().keys});
    const bool mesh_has_media = elements.has("kind") && elements.text("kind") == "specfem";
    own.medium = !mesh_has_media || elements.has("rock");
    return own;
  }
  void set(std::string_view name, std::string value) {
    texts_.push_back(std::move(value));
    for (auto& key : keys_)
      if (key.name == name) key.fallback = texts_.back();
  }
  std::vector<Key> keys_;
  std::list<std::string> texts_;
  std::optional<ParFile> par_;
  std::filesystem::path solution_;
};

/// The sources of a job, and the file and line that each comes from.
struct SourceList {
  std::vector<Source> sources;
  std::vector<std::string> origins;
  /// For sources of SPECFEM3D's files: their index, and the source that replaces them in a fluid.
  std::vector<std::pair<std::size_t, Source>> in_fluids;
  std::vector<std::string> notes;

  void add(Source source, std::string origin) {
    sources.push_back(std::move(source));
    origins.push_back(std::move(origin));
  }
};

/// Reads a finite fault: a table with one source per row.
void read_fault(const Config& table, SourceList& list) {
  const auto rows = io::read_csv(table.input_file("table").string());
  const bool moment = rows.find("ee") != nullptr;
  const auto pulse = chosen<Pulse>(table, "pulse", pulse_names);
  const char* const width = pulse == Pulse::ricker ? "frequency" : "duration";
  const bool own_width = rows.find(width) != nullptr, own_delay = rows.find("delay") != nullptr;
  const auto course = read_course(table, own_width);
  const auto metres = [&](const char* name) { return rows.si(name, terrane::Quantity::length, "m"); };
  const auto numbers = [&](const char* name) { return rows.si(name, terrane::Quantity::dimensionless, "1"); };
  const std::array<std::vector<double>, 3> at{metres("easting"), metres("northing"), metres("up")};
  std::vector<std::vector<double>> strength;
  constexpr std::array<const char*, 6> moments{"ee", "nn", "uu", "nu", "eu", "en"};
  constexpr std::array<const char*, 3> forces{"force_east", "force_north", "force_up"};
  for (const auto* name :
       moment ? std::span<const char* const>(moments) : std::span<const char* const>(forces))
    strength.push_back(numbers(name));
  const auto widths =
      own_width
          ? rows.si(width, pulse == Pulse::ricker ? terrane::Quantity::frequency : terrane::Quantity::time,
                    pulse == Pulse::ricker ? "Hz" : "s")
          : std::vector<double>();
  const auto delays = own_delay ? rows.si("delay", terrane::Quantity::time, "s") : std::vector<double>();
  bool moves = false;
  for (std::size_t n = 0; n < rows.rows(); ++n) {
    Source source;
    source.is_moment = moment;
    for (std::size_t d = 0; d < 3; ++d) source.at[d] = at[d][n];
    for (std::size_t k = 0; k < strength.size(); ++k) source.strength[k] = strength[k][n];
    source.course = course;
    if (own_width) source.course.width = widths[n];
    if (own_delay) source.course.delay += delays[n];
    if (!(source.course.width > 0))
      throw InputError(rows.where(n), fmt::format("a {} of {}", width, source.course.width),
                       "It is above zero.");
    moves = moves ||
            std::any_of(source.strength.begin(), source.strength.end(), [](double one) { return one != 0; });
    list.add(std::move(source), rows.where(n));
  }
  if (!moves) throw table.wrong("table", "all its rows are zero: nothing would move");
}

/// Rotates a source from east, north and up at its position (the vectors of `frame`) to the axes of the mesh.
void turn(Source& source, const Placement::Frame& frame) {
  const auto m = source.strength;
  source.strength = {};
  if (!source.is_moment) {
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t d = 0; d < 3; ++d) source.strength[d] += m[a] * frame[a][d];
    return;
  }
  const Vector row[3] = {{m[0], m[5], m[4]}, {m[5], m[1], m[3]}, {m[4], m[3], m[2]}};
  constexpr std::size_t pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b)
        source.strength[k] += frame[a][pair[k][0]] * row[a][b] * frame[b][pair[k][1]];
}

/// Rotates seismograms [receivers][3][steps] from the axes of the mesh to east, north and up at each
/// receiver.
void turn(std::vector<double>& traces, const std::vector<Placement::Frame>& frames, std::size_t steps) {
  for (std::size_t r = 0; r < frames.size(); ++r)
    for (std::size_t n = 0; n < steps; ++n) {
      double* const at = &traces[3 * r * steps + n];
      const Vector v{at[0], at[steps], at[2 * steps]};
      for (std::size_t a = 0; a < 3; ++a) at[a * steps] = dot(frames[r][a], v);
    }
}

void add_solution(const std::filesystem::path& file, const SourceRules& rules, const Ground& ground,
                  SourceList& list) {
  for (auto& s : read_solution(file, rules, list.notes)) {
    s.source.at = s.in_fluid.at = ground.at(s.longitude, s.latitude, s.depth, s.where);
    if (ground.sphere) {
      const auto frame = ground.sphere->frame(s.longitude, s.latitude);
      turn(s.source, frame);
      if (!s.in_fluid.is_explosion()) turn(s.in_fluid, frame);
    }
    list.in_fluids.emplace_back(list.sources.size(), std::move(s.in_fluid));
    list.add(std::move(s.source), std::move(s.where));
  }
}

SourceList read_sources(const Config& job, const Defaults& defaults, const Ground& ground) {
  SourceList list;
  if (!job.has("source") && !defaults.solution().empty())
    add_solution(defaults.solution(), defaults.rules(), ground, list);
  for (const auto& given : job.tables("source")) {
    const auto table = given.describe({source_keys()});
    if (table.has("table")) read_fault(table, list);
    else if (table.has("file")) add_solution(table.input_file("file"), defaults.rules(), ground, list);
    else list.add(read_source(table), table.where("at"));
  }
  return list;
}

/// Replaces sources of SPECFEM3D's files that lie in a fluid by their form in fluids.
void put_into_fluids(SourceList& list, const Mesh& mesh) {
  const bool fluid = std::any_of(mesh.media.begin(), mesh.media.end(),
                                 [](const Medium& medium) { return medium.is_fluid(); });
  if (!fluid || list.in_fluids.empty()) return;
  const Locator locator(mesh);
  std::size_t steps = 0, forces = 0;
  for (const auto& [n, other] : list.in_fluids) {
    auto& source = list.sources[n];
    try {
      if (!mesh.medium_of(locator.find(source.at, {}).element).is_fluid()) continue;
    } catch (const InputError&) {
      continue;  // the source lies outside the mesh: Problem::settle() will report that
    }
    steps += source.is_moment && source.course.pulse != other.course.pulse;
    forces += !source.is_moment;
    source = other;
  }
  if (steps > 0)
    list.notes.push_back(
        fmt::format("{} moment tensors lie in a fluid: there the time function is a Gaussian, as in "
                    "SPECFEM3D, and not the step that is its integral",
                    steps));
  if (forces > 0)
    list.notes.push_back(
        fmt::format("{} forces lie in a fluid: there they are explosions, as in SPECFEM3D", forces));
}

struct ReceiverList {
  std::vector<Vector> places;
  std::vector<std::string> names, origins;
};

/// The job's STATIONS file of SPECFEM3D: that of simulation.stations or, if [survey] says no more than the
/// name of such a file, survey.file.
std::optional<std::filesystem::path> stations_file(const Config& job, const Config& table) {
  if (auto named = table.optional_input_file("stations")) return named;
  if (!job.has("survey")) return {};
  const auto survey = job.table("survey");
  for (const auto& key : survey.keys())
    if (key != "file" && !(key == "kind" && survey.text("kind") == "list")) return {};
  if (!survey.has("file") || !survey.is_text("file") || is_given(survey, "file")) return {};
  const auto file = survey.input_file("file");
  if (io::format_of(file.string()).name != "specfem-stations") return {};
  return file;
}

/// The receivers of the job's survey, then those of its STATIONS file.
ReceiverList read_receivers(const Config& job, const Config& table, const Survey& survey,
                            const Ground& ground) {
  ReceiverList list;
  list.places = positions_of(survey);
  list.origins.assign(survey.size(), job.table("survey").where());
  for (std::size_t n = 0; n < survey.size(); ++n) list.names.push_back(fmt::format("{}", n + 1));
  const auto stations = stations_file(job, table);
  if (!stations) return list;
  for (const auto& s : read_stations(*stations)) {
    list.places.push_back(ground.at(s.longitude, s.latitude, s.burial, s.where));
    list.names.push_back(s.network + "." + s.name);
    list.origins.push_back(s.where);
  }
  return list;
}

/// Warns of a STATIONS file whose places are taken for metres and may be degrees.
void warn_of_degrees(const Config& job, const Config& table, const Ground& ground, const Defaults& defaults,
                     std::vector<std::string>& warnings) {
  const auto file = stations_file(job, table);
  if (!file || ground.projection || ground.sphere || (defaults.par() && defaults.par()->in_metres)) return;
  const auto stations = read_stations(*file);
  if (std::all_of(stations.begin(), stations.end(), [](const io::SpecfemStation& s) {
        return std::abs(s.longitude) <= 360 && std::abs(s.latitude) <= 90;
      }))
    warnings.push_back(fmt::format(
        "{}: its places, such as {:g}, {:g}, are taken for metres; of degrees, set mesh.projection = \"utm\"",
        file->filename().string(), stations.front().latitude, stations.front().longitude));
}

/// Names the receivers of the survey by its columns of words: "network.station", as in files of seismograms.
void name_receivers(const std::vector<io::TextColumn>& words, std::size_t of_survey,
                    std::vector<std::string>& names) {
  const auto find = [&](std::initializer_list<std::string_view> wanted) {
    return std::find_if(words.begin(), words.end(), [&](const io::TextColumn& column) {
      return column.values.size() == of_survey &&
             std::find(wanted.begin(), wanted.end(), lower(column.name)) != wanted.end();
    });
  };
  const auto station = find({"station", "name", "site", "id", "label"}), network = find({"network"});
  if (station == words.end()) return;
  for (std::size_t n = 0; n < of_survey; ++n)
    if (!station->values[n].empty())
      names[n] = network == words.end() ? station->values[n] : network->values[n] + "." + station->values[n];
}

Snapshots read_snapshots(const Config& job, const std::optional<ParFile>& par) {
  Snapshots snapshots;
  if (!job.has("snapshots")) {
    if (!par || par->film_every == 0) return snapshots;
    snapshots.of = Snapshots::Of::surface;
    snapshots.interval = static_cast<double>(par->film_every) * par->step;
    snapshots.velocity = par->film_velocity;
    return snapshots;
  }
  const auto table = job.table("snapshots").describe({keys_of<Snapshots>()});
  read_fields(table, snapshots);
  snapshots.of =
      table.choice("of", {"surface", "volume"}) == "volume" ? Snapshots::Of::volume : Snapshots::Of::surface;
  if (table.has("box")) {
    const auto box = table.numbers("box", terrane::Quantity::length, 6);
    std::copy(box.begin(), box.end(), snapshots.box.begin());
  }
  return snapshots;
}

/// Throws InputError if there are snapshots, but the job writes no file that can contain them.
void require_a_file_for(const Snapshots& snapshots, const Config& job) {
  if (snapshots.of == Snapshots::Of::nothing || !job.table("output").has("files")) return;
  const auto output = job.table("output").describe({Output::section().keys});
  if (output.texts("files").empty())
    throw output.wrong(
        "files", "no file takes the snapshots",
        "Name a file .vtkhdf or .nc; or leave [snapshots], and MOVIE_SURFACE of a Par_file, out.");
}

/// Warns of sources whose time functions begin before the run or last beyond its end: gives the first of
/// these sources, and their number.
void warn_of_cut_wavelets(const Problem& p, std::vector<std::string>& warnings) {
  std::string first;
  std::size_t cut = 0, looked_at = 0;
  constexpr std::size_t enough = 1000;
  for (std::size_t n = 0; n < p.sources.size() && looked_at < enough; ++n) {
    const auto& course = p.sources[n].course;
    if (p.begin <= course.begins() && p.end >= course.ends()) continue;
    ++looked_at;
    const auto text = cut_of_wavelet([&](double time) { return course.at(time); }, course.begins(),
                                     course.ends(), p.begin, p.end);
    if (!text) continue;
    if (++cut == 1) first = fmt::format("source {}: {}", n + 1, *text);
  }
  if (cut > 0)
    warnings.push_back(cut == 1 ? first : fmt::format("{}; so of {} sources and more", first, cut));
}

/// Warns of solid media whose values may be in wrong units: density below that of snow or above any rock's,
/// speed above that of any wave in the earth.
void warn_of_odd_media(const Mesh& mesh, std::vector<std::string>& warnings) {
  constexpr double lightest = 100, heaviest = 25'000, fastest = 20'000;  // kg/m³, m/s
  std::size_t odd = 0;
  std::string first;
  for (const auto& medium : mesh.media) {
    const double speed = medium.fastest();
    if (medium.is_fluid() || (medium.density >= lightest && medium.density <= heaviest && speed <= fastest))
      continue;
    if (++odd == 1)
      first = fmt::format("a medium of {:g} kg/m³ with waves of {:g} m/s", medium.density, speed);
  }
  if (odd > 0)
    warnings.push_back(fmt::format("{}{}: densities are in kg/m³ and velocities in m/s", first,
                                   odd > 1 ? fmt::format(" and {} more like it", odd - 1) : ""));
}

/// The element with the lowest quality of shape; the first, if there are several.
WorstShape worst_of(const Mesh& mesh) {
  std::vector<WorstShape> of_stretch(mesh.size() / stretch_length + 1);
  for_each_stretch(mesh.size(), 0, [&](std::size_t first, std::size_t last) {
    auto& worst = of_stretch[first / stretch_length];
    for (auto n = first; n < last; ++n)
      if (const double here = quality(mesh.element(n)); here < worst.quality)
        worst = {static_cast<std::uint32_t>(n), here};
  });
  return *std::min_element(of_stretch.begin(), of_stretch.end(),
                           [](const WorstShape& a, const WorstShape& b) { return a.quality < b.quality; });
}

/// An element's number and position for messages: "element 17 (easting, northing, up m)".
std::string place_of(const Mesh& mesh, std::uint32_t element) {
  const auto x = mesh.element(element).monomial[0];
  return fmt::format("element {} ({:.6g}, {:.6g}, {:.6g} m)", element, x[0], x[1], x[2]);
}

std::vector<std::string> directions() { return {"east", "north", "up"}; }

struct QuantityText {
  const char *name, *unit, *text;
};
QuantityText text_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::velocity:
      return {"velocity", "m/s", "velocity of the ground"};
    case Quantity::pressure:
      return {"pressure", "Pa", "pressure in the fluid"};
    default:
      return {"displacement", "m", "displacement of the ground"};
  }
}

/// Notes about the reflections of absorbing sides.
std::vector<std::string> notes_of_sides(const Mesh& mesh) {
  std::vector<std::string> notes;
  if (!mesh.absorbing.empty()) {
    const bool wet = std::any_of(mesh.absorbing.begin(), mesh.absorbing.end(),
                                 [&](const auto& face) { return mesh.medium_of(face.element).is_fluid(); });
    notes.push_back(
        std::string("Stacey's sides send back a tenth of a wave, and more where it grazes them: of "
                    "seismograms in planned boxes 16 % (median), in one of twenty 25 %; ") +
        (wet ? "in a wider box that comes later"
             : "boundary = \"pml\" sends back less than 1 % of "
               "most"));
  }
  double most = 0;
  for (const auto& margin : mesh.margins) most = std::max(most, margin.braking);
  if (most > 0)
    notes.push_back(
        "matched layers brake waves beside media of such unequal speeds, which would grow else, and "
        "send back a few percent; more elements in them (boundary_elements) less");
  return notes;
}

}  // namespace

std::string quantity_name(Quantity quantity) { return text_of(quantity).name; }

std::span<const Section> sections() {
  static const std::array all{
      Section{"source", "", "The source of the waves; [[source]] once for each of several.", source_keys()},
      Section{"snapshots", "",
              "Snapshots of the whole field, for films: in files .vtkhdf (ParaView) and .nc of output.files.",
              keys_of<Snapshots>(), false},
      Section{"simulation", "", "Length and method of the computation.", simulation_keys()},
  };
  return all;
}

Simulation::Simulation(Problem problem, TensorMesh cells, Quantity quantity, JobOrigin job)
    : SimulationOf("elastic", std::move(job)),
      problem_(std::move(problem)),
      cells_(std::move(cells)),
      quantity_(quantity) {
  for (std::size_t n = 0; n < problem_.receivers.size(); ++n) names_.push_back(fmt::format("{}", n + 1));
  problem_.settle();
  worst_shape_ = worst_of(problem_.mesh);
  if (worst_shape_.quality < 0.2)
    warnings_.push_back(
        fmt::format("{} is far from a brick: {:.2g} of a right angle's Jacobian; such elements "
                    "shorten the step and blur waves",
                    place_of(problem_.mesh, worst_shape_.element), worst_shape_.quality));
  if (problem_.points_per_wavelength < 4.5)
    warnings_.push_back(
        fmt::format("at the sources' highest frequency, {:.4g} Hz, element {} has {:.2g} points per "
                    "wavelength; five are good, "
                    "up to {:.4g} Hz",
                    problem_.highest_frequency, problem_.coarsest, problem_.points_per_wavelength,
                    problem_.resolved_frequency));
  warn_of_cut_wavelets(problem_, warnings_);
  warn_of_odd_media(problem_.mesh, warnings_);
  if (problem_.pictures() > 0) shown_ = picture_of(problem_);
  if (problem_.precision == Precision::single_precision && problem_.steps() > 50'000)
    warnings_.push_back(
        fmt::format("after {} steps in single precision expect a drift of {:.1g} of the amplitude; "
                    "precision = \"double\" has none",
                    problem_.steps(), 1e-8 * static_cast<double>(problem_.steps())));
}

namespace {

/// What elastic waves need of the job's earth model to build their mesh of elements.  of_files: the
/// projection of longitudes and latitudes in files, if any; interfaces: receives the earth's interfaces
EarthRequest request_for(const Config& job, const Config& table, const Defaults& defaults,
                         const Survey& survey, const std::optional<Projection>& of_files,
                         Interfaces& interfaces) {
  EarthRequest request;
  request.look = [&interfaces](const Description& earth, const TensorMesh&) {
    interfaces = interfaces_of(earth);
    return std::vector<std::string>();
  };
  request.reads = {"velocity_p", "velocity_s", "density", "quality_p", "quality_s", "quality_kappa",
                   "quality_mu", "epsilon",    "delta",   "gamma",     "tilt",      "tilt_azimuth"};
  request.cuts_ground = job.has("model") && job.table("model").has("topography");
  request.plan = [&](const Description& described, const MeshWish& wish) {
    const auto surface = [&](double easting, double northing) -> std::optional<double> {
      return described.topography ? described.ground(easting, northing) : 0;
    };
    const Ground level{of_files, surface, {}, defaults.rules().heights};
    ElementWish waves;
    waves.receivers = read_receivers(job, table, survey, level).places;
    for (const auto& source : read_sources(job, defaults, level).sources) {
      waves.sources.push_back(source.at);
      waves.highest_frequency = std::max(waves.highest_frequency, source.course.highest_frequency());
    }
    waves.degree = static_cast<int>(table.count("degree", least_degree, most_degree));
    waves.end = table.number("end", terrane::Quantity::time);
    waves.matched = table.choice("boundary", {"stacey", "pml"}) == "pml";
    return plan_elements(described, wish, waves);
  };
  return request;
}

/// Adds the notes of a Par_file, and takes the Q of all media away if the file switches attenuation off.
void follow_par_file(const ParFile& par, std::vector<std::string>& notes, Mesh& mesh) {
  notes.insert(notes.end(), par.notes.begin(), par.notes.end());
  for (auto& medium : mesh.media)
    if (!par.attenuation) medium.quality_kappa = medium.quality_mu = INFINITY;
}

/// Adds perfectly matched layers, if the job asks for them.
void add_boundary(Problem& p, const Config& table, std::vector<std::string>& notes) {
  const std::size_t size = p.mesh.size(), in_front = table.count("boundary_elements", 2, 8);
  const bool matched = table.choice("boundary", {"stacey", "pml"}) == "pml";
  try {
    if (matched) add_margins(p.mesh, in_front);
  } catch (const InputError& error) {
    throw table.wrong("boundary", error.problem(), error.next());
  }
  if (p.mesh.size() > size)
    notes.push_back(fmt::format("{} of the elements are perfectly matched layers beyond the sides",
                                p.mesh.size() - size));
  for (auto& note : notes_of_sides(p.mesh)) notes.push_back(std::move(note));
}

/// Throws an error of the problem again, naming the line of the job, or of the Par_file, that caused it.
[[noreturn]] void throw_where_it_is_said(const InputError& error, const Config& job, const Config& table,
                                         const std::optional<ParFile>& par) {
  if (job.has("survey") && error.where() == job.table("survey").where())
    throw InputError(place_of_stations(job, error.problem()), error.problem(), error.next());
  if (error.where() == "elastic: step" && par && !table.has("step"))
    throw InputError(par->where("DT"), error.problem(),
                     error.next() +
                         " SPECFEM3D judges by a rule of thumb, which lets longer ones pass. In the job, "
                         "simulation.step = \"none\" takes the longest stable one.");
  if (error.where() == "elastic: end" && par && !table.has("end"))
    throw InputError(par->where("NSTEP"), error.problem(), error.next());
  if (error.where() == "elastic: snapshots")
    throw InputError(job.where("snapshots"), error.problem(), error.next());
  if (error.where() == "elastic: mesh")
    throw InputError(job.where(job.has("elements") ? "elements" : "mesh"), error.problem(), error.next());
  throw_at_its_key<Problem>(error, "elastic", job);
}

/// The stations of [survey]. If the job has only a STATIONS file: no stations, but the job's projection,
/// which applies to that file, too; "utm" is the zone of its stations.
Stations stations_of(const Config& job, const Config& table, const Defaults& defaults,
                     const MemoryBudget& memory) {
  const auto file = stations_file(job, table);
  const bool of_survey = job.has("survey") && (!file || table.optional_text("stations"));
  if (of_survey || !file) return build_survey(job, memory);
  Stations stations;
  const auto definition = projection_definition(job);
  const bool in_metres = defaults.par() && defaults.par()->in_metres;
  const bool sphere = job.has("elements") && job.table("elements").optional_text("kind") == "chunk";
  if (!definition || ((in_metres || sphere) && *definition == "utm")) return stations;
  std::vector<double> longitude, latitude;
  for (const auto& s : read_stations(*file)) {
    longitude.push_back(s.longitude);
    latitude.push_back(s.latitude);
  }
  try {
    stations.projection = Projection::for_points(*definition, longitude, latitude);
  } catch (const InputError& error) {
    throw job.table("mesh").wrong("projection", error.problem(), error.next());
  }
  return stations;
}

[[noreturn]] void refuse_heights(const ParFile& par) {
  throw InputError(par.where("USE_SOURCES_RECEIVERS_Z"), "a chunk of the sphere has depths",
                   "Write .false. here, and depths in km and burials in m into the files.");
}

Quantity recorded_quantity(const Config& table) {
  const auto name = table.choice("quantity", {"displacement", "velocity", "pressure"});
  return name == "velocity"   ? Quantity::velocity
         : name == "pressure" ? Quantity::pressure
                              : Quantity::displacement;
}

/// Bytes per element of a rank's part. part: of the Part on the host; placing: in addition, while the Part is
/// made; field_of_host, field_of_device: of the Field on the host or on a device.  number: bytes per number;
/// ordered: whether sums need an order
struct BytesOfElement {
  double part, placing, field_of_host, field_of_device;

  BytesOfElement(int degree, double number, bool ordered) {
    const double p = degree + 1, each = p * p * p, own = std::pow(degree, 3), inner = std::pow(p - 2, 3),
                 shared = own - inner,
                 listed = 8 + 12 * (p - 2);  // bytes of lists of points with more than two contributions
    const double order = ordered ? 4 * (shared + each - inner) : 0;
    part = 4 * each + 8 * own + order;
    placing = std::max(9 * own + 24, ordered ? 8 * shared + 4 * listed : 0.0);
    field_of_device = each * (4 + 3 * number + 4) + own * (8 * number + 4) + 21 * number;
    // One of the terms 4 · each is for lists of the part, which exist until the field is complete.
    field_of_host = each * (4 + 4 + 3 * number) + own * (8 * number + 8) + 4 * listed + 12 * number;
  }
};

constexpr double bytes_of_mesh = 64;  // bytes of the mesh per element, on every rank

/// Throws MemoryError if the elements do not fit into the host's memory.
void require_memory_of_elements(const Problem& p, const Runtime& runtime, const MemoryBudget& memory) {
  const bool on_device =
      resolve(runtime.device).has_own_memory();  // whether fields are in the device's memory
  const BytesOfElement of(p.degree, p.precision == Precision::single_precision ? 4 : 8,
                          p.sums == Sums::fixed || !on_device);
  const double host = bytes_of_mesh + of.part + (on_device ? of.placing : of.field_of_host);
  memory.require("run", fmt::format("{} elements", p.mesh.size()), static_cast<double>(p.mesh.size()) * host);
}

}  // namespace

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  const auto memory = memory_budget(runtime);
  const Defaults defaults(job,
                          job.table("simulation").describe({simulation_keys(), Runtime::section().keys}));
  const auto table = job.table("simulation").describe({defaults.keys(), Runtime::section().keys});
  table.text("physics");
  auto stations = stations_of(job, table, defaults, memory);
  std::vector<std::string> notes;
  const auto of_files = projection_of_files(stations.projection, defaults.par(), notes);
  const bool heights = defaults.rules().heights;
  Interfaces interfaces;
  const auto request = request_for(job, table, defaults, stations.survey, of_files, interfaces);
  auto elements = build_elements(job, table, stations.projection, memory, request);
  Problem p;
  read_fields(table, p);
  const auto quantity = recorded_quantity(table);
  p.records_pressure = quantity == Quantity::pressure;
  p.mesh = std::move(elements.mesh);
  if (const auto& par = defaults.par()) follow_par_file(*par, elements.notes, p.mesh);
  add_boundary(p, table, elements.notes);
  require_memory_of_elements(p, runtime, memory);
  if (elements.sphere && heights) refuse_heights(*defaults.par());
  std::optional<Locator> locator;  // made when a file gives the first position
  const auto surface = [&](double easting, double northing) {
    if (!locator) locator.emplace(p.mesh);
    return locator->top(easting, northing);
  };
  const Ground ground{of_files, surface, elements.sphere, heights};
  auto sources = read_sources(job, defaults, ground);
  put_into_fluids(sources, p.mesh);
  auto receivers = read_receivers(job, table, stations.survey, ground);
  warn_of_degrees(job, table, ground, defaults, elements.warnings);
  p.sources = std::move(sources.sources), p.receivers = std::move(receivers.places);
  p.origins = {std::move(sources.origins), std::move(receivers.origins)};
  p.snapshots = read_snapshots(job, defaults.par());
  require_a_file_for(p.snapshots, job);
  if (elements.sphere) notes.clear();  // removes notes about projections, which a sphere does not need
  for (const auto* more : {&notes, &sources.notes, &stations.notes})
    elements.notes.insert(elements.notes.end(), more->begin(), more->end());
  elements.warnings.insert(elements.warnings.end(), stations.warnings.begin(), stations.warnings.end());
  JobOrigin origin{job.source(), of_files && !elements.sphere ? of_files->definition() : std::string()};
  try {
    auto made =
        std::make_unique<Simulation>(std::move(p), std::move(elements.cells), quantity, std::move(origin));
    made->names_ = std::move(receivers.names);
    made->words_ = std::move(stations.words);
    name_receivers(made->words_, stations.survey.size(), made->names_);
    if (elements.sphere && quantity != Quantity::pressure)
      for (const auto& x : made->problem_.receivers) made->frames_.push_back(elements.sphere->frame(x));
    made->notes_ = std::move(elements.notes);
    made->warnings_.insert(made->warnings_.end(), elements.warnings.begin(), elements.warnings.end());
    made->prepare_errors(interfaces, static_cast<bool>(elements.surface), job, table, memory, request);
    return made;
  } catch (const InputError& error) {
    throw_where_it_is_said(error, job, table, defaults.par());
  }
}

/// Memory of the elements and points of all ranks' parts. In addition every rank has the whole mesh, and a
/// list of the rank of each element.
Simulation::Bytes Simulation::memory_of(const Problem& p, const Picture& shown, const Runtime& runtime) {
  const auto each = static_cast<double>(p.points_of_element()), elements = static_cast<double>(p.mesh.size()),
             ranks = static_cast<double>(runtime.comm ? runtime.comm->size() : 1);
  const bool on_device = resolve(runtime.device).has_own_memory();
  const double number = p.precision == Precision::single_precision ? 4 : 8;
  // Average number of points per element, as elements share points.
  const double own = std::pow(p.degree, 3);
  const BytesOfElement of(p.degree, number, p.sums == Sums::fixed || !on_device);
  const double mesh = bytes_of_mesh * ranks, parting = ranks > 1 ? 170 * ranks : 0;
  const double run = on_device ? of.field_of_device : of.field_of_host;
  const double set_up = mesh + std::max(of.part + of.placing, parting);
  const auto varying = static_cast<double>(p.mesh.varying());
  const double memory =
      varying * each * 2 * number +  // λ and μ at points
      static_cast<double>(memory_begins(p).back()) * number +
      static_cast<double>(p.mesh.curves.size()) * (10 * each * number + sizeof(Vector) * 27);
  // Elements of perfectly matched layers also store filters of each axis, and damping at their points.
  const auto fading = static_cast<double>(
      std::count_if(p.mesh.fading.begin(), p.mesh.fading.end(), [](auto axes) { return axes; }));
  const double bytes_of_fading_medium = medium_numbers(Rheology::matched, p.degree + 1) * number + 100 * own;
  // Snapshots: positions of their points and cells, twice, because a data set has a copy; one snapshot while
  // it is gathered from all ranks; and, unless a file stores them (Pictures), all of them twice.
  const bool on_disk = !runtime.checkpoint.file.empty();
  const double pushed = std::min(static_cast<double>(p.sources.size()) * each, elements * own);
  const auto taken = static_cast<double>(p.pictures());
  const double pictures = static_cast<double>(shown.size()) * (108 + (on_disk ? 36 : 24 * taken)) +
                          8 * static_cast<double>(shown.cells.size());
  const double fields = elements * run + fading * bytes_of_fading_medium + memory +
                        pushed * rows_at_once * 3 * number;  // changes by sources at points, for the steps
                                                             // that are loaded together
  const double host =
      elements * set_up + static_cast<double>(p.mesh.media.size() * sizeof(Medium)) * ranks + pictures +
      varying * each * sizeof(PointRock) * ranks +
      8.0 * static_cast<double>(p.steps_taken() * (6 * p.receivers.size() + 2 * p.sources.size())) +
      static_cast<double>(p.sources.size()) * each * (64 + 3 * number);  // PointSource of each point
  return on_device ? Bytes{host, fields} : Bytes{host + fields, 0};
}

Simulation::Bytes Simulation::memory_needed(const Runtime& runtime) const {
  auto bytes = memory_of(problem_, shown_, runtime);
  const auto& other = companion_.problem;
  if (!other) return bytes;
  const auto its = memory_of(*other, {}, runtime);
  const auto mesh = [](const Problem& p) { return bytes_of_mesh * static_cast<double>(p.mesh.size()); };
  const double traces = 8.0 * static_cast<double>(problem_.steps() * 3 * problem_.receivers.size());
  return {std::max(bytes.host + mesh(*other), its.host + mesh(problem_) + traces),
          std::max(bytes.device, its.device)};
}

MemoryBudget Simulation::choose(const Runtime& runtime) const { return memory_budget(runtime); }

void Simulation::describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const {
  const auto& p = problem_;
  facts.problem = fmt::format("{} elements over {} steps", grouped(p.mesh.size()), grouped(p.steps()));
  facts.method = fmt::format("spectral elements of degree {}", p.degree);
  facts.reason = fmt::format("steps of {:.4g} s, stable up to {:.4g} s, which {} limits", p.step,
                             p.stable_step, place_of(p.mesh, p.stiffest));
  facts.device = device_text(runtime);
  facts.work = static_cast<double>(p.mesh.size()) * static_cast<double>(p.steps_taken());
  facts.work_unit = "element steps";
  const auto bytes = memory_needed(runtime);
  facts.memory_bytes = static_cast<std::size_t>(bytes.host);
  if (bytes.device > 0) {
    const double each = bytes.device / (runtime.comm ? runtime.comm->size() : 1);
    facts.add("device_bytes", each, "B", "on the device", fmt::format("{} of each rank", bytes_text(each)));
  }
  facts.add("elements", std::uint64_t{p.mesh.size()}, "", "elements");
  facts.add("sources", std::uint64_t{p.sources.size()}, "", "sources");
  facts.add("receivers", std::uint64_t{p.receivers.size()}, "", "receivers");
  facts.add("steps", std::uint64_t{p.steps()}, "", "steps");
  facts.add("begin", p.begin, "s");
  facts.add("step", p.step, "s");
  facts.add("stable_step", p.stable_step, "s");
  facts.add("resolved_frequency", p.resolved_frequency, "Hz", "resolved",
            fmt::format("to {:.4g} Hz with five points per wavelength, in {}; sources reach {:.4g} Hz",
                        p.resolved_frequency, place_of(p.mesh, p.coarsest), p.highest_frequency));
  facts.add("quality", worst_shape_.quality, "", "worst shape",
            fmt::format("{:.3g}, where a brick has 1, in {}", worst_shape_.quality,
                        place_of(p.mesh, worst_shape_.element)));
  facts.add("points_per_wavelength", p.points_per_wavelength);
  if (p.pictures() > 0)
    facts.add("snapshots", std::uint64_t{p.pictures()}, "", "snapshots",
              fmt::format("{} of {} points, {:.3g} GB in a file", p.pictures(), grouped(shown_.size()),
                          12e-9 * static_cast<double>(shown_.size() * p.pictures())));
  describe_errors(facts);
}

void Simulation::foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const {
  memory.require("run", plan.problem, static_cast<double>(plan.memory_bytes));
  // Elements of degree 4 that are computed per second: 500,000 on a core, 2e8 on a GPU. The work per element
  // grows with the fourth power of the number of its points in one direction.
  const auto device = resolve(runtime.device);
  const double rate = device.kind == Device::Kind::cuda ? 2e8 : 5e5 * thread_count(runtime.threads);
  // An element of a perfectly matched layer takes as long as three other elements.
  const auto& fading = problem_.mesh.fading;
  const auto matched = std::count_if(fading.begin(), fading.end(), [](auto axes) { return axes != 0; });
  const double dearer = 1 + 2 * static_cast<double>(matched) / static_cast<double>(problem_.mesh.size());
  plan.seconds = dearer * plan.work * std::pow((problem_.degree + 1) / 5.0, 4) / rate;
  if (const auto& other = companion_.problem)
    plan.seconds *= 1 + static_cast<double>(other->mesh.size() * other->steps_taken()) / plan.work;
}

Dataset Simulation::compute(Result& result, const MemoryBudget&, const Runtime& runtime) {
  const auto begin = std::chrono::steady_clock::now();
  auto done = march(problem_, runtime);
  auto traces = seismograms(problem_, done, quantity_, runtime.threads);
  turn(traces, frames_, problem_.steps());
  auto& report = result.report;
  report.add("seconds_of_steps", done.seconds, "s");
  double largest = 0;
  for (const double value : traces) largest = std::max(largest, std::fabs(value));
  const char* const unit = text_of(quantity_).unit;
  report.add("largest", largest, unit, "largest", fmt::format("{:.4g} {} at any receiver", largest, unit));
  report.notes.insert(report.notes.end(), done.notes.begin(), done.notes.end());
  report.warnings.insert(report.warnings.end(), done.warnings.begin(), done.warnings.end());
  std::vector<double> errors;
  if (accuracy_.states_errors()) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    errors = state_errors(traces, seconds, runtime, result);
  }
  auto data = dataset(std::move(traces), done.pictures);
  if (accuracy_.states_errors()) data.find(quantity_name(quantity_) + "_error")->values = std::move(errors);
  if (done.pictures.on_disk())
    result.entries.push_back(
        {data.variables.back().name,
         [kept = done.pictures](std::size_t entry, std::span<float> values) { kept.get(entry, values); }});
  return data;
}

Result Simulation::outline() const { return outline_of(physics_, job_, dataset({}, {})); }

Dataset Simulation::dataset(std::vector<double> traces, const Pictures& pictures) const {
  const bool pressure = quantity_ == Quantity::pressure;
  Dataset data;
  data.dimensions = {{"receiver", problem_.receivers.size()}, {"time", problem_.steps()}};
  if (!pressure) data.dimensions.insert(data.dimensions.begin() + 1, {"component", 3});
  std::array<std::vector<double>, 3> at;
  for (const auto& receiver : problem_.receivers)
    for (std::size_t d = 0; d < 3; ++d) at[d].push_back(receiver[d]);
  data.coordinates = {{"time", "s", "time", {"time"}, times(problem_, quantity_), {}},
                      {"receiver", "", "name of the receiver", {"receiver"}, names_, {}},
                      {"receiver_easting", "m", "easting of the receiver", {"receiver"}, at[0], {}},
                      {"receiver_northing", "m", "northing of the receiver", {"receiver"}, at[1], {}},
                      {"receiver_up", "m", "height of the receiver", {"receiver"}, at[2], {}}};
  std::vector<std::string> dimensions{"receiver", "time"};
  if (!pressure) {
    dimensions.insert(dimensions.begin() + 1, "component");
    data.coordinates.insert(data.coordinates.begin(),
                            {"component", "", "east, north or up", {"component"}, directions(), {}});
  }
  const auto [name, unit, text] = text_of(quantity_);
  const std::size_t steps = problem_.steps(), each = pressure ? 1 : 3;
  std::vector<double> peaks, across;
  for (std::size_t r = 0; r < problem_.receivers.size() && !traces.empty(); ++r) {
    double most = 0, most_across = 0;
    for (std::size_t n = 0; n < steps; ++n) {
      const double* const now = &traces[r * each * steps + n];
      const double level = pressure ? 0 : std::hypot(now[0], now[steps]);
      most_across = std::max(most_across, level);
      most = std::max(most, pressure ? std::fabs(now[0]) : std::hypot(level, now[2 * steps]));
    }
    peaks.push_back(most), across.push_back(most_across);
  }
  data.variables = {{name, unit, text, std::move(dimensions), std::move(traces), {}},
                    {fmt::format("peak_{}", name), unit, "largest at any time", {"receiver"}, peaks, {}}};
  if (!pressure)
    data.variables.push_back({fmt::format("peak_horizontal_{}", name),
                              unit,
                              "largest at any time of the horizontal components together",
                              {"receiver"},
                              across,
                              {}});
  if (quantity_ == Quantity::velocity) add_shaking(data);
  if (accuracy_.states_errors()) {
    std::vector<std::string> of_trace{"receiver"};
    if (!pressure) of_trace.emplace_back("component");
    data.variables.push_back({fmt::format("{}_error", name),
                              unit,
                              "rms error of the trace",
                              std::move(of_trace),
                              std::vector<double>(),
                              {}});
  }
  if (problem_.pictures() > 0) add_pictures(data, pictures);
  return data;
}

/// Adds the largest horizontal displacement and acceleration at each receiver, in addition to the velocity.
void Simulation::add_shaking(Dataset& data) const {
  const auto& velocity = std::get<std::vector<double>>(data.find("velocity")->values);
  const std::size_t steps = problem_.steps();
  std::vector<double> moved, pushed;
  for (std::size_t r = 0; r < problem_.receivers.size() && !velocity.empty(); ++r) {
    double furthest = 0, hardest = 0;
    std::array<double, 2> at{}, before{};
    for (std::size_t n = 0; n < steps; ++n) {
      std::array<double, 2> change{};
      for (std::size_t c = 0; c < 2; ++c) {
        const double now = velocity[(3 * r + c) * steps + n];
        at[c] += now * problem_.step;
        change[c] = now - before[c];
        before[c] = now;
      }
      furthest = std::max(furthest, std::hypot(at[0], at[1]));
      hardest = std::max(hardest, std::hypot(change[0], change[1]) / problem_.step);
    }
    moved.push_back(furthest), pushed.push_back(hardest);
  }
  data.variables.push_back({"peak_horizontal_displacement",
                            "m",
                            "largest at any time of the horizontal components together",
                            {"receiver"},
                            moved,
                            {}});
  data.variables.push_back({"peak_horizontal_acceleration",
                            "m/s2",
                            "largest at any time of the horizontal components together",
                            {"receiver"},
                            pushed,
                            {}});
}

/// Adds the snapshots, in the layout of io/vtkhdf.hpp, as the last variable; without values if these are on
/// disk.
void Simulation::add_pictures(Dataset& data, const Pictures& pictures) const {
  if (data.dimension("component") == nullptr) {
    data.dimensions.push_back({"component", 3});
    data.coordinates.push_back({"component", "", "east, north or up", {"component"}, directions(), {}});
  }
  data.dimensions.insert(data.dimensions.end(), {{"snapshot", problem_.pictures()},
                                                 {"point", shown_.size()},
                                                 {"cell", shown_.cells.size() / shown_.corners},
                                                 {"corner", shown_.corners}});
  data.coordinates.push_back(
      {"snapshot", "s", "time of the snapshot", {"snapshot"}, times_of_pictures(problem_), {}});
  std::array<std::vector<double>, 3> at;
  for (const auto& x : places_of(problem_, shown_))
    for (std::size_t d = 0; d < 3; ++d) at[d].push_back(x[d]);
  data.coordinates.push_back({"point_easting", "m", "easting of the point", {"point"}, at[0], {}});
  data.coordinates.push_back({"point_northing", "m", "northing of the point", {"point"}, at[1], {}});
  data.coordinates.push_back({"point_up", "m", "height of the point", {"point"}, at[2], {}});
  data.variables.push_back({"cell_points",
                            "",
                            "points that bound a cell, counted from 0 in the order of VTK",
                            {"cell", "corner"},
                            shown_.cells,
                            {}});
  const bool velocity = problem_.snapshots.velocity;
  data.variables.push_back({velocity ? "snapshot_velocity" : "snapshot_displacement",
                            velocity ? "m/s" : "m",
                            velocity ? "velocity everywhere" : "displacement everywhere",
                            {"snapshot", "point", "component"},
                            pictures.on_disk() ? std::vector<float>() : pictures.all(),
                            {}});
}

io::Content Simulation::model(bool with_values) const {
  if (cells_.size() == 0)
    throw InputError(
        "output.model",
        "a file of the model has one value for each cell, and elements of [elements] are no cells",
        "Leave output.model out.");
  std::array<std::vector<double>, 3> values;
  for (std::size_t n = 0; n < cells_.size() && with_values; ++n) {
    const auto& medium = problem_.mesh.medium_of(n);
    values[0].push_back(medium.speeds({0, 0, 1})[0]);
    values[1].push_back(medium.speeds({0, 0, 1})[2]);
    values[2].push_back(medium.density);
  }
  return io::MeshData{cells_,
                      {{"velocity_p", "m/s", "velocity of compressional waves", values[0]},
                       {"velocity_s", "m/s", "velocity of shear waves", values[1]},
                       {"density", "kg/m3", "density", values[2]}},
                      provenance(physics_, job_)};
}

}  // namespace terrane::elastic
