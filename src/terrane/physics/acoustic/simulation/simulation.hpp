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

/// Changes the problem of a job that an inversion reads, before its step is chosen: with the mesh and what
/// kind the job has.
using Prepare = std::function<void(Problem&, const TensorMesh&, Task)>;

/// A warning where the folder for waves on a disk lies in memory, or nothing.
std::string disk_in_memory(const Settings& settings);

/// How many ranks keep a shot each; 1 where all ranks take each shot together.
struct ShotsAtOnce {
  int all = 1, on_machine = 1;

  /// That write into one disk: a folder that is given lies on one disk of all, that of the system for
  /// temporary files on one of each machine.
  int on_disk_of(const Settings& settings) const { return settings.scratch.empty() ? on_machine : all; }
};

/// What a run takes of the machine, found once: plan and run have the same.
struct Choice {
  Settings settings;                      ///< with the strategy of keeping for which there is room
  std::vector<KeepingChoice> strategies;  ///< of a migration: what each takes
  MemoryBudget memory;
  Device device;
  std::string on;  ///< the device, for people
  int threads = 0, ranks = 1;
  int together = 1;         ///< of them those that take each shot together
  double share = 1;         ///< of a shot's nodes what the device has, or where that is the host, the machine
  Dealt dealt = Dealt::no;  ///< the medium among them
  int ranks_on_machine = 1;
  ShotsAtOnce shots;
  CheckpointSettings checkpoint;

  bool on_disk() const { return !checkpoint.file.empty(); }
};

class Simulation final : public SimulationOf<Choice> {
 public:
  /// Every shot has the same number of receivers. Throws InputError.
  Simulation(Problem problem, Settings settings, JobOrigin job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);
  /// Of a job whose gathers an inversion explains: of modelling or migration, without data.
  static std::unique_ptr<Simulation> for_inversion(const Config& job, const Runtime& runtime,
                                                   const Prepare& prepare);

  Result outline() const override;

  const Problem& problem() const noexcept { return problem_; }
  const Settings& settings() const noexcept { return settings_; }
  /// Steps from one written sample to the next.
  std::size_t every() const noexcept { return every_; }
  ShotsAtOnce shots_at_once(const Runtime& runtime) const;
  /// Gathers of all shots as a data set; of an Outcome without any, without values.
  Dataset gathers(const Outcome& done) const;

 private:
  static std::unique_ptr<Simulation> read(const Config& job, const Runtime& runtime, const Prepare* prepare);
  /// The gathers to migrate.
  void read_observed(const Config& simulation);
  Choice choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const Choice& choice, const Runtime&) const override;
  void foresee(Plan& plan, const Choice& choice, const Runtime&) const override;
  /// Pressure (shot, time, receiver), Pa, of modelling and Born modelling; of a migration the images (up,
  /// northing, easting).
  Dataset compute(Result& result, const Choice& choice, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  Room room_of(const Choice& choice) const;
  void describe_keeping(RunFacts& facts, const Choice& choice) const;
  double bytes_of_film(const Settings& settings) const;
  void check_disk(const Choice& choice) const;
  void check_checkpoints(Plan& plan, const Choice& choice) const;
  void check_host(const Plan& plan, const Choice& choice) const;
  Dataset images(Outcome done) const;
  void add_pictures(Dataset& data, const Pictures& pictures) const;
  TensorMesh mesh() const;
  std::vector<Column> columns() const;

  Problem problem_;
  Settings settings_;
  std::size_t every_ = 1;  ///< steps from one written sample to the next
};

}  // namespace terrane::acoustic
