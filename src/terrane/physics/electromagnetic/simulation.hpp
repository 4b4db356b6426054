// An electromagnetic simulation, with sources or plane waves, from a job file or a problem: settings, plan,
// run, result.
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

/// The job tables [[source]], with all kinds of source, and [simulation].
std::span<const Section> sections();

/// Results of all meshes, and the device on which they were computed.
struct Found {
  Outcome outcome;
  Device device;
};

class Simulation final : public RefinedSimulation<Simulation, Found> {
 public:
  /// Throws what Problem::check throws.
  explicit Simulation(Problem problem, JobOrigin job = {});
  /// Solves on one or more meshes (meshes.hpp); each problem must satisfy check().
  Simulation(std::vector<OnMesh> meshes, Gridding gridding, JobOrigin job = {});
  /// Makes the simulation from the job tables [mesh], [model], [[source]], [survey] and [simulation].
  /// isotropic: a cell that contains several media gets the same mean conductivity along all axes, not one
  /// for each axis
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime,
                                                       bool isotropic = false);
  /// instead: a replacement for each of the job's meshes; empty: the planned meshes are used
  static std::unique_ptr<Simulation> from_job_on(const Config& job, const Runtime& runtime, bool isotropic,
                                                 const std::vector<TensorMesh>& instead);

  /// Sources, frequencies, receivers and components of the job; if there are several meshes, its mesh is
  /// empty.
  const Problem& problem() const { return problem_; }
  /// Empty if all solves share the mesh of problem().
  const std::vector<OnMesh>& meshes() const { return meshes_; }
  Result outline() const override;
  /// Switches error estimates off, for callers that do not use the data of a run, such as inversions.
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
  /// Adds facts and warnings about the solves to the report.
  void tell_of_solves(const Outcome& outcome, Report& report) const;
  double seconds_of_run(const Runtime& runtime) const;
  std::vector<const Problem*> on_meshes() const;
  double memory_on_meshes(const Runtime& runtime) const;

  Problem problem_;
  std::vector<OnMesh> meshes_;
  // Which solves share a mesh; unless all do, results contain the cells of each mesh under its name.
  Gridding gridding_ = Gridding::same;
  std::vector<std::string> responses_;  // responses of plane waves that the job asks for
  /// Makes the same job on other cells, with mean properties computed anew from the described earth; empty:
  /// there is no description, and new cells get the values of the cells that they lie in.
  std::function<std::unique_ptr<Simulation>(const std::vector<TensorMesh>&, const Runtime&)> on_cells_;
  // names, longitudes and latitudes of the receivers of plane waves, from the file of sites
  std::vector<Variable> of_sites_;
};

}  // namespace terrane::electromagnetic
