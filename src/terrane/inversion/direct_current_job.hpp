// An inversion of direct current from a job file: [mesh], [survey] with arrays and what they measured,
// [simulation] of physics = "electric", [inversion], [output].
#pragma once

#include <memory>

#include "terrane/base/memory.hpp"
#include "terrane/inversion/direct_current.hpp"
#include "terrane/inversion/job.hpp"
#include "terrane/physics/electric/simulation.hpp"
#include "terrane/simulation/sharing.hpp"

namespace terrane::inversion {

class DirectCurrentJob final : public InversionSimulation {
 public:
  static std::unique_ptr<Simulation> from_job(const Config& job, const Runtime& runtime);

  Plan check(const Runtime& runtime = {}) override;
  Result outline() const override;
  void share_ranks(const std::shared_ptr<solve::Crew>& crew) override { crew_ = crew; }
  void begin(const Runtime& runtime) override;
  Result finish(Outcome outcome, const Runtime& runtime) override;
  Fingerprint fingerprint_of_all(const Runtime& runtime) override;

 private:
  DirectCurrentJob() = default;
  bool even() const { return problem_.ground.empty(); }
  void take_data();
  double entries_bytes() const;
  electric::Load fields(const Runtime& runtime) const;
  double kept_on_rank_0() const;
  Runtime within_budget(const Runtime& runtime) const;
  Sharing sharing(const Runtime& runtime) const;
  void choose(const Runtime& runtime);
  double memory_needed(const Runtime& runtime) const;
  double bytes_on_device(const Runtime& runtime) override;
  void require_memory(const Runtime& runtime, const std::string& what);
  void describe_into(RunFacts& facts, const Runtime& runtime) const;
  double expected_seconds(const Runtime& runtime) override { return check(runtime).seconds; }
  void fill(Result& result) const;
  std::vector<Column> cells() const override;

  electric::Electrodes electrodes_;
  electric::Parameters parameters_;
  electric::Datum datum_ = electric::Datum::log_apparent_resistivity;
  MeasuredArrays measured_;
  std::vector<double> factor_;  ///< k of each array
  bool reference_is_median_ = false;
  std::shared_ptr<solve::Crew> crew_;             ///< of the other ranks, shared with others
  std::unique_ptr<electric::Simulation> arrays_;  ///< of the reference: places, checks, cost of a solve
};

/// As one of inversions().
Physics inversion_of_direct_current();

}  // namespace terrane::inversion
