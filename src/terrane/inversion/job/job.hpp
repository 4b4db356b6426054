// An inversion from a job file, of any physics.
//
// With simulation.verify = "estimate" the discretisation error e of the mesh is added to the data error: σ² =
// σ_d² + e². It is estimated from the change of the data F of one model on other meshes, e = s Σ (F' − F):
// with cells of half the width along one axis after the other, and with boundaries twice as far away. s is 2
// if errors are proportional to the cell width, 4/3 if to its square, as half the width then leaves 1/2 or
// 1/4 of the error. (Wider cells would change the model, as each cell has one value.) e is computed at the
// first model and at the final one; if it has grown for many data, the inversion runs again with the new e.
// During an inversion e is constant: it is a systematic error, not a function to be minimised. e is limited
// to 20 % of a datum's scale: larger differences only show that the mesh is too coarse, and would leave no
// data to be fitted. With verify = "refine", if e exceeds σ_d for more than 5 % of the data, the inversion
// continues from that model on a finer mesh.
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

/// How the data of one physics depend on its model: everything that InversionJob needs to know of a physics.
/// It is constructed from the job: data, cells, settings.
class Dependence {
 public:
  virtual ~Dependence() = default;

 protected:
  friend class InversionJob;
  Dependence() = default;

  // ---- names and descriptions, for files and users ----
  virtual std::string title() const = 0;     ///< "inversion of gravity"
  virtual std::string property() const = 0;  ///< the property that is inverted for, "density"
  virtual std::string unit() const;          ///< unit of values(): "kg/m3"; of numbers "1"
  /// The property [active] in SI units: the model itself or, if this is a logarithm, its exponential; of
  /// vectors their lengths.
  virtual std::vector<double> values(const std::vector<double>& model) const { return model; }
  virtual void describe_into(RunFacts& facts, const Runtime& runtime) const = 0;
  /// What the forward computation computes, "gathers of 7 models"; empty if data are a linear function of the
  /// model.
  virtual std::string computed() const { return {}; }
  /// Add entries to the report of a run: before and after the entries of all inversions.
  virtual void report_before(Report& /*report*/) const {}
  virtual void report_after(Report& /*report*/) const {}
  /// Fills in the result's data set and attributes of this physics; before the run, variables have no values.
  virtual void fill(Result& result) const = 0;
  /// Adds columns of values of the mesh's cells; the property that is inverted for is already the first
  /// column.
  virtual void complete_cells(std::vector<Column>& /*columns*/) const {}

  // ---- the cost of the inversion, and its run ----
  /// Chooses how products with G or J are computed within the available memory, and makes the operator that
  /// check() of the problem needs: Problem::g or Problem::forward.
  virtual void choose(const Runtime& runtime) = 0;
  /// After choose(): memory that the ranks of this machine need, bytes.
  virtual double memory_needed(const Runtime& runtime) const = 0;
  /// After choose(): bytes needed on the device of rank 0; other ranks need at most as many. They are for a
  /// rank's part of G or of fields, and the regulariser's inverse; 0 if everything is in the memory of the
  /// CPU.
  virtual double bytes_on_device(const Runtime& /*runtime*/) const { return 0; }
  /// Throws MemoryError if memory does not suffice.  what: name of the data that need it
  virtual void require_memory(const Runtime& runtime, const std::string& what) const;
  virtual double expected_seconds(const Runtime& runtime) = 0;
  /// After choose(): makes the operators for products.
  virtual void make(const Runtime& /*runtime*/) {}
  /// After the run: ends the work of the other ranks.
  virtual void release(const Runtime& /*runtime*/) {}
  /// After make(): everything that determines the bits of the model, except data and settings.
  virtual Fingerprint fingerprint(const Runtime& runtime) const = 0;
  /// Why this model cannot be found together with others; empty if it can.
  virtual std::string why_alone() const { return {}; }

  // ---- errors of the mesh, if accuracy_ asks for them; called after make() ----
  /// The data F [rows] of a model on a changed mesh: with cells factor[axis] times as wide along each axis
  /// or, with moves_walls, with boundaries twice as far away. Throws InputError if there is no such mesh.
  virtual std::vector<double> data_on(const std::vector<double>& /*model*/,
                                      const std::array<double, 3>& /*factor*/, bool /*moves_walls*/,
                                      const Runtime& /*runtime*/) const {
    return {};
  }
  /// errors_by(): the errors of data [rows] to be stated; difference: changes of the data on narrower cells
  /// and with farther boundaries, summed. scale_of_errors(): the scale of each datum, to which its error is
  /// relative.
  virtual std::vector<double> errors_by(const std::vector<double>& data,
                                        const std::vector<double>& /*difference*/) const {
    return std::vector<double>(data.size(), 0.0);
  }
  virtual std::vector<double> scale_of_errors(const std::vector<double>& data) const {
    return std::vector<double>(data.size(), 1.0);
  }
  /// The same problem on a finer mesh, with this model as the first one. Throws InputError if there is no
  /// finer mesh.
  virtual std::unique_ptr<Dependence> on_finer(const std::vector<double>& /*model*/,
                                               const FinerWish& /*wish*/, const Runtime& /*runtime*/) const {
    return nullptr;
  }

