// Heat conduction from a job file, or from a problem and the places of its receivers.
#pragma once

#include <memory>
#include <string>

#include "terrane/job/config.hpp"
#include "terrane/physics/heat/march.hpp"
#include "terrane/physics/heat/places.hpp"
#include "terrane/simulation/simulation_of.hpp"
#include "terrane/simulation/stated_errors.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane::heat {

/// The tables [simulation] and [source].
std::span<const Section> sections();

class Simulation final : public SimulationOf<> {
 public:
  /// receivers: points whose temperature is recorded; problem.receivers is made for them. Throws InputError
  /// (one lies outside the mesh; Problem::settle).
  Simulation(Problem problem, Survey receivers, JobOrigin job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

  Result outline() const override;

  const Problem& problem() const noexcept { return problem_; }

 private:
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const override;
  void foresee(Plan& plan, const MemoryBudget& memory, const Runtime&) const override;
  /// Temperature (time, receiver), and temperature_at_end (up, north, east), K.
  Dataset compute(Result& result, const MemoryBudget&, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  Dataset dataset(March done) const;
  /// temperature_error (time, receiver), K, which is relative to the largest temperature of each time.
  Variable state_errors(Result& result, const std::vector<double>& temperatures, double seconds,
                        const Runtime& runtime) const;

  Problem problem_;
  Survey receivers_;
  std::vector<Weights> points_;  // of the receivers
  Accuracy accuracy_;
  bool unheld_ = false;                    // a body is less than two cells across
  std::unique_ptr<Simulation> companion_;  // on cells twice as wide, with steps four times as long
};

}  // namespace terrane::heat
