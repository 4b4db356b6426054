#include "terrane/physics/traveltime/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/blame.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/traveltime/mesh_plan.hpp"
#include "terrane/simulation/compare.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/field_facts.hpp"

namespace terrane::traveltime {

namespace {

constexpr double least_scale = 0.05;  // errors are relative to the time of a pick, but at least to this
                                      // fraction of the shot's longest time

std::span<const Key> simulation_keys() {
  return keys_of<Problem, Accuracy>({{"physics", "text", "", "What is computed.", "\"traveltime\""}});
}

std::span<const Key> source_keys() {
  static const Key keys[] = {
      {"at", "list of 3 lengths each", "none", "Easting, northing and up of each shot: [[0, 0, 0]].",
       "[[0, 0, 0]]"},
      {"first", "list of 3 lengths", "none",
       "First of several evenly spaced shots on a line, in place of at."},
      {"last", "list of 3 lengths", "none", "Last shot of the line."},
      {"count", "count", "none", "Number of shots on the line."},
      {"file", "path", "none",
       "In place of all that, and of [survey] (survey.file may name it as well, where there is no [source]): "
       "a table with shot_easting, shot_northing, shot_up, "
       "receiver_easting, receiver_northing, receiver_up in m and, if there are such, travel_time_observed "
       "and "
       "travel_time_uncertainty in s; or shots and geophones of pyGIMLi (.sgt)."}};
  return keys;
}

std::vector<Point> read_shots(const Config& table) {
  if (table.has("at")) return read_positions(table, "at");
  for (const auto* key : {"first", "last", "count"})
    if (!table.has(key))
      throw table.wrong(
          key, "missing",
          "Give at, a list of places, or first, last and count of a line; or a file of shots and receivers.");
  const auto first = read_position(table, "first"), last = read_position(table, "last");
  const auto count = table.count("count", 1, 1'000'000);
  std::vector<Point> all;
  for (std::uint64_t n = 0; n < count; ++n) {
    const double t = count == 1 ? 0 : static_cast<double>(n) / static_cast<double>(count - 1);
    Point at{};
    for (std::size_t a = 0; a < 3; ++a) at[a] = first[a] + t * (last[a] - first[a]);
    all.push_back(at);
  }
  return all;
}

/// The table whose key `file` names shots, receivers and times: [source], or [survey] if there is no
/// [source].
std::optional<Config> table_of_picks(const Config& job) {
  static const Key file[] = {{"kind", "text", "none", ""}, {"file", "path", "none", ""}};
  const auto source = job.table("source").describe({source_keys()});
  if (source.has("file")) return source;
  if (job.has("source") || !job.table("survey").has("file")) return std::nullopt;
  const auto survey = job.table("survey").describe({file});
  if (survey.has("kind")) survey.choice("kind", {"list", "file"});
  return survey;
}

/// Reads shots, receivers and picks.
void read_survey(const Config& job, const MemoryBudget& memory, JobProblem& made) {
  const auto table = job.table("source").describe({source_keys()});
  auto& p = made.problem;
  const auto from = table_of_picks(job);
  if (!from) {
    p.shots = read_shots(table);
    auto stations = build_survey(job, memory);
    p.receivers = positions_of(stations.survey);
    p.picks = all_picks(p.shots.size(), p.receivers.size());
    made.notes = stations.notes;
    made.warnings = stations.warnings;
    for (const auto& column : stations.words) {  // each pick gets the texts of its receiver
      made.words.push_back({column.name, {}, 0});
      for (const auto& pick : p.picks) made.words.back().values.push_back(column.values[pick.receiver]);
    }
    return;
  }
  for (const auto* key : {"at", "first", "last", "count"})
    if (table.has(key)) throw table.wrong(key, "source.file says where shots are", "Keep one of the two.");
  if (job.has("survey") && table.has("file"))
    throw InputError(job.table("survey").where(), "source.file says where receivers are",
                     "Take [survey] away, or the file.");
  auto picked = read_picks(*from, "file");
  p.shots = std::move(picked.shots);
  p.receivers = std::move(picked.receivers);
  p.picks = std::move(picked.picks);
  made.times = std::move(picked.times);
  made.uncertainties = std::move(picked.uncertainties);
  made.notes = std::move(picked.notes);
  made.data = from->where("file");
}

/// Sets the velocity of cells above the ground to zero. Cells that the ground cuts are rock, so that points
/// on the ground are in rock.
void cut_at_ground(const TensorMesh& mesh, const Ground& ground, std::vector<double>& velocity) {
  for_each(mesh.n_north(), 0, [&](std::size_t j) {
    for (std::size_t i = 0; i < mesh.n_east(); ++i) {
      const double w = mesh.easting()[i], e = mesh.easting()[i + 1], s = mesh.northing()[j],
                   n = mesh.northing()[j + 1];
      double highest = ground((w + e) / 2, (s + n) / 2);
      for (const double east : {w, e})
        for (const double north : {s, n}) highest = std::max(highest, ground(east, north));
      for (std::size_t k = 0; k < mesh.n_up(); ++k)
        if (mesh.up()[k] >= highest) velocity[mesh.index(i, j, k)] = 0;
    }
  });
}

void take_velocity(const Config& job, const Earth& earth, JobProblem& made) {
  auto& p = made.problem;
  p.mesh = mesh_of_cells(earth.model, job, "travel times need");
  if (!earth.model.has("velocity_p"))
    throw InputError(job.table("model").where(), "the model has no velocity_p",
                     "Give [model.background] or its bodies velocity_p = \"2000 m/s\".");
  p.velocity = earth.model.dense("velocity_p");
  std::size_t without = 0;
  for (double& v : p.velocity)
    if (!(v > 0)) v = 0, ++without;
  if (without > 0)
    made.notes.push_back(fmt::format("{} of {} cells have no velocity_p: air, which no wave crosses",
                                     grouped(without), grouped(p.velocity.size())));
  if (earth.ground) cut_at_ground(p.mesh, earth.ground, p.velocity);
  for (auto* places : {&p.shots, &p.receivers})
    for (auto& place : *places)
      if (std::isnan(place[2]))
        place[2] = earth.ground ? std::min(earth.ground(place[0], place[1]), p.mesh.up().back())
                                : p.mesh.up().back();
}

bool describes_rock(const Config& job) {
  const auto model = job.table("model");
  return model.has("background") || model.has("body") || model.has("file") || job.table("mesh").has("file");
}

/// Sets velocities for an inversion whose job does not describe rock. Between boreholes: the median of
/// distance over time. For a survey on the ground: the lower decile of distance over time at the top,
/// increasing linearly to the upper decile at a depth of a quarter of the longest distance.
void guess_velocity(JobProblem& made) {
  auto& p = made.problem;
  std::vector<double> apparent;
  const Nodes nodes(p.mesh);
  double length = 0, low = INFINITY, high = -INFINITY;
  for (std::size_t n = 0; n < p.picks.size() && n < made.times.size(); ++n) {
    const auto &from = p.shots[p.picks[n].shot], &to = p.receivers[p.picks[n].receiver];
    const double distance = nodes.distance(from, to);
    length = std::max(length, distance);
    low = std::min({low, from[2], to[2]}), high = std::max({high, from[2], to[2]});
    if (made.times[n] > 0 && distance > 0) apparent.push_back(distance / made.times[n]);
  }
  std::sort(apparent.begin(), apparent.end());
  if (apparent.empty()) return p.velocity.assign(p.mesh.size(), 2000);
  const auto part = [&](double share) {
    return apparent[static_cast<std::size_t>(share * static_cast<double>(apparent.size() - 1))];
  };
  const bool in_holes = high - low > 0.3 * length;
  const double top = in_holes ? part(0.5) : part(0.1), deep = in_holes ? top : part(0.9);
  p.velocity.resize(p.mesh.size());
  for (std::size_t n = 0; n < p.velocity.size(); ++n) {
    const auto cell = p.mesh.prism(n);
    const double down = p.mesh.up().back() - (cell.bottom + cell.top) / 2;
    p.velocity[n] = top + (deep - top) * std::min(1.0, 4 * down / length);
  }
  made.notes.push_back(
      in_holes ? fmt::format("the first model has {:.4g} m/s, the median of distance over time", top)
               : fmt::format("the first model has {:.4g} m/s at the top and {:.4g} m/s from {:.4g} m "
                             "below on, by distances over times",
                             top, deep, length / 4));
}

void take_mesh_alone(const Config& job,
                     const std::function<MeshPlan(const Description&, const MeshWish&)>& plan,
                     JobProblem& made) {
  auto& p = made.problem;
  if (job.table("model").has("topography"))
    throw job.table("model").wrong("topography", "below the ground there is no rock",
                                   "Give the first model: [model.background] velocity_p = \"1500 m/s\".");
  if (plans_mesh(job)) {
    const auto planned = plan({}, read_wish(job));
    p.mesh = planned.mesh;
    for (const auto& reason : planned.reasons) made.notes.push_back("mesh: " + reason);
  } else {
    p.mesh = build_mesh(job);
  }
  for (auto* places : {&p.shots, &p.receivers})
    for (auto& place : *places)
      if (std::isnan(place[2])) place[2] = p.mesh.up().back();
  guess_velocity(made);
}

/// Rethrows an error of Problem::settle() with the key that specifies the shot or receiver.
[[noreturn]] void throw_at_its_place(const InputError& error, const Config& job) {
  const std::string& where = error.where();
  const auto from = table_of_picks(job);
  const auto source = job.table("source").describe({source_keys()});
  constexpr std::string_view of_station = "survey: ", of_shot = "source: ";
  const auto at = [&](std::size_t prefix, const std::string& place) {
    return InputError(from ? from->where("file") : place,
                      fmt::format("{}: {}", where.substr(prefix), error.problem()), error.next());
  };
  if (where.starts_with(of_station))
    throw at(of_station.size(), from ? std::string() : place_of_stations(job, error.problem()));
  if (where.starts_with(of_shot)) throw at(of_shot.size(), source.where(source.has("at") ? "at" : "first"));
  throw_at_its_key<Problem>(error, "traveltime", job);
}

}  // namespace

std::span<const Section> sections() {
  static const std::array<Section, 2> made = [] {
    std::array<Section, 2> two;
    two[0] = {"source", "",
              "Shots, each of which all receivers of [survey] record; or a file of shots and receivers.",
              source_keys(), true};
    two[1] = {"simulation", "", "What is computed.", simulation_keys(), true};
    return two;
  }();
  return made;
}

JobProblem Simulation::read(const Config& job, const MemoryBudget& memory, bool inverts) {
  const auto table = job.table("simulation").describe({simulation_keys(), Runtime::section().keys});
  table.text("physics");
  JobProblem made;
  read_fields(table, made.problem);
  read_fields(table, made.accuracy);
  read_survey(job, memory, made);
  auto places = made.problem.shots;
  places.insert(places.end(), made.problem.receivers.begin(), made.problem.receivers.end());
  const auto plan = [&](const Description& described, const MeshWish& wish) -> MeshPlan {
    const auto planned = plan_cells(described, places, wish, made.accuracy.accuracy);
    made.smooth = planned.smooth;
    return planned;
  };
  if (inverts && !describes_rock(job)) {
    take_mesh_alone(job, plan, made);
  } else {
    expect_above_zero(job, {"velocity_p"}, "travel times need");
    EarthRequest request;
    request.reads = {"velocity_p"};
    request.cuts_ground = true;
    request.plan = plan;
    const auto earth = build_earth(job, std::nullopt, memory, request);
    made.notes.insert(made.notes.begin(), earth.notes.begin(), earth.notes.end());
    made.warnings.insert(made.warnings.begin(), earth.warnings.begin(), earth.warnings.end());
    take_velocity(job, earth, made);
  }
  try {
    made.problem.settle();
  } catch (const InputError& error) {
    throw_at_its_place(error, job);
  }
  return made;
}

Simulation::Simulation(Problem problem, JobOrigin job)
    : RefinedSimulation("traveltime", std::move(job)), problem_(std::move(problem)) {
  problem_.settle();
}

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  auto read_job = read(job, memory_budget(runtime));
  auto made = std::make_unique<Simulation>(std::move(read_job.problem), JobOrigin{job.source(), {}});
  made->notes_ = std::move(read_job.notes);
  made->warnings_ = std::move(read_job.warnings);
  made->accuracy_ = read_job.accuracy;
  made->words_ = std::move(read_job.words);
  made->observed_ = std::move(read_job.times);
  made->uncertainties_ = std::move(read_job.uncertainties);
  if (made->states_errors()) made->make_companion();
  return made;
}

