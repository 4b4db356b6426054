#include "terrane/physics/heat/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "terrane/base/memory.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/blame.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/parallel/threads/copied.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/field_facts.hpp"

namespace terrane::heat {

namespace {

constexpr int near_source = 3;  // cells; receivers closer to the source cause a warning
// The estimated error of T is |T − T_companion| divided by of_warm_rock if temperatures change even without a
// source, else by of_temperatures.
constexpr double of_temperatures = 2.5, of_warm_rock = 2;

/// Values for rock that the model does not specify.
struct RockValues {
  double thermal_conductivity = 2.5, heat_capacity = 2.3e6, temperature = 0;

  template <class Self, class Field>
  static void fields(Self& v, Field& field) {
    field("temperature", v.temperature, number(Quantity::temperature, finite),
          "Temperature at time 0, above that of the surroundings, where the model has none.");
    field("thermal_conductivity", v.thermal_conductivity, number(Quantity::thermal_conductivity, positive),
          "Of rock of which the model does not say it.", "\"2.5 W/(m.K)\"");
    field("heat_capacity", v.heat_capacity, number(Quantity::heat_capacity, positive),
          "Of rock of which the model does not say it.");
  }
};

/// Heat added at a point.
struct Source {
  double power = 0, until = 0, heat = 0;

  template <class Self, class Field>
  static void fields(Self& s, Field& field) {
    field("power", s.power, number(finite), "Power from time 0 on, W.", "1e8");
    field("until", s.until, number(Quantity::time, positive).or_open(),
          "When the power is turned off; without it, at the end.");
    field("heat", s.heat, number(finite), "Heat released at time 0, J.");
  }
};

std::span<const Key> simulation_keys() {
  return keys_of<Problem, Accuracy>({{"physics", "text", "", "What is computed.", "\"heat\""}});
}
std::span<const Key> source_keys() {
  return keys_of<Source>(
      {{"at", "list of 3 lengths", "none",
        "Easting, northing, up of the source; the cells around it share the heat.", "[11, 11, -4, \"km\"]"}});
}

/// Whether a heat capacity per volume is not ρ c, J/(m³ K). Files round both, so a hundredth is allowed.
bool contradict(double capacity, double of_mass) {
  return std::fabs(capacity - of_mass) > 0.01 * capacity;  // false where there is no density
}

/// Throws the InputError for a cell with a heat capacity per mass whose density or heat capacity per volume
/// is wrong. capacity: NaN: it has none
[[noreturn]] void blame_capacity(double capacity, double density, double of_mass, std::size_t cell,
                                 const std::string& where) {
  if (std::isnan(capacity))
    throw InputError(where, fmt::format("a cell with a specific_heat has the density {} kg/m3", density),
                     "The density of the rock itself, not a contrast, is needed here.");
  throw InputError(where,
                   fmt::format("cell {} has a heat_capacity of {:.6g} J/(m3 K), and its density times its "
                               "specific_heat is {:.6g}",
                               cell, capacity, of_mass),
                   "They are one property: keep heat_capacity or specific_heat.");
}

/// Sets C = ρ c, if the model has the density and the heat capacity per mass, but not that per volume.
void use_specific_heat(EarthModel& model, const std::string& where) {
  if (!model.has("specific_heat")) return;
  if (!model.has("density"))
    throw InputError(where, "specific_heat is per mass, and the model has no density",
                     "Give the density too, or heat_capacity, which is per volume.");
  const auto &specific = model.property("specific_heat"), &density = model.property("density");
  auto capacity = model.has("heat_capacity") ? copied(model.property("heat_capacity"))
                                             : filled(model.size(), std::numeric_limits<double>::quiet_NaN());
  const auto of_mass = [&](std::size_t n) { return density[n] * specific[n]; };
  const auto is_wrong = [&](std::size_t n) {
    if (std::isnan(specific[n])) return false;
    return std::isnan(capacity[n]) ? !(density[n] > 0) : contradict(capacity[n], of_mass(n));
  };
  if (const auto n = first_where(capacity.size(), 0, is_wrong); n < capacity.size())
    blame_capacity(capacity[n], density[n], of_mass(n), n, where);
  for_each_stretch(capacity.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n)
      if (std::isnan(capacity[n]) && !std::isnan(specific[n])) capacity[n] = of_mass(n);
  });
  std::erase_if(model.properties, [](const Property& p) { return p.name == "heat_capacity"; });
  model.properties.push_back({"heat_capacity", std::move(capacity)});
}

