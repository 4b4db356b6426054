#include "terrane/physics/gravity/inverse/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/inversion/data/amplitude.hpp"
#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/job/left_out.hpp"
#include "terrane/inversion/job/report.hpp"
#include "terrane/inversion/job/tables.hpp"
#include "terrane/inversion/model/regulariser.hpp"
#include "terrane/job/blame.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/model/properties.hpp"
#include "terrane/parallel/simd/instruction_set.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/inverse/fixed_cells.hpp"
#include "terrane/physics/gravity/inverse/mesh_plan.hpp"
#include "terrane/physics/gravity/inverse/operators.hpp"
#include "terrane/physics/gravity/sensitivity/fmm_operator.hpp"
#include "terrane/physics/gravity/sensitivity/lattice_operator.hpp"
#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"
#include "terrane/simulation/compare.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/serve.hpp"
#include "terrane/solve/matrices/device_matrix.hpp"
#include "terrane/solve/matrices/side_by_side.hpp"

namespace terrane::gravity::inverse {

namespace {

/// A storage of G, its cost, and the reason for choosing it, which the user is told.
struct StorageChoice {
  Storage storage = Storage::none;
  Device device{Device::Kind::cpu, -1};
  std::string reason;
  double bytes = 0, seconds_to_make = 0, seconds_per_product = 0;  ///< bytes: on the CPU or GPU used
  double bytes_to_make = 0;  ///< bytes of host memory needed while the matrix of a device is computed
  bool on_device() const { return device.has_own_memory(); }
};

/// Densities, susceptibilities or magnetizations from fields that are linear functions of them, or from
/// amplitudes of such fields.
class StationData final : public inversion::Dependence {
 public:
  StationData(inversion::Problem problem, const PrismSet& cells, const inversion::Settings& settings,
              StorageSettings storage, Observations observations, Survey survey, MemoryBudget memory);
  static std::unique_ptr<terrane::Simulation> from_job(const KindOfJob& kind, const Config& job,
                                                       const Runtime& runtime);

 private:
  std::string title() const override { return title_; }
  std::string property() const override { return observations_.property; }
  std::string unit() const override;
  std::vector<double> values(const std::vector<double>& model) const override {
    return inversion::lengths_of(model, components());
  }
  std::string computed() const override { return fmt::format("amplitudes of {} models", outcome_.forwards); }
  std::string why_alone() const override {
    if (components() > 1) return "vectors are not found together with other models";
    if (observations_.has_amplitudes()) return "amplitudes are not inverted together with other models";
    return {};
  }
  void describe_into(RunFacts& facts, const Runtime& runtime) const override;
  void report_before(terrane::Report& report) const override;
  void report_after(terrane::Report& report) const override;
  void fill(Result& result) const override;
  void complete_cells(std::vector<Column>& columns) const override;
  void choose(const Runtime& runtime) override;
  double memory_needed(const Runtime& runtime) const override;
  double bytes_on_device(const Runtime& runtime) const override;
  double expected_seconds(const Runtime& runtime) override;
  void make(const Runtime& runtime) override;
  void release(const Runtime&) override {
    problem_.g.reset();
    problem_.forward.reset();
  }
  Fingerprint fingerprint(const Runtime& runtime) const override;

  /// Numbers in each cell: 3 if the property is a vector.
  std::size_t components() const { return sources_.size(); }
  /// The cells and stations of G, and its rows for the first component of the property.
  const SensitivityColumns& source() const { return *sources_.front(); }
  /// Sets G in the problem or, if there are amplitudes, F.  of: an operator for each component
  void put(std::vector<std::shared_ptr<const solve::LinearOperator>> of);
  /// Sets the first model that amplitudes need, which have no derivative at 0: the same in all cells, with
  /// the amplitudes that fit best.
  void begin_uniform();
  std::vector<Column> components_of_cells() const;

  /// Subtracts the field of fixed cells from the data. Throws InputError if the data are not linear.
  void hold_fixed(FixedCells fixed, int threads);
  std::vector<StorageChoice> candidates(const Runtime& runtime) const;
  std::vector<StorageChoice> trees(const Runtime& runtime, Device device, double team) const;
  StorageChoice by_fmm(const Runtime& runtime, double team) const;
  /// Seconds of an iteration of Lanczos or of conjugate gradients, without its products with G.
  double seconds_beside_products(const Runtime& runtime) const;
  /// Whether the regulariser has an exact inverse (Regulariser::exact()).
  bool inverse_is_exact() const;
  /// Bytes and seconds that the posterior needs if the regulariser has no exact inverse.
  std::pair<double, double> cost_of_posterior(const Runtime& runtime) const;

