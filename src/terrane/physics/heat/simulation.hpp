// Heat conduction from a job file, or from a problem and the places of its receivers.
#pragma once

#include <memory>
#include <string>

#include "terrane/job/config.hpp"
#include "terrane/physics/heat/march.hpp"
#include "terrane/physics/heat/places.hpp"
#include "terrane/simulation/provenance.hpp"
#include "terrane/simulation/simulation.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane::heat {

/// The tables [simulation] and [source].
std::span<const Section> sections();

class Simulation final : public terrane::Simulation {
 public:
  /// receivers: points whose temperature is recorded; problem.receivers is made for them. Throws InputError
  /// (one lies outside the mesh; Problem::settle).
  Simulation(Problem problem, Survey receivers, JobOrigin job = {});
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
  std::vector<Weights> points_;  // of the receivers
  JobOrigin job_;
  std::vector<std::string> notes_, warnings_;
};

}  // namespace terrane::heat