/// Names of bodies that are less than two cells across, which neither the mesh nor its companion resolves.
std::vector<std::string> not_held(const Description& earth, const TensorMesh& mesh,
                                  const std::vector<std::string>& tables) {
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  std::vector<std::string> lines;
  for (std::size_t n = 0; n < earth.bodies.size(); ++n) {
    const auto box = bounds(earth.bodies[n].shape);
    const double at[3][2] = {{box.west, box.east}, {box.south, box.north}, {box.bottom, box.top}};
    for (std::size_t a = 0; a < 3; ++a) {
      const auto& f = *faces[a];
      double widest = 0;
      for (std::size_t m = 1; m < f.size(); ++m)
        if (f[m - 1] < at[a][1] && f[m] > at[a][0]) widest = std::max(widest, f[m] - f[m - 1]);
      if (f.size() == 2 || !(at[a][1] - at[a][0] < 1.99 * widest)) continue;
      lines.push_back(fmt::format(
          "{}: it is {:.3g} m across in cells of {:.3g} m, and less than two do not hold it",
          n < tables.size() ? tables[n] : fmt::format("body {}", n + 1), at[a][1] - at[a][0], widest));
      break;
    }
  }
  return lines;
}

/// The rock described by the tables [mesh] and [model], completed by the keys of [simulation]. unheld: if not
/// null, is set to true if cells do not resolve some body, else to false
Earth rock_of(const Config& job, const Config& table, const MemoryBudget& memory, bool* unheld) {
  RockValues values;
  read_fields(table, values);
  const std::vector<PropertyValue> usual{{"thermal_conductivity", values.thermal_conductivity},
                                         {"heat_capacity", values.heat_capacity},
                                         {"temperature", values.temperature},
                                         {"heat_production", 0}};
  Earth earth;
  expect_above_zero(job, {"thermal_conductivity", "heat_capacity", "specific_heat"}, "heat conduction needs");
  EarthRequest request;
  request.reads = {"thermal_conductivity", "heat_capacity",  "specific_heat", "density",
                   "temperature",          "heat_production"};
  request.reads_beside = {{"density", "specific_heat"}};
  if (unheld != nullptr)
    request.warn = [unheld](const Description& described, const TensorMesh& mesh, const auto& tables) {
      auto lines = not_held(described, mesh, tables);
      *unheld = *unheld || !lines.empty();
      return lines;
    };
  if (job.has("model")) earth = build_earth(job, std::nullopt, memory, request);
  else earth.model.geometry = MeshCells{build_mesh(job), {}};
  const auto* cells = std::get_if<MeshCells>(&earth.model.geometry);
  if (cells == nullptr)
    throw job.table("mesh").wrong("kind", "heat is conducted through the cells of a mesh",
                                  "Take regular, tensor or file.");
  memory.require("run", fmt::format("{} cells", cells->mesh.size()),
                 22.0 * 8 * static_cast<double>(cells->mesh.size()));
  use_specific_heat(earth.model, job.table("model").where());
  fill(earth.model, usual);
  return earth;
}

/// Whether any value is not `alike`.
bool differs_from(const std::vector<double>& values, double alike) {
  return first_where(values.size(), 0, [&](std::size_t n) { return values[n] != alike; }) < values.size();
}

/// Multiplies the heat produced per volume in each cell, W/m³, by the cell's volume.
void times_volume(Problem& p, int threads) {
  for_each_stretch(p.production.size(), threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) p.production[n] *= p.volume(n);
  });
}

