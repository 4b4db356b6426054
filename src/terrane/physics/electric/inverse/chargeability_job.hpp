// An inversion of induced polarization from a job file: that of direct current (direct_current_job.hpp) with
// inversion.datum = "chargeability", where inversion.resistivity is known.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "terrane/physics/electric/inverse/chargeability.hpp"
#include "terrane/physics/electric/inverse/direct_current_job.hpp"

namespace terrane::electric::inverse {

class ChargeData final : public ArrayData {
 public:
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

 private:
  std::string title() const override { return "inversion of induced polarization"; }
  std::string property() const override { return "chargeability"; }
  std::vector<double> values(const std::vector<double>& model) const override { return model; }
  int models() const override { return 1; }
  std::string method() const override;
  void describe_model(RunFacts& facts) const override;
  void make(const Runtime& runtime) override;
  void report_after(Report& report) const override;
  void fill(Result& result) const override;
  Fingerprint fingerprint(const Runtime& runtime) const override;
  void read_model(const Config& table, const std::string& mesh_file);

  std::vector<double> log_resistivity_;  ///< of the active cells, ln Ω·m
  std::vector<double> apparent_, deviation_;
  std::vector<std::string> of_solves_;  ///< that did not converge
};

}  // namespace terrane::electric::inverse
