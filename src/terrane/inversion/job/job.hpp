// An inversion from a job file, of any physics.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/inversion/loop/joint.hpp"
#include "terrane/io/content.hpp"
#include "terrane/simulation/provenance.hpp"
#include "terrane/simulation/simulation.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::inversion {

/// How the data of one physics depend on its model, as a job asks for it: what InversionJob needs of a
/// physics. It is made with all that the job says: data, cells, settings.
class Dependence {
 public:
  virtual ~Dependence() = default;

 protected:
  friend class InversionJob;
  Dependence() = default;

  // ---- what it is, for files and people ----
  virtual std::string title() const = 0;     ///< "inversion of gravity"
  virtual std::string property() const = 0;  ///< that is found, "density"
  /// The model [active] in SI units: itself, or of logarithms what they are of.
  virtual std::vector<double> values(const std::vector<double>& model) const { return model; }
  virtual void describe_into(RunFacts& facts, const Runtime& runtime) const = 0;
  /// "gathers of 7 models"; empty: data are a linear function of the model.
  virtual std::string computed() const { return {}; }
  /// Of a run, before and after what all inversions report.
  virtual void report_before(Report& /*report*/) const {}
  virtual void report_after(Report& /*report*/) const {}
  /// The data set, and attributes of its own; without values before there is an outcome.
  virtual void fill(Result& result) const = 0;
  /// Columns of the cells of the mesh: what is found stands first.
  virtual void complete_cells(std::vector<Column>& /*columns*/) const {}

  // ---- what it costs, and the run ----
  /// Chooses how products are made in the memory there is, and makes what check() looks at: g or forward.
  virtual void choose(const Runtime& runtime) = 0;
  /// After choose(), of the ranks of this machine, bytes.
  virtual double memory_needed(const Runtime& runtime) const = 0;
  /// After choose(): what rank 0 holds of it on its device, and the others at most: its part of G or its
  /// fields, and the regulariser's inverse; 0 where all is in the memory of the CPU.
  virtual double bytes_on_device(const Runtime& /*runtime*/) const { return 0; }
  /// Throws MemoryError.  what: would need it
  virtual void require_memory(const Runtime& runtime, const std::string& what) const;
  virtual double expected_seconds(const Runtime& runtime) = 0;
  /// After choose(): what products need.
  virtual void make(const Runtime& /*runtime*/) {}
  /// After the run: other ranks go.
  virtual void release(const Runtime& /*runtime*/) {}
  /// After make(): all that determines the bits of the model, but for data and settings.
  virtual Fingerprint fingerprint(const Runtime& runtime) const = 0;
  /// Whether its model may be found together with others.
  virtual bool joins() const { return true; }

  MemoryBudget budget(const Runtime& runtime) const;

  Problem problem_;
  Settings settings_;
  MemoryBudget memory_;
  Outcome outcome_;  ///< of the last run
  JointSettings joint_;
  std::optional<TwoRocks> rocks_;
  JobOrigin origin_;
  std::shared_ptr<solve::Workers> workers_;  ///< of the other ranks, shared with others
  std::vector<std::string> notes_, warnings_;
};

/// Its model may be found together with that of another.
class InversionJob final : public Simulation {
 public:
  explicit InversionJob(std::unique_ptr<Dependence> of) : of_(std::move(of)) {}

  const Problem& problem() const { return of_->problem_; }
  const Settings& settings() const { return of_->settings_; }
  /// Of the last run.
  const Outcome& outcome() const { return of_->outcome_; }
  /// Of the table [joint].
  const JointSettings& joint() const { return of_->joint_; }
  /// inversion.rocks, as the model has them.
  const std::optional<TwoRocks>& rocks() const { return of_->rocks_; }
  bool joins() const { return of_->joins(); }

  Plan check(const Runtime& runtime = {}) override;
  Result run(const Runtime& runtime = {}) override;
  Result outline() const override;
  void write_model(const std::string& path) const override;
  void check_model(const std::string& path) const override;
  /// That is found: "density".
  std::string property() const { return of_->property(); }
  /// After run(), what write_model() writes: all cells of the mesh, what is found first.
  io::MeshData model() const;

  /// Before begin(), of inversions that are under way at the same time: the other ranks, which serve all.
  void share_ranks(const std::shared_ptr<solve::Workers>& workers) { of_->workers_ = workers; }
  /// After check().
  double bytes_on_device(const Runtime& runtime) const { return of_->bytes_on_device(runtime); }
  /// run() in two halves: makes what products need; takes what was found.
  void begin(const Runtime& runtime);
  Result finish(Outcome outcome, const Runtime& runtime);
  /// After begin(): all that determines the bits of the model.
  Fingerprint fingerprint(const Runtime& runtime) const;

 private:
  std::vector<Column> cells() const;
  void fill(Result& result) const;

  std::unique_ptr<Dependence> of_;
};

}  // namespace terrane::inversion