/// Adds a note if rock is hundreds of kelvin above its surroundings: absolute temperatures may have been
/// meant.
void note_absolute(const Problem& problem, std::vector<std::string>& notes) {
  const double warmest =
      largest_value(problem.initial.size(), 0, [&](std::size_t n) { return problem.initial[n]; });
  if (warmest > 200)
    notes.push_back(fmt::format(
        "temperatures are above that of the surroundings: {:.4g} K is that much warmer than they are",
        warmest));
}

/// The point source of table [source], if the job has one.
std::optional<PointSource> read_source(const Config& table) {
  Source source;
  read_fields(table, source);
  if (table.has("at")) {
    const auto until = source.until > 0 ? std::optional(source.until) : std::nullopt;
    return PointSource{read_position(table, "at"), source.power, until, source.heat};
  }
  for (const auto* key : {"power", "heat", "until"})
    if (table.has(key))
      throw table.wrong("at", "missing", "Easting, northing, up of the source: at = [0, 0, -50].");
  return std::nullopt;
}

/// Warns of points near a source, where the temperature varies as 1/r, which cells resolve badly. The limits
/// were measured in the tests HeatAtPoints. exact: indices of points that are corrected by the closed form
void warn_of_near_sources(const TensorMesh& mesh, const Position& source, const std::vector<Position>& points,
                          const std::vector<std::size_t>& exact, std::vector<std::string>& warnings) {
  std::size_t near = 0, first = 0;
  for (std::size_t n = 0; n < points.size(); ++n) {
    if (std::binary_search(exact.begin(), exact.end(), n)) continue;
    if (cells_between(mesh, source, points[n]) >= near_source) continue;
    if (near++ == 0) first = n;
  }
  if (near > 0)
    warnings.push_back(fmt::format(
        "{} of {} receivers lie less than {} cells from the source and have no closed form, as other rock is "
        "beside or between them or they are at it; the first is receiver {}: errors of 5 % and more; take "
        "smaller cells there",
        near, points.size(), near_source, first + 1));
}

/// Warns of implicit steps in which temperatures change much. For a heater in an infinite medium,
/// temperatures after one step are 23 % too low at r = √(Dt), 14 % at r = √(4Dt), and four times too high at
/// r = √(16Dt) (D: diffusivity, t: time of the step); n steps have about 1/n of these errors.
void warn_of_long_steps(const Problem& p, std::vector<std::string>& warnings) {
  constexpr std::size_t few = 20;
  const bool changes = differs_from(p.power, 0) || differs_from(p.production, 0) ||
                       (p.boundary == Boundary::fixed && !p.initial.empty() && p.initial.front() != 0) ||
                       (!p.initial.empty() && differs_from(p.initial, p.initial.front()));
  if (p.method != Method::implicit_steps || p.steps() >= few || !changes) return;
  warnings.push_back(
      fmt::format("{} {} of {:.3g} s until the end: temperatures are wrong by {:.2g} % and more, and by any "
                  "factor where warmth arrives late; take simulation.step = {:.3g} s, or leave it out",
                  p.steps(), p.steps() == 1 ? "step" : "steps", p.step, 25.0 / static_cast<double>(p.steps()),
                  p.end / 100));
}

