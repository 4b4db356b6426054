#include "terrane/physics/electric/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <set>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/base/version.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/parallel/device/device.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electric/ranks.hpp"
#include "terrane/physics/electric/survey/arrays.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::electric {

namespace {

constexpr std::array<std::string_view, 2> boundaries{"mixed", "grounded"};
constexpr std::array<std::string_view, 3> potentials{"auto", "secondary", "total"};

constexpr Key simulation_keys[] = {
    {"physics", "text", "\"gravity\"", "What is computed.", "\"electric\""},
    {"boundary", "text", "\"mixed\"",
     "At the sides and the bottom: mixed, as a half space goes on (Dey & Morrison 1979); or grounded."},
    {"potential", "text", "\"auto\"",
     "What is solved for: secondary, the difference from a half space, right to 0.5 %; total, where eight "
     "cells lie "
     "between electrodes; auto takes secondary where the cells around an electrode are alike."},
    {"tolerance", "number", "1e-8", "Of the residual of each solve, relative."},
    {"most_iterations", "count", "200", "Of each solve; 7 to 25 are usual."},
};
constexpr Section simulation_section{"simulation", "", "How potentials are computed.", simulation_keys};

constexpr Key survey_keys[] = {
    {"kind", "text", "\"line\"", "line: electrodes along a line; file: arrays from a table.", "\"line\""},
};
constexpr Key line_keys[] = {
    {"start", "list of 2 lengths", "", "Easting and northing of the first electrode.", "[-100, 0]"},
    {"azimuth", "number", "90", "Direction of the line, degrees east of north."},
    {"electrodes", "count", "", "How many.", "41"},
    {"spacing", "length", "", "Distance between neighbours.", "5"},
    {"height", "length", "0", "Height of all; the top of the mesh is the ground."},
    {"array", "text", "\"dipole-dipole\"", "dipole-dipole, pole-dipole, pole-pole, wenner, schlumberger.",
     "\"dipole-dipole\""},
    {"levels", "count", "6", "Largest separation n."},
};
constexpr Key file_keys[] = {
    {"file", "path", "", "CSV with columns a_easting, a_northing, a_up and so for b, m, n; empty: far away."},
};
constexpr Section survey_tables[] = {
    {"survey", "", "The electrodes, and which four measure together.", survey_keys},
    {"survey", "line", "Electrodes at even distances along a straight line.", line_keys},
    {"survey", "file", "Arrays of electrodes from a table.", file_keys},
};

std::string describe(Device device, const Runtime& runtime) {
  if (device.kind == Device::Kind::cuda) return device_name(device);
  return fmt::format("{} ({} threads)", device_name(device), thread_count(runtime.threads));
}

/// Conductivity of every cell, from conductivity or resistivity.
std::vector<double> conductivity_of(const EarthModel& model, const Config& job) {
  const auto table = job.table("model");
  mesh_of_cells(model, job, "direct current needs");
  if (!model.has("conductivity") && !model.has("resistivity"))
    throw InputError(
        table.where(), "the model has neither conductivity nor resistivity",
        "Give [model] or its bodies resistivity = \"100 ohm m\", the whole mesh included: air and earth.");
  const bool resistive = !model.has("conductivity");
  auto values = positive_in_all_cells(
      model, job, resistive ? "resistivity" : "conductivity",
      "Begin with a body that fills the mesh, such as kind = \"layer\", and paint others over it.");
  if (resistive)
    for (double& value : values) value = 1 / value;
  return values;
}

}  // namespace

const Section& Settings::section() { return simulation_section; }
std::span<const Section> survey_sections() { return survey_tables; }

