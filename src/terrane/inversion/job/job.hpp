// An inversion from a job file, of any physics.
//
// With simulation.verify = "estimate" errors of the mesh count beside those of data. A model has a value in
// each cell, so on wider cells it would be another model: e comes from the same model on cells of half the
// width, one axis after the other, and with walls twice as far, e = s Σ (F' − F). It is computed at the first
// model, then at the model that is found, σ² = σ_d² + e². Where errors have grown in between, the inversion
// runs again with the new ones. e is held while a model is sought: it is systematic, and no function to be
// minimised. Above 20 % two meshes show only that the first is too coarse: no more than that is counted, or a
// model that was fitted to the mesh's errors would leave nothing to be fitted.
// With verify = "refine", where e is above σ_d for more than 5 % of data, the inversion continues from that
// model on a finer mesh.
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

/// How the data of one physics depend on its model: all that InversionJob needs of a physics. It is made with
/// all that the job gives: data, cells, settings.
class Dependence {
 public:
  virtual ~Dependence() = default;

 protected:
  friend class InversionJob;
  Dependence() = default;

  // ---- what it is, for files and people ----
  virtual std::string title() const = 0;     ///< "inversion of gravity"
  virtual std::string property() const = 0;  ///< the property that is found, "density"
  /// The model [active] in SI units: the model itself, or, where it is a logarithm, its exponential.
  virtual std::vector<double> values(const std::vector<double>& model) const { return model; }
  virtual void describe_into(RunFacts& facts, const Runtime& runtime) const = 0;
  /// "gathers of 7 models"; empty: data are a linear function of the model.
  virtual std::string computed() const { return {}; }
  /// Adds to a run's report, before and after the facts that all inversions report.
  virtual void report_before(Report& /*report*/) const {}
  virtual void report_after(Report& /*report*/) const {}
  /// Fills in the data set, and attributes of its own; without values before there is an outcome.
  virtual void fill(Result& result) const = 0;
  /// Adds columns of the cells of the mesh; the property that is found stands first.
  virtual void complete_cells(std::vector<Column>& /*columns*/) const {}

  // ---- what it costs, and the run ----
  /// Chooses how products are made in the memory there is, and makes what check() of the problem needs: g or
  /// forward.
  virtual void choose(const Runtime& runtime) = 0;
  /// After choose(): bytes that the ranks of this machine need.
  virtual double memory_needed(const Runtime& runtime) const = 0;
  /// After choose(): bytes on the device of rank 0, and at most on those of others: a rank's part of G or its
  /// fields, and the regulariser's inverse; 0 where all is in the memory of the CPU.
  virtual double bytes_on_device(const Runtime& /*runtime*/) const { return 0; }
  /// Throws MemoryError where memory does not suffice.  what: the thing that needs it
  virtual void require_memory(const Runtime& runtime, const std::string& what) const;
  virtual double expected_seconds(const Runtime& runtime) = 0;
  /// After choose(): makes what products need.
  virtual void make(const Runtime& /*runtime*/) {}
  /// After the run: the other ranks end their service.
  virtual void release(const Runtime& /*runtime*/) {}
  /// After make(): all that determines the bits of the model, but for data and settings.
  virtual Fingerprint fingerprint(const Runtime& runtime) const = 0;
  /// Whether its model may be found in a joint inversion.
  virtual bool joins() const { return true; }

  // ---- errors of its mesh, where accuracy_ asks for them; after make() ----
  /// The data F [rows] of a model on a changed mesh: with cells factor[axis] times as wide, or with walls
  /// twice as far. Throws InputError: there is no such mesh.
  virtual std::vector<double> data_on(const std::vector<double>& /*model*/,
                                      const std::array<double, 3>& /*factor*/, bool /*moves_walls*/,
                                      const Runtime& /*runtime*/) const {
    return {};
  }
  /// The errors of data [rows] to be stated, given how much data on narrower cells differ from these, summed
  /// over axes and walls; then the scale of each datum, to which its error is relative.
  virtual std::vector<double> errors_by(const std::vector<double>& data,
                                        const std::vector<double>& /*difference*/) const {
    return std::vector<double>(data.size(), 0.0);
  }
  virtual std::vector<double> scale_of_errors(const std::vector<double>& data) const {
    return std::vector<double>(data.size(), 1.0);
  }
  /// The same problem on a finer mesh, which begins with this model. Throws InputError: there is none.
  virtual std::unique_ptr<Dependence> on_finer(const std::vector<double>& /*model*/,
                                               const FinerWish& /*wish*/, const Runtime& /*runtime*/) const {
    return nullptr;
  }