/// Warns of receivers in the first cells beside a side with T = 0, if the rock is warm at time 0:
/// temperatures are inaccurate until heat has diffused through these cells. The limits were measured in the
/// tests HeatAtPoints.
void warn_of_fixed_sides(const Problem& p, const std::vector<Position>& points,
                         std::vector<std::string>& warnings) {
  if (p.boundary != Boundary::fixed) return;
  constexpr double passes = 1.5, soon = 0.05;
  const std::array faces{&p.mesh.easting(), &p.mesh.northing(), &p.mesh.up()};
  std::size_t near = 0, first = 0;
  double latest = 0;
  for (std::size_t n = 0; n < points.size(); ++n) {
    std::array<std::size_t, 3> cell{};
    for (std::size_t a = 0; a < 3; ++a)
      cell[a] = static_cast<std::size_t>(
          std::upper_bound(faces[a]->begin() + 1, faces[a]->end() - 1, points[n][a]) - faces[a]->begin() - 1);
    const auto at = p.mesh.index(cell[0], cell[1], cell[2]);
    if (p.initial[at] == 0) continue;
    double time = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t cells = faces[a]->size() - 1;
      if (cells < 2 || (cell[a] > 1 && cell[a] + 2 < cells)) continue;
      const double width = (*faces[a])[cell[a] + 1] - (*faces[a])[cell[a]];
      time = std::max(time, passes * width * width * p.capacity[at] / p.conductivity[at]);
    }
    if (time <= soon * p.end) continue;
    if (near++ == 0) first = n;
    latest = std::max(latest, time);
  }
  if (near > 0)
    warnings.push_back(
        fmt::format("{} of {} receivers lie in the two cells next to a side held at 0 K, the first is "
                    "receiver {}: while rock "
                    "that began warm cools there, for {:.3g} s, errors are 5 % and more; take smaller cells "
                    "beside the side",
                    near, points.size(), first + 1, latest));
}

/// What the companion's mesh must keep: the coordinates of receivers, and all sides of the box.
CompanionWish wish_of(const std::vector<Position>& points) {
  CompanionWish wish = CompanionWish{}.with_its_walls();
  for (const auto& point : points)
    for (std::size_t a = 0; a < 3; ++a) wish.places[a].push_back(point[a]);
  return wish;
}

/// The problem on other cells, without the heat of a source.  mean: function that averages values of the old
/// cells over the new ones
template <class Mean>
Problem on_other_cells(const Problem& problem, const TensorMesh& mesh, const Mean& mean) {
  Problem other;
  other.mesh = mesh;
  auto density = copied(problem.production);
  for_each_stretch(density.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) density[n] /= problem.volume(n);
  });
  other.production = mean(density);
  times_volume(other, 0);
  other.power = filled(other.mesh.size(), 0.0);
  other.power_end = problem.power_end;
  other.end = problem.end;
  other.method = problem.method;
  other.boundary = problem.boundary;
  other.tolerance = problem.tolerance;
  return other;
}

/// The companion's problem: cells twice as wide and steps up to four times as long, so that its errors are
/// four times as large. problem: settle() has been called; initial: temperatures at time 0 without the
/// source; longer: factor by which steps are lengthened
Problem companion_of(const Problem& problem, const std::vector<double>& initial, const CompanionWish& wish,
                     double longer) {
  const std::vector<double>* const rock[] = {&problem.conductivity, &problem.capacity, &initial};
  const Companion companion(problem.mesh, rock, wish);
  auto other =
      on_other_cells(problem, companion.mesh(), [&](const auto& values) { return companion.mean(values); });
  other.conductivity = companion.geometric_mean(problem.conductivity);
  other.capacity = companion.mean(problem.capacity);
  other.initial = companion.mean(initial, problem.capacity);
  other.step = longer * problem.step;
  if (other.method == Method::explicit_steps) other.step = std::min(other.step, other.stable_step() / 2);
  other.step = std::min(other.step, other.end);
  return other;
}

}  // namespace

std::span<const Section> sections() {
  static const std::array all{
      Section{"source", "", "A source of heat at a point.", source_keys()},
      Section{"simulation", "", "Length and method of the computation.", simulation_keys()},
      Section{"simulation", "", "", keys_of<RockValues>()},
  };
  return all;
}

