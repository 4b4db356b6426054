// Electromagnetics, of sources or of plane waves, from a job file, or from a problem: settings, plan, run,
// result.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/physics/electromagnetic/meshes.hpp"
#include "terrane/physics/electromagnetic/ranks.hpp"
#include "terrane/physics/electromagnetic/transfer.hpp"
#include "terrane/simulation/refined_simulation.hpp"

namespace terrane::electromagnetic {

/// The tables [[source]] with its kinds, and [simulation].
std::span<const Section> sections();

/// Data of all meshes, and where they were computed.
struct Found {
  Outcome outcome;
  Device device;
};

class Simulation final : public RefinedSimulation<Simulation, Found> {
 public:
  /// Throws as Problem::check.
  explicit Simulation(Problem problem, JobOrigin job = {});
  /// Solves on two or more meshes (meshes.hpp), of one or more, each as check() wants it.
  Simulation(std::vector<OnMesh> meshes, Gridding gridding, JobOrigin job = {});
  /// From the tables [mesh], [model], [[source]], [survey] and [simulation].
  /// isotropic: cells of several media have one conductivity, not one for each axis
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime,
                                                       bool isotropic = false);
  /// instead: for each of the job's meshes, one to use in its place; empty: the planned ones
  static std::unique_ptr<Simulation> from_job_on(const Config& job, const Runtime& runtime, bool isotropic,
                                                 const std::vector<TensorMesh>& instead);

  /// Sources, frequencies, receivers and components of the job; without a mesh where there are several.
  const Problem& problem() const { return problem_; }
  /// Empty where all solves share the mesh of problem().
  const std::vector<OnMesh>& meshes() const { return meshes_; }
  Result outline() const override;
  /// Switches stated errors off, for callers that do not use the data of a run, such as inversions.
  void state_no_errors() { accuracy_ = {}, companion_.reset(), on_cells_ = {}; }

 private:
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const override;
  void foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const override;
  Dataset compute(Result& result, const MemoryBudget&, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  Dataset dataset(const Solved& solved, StatedErrors& stated) const;

  friend RefinedSimulation<Simulation, Found>;
  static constexpr auto errors_beside = ErrorsBeside::walls;
  static bool converged(const Found& found);
  std::uint64_t cells_of_run() const;
  Found solved(const Runtime& runtime) const;
  std::unique_ptr<Simulation> on_companion(std::array<bool, 3> coarser, bool moves_walls) const;
  std::unique_ptr<Simulation> finer(const FinerWish& wish, const Runtime& runtime) const;
  std::vector<Variable> errors_of(const Solved& solved, StatedErrors& stated) const;

  std::unique_ptr<Simulation> split_into(const TensorMesh& cells) const;
  /// Facts and warnings of the solves.
  void tell_of_solves(const Outcome& outcome, Report& report) const;
  double seconds_of_run(const Runtime& runtime) const;
  std::vector<const Problem*> on_meshes() const;
  double memory_on_meshes(const Runtime& runtime) const;

  Problem problem_;
  std::vector<OnMesh> meshes_;
  // Which solves share a mesh; unless all do, results name the cells of each mesh.
  Gridding gridding_ = Gridding::same;
  std::vector<std::string> responses_;  // of plane waves
  /// Makes the same job on other cells, whose means are taken from the earth anew; empty: new cells take the
  /// values of those that they are parts of.
  std::function<std::unique_ptr<Simulation>(const std::vector<TensorMesh>&, const Runtime&)> on_cells_;
  // names, longitudes and latitudes of the receivers of plane waves, from their file
  std::vector<Variable> of_sites_;
};

}  // namespace terrane::electromagnetic