Settings Settings::read(const Config& job) {
  const auto table = job.table("simulation").describe({simulation_keys, Runtime::section().keys});
  Settings settings;
  auto& p = settings.parameters;
  table.text("physics");
  p.boundary = chosen<Boundary>(table, "boundary", boundaries);
  p.potential = chosen<Potential>(table, "potential", potentials);
  p.tolerance = table.positive("tolerance");
  if (p.tolerance < 1e-14 || p.tolerance > 1e-2)
    throw table.wrong("tolerance", fmt::format("{} is not between 1e-14 and 1e-2", p.tolerance));
  p.most_iterations = static_cast<int>(table.count("most_iterations", 1, 100'000));
  return settings;
}

Electrodes build_survey(const Config& job) {
  const auto outer = job.table("survey");
  const bool from_file = outer.has("kind") && outer.text("kind") == "file";
  const auto table = outer.describe({survey_keys, from_file ? std::span<const Key>(file_keys) : line_keys});
  if (table.choice("kind", {"line", "file"}) == "file") return read_arrays(table.input_file("file"));
  const auto start = table.numbers("start", Quantity::length, 2);
  ElectrodeLine line;
  line.start = {start[0], start[1], table.number("height", Quantity::length)};
  line.azimuth = table.number("azimuth");
  line.count = table.count("electrodes", 2, 100'000);
  line.spacing = table.positive("spacing", Quantity::length);
  const auto kind = chosen<ArrayKind>(table, "array", array_names);
  const auto levels = table.count("levels", 1, 10'000);
  try {
    return arrays_on_line(line, kind, levels);
  } catch (const InputError& error) {
    throw table.wrong("electrodes", error.problem(), error.next());
  }
}

Simulation::Simulation(TensorMesh mesh, std::vector<double> conductivity, Electrodes electrodes,
                       Settings settings)
    : mesh_(std::move(mesh)),
      conductivity_(std::move(conductivity)),
      electrodes_(std::move(electrodes)),
      settings_(settings) {
  electrodes_.check();
  for (std::size_t n = 0; n < electrodes_.place.size(); ++n)
    node_weights(mesh_, electrodes_.place[n], fmt::format("survey: electrode {}", n + 1));
  double nearest_wall = INFINITY, widest = 0;
  const auto box = mesh_.bounds();
  for (const auto& p : electrodes_.place) {
    nearest_wall = std::min(
        {nearest_wall, p.e - box.west, box.east - p.e, p.n - box.south, box.north - p.n, p.u - box.bottom});
    widest = std::max(widest, distance(p, electrodes_.place.front()));
  }
  if (nearest_wall < widest)
    warnings_.push_back(
        fmt::format("electrodes reach over {:.4g} m and come within {:.4g} m of a wall of the mesh, which "
                    "then shows in the "
                    "data; let cells that grow go on for three times that length",
                    widest, nearest_wall));
}

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  const auto settings = Settings::read(job);
  const auto memory = memory_budget(runtime);
  auto electrodes = build_survey(job);
  auto earth = build_earth(job, std::nullopt, memory);
  auto conductivity = conductivity_of(earth.model, job);
  auto made = std::make_unique<Simulation>(std::get<MeshCells>(earth.model.geometry).mesh,
                                           std::move(conductivity), std::move(electrodes), settings);
  made->job_ = job.source();
  made->notes_ = std::move(earth.notes);
  made->warnings_.insert(made->warnings_.end(), earth.warnings.begin(), earth.warnings.end());
  return made;
}

std::size_t Simulation::sources() const {
  std::set<int> all;
  for (const auto& array : electrodes_.arrays)
    for (const int n : {array.a, array.b})
      if (n != Array::far_away) all.insert(n);
  return all.size();
}

double Simulation::memory_needed() const {
  const double nodes = static_cast<double>(mesh_.n_east() + 1) * static_cast<double>(mesh_.n_north() + 1) *
                       static_cast<double>(mesh_.n_up() + 1);
  return bytes_needed(nodes) + 8 * static_cast<double>(mesh_.size()) +
         8 * static_cast<double>(sources() * electrodes_.place.size());
}

void Simulation::describe_into(RunFacts& facts) const {
  const std::uint64_t nodes = (mesh_.n_east() + 1) * (mesh_.n_north() + 1) * (mesh_.n_up() + 1);
  facts.problem = fmt::format("{} arrays of {} electrodes on {} nodes", grouped(electrodes_.arrays.size()),
                              grouped(electrodes_.place.size()), grouped(nodes));
  facts.method = "multigrid";
  facts.reason = "conjugate gradients with one cycle per iteration, one solve per current electrode";
  facts.add("arrays", std::uint64_t{electrodes_.arrays.size()}, "", "arrays");
  facts.add("electrodes", std::uint64_t{electrodes_.place.size()}, "", "electrodes");
  facts.add("solves", std::uint64_t{sources()}, "", "solves");
  facts.add("nodes", nodes, "", "nodes");
  facts.memory_bytes = static_cast<std::size_t>(memory_needed());
  facts.notes = notes_;
  facts.warnings = warnings_;
}

Plan Simulation::check(const Runtime& runtime) {
  Plan plan;
  describe_into(plan);
  const auto memory = memory_budget(runtime);
  plan.memory_available = memory.bytes;
  memory.require("run", plan.problem, memory_needed());
  const Device device = resolve(runtime.device);
  plan.device = describe(device, runtime);
  // 12 iterations of 22 fields in float and 19 in double, from memory at 8 GB/s; a GPU has a hundred times
  // that.
  const double nodes = plan.number("nodes");
  plan.seconds = static_cast<double>(sources()) * 12 * nodes * (22 * 4 * 1.5 + 19 * 8) /
                 (device.kind == Device::Kind::cuda ? 1e12 : 8e9);
  return plan;
}

Result Simulation::run(const Runtime& runtime) {
  const auto memory = memory_budget(runtime);
  memory.require("run", fmt::format("{} cells", mesh_.size()), memory_needed());
  Result result;
  describe_into(result.report);
  Device device;
  DirectCurrentReport done;
  const auto begin = std::chrono::steady_clock::now();
  const auto data =
      direct_current_on_ranks(mesh_, conductivity_, electrodes_, settings_.parameters, runtime, done, device);
  auto& report = result.report;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.device = describe(device, runtime);
  report.add("most_iterations", std::uint64_t(done.most_iterations()), "", "iterations",
             fmt::format("{} at most in one solve", done.most_iterations()));
  report.add("secondary", std::uint64_t{done.secondary}, "", "secondary",
             fmt::format("{} of {} solves for the secondary potential", done.secondary, done.solves.size()));
  report.add("null_arrays", std::uint64_t{done.null_arrays});
  if (done.null_arrays > 0)
    report.warnings.push_back(
        fmt::format("{} arrays have no geometric factor below 1e6 m: their apparent resistivity is "
                    "NaN",
                    done.null_arrays));
  for (std::size_t n = 0; n < done.solves.size(); ++n)
    if (!done.solves[n].converged())
      report.warnings.push_back(fmt::format("electrode {}: {}", done.sources[n] + 1, done.solves[n].text()));
  fill(result, data);
  result.attributes["device"] = report.device;
  result.attributes["method"] = report.method;
  return result;
}

Result Simulation::outline() const {
  Result result;
  fill(result, {});
  return result;
}

void Simulation::fill(Result& result, const DirectCurrentData& data) const {
  auto& survey = result.survey;
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
  result.fields.push_back({"resistance", "V/A", "voltage per current", data.resistance});
  result.fields.push_back(
      {"geometric_factor", "m", "geometric factor above a flat earth", data.geometric_factor});
  result.fields.push_back(
      {"apparent_resistivity", "ohm m", "apparent resistivity", data.apparent_resistivity});
  result.attributes = {
      {"program", "terrane"},
      {"version", std::string(version())},
      {"physics", "electric"},
      {"boundary", std::string(boundaries[static_cast<std::size_t>(settings_.parameters.boundary)])},
      {"tolerance", fmt::format("{}", settings_.parameters.tolerance)}};
  if (!job_.empty()) result.attributes["job"] = job_;
}

void Simulation::write_model(const std::string& path) const {
  io::MeshData model;
  model.mesh = mesh_;
  model.cells.push_back({"conductivity", "S/m", "electric conductivity", conductivity_});
  model.attributes = {{"program", "terrane"}, {"version", std::string(version())}};
  if (!job_.empty()) model.attributes["job"] = job_;
  io::write(path, model);
}

void Simulation::check_model(const std::string& path) const {
  io::left_out(path, io::MeshData{mesh_, {{"conductivity", "S/m", "", {}}}, {}});
}

}  // namespace terrane::electric