Simulation::Simulation(Problem problem, Survey receivers, JobOrigin job)
    : RefinedSimulation("heat", std::move(job)),
      problem_(std::move(problem)),
      receivers_(std::move(receivers)) {
  points_ = record_at(problem_, positions_of(receivers_), "survey: station");
  problem_.settle();
  warn_of_long_steps(problem_, warnings_);
}

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  const auto memory = memory_budget(runtime);
  const auto table =
      job.table("simulation").describe({simulation_keys(), keys_of<RockValues>(), Runtime::section().keys});
  table.text("physics");
  auto stations = build_survey(job, memory);
  Accuracy accuracy;
  read_fields(table, accuracy);
  bool unheld = false;
  auto earth = rock_of(job, table, memory, accuracy.states_errors() ? &unheld : nullptr);
  Problem p;
  read_fields(table, p);
  p.mesh = std::get<MeshCells>(earth.model.geometry).mesh;
  const auto taken = [&](std::string_view name) {
    return std::move(std::ranges::find(earth.model.properties, name, &Property::name)->values);
  };
  p.conductivity = taken("thermal_conductivity");
  p.capacity = taken("heat_capacity");
  p.initial = taken("temperature");
  p.production = taken("heat_production");
  times_volume(p, runtime.threads);
  p.power = filled(p.mesh.size(), 0.0);
  p.power_end = p.end;
  note_absolute(p, earth.notes);
  auto initial = accuracy.states_errors() ? copied(p.initial) : std::vector<double>{};
  const auto of_source = job.table("source").describe({source_keys()});
  const auto source = read_source(of_source);
  if (source) put_in(*source, p, of_source.where("at"));
  warn_of_fixed_sides(p, positions_of(stations.survey), earth.warnings);
  try {
    JobOrigin origin{job.source(), stations.survey.projection};
    auto made = std::make_unique<Simulation>(std::move(p), std::move(stations.survey), std::move(origin));
    if (source) made->take_source(*source);
    made->take_notes(earth, stations);
    if (source)
      warn_of_near_sources(made->problem_.mesh, source->at, positions_of(made->receivers_), made->beside_,
                           made->warnings_);
    made->accuracy_ = accuracy;
    if (!accuracy.states_errors()) return made;
    made->initial_ = std::move(initial);
    made->make_companion();
    if (unheld)
      made->no_error_ = "the mesh does not hold all bodies (see the warnings), which no wider cells show";
    return made;
  } catch (const InputError& error) {
    constexpr std::string_view of_station = "survey: station ";
    if (const std::string_view where = error.where(); where.starts_with(of_station))
      throw InputError(place_of_stations(job, error.problem()),
                       fmt::format("{}: {}", where.substr(8), error.problem()), error.next());
    throw_at_its_key<Problem>(error, "heat", job);
  }
}

MemoryBudget Simulation::choose(const Runtime& runtime) const { return memory_budget(runtime); }

void Simulation::describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const {
  const auto cells = problem_.mesh.size(), steps = problem_.steps();
  const bool is_explicit = problem_.method == Method::explicit_steps;
  facts.problem = fmt::format("{} cells over {} steps", grouped(cells), grouped(steps));
  facts.method = is_explicit ? "explicit" : "implicit";
  facts.reason = fmt::format("steps of {:.4g} s; explicit ones are stable up to {:.4g} s", problem_.step,
                             problem_.stable_step());
  facts.device = device_text(runtime);
  facts.work = static_cast<double>(cells) * static_cast<double>(steps);
  facts.work_unit = "cell steps";
  // Numbers per cell, in double precision: 5 of the problem and 5 of the model or of the message to a rank,
  // the network and the fields of the steps, and for implicit steps the multigrid cycle.
  constexpr double explicit_numbers = 21.2, implicit_numbers = 28, own_rock_numbers = 6;
  facts.memory_bytes = static_cast<std::size_t>(
      8 * ((is_explicit ? explicit_numbers : implicit_numbers) * static_cast<double>(cells) +
           (beside_.empty() ? 0 : own_rock_numbers * static_cast<double>(cells)) +
           2 * static_cast<double>((steps + 1) * problem_.receivers.size()) +
           (companion_ ? 6 * static_cast<double>((steps + 1) * receivers_.size()) : 0)));
  facts.add("cells", cells, "", "cells");
  facts.add("receivers", receivers_.size(), "", "receivers");
  facts.add("steps", steps, "", "steps");
  report_fields(problem_, facts);
  facts.add("stable_step", problem_.stable_step(), "s");
  if (!beside_.empty())
    facts.add(
        "beside_source", std::uint64_t{beside_.size()}, "", "source",
        fmt::format("{} receivers beside it have its closed form in place of what cells make of it, by a "
                    "second run in its own rock",
                    beside_.size()));
  if (companion()) {
    const auto& other = companion()->problem_;
    facts.add("companion_cells", std::uint64_t{other.mesh.size()}, "", "companion",
              fmt::format("a second run on {} cells over {} steps states errors", grouped(other.mesh.size()),
                          grouped(other.steps())));
  }
}

