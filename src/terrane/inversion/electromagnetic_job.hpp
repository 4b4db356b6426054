// An inversion of electromagnetic fields from a job file: the tables of a job that computes them, [mesh],
// [model], [[source]], [survey], [simulation], and [inversion] with what was measured.
#pragma once

#include <memory>

#include "terrane/inversion/electromagnetic.hpp"
#include "terrane/inversion/job.hpp"
#include "terrane/physics/electromagnetic/simulation.hpp"

namespace terrane::inversion {

class ElectromagneticJob final : public InversionSimulation {
 public:
  static std::unique_ptr<Simulation> from_job(const Config& job, const Runtime& runtime);

  Plan check(const Runtime& runtime = {}) override;
  Result outline() const override;
  void share_ranks(const std::shared_ptr<solve::Crew>& crew) override { crew_ = crew; }
  double bytes_on_device(const Runtime& runtime) override;
  void begin(const Runtime& runtime) override;
  Result finish(Outcome outcome, const Runtime& runtime) override;

 private:
  ElectromagneticJob() = default;
  const electromagnetic::Problem& earth() const { return fields_->problem(); }
  bool plane_waves() const;
  void make_forward(const Runtime& runtime);
  double memory_needed(const Runtime& runtime) const;
  void require_memory(const Runtime& runtime, const std::string& what);
  double expected_seconds(const Runtime& runtime);
  void describe_into(RunFacts& facts, const Runtime& runtime) const;
  Fingerprint fingerprint_of_all(const Runtime& runtime) override;
  Dataset dataset() const;
  std::vector<Column> cells() const override;

  std::unique_ptr<electromagnetic::Simulation> fields_;  ///< of the model of the job: the reference
  Plan foreseen_;                                        ///< of fields_, by check() or begin()
  MeasuredFields measured_;
  Parts parts_ = Parts::amplitude_phase;
  bool in_memory_ = true;              ///< entries of J
  std::shared_ptr<solve::Crew> crew_;  ///< of the other ranks, shared with others
  std::vector<std::string> notes_;
};

/// As one of inversions().
Physics inversion_of_electromagnetic_fields();

}  // namespace terrane::inversion
