// Elastic waves from a job file, or from a problem.
#pragma once

#include <memory>
#include <string>

#include "terrane/job/config.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/elastic/march/march.hpp"
#include "terrane/physics/elastic/march/snapshots.hpp"
#include "terrane/physics/elastic/mesh/chunk.hpp"
#include "terrane/simulation/provenance.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::elastic {

/// The tables [source] and [simulation].
std::span<const Section> sections();

class Simulation final : public terrane::Simulation {
 public:
  /// cells: of which the problem's elements were made, for files of the model; or none. Throws InputError
  /// (Problem::settle).
  Simulation(Problem problem, TensorMesh cells, Quantity quantity, JobOrigin job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

  Plan check(const Runtime& runtime = {}) override;
  /// data: displacement or velocity (receiver, component, time).
  Result run(const Runtime& runtime = {}) override;
  Result outline() const override;
  void write_model(const std::string& path) const override;
  void check_model(const std::string& path) const override;

  const Problem& problem() const noexcept { return problem_; }

 private:
  void describe(RunFacts& facts, const Runtime& runtime) const;
  Dataset dataset(std::vector<double> traces, const Pictures& pictures) const;
  void add_shaking(Dataset& data) const;
  void add_pictures(Dataset& data, const Pictures& pictures) const;
  double memory_needed(const Runtime& runtime) const;

  Problem problem_;
  TensorMesh cells_;
  Quantity quantity_;
  struct {
    std::uint32_t element = 0;
    double quality = 2;
  } worst_shape_;
  Picture shown_;  // in snapshots
  JobOrigin job_;
  std::vector<std::string> names_;        // of receivers
  std::vector<Placement::Frame> frames_;  // in which receivers record; empty: the axes of the mesh
  std::vector<std::string> notes_, warnings_;
};

}  // namespace terrane::elastic