void Simulation::foresee(Plan& plan, const MemoryBudget& memory, const Runtime&) const {
  memory.require("run", plan.problem, static_cast<double>(plan.memory_bytes));
  foresee_errors(plan);
}

Dataset Simulation::compute(Result& result, const MemoryBudget&, const Runtime& runtime) {
  Rounds rounds(accuracy_);
  auto solved = solved_in_rounds(result, runtime, rounds);
  auto& done = solved.mine.march;
  auto& report = result.report;
  report.add("iterations", done.iterations, "", done.iterations ? "solver" : "",
             fmt::format("{} iterations", grouped(done.iterations)));
  report.add("heat_before", done.heat_before, "J");
  report.add("heat_put_in", done.heat_put_in, "J");
  report.add("heat_after", done.heat_after, "J", "heat",
             fmt::format("{:.6g} J at first, {:.6g} J put in, {:.6g} J at the end", done.heat_before,
                         done.heat_put_in, done.heat_after));
  report.notes.insert(report.notes.end(), done.notes.begin(), done.notes.end());
  report.warnings.insert(report.warnings.end(), done.warnings.begin(), done.warnings.end());
  if (!done.converged)
    report.warnings.push_back(fmt::format("the solver stopped at a residual of {:.1e}", done.residual));
  auto data = dataset(std::move(done), solved.mine.series);
  if (!states_errors()) return data;
  StatedErrors stated(accuracy_, solved.why);
  data.variables.push_back({"temperature_error",
                            "K",
                            "error of the temperature",
                            {"time", "receiver"},
                            errors_of(solved, stated),
                            {}});
  tell(result, solved, stated, rounds);
  return data;
}

void Simulation::take_source(const PointSource& source) {
  source_ = source;
  beside_ = beside(problem_, source, positions_of(receivers_));
}

Found Simulation::solved(const Runtime& runtime) const {
  Found found{march(problem_, runtime), {}, problem_.step};
  found.series = temperatures_at(points_, found.march.series, problem_.receivers.size());
  if (!beside_.empty()) correct_beside_source(found, runtime);
  return found;
}

void Simulation::correct_beside_source(Found& found, const Runtime& runtime) const {
  const auto all = positions_of(receivers_);
  std::vector<Position> points;
  for (const std::size_t n : beside_) points.push_back(all[n]);
  auto own = in_own_rock(problem_, *source_);
  const auto weights = record_at(own, points, "survey: station");
  own.settle();
  Runtime without_checkpoint = runtime;
  without_checkpoint.checkpoint = {};
  const auto again = march(own, without_checkpoint);
  found.march.converged = found.march.converged && again.converged;
  found.march.residual = std::max(found.march.residual, again.residual);
  found.march.iterations += again.iterations;
  const auto by_mesh = temperatures_at(weights, again.series, own.receivers.size());
  const auto exact = closed_form(own, *source_, points);
  for (std::size_t n = 0; n < exact.size(); ++n) {
    const std::size_t time = n / points.size(), receiver = beside_[n % points.size()];
    found.series[time * receivers_.size() + receiver] += exact[n] - by_mesh[n];
  }
}

