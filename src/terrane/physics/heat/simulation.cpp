#include "terrane/physics/heat/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "terrane/base/memory.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/provenance.hpp"

namespace terrane::heat {

namespace {

constexpr Key simulation_keys[] = {
    {"physics", "text", "", "What is computed.", "\"heat\""},
    {"end", "time", "", "How long to compute; it begins at time 0.", "\"100 ka\""},
    {"step", "time", "none",
     "Time step; without it, half of the longest stable one, or end / 100 where it is implicit."},
    {"method", "text", "\"auto\"", "explicit, implicit (any step is stable; a system is solved), or auto."},
    {"boundary", "text", "\"insulated\"",
     "Faces of the box: insulated, or fixed at the surroundings' temperature."},
    {"temperature", "temperature", "0",
     "Temperature at time 0, above that of the surroundings, where the model has none."},
    {"thermal_conductivity", "thermal conductivity", "2.5", "Of rock of which the model does not say it.",
     "\"2.5 W/(m.K)\""},
    {"heat_capacity", "heat capacity per volume", "2.3e6", "Of rock of which the model does not say it."},
    {"tolerance", "number", "1e-12", "Of the implicit solver: residual over right-hand side."},
};
constexpr Key source_keys[] = {
    {"at", "list of 3 lengths", "none", "Easting, northing, up of the source; the cell there takes the heat.",
     "[11, 11, -4, \"km\"]"},
    {"power", "number", "0", "Power from time 0 on, W.", "1e8"},
    {"until", "time", "none", "When the power is turned off; without it, at the end."},
    {"heat", "number", "0", "Heat released at time 0, J."},
};
constexpr Section all_sections[] = {
    {"source", "", "Heat put in at a point.", source_keys},
    {"simulation", "", "For how long, and how.", simulation_keys},
};

std::size_t cell_at(const TensorMesh& mesh, double east, double north, double up, const std::string& what) {
  const auto along = [&](const std::vector<double>& faces, double at, const char* axis) {
    if (!(at >= faces.front() && at <= faces.back()))
      throw InputError(what, fmt::format("{} {} m lies outside the mesh", axis, at),
                       fmt::format("It reaches from {} to {} m.", faces.front(), faces.back()));
    const auto above = std::upper_bound(faces.begin() + 1, faces.end() - 1, at);
    return static_cast<std::size_t>(above - faces.begin()) - 1;
  };
  return mesh.index(along(mesh.easting(), east, "easting"), along(mesh.northing(), north, "northing"),
                    along(mesh.up(), up, "up"));
}

/// C = ρ c where the model has the density and the heat capacity per mass, and not that per volume.
void use_specific_heat(EarthModel& model, const std::string& where) {
  if (!model.has("specific_heat")) return;
  if (!model.has("density"))
    throw InputError(where, "specific_heat is per mass, and the model has no density",
                     "Give the density too, or heat_capacity, which is per volume.");
  const auto specific = model.property("specific_heat"), density = model.property("density");
  auto capacity =
      model.has("heat_capacity") ? model.property("heat_capacity") : std::vector<double>(model.size(), NAN);
  for (std::size_t n = 0; n < capacity.size(); ++n) {
    if (!std::isnan(capacity[n]) || std::isnan(specific[n])) continue;
    if (!(density[n] > 0))
      throw InputError(where, fmt::format("a cell with a specific_heat has the density {} kg/m3", density[n]),
                       "The density of the rock itself, not a contrast, is needed here.");
    capacity[n] = density[n] * specific[n];
  }
  std::erase_if(model.properties, [](const Property& p) { return p.name == "heat_capacity"; });
  model.properties.push_back({"heat_capacity", std::move(capacity)});
}

/// What the tables [mesh] and [model] say of the rock; the keys of [simulation] say the rest.
Earth rock_of(const Config& job, const Config& table, const MemoryBudget& memory) {
  const std::vector<PropertyValue> usual{
      {"thermal_conductivity", table.positive("thermal_conductivity", Quantity::thermal_conductivity)},
      {"heat_capacity", table.positive("heat_capacity", Quantity::heat_capacity)},
      {"temperature", table.number("temperature", Quantity::temperature)},
      {"heat_production", 0}};
  Earth earth;
  if (job.has("model")) earth = build_earth(job, std::nullopt, memory);
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

void read_source(const Config& table, Problem& problem) {
  if (!table.has("at")) return;
  const auto at = read_position(table, "at");
  const auto cell = cell_at(problem.mesh, at[0], at[1], at[2], table.where("at"));
  problem.power[cell] += table.number("power");
  problem.initial[cell] += table.number("heat") / (problem.capacity[cell] * problem.volume(cell));
  problem.power_end = table.optional_number("until", Quantity::time).value_or(problem.end);
}

}  // namespace

std::span<const Section> sections() { return all_sections; }

std::vector<std::size_t> cells_at(const TensorMesh& mesh, const Survey& stations) {
  std::vector<std::size_t> cells;
  for (std::size_t n = 0; n < stations.size(); ++n)
    cells.push_back(cell_at(mesh, stations.easting[n], stations.northing[n], stations.up[n],
                            fmt::format("survey: station {}", n + 1)));
  return cells;
}

Simulation::Simulation(Problem problem, Survey receivers, std::string job)
    : problem_(std::move(problem)), receivers_(std::move(receivers)), job_(std::move(job)) {
  problem_.settle();
}

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  const auto memory = memory_budget(runtime);
  const auto table = job.table("simulation").describe({simulation_keys, Runtime::section().keys});
  auto stations = build_survey(job, memory);
  const auto earth = rock_of(job, table, memory);
  Problem p;
  p.mesh = std::get<MeshCells>(earth.model.geometry).mesh;
  p.conductivity = earth.model.property("thermal_conductivity");
  p.capacity = earth.model.property("heat_capacity");
  p.initial = earth.model.property("temperature");
  p.production = earth.model.property("heat_production");
  for (std::size_t n = 0; n < p.production.size(); ++n) p.production[n] *= p.volume(n);
  p.power.assign(p.mesh.size(), 0.0);
  p.end = table.positive("end", Quantity::time);
  p.step = table.optional_number("step", Quantity::time).value_or(0);
  p.power_end = p.end;
  p.tolerance = table.number("tolerance");
  table.text("physics");
  const auto method = table.choice("method", {"auto", "explicit", "implicit"});
  p.method = method == "auto"       ? Method::automatic
             : method == "explicit" ? Method::explicit_steps
                                    : Method::implicit_steps;
  p.boundary =
      table.choice("boundary", {"insulated", "fixed"}) == "fixed" ? Boundary::fixed : Boundary::insulated;
  read_source(job.table("source").describe({source_keys}), p);
  p.receivers = cells_at(p.mesh, stations.survey);
  try {
    auto made = std::make_unique<Simulation>(std::move(p), std::move(stations.survey), job.source());
    made->notes_ = earth.notes;
    made->warnings_ = earth.warnings;
    return made;
  } catch (const InputError& error) {
    const std::string key = error.where() == "heat: step" ? "step" : "end";
    throw table.wrong(key, error.problem(), error.next());
  }
}

/// What plan and report have in common.
void Simulation::describe(RunFacts& facts, const Runtime& runtime) const {
  const auto cells = problem_.mesh.size(), steps = problem_.steps();
  const bool is_explicit = problem_.method == Method::explicit_steps;
  facts.problem = fmt::format("{} cells over {} steps", grouped(cells), grouped(steps));
  facts.method = is_explicit ? "explicit" : "implicit";
  facts.reason = fmt::format("steps of {:.4g} s; explicit ones are stable up to {:.4g} s", problem_.step,
                             problem_.stable_step());
  facts.device = device_text(runtime);
  facts.work = static_cast<double>(cells) * static_cast<double>(steps);
  facts.work_unit = "cell steps";
  facts.memory_bytes = 8 * ((is_explicit ? 17 : 30) * cells + 2 * (steps + 1) * problem_.receivers.size());
  facts.notes = notes_;
  facts.warnings = warnings_;
  facts.add("cells", cells, "", "cells");
  facts.add("receivers", receivers_.size(), "", "receivers");
  facts.add("steps", steps, "", "steps");
  facts.add("step", problem_.step, "s");
  facts.add("stable_step", problem_.stable_step(), "s");
}

Plan Simulation::check(const Runtime& runtime) {
  const auto memory = memory_budget(runtime);
  Plan plan;
  describe(plan, runtime);
  plan.memory_available = memory.bytes;
  memory.require("run", plan.problem, static_cast<double>(plan.memory_bytes));
  return plan;
}

Result Simulation::run(const Runtime& runtime) {
  const auto begin = std::chrono::steady_clock::now();
  Result result;
  describe(result.report, runtime);
  auto done = march(problem_, runtime);
  auto& report = result.report;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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
  conclude(result, "heat", job_, dataset(std::move(done)));
  return result;
}

Result Simulation::outline() const { return outline_of("heat", job_, dataset({})); }

Dataset Simulation::dataset(March done) const {
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
                     std::move(done.series),
                     {}},
                    {"temperature_at_end",
                     "K",
                     "temperature above the surroundings at the end",
                     {"up", "northing", "easting"},
                     std::move(done.temperature),
                     {}}};
  return data;
}

void Simulation::write_model(const std::string& path) const {
  io::write(path,
            io::MeshData{problem_.mesh,
                         {{"thermal_conductivity", "W/(m.K)", "thermal conductivity", problem_.conductivity},
                          {"heat_capacity", "J/(m3.K)", "heat capacity per volume", problem_.capacity}},
                         provenance("heat", job_)});
}

void Simulation::check_model(const std::string& path) const {
  io::left_out(path, io::MeshData{problem_.mesh, {{"thermal_conductivity", "W/(m.K)", "", {}}}, {}});
}

}  // namespace terrane::heat
