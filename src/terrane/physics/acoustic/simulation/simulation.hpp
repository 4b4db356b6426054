// Acoustic waves from a job file, or from a problem and settings.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/job/config.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/acoustic/companion.hpp"
#include "terrane/physics/acoustic/run.hpp"
#include "terrane/simulation/simulation_of.hpp"
#include "terrane/simulation/trace_accuracy.hpp"

namespace terrane::acoustic {

/// The grid of the centres of a mesh's cells. Throws InputError if cells along an axis differ in width.
Grid grid_of(const TensorMesh& mesh);

/// A function by which an inversion changes the problem that it read from a job, before the time step is
/// chosen. Its other arguments are the mesh and the task of the job.
using Prepare = std::function<void(Problem&, const TensorMesh&, Task)>;

/// A warning if the folder for waves on a disk lies in a file system in memory; else empty.
std::string disk_in_memory(const Settings& settings);

/// Number of ranks that each store the waves of a shot, in all and on this machine; 1 if all ranks compute
/// each shot together.
struct ShotsAtOnce {
  int all = 1, on_machine = 1;

  /// Number of shots whose waves are stored on one disk at the same time: a folder that the job names is
  /// assumed to be shared by all machines; the system's temporary folder is on a disk of each machine.
  int on_disk_of(const Settings& settings) const { return settings.scratch.empty() ? on_machine : all; }
};

/// The resources that a run uses, chosen once: the plan and the run share them.
struct Choice {
  Settings settings;                      ///< settings with the chosen strategy of keeping waves
  std::vector<KeepingChoice> strategies;  ///< migration: all strategies, with the memory that each needs
  MemoryBudget memory;
  Device device;
  std::string on;  ///< name of the device in messages
  int threads = 0, ranks = 1;
  int together = 1;         ///< number of ranks that compute each shot together
  double share = 1;         ///< fraction of a shot's nodes on this GPU; without GPUs, on this machine
  Dealt dealt = Dealt::no;  ///< whether each rank of a shot gets only the medium of its own nodes
  int ranks_on_machine = 1;
  ShotsAtOnce shots;
  CheckpointSettings checkpoint;

  bool on_disk() const { return !checkpoint.file.empty(); }
  /// The fraction of a shot's nodes that all ranks of this machine, or one rank, compute.
  double share_of_machine() const {
    return together > 1 ? static_cast<double>(ranks_on_machine) / together : 1;
  }
  double share_of_rank() const { return 1.0 / together; }
};

class Simulation final : public SimulationOf<Choice> {
 public:
  /// Throws InputError, also if shots differ in their numbers of receivers.
  Simulation(Problem problem, Settings settings, JobOrigin job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);
  /// The simulation of waves whose gathers are the data of an inversion; its kind is modelling or migration.
  /// Does not read the data.
  static std::unique_ptr<Simulation> for_inversion(const Config& job, const Runtime& runtime,
                                                   const Prepare& prepare);

  Result outline() const override;

  const Problem& problem() const noexcept { return problem_; }
  const Settings& settings() const noexcept { return settings_; }
  /// Number of time steps between two written samples.
  std::size_t every() const noexcept { return every_; }
  ShotsAtOnce shots_at_once(const Runtime& runtime) const;
  /// Gathers of all shots as a data set; if the Outcome has no gathers, a data set without values.
  Dataset gathers(const Outcome& done) const;

 private:
  static std::unique_ptr<Simulation> read(const Config& job, const Runtime& runtime, const Prepare* prepare);
  /// Makes the companion, or notes why no error can be stated. request: what the run asked of its earth
  void make_companion(const Config& job, const MemoryBudget& memory, EarthRequest request);
  /// Runs the companion, and gives each variable of `data` whose name ends in _error its values.
  void state_errors(Dataset& data, const Outcome& done, double seconds, const Choice& choice,
                    const Runtime& runtime, Result& result) const;
  void describe_errors(RunFacts& facts) const;
  /// Reads the gathers to migrate.
  void read_observed(const Config& simulation);
  Choice choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const Choice& choice, const Runtime&) const override;
  void foresee(Plan& plan, const Choice& choice, const Runtime&) const override;
  /// Returns the gathers (shot, time, receiver) of modelling and Born modelling, or the images (up, northing,
  /// easting) of a migration.
  Dataset compute(Result& result, const Choice& choice, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  Room room_of(const Choice& choice) const;
  void describe_keeping(RunFacts& facts, const Choice& choice) const;
  void describe_sizes(RunFacts& facts) const;
  double bytes_of_companion() const;
  double bytes_of_film(const Settings& settings) const;
  void check_disk(const Choice& choice) const;
  void check_checkpoints(Plan& plan, const Choice& choice) const;
  double check_host(const Plan& plan, const Choice& choice) const;
  Dataset images(Outcome done) const;
  void add_traces(Dataset& data, const Outcome& done, std::size_t component) const;
  void add_pictures(Dataset& data, const Pictures& pictures) const;
  std::vector<Column> columns() const;

  Problem problem_;
  Settings settings_;
  std::size_t every_ = 1;  ///< number of time steps between two written samples
  AccuracyOfTraces accuracy_;
  CompanionProblem companion_;
  /// Values of the problem, computed once because each takes a pass over the whole medium.
  double slowest_ = 0, longest_step_ = 0;
};

}  // namespace terrane::acoustic
