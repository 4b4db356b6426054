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
#include "terrane/simulation/refining.hpp"
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
  /// isotropic: cells of several media have one conductivity, not one for each axis
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime,
                                                       bool isotropic = false);
  /// instead: of each of its meshes, to take in place of the planned ones; empty: none
  static std::unique_ptr<Simulation> from_job_on(const Config& job, const Runtime& runtime, bool isotropic,
                                                 const std::vector<TensorMesh>& instead);

  /// What is sent and recorded; without a mesh where there are several.
  const Problem& problem() const { return problem_; }
  /// Empty where all solves share the mesh of problem().
  const std::vector<OnMesh>& meshes() const { return meshes_; }
  Result outline() const override;
  /// For what takes no data of a run.
  void state_no_errors() { accuracy_ = {}, companion_.reset(), on_cells_ = {}; }

 private:
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const override;
  void foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const override;
  Dataset compute(Result& result, const MemoryBudget&, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  /// companion: its data; none where no errors are stated, or none could be
  Dataset dataset(const Outcome& outcome, const Outcome& companion, StatedErrors& stated) const;
  /// Data of the meshes and of their companions.
  struct Solved {
    Outcome mine, other;
    Device device;
    double seconds = 0, of_companion = 0;
    std::string why;  ///< no error can be stated
  };
  /// The same on cells twice as wide along some axes. Throws InputError: it cannot be made.
  std::unique_ptr<Simulation> on_companion(std::array<bool, 3> coarser, bool moves_walls) const;
  void make_companion();
  Solved solved_with_companion(const Runtime& runtime) const;
  /// On finer meshes, where the job asks for an accuracy and it is not kept: this becomes what it is on the
  /// last of them.
  Solved solved_in_rounds(Result& result, const Runtime& runtime, Rounds& rounds);
  ErrorShares shares_of_error(const Runtime& runtime) const;
  std::unique_ptr<Simulation> split_into(const TensorMesh& cells) const;
  std::uint64_t cells_on_meshes() const;
  /// Of the data of all solves by those of other meshes; none where these are empty.
  std::vector<Variable> errors_of(const Outcome& mine, const Outcome& other, StatedErrors& stated) const;
  /// Facts and warnings of the solves.
  void tell_of_solves(const Outcome& outcome, Report& report) const;
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
  std::string no_error_;  // why none can be stated
  /// The same job on other cells, which take means of the earth anew; empty: cells are split.
  std::function<std::unique_ptr<Simulation>(const std::vector<TensorMesh>&, const Runtime&)> on_cells_;
  std::vector<Variable> of_sites_;  // what their file says of the receivers of plane waves: names, degrees
};

}  // namespace terrane::electromagnetic
