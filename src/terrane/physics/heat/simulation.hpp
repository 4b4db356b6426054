// Heat conduction from a job file, or from a problem and the places of its receivers.
#pragma once

#include <memory>
#include <string>

#include "terrane/job/config.hpp"
#include "terrane/physics/heat/march.hpp"
#include "terrane/simulation/simulation.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane::heat {

/// The tables [simulation] and [source].
std::span<const Section> sections();

/// The cells that hold the stations. Throws InputError: one lies outside the mesh.
std::vector<std::size_t> cells_at(const TensorMesh& mesh, const Survey& stations);

class Simulation final : public terrane::Simulation {
 public:
  /// receivers: where problem.receivers lie. Throws InputError (Problem::settle).
  Simulation(Problem problem, Survey receivers, std::string job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

  Plan check(const Runtime& runtime = {}) override;
  /// data: temperature (time, receiver), and temperature_at_end (up, north, east), K.
  Result run(const Runtime& runtime = {}) override;
  Result outline() const override;
  void write_model(const std::string& path) const override;
  void check_model(const std::string& path) const override;

  const Problem& problem() const noexcept { return problem_; }

 private:
  void describe(RunFacts& facts, const Runtime& runtime) const;
  Dataset dataset(March done) const;

  Problem problem_;
  Survey receivers_;
  std::string job_;
  std::vector<std::string> notes_, warnings_;
};

}  // namespace terrane::heat