MemoryBudget Simulation::choose(const Runtime& runtime) const { return memory_budget(runtime); }

void Simulation::describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const {
  const auto& p = problem_;
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  const auto at_once = std::min<std::size_t>(
      static_cast<std::size_t>(thread_count(runtime.threads)),
      (p.shots.size() + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks));
  facts.problem = fmt::format("{} first arrivals of {} shots through {} cells", grouped(p.picks.size()),
                              grouped(p.shots.size()), grouped(p.mesh.size()));
  facts.method = "fast marching";
  facts.reason =
      fmt::format("the factored eikonal equation, order {}; a shot on each of {} threads", p.order, at_once);
  Runtime on_cpu = runtime;
  on_cpu.device = {Device::Kind::cpu, -1};
  facts.device = device_text(on_cpu);
  facts.work = static_cast<double>(p.mesh.size()) * static_cast<double>(p.shots.size());
  facts.work_unit = "cell shots";
  // Ranks of this machine; each stores the whole medium.
  const int here = runtime.comm ? runtime.comm->on_node().count : 1;
  facts.memory_bytes =
      static_cast<std::size_t>(here * (bytes_of_medium(p) + static_cast<double>(at_once) * bytes_of_front(p) +
                                       64 * static_cast<double>(p.picks.size())));
  facts.add("cells", std::uint64_t{p.mesh.size()}, "", "cells");
  facts.add("shots", std::uint64_t{p.shots.size()}, "", "shots");
  facts.add("receivers", std::uint64_t{p.receivers.size()}, "", "receivers");
  facts.add("picks", std::uint64_t{p.picks.size()}, "", "times");
  report_fields(p, facts);
  if (companion())
    facts.add("companion_cells", companion()->cells_of_run(), "", "companion",
              fmt::format("a second run on {} cells states errors", grouped(companion()->cells_of_run())));
}