  std::string title_;
  StorageSettings storage_;
  Observations observations_;
  Survey survey_;
  std::vector<io::TextColumn> words_;                               // names of the stations
  std::vector<std::shared_ptr<const SensitivityColumns>> sources_;  ///< [components]
  bool has_start_ = false;                                          ///< whether the job gives the first model
  StorageChoice choice_;
  std::string chosen_for_;  ///< the memory, threads, device and ranks for which choice_ was made
  double seconds_to_make_ = 0;
  FixedCells fixed_;
  std::vector<double> of_fixed_;  ///< [rows] data caused by the fixed cells; empty: none
};

constexpr std::array<std::string_view, 8> storage_names{"auto",  "lattice", "tree", "fmm",
                                                        "dense", "single",  "disk", "none"};

// Measured on one core with AVX-512: the time to compute an entry of G for one channel, and the time that an
// entry takes in a product, if G is in memory and if it is in a file.
constexpr double seconds_per_entry = 6e-9, seconds_per_stored_entry = 0.5e-9, seconds_per_read_entry = 4e-9;
// Measured on an H200, in seconds: a pair of cell and station computed anew for a product, and an entry
// computed to be stored; in bytes per second: reading device memory, and transferring vectors between host
// and device. Whole inversions took 1 to 1.8 times the time estimated from these numbers and the count of
// products (benchmarks/records/2026-11-23-inversion_plans-1-gpu.json).
constexpr double seconds_per_device_pair = 7e-12, seconds_per_device_entry = 1.3e-10, device_bytes = 3e12,
                 bus_bytes = 1e10;
// Seconds of an iteration without its products with G: per cell, for vectors on the host; per operation of
// the regulariser's inverse, on one core and on an H200.
constexpr double seconds_per_cell = 8e-9, seconds_per_operation = 5e-11, seconds_per_device_operation = 1e-13;
constexpr double inverses_without_exact_one = 10;  // iterations that Regulariser::solve() needs if !exact()
constexpr double expected_steps = 8;               // expected number of steps with amplitudes
constexpr double least_for_a_tree = 1e7;           // number of entries of G below which storages other than a
                                                   // tree are fast enough
constexpr double least_for_fmm = 1e9;              // number of entries of G above which fast multipoles are
                                                   // considered
constexpr double expected_products = 60;  // expected number of products with each of G and Gᵀ in an
                                          // inversion without bounds

/// The active cells as prisms; if air fills the upper part of a cell, only the part below it.
PrismSet prisms_of_cells(const inversion::Problem& problem) {
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

/// Warns of stations inside active cells, as in a borehole. uneven: whether the job's ground cuts cells.
/// Throws InputError: a row of G has no value.
void check_stations(const SensitivityColumns& source, bool uneven, std::vector<std::string>& warnings) {
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
    warnings.push_back(fmt::format(
        "{} of {} stations lie inside active cells (first: station {}, up {:g} m): right "
        "in boreholes; if they stand on the ground, {}",
        inside.size(), up.size(), inside.front() + 1, up[inside.front()],
        uneven ? "take smaller cells (mesh.cell): the tops of these are steps of the ground"
               : "lower the top of the mesh, or give model.topography, above which cells are air"));
}

// Most groups of stations for which a lattice is used; the stations of a group have the same height and the
// same position within their cells.
constexpr std::size_t most_groups = 8;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// ---- data that depend linearly on the property ----

StationData::StationData(inversion::Problem problem, const PrismSet& cells,
                         const inversion::Settings& settings, StorageSettings storage,
                         Observations observations, Survey survey, MemoryBudget memory)
    : storage_(std::move(storage)), observations_(std::move(observations)), survey_(std::move(survey)) {
  problem_ = std::move(problem);
  settings_ = settings;
  memory_ = memory;
  problem_.easting = survey_.easting;
  problem_.northing = survey_.northing;
  problem_.up = survey_.up;
  for (const auto& column : observations_.columns) {
    const auto& d = column.observed.values;
    const auto& s = column.uncertainty->values;
    problem_.sets.push_back({column.field, column.observed.unit, problem_.data.size(), d.size()});
    problem_.data.insert(problem_.data.end(), d.begin(), d.end());
    problem_.sigma.insert(problem_.sigma.end(), s.begin(), s.end());
  }
  problem_.components = observations_.components();
  for (const auto& observables : observations_.observables)
    sources_.push_back(std::make_shared<SensitivityColumns>(
        cells, KeptStations{survey_.easting, survey_.northing, survey_.up}, observables, storage_.accuracy,
        observations_.singular));
  has_start_ = !problem_.start.empty();
  warnings_ = observations_.warnings;
  check_stations(source(), !problem_.ground.empty(), warnings_);
}

std::string StationData::unit() const {
  return components() == 1 ? Dependence::unit()
                           : std::string(si_unit(property_kind(property() + "_east").quantity));
}

void StationData::put(std::vector<std::shared_ptr<const solve::LinearOperator>> of) {
  auto g = of.size() == 1 ? of.front() : std::make_shared<solve::SideBySide>(std::move(of));
  if (observations_.has_amplitudes())
    problem_.forward = std::make_shared<inversion::AmplitudeForward>(std::move(g), survey_.easting.size(),
                                                                     observations_.rows);
  else problem_.g = std::move(g);
}

void StationData::begin_uniform() {
  if (!problem_.forward || has_start_) return;
  const std::size_t cells = source().columns();
  auto& start = problem_.start;
  start.assign(problem_.columns(), 1.0);
  for (std::size_t n = 0; components() > 1 && n < start.size(); ++n)
    start[n] = observations_.first_direction[n / cells];
  const auto unit = problem_.forward->at(start).data;
  double product = 0, square = 0;
  for (std::size_t n = 0; n < unit.size(); ++n) {
    if (std::isnan(problem_.data[n])) continue;
    const double f = unit[n] / problem_.sigma[n];
    product += f * problem_.data[n] / problem_.sigma[n];
    square += f * f;
  }
  const double size = product > 0 ? product / square : 1e-6;
  for (double& value : start) value *= size;
}

void StationData::hold_fixed(FixedCells fixed, int threads) {
  if (fixed.place.empty()) return;
  if (observations_.has_amplitudes())
    throw InputError("inversion.reference",
                     "cells that are not active keep its values, whose field cannot be taken from amplitudes",
                     "Invert tmi or components of B, or give reference as a number.");
  fixed_ = std::move(fixed);
  of_fixed_ = data_of(fixed_, source(), observations_.singular, threads);
  for (std::size_t n = 0; n < of_fixed_.size(); ++n) problem_.data[n] -= of_fixed_[n];
  notes_.push_back(
      fmt::format("{} cells that are not active keep the values of inversion.reference: their field is "
                  "part of the data",
                  grouped(fixed_.place.size())));
}

/// The device that could compute products in place of the CPU; automatic: a GPU if there is one.
Device device_for(const Runtime& runtime) {
  if (runtime.device.kind == Device::Kind::automatic) return resolve(runtime.device);
  return runtime.device;
}

/// Memory and time that a storage needs on the CPU. team: number of threads.
StorageChoice on_cpu(Storage storage, double entries, double team) {
  StorageChoice choice;
  choice.storage = storage;
  choice.seconds_to_make = storage == Storage::none ? 0 : entries * seconds_per_entry / team;
  choice.bytes = entries * (storage == Storage::dense ? 8 : storage == Storage::single ? 4 : 0);
  choice.seconds_per_product = entries / team *
                               (storage == Storage::none   ? seconds_per_entry
                                : storage == Storage::disk ? seconds_per_read_entry * team
                                                           : seconds_per_stored_entry);
  return choice;
}

/// Memory and time that a storage needs on a device, with the transfer of vectors across the bus.
StorageChoice on_device(Device device, Storage storage, double entries, double vectors) {
  StorageChoice choice;
  choice.storage = storage;
  choice.device = device;
  const double pairs = entries * seconds_per_device_pair;
  const bool kept = storage != Storage::none;
  choice.seconds_to_make = kept ? entries * seconds_per_device_entry : 0;
  choice.bytes = entries * (storage == Storage::dense ? 8 : kept ? 4 : 0);
  choice.seconds_per_product = vectors * 8 / bus_bytes + (kept ? choice.bytes / device_bytes : pairs);
  return choice;
}

StorageChoice on_lattice(Device device, double bytes, double seconds_per_product, double team) {
  StorageChoice choice;
  choice.storage = Storage::lattice;
  choice.device = device;
  choice.bytes = bytes;
  choice.seconds_to_make = bytes * 3e-9 / team;
  choice.seconds_per_product = seconds_per_product;
  return choice;
}

/// Bytes that each rank stores of a matrix on devices.
double part_of_rank(const StorageChoice& choice, const Runtime& runtime) {
  return choice.bytes / (runtime.comm ? runtime.comm->size() : 1);
}

/// Free memory on the device of this rank, which it may share with others, bytes.
double free_on_device(const Runtime& runtime) {
  const auto device = runtime.comm ? device_of_rank(runtime.device, *runtime.comm) : resolve(runtime.device);
  return static_cast<double>(device_memory(device).free);
}

/// The bytes in the memory of this machine, if all ranks together store `bytes`.
double part_of_machine(double bytes, const Runtime& runtime) {
  return runtime.comm ? bytes * runtime.comm->on_node().count / runtime.comm->size() : bytes;
}

/// Whether a storage fits in memory.  inverse: bytes of the regulariser's inverse, which rank 0 applies on
/// its device
bool fits(const StorageChoice& choice, const MemoryBudget& memory, const Runtime& runtime, double inverse) {
  const double most = 0.6 * static_cast<double>(memory.bytes);
  if (part_of_machine(choice.bytes_to_make, runtime) >= most) return false;
  if (choice.on_device()) return part_of_rank(choice, runtime) + inverse < 0.8 * free_on_device(runtime);
  return part_of_machine(choice.bytes, runtime) < most;
}

double seconds_in_all(const StorageChoice& choice) {
  return choice.seconds_to_make + 2 * expected_products * choice.seconds_per_product;
}

/// The storages to choose from: the one that the job names, or else all that are possible.
std::vector<StorageChoice> StationData::candidates(const Runtime& runtime) const {
  const double entries = static_cast<double>(source().rows()) * static_cast<double>(source().columns()),
               vectors =
                   static_cast<double>(source().rows() * solve::most_parts_on_device + source().columns()),
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
    auto lattice = lattice_of(source(), runtime.threads, reason);
    if (lattice && lattice->groups.size() > most_groups) {
      reason = fmt::format("stations have {} heights and places within the cells", lattice->groups.size());
      lattice.reset();
    }
    if (!lattice && !automatic)
      throw InputError("inversion.storage", "there is no lattice: " + reason, "Take storage = \"auto\".");
    const std::string why =
        "cells and stations form a lattice: G and its transpose by FFT, exact to rounding";
    const double bytes = lattice ? LatticeSensitivity::bytes(*lattice, source().observables().size()) : 0;
    if (lattice && device.has_own_memory())
      add(on_lattice(device, bytes, bytes * 5 / device_bytes + vectors * 8 / bus_bytes, team), why);
    if (lattice && !only_device)
      add(on_lattice({Device::Kind::cpu, -1}, bytes, bytes * 0.6e-9 / team, team), why);
  }
  for (const auto storage : {Storage::single, Storage::dense, Storage::disk, Storage::none}) {
    if (!asked(storage) || (automatic && (storage == Storage::dense || storage == Storage::disk))) continue;
    const std::string why = storage == Storage::none
                                ? "they do not fit into memory: made anew for each product"
                                : "in memory in single precision, right to 3e-8 of a row";
    if (device.has_own_memory() && runs_on_devices(storage))
      add(on_device(device, storage, entries, vectors), why);
    if (!only_device || !runs_on_devices(storage)) add(on_cpu(storage, entries, team), why);
  }
  const bool lattice = !all.empty() && all.front().storage == Storage::lattice;
  if (asked(Storage::tree) && (!automatic || (!lattice && entries > least_for_a_tree)))
    for (auto& tree : trees(runtime, device, team))
      add(std::move(tree), fmt::format("clusters of cells by a tree, right to {:g} of the largest value; "
                                       "storage = \"disk\" keeps entries exactly",
                                       storage_.tree_accuracy));
  if (asked(Storage::fmm) && (!automatic || (!only_device && !lattice && entries > least_for_fmm)))
    add(by_fmm(runtime, team),
        fmt::format("clusters of cells at boxes of stations by fast multipoles, right to {:g} of the largest "
                    "value; storage = \"disk\" keeps entries exactly",
                    storage_.tree_accuracy));
  return all;
}

StorageChoice StationData::by_fmm(const Runtime& runtime, double team) const {
  const auto cost = FmmSensitivity::cost(source(), storage_.tree_accuracy, runtime.threads);
  StorageChoice choice;
  choice.storage = Storage::fmm;
  choice.bytes = cost.bytes;
  choice.seconds_to_make = cost.seconds_to_make / team;
  choice.seconds_per_product = cost.seconds_per_product / team;
  return choice;
}

/// The storages by a tree that may be chosen: one on a device and one on the CPU; with device = "cuda" only
/// the former.
std::vector<StorageChoice> StationData::trees(const Runtime& runtime, Device device, double team) const {
  const auto cost = TreeSensitivity::cost(source(), storage_.tree_accuracy, runtime.threads);
  const double vectors =
      static_cast<double>(source().columns() + source().rows() * TreeSensitivity::most_parts);
  std::vector<StorageChoice> made;
  StorageChoice choice;
  choice.storage = Storage::tree;
  choice.seconds_to_make = cost.seconds_to_make / team;
  if (device.has_own_memory()) {
    choice.device = device;
    choice.bytes = cost.bytes_on_device;
    choice.bytes_to_make = cost.bytes;
    choice.seconds_per_product = cost.seconds_per_product_on_device + vectors * 8 / bus_bytes;
    made.push_back(choice);
  }
  if (runtime.device.has_own_memory()) return made;
  choice.device = {Device::Kind::cpu, -1};
  choice.bytes = cost.bytes;
  choice.bytes_to_make = 0;
  choice.seconds_per_product = cost.seconds_per_product / team;
  made.push_back(choice);
  return made;
}

void StationData::choose(const Runtime& runtime) {
  // Until make(), products compute entries on the fly: enough to find errors in data and bounds.
  std::vector<std::shared_ptr<const solve::LinearOperator>> anew;
  for (const auto& source : sources_)
    anew.push_back(std::make_shared<solve::OnTheFlyOperator>(source, runtime.threads));
  put(std::move(anew));
  const auto memory = budget(runtime);
  auto where = fmt::format("{} {} {} {}", runtime.memory, runtime.threads, to_string(runtime.device),
                           runtime.comm ? runtime.comm->size() : 1);
  if (chosen_for_ == where) return;
  auto all = candidates(runtime);
  for (auto& one : all) {  // of one component
    const auto count = static_cast<double>(components());
    one.bytes *= count;
    one.bytes_to_make *= count;
    one.seconds_to_make *= count;
    one.seconds_per_product *= count;
  }
  const double inverse = inversion::Regulariser::bytes_on_device(problem_.mesh);
  // A storage that is not exact must be much faster to be chosen.
  const auto score = [&](const StorageChoice& c) {
    return (fits(c, memory, runtime, inverse) ? 0 : 1e9) +
           seconds_in_all(c) * (c.storage == Storage::tree || c.storage == Storage::fmm ? 2 : 1);
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
  choice_ = std::move(best);
  chosen_for_ = std::move(where);
}

void StationData::make(const Runtime& runtime) {
  const auto begin = std::chrono::steady_clock::now();
  const auto& choice = choice_;
  auto settings = storage_;
  settings.storage = choice.storage;
  // Each rank finds its own GPU, unless the job names one.
  settings.device = choice.on_device() ? Device{choice.device.kind, runtime.device.index} : choice.device;
  // The regulariser's exact inverse is applied on a device even if G is stored on the CPU.
  const auto device = device_for(runtime);
  settings_.device = !choice.on_device() && device.has_own_memory() ? resolve(device) : choice.device;
  auto workers = workers_;
  if (!workers && components() > 1 && runtime.comm != nullptr && runtime.comm->size() > 1)
    workers = std::make_shared<solve::Workers>(*runtime.comm);
  std::vector<std::shared_ptr<const solve::LinearOperator>> made;
  for (const auto& source : sources_) {
    if (components() > 1 && !storage_.file.empty())
      settings.file = storage_.file.string() + fmt::format(".{}", made.size() + 1);
    made.push_back(make_operator(source, settings, runtime, notes_, workers));
  }
  put(std::move(made));
  begin_uniform();
  seconds_to_make_ = seconds_since(begin);
}

/// Memory of the ranks on this machine: on each the cells as prisms and its share of G; on rank 0 a dozen
/// vectors of models and the orthogonal vectors of Lanczos, and for compact norms the factors and magnitudes
/// of cells and faces, four lists each.
double StationData::memory_needed(const Runtime& runtime) const {
  const double here = runtime.comm ? runtime.comm->on_node().count : 1;
  const double cells = static_cast<double>(problem_.mesh.size() * components()),
               rows = static_cast<double>(source().rows());
  const double factors = settings_.norms.square() ? 0 : 8;
  double dense = 0;
  if (settings_.posterior || settings_.choice == inversion::Choice::gcv ||
      settings_.choice == inversion::Choice::l_curve)
    dense = 4 * rows * rows * 8 + cost_of_posterior(runtime).first;
  return part_of_machine(choice_.on_device() ? choice_.bytes_to_make : choice_.bytes, runtime) +
         cells * 8 * (10 + factors + 8 * here) + rows * 8 * (86 + 64 * here) + dense;
}

double StationData::bytes_on_device(const Runtime& runtime) const {
  const auto& choice = choice_;
  const double part = choice.on_device() ? part_of_rank(choice, runtime) : 0;
  const bool inverse = choice.on_device() || device_for(runtime).has_own_memory();
  return part + (inverse ? inversion::Regulariser::bytes_on_device(problem_.mesh) : 0);
}

bool StationData::inverse_is_exact() const {
  return problem_.active.empty() && !problem_.weights && settings_.weights_in_gradients;
}

std::pair<double, double> StationData::cost_of_posterior(const Runtime& runtime) const {
  if (!settings_.posterior || inverse_is_exact()) return {};
  const auto [bytes, seconds] = inversion::Regulariser::cost_of_diagonal(problem_.mesh);
  return {bytes, seconds / std::max(1, std::min(thread_count(runtime.threads), thread_count(0)))};
}

void StationData::describe_into(RunFacts& facts, const Runtime& runtime) const {
  const auto& choice = choice_;
  const std::uint64_t cells = source().columns(), rows = problem_.data.size();
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
    facts.add("inverse_device", to_string(device), "", "inverse",
              fmt::format("of the regulariser on {}; this storage of G is the CPU's", to_string(device)));
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  if (ranks > 1)
    facts.add("ranks", std::uint64_t(ranks), "", "ranks",
              fmt::format("{}, each with its part of the matrix", ranks));
  facts.memory_bytes = static_cast<std::size_t>(memory_needed(runtime));
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

double StationData::expected_seconds(const Runtime& runtime) {
  const double descents =
      (problem_.bounds.any() || !settings_.norms.square() ? 4 : 1) + (settings_.huber > 0 ? 6 : 0);
  const double steps = observations_.has_amplitudes() ? expected_steps : 1;
  return choice_.seconds_to_make +
         steps * descents * expected_products *
             (2 * choice_.seconds_per_product + seconds_beside_products(runtime)) +
         cost_of_posterior(runtime).second;
}

double StationData::seconds_beside_products(const Runtime& runtime) const {
  const auto& mesh = problem_.mesh;
  const double cells = static_cast<double>(mesh.size()),
               operations = 4 * cells * static_cast<double>(mesh.n_east() + mesh.n_north() + mesh.n_up()),
               team = std::max(1, std::min(thread_count(runtime.threads), thread_count(0)));
  const double inverse = device_for(runtime).has_own_memory() ? operations * seconds_per_device_operation
                                                              : operations * seconds_per_operation / team;
  return static_cast<double>(components()) *
         (cells * seconds_per_cell + (inverse_is_exact() ? 1 : inverses_without_exact_one) * inverse);
}

Fingerprint StationData::fingerprint(const Runtime&) const {
  auto all = inverse::fingerprint(source(), storage_.accuracy);
  for (std::size_t n = 1; n < components(); ++n) {
    auto more = inverse::fingerprint(*sources_[n], storage_.accuracy);
    for (auto& fact : more) fact.what += fmt::format(" of component {}", n + 1);
    all.insert(all.end(), more.begin(), more.end());
  }
  all.push_back({"data that are amplitudes", fmt::format("{}", fmt::join(observations_.rows, " "))});
  all.push_back({"storage", std::string(storage_names[static_cast<std::size_t>(choice_.storage)])});
  // Sums on another kind of device differ in the last bits.
  all.push_back({"kind of device", fmt::format("{}", static_cast<int>(settings_.device.kind))});
  all.push_back({"tree_accuracy", fmt::format("{}", storage_.tree_accuracy)});
  return all;
}

void StationData::report_before(terrane::Report& report) const {
  report.add("seconds_sensitivities", seconds_to_make_, "s", "matrix made",
             fmt::format("in {:.3g} s", seconds_to_make_));
}

/// The direction of a vector (east, north, up), degrees: inclination, positive downward; declination,
/// clockwise from north.
std::array<double, 2> direction_of(const std::array<double, 3>& v) {
  return {std::atan2(-v[2], std::hypot(v[0], v[1])) * 180 / pi, std::atan2(v[0], v[1]) * 180 / pi};
}

/// The moment is the sum of the model's vectors times the volumes of their cells.
void StationData::report_after(terrane::Report& report) const {
  if (components() == 1 || outcome_.model.empty()) return;
  std::array<double, 3> moment{};
  const std::size_t cells = source().columns();
  for (std::size_t n = 0; n < outcome_.model.size(); ++n)
    moment[n / cells] += outcome_.model[n] * Prism(source().cells()[n % cells]).volume();
  const auto [inclination, declination] = direction_of(moment);
  const double size = std::hypot(moment[0], moment[1], moment[2]);
  report.add("moment", size, "A m2", "moment",
             fmt::format("{:.4g} A m2 in all, inclination {:.1f}°, declination {:.1f}°", size, inclination,
                         declination));
  report.add("moment_inclination", inclination, "degree");
  report.add("moment_declination", declination, "degree");
}

/// The components of the vectors in the cells, and their directions.
std::vector<Column> StationData::components_of_cells() const {
  const std::size_t cells = source().columns(), all = problem_.mesh.size();
  const auto& m = outcome_.model;
  std::vector<Column> made;
  for (const char* along : {"_east", "_north", "_up"})
    made.push_back({property() + along, unit(), fmt::format("component {}ward", along + 1), {}});
  made.push_back({property() + "_inclination", "degree", "of its direction, positive downward", {}});
  made.push_back({property() + "_declination", "degree", "of its direction, clockwise from north", {}});
  if (m.empty()) return made;
  for (auto& column : made) column.values.resize(all);
  for (std::size_t c = 0; c < cells; ++c) {
    const std::size_t at = problem_.active.empty() ? c : problem_.active[c];
    const std::array<double, 3> v{m[c], m[cells + c], m[2 * cells + c]};
    const auto direction = direction_of(v);
    for (std::size_t a = 0; a < 3; ++a) made[a].values[at] = v[a];
    for (std::size_t a = 0; a < 2; ++a) made[3 + a].values[at] = direction[a];
  }
  return made;
}

void StationData::fill(Result& result) const {
  StationFields stations;
  stations.survey = survey_;
  ObservedColumns columns;
  columns.others = observations_.others;
  for (std::size_t k = 0; k < observations_.columns.size(); ++k) {
    const auto& column = observations_.columns[k];
    const auto& set = problem_.sets[k];
    Column field{column.field, column.observed.unit, observations_.descriptions[k], {}};
    if (!outcome_.predicted.empty())
      field.values.assign(outcome_.predicted.begin() + static_cast<std::ptrdiff_t>(set.first),
                          outcome_.predicted.begin() + static_cast<std::ptrdiff_t>(set.first + set.count));
    if (!of_fixed_.empty())
      for (std::size_t n = 0; n < field.values.size(); ++n) field.values[n] += of_fixed_[set.first + n];
    stations.fields.push_back(std::move(field));
    const auto of_data = [&](const char* name, const char* unit, const char* what,
                             const std::vector<double>& all) {
      Column more{column.field + name, unit, what, {}};
      if (!all.empty())
        more.values.assign(all.begin() + static_cast<std::ptrdiff_t>(set.first),
                           all.begin() + static_cast<std::ptrdiff_t>(set.first + set.count));
      stations.fields.push_back(std::move(more));
    };
    if (settings_.trend != inversion::Trend::none)
      of_data("_trend", column.observed.unit.c_str(), "regional field, part of the computed one",
              outcome_.trend);
    if (settings_.huber > 0) of_data("_trust", "1", "below 1 where an outlier counts less", outcome_.trust);
    columns.observed.push_back(column);
  }
  compare(stations, result.report, columns);
  result.data = to_dataset(std::move(stations));
  result.attributes["frame"] = observations_.frame;
  add_words(result, words_, result.report);
}

void StationData::complete_cells(std::vector<Column>& columns) const {
  if (components() > 1) {
    const auto more = components_of_cells();
    columns.insert(columns.begin() + 1, more.begin(), more.end());
  }
  for (auto& column : columns)
    if (column.name.starts_with(observations_.property) && !column.name.ends_with("_deviation") &&
        !column.values.empty())
      for (std::size_t n = 0; n < fixed_.place.size(); ++n) column.values[fixed_.place[n]] = fixed_.value[n];
}

StorageSettings read_storage(const Config& table) {
  StorageSettings s;
  s.storage = chosen<Storage>(table, "storage", storage_names);
  s.accuracy = table.positive("accuracy");
  if (s.accuracy < 2e-15 || s.accuracy > 1e-3)
    throw table.wrong("accuracy", "it is not between 2e-15 and 1e-3");
  s.tree_accuracy = table.positive("tree_accuracy");
  if (s.tree_accuracy < 1e-7 || s.tree_accuracy > 1e-2)
    throw table.wrong("tree_accuracy", "it is not between 1e-7 and 1e-2");
  if (table.has("storage_file")) s.file = table.path("storage_file");
  if (s.storage == Storage::disk && s.file.empty())
    throw table.wrong("storage_file", "missing", "storage = \"disk\" keeps the sensitivities in this file.");
  return s;
}

/// Removes the stations that inversion.leave_out names, and adds a note.
void leave_out(const Config& table, terrane::Stations& stations) {
  auto& survey = stations.survey;
  std::vector<bool> left(survey.size());
  std::vector<std::size_t> named;
  for (const auto& word : table.texts("leave_out")) {
    const auto [first, last] = inversion::numbers_left_out(table, word, survey.size(), "stations");
    for (std::size_t n = first; n < last; ++n)
      if (!left[n]) named.push_back(n), left[n] = true;
  }
  if (named.empty()) return;
  if (named.size() == survey.size()) throw table.wrong("leave_out", "no station is left");
  for (auto* values : {&survey.easting, &survey.northing, &survey.up}) inversion::keep(*values, left);
  for (auto& column : survey.columns) inversion::keep(column.values, left);
  for (auto& column : stations.words) inversion::keep(column.values, left);
  survey.grid.reset();
  stations.notes.push_back(fmt::format("left out, as inversion.leave_out says: {} {}",
                                       named.size() == 1 ? "station" : "stations",
                                       inversion::some_of(named)));
}

/// Throws InputError for keys that have no meaning if the property is a vector.
void expect_keys_of_vectors(const Config& table) {
  constexpr const char* next = "Leave it out, or take simulation.property = \"susceptibility\".";
  for (const char* key : {"reference", "start", "lower", "rocks"})
    if (table.has(key))
      throw table.wrong(key, "a magnetization of any direction has none: it is a vector in each cell", next);
  if (table.flag("posterior"))
    throw table.wrong("posterior", "there is none of vectors",
                      "Leave posterior = false, or take simulation.property = \"susceptibility\".");
}

/// Reads the bounds of a property or, if it is a vector, of its largest strength in each cell
/// (inversion.upper). Throws InputError.
inversion::Bounds read_bounds(const Config& table, const Observations& observations,
                              const inversion::Problem& problem, const std::string& mesh_file) {
  const auto cells = [&](const char* key) {
    return inversion::read_cells(table, key, observations.property, problem.mesh, mesh_file, problem.active);
  };
  inversion::Bounds bounds;
  if (observations.components() == 1) {
    bounds = {cells("lower"), cells("upper")};
    inversion::complete(bounds, problem.active.empty() ? problem.mesh.size() : problem.active.size());
    return bounds;
  }
  bounds.length = cells("upper");
  for (const double value : bounds.length)
    if (!(value >= 0) || !std::isfinite(value))
      throw table.wrong("upper",
                        fmt::format("{:g} is no largest strength of a {}", value, observations.property),
                        "It bounds the length of the vector in each cell: 0 or more.");
  return bounds;
}

/// Reads the settings of inversions of amplitudes, which take Gauss-Newton steps. Throws InputError for what
/// these do not have.
void read_steps_of_amplitudes(const Config& table, inversion::Settings& settings) {
  const auto refuse = [&](const char* key, bool asked) {
    if (asked)
      throw table.wrong(key, "it is there for linear data only, and amplitudes are not linear",
                        "Leave it out, or invert tmi or components of B.");
  };
  refuse("trend", settings.trend != inversion::Trend::none);
  refuse("posterior", settings.posterior);
  refuse("choice",
         settings.choice == inversion::Choice::gcv || settings.choice == inversion::Choice::l_curve);
  refuse("solver", settings.solver == inversion::Solver::model_space);
  settings.most_steps = static_cast<int>(table.count("most_steps", 1, 10'000));
  settings.jacobian_in_memory = false;
}

std::unique_ptr<terrane::Simulation> StationData::from_job(const KindOfJob& kind, const Config& job,
                                                           const Runtime& runtime) {
  const auto memory = memory_budget(runtime);
  const auto simulation = job.table("simulation").describe({kind.keys, Runtime::section().keys});
  const auto table = job.table("inversion").describe({inversion::inversion_section().keys});
  simulation.text("physics");
  auto stations = build_survey(job, memory);
  leave_out(table, stations);
  auto observations =
      read_observations(kind.fields(simulation, stations.survey), simulation, stations.survey);
  expect_values(job, stations.survey, observations.columns);
  inversion::read_uncertainties(table, observations.columns, stations.notes, place_of_stations(job, {}));
  inversion::Problem problem;
  Ground own;  // the ground through the stations; used if the job names none
  const auto mesh = inversion::read_mesh(job, memory, [&](const MeshWish& wish) {
    const auto land = table.has("topography") || table.has("active_file")
                          ? Ground{}
                          : build_ground(job, stations.projection, memory);
    return plan_cells(positions_of(stations.survey), land, observations.steep, wish, own);
  });
  problem.mesh = mesh.mesh;
  const auto& mesh_file = mesh.file;
  if (!inversion::take_ground(job, table, table.has("active_file") ? "active_file" : "topography",
                              stations.projection, memory, problem)) {
    problem.active = inversion::read_active(table, problem.mesh, mesh_file, stations.projection, memory);
    for (const char* key : {"topography", "active_file"})
      if (table.has(key)) problem.ground_key = table.where(key);
    if (own && problem.ground_key.empty()) inversion::put_ground(own, job.table("survey").where(), problem);
  }
  if (observations.components() > 1) expect_keys_of_vectors(table);
  const auto cells = [&](const char* key) {
    if (observations.components() > 1) return std::vector<double>();
    return inversion::read_cells(table, key, observations.property, problem.mesh, mesh_file, problem.active);
  };
  problem.reference = cells("reference");
  if (observations.has_amplitudes()) problem.start = cells("start");
  auto fixed = read_fixed(table, observations.property, problem, mesh_file);
  problem.bounds = read_bounds(table, observations, problem, mesh_file);
  problem.weights = inversion::read_weights(table, problem.mesh, mesh_file);
  problem.own_weight = inversion::read_own_weight(table, problem, mesh_file);
  auto settings = inversion::read_at_stations(table, observations.exponent, mesh);
  if (observations.has_amplitudes()) read_steps_of_amplitudes(table, settings);
  const auto storage = read_storage(table);
  auto prisms = prisms_of_cells(problem);
  const auto property = observations.property;
  auto made = std::make_unique<StationData>(std::move(problem), prisms, settings, storage,
                                            std::move(observations), std::move(stations.survey), memory);
  made->title_ = kind.title;
  made->joint_ = inversion::read_joint(job);
  if (made->components() == 1) made->rocks_ = inversion::read_rocks(table, property);
  made->origin_ = {job.source(), made->survey_.projection};
  made->words_ = std::move(stations.words);
  made->notes_ = std::move(stations.notes);
  made->notes_.insert(made->notes_.end(), mesh.notes.begin(), mesh.notes.end());
  made->notes_.insert(made->notes_.end(), fixed.notes.begin(), fixed.notes.end());
  made->hold_fixed(std::move(fixed), runtime.threads);
  made->warnings_.insert(made->warnings_.end(), stations.warnings.begin(), stations.warnings.end());
  return std::make_unique<inversion::InversionJob>(std::move(made));
}

}  // namespace

Physics job_at_stations(std::string_view name, std::string_view summary, const KindOfJob& kind) {
  Physics physics;
  physics.name = name;
  physics.summary = summary;
  const auto add = [&](std::span<const Section> sections) {
    physics.sections.insert(physics.sections.end(), sections.begin(), sections.end());
  };
  add(earth_sections().first(4));
  add({&inversion::ground_section(), 1});
  add(survey_sections());
  physics.sections.push_back(
      {"simulation", "", "The data; names, axes and signs of their components.", kind.keys});
  add({&Runtime::section(), 1});
  add({&inversion::inversion_section(), 1});
  add({&inversion::joint_section(), 1});
  add({&Output::section(), 1});
  physics.kinds = {{"mesh", "regular"}, {"survey", "list"}};
  physics.examples = {{"mesh.box", "[-700, 700, -700, 700, -600, 0]"},
                      {"mesh.shape", "[28, 28, 12]"},
                      {"survey.height", ""},
                      {"survey.file", "\"stations.csv\""},
                      {"output.files", "[\"fit.nc\", \"fit.csv\"]"},
                      {"output.model", "[\"model.nc\", \"model.vtr\"]"}};
  physics.make = [kind](const Config& job, const Runtime& runtime) {
    return StationData::from_job(kind, job, runtime);
  };
  return physics;
}

}  // namespace terrane::gravity::inverse
