// An inversion of electromagnetic fields from a job file: the tables of a job that computes them, [mesh],
// [model], [[source]], [survey], [simulation], and [inversion] with what was measured.
#pragma once

#include <memory>

#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/job/tables.hpp"
#include "terrane/physics/electromagnetic/inverse/fields.hpp"
#include "terrane/physics/electromagnetic/simulation.hpp"

namespace terrane::electromagnetic::inverse {

class FieldData final : public inversion::Dependence {
 public:
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

 private:
  std::string title() const override { return "inversion of electromagnetic fields"; }
  std::string property() const override { return "resistivity"; }
  std::vector<double> values(const std::vector<double>& model) const override {
    return inversion::exponentials_of(model);
  }
  void describe_into(RunFacts& facts, const Runtime& runtime) const override;
  std::string computed() const override;
  void fill(Result& result) const override;
  void complete_cells(std::vector<Column>& columns) const override;
  void choose(const Runtime& runtime) override;
  double memory_needed(const Runtime& runtime) const override;
  double bytes_on_device(const Runtime& runtime) const override;
  double expected_seconds(const Runtime& runtime) override;
  void release(const Runtime& runtime) override { make_forward(runtime); }
  Fingerprint fingerprint(const Runtime& runtime) const override;

  const electromagnetic::Problem& earth() const { return fields_->problem(); }
  bool plane_waves() const;
  void make_forward(const Runtime& runtime);
  Dataset dataset() const;

  std::unique_ptr<Simulation> fields_;  ///< of the model of the job: the reference
  Plan foreseen_;                       ///< of fields_, by choose()
  MeasuredFields measured_;
  Parts parts_ = Parts::amplitude_phase;
  bool in_memory_ = true;  ///< entries of J
};

}  // namespace terrane::electromagnetic::inverse