void Simulation::foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const {
  memory.require("run", plan.problem, static_cast<double>(plan.memory_bytes));
  const auto at_once =
      std::max<std::size_t>(1, static_cast<std::size_t>(thread_count(runtime.threads)) *
                                   static_cast<std::size_t>(runtime.comm ? runtime.comm->size() : 1));
  const std::size_t turns = (problem_.shots.size() + at_once - 1) / at_once;
  plan.seconds = static_cast<double>(turns) *
                 (seconds_of_front(problem_) + (companion() ? seconds_of_front(companion()->problem_) : 0));
  foresee_errors(plan);
}

StationFields Simulation::rows_of(const Problem& p, std::vector<double> times) {
  StationFields rows;
  std::vector<double> shot, receiver, offset;
  Survey shots;
  const Nodes nodes(p.mesh);
  for (const auto& pick : p.picks) {
    const auto &from = p.shots[pick.shot], &to = p.receivers[pick.receiver];
    for (const auto& [survey, at] : {std::pair{&rows.survey, &to}, {&shots, &from}}) {
      survey->easting.push_back((*at)[0]);
      survey->northing.push_back((*at)[1]);
      survey->up.push_back((*at)[2]);
    }
    shot.push_back(pick.shot + 1);
    receiver.push_back(pick.receiver + 1);
    offset.push_back(std::hypot(to[0] - from[0], to[1] - from[1]));
  }
  rows.survey.columns = {{"shot", "1", "number of the shot", std::move(shot)},
                         {"receiver", "1", "number of the receiver", std::move(receiver)},
                         {"shot_easting", "m", "easting of the shot", std::move(shots.easting)},
                         {"shot_northing", "m", "northing of the shot", std::move(shots.northing)},
                         {"shot_up", "m", "height of the shot", std::move(shots.up)},
                         {"offset", "m", "distance on the map from the shot", std::move(offset)}};
  rows.fields = {{"travel_time", "s", "time of the first arrival", std::move(times)}};
  return rows;
}

