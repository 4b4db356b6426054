// The input and the result of an inversion, and functions that all loops use. Nothing here depends on the
// physics: G is an operator, a model has one number for each active cell. If data depend non-linearly on the
// model, a function F replaces G.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/inversion/data/forward.hpp"
#include "terrane/inversion/data/trend.hpp"
#include "terrane/inversion/least_squares/bounded.hpp"
#include "terrane/inversion/least_squares/data_space.hpp"
#include "terrane/inversion/loop/keep.hpp"
#include "terrane/inversion/model/regulariser.hpp"
#include "terrane/inversion/model/sparse.hpp"
#include "terrane/inversion/model/weights.hpp"

namespace terrane::inversion {

struct Problem {
  TensorMesh mesh;
  std::vector<std::uint32_t> active;  ///< cells of the mesh, ascending; empty: all
  /// Numbers in each cell: 1, or 3 if the model is a vector: all first components, all second, all third.
  std::size_t components = 1;
  std::vector<double> ground;  ///< fraction of each cell of the mesh below the ground; empty: all 1
  std::string ground_key;      ///< the key that gives the ground, "job.toml:14: model.topography"
  std::shared_ptr<const solve::LinearOperator> g;
  /// The physics that computes data in place of g, if data depend non-linearly on the model.
  std::shared_ptr<const Forward> forward;
  std::vector<double> start;  ///< [active], with `forward`: the first model; empty: the reference
  std::vector<double> data;   ///< [rows] in the units of G m; NaN: no datum
  std::vector<double> sigma;  ///< [rows] standard deviations
  std::vector<DataSet> sets;
  std::vector<double> easting, northing, up;  ///< [stations] m; row n of each set is station n
  std::vector<double> reference;              ///< reference model m̃ [active]; empty: 0
  Bounds bounds;                              ///< of m, [active] each, or of lengths of vectors; empty: none
  Couplings couplings;                        ///< couplings to other models, added to φ_m with the same β
  std::optional<Factors> weights;  ///< weights of the summands of φ_m: of cells and faces [cells of the mesh]
  std::vector<double> own_weight;  ///< [active] w of the cells, in place of Settings::weighting; empty: none
  bool whole_cells = false;        ///< true: the physics has no cells that are partly ground

  bool defined() const { return g != nullptr || forward != nullptr; }
  std::size_t rows() const { return forward ? forward->rows() : g->rows(); }
  std::size_t columns() const { return forward ? forward->columns() : g->columns(); }
  std::size_t cells() const { return columns() / components; }
};

enum class Weighting { none, depth, distance, sensitivity };
/// How β is chosen. discrepancy: such that φ_d = χ N; fixed: the given value; gcv: at the minimum of
/// generalised cross-validation; l_curve: at the corner of the L-curve.
enum class Choice { discrepancy, fixed, gcv, l_curve };
/// data_space: Lanczos for all β at once, then GPCG (bounded.hpp) if there are bounds. model_space: conjugate
/// gradients with the usual cooling of β, for comparison.
enum class Solver { data_space, model_space };

struct Settings {
  Alphas alphas;
  bool weights_in_gradients = true;
  Weighting weighting = Weighting::depth;
  double exponent = 2;  ///< exponent of depth and distance weights: 2 gravity, 3 gradients, magnetics
  double z0 = 0;        ///< z₀ of depth weights, m; 0: fitted to the decay of G below the middle station
  bool reference_in_gradients = true;
  Choice choice = Choice::discrepancy;
  double chi = 1;                  ///< target of φ_d / N
  double misfit_tolerance = 0.02;  ///< relative tolerance of φ_d / (χ N), if β is found by trial
  double beta = 0;                 ///< β of Choice::fixed
  Trend trend = Trend::none;       ///< polynomial of station coordinates, fitted together with the model
  double huber = 0;                ///< c of Huber's norm, in units of σ; 0: least squares
  SparseNorms norms;
  double epsilon = 0.02;  ///< ε of sparse norms, relative to the largest value of the smooth model
  Solver solver = Solver::data_space;
  double tolerance = 1e-3;  ///< relative tolerance of Lanczos and of the last descent within bounds
  bool posterior = false;   ///< whether to compute deviations and resolution, for up to `most_dense` data
  std::size_t most_dense = 2000;
  int most_steps = 30;    ///< largest number of Gauss-Newton steps
  int most_products = 0;  ///< limit of products with J and Jᵀ per linear problem; 0: none
  double cooling = 0.1;   ///< a Gauss-Newton step aims at this fraction of the present misfit
  /// Whether to store all entries of J; false: the physics computes products.
  bool jacobian_in_memory = true;
  int threads = 0;
  /// Device that applies the regulariser's exact inverse, if it is a GPU.
  Device device{Device::Kind::cpu, -1};

