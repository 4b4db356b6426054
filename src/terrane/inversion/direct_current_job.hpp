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

class DirectCurrentJob : public InversionSimulation {
 public:
  static std::unique_ptr<Simulation> from_job(const Config& job, const Runtime& runtime);

  Plan check(const Runtime& runtime = {}) override;
  Result outline() const override;
  void share_ranks(const std::shared_ptr<solve::Crew>& crew) override { crew_ = crew; }
  void begin(const Runtime& runtime) override;
  Result finish(Outcome outcome, const Runtime& runtime) override;
  Fingerprint fingerprint_of_all(const Runtime& runtime) override;

 protected:
  DirectCurrentJob() = default;
  bool even() const { return problem_.ground.empty(); }
  /// Mesh, ground, electrodes and settings of solves; what the survey measured is returned.
  electric::Measured read_ground_and_arrays(const Config& job, const Runtime& runtime,
                                            std::string& mesh_file);
  /// Arrays that inversion.leave_out names go.
  void leave_out(const Config& table, electric::Measured& survey);
  /// At which height a flat earth ends.
  double flat_surface() const;
  /// Geometric factors of a flat earth.
  void take_factors();
  /// Those of the ground and its sides, which take a solve for each current electrode.
  void take_factors_of(const DirectCurrent& physics);
  /// What `arrays_` are of.
  void take_rock(electric::Rock rock);
  /// F and J of resistivities, on the ranks of a run.
  std::shared_ptr<DirectCurrent> currents(const Runtime& runtime) const;
  void choose(const Runtime& runtime);
  void require_memory(const Runtime& runtime, const std::string& what);
  void describe_into(RunFacts& facts, const Runtime& runtime) const;
  Survey places() const { return arrays_->outline().survey; }
  std::vector<Column> cells() const override;

  electric::Datum datum_ = electric::Datum::log_apparent_resistivity;
  std::vector<double> factor_;  ///< k of each array
  std::vector<std::string> notes_;

 private:
  /// Of how many models there are solves, at a guess; what is found, and how.
  virtual int models() const { return 7; }
  virtual std::string property() const { return "resistivity"; }
  virtual std::string method() const { return "gauss-newton"; }
  virtual void describe_model(RunFacts& facts) const;
  virtual void fill(Result& result) const;
  void take_data();
  double entries_bytes() const;
  electric::Load fields(const Runtime& runtime) const;
  double kept_on_rank_0() const;
  Runtime within_budget(const Runtime& runtime) const;
  Sharing sharing(const Runtime& runtime) const;
  double memory_needed(const Runtime& runtime) const;
  double bytes_on_device(const Runtime& runtime) override;

  electric::Electrodes electrodes_;
  std::vector<double> slopes_;  ///< of the ground at them
  std::vector<std::string> left_out_;
  electric::Parameters parameters_;
  MeasuredArrays measured_;
  bool reference_is_median_ = false;
  std::shared_ptr<solve::Crew> crew_;             ///< of the other ranks, shared with others
  std::unique_ptr<electric::Simulation> arrays_;  ///< of the reference: places, checks, cost of a solve
};

/// As one of inversions().
Physics inversion_of_direct_current();

}  // namespace terrane::inversion
