// An inversion of recorded waves from a job file: the tables of a job that computes them, [mesh], [model],
// [source], [survey], [boundary], [simulation], and [inversion] with what was observed.
//
//   kind = "modelling"   waveform inversion: velocities whose gathers are those that were observed
//   kind = "migration"   least-squares migration: the change of velocity that scatters, once, what was
//                        observed
#pragma once

#include <memory>

#include "terrane/inversion/acoustic.hpp"
#include "terrane/inversion/job.hpp"
#include "terrane/physics/acoustic/simulation.hpp"

namespace terrane::inversion {

class AcousticJob final : public InversionSimulation {
 public:
  static std::unique_ptr<Simulation> from_job(const Config& job, const Runtime& runtime);

  Plan check(const Runtime& runtime = {}) override;
  Result outline() const override;
  void share_ranks(const std::shared_ptr<solve::Crew>&) override {}
  bool joins() const override { return false; }
  void begin(const Runtime& runtime) override;
  Result finish(Outcome outcome, const Runtime& runtime) override;
  Fingerprint fingerprint_of_all(const Runtime& runtime) override;

 private:
  AcousticJob() = default;
  bool linear() const { return linear_; }
  const acoustic::Problem& waves() const { return fields_->problem(); }
  void read_uncertainties(const Config& table);
  void choose(const Runtime& runtime);
  double bytes_of_vectors(const Runtime& runtime) const;
  double memory_needed(const Runtime& runtime) const;
  void require_room(const Runtime& runtime) const;
  double seconds_of_products(double models, double products, const Runtime& runtime) const;
  double expected_seconds(const Runtime& runtime);
  void describe_into(RunFacts& facts, const Runtime& runtime) const;
  void look_at_first_model(const Runtime& runtime);
  Dataset dataset() const;
  std::vector<double> found(const std::vector<double>& model) const;
  std::vector<Column> cells() const override;

  std::unique_ptr<acoustic::Simulation> fields_;  ///< of the model of the job
  acoustic::Settings waves_settings_;             ///< with the way in which waves are kept
  bool linear_ = false;
  std::vector<Follower> followers_;  ///< cells at sides
  std::size_t gaps_ = 0;             ///< samples that were not recorded
  std::vector<std::string> notes_;
  struct {
    std::vector<std::string> notes, warnings;
  } first_;  ///< of the first model
};

/// As one of inversions().
Physics inversion_of_waves();

}  // namespace terrane::inversion
