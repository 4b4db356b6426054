// An inversion of fields at stations from a job file: the tables [mesh], [survey], [simulation], [inversion],
// [output].
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terrane/inversion/job/job.hpp"
#include "terrane/physics/gravity/inverse/fixed_cells.hpp"
#include "terrane/physics/gravity/inverse/observations.hpp"
#include "terrane/physics/gravity/inverse/operators.hpp"

namespace terrane::gravity::inverse {

/// What differs between jobs of gravity and of magnetics.
struct KindOfJob {
  std::string_view title;     ///< "inversion of gravity"
  std::span<const Key> keys;  ///< of [simulation]
  FieldKind (*fields)(const Config& simulation, const Survey& survey);
};

/// An inversion of fields at stations, as the list of inversions has it.
Physics job_at_stations(std::string_view name, std::string_view summary, const KindOfJob& kind);

/// What was chosen and why, for people.
struct StorageChoice {
  Storage storage = Storage::none;
  Device device{Device::Kind::cpu, -1};
  std::string reason;
  double bytes = 0, seconds_to_make = 0, seconds_a_product = 0;  ///< bytes: where the products are done
  double bytes_to_make = 0;  ///< of the host, for what goes to a device then
  bool on_device() const { return device.has_own_memory(); }
};

/// Densities, or magnetizations, from fields that are linear functions of them.
class StationData final : public inversion::Dependence {
 public:
  StationData(inversion::Problem problem, PrismSet cells, const inversion::Settings& settings,
              StorageSettings storage, Observations observations, Survey survey, MemoryBudget memory);
  static std::unique_ptr<Simulation> from_job(const KindOfJob& kind, const Config& job,
                                              const Runtime& runtime);

 private:
  std::string title() const override { return title_; }
  std::string property() const override { return observations_.property; }
  void describe_into(RunFacts& facts, const Runtime& runtime) const override;
  void report_before(Report& report) const override;
  void fill(Result& result) const override;
  void complete_cells(std::vector<Column>& columns) const override;
  void choose(const Runtime& runtime) override;
  double memory_needed(const Runtime& runtime) const override;
  double bytes_on_device(const Runtime& runtime) const override;
  double expected_seconds(const Runtime& runtime) override;
  void make(const Runtime& runtime) override;
  void release(const Runtime&) override { problem_.g.reset(); }
  Fingerprint fingerprint(const Runtime& runtime) const override;

  /// Their field is taken off the data.
  void hold_fixed(FixedCells fixed, int threads);
  std::vector<StorageChoice> candidates(const Runtime& runtime) const;
  std::vector<StorageChoice> trees(const Runtime& runtime, Device device, double team) const;
  /// Of a step of Lanczos or of conjugate gradients.
  double seconds_beside_products(const Runtime& runtime) const;
  /// Of the regulariser, by three transforms.
  bool inverse_is_exact() const;
  /// Of the posterior, where the regulariser has no exact inverse: bytes, and seconds.
  std::pair<double, double> cost_of_posterior(const Runtime& runtime) const;

  std::string title_;
  StorageSettings storage_;
  Observations observations_;
  Survey survey_;
  std::shared_ptr<const SensitivityColumns> source_;
  StorageChoice choice_;
  std::string chosen_for_;  ///< memory, threads, device and ranks that it was made for
  double seconds_to_make_ = 0;
  FixedCells fixed_;
  std::vector<double> of_fixed_;  ///< [rows] the data that they give; empty: none
};

}  // namespace terrane::gravity::inverse
