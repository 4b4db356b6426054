#include "terrane/inversion/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/inversion/acoustic_job.hpp"
#include "terrane/inversion/direct_current_job.hpp"
#include "terrane/inversion/electromagnetic_job.hpp"
#include "terrane/inversion/fixed_cells.hpp"
#include "terrane/inversion/job_report.hpp"
#include "terrane/inversion/job_tables.hpp"
#include "terrane/inversion/regulariser.hpp"
#include "terrane/inversion/services.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/model/properties.hpp"
#include "terrane/parallel/simd/instruction_set.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/sensitivity/lattice_operator.hpp"
#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"
#include "terrane/simulation/compare.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/provenance.hpp"
#include "terrane/simulation/serve.hpp"
#include "terrane/simulation/write_result.hpp"
#include "terrane/solve/device_matrix.hpp"

namespace terrane::inversion {

namespace {

constexpr std::array<std::string_view, 7> storage_names{"auto",   "lattice", "tree", "dense",
                                                        "single", "disk",    "none"};

// Measured on one core with AVX-512: an entry with one channel, and a product of one entry from memory.
constexpr double seconds_an_entry = 6e-9, seconds_a_stored_entry = 0.5e-9, seconds_a_read_entry = 4e-9;
// Measured on an H200: a pair computed anew for a product, an entry made to be kept, bytes of its memory, and
// of vectors across the bus, a second. Whole inversions took 1 to 1.8 times what these foresee, for their
// number of products (benchmarks/records/2026-11-23-inversion_plans-1-gpu.json).
constexpr double seconds_a_device_pair = 7e-12, seconds_a_device_entry = 1.3e-10, device_bytes = 3e12,
                 bus_bytes = 1e10;
// What a step takes beside its products: vectors on the host, a cell; the regulariser's inverse, an operation
// on one core and on an H200.
constexpr double seconds_a_cell = 8e-9, seconds_an_operation = 5e-11, seconds_a_device_operation = 1e-13;
constexpr double inverses_without_exact_one = 10;  // of steps that need no product with G
constexpr double least_for_a_tree = 1e7;           // entries; below, all others are fast
constexpr double expected_products = 60;           // with each of G and Gᵀ, without bounds

/// Of the active cells what is no air, at their bottom.
PrismSet prisms_of_cells(const Problem& problem) {
  const auto& active = problem.active;
  PrismSet cells;
  const std::size_t n = active.empty() ? problem.mesh.size() : active.size();
  cells.reserve(n);
  for (std::size_t c = 0; c < n; ++c) {
    const std::size_t at = active.empty() ? c : active[c];
    auto prism = problem.mesh.prism(at);
    if (!problem.ground.empty() && problem.ground[at] < 1)
      prism.top = prism.bottom + problem.ground[at] * (prism.top - prism.bottom);
    cells.push_back(prism);
  }
  return cells;
}

/// Stations that lie inside of active cells, as in a borehole; and none where a row of G has no value.
void check_stations(const gravity::SensitivityColumns& source, std::vector<std::string>& warnings) {
  const auto& up = source.stations().up;
  if (const auto undefined = source.contacts().undefined(); !undefined.empty())
    throw InputError(
        "inversion: stations",
        fmt::format("{} of {} lie on faces, edges or corners of cells, where gradients and magnetic "
                    "fields have no single value (first: station {}, up {:g} m)",
                    undefined.size(), up.size(), undefined.front() + 1, up[undefined.front()]),
        "On faces simulation.singular = \"outside\" or \"mean\" takes a limit; move stations off "
        "edges and corners, or the mesh by part of a cell.");
  if (const auto inside = source.contacts().inside(); !inside.empty())
    warnings.push_back(
        fmt::format("{} of {} stations lie inside active cells (first: station {}, up {:g} m): right "
                    "in boreholes; if they stand on the ground, lower the top of the mesh, or give "
                    "model.topography, above which cells are air",
                    inside.size(), up.size(), inside.front() + 1, up[inside.front()]));
}

constexpr std::size_t most_groups = 8;  // of stations at one height and place within the cells

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

// ---- what all inversions do alike ----

MemoryBudget InversionSimulation::budget(const Runtime& runtime) const {
  return runtime.memory > 0 ? MemoryBudget{runtime.memory} : memory_;
}

Result InversionSimulation::run(const Runtime& runtime) {
  const auto begun = std::chrono::steady_clock::now();
  begin(runtime);
  Keeper keeper(runtime.checkpoint, fingerprint_of_all(runtime));
  auto result = finish(invert(problem_, settings_, {}, runtime.progress, &keeper), runtime);
  result.report.seconds = seconds_since(begun);
  for (auto [from, to] :
       {std::pair{&keeper.notes, &result.report.notes}, {&keeper.warnings, &result.report.warnings}})
    to->insert(to->end(), from->begin(), from->end());
  return result;
}

void InversionSimulation::write_model(const std::string& path) const {
  io::MeshData model{problem_.mesh, cells(), {}};
  model.attributes = provenance("inversion", job_);
  model.attributes["beta"] = fmt::format("{}", outcome_.beta);
  model.attributes["stopped"] = outcome_.reason;
  io::write(path, model);
}

void InversionSimulation::check_model(const std::string& path) const {
  auto columns = cells();
  for (auto& column : columns) column.values.clear();
  io::left_out(path, io::MeshData{problem_.mesh, std::move(columns), {}});
}

// ---- of linear physics ----

InversionJob::InversionJob(Problem problem, PrismSet cells, Settings settings, StorageSettings storage,
                           Observations observations, Survey survey, MemoryBudget memory)
    : InversionSimulation(std::move(problem), settings, memory),
      storage_(std::move(storage)),
      observations_(std::move(observations)),
      survey_(std::move(survey)) {
  if (observations_.kinds.empty())
    throw InputError(
        "survey", "it has no observed data",
        "Stations need columns such as g_u_observed (mGal): with a unit, in the frame of simulation.frame.");
  problem_.easting = survey_.easting;
  problem_.northing = survey_.northing;
  problem_.up = survey_.up;
  std::vector<gravity::Observable> observables;
  for (const auto& kind : observations_.kinds) {
    observables.push_back(kind.observable);
    const auto& d = kind.column.observed.values;
    const auto& s = kind.column.uncertainty->values;
    problem_.sets.push_back({kind.column.field, kind.column.observed.unit, problem_.data.size(), d.size()});
    problem_.data.insert(problem_.data.end(), d.begin(), d.end());
    problem_.sigma.insert(problem_.sigma.end(), s.begin(), s.end());
  }
  source_ = std::make_shared<gravity::SensitivityColumns>(
      std::move(cells), gravity::KeptStations{survey_.easting, survey_.northing, survey_.up},
      std::move(observables), storage_.accuracy, observations_.singular);
  warnings_ = observations_.warnings;
  check_stations(*source_, warnings_);
}

void InversionJob::hold_fixed(FixedCells fixed, int threads) {
  if (fixed.place.empty()) return;
  fixed_ = std::move(fixed);
  of_fixed_ = data_of(fixed_, *source_, observations_.singular, threads);
  for (std::size_t n = 0; n < of_fixed_.size(); ++n) problem_.data[n] -= of_fixed_[n];
  notes_.push_back(
      fmt::format("{} cells that are not active keep the values of inversion.reference: their field is "
                  "part of the data",
                  grouped(fixed_.place.size())));
}

namespace {

/// Where products could be done besides on the processors; automatic: a GPU where there is one.
Device device_for(const Runtime& runtime) {
  if (runtime.device.kind == Device::Kind::automatic) return resolve(runtime.device);
  return runtime.device;
}

/// With all entries alike in number, what a storage takes. team: threads.
StorageChoice on_processors(Storage storage, double entries, double team) {
  StorageChoice choice;
  choice.storage = storage;
  choice.seconds_to_make = storage == Storage::none ? 0 : entries * seconds_an_entry / team;
  choice.bytes = entries * (storage == Storage::dense ? 8 : storage == Storage::single ? 4 : 0);
  choice.seconds_a_product = entries / team *
                             (storage == Storage::none   ? seconds_an_entry
                              : storage == Storage::disk ? seconds_a_read_entry * team
                                                         : seconds_a_stored_entry);
  return choice;
}

/// And on a device, where vectors cross the bus.
StorageChoice on_device(Device device, Storage storage, double entries, double vectors) {
  StorageChoice choice;
  choice.storage = storage;
  choice.device = device;
  const double pairs = entries * seconds_a_device_pair;
  const bool kept = storage != Storage::none;
  choice.seconds_to_make = kept ? entries * seconds_a_device_entry : 0;
  choice.bytes = entries * (storage == Storage::dense ? 8 : kept ? 4 : 0);
  choice.seconds_a_product = vectors * 8 / bus_bytes + (kept ? choice.bytes / device_bytes : pairs);
  return choice;
}

/// Of a matrix on devices, the part that each rank has.
double part_of_rank(const StorageChoice& choice, const Runtime& runtime) {
  return choice.bytes / (runtime.comm ? runtime.comm->size() : 1);
}

/// For this rank, on the device that is its own or that it shares with others.
double free_on_device(const Runtime& runtime) {
  const auto device = runtime.comm ? device_of_rank(runtime.device, *runtime.comm) : resolve(runtime.device);
  return static_cast<double>(device_memory(device).free);
}

/// Of what all ranks hold together, the part that is in the memory of this machine.
double part_of_machine(double bytes, const Runtime& runtime) {
  return runtime.comm ? bytes * runtime.comm->on_node().count / runtime.comm->size() : bytes;
}

/// inverse: bytes of the regulariser's, which rank 0 applies on its device
bool fits(const StorageChoice& choice, const MemoryBudget& memory, const Runtime& runtime, double inverse) {
  const double most = 0.6 * static_cast<double>(memory.bytes);
  if (part_of_machine(choice.bytes_to_make, runtime) >= most) return false;
  if (choice.on_device()) return part_of_rank(choice, runtime) + inverse < 0.8 * free_on_device(runtime);
  return part_of_machine(choice.bytes, runtime) < most;
}

double seconds_in_all(const StorageChoice& choice) {
  return choice.seconds_to_make + 2 * expected_products * choice.seconds_a_product;
}

}  // namespace

/// What could be chosen: by name, what is asked for, and otherwise all that serve.
std::vector<StorageChoice> InversionJob::candidates(const Runtime& runtime) const {
  const double entries = static_cast<double>(source_->rows()) * static_cast<double>(source_->columns()),
               vectors =
                   static_cast<double>(source_->rows() * solve::most_parts_on_device + source_->columns()),
               team =
                   static_cast<double>(std::max(1, std::min(thread_count(runtime.threads), thread_count(0))));
  const auto device = device_for(runtime);
  const bool only_device = runtime.device.has_own_memory(),
             automatic = storage_.storage == Storage::automatic;
  const auto asked = [&](Storage storage) { return automatic || storage_.storage == storage; };
  std::vector<StorageChoice> all;
  const auto add = [&](StorageChoice choice, std::string reason) {
    choice.reason = automatic ? std::move(reason) : "as asked for";
    all.push_back(std::move(choice));
  };
  std::string reason;
  if (asked(Storage::lattice)) {
    auto lattice = lattice_of(*source_, runtime.threads, reason);
    if (lattice && lattice->groups.size() > most_groups) {
      reason = fmt::format("stations have {} heights and places within the cells", lattice->groups.size());
      lattice.reset();
    }
    if (!lattice && !automatic)
      throw InputError("inversion.storage", "there is no lattice: " + reason, "Take storage = \"auto\".");
    StorageChoice choice;
    choice.storage = Storage::lattice;
    choice.bytes = lattice ? gravity::LatticeSensitivity::bytes(*lattice, source_->observables().size()) : 0;
    choice.seconds_to_make = choice.bytes * 3e-9 / team;
    const std::string why =
        "cells and stations form a lattice: G and its transpose by FFT, exact to rounding";
    if (lattice && device.has_own_memory()) {
      choice.device = device;
      choice.seconds_a_product = choice.bytes * 5 / device_bytes + vectors * 8 / bus_bytes;
      add(choice, why);
    }
    if (lattice && !only_device) {
      choice.device = {Device::Kind::cpu, -1};
      choice.seconds_a_product = choice.bytes * 0.6e-9 / team;
      add(choice, why);
    }
  }
  for (const auto storage : {Storage::single, Storage::dense, Storage::disk, Storage::none}) {
    if (!asked(storage) || (automatic && (storage == Storage::dense || storage == Storage::disk))) continue;
    const std::string why = storage == Storage::none
                                ? "they do not fit into memory: made anew for each product"
                                : "in memory in single precision, right to 3e-8 of a row";
    if (device.has_own_memory() && runs_on_devices(storage))
      add(on_device(device, storage, entries, vectors), why);
    if (!only_device || !runs_on_devices(storage)) add(on_processors(storage, entries, team), why);
  }
  const bool lattice = !all.empty() && all.front().storage == Storage::lattice;
  if (asked(Storage::tree) && (!automatic || (!lattice && entries > least_for_a_tree)))
    for (auto& tree : trees(runtime, device, team))
      add(std::move(tree), fmt::format("clusters of cells by a tree, right to {:g} of the largest value; "
                                       "storage = \"disk\" keeps entries exactly",
                                       storage_.tree_accuracy));
  return all;
}

/// By a tree on a device, or on the processors; with device = "cuda", on that alone.
std::vector<StorageChoice> InversionJob::trees(const Runtime& runtime, Device device, double team) const {
  const auto cost = gravity::TreeSensitivity::cost(*source_, storage_.tree_accuracy, runtime.threads);
  const double vectors =
      static_cast<double>(source_->columns() + source_->rows() * gravity::TreeSensitivity::most_parts);
  std::vector<StorageChoice> made;
  StorageChoice choice;
  choice.storage = Storage::tree;
  choice.seconds_to_make = cost.seconds_to_make / team;
  if (device.has_own_memory()) {
    choice.device = device;
    choice.bytes = cost.bytes_on_device;
    choice.bytes_to_make = cost.bytes;
    choice.seconds_a_product = cost.seconds_a_product_on_device + vectors * 8 / bus_bytes;
    made.push_back(choice);
  }
  if (runtime.device.has_own_memory()) return made;
  choice.device = {Device::Kind::cpu, -1};
  choice.bytes = cost.bytes;
  choice.bytes_to_make = 0;
  choice.seconds_a_product = cost.seconds_a_product / team;
  made.push_back(choice);
  return made;
}

const StorageChoice& InversionJob::choose(const Runtime& runtime) {
  const auto memory = budget(runtime);
  const auto where = fmt::format("{} {} {} {}", runtime.memory, runtime.threads, to_string(runtime.device),
                                 runtime.comm ? runtime.comm->size() : 1);
  if (chosen_ && chosen_->first == where) return chosen_->second;
  auto all = candidates(runtime);
  const double inverse = Regulariser::bytes_on_device(problem_.mesh);
  // What is not exact must be much faster.
  const auto score = [&](const StorageChoice& c) {
    return (fits(c, memory, runtime, inverse) ? 0 : 1e9) +
           seconds_in_all(c) * (c.storage == Storage::tree ? 2 : 1);
  };
  auto best = *std::min_element(all.begin(), all.end(),
                                [&](const auto& a, const auto& b) { return score(a) < score(b); });
  if (best.on_device()) {
    best.device = resolve(best.device);
    const double free = free_on_device(runtime), part = part_of_rank(best, runtime);
    if (part + inverse > 0.95 * free)
      throw MemoryError(
          "inversion.storage",
          fmt::format("{} of sensitivities{} and {} of the regulariser's inverse, and {} are "
                      "free on {}",
                      bytes_text(part), runtime.comm && runtime.comm->size() > 1 ? " for each rank" : "",
                      bytes_text(inverse), bytes_text(free), to_string(best.device)),
          "Take storage = \"auto\", or device = \"cpu\".");
  }
  chosen_.emplace(where, std::move(best));
  return chosen_->second;
}

void InversionJob::make_operator(const Runtime& runtime) {
  const auto& choice = choose(runtime);
  budget(runtime).require(
      "invert", fmt::format("{} data and {} cells", grouped(source_->rows()), grouped(source_->columns())),
      memory_needed(choice, runtime));
  auto settings = storage_;
  settings.storage = choice.storage;
  // Each rank finds its own GPU, unless the job names one.
  settings.device = choice.on_device() ? Device{choice.device.kind, runtime.device.index} : choice.device;
  // The regulariser's exact inverse is applied there, whatever holds G.
  const auto device = device_for(runtime);
  settings_.device = !choice.on_device() && device.has_own_memory() ? resolve(device) : choice.device;
  problem_.g = terrane::inversion::make_operator(source_, settings, runtime, notes_, crew_);
}

/// Of the ranks on this machine: cells as prisms on each, its share of G; on rank 0 a dozen vectors of models
/// and the orthogonal vectors of Lanczos.
double InversionJob::memory_needed(const StorageChoice& choice, const Runtime& runtime) const {
  const double here = runtime.comm ? runtime.comm->on_node().count : 1;
  const double cells = static_cast<double>(problem_.mesh.size()), rows = static_cast<double>(source_->rows());
  double dense = 0;
  if (settings_.posterior || settings_.choice == Choice::gcv || settings_.choice == Choice::l_curve)
    dense = 4 * rows * rows * 8 + cost_of_posterior(runtime).first;
  return part_of_machine(choice.on_device() ? choice.bytes_to_make : choice.bytes, runtime) +
         cells * 8 * (14 + 8 * here) + rows * 8 * (86 + 64 * here) + dense;
}

double InversionJob::bytes_on_device(const Runtime& runtime) {
  const auto& choice = choose(runtime);
  const double part = choice.on_device() ? part_of_rank(choice, runtime) : 0;
  const bool inverse = choice.on_device() || device_for(runtime).has_own_memory();
  return part + (inverse ? Regulariser::bytes_on_device(problem_.mesh) : 0);
}

bool InversionJob::inverse_is_exact() const {
  return problem_.active.empty() && !problem_.weights && settings_.weights_in_gradients;
}

std::pair<double, double> InversionJob::cost_of_posterior(const Runtime& runtime) const {
  if (!settings_.posterior || inverse_is_exact()) return {};
  const auto [bytes, seconds] = Regulariser::cost_of_diagonal(problem_.mesh);
  return {bytes, seconds / std::max(1, std::min(thread_count(runtime.threads), thread_count(0)))};
}

void InversionJob::describe_into(RunFacts& facts, const StorageChoice& choice, const Runtime& runtime) const {
  const std::uint64_t cells = source_->columns(), rows = source_->rows();
  std::string sets;
  for (const auto& set : problem_.sets)
    sets += fmt::format("{}{} [{}]", sets.empty() ? "" : ", ", set.name, set.unit);
  facts.problem = fmt::format("{} of {} active cells from {} data: {}", observations_.property,
                              grouped(cells), grouped(rows), sets);
  facts.method = fmt::format("storage {}", storage_names[static_cast<std::size_t>(choice.storage)]);
  facts.reason = choice.reason;
  facts.device = choice.on_device() ? device_name(choice.device)
                                    : fmt::format("cpu ({})", instruction_set_title(instruction_set()));
  if (const auto device = device_for(runtime); !choice.on_device() && device.has_own_memory())
    facts.add(
        "inverse_device", to_string(device), "", "inverse",
        fmt::format("of the regulariser on {}; this storage of G is the processors'", to_string(device)));
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  if (ranks > 1)
    facts.add("ranks", std::uint64_t(ranks), "", "ranks",
              fmt::format("{}, each with its part of the matrix", ranks));
  facts.memory_bytes = static_cast<std::size_t>(memory_needed(choice, runtime));
  facts.add("frame", observations_.frame, "", "frame");
  facts.add("cells", cells);
  facts.add("data", rows);
  facts.add("sensitivity_bytes", choice.bytes, "B", "matrix",
            choice.bytes == 0    ? "nothing is stored"
            : choice.on_device() ? bytes_text(choice.bytes) + " on the device"
                                 : bytes_text(choice.bytes));
  facts.notes = notes_;
  facts.warnings = warnings_;
}

double InversionJob::expected_seconds(const StorageChoice& choice, const Runtime& runtime) const {
  const double descents =
      (problem_.bounds.any() || !settings_.norms.square() ? 4 : 1) + (settings_.huber > 0 ? 6 : 0);
  return choice.seconds_to_make +
         descents * expected_products * (2 * choice.seconds_a_product + seconds_beside_products(runtime)) +
         cost_of_posterior(runtime).second;
}

double InversionJob::seconds_beside_products(const Runtime& runtime) const {
  const auto& mesh = problem_.mesh;
  const double cells = static_cast<double>(mesh.size()),
               operations = 4 * cells * static_cast<double>(mesh.n_east() + mesh.n_north() + mesh.n_up()),
               team = std::max(1, std::min(thread_count(runtime.threads), thread_count(0)));
  const double inverse = device_for(runtime).has_own_memory() ? operations * seconds_a_device_operation
                                                              : operations * seconds_an_operation / team;
  return cells * seconds_a_cell + (inverse_is_exact() ? 1 : inverses_without_exact_one) * inverse;
}

/// All that determines the bits of the model.
Fingerprint InversionJob::fingerprint_of_all(const Runtime& runtime) {
  const auto& choice = choose(runtime);
  auto all = fingerprint(*source_, storage_.accuracy);
  all.insert(all.begin(), this_program());
  all.push_back({"storage", std::string(storage_names[static_cast<std::size_t>(choice.storage)])});
  all.push_back({"kind of device", fmt::format("{}", static_cast<int>(settings_.device.kind))});  // its sums
  all.push_back({"tree_accuracy", fmt::format("{}", storage_.tree_accuracy)});
  add_settings(all, problem_, settings_);
  return all;
}

Plan InversionJob::check(const Runtime& runtime) {
  Plan plan;
  const auto& choice = choose(runtime);
  describe_into(plan, choice, runtime);
  plan.memory_available = budget(runtime).bytes;
  budget(runtime).require("invert", plan.problem, memory_needed(choice, runtime));
  plan.seconds = expected_seconds(choice, runtime);
  // What is wrong with data and bounds is found here, with one product made on the fly.
  problem_.g = std::make_shared<solve::OnTheFlyOperator>(source_, runtime.threads);
  inversion::check(problem_, settings_);
  return plan;
}

void InversionJob::begin(const Runtime& runtime) {
  date_text();
  const auto begin = std::chrono::steady_clock::now();
  settings_.threads = runtime.threads;
  make_operator(runtime);
  seconds_to_make_ = seconds_since(begin);
}

Result InversionJob::finish(Outcome outcome, const Runtime& runtime) {
  outcome_ = std::move(outcome);
  problem_.g.reset();  // other ranks go
  Result result;
  describe_into(result.report, choose(runtime), runtime);
  auto& report = result.report;
  report.add("seconds_sensitivities", seconds_to_make_, "s", "matrix made",
             fmt::format("in {:.3g} s", seconds_to_make_));
  report_outcome(report, problem_, settings_, outcome_, observations_.property, outcome_.model);
  fill(result);
  return result;
}

Result InversionJob::outline() const {
  Result result;
  fill(result);
  return result;
}

void InversionJob::fill(Result& result) const {
  result.survey = survey_;
  result.survey.frame = observations_.frame;
  ObservedColumns columns;
  columns.others = observations_.others;
  for (std::size_t k = 0; k < observations_.kinds.size(); ++k) {
    const auto& kind = observations_.kinds[k];
    const auto& set = problem_.sets[k];
    Column field{kind.column.field, kind.column.observed.unit, kind.description, {}};
    if (!outcome_.predicted.empty())
      field.values.assign(outcome_.predicted.begin() + static_cast<std::ptrdiff_t>(set.first),
                          outcome_.predicted.begin() + static_cast<std::ptrdiff_t>(set.first + set.count));
    if (!of_fixed_.empty())
      for (std::size_t n = 0; n < field.values.size(); ++n) field.values[n] += of_fixed_[set.first + n];
    result.fields.push_back(std::move(field));
    const auto of_data = [&](const char* name, const char* unit, const char* what,
                             const std::vector<double>& all) {
      Column more{kind.column.field + name, unit, what, {}};
      if (!all.empty())
        more.values.assign(all.begin() + static_cast<std::ptrdiff_t>(set.first),
                           all.begin() + static_cast<std::ptrdiff_t>(set.first + set.count));
      result.fields.push_back(std::move(more));
    };
    if (settings_.trend != Trend::none)
      of_data("_trend", kind.column.observed.unit.c_str(), "regional field, part of the computed one",
              outcome_.trend);
    if (settings_.huber > 0) of_data("_trust", "1", "below 1 where an outlier counts less", outcome_.trust);
    columns.observed.push_back(kind.column);
  }
  compare(result, columns);
  result.attributes = provenance(
      observations_.property == "density" ? "inversion of gravity" : "inversion of magnetic fields", job_);
  result.attributes["frame"] = observations_.frame;
  add_attributes(result, outcome_);
}

std::vector<Column> InversionJob::cells() const {
  auto columns =
      cell_columns(problem_, settings_, outcome_, observations_.property, outcome_.model, outcome_.apart);
  for (auto& column : columns)
    if (column.name.starts_with(observations_.property) && !column.name.ends_with("_deviation") &&
        !column.values.empty())
      for (std::size_t n = 0; n < fixed_.place.size(); ++n) column.values[fixed_.place[n]] = fixed_.value[n];
  return columns;
}

std::unique_ptr<Simulation> InversionJob::from_job(const Config& job, const Runtime& runtime) {
  const auto memory = memory_budget(runtime);
  const auto outer = job.table("simulation");
  const std::string physics = outer.has("physics") ? outer.text("physics") : "gravity";
  const auto simulation = outer.describe({keys_of_observations(physics), Runtime::section().keys});
  const auto table = job.table("inversion").describe({inversion_section().keys});
  simulation.text("physics");
  auto stations = build_survey(job, memory);
  auto observations = read_observations(physics, simulation, stations.survey);
  read_uncertainties(table, observations, stations.notes);
  Problem problem;
  std::string mesh_file;
  problem.mesh = read_mesh(job, mesh_file);
  if (!take_ground(job, table, table.has("active_file") ? "active_file" : "topography", stations.projection,
                   memory, problem)) {
    problem.active = read_active(table, problem.mesh, mesh_file, stations.projection, memory);
    for (const char* key : {"topography", "active_file"})
      if (table.has(key)) problem.ground_of = table.where(key);
  }
  const auto cells = [&](const char* key) {
    return read_cells(table, key, observations.property, problem.mesh, mesh_file, problem.active);
  };
  problem.reference = cells("reference");
  auto fixed = read_fixed(table, observations.property, problem, mesh_file);
  problem.bounds = {cells("lower"), cells("upper")};
  problem.weights = read_weights(table, problem.mesh);
  problem.own_weight = read_own_weight(table, problem, mesh_file);
  complete(problem.bounds, problem.active.empty() ? problem.mesh.size() : problem.active.size());
  const auto settings = read_settings(table, observations, problem.mesh);
  const auto storage = read_storage(table);
  auto prisms = prisms_of_cells(problem);
  const auto property = observations.property;
  auto made = std::make_unique<InversionJob>(std::move(problem), std::move(prisms), settings, storage,
                                             std::move(observations), std::move(stations.survey), memory);
  made->joint_ = read_joint(job);
  made->rocks_ = read_rocks(table, property);
  made->job_ = {job.source(), made->survey_.projection};
  made->notes_ = std::move(stations.notes);
  made->notes_.insert(made->notes_.end(), fixed.notes.begin(), fixed.notes.end());
  made->hold_fixed(std::move(fixed), runtime.threads);
  made->warnings_.insert(made->warnings_.end(), stations.warnings.begin(), stations.warnings.end());
  return made;
}

namespace {

Physics one(std::string_view name, std::string_view summary, std::span<const Key> keys) {
  Physics physics;
  physics.name = name;
  physics.summary = summary;
  const auto add = [&](std::span<const Section> sections) {
    physics.sections.insert(physics.sections.end(), sections.begin(), sections.end());
  };
  add(earth_sections().first(4));
  add({&ground_section(), 1});
  add(survey_sections());
  physics.sections.push_back({"simulation", "", "Which data, and their frame.", keys});
  add({&Runtime::section(), 1});
  add({&inversion_section(), 1});
  add({&joint_section(), 1});
  add({&Output::section(), 1});
  physics.kinds = {{"mesh", "regular"}, {"survey", "list"}};
  physics.examples = {{"mesh.box", "[-500, 500, -500, 500, -500, 0]"},
                      {"mesh.shape", "[20, 20, 10]"},
                      {"survey.height", ""},
                      {"survey.file", "\"stations.csv\""},
                      {"output.files", "[\"fit.nc\", \"fit.csv\"]"},
                      {"output.model", "[\"model.h5\", \"model.vtr\"]"}};
  physics.make = InversionJob::from_job;
  physics.serve = serve;
  return physics;
}

}  // namespace

const Registry& inversions() {
  static const Registry all = [] {
    Registry registry;
    registry.add(
        one("gravity", "Densities from gravity and its gradients.", keys_of_observations("gravity")));
    registry.add(one("magnetic", "Susceptibilities from magnetic fields.", keys_of_observations("magnetic")));
    registry.add(inversion_of_direct_current());
    registry.add(inversion_of_electromagnetic_fields());
    registry.add(inversion_of_waves());
    return registry;
  }();
  return all;
}

const Physics& job_of_inversions() {
  static const Physics job = [] {
    auto made = one("inversion",
                    "A model of cells from data: gravity and its gradients, magnetic fields, direct current, "
                    "electromagnetic fields, waves.",
                    keys_of_observations("gravity"));
    const auto place = std::find_if(made.sections.begin(), made.sections.end(),
                                    [](const Section& section) { return section.path == "simulation"; });
    made.sections.insert(
        place + 1,
        {{"simulation", "", "With physics = \"magnetic\":", keys_of_observations("magnetic"), false},
         {"simulation", "",
          "With physics = \"electric\", whose table `[survey]` is that of [electric jobs](job_electric.md):",
          electric::Settings::section().keys, false},
         {"simulation", "",
          "With physics = \"electromagnetic\", beside `[model]`, `[[source]]` and `[survey]` of [such "
          "jobs](job_electromagnetic.md):",
          electromagnetic::sections().back().keys, false},
         {"simulation", "",
          "With physics = \"acoustic\", beside `[model]`, `[source]`, `[boundary]` and `[survey]` of [such "
          "jobs](job_acoustic.md):",
          acoustic::sections().back().keys, false}});
    auto sides = electric::sides_section();
    sides.summary = "With physics = \"electric\": what happens to currents at single sides of the mesh.";
    sides.in_template = false;
    made.sections.insert(std::find_if(made.sections.begin(), made.sections.end(),
                                      [](const Section& section) { return section.path == "inversion"; }),
                         sides);
    return made;
  }();
  return job;
}

bool asks_for_inversion(const Config& job) { return job.has("inversion"); }

}  // namespace terrane::inversion
