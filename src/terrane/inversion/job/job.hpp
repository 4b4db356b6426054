// An inversion from a job file, of any physics.
//
// With simulation.verify = "estimate" errors of the mesh count beside those of data. A model has a value in
// each cell, so wider cells would be another model: e comes from the same one on cells of half the width, one
// axis after the other, and with walls twice as far, e = s Σ (F' − F). It is taken at the first model, then
// at the one that is found, σ² = σ_d² + e². Where they have grown by the way, the model is sought anew with
// them. e is held while a model is sought: it is systematic, and no function to be minimised. Above 20 % two
// meshes say no more than that the first is too coarse: no more is counted, or a model that was fitted to the
// mesh's errors would leave nothing to be fitted.
// With verify = "refine" the inversion goes on from that model on a finer mesh, where e is above σ_d for more
// than 5 % of data.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/inversion/loop/joint.hpp"
#include "terrane/inversion/loop/keep.hpp"
#include "terrane/io/content.hpp"
#include "terrane/simulation/provenance.hpp"
#include "terrane/simulation/refining.hpp"
#include "terrane/simulation/simulation.hpp"
#include "terrane/simulation/stated_errors.hpp"
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

  // ---- errors of its mesh, where accuracy_ asks for them; after make() ----
  /// F of a model whose cells are cut, factor[axis] times as wide, or with walls twice as far, [rows]. Throws
  /// InputError: it cannot be.
  virtual std::vector<double> data_on(const std::vector<double>& /*model*/,
                                      const std::array<double, 3>& /*factor*/, bool /*moves_walls*/,
                                      const Runtime& /*runtime*/) const {
    return {};
  }
  /// What is stated as the error of data, [rows], by how much those of narrower cells differ from them,
  /// summed over axes and walls; and what it is relative to.
  virtual std::vector<double> errors_by(const std::vector<double>& data,
                                        const std::vector<double>& /*difference*/) const {
    return std::vector<double>(data.size(), 0.0);
  }
  virtual std::vector<double> scale_of_errors(const std::vector<double>& data) const {
    return std::vector<double>(data.size(), 1.0);
  }
  /// The same on a finer mesh, which begins with this model. Throws InputError: there is none.
  virtual std::unique_ptr<Dependence> on_finer(const std::vector<double>& /*model*/,
                                               const FinerWish& /*wish*/, const Runtime& /*runtime*/) const {
    return nullptr;
  }

  MemoryBudget budget(const Runtime& runtime) const;

  Problem problem_;
  Settings settings_;
  MemoryBudget memory_;
  Outcome outcome_;                ///< of the last run
  std::vector<double> own_sigma_;  ///< of the data alone, where others count in problem_ during a run
  JointSettings joint_;
  std::optional<TwoRocks> rocks_;
  JobOrigin origin_;
  std::shared_ptr<solve::Workers> workers_;  ///< of the other ranks, shared with others
  std::vector<std::string> notes_, warnings_;
  Accuracy accuracy_;  ///< whether errors of its mesh count beside those of data
};

/// A model of one mesh on the cells of another: what is where their centres are, else the reference there.
std::vector<double> model_on(const Problem& other, const Problem& of, const std::vector<double>& model);

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
  bool states_errors() const { return of_->accuracy_.states_errors(); }

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
  /// After begin(): what invert() finds; where errors of the mesh count, with these.
  Outcome found(const Runtime& runtime, Report& told);
  Outcome found_with_errors(const Runtime& runtime, Keeper& keeper, Report& told);
  /// On the mesh as it is, with errors of the first model counted, then with those of the last.
  struct OnMesh {
    Outcome outcome;
    std::vector<double> own, errors;  ///< uncertainties of the data; of the mesh, counted and at the model
    double above = 0;                 ///< share of data whose error is above their uncertainty
    std::size_t cells = 0;            ///< of the mesh
  };
  OnMesh found_on_mesh(const Runtime& runtime, Keeper* keeper, Report& told);
  /// Of a model: by how much its data change with narrower cells along each axis, and with farther walls.
  struct Changes {
    std::array<std::vector<double>, 3> cells;
    std::vector<double> walls;
  };
  /// Errors of the mesh at a model, [rows], no more than count; none where they cannot be had, and then
  /// `told` says why.
  std::vector<double> errors_of_mesh(const std::vector<double>& model, const std::vector<double>& data,
                                     const Runtime& runtime, Report& told);
  FinerWish finer_wish_of(const OnMesh& on) const;
  /// Goes on to a finer mesh; what was before, or null and why not.
  std::unique_ptr<Dependence> go_finer(const OnMesh& on, const Runtime& runtime, std::string& why);

  std::unique_ptr<Dependence> of_;
  Changes changes_;  ///< of the last model that was looked at
};

}  // namespace terrane::inversion
