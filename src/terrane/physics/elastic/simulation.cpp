#include "terrane/physics/elastic/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <list>
#include <map>

#include "terrane/base/memory.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/elastic/elements.hpp"
#include "terrane/physics/elastic/layers.hpp"
#include "terrane/physics/elastic/march.hpp"
#include "terrane/physics/elastic/margin.hpp"
#include "terrane/physics/elastic/mesh_plan.hpp"
#include "terrane/physics/elastic/par_file.hpp"
#include "terrane/physics/elastic/part.hpp"
#include "terrane/physics/elastic/specfem.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/provenance.hpp"

namespace terrane::elastic {

namespace {

constexpr Key simulation_keys[] = {
    {"physics", "text", "", "What is computed.", "\"elastic\""},
    {"par_file", "path", "none",
     "Par_file of SPECFEM3D. What the job leaves out it takes from there: end, step, absorbing, boundary, "
     "quantity, reference_frequency, the sources of CMTSOLUTION or FORCESOLUTION and the STATIONS beside it, "
     "and snapshots."},
    {"end", "time", "",
     "Last time. The run begins before the first source does, and no later than at time 0.", "2"},
    {"begin", "time", "none", "First time, when all is at rest; without it, the sources decide."},
    {"step", "time", "none", "Time step; without it, 0.97 of the longest stable one."},
    {"degree", "count", "4", "Degree of the polynomials in an element, 2 to 8; 4 is the fastest."},
    {"precision", "text", "\"single\"", "Numbers of the computation: single or double."},
    {"sums", "text", "\"fixed\"",
     "fixed: the same bits on any threads and ranks; fast: in any order, on a GPU by itself."},
    {"absorbing", "list of texts", "[\"west\", \"east\", \"south\", \"north\", \"bottom\"]",
     "Absorbing sides; the others are free surfaces."},
    {"boundary", "text", "\"stacey\"",
     "How sides absorb: stacey, a condition on the face, which reflects some 10 %; pml, perfectly matched "
     "layers "
     "of elements that are added beyond each side, which reflect some 0.3 % and take longer."},
    {"boundary_elements", "count", "3", "Elements of each perfectly matched layer, 2 to 8."},
    {"surface", "path", "none",
     "Elevation grid of the ground: columns of cells are stretched from the bottom, which stays, up to it."},
    {"time_dispersion", "text", "\"removed\"",
     "The error of time steps: removed from the seismograms, or kept."},
    {"reference_frequency", "frequency", "1",
     "Frequency at which rock with a Q (quality_p, quality_s) has its velocities."},
    {"stations", "path", "none",
     "Receivers from a STATIONS file of SPECFEM3D, beside those of [survey], which may then be left out."},
    {"quantity", "text", "\"displacement\"",
     "What receivers record: displacement, velocity, or pressure, which only fluids have (velocity_s = 0).",
     "\"velocity\""},
};
constexpr Key source_keys[] = {
    {"table", "path", "none",
     "CSV of many sources, as of a finite fault: easting, northing, up in m; ee, nn, uu, nu, eu, en in N m, "
     "or "
     "force_east, force_north, force_up in N; delay and duration or frequency where they differ. The pulse "
     "is that of "
     "this [[source]]."},
    {"file", "path", "none", "CMTSOLUTION or FORCESOLUTION of SPECFEM3D, in place of all other keys."},
    {"at", "list of 3 lengths", "none", "Easting, northing, up.", "[1000, 1000, -500]"},
    {"force", "list of 3 numbers", "none",
     "East, north, up, N; in a chunk of the sphere those of its middle, as of moment.", "[0, 0, 1e9]"},
    {"moment", "list of 6 numbers", "none",
     "Moment tensor in place of a force: ee, nn, uu, nu, eu, en in N m."},
    {"pulse", "text", "\"ricker\"",
     "ricker, gaussian (of unit area), step (its integral; usual for moment tensors), or samples."},
    {"frequency", "frequency", "none", "Peak frequency of a ricker.", "8"},
    {"duration", "time", "none",
     "τ of a gaussian exp(−t²/τ²) or of a step; of samples the time between two."},
    {"samples", "list of numbers", "none", "The time function, from `delay` on; linear in between."},
    {"delay", "time", "0", "Time of the middle of the pulse."},
};
constexpr Key snapshot_keys[] = {
    {"of", "text", "\"surface\"",
     "surface: the points under the free surface; volume: all points of elements, 1 kB per element and "
     "snapshot."},
    {"every", "time", "", "From one to the next, rounded to whole time steps.", "0.1"},
    {"quantity", "text", "\"velocity\"", "What they show: velocity or displacement."},
    {"box", "list of 6 lengths", "none",
     "West, east, south, north, bottom, top: only elements with their middles in it. A flat box is a slice."},
};
constexpr Section all_sections[] = {
    {"source", "", "What moves the earth; several as [[source]].", source_keys},
    {"snapshots", "",
     "Snapshots of the whole field, for films: in files .vtkhdf (ParaView) and .nc of output.files.",
     snapshot_keys, false},
    {"simulation", "", "For how long, and how.", simulation_keys},
};

/// The pulse of a [[source]]: its kind and width, and when.
Course read_course(const Config& table, bool width_is_elsewhere) {
  Course course;
  course.pulse = chosen<Pulse>(table, "pulse", pulse_names);
  const bool ricker = course.pulse == Pulse::ricker;
  const char* const width = ricker ? "frequency" : "duration";
  course.delay = table.number("delay", terrane::Quantity::time);
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
  const auto strength = source.is_moment ? table.numbers("moment", terrane::Quantity::dimensionless, 6)
                                         : table.numbers("force", terrane::Quantity::dimensionless, 3);
  std::copy(strength.begin(), strength.end(), source.strength.begin());
  source.course = read_course(table, false);
  return source;
}

/// Places of SPECFEM3D's files: on the sphere where the mesh is a chunk of it, else by the projection of the
/// mesh where there is one; and down from the surface.
struct Ground {
  std::optional<Projection> projection;
  std::function<double(double, double)> surface;
  double top;
  std::optional<Placement> sphere;

