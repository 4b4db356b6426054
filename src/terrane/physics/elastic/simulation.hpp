// Elastic waves from a job file, or from a problem.
#pragma once

#include <memory>
#include <string>

#include "terrane/job/config.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/elastic/companion.hpp"
#include "terrane/physics/elastic/march/march.hpp"
#include "terrane/physics/elastic/march/snapshots.hpp"
#include "terrane/physics/elastic/mesh/chunk.hpp"
#include "terrane/simulation/simulation_of.hpp"
#include "terrane/simulation/trace_accuracy.hpp"

namespace terrane::elastic {

/// The tables [source] and [simulation].
std::span<const Section> sections();

/// "displacement", "velocity" or "pressure".
std::string quantity_name(Quantity quantity);

/// The element with the lowest quality of shape (quality() of layers.hpp; 1 for right angles).
struct WorstShape {
  std::uint32_t element = 0;
  double quality = 2;
};

class Simulation final : public SimulationOf<> {
 public:
  /// cells: the mesh, if there is one element for each of its cells, for files of the model; else empty.
  /// Throws InputError (Problem::settle).
  Simulation(Problem problem, TensorMesh cells, Quantity quantity, JobOrigin job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

  Result outline() const override;

  const Problem& problem() const noexcept { return problem_; }

 private:
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const override;
  void foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const override;
  /// Returns displacement or velocity (receiver, component, time), or pressure.
  Dataset compute(Result& result, const MemoryBudget&, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  Dataset dataset(std::vector<double> traces, const Pictures& pictures) const;
  void add_shaking(Dataset& data) const;
  void add_pictures(Dataset& data, const Pictures& pictures) const;
  struct Bytes {
    double host = 0, device = 0;  ///< device: bytes of a device that has memory of its own
  };
  static Bytes memory_of(const Problem& problem, const Picture& shown, const Runtime& runtime);
  /// Memory of the run, or of the companion's run beside what is kept of the first.
  Bytes memory_needed(const Runtime& runtime) const;
  /// Reads the accuracy keys, and makes the companion if the job asks for errors. under_surface: whether
  /// columns of elements are stretched
  void prepare_errors(const Interfaces& interfaces, bool under_surface, const Config& job,
                      const Config& simulation, const MemoryBudget& memory, const EarthRequest& request);
  void describe_errors(RunFacts& facts) const;
  /// Runs the companion. Returns the error of each trace [receivers][components]; NaN if there is none.
  /// traces: of the run; seconds: of the run
  std::vector<double> state_errors(const std::vector<double>& traces, double seconds, const Runtime& runtime,
                                   Result& result) const;

  Problem problem_;
  TensorMesh cells_;
  Quantity quantity_;
  AccuracyOfTraces accuracy_;
  CompanionProblem companion_;
  WorstShape worst_shape_;
  Picture shown_;                         // the points and cells of snapshots
  std::vector<std::string> names_;        // names of receivers
  std::vector<Placement::Frame> frames_;  // axes in which receivers record; empty: the axes of the mesh
};

}  // namespace terrane::elastic