Dataset Simulation::compute(Result& result, const MemoryBudget&, const Runtime& runtime) {
  Rounds rounds(accuracy_);
  const auto solved = solved_in_rounds(result, runtime, rounds);
  const auto& mine = solved.mine;
  auto& report = result.report;
  report.notes.insert(report.notes.end(), mine.notes.begin(), mine.notes.end());
  report.warnings.insert(report.warnings.end(), mine.warnings.begin(), mine.warnings.end());
  const auto [first, last] = std::minmax_element(mine.values.begin(), mine.values.end());
  report.add("latest", *last, "s", "times", fmt::format("from {:.4g} to {:.4g} s", *first, *last));
  auto rows = rows_of(problem_, mine.values);
  if (states_errors()) {
    StatedErrors stated(accuracy_, solved.why);
    rows.fields.push_back(error_column(rows.fields.front(), errors_of(solved, stated)));
    tell(result, solved, stated, rounds);
  }
  if (!observed_.empty()) {
    ObservedColumns columns;
    columns.others = rows.survey.columns;
    ObservedColumn column{
        "travel_time", {"travel_time_observed", "s", "observed time", observed_}, std::nullopt};
    if (!uncertainties_.empty())
      column.uncertainty = Column{"travel_time_uncertainty", "s", "uncertainty of the time", uncertainties_};
    columns.observed.push_back(std::move(column));
    compare(rows, report, columns);
  }
  return to_dataset(std::move(rows));
}

