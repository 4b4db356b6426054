// Electromagnetics, of sources or of plane waves, from a job file, or from a problem: settings, plan, run,
// result.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/physics/electromagnetic/meshes.hpp"
#include "terrane/physics/electromagnetic/ranks.hpp"
#include "terrane/physics/electromagnetic/transfer.hpp"
#include "terrane/simulation/simulation_of.hpp"
#include "terrane/simulation/stated_errors.hpp"

namespace terrane::electromagnetic {

/// The tables [[source]] with its kinds, and [simulation].
std::span<const Section> sections();

class Simulation final : public SimulationOf<> {
 public:
  /// Throws as Problem::check.
  explicit Simulation(Problem problem, JobOrigin job = {});
  /// Solves on two or more meshes (meshes.hpp), of one or more, each as check() wants it.
  Simulation(std::vector<OnMesh> meshes, Gridding gridding, JobOrigin job = {});
  /// From the tables [mesh], [model], [[source]], [survey] and [simulation].
  /// isotropic: cells of several rocks have one conductivity, not one for each axis
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime,
                                                       bool isotropic = false);

  /// What is sent and recorded; without a mesh where there are several.
  const Problem& problem() const { return problem_; }
  /// Empty where all solves share the mesh of problem().
  const std::vector<OnMesh>& meshes() const { return meshes_; }
  Result outline() const override;

 private:
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const override;
  void foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const override;
  Dataset compute(Result& result, const MemoryBudget&, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  /// companion: its data; none where no errors are stated, or none could be
  Dataset dataset(const Outcome& outcome, const Outcome& companion, StatedErrors& stated) const;
  /// The same on cells twice as wide, where errors are asked for.
  void make_companion();
  double seconds_of_run(const Runtime& runtime) const;
  std::vector<const Problem*> on_meshes() const;
  double memory_on_meshes(const Runtime& runtime) const;
  Outcome computed(const Runtime& runtime, Device& device) const;

  Problem problem_;
  std::vector<OnMesh> meshes_;
  Gridding gridding_ = Gridding::same;  // where it parts solves, the result tells the cells of each
  std::vector<std::string> responses_;  // of plane waves
  Accuracy accuracy_;
  std::unique_ptr<Simulation> companion_;
  std::string no_error_;            // why none can be stated
  std::vector<Variable> of_sites_;  // what their file says of the receivers of plane waves: names, degrees
};

}  // namespace terrane::electromagnetic
