// An inversion from a job file: the tables [mesh], [survey], [simulation], [inversion], [output].
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/inversion/fixed_cells.hpp"
#include "terrane/inversion/joint.hpp"
#include "terrane/inversion/observations.hpp"
#include "terrane/inversion/operators.hpp"
#include "terrane/simulation/provenance.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::inversion {

/// What was chosen and why, for people.
struct StorageChoice {
  Storage storage = Storage::none;
  Device device{Device::Kind::cpu, -1};
  std::string reason;
  double bytes = 0, seconds_to_make = 0, seconds_a_product = 0;  ///< bytes: where the products are done
  double bytes_to_make = 0;  ///< of the host, for what goes to a device then
  bool on_device() const { return device.has_own_memory(); }
};

/// The physics that can be inverted, each as a Physics whose simulations are inversions: what `terrane
/// invert` reads jobs with.
const Registry& inversions();
/// As one of a name of its own, for the template and the reference.
const Physics& job_of_inversions();
/// Whether a job asks for an inversion.
bool asks_for_inversion(const Config& job);

/// An inversion from a job; its model may be found together with that of another.
class InversionSimulation : public Simulation {
 public:
  const Problem& problem() const { return problem_; }
  const Settings& settings() const { return settings_; }
  /// Of the last run.
  const Outcome& outcome() const { return outcome_; }
  /// run() in two halves: makes what products need; takes what was found.
  virtual void begin(const Runtime& runtime) = 0;
  virtual Result finish(Outcome outcome, const Runtime& runtime) = 0;

  Result run(const Runtime& runtime = {}) override;
  void write_model(const std::string& path) const override;
  void check_model(const std::string& path) const override;

  /// Before begin(), of inversions that are under way at the same time: the other ranks, which serve all.
  virtual void share_ranks(const std::shared_ptr<solve::Crew>& crew) = 0;
  /// Whether its model may be found together with others.
  virtual bool joins() const { return true; }

  /// After check(): what rank 0 holds of it on its device, and the others at most: its part of G or its
  /// fields, and the regulariser's inverse; 0 where all is the processors'.
  virtual double bytes_on_device(const Runtime& /*runtime*/) { return 0; }

  /// After begin(): all that determines the bits of the model.
  virtual Fingerprint fingerprint_of_all(const Runtime& runtime) = 0;
  /// Of the table [joint].
  const JointSettings& joint() const { return joint_; }
  /// inversion.rocks, as the model has them.
  const std::optional<TwoRocks>& rocks() const { return rocks_; }

 protected:
  InversionSimulation() = default;
  InversionSimulation(Problem problem, const Settings& settings, MemoryBudget memory)
      : problem_(std::move(problem)), settings_(settings), memory_(memory) {}
  /// The model on the cells of the mesh, and what is written beside it.
  virtual std::vector<Column> cells() const = 0;
  MemoryBudget budget(const Runtime& runtime) const;

  Problem problem_;
  Settings settings_;
  MemoryBudget memory_;
  Outcome outcome_;
  JointSettings joint_;
  std::optional<TwoRocks> rocks_;
  JobOrigin job_;
};

/// Of linear physics: gravity and magnetics.
class InversionJob final : public InversionSimulation {
 public:
  InversionJob(Problem problem, PrismSet cells, Settings settings, StorageSettings storage,
               Observations observations, Survey survey, MemoryBudget memory);
  static std::unique_ptr<Simulation> from_job(const Config& job, const Runtime& runtime);

  Plan check(const Runtime& runtime = {}) override;
  Result outline() const override;
  void share_ranks(const std::shared_ptr<solve::Crew>& crew) override { crew_ = crew; }
  double bytes_on_device(const Runtime& runtime) override;
  void begin(const Runtime& runtime) override;
  Result finish(Outcome outcome, const Runtime& runtime) override;
  Fingerprint fingerprint_of_all(const Runtime& runtime) override;

 private:
  /// Their field is taken off the data.
  void hold_fixed(FixedCells fixed, int threads);
  /// Once for each budget, number of threads, device and number of ranks.
  const StorageChoice& choose(const Runtime& runtime);
  std::vector<StorageChoice> candidates(const Runtime& runtime) const;
  std::vector<StorageChoice> trees(const Runtime& runtime, Device device, double team) const;
  void make_operator(const Runtime& runtime);
  void describe_into(RunFacts& facts, const StorageChoice& choice, const Runtime& runtime) const;
  void fill(Result& result) const;
  std::vector<Column> cells() const override;
  double expected_seconds(const StorageChoice& choice, const Runtime& runtime) const;
  double memory_needed(const StorageChoice& choice, const Runtime& runtime) const;
  /// Of a step of Lanczos or of conjugate gradients.
  double seconds_beside_products(const Runtime& runtime) const;
  /// Of the regulariser, by three transforms.
  bool inverse_is_exact() const;
  /// Of the posterior, where the regulariser has no exact inverse: bytes, and seconds.
  std::pair<double, double> cost_of_posterior(const Runtime& runtime) const;

  StorageSettings storage_;
  Observations observations_;
  Survey survey_;
  std::shared_ptr<const gravity::SensitivityColumns> source_;
  std::optional<std::pair<std::string, StorageChoice>> chosen_;  ///< for what, and what
  std::shared_ptr<solve::Crew> crew_;                            ///< of the other ranks, shared with others
  double seconds_to_make_ = 0;
  FixedCells fixed_;
  std::vector<double> of_fixed_;  ///< [rows] the data that they give; empty: none
  std::vector<std::string> notes_, warnings_;
};

}  // namespace terrane::inversion
