// An inversion from a job file: the tables [mesh], [survey], [simulation], [inversion], [output].
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/inversion/invert.hpp"
#include "terrane/inversion/observations.hpp"
#include "terrane/inversion/operators.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::inversion {

/// What was chosen and why, for people.
struct StorageChoice {
  Storage storage = Storage::none;
  Device device{Device::Kind::cpu, -1};
  std::string reason;
  double bytes = 0, seconds_to_make = 0, seconds_a_product = 0;  ///< bytes: where the products are done
  bool on_device() const { return device.has_own_memory(); }
};

/// The physics that can be inverted, each as a Physics whose simulations are inversions: what `terrane
/// invert` reads jobs with.
const Registry& inversions();
/// As one of a name of its own, for the template and the reference.
const Physics& job_of_inversions();
/// Whether a job asks for an inversion.
bool asks_for_inversion(const Config& job);

/// An inversion whose model may be found together with that of another.
class InversionSimulation : public Simulation {
 public:
  virtual const Problem& problem() const = 0;
  virtual const Settings& settings() const = 0;
  /// run() in two halves: makes what products need; takes what was found.
  virtual void begin(const Runtime& runtime) = 0;
  virtual Result finish(Outcome outcome, const Runtime& runtime) = 0;
};

/// Of linear physics: gravity and magnetics.
class InversionJob final : public InversionSimulation {
 public:
  InversionJob(Problem problem, PrismSet cells, Settings settings, StorageSettings storage,
               Observations observations, Survey survey, MemoryBudget memory);
  static std::unique_ptr<Simulation> from_job(const Config& job, const Runtime& runtime);

  Plan check(const Runtime& runtime = {}) override;
  Result run(const Runtime& runtime = {}) override;
  Result outline() const override;
  void write_model(const std::string& path) const override;
  void check_model(const std::string& path) const override;

  /// Of the last run.
  const Outcome& outcome() const { return outcome_; }
  const Problem& problem() const override { return problem_; }
  const Settings& settings() const override { return settings_; }

  void begin(const Runtime& runtime) override;
  Result finish(Outcome outcome, const Runtime& runtime) override;

 private:
  /// Once for each budget, number of threads and device.
  const StorageChoice& choose(const Runtime& runtime);
  std::vector<StorageChoice> candidates(const Runtime& runtime) const;
  void make_operator(const Runtime& runtime);
  void describe_into(RunFacts& facts, const StorageChoice& choice, const Runtime& runtime) const;
  void fill(Result& result) const;
  std::vector<Column> cells() const;
  MemoryBudget budget(const Runtime& runtime) const;
  double expected_seconds(const StorageChoice& choice) const;
  Fingerprint fingerprint_of_all(const StorageChoice& choice) const;
  double memory_needed(const StorageChoice& choice, const Runtime& runtime) const;

  Problem problem_;
  Settings settings_;
  StorageSettings storage_;
  Observations observations_;
  Survey survey_;
  MemoryBudget memory_;
  std::shared_ptr<const gravity::SensitivityColumns> source_;
  std::optional<std::pair<std::string, StorageChoice>> chosen_;  ///< for what, and what
  Outcome outcome_;
  double seconds_to_make_ = 0;
  std::string job_;
  std::vector<std::string> notes_, warnings_;
};

}  // namespace terrane::inversion