  Vector below(double longitude, double latitude, double depth) const {
    if (sphere) return sphere->at(longitude, latitude, depth);
    double easting = longitude, northing = latitude;
    if (projection) projection->forward({&longitude, 1}, {&latitude, 1}, {&easting, 1}, {&northing, 1});
    return {easting, northing, (surface ? surface(easting, northing) : top) - depth};
  }
};

/// A Par_file, and what it stands for in tables that the job leaves out.
class Defaults {
 public:
  explicit Defaults(const Config& simulation)
      : keys_(std::begin(simulation_keys), std::end(simulation_keys)) {
    const auto file = simulation.optional_input_file("par_file");
    if (!file) return;
    par_ = read_par_file(*file);
    const auto beside = [&](const char* name) {
      const auto path = std::filesystem::absolute(*file).parent_path() / name;
      return std::filesystem::exists(path) ? path : std::filesystem::path();
    };
    solution_ = beside(par_->forces ? "FORCESOLUTION" : "CMTSOLUTION");
    set("end", fmt::format("{}", static_cast<double>(par_->steps) * par_->step));
    set("step", fmt::format("{}", par_->step));
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

  /// The keys of [simulation], with other defaults; they look at texts of this object.
  std::span<const Key> keys() const { return keys_; }
  const std::optional<ParFile>& par() const { return par_; }
  /// Where the sources are; empty: nowhere.
  const std::filesystem::path& solution() const { return solution_; }

 private:
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

/// A finite fault: a source for each row of a table.
void read_fault(const Config& table, std::vector<Source>& sources) {
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
    sources.push_back(std::move(source));
  }
}

/// From east, north and up of a place into the axes in which `frame` has them.
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

/// Seismograms [receivers][3][steps] into east, north and up of each receiver.
void turn(std::vector<double>& traces, const std::vector<Placement::Frame>& frames, std::size_t steps) {
  for (std::size_t r = 0; r < frames.size(); ++r)
    for (std::size_t n = 0; n < steps; ++n) {
      double* const at = &traces[3 * r * steps + n];
      const Vector v{at[0], at[steps], at[2 * steps]};
      for (std::size_t a = 0; a < 3; ++a) at[a * steps] = dot(frames[r][a], v);
    }
}

void add_solution(const std::filesystem::path& file, const Ground& ground, std::vector<Source>& sources) {
  for (auto& s : read_solution(file)) {
    s.source.at = ground.below(s.longitude, s.latitude, s.depth);
    if (ground.sphere) turn(s.source, ground.sphere->frame(s.longitude, s.latitude));
    sources.push_back(std::move(s.source));
  }
}

void read_sources(const Config& job, const Defaults& defaults, const Ground& ground,
                  std::vector<Source>& sources) {
  if (!job.has("source") && !defaults.solution().empty())
    return add_solution(defaults.solution(), ground, sources);
  for (const auto& given : job.tables("source")) {
    const auto table = given.describe({source_keys});
    if (table.has("table")) {
      read_fault(table, sources);
      continue;
    }
    if (!table.has("file")) {
      sources.push_back(read_source(table));
      continue;
    }
    add_solution(table.input_file("file"), ground, sources);
  }
}

/// Of the job's survey, and then of its STATIONS file.
void add_receivers(const Config& table, const Survey& survey, const Ground& ground,
                   std::vector<Vector>& receivers, std::vector<std::string>& names) {
  receivers = positions_of(survey);
  for (std::size_t n = 0; n < survey.size(); ++n) names.push_back(fmt::format("{}", n + 1));
  const auto stations = table.optional_input_file("stations");
  if (!stations) return;
  for (const auto& s : read_stations(*stations)) {
    receivers.push_back(ground.below(s.longitude, s.latitude, s.burial));
    names.push_back(s.network + "." + s.name);
  }
}

Snapshots read_snapshots(const Config& job, const std::optional<ParFile>& par) {
  Snapshots snapshots;
  if (!job.has("snapshots")) {
    if (!par || par->film_every == 0) return snapshots;
    snapshots.of = Snapshots::Of::surface;
    snapshots.interval = static_cast<double>(par->film_every) * par->step;
    return snapshots;
  }
  const auto table = job.table("snapshots").describe({snapshot_keys});
  snapshots.of =
      table.choice("of", {"surface", "volume"}) == "volume" ? Snapshots::Of::volume : Snapshots::Of::surface;
  snapshots.velocity = table.choice("quantity", {"velocity", "displacement"}) == "velocity";
  snapshots.interval = table.positive("every", terrane::Quantity::time);
  if (table.has("box")) {
    const auto box = table.numbers("box", terrane::Quantity::length, 6);
    std::copy(box.begin(), box.end(), snapshots.box.begin());
  }
  return snapshots;
}

/// "element 17 at easting …" for people.
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

}  // namespace

std::span<const Section> sections() { return all_sections; }

Simulation::Simulation(Problem problem, TensorMesh cells, Quantity quantity, std::string job)
    : problem_(std::move(problem)), cells_(std::move(cells)), quantity_(quantity), job_(std::move(job)) {
  for (std::size_t n = 0; n < problem_.receivers.size(); ++n) names_.push_back(fmt::format("{}", n + 1));
  problem_.settle();
  for (std::uint32_t n = 0; n < problem_.mesh.size(); ++n)
    if (const double here = quality(problem_.mesh.element(n)); here < worst_shape_.quality)
      worst_shape_ = {n, here};
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
  if (problem_.pictures() > 0) shown_ = picture_of(problem_);
  if (problem_.precision == Precision::single_precision && problem_.steps() > 50'000)
    warnings_.push_back(
        fmt::format("after {} steps in single precision expect a drift of {:.1g} of the amplitude; "
                    "precision = \"double\" has none",
                    problem_.steps(), 1e-8 * static_cast<double>(problem_.steps())));
}

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  const auto memory = memory_budget(runtime);
  const Defaults defaults(job.table("simulation").describe({simulation_keys, Runtime::section().keys}));
  const auto table = job.table("simulation").describe({defaults.keys(), Runtime::section().keys});
  table.text("physics");
  Stations stations;
  if (job.has("survey") || !table.optional_text("stations")) stations = build_survey(job, memory);
  else if (const auto definition = projection_definition(job); definition && *definition != "utm")
    stations.projection = Projection(*definition);
  EarthRequest request;
  request.cuts_ground = job.has("model") && job.table("model").has("topography");
  request.plan = [&](const Description& described, const MeshWish& wish) {
    std::vector<Source> sources;
    const auto top = described.topography ? described.ground(0, 0) : 0;
    const Ground level{stations.projection, {}, top, {}};
    read_sources(job, defaults, level, sources);
    ElementWish waves;
    std::vector<std::string> names;
    add_receivers(table, stations.survey, level, waves.receivers, names);
    for (const auto& source : sources) {
      waves.sources.push_back(source.at);
      waves.highest_frequency = std::max(waves.highest_frequency, source.course.highest_frequency());
    }
    waves.degree = static_cast<int>(table.count("degree", least_degree, most_degree));
    waves.end = table.number("end", terrane::Quantity::time);
    waves.matched = table.choice("boundary", {"stacey", "pml"}) == "pml";
    return plan_elements(described, wish, waves);
  };
  auto elements = build_elements(job, table, stations.projection, memory, request);
  Problem p;
  p.degree = static_cast<int>(table.count("degree", least_degree, most_degree));
  const bool single = table.choice("precision", {"single", "double"}) == "single";
  p.precision = single ? Precision::single_precision : Precision::double_precision;
  p.sums = table.choice("sums", {"fixed", "fast"}) == "fixed" ? Sums::fixed : Sums::fast;
  p.remove_dispersion = table.choice("time_dispersion", {"removed", "kept"}) == "removed";
  p.reference_frequency = table.positive("reference_frequency", terrane::Quantity::frequency);
  p.end = table.number("end", terrane::Quantity::time);
  if (const auto begin = table.optional_number("begin", terrane::Quantity::time))
    p.begin = *begin, p.begin_given = true;
  p.step = table.optional_number("step", terrane::Quantity::time).value_or(0);
  const auto quantity_name = table.choice("quantity", {"displacement", "velocity", "pressure"});
  const auto quantity = quantity_name == "velocity"   ? Quantity::velocity
                        : quantity_name == "pressure" ? Quantity::pressure
                                                      : Quantity::displacement;
  p.records_pressure = quantity == Quantity::pressure;
  const std::size_t size = elements.mesh.size();
  p.mesh = std::move(elements.mesh);
  if (const auto& par = defaults.par()) {
    elements.notes.insert(elements.notes.end(), par->notes.begin(), par->notes.end());
    for (auto& rock : p.mesh.media)
      if (!par->attenuation) rock.quality_kappa = rock.quality_mu = INFINITY;
  }
  const std::size_t in_front = table.count("boundary_elements", 2, 8);
  const bool matched = table.choice("boundary", {"stacey", "pml"}) == "pml";
  try {
    if (matched) add_margins(p.mesh, in_front);
  } catch (const InputError& error) {
    throw table.wrong("boundary", error.problem(), error.next());
  }
  if (p.mesh.size() > size)
    elements.notes.push_back(fmt::format("{} of the elements are perfectly matched layers beyond the sides",
                                         p.mesh.size() - size));
  memory.require("run", fmt::format("{} elements", p.mesh.size()),
                 static_cast<double>(p.mesh.size() * p.points_of_element()) * (single ? 64 : 90));
  const Ground ground{stations.projection, elements.surface, elements.top, elements.sphere};
  read_sources(job, defaults, ground, p.sources);
  std::vector<std::string> names;
  add_receivers(table, stations.survey, ground, p.receivers, names);
  p.snapshots = read_snapshots(job, defaults.par());
  try {
    auto made = std::make_unique<Simulation>(std::move(p), std::move(elements.cells), quantity, job.source());
    made->names_ = std::move(names);
    if (elements.sphere && quantity != Quantity::pressure)
      for (const auto& x : made->problem_.receivers) made->frames_.push_back(elements.sphere->frame(x));
    made->notes_ = std::move(elements.notes);
    made->warnings_.insert(made->warnings_.end(), elements.warnings.begin(), elements.warnings.end());
    return made;
  } catch (const InputError& error) {
    if (error.where() == "elastic: step") throw table.wrong("step", error.problem(), error.next());
    if (error.where() == "elastic: snapshots")
      throw InputError(job.where("snapshots"), error.problem(), error.next());
    if (error.where() == "elastic: end") throw table.wrong("end", error.problem(), error.next());
    if (error.where() == "elastic: mesh")
      throw InputError(job.where(job.has("elements") ? "elements" : "mesh"), error.problem(), error.next());
    throw;
  }
}

/// Bytes: what elements and points of one rank's part take when it is all of the mesh.
double Simulation::memory_needed(const Runtime& runtime) const {
  const auto each = static_cast<double>(problem_.points_of_element()),
             elements = static_cast<double>(problem_.mesh.size());
  const double number = problem_.precision == Precision::single_precision ? 4 : 8;
  const double own = std::pow(problem_.degree, 3);  // points per element
  const double run = each * (4 + 3 * number + 4) + own * (8 * number + 4) + 21 * number;
  const double set_up = each * (4 + 4 + 16 + 8 + 8) + own * 24 + 400;
  const double memory =
      static_cast<double>(memory_begins(problem_).back()) * number +
      static_cast<double>(problem_.mesh.curves.size()) * (10 * each * number + sizeof(Vector) * 27);
  // Elements of layers that waves fade in keep filters of each axis, damping and where each point leaves.
  const auto fading = static_cast<double>(std::count_if(
      problem_.mesh.fading.begin(), problem_.mesh.fading.end(), [](auto axes) { return axes; }));
  const double rock_of_fading = (22 + 24 * (problem_.degree + 1)) * number + 200 * own;
  // Snapshots: where their points are and what joins them, as it is and in a data set; one, as it comes from
  // all ranks; and where no file will take them (Pictures) all, twice.
  const bool on_disk = !runtime.checkpoint.file.empty();
  const double pushed = std::min(static_cast<double>(problem_.sources.size()) * each, elements * own);
  const auto taken = static_cast<double>(problem_.pictures());
  const double pictures = static_cast<double>(shown_.size()) * (92 + (on_disk ? 36 : 24 * taken)) +
                          8 * static_cast<double>(shown_.cells.size());
  return elements * (run + set_up) + fading * rock_of_fading + memory + pictures +
         8.0 * static_cast<double>(problem_.steps() *
                                   (6 * problem_.receivers.size() + 2 * problem_.sources.size())) +
         static_cast<double>(problem_.sources.size()) * each *
             (64 + 3 * number) +              // what each does to a point
         pushed * rows_at_once * 3 * number;  // and what all do to it in the steps that are loaded together
}

/// What plan and report have in common.
void Simulation::describe(RunFacts& facts, const Runtime& runtime) const {
  const auto& p = problem_;
  facts.problem = fmt::format("{} elements over {} steps", grouped(p.mesh.size()), grouped(p.steps()));
  facts.method = fmt::format("spectral elements of degree {}", p.degree);
  facts.reason = fmt::format("steps of {:.4g} s, stable up to {:.4g} s, which {} limits", p.step,
                             p.stable_step, place_of(p.mesh, p.stiffest));
  facts.device = device_text(runtime);
  facts.work = static_cast<double>(p.mesh.size()) * static_cast<double>(p.steps());
  facts.work_unit = "element steps";
  facts.memory_bytes = static_cast<std::size_t>(memory_needed(runtime));
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
  facts.notes = notes_;
  facts.warnings = warnings_;
}

Plan Simulation::check(const Runtime& runtime) {
  const auto memory = memory_budget(runtime);
  Plan plan;
  describe(plan, runtime);
  plan.memory_available = memory.bytes;
  memory.require("run", plan.problem, static_cast<double>(plan.memory_bytes));
  // Elements of degree 4 per second: 500,000 on a core, 2e8 on a GPU; the work grows with the fourth power.
  const auto device = resolve(runtime.device);
  const double rate = device.kind == Device::Kind::cuda ? 2e8 : 5e5 * thread_count(runtime.threads);
  // An element of a perfectly matched layer takes as long as three.
  const auto& fading = problem_.mesh.fading;
  const auto matched = std::count_if(fading.begin(), fading.end(), [](auto axes) { return axes != 0; });
  const double dearer = 1 + 2 * static_cast<double>(matched) / static_cast<double>(problem_.mesh.size());
  plan.seconds = dearer * plan.work * std::pow((problem_.degree + 1) / 5.0, 4) / rate;
  return plan;
}

Result Simulation::run(const Runtime& runtime) {
  const auto begin = std::chrono::steady_clock::now();
  Result result;
  describe(result.report, runtime);
  auto done = march(problem_, runtime);
  auto traces = seismograms(problem_, done, quantity_, runtime.threads);
  turn(traces, frames_, problem_.steps());
  auto& report = result.report;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.add("seconds_of_steps", done.seconds, "s");
  double largest = 0;
  for (const double value : traces) largest = std::max(largest, std::fabs(value));
  const char* const unit = text_of(quantity_).unit;
  report.add("largest", largest, unit, "largest", fmt::format("{:.4g} {} at any receiver", largest, unit));
  report.notes.insert(report.notes.end(), done.notes.begin(), done.notes.end());
  report.warnings.insert(report.warnings.end(), done.warnings.begin(), done.warnings.end());
  conclude(result, "elastic", job_, dataset(std::move(traces), done.pictures));
  if (done.pictures.on_disk())
    result.entries.push_back(
        {result.data.variables.back().name,
         [kept = done.pictures](std::size_t entry, std::span<float> values) { kept.get(entry, values); }});
  return result;
}

Result Simulation::outline() const { return outline_of("elastic", job_, dataset({}, {})); }

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
  if (problem_.pictures() > 0) add_pictures(data, pictures);
  return data;
}

/// What maps of shaking show beside the largest velocity: the same of displacement and acceleration.
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

/// Snapshots, as io/vtkhdf.hpp takes them, in the last variable; without values where these are on disk.
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

void Simulation::write_model(const std::string& path) const {
  std::array<std::vector<double>, 3> values;
  for (std::size_t n = 0; n < cells_.size(); ++n) {
    const auto& rock = problem_.mesh.rock(n);
    values[0].push_back(rock.speeds({0, 0, 1})[0]);
    values[1].push_back(rock.speeds({0, 0, 1})[2]);
    values[2].push_back(rock.density);
  }
  io::write(path, io::MeshData{cells_,
                               {{"velocity_p", "m/s", "velocity of compressional waves", values[0]},
                                {"velocity_s", "m/s", "velocity of shear waves", values[1]},
                                {"density", "kg/m3", "density", values[2]}},
                               provenance("elastic", job_)});
}

void Simulation::check_model(const std::string& path) const {
  if (cells_.size() == 0)
    throw InputError(
        path, "a file of the model has one value for each cell, and elements of [elements] are no cells",
        "Leave output.model out.");
  io::left_out(path, io::MeshData{cells_, {{"velocity_p", "m/s", "", {}}}, {}});
}

}  // namespace terrane::elastic
