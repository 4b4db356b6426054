// An inversion of recorded waves from a job file: the tables of a job that computes them, [mesh], [model],
// [source], [survey], [boundary], [simulation], and [inversion] with what was observed.
//
//   kind = "modelling"   waveform inversion: velocities whose gathers are those that were observed
//   kind = "migration"   least-squares migration: the change of velocity that scatters, once, what was
//                        observed
#pragma once

#include <memory>

#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/job/tables.hpp"
#include "terrane/physics/acoustic/inverse/waves.hpp"
#include "terrane/physics/acoustic/simulation.hpp"

namespace terrane::acoustic::inverse {

class WaveData final : public inversion::Dependence {
 public:
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

 private:
  std::string title() const override { return "inversion of acoustic waves"; }
  std::string property() const override { return "velocity_p"; }
  std::vector<double> values(const std::vector<double>& model) const override {
    return linear_ ? model : inversion::exponentials_of(model);
  }
  bool joins() const override { return false; }
  void describe_into(RunFacts& facts, const Runtime& runtime) const override;
  std::string computed() const override;
  void report_before(Report& report) const override;
  void fill(Result& result) const override;
  void complete_cells(std::vector<Column>& columns) const override;
  void choose(const Runtime& runtime) override;
  double memory_needed(const Runtime& runtime) const override;
  double bytes_on_device(const Runtime& runtime) const override;
  void require_memory(const Runtime& runtime, const std::string& what) const override;
  double expected_seconds(const Runtime& runtime) override;
  void make(const Runtime& runtime) override;
  void release(const Runtime& runtime) override;
  Fingerprint fingerprint(const Runtime& runtime) const override;

  const acoustic::Problem& waves() const { return fields_->problem(); }
  void read_sigma(const Config& table);
  double bytes_of_vectors(const Runtime& runtime) const;
  double seconds_of_products(double models, double products, const Runtime& runtime) const;
  Dataset dataset() const;

  std::unique_ptr<Simulation> fields_;  ///< of the model of the job
  acoustic::Settings waves_settings_;   ///< with the way in which waves are kept
  bool linear_ = false;
  std::vector<Follower> followers_;  ///< cells at sides
  std::size_t gaps_ = 0;             ///< samples that were not recorded
  struct {
    std::vector<std::string> notes, warnings;
  } first_;  ///< of the first model
};

}  // namespace terrane::acoustic::inverse