  MemoryBudget budget(const Runtime& runtime) const;

  Problem problem_;
  Settings settings_;
  MemoryBudget memory_;
  Outcome outcome_;                ///< result of the last run
  std::vector<double> own_sigma_;  ///< σ of the data alone, if σ in problem_ includes errors of the mesh
  JointSettings joint_;
  std::optional<TwoRocks> rocks_;
  JobOrigin origin_;
  /// The other ranks, as workers; several inversions may share them.
  std::shared_ptr<solve::Workers> workers_;
  std::vector<std::string> notes_, warnings_;
  Accuracy accuracy_;  ///< whether errors of the mesh are added to those of data
};

/// A model of the mesh of problem `of` on the cells of problem `other`: the value at each cell's centre or,
/// outside the mesh, the reference.
std::vector<double> model_on(const Problem& other, const Problem& of, const std::vector<double>& model);

/// The inversion of a job, alone or as a part of a joint inversion.
class InversionJob final : public Simulation {
 public:
  explicit InversionJob(std::unique_ptr<Dependence> of) : of_(std::move(of)) {}

  const Problem& problem() const { return of_->problem_; }
  const Settings& settings() const { return of_->settings_; }
  /// The outcome of the last run.
  const Outcome& outcome() const { return of_->outcome_; }
  /// The settings of the table [joint].
  const JointSettings& joint() const { return of_->joint_; }
  /// The key inversion.rocks, in the units of the model.
  const std::optional<TwoRocks>& rocks() const { return of_->rocks_; }
  std::string why_alone() const { return of_->why_alone(); }
  bool states_errors() const { return of_->accuracy_.states_errors(); }

  Plan check(const Runtime& runtime = {}) override;
  Result run(const Runtime& runtime = {}) override;
  Result outline() const override;
  void write_model(const std::string& path) const override;
  void check_model(const std::string& path) const override;
  /// The property that is inverted for: "density".
  std::string property() const { return of_->property(); }
  /// After run(), the data that write_model() writes: all cells of the mesh, with the property that was
  /// inverted for as the first column.
  io::MeshData model() const;

  /// To be called before begin() if several inversions run at the same time: sets the workers that they
  /// share.
  void share_ranks(const std::shared_ptr<solve::Workers>& workers) { of_->workers_ = workers; }
  /// After check(): the same as Dependence::bytes_on_device().
  double bytes_on_device(const Runtime& runtime) const { return of_->bytes_on_device(runtime); }
  /// The two halves of run(): begin() makes the operators for products; finish() makes a result of the
  /// outcome.
  void begin(const Runtime& runtime);
  Result finish(Outcome outcome, const Runtime& runtime);
  /// After begin(): everything that determines the bits of the model.
  Fingerprint fingerprint(const Runtime& runtime) const;

 private:
  std::vector<Column> cells() const;
  void fill(Result& result) const;
  /// After begin(): the outcome of invert(), with errors of the mesh included if the job asks for them.
  Outcome found(const Runtime& runtime, Report& told);
  Outcome found_with_errors(const Runtime& runtime, Keeper& keeper, Report& told);
  /// The outcome on one mesh, with errors of the mesh computed at the first model, then at the last.
  struct OnMesh {
    Outcome outcome;
    std::vector<double> own, errors;  ///< σ of the data; errors of the mesh
    double above = 0;                 ///< fraction of data whose mesh error exceeds their σ
    std::size_t cells = 0;            ///< number of cells of the mesh
  };
  OnMesh found_on_mesh(const Runtime& runtime, Keeper* keeper, Report& told);
  /// Changes of a model's data with narrower cells along each axis, and with farther boundaries.
  struct Changes {
    std::array<std::vector<double>, 3> cells;
    std::vector<double> walls;
  };
  /// Errors of the mesh at a model, [rows], limited to the largest error that is used; empty if they cannot
  /// be computed, with the reason in `told`.
  std::vector<double> errors_of_mesh(const std::vector<double>& model, const std::vector<double>& data,
                                     const Runtime& runtime, Report& told);
  FinerWish finer_wish_of(const OnMesh& on) const;
  /// Replaces of_ by the same problem on a finer mesh and returns the previous one; null if that fails, with
  /// the reason in `why`.
  std::unique_ptr<Dependence> go_finer(const OnMesh& on, const Runtime& runtime, std::string& why);

  std::unique_ptr<Dependence> of_;
  Changes changes_;  ///< changes of the data on other meshes, for the latest model whose errors were computed
};

}  // namespace terrane::inversion
