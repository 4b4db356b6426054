// An inversion of induced polarization from a job file: that of direct current (direct_current_job.hpp) with
// inversion.datum = "chargeability", where inversion.resistivity is known.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "terrane/inversion/chargeability.hpp"
#include "terrane/inversion/direct_current_job.hpp"

namespace terrane::inversion {

class ChargeabilityJob final : public DirectCurrentJob {
 public:
  static std::unique_ptr<Simulation> from_job(const Config& job, const Runtime& runtime);

  void begin(const Runtime& runtime) override;
  Result finish(Outcome outcome, const Runtime& runtime) override;
  Fingerprint fingerprint_of_all(const Runtime& runtime) override;

 private:
  ChargeabilityJob() = default;
  void read_model(const Config& table, const std::string& mesh_file);
  int models() const override { return 1; }
  std::string property() const override { return "chargeability"; }
  std::string method() const override;
  void describe_model(RunFacts& facts) const override;
  void fill(Result& result) const override;
  std::vector<Column> cells() const override;

  std::vector<double> log_resistivity_;  ///< of the active cells, ln Ω·m
  std::vector<double> apparent_, deviation_;
  std::vector<std::string> warnings_;  ///< of solves that did not converge
};

}  // namespace terrane::inversion