std::unique_ptr<Simulation> Simulation::on_companion(std::array<bool, 3> coarser, bool longer_steps) const {
  auto wish = wish_of(positions_of(receivers_));
  wish.coarser = coarser;
  auto other = companion_of(problem_, initial_, wish, longer_steps ? 4 : 1);
  if (source_) put_in(*source_, other, "source.at");
  auto made = std::make_unique<Simulation>(std::move(other), receivers_);
  if (!source_) return made;
  made->source_ = source_;
  made->beside_ = in_one_rock(made->problem_, *source_, positions_of(receivers_), beside_);
  return made;
}

std::unique_ptr<Simulation> Simulation::finer(const FinerWish& wish, const Runtime&) const {
  const auto& p = problem_;
  const std::vector<double>* const rock[] = {&p.conductivity, &p.capacity, &initial_};
  const auto cells = finer_mesh(p.mesh, rock, wish_of(positions_of(receivers_)), wish.factor, KeptFaces::all);
  const auto on_it = [&](const std::vector<double>& values) { return values_on(cells, p.mesh, values); };
  auto other = on_other_cells(p, cells, on_it);
  other.conductivity = on_it(p.conductivity);
  other.capacity = on_it(p.capacity);
  other.initial = on_it(initial_);
  other.step = wish.walls ? p.step / 4 : p.step;
  if (other.method == Method::explicit_steps) other.step = std::min(other.step, other.stable_step() / 2);
  const auto initial = other.initial;
  if (source_) put_in(*source_, other, "source.at");
  auto made = std::make_unique<Simulation>(std::move(other), receivers_);
  if (source_) made->take_source(*source_);
  made->initial_ = initial;
  return continued_by(std::move(made));
}

namespace {

/// Sets which other data give a lower limit of the error of each datum, [time, receiver]. If rock has a
/// temperature of its own, errors begin at the sides of warm bodies and reach all receivers: the limit is
/// their rms. Around a source, whose closed form is contained in the data, errors are due to other rock, and
/// differ a thousandfold between receivers: the limit is the receiver's own rms over times between 0.8
/// and 1.25 of the datum's time.
void judge_by_others(bool warm_rock, std::size_t receivers, JudgedData& judged) {
  if (warm_rock) {
    judged.of_mean = 1;
    for (double& difference : judged.difference) difference *= of_temperatures / of_warm_rock;
    return;
  }
  judged.of_mean = 0;
  judged.least = 1e-5;
  constexpr double around = 0.25;
  const std::size_t times = judged.difference.size() / receivers;
  judged.floor.resize(judged.difference.size());
  for (std::size_t receiver = 0; receiver < receivers; ++receiver) {
    std::vector<double> squares{0};  // sums of squared relative differences up to each time
    for (std::size_t time = 0; time < times; ++time) {
      const std::size_t n = time * receivers + receiver;
      squares.push_back(squares.back() + std::pow(judged.difference[n] / judged.scale[n], 2));
    }
    for (std::size_t time = 0; time < times; ++time) {
      const auto at = static_cast<double>(time);
      const auto from = static_cast<std::size_t>(at / (1 + around)),
                 end = std::min(times, static_cast<std::size_t>(std::ceil(at * (1 + around))) + 1);
      judged.floor[time * receivers + receiver] =
          std::sqrt(std::max(0.0, squares[end] - squares[from]) / static_cast<double>(end - from));
    }
  }
}

}  // namespace