// ---- errors ----

CompanionWish Simulation::wish() const {
  CompanionWish wish = CompanionWish{}.with_its_walls();
  for (const auto* places : {&problem_.shots, &problem_.receivers})
    for (const auto& place : *places)
      for (std::size_t a = 0; a < 3; ++a) wish.places[a].push_back(place[a]);
  return wish;
}

std::unique_ptr<Simulation> Simulation::on_companion(std::array<bool, 3> coarser, bool) const {
  auto keeps = wish();
  keeps.coarser = coarser;
  const std::vector<double>* const rock[] = {&problem_.velocity};
  const Companion companion(problem_.mesh, rock, keeps);
  std::vector<double> slowness, share;
  for (const double v : problem_.velocity) {
    share.push_back(v > 0 ? 1 : 0);
    slowness.push_back(v > 0 ? 1 / v : 0);
  }
  auto other = problem_;
  other.mesh = companion.mesh();
  other.velocity = companion.mean(slowness, share);
  for (double& v : other.velocity) v = v > 0 ? 1 / v : 0;
  return std::make_unique<Simulation>(std::move(other));
}

std::unique_ptr<Simulation> Simulation::finer(const FinerWish& asked, const Runtime&) const {
  const std::vector<double>* const rock[] = {&problem_.velocity};
  auto other = problem_;
  other.mesh = finer_mesh(problem_.mesh, rock, wish(), asked.factor, KeptFaces::all);
  other.velocity = values_on(other.mesh, problem_.mesh, problem_.velocity);
  auto made = std::make_unique<Simulation>(std::move(other));
  made->observed_ = observed_;
  made->uncertainties_ = uncertainties_;
  return continued_by(std::move(made));
}

std::vector<double> Simulation::errors_of(const Solved& solved, StatedErrors& stated) const {
  const auto &mine = solved.mine.values, &other = solved.other.values;
  std::vector<double> longest(problem_.shots.size(), 0);
  for (std::size_t n = 0; n < mine.size(); ++n)
    longest[problem_.picks[n].shot] = std::max(longest[problem_.picks[n].shot], mine[n]);
  JudgedData judged{"travel_time", {}, {}, {}, [&](std::size_t n) {
                      return fmt::format("shot {}, receiver {}", problem_.picks[n].shot + 1,
                                         problem_.picks[n].receiver + 1);
                    }};
  for (std::size_t n = 0; n < mine.size(); ++n) {
    const auto shot = problem_.picks[n].shot;
    judged.difference.push_back(solved.why.empty() ? std::abs(other[n] - mine[n]) : NAN);
    judged.scale.push_back(longest[shot] > 0 ? std::max(mine[n], least_scale * longest[shot]) : 1);
    judged.source.push_back(shot);
  }
  return stated.of(judged);
}

Result Simulation::outline() const {
  auto rows = rows_of(problem_, {});
  if (states_errors()) rows.fields.push_back(error_column(rows.fields.front(), {}));
  return outline_of(physics_, job_, to_dataset(std::move(rows)));
}

io::Content Simulation::model(bool with_values) const {
  auto velocity = with_values ? problem_.velocity : std::vector<double>{};
  for (double& v : velocity)
    if (v == 0) v = NAN;
  return io::MeshData{problem_.mesh,
                      {{"velocity_p", "m/s", "velocity of P waves", std::move(velocity)}},
                      provenance(physics_, job_)};
}

}  // namespace terrane::traveltime
