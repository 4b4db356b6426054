// Acoustic waves from a job file, or from a problem and settings.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/job/config.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/acoustic/run.hpp"
#include "terrane/simulation/simulation_of.hpp"

namespace terrane::acoustic {

/// The nodes in the middle of the cells of a mesh. Throws InputError: cells of an axis differ in width.
Grid grid_of(const TensorMesh& mesh);

/// A function by which an inversion changes the problem that it read from a job, before the time step is
/// chosen. It also gets the job's mesh and its kind.
using Prepare = std::function<void(Problem&, const TensorMesh&, Task)>;

/// A warning where the folder for waves on a disk lies in memory, or nothing.
std::string disk_in_memory(const Settings& settings);

/// How many ranks keep a shot each; 1 where all ranks take each shot together.
struct ShotsAtOnce {
  int all = 1, on_machine = 1;

  /// Number of shots at once whose waves lie on one disk: a given folder counts as one disk of all machines;
  /// the system's folder for temporary files is on a disk of each machine.
  int on_disk_of(const Settings& settings) const { return settings.scratch.empty() ? on_machine : all; }
};

/// The resources that a run uses, chosen once: the plan and the run share them.
struct Choice {
  Settings settings;                      ///< with the strategy of keeping waves that was chosen
  std::vector<KeepingChoice> strategies;  ///< of a migration: all, with the memory that each takes
  MemoryBudget memory;
  Device device;
  std::string on;  ///< name of the device in messages
  int threads = 0, ranks = 1;
  int together = 1;         ///< number of ranks that take each shot together
  double share = 1;         ///< fraction of a shot's nodes on a device, or on a machine where that is the CPU
  Dealt dealt = Dealt::no;  ///< whether the medium is dealt among them
  int ranks_on_machine = 1;
  ShotsAtOnce shots;
  CheckpointSettings checkpoint;

  bool on_disk() const { return !checkpoint.file.empty(); }
  /// The fraction of a shot's nodes that the ranks of this machine, or each rank, take.
  double share_of_machine() const {
    return together > 1 ? static_cast<double>(ranks_on_machine) / together : 1;
  }
  double share_of_rank() const { return 1.0 / together; }
};

class Simulation final : public SimulationOf<Choice> {
 public:
  /// Every shot has the same number of receivers. Throws InputError.
  Simulation(Problem problem, Settings settings, JobOrigin job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);
  /// From a job whose gathers are an inversion's data: of kind modelling or migration, without reading data.
  static std::unique_ptr<Simulation> for_inversion(const Config& job, const Runtime& runtime,
                                                   const Prepare& prepare);

  Result outline() const override;

  const Problem& problem() const noexcept { return problem_; }
  const Settings& settings() const noexcept { return settings_; }
  /// Steps from one written sample to the next.
  std::size_t every() const noexcept { return every_; }
  ShotsAtOnce shots_at_once(const Runtime& runtime) const;
  /// Gathers of all shots as a data set; if the Outcome has no gathers, a data set without values.
  Dataset gathers(const Outcome& done) const;

 private:
  static std::unique_ptr<Simulation> read(const Config& job, const Runtime& runtime, const Prepare* prepare);
  /// The gathers to migrate.
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
  double bytes_of_film(const Settings& settings) const;
  void check_disk(const Choice& choice) const;
  void check_checkpoints(Plan& plan, const Choice& choice) const;
  double check_host(const Plan& plan, const Choice& choice) const;
  Dataset images(Outcome done) const;
  void add_pictures(Dataset& data, const Pictures& pictures) const;
  TensorMesh mesh() const;
  std::vector<Column> columns() const;

  Problem problem_;
  Settings settings_;
  std::size_t every_ = 1;  ///< steps from one written sample to the next
  /// Of the problem, found once: each is a pass over the whole medium.
  double slowest_ = 0, longest_step_ = 0;
};

}  // namespace terrane::acoustic