std::vector<double> Simulation::errors_of(const Solved& solved, StatedErrors& stated) const {
  const auto &mine = solved.mine, &other = solved.other;
  const auto& temperatures = mine.series;
  const std::size_t count = receivers_.size();
  // The companion's temperature, interpolated linearly between two of its times.
  const auto its_value = [&](std::size_t time, std::size_t receiver) {
    const double at = static_cast<double>(time) * mine.step / other.step;
    const auto before = std::min(static_cast<std::size_t>(at), other.series.size() / count - 2);
    const double part = at - static_cast<double>(before);
    return (1 - part) * other.series[before * count + receiver] +
           part * other.series[(before + 1) * count + receiver];
  };
  double most = 0;
  for (const double t : temperatures) most = std::max(most, std::abs(t));
  JudgedData judged{"temperature", {}, {}, {}, [&](std::size_t n) {
                      const std::size_t time = n / count;
                      return fmt::format("receiver {} at {:.4g} s", n % count + 1,
                                         static_cast<double>(time) * mine.step);
                    }};
  for (std::size_t n = 0; n < temperatures.size(); ++n) {
    const std::size_t time = n / count;
    double largest = 1e-3 * most;
    for (std::size_t r = 0; r < count; ++r)
      largest = std::max(largest, std::abs(temperatures[time * count + r]));
    judged.difference.push_back(
        solved.why.empty() ? std::abs(its_value(time, n % count) - temperatures[n]) / of_temperatures : NAN);
    judged.scale.push_back(largest);
    judged.source.push_back(time);
  }
  judge_by_others(has_warm_rock(), count, judged);
  return stated.of(judged);
}

bool Simulation::has_warm_rock() const {
  // A uniform temperature does not change, unless the sides are fixed at zero.
  const double alike = problem_.boundary == Boundary::fixed || initial_.empty() ? 0.0 : initial_.front();
  return differs_from(initial_, alike) || differs_from(problem_.production, 0);
}

Result Simulation::outline() const {
  auto data = dataset({}, {});
  if (states_errors())
    data.variables.push_back(
        {"temperature_error", "K", "error of the temperature", {"time", "receiver"}, {}, {}});
  return outline_of(physics_, job_, std::move(data));
}

Dataset Simulation::dataset(March done, std::vector<double> temperatures) const {
  const auto& mesh = problem_.mesh;
  const auto centres = [](const std::vector<double>& faces) {
    std::vector<double> all;
    for (std::size_t n = 1; n < faces.size(); ++n) all.push_back((faces[n - 1] + faces[n]) / 2);
    return all;
  };
  std::vector<double> time;
  for (std::size_t n = 0; n <= problem_.steps(); ++n) time.push_back(static_cast<double>(n) * problem_.step);
  Dataset data;
  data.dimensions = {{"time", time.size()},
                     {"receiver", receivers_.size()},
                     {"up", mesh.n_up()},
                     {"northing", mesh.n_north()},
                     {"easting", mesh.n_east()}};
  data.coordinates = {
      {"time", "s", "time", {"time"}, std::move(time), {}},
      {"receiver_easting", "m", "easting of the receiver", {"receiver"}, receivers_.easting, {}},
      {"receiver_northing", "m", "northing of the receiver", {"receiver"}, receivers_.northing, {}},
      {"receiver_up", "m", "height of the receiver", {"receiver"}, receivers_.up, {}},
      {"up", "m", "height", {"up"}, centres(mesh.up()), {}},
      {"northing", "m", "northing", {"northing"}, centres(mesh.northing()), {}},
      {"easting", "m", "easting", {"easting"}, centres(mesh.easting()), {}}};
  data.variables = {{"temperature",
                     "K",
                     "temperature above the surroundings",
                     {"time", "receiver"},
                     std::move(temperatures),
                     {}},
                    {"temperature_at_end",
                     "K",
                     "temperature above the surroundings at the end",
                     {"up", "northing", "easting"},
                     std::move(done.temperature),
                     {}}};
  return data;
}

io::Content Simulation::model(bool) const {
  return io::MeshData{problem_.mesh,
                      {{"thermal_conductivity", "W/(m.K)", "thermal conductivity", problem_.conductivity},
                       {"heat_capacity", "J/(m3.K)", "heat capacity per volume", problem_.capacity}},
                      provenance(physics_, job_)};
}

}  // namespace terrane::heat