  friend bool operator==(const Settings&, const Settings&) = default;
};

/// One row of the table of iterations.
struct Iteration {
  std::string what;  ///< "lanczos", "dense", "robust", "bounds", "sparse", "cooling", "newton"
  int number = 0;
  double beta = 0, phi_d = 0, phi_m = 0;
  int products = 0;    ///< number of products with G so far, plus number of products with Gᵀ
  double seconds = 0;  ///< seconds of computing so far

  template <class Self, class Field>
  static void fields(Self& i, const Field& field) {
    field("what", i.what);
    field("number", i.number);
    field("beta", i.beta);
    field("phi_d", i.phi_d);
    field("phi_m", i.phi_m);
    field("products", i.products);
    field("seconds", i.seconds);
  }
};

struct Outcome {
  std::vector<double> model;      ///< [active], of vectors [3, active]
  std::vector<double> predicted;  ///< [rows] G m, plus the trend if one was asked for
  std::vector<double> trend;      ///< [rows] the fitted trend; empty unless asked for
  std::vector<double> trust;      ///< [rows] ω of Huber's norm, below 1 for outliers; empty unless asked for
  std::vector<double> weight;     ///< [active] weights w of the cells
  /// [active] change of the data, in units of σ, per unit change of the model and unit volume of the cell,
  /// relative to the largest; only after Gauss-Newton steps if J computes it quickly, else empty.
  std::vector<double> sensitivity;
  std::vector<double> deviation;   ///< [active] posterior standard deviation; empty unless asked for
  std::vector<double> resolution;  ///< [active] 1: cell determined by data; 0: not at all
  std::vector<double> apart;       ///< joint inversions only: the model from its own data alone
  double beta = 0, phi_d = 0, target = 0;
  Terms phi_m;
  double z0 = 0;
  double beta_relative = 0;         ///< β divided by the largest eigenvalue of K (data_space.hpp)
  std::vector<double> chi_squared;  ///< φ_d of each set of data, divided by its number of data
  std::size_t data = 0, on_bounds = 0;
  int products = 0;
  int forwards = 0;  ///< how often F and J were computed
  bool converged = false;
  std::string reason;  ///< why the inversion stopped
  std::vector<Iteration> iterations;
  std::vector<Step> curve;  ///< φ_d and φ_m as functions of β
  std::vector<std::string> warnings;

  template <class Self, class Field>
  static void fields(Self& o, const Field& field) {
    field("model", o.model);
    field("predicted", o.predicted);
    field("trend", o.trend);
    field("trust", o.trust);
    field("weight", o.weight);
    field("sensitivity", o.sensitivity);
    field("deviation", o.deviation);
    field("resolution", o.resolution);
    field("apart", o.apart);
    field("beta", o.beta);
    field("phi_d", o.phi_d);
    field("target", o.target);
    field("phi_m", o.phi_m);
    field("z0", o.z0);
    field("beta_relative", o.beta_relative);
    field("chi_squared", o.chi_squared);
    field("data", o.data);
    field("on_bounds", o.on_bounds);
    field("products", o.products);
    field("forwards", o.forwards);
    field("converged", o.converged);
    field("reason", o.reason);
    field("iterations", o.iterations);
    field("curve", o.curve);
    field("warnings", o.warnings);
  }
};

/// Throws InputError if there are no data or no cells, uncertainties are not above zero, bounds cross or
/// exclude the reference, or data have a sign that no model within the bounds can produce. invert() calls it
/// first.
void check(const Problem& problem, const Settings& settings);

/// The length of the model's vector in each cell, [active]; of one component the model itself.
std::vector<double> lengths_of(std::span<const double> model, std::size_t components);

/// The weights w of the cells; z0: gets z₀ if it was fitted.
std::vector<double> cell_weights(const Problem& problem, const Settings& settings, double& z0);

/// m̃ of φ_m = (m − m̃)ᵀ R (m − m̃): the reference, or another m̃ if the reference is in the smallness term
/// alone or the model is coupled to another. Also passes these couplings to the regulariser.
std::vector<double> centre_of(const Problem& problem, const Settings& settings,
                              const std::vector<double>& reference, Regulariser& regulariser);

/// Computes the quality measures of outcome.model and its predicted data: φ_d, χ² of each set, φ_m, number of
/// cells on bounds. deviation: 1/σ; 0: datum not used
void judge(const Problem& problem, const Settings& settings, const std::vector<double>& deviation,
           const std::vector<double>& reference, Regulariser& regulariser, Outcome& outcome);

// ---- functions that all inversions use ----

/// Shows the last row of the table of iterations, and how close the misfit is to the target.
void show_nearness(Progress* progress, const Outcome& outcome);

}  // namespace terrane::inversion