  MemoryBudget budget(const Runtime& runtime) const;

  Problem problem_;
  Settings settings_;
  MemoryBudget memory_;
  Outcome outcome_;                ///< of the last run
  std::vector<double> own_sigma_;  ///< σ of the data alone, while problem_ holds larger ones
  JointSettings joint_;
  std::optional<TwoRocks> rocks_;
  JobOrigin origin_;
  std::shared_ptr<solve::Workers> workers_;  ///< the other ranks, which several inversions may share
  std::vector<std::string> notes_, warnings_;
  Accuracy accuracy_;  ///< whether errors of its mesh count beside those of data
};

/// A model of one mesh on the cells of another: the value at each cell's centre, or outside the mesh the
/// reference.
std::vector<double> model_on(const Problem& other, const Problem& of, const std::vector<double>& model);

/// The inversion of a job. Its model may be found together with that of another.
class InversionJob final : public Simulation {
 public:
  explicit InversionJob(std::unique_ptr<Dependence> of) : of_(std::move(of)) {}

  const Problem& problem() const { return of_->problem_; }
  const Settings& settings() const { return of_->settings_; }
  /// The outcome of the last run.
  const Outcome& outcome() const { return of_->outcome_; }
  /// The settings of the table [joint].
  const JointSettings& joint() const { return of_->joint_; }
  /// inversion.rocks, in the units of the model.
  const std::optional<TwoRocks>& rocks() const { return of_->rocks_; }
  bool joins() const { return of_->joins(); }
  bool states_errors() const { return of_->accuracy_.states_errors(); }

  Plan check(const Runtime& runtime = {}) override;
  Result run(const Runtime& runtime = {}) override;
  Result outline() const override;
  void write_model(const std::string& path) const override;
  void check_model(const std::string& path) const override;
  /// The property that is found: "density".
  std::string property() const { return of_->property(); }
  /// After run(), what write_model() writes: all cells of the mesh, what is found first.
  io::MeshData model() const;

  /// To be called before begin() where several inversions run at the same time: the other ranks, which serve
  /// all of them.
  void share_ranks(const std::shared_ptr<solve::Workers>& workers) { of_->workers_ = workers; }
  /// After check().
  double bytes_on_device(const Runtime& runtime) const { return of_->bytes_on_device(runtime); }
  /// The two halves of run(): begin() makes what products need; finish() takes the outcome.
  void begin(const Runtime& runtime);
  Result finish(Outcome outcome, const Runtime& runtime);
  /// After begin(): all that determines the bits of the model.
  Fingerprint fingerprint(const Runtime& runtime) const;

 private:
  std::vector<Column> cells() const;
  void fill(Result& result) const;
  /// After begin(): the outcome of invert(); where errors of the mesh count, with these counted.
  Outcome found(const Runtime& runtime, Report& told);
  Outcome found_with_errors(const Runtime& runtime, Keeper& keeper, Report& told);
  /// The outcome on one mesh, with errors at the first model counted, then with those at the last.
  struct OnMesh {
    Outcome outcome;
    std::vector<double> own, errors;  ///< uncertainties of the data; errors of the mesh that count
    double above = 0;                 ///< share of data whose error is above their uncertainty
    std::size_t cells = 0;            ///< of the mesh
  };
  OnMesh found_on_mesh(const Runtime& runtime, Keeper* keeper, Report& told);
  /// By how much the data of a model change with narrower cells along each axis, and with farther walls.
  struct Changes {
    std::array<std::vector<double>, 3> cells;
    std::vector<double> walls;
  };
  /// Errors of the mesh at a model, [rows], no larger than may be counted; empty where none can be computed,
  /// and then `told` says why.
  std::vector<double> errors_of_mesh(const std::vector<double>& model, const std::vector<double>& data,
                                     const Runtime& runtime, Report& told);
  FinerWish finer_wish_of(const OnMesh& on) const;
  /// Replaces of_ by the same on a finer mesh and returns the one before; null where that fails, with the
  /// reason in `why`.
  std::unique_ptr<Dependence> go_finer(const OnMesh& on, const Runtime& runtime, std::string& why);

  std::unique_ptr<Dependence> of_;
  Changes changes_;  ///< at the last model whose errors were computed
};

}  // namespace terrane::inversion
