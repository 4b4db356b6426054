// An inversion of direct current from a job file: tables [mesh], [survey] with arrays and their measured
// data, [simulation] with physics = "electric", [inversion], [output].
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "terrane/base/memory.hpp"
#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/job/tables.hpp"
#include "terrane/physics/electric/inverse/direct_current.hpp"
#include "terrane/physics/electric/simulation.hpp"
#include "terrane/simulation/sharing.hpp"

namespace terrane::electric::inverse {

/// An inversion for resistivity from electrode arrays.
class ArrayData : public inversion::Dependence {
 public:
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

 protected:
  std::string title() const override { return "inversion of direct current"; }
  std::string property() const override { return "resistivity"; }
  std::vector<double> values(const std::vector<double>& model) const override {
    return inversion::exponentials_of(model);
  }
  std::string computed() const override;
  void fill(Result& result) const override;
  void make(const Runtime& runtime) override;
  Fingerprint fingerprint(const Runtime& runtime) const override;
  std::vector<double> data_on(const std::vector<double>& model, const std::array<double, 3>& factor,
                              bool moves_walls, const Runtime& runtime) const override;
  std::vector<double> errors_by(const std::vector<double>& data,
                                const std::vector<double>& difference) const override;
  std::vector<double> scale_of_errors(const std::vector<double>& data) const override;
  std::unique_ptr<Dependence> on_finer(const std::vector<double>& model, const FinerWish& wish,
                                       const Runtime& runtime) const override;

  bool even() const { return problem_.ground.empty(); }
  /// Reads mesh, ground, electrodes and settings of solves, and returns the survey's measured data. instead:
  /// replaces the planned mesh, or null
  Measured read_ground_and_arrays(const Config& job, const Runtime& runtime, inversion::MeshOfJob& mesh,
                                  const TensorMesh* instead = nullptr);
  /// Plans a mesh for the arrays of a job, with the ground that the job names or, if it names none, that of
  /// the electrodes' heights.
  CellsPlan plan_cells(const Config& job, const MeshWish& wish);
  /// Removes the arrays that inversion.leave_out lists.
  void leave_out(const Config& table, Measured& survey);
  /// Height of the surface for a flat earth: the top of the mesh, or for uneven ground the electrodes' mean
  /// height.
  double flat_surface() const;
  /// Computes the geometric factors for a flat earth.
  void take_factors();
  /// Computes the geometric factors for uneven ground and the boundary conditions of the mesh: needs a solve
  /// for each current electrode.
  void take_factors_of(const DirectCurrent& physics);
  /// Makes `arrays_`, the simulation of a medium.
  void take_medium(Medium medium);
  /// Computes data and their derivatives with respect to resistivity, on the ranks of a run.
  std::shared_ptr<DirectCurrent> currents(const Runtime& runtime) const;
  Survey places() const { return arrays_->places(); }

  Datum datum_ = Datum::log_apparent_resistivity;
  std::vector<double> factor_;  ///< geometric factor k of each array

 private:
  static std::unique_ptr<ArrayData> made_of(const Config& job, const Runtime& runtime,
                                            const TensorMesh* instead);
  /// models(): the estimated number of models that need solves; method(): the name of the inversion's method.
  virtual int models() const { return 7; }
  virtual std::string method() const { return "gauss-newton"; }
  virtual void describe_model(RunFacts& facts) const;
  void describe_into(RunFacts& facts, const Runtime& runtime) const final;
  void choose(const Runtime& runtime) final;
  double memory_needed(const Runtime& runtime) const final;
  double bytes_on_device(const Runtime& runtime) const final;
  double expected_seconds(const Runtime& runtime) final;
  void take_data();
  double entries_bytes() const;
  Load fields(const Runtime& runtime) const;
  double kept_on_rank_0(const Runtime& runtime) const;
  Runtime within_budget(const Runtime& runtime) const;
  Sharing sharing(const Runtime& runtime) const;

  Electrodes electrodes_;
  Ground own_ground_;           ///< the ground of a planned mesh, if the job names none
  std::vector<double> slopes_;  ///< slopes of the ground at the electrodes
  std::vector<std::string> left_out_;
  std::optional<Config> job_;  ///< the job, from which simulations on finer meshes are made
  Parameters parameters_;
  MeasuredArrays measured_;
  bool reference_is_median_ = false;
  /// A simulation of the reference model; provides positions, checks and the cost of a solve.
  std::unique_ptr<Simulation> arrays_;
};

/// The inversion with inversion.datum = "chargeability" (chargeability_job.cpp).
std::unique_ptr<terrane::Simulation> charges_from_job(const Config& job, const Runtime& runtime);

}  // namespace terrane::electric::inverse
