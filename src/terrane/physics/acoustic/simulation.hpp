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
#include "terrane/simulation/provenance.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::acoustic {

/// The tables [source], [boundary] and [simulation].
std::span<const Section> sections();

/// The nodes in the middle of the cells of a mesh. Throws InputError: cells of an axis differ in width.
Grid grid_of(const TensorMesh& mesh);

/// Changes the problem of a job that an inversion reads, before its step is chosen: with the mesh and what
/// kind the job has.
using Prepare = std::function<void(Problem&, const TensorMesh&, Task)>;

/// A warning where the folder for waves on a disk lies in memory, or nothing.
std::string disk_in_memory(const Settings& settings);

class Simulation final : public terrane::Simulation {
 public:
  /// Every shot has the same number of receivers. Throws InputError.
  Simulation(Problem problem, Settings settings, JobOrigin job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);
  /// Of a job whose gathers an inversion explains: of modelling or migration, without data.
  static std::unique_ptr<Simulation> for_inversion(const Config& job, const Runtime& runtime,
                                                   const Prepare& prepare);

  Plan check(const Runtime& runtime = {}) override;
  /// data: pressure (shot, time, receiver), Pa, of modelling and Born modelling; of a migration the images
  /// (up, northing, easting).
  Result run(const Runtime& runtime = {}) override;
  Result outline() const override;
  void write_model(const std::string& path) const override;
  void check_model(const std::string& path) const override;

  const Problem& problem() const noexcept { return problem_; }
  const Settings& settings() const noexcept { return settings_; }
  /// Steps from one written sample to the next.
  std::size_t every() const noexcept { return every_; }
  const JobOrigin& origin() const noexcept { return job_; }
  const std::vector<std::string>& notes() const noexcept { return notes_; }
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  /// How many ranks of this machine keep a shot each; 1 where all ranks take each shot together.
  int shots_on_machine(const Runtime& runtime) const;
  /// How many ranks write into the disk of these settings.
  int shots_on_disk(const Settings& settings, const Runtime& runtime) const;
  /// Gathers of all shots as a data set; of an Outcome without any, without values.
  Dataset gathers(const Outcome& done) const;

 private:
  static std::unique_ptr<Simulation> read(const Config& job, const Runtime& runtime, const Prepare* prepare);
  Settings settled(const Runtime& runtime) const;
  int shots_at_once(const Runtime& runtime) const;
  Device device_of(const Runtime& runtime) const;
  Room room_of(const Settings& settings, const Runtime& runtime) const;
  void describe(RunFacts& facts, const Settings& settings, const Runtime& runtime) const;
  void describe_keeping(RunFacts& facts, const Settings& settings, const Runtime& runtime) const;
  double bytes_of_film(const Settings& settings) const;
  void check_disk(const Settings& settings, const Runtime& runtime) const;
  void check_checkpoints(Plan& plan, const Settings& settings, const Runtime& runtime) const;
  void check_host(const Plan& plan, const Settings& settings, const Runtime& runtime) const;
  Dataset images(Outcome done) const;
  void add_pictures(Dataset& data, const Pictures& pictures) const;
  TensorMesh mesh() const;
  std::vector<Column> columns() const;

  Problem problem_;
  Settings settings_;
  JobOrigin job_;
  std::size_t every_ = 1;  ///< steps from one written sample to the next
  std::vector<std::string> notes_, warnings_;
};

}  // namespace terrane::acoustic
