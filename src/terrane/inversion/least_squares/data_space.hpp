// Least squares in the space of the data, for all β at once.
//
//   K = W G R⁻¹ Gᵀ W  [N, N],  r = W (d − G m̃)
//   m(β) = m̃ + R⁻¹ Gᵀ W (K + β)⁻¹ r
//
// N: number of data; G, W, R, d, m̃: objective.hpp.
//
// Lanczos: K is never formed. v₁ = r/‖r‖; a step applies Gᵀ, R⁻¹ and G once and orthogonalises the new vector
// twice against all others; after k steps K ≈ V T Vᵀ with a tridiagonal T, and for every β
//   y = (T + β)⁻¹ ‖r‖ e₁,  m = m̃ + R⁻¹ Gᵀ W V y,  φ_d = β²‖y‖² + (b_{k+1} y_k)²,  φ_m = yᵀ T y
// exactly, for that m: the misfit of a model is known before the model is computed. e₁: the first unit
// vector; y_k: the last component of y; b_{k+1}: the length of the newest vector before it is normalised to
// v_{k+1}. 20 to 80 steps are enough for any mesh.
//
// Dense: K is formed and diagonalised, K = U Λ Uᵀ; from these, degrees of freedom, GCV, the L-curve and exact
// variances follow for any β. For up to about a thousand data.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/inversion/least_squares/objective.hpp"
#include "terrane/solve/matrices/symmetric.hpp"

namespace terrane::inversion {

struct LanczosSettings {
  int most_steps = 500;
  double tolerance = 1e-3;        ///< convergence: relative change of φ_d (to its target) and of β
  double inner_tolerance = 1e-6;  ///< relative tolerance of R⁻¹ if that is iterative
  double beta = 0;                ///< above 0: a fixed β, instead of the one at which φ_d = target
  /// Replaces ‖W (d − G m)‖² as the misfit that has to reach the target: a function of the residuals W (d − G
  /// m) [rows].
  std::function<double(std::span<const double>)> misfit;
};

/// φ_d and φ_m of the model for one value of β, computed without making the model.
struct Step {
  int steps = 0;
  double beta = 0;
  double phi_d = 0;  ///< φ_d of the model at this β after `steps` steps
  double phi_m = 0;

  template <class Self, class Field>
  static void fields(Self& s, const Field& field) {
    field("steps", s.steps);
    field("beta", s.beta);
    field("phi_d", s.phi_d);
    field("phi_m", s.phi_m);
  }
};

/// The state of the Lanczos method between two steps.
struct LanczosState {
  double length = 0;                   ///< ‖r‖
  std::vector<double> a, b;            ///< the tridiagonal matrix T: diagonal [k] and off-diagonal [k]
  std::vector<std::vector<double>> v;  ///< Lanczos vectors [k + 1][rows]
  Step last;
  int still = 0;  ///< number of consecutive last steps in which β hardly changed
  int inner_steps = 0;

  template <class Self, class Field>
  static void fields(Self& s, const Field& field) {
    field("length", s.length);
    field("a", s.a);
    field("b", s.b);
    field("v", s.v);
    field("last", s.last);
    field("still", s.still);
    field("inner_steps", s.inner_steps);
  }
};

class Lanczos {
 public:
  /// seen: called after every step, with the β for the target; from: state to resume from, with the same
  /// bits as an uninterrupted run; between: called before every step but the first; stops: whether the run
  /// is cancelled after this call.
  Lanczos(const Objective& objective, double target, const LanczosSettings& settings = {},
          const std::function<void(const Step&)>& seen = {}, Progress* progress = nullptr,
          LanczosState from = {}, const std::function<void(const LanczosState&, bool stops)>& between = {});

  /// reason(): why the iteration stopped: "converged", "the reference model fits already", "most steps", "no
  /// more directions". converged(): also whether φ_d can reach the target at all.
  const std::string& reason() const { return reason_; }
  bool converged() const { return converged_; }
  double beta() const { return s_.last.beta; }
  double largest_eigenvalue() const;  ///< largest eigenvalue of T, which is nearly that of K
  int steps() const { return static_cast<int>(s_.a.size()); }
  int inner_steps() const { return s_.inner_steps; }

  /// φ_d and φ_m for any β, without a product.
  Step at(double beta) const;
  /// The part of φ_d that further steps may still change, (b_{k+1} y_k)²: large if β is far below the β that
  /// reaches the target.
  double unsettled(double beta) const;
  /// The model at this β, computed with one product by Gᵀ.
  std::vector<double> model(double beta) const;

 private:
  std::vector<double> coefficients(double beta) const;
  double beta_for(double target, std::span<const double> beyond) const;
  bool begin(double target);
  void orthogonalise(std::span<double> u) const;

  Objective objective_;
  LanczosSettings settings_;
  LanczosState s_;
  double next_ = 0;  ///< b_{k+1}
  std::string reason_;
  bool converged_ = false;
};

class DenseDataSpace {
 public:
  /// Computes K by N products with each of Gᵀ, R⁻¹ and G. Throws Cancelled.
  explicit DenseDataSpace(const Objective& objective, double inner_tolerance = 1e-10,
                          Progress* progress = nullptr);

  /// Eigenvalues of K, descending; negative values are set to 0.
  const std::vector<double>& eigenvalues() const { return lambda_; }
  double phi_d(double beta) const;
  double phi_m(double beta) const;
  double degrees_of_freedom(double beta) const;
  double gcv(double beta) const;        ///< generalised cross-validation: N φ_d / (Σ_i β/(λ_i+β))²
  double curvature(double beta) const;  ///< curvature of the curve (ln φ_d, ln φ_m) at β
  std::vector<double> model(double beta) const;
  /// The β with φ_d(β) = target; 0 if there is none.
  double discrepancy(double target) const;
  double gcv_minimum() const;
  double l_curve_corner() const;
  /// Uncertainty and resolution of the model, [columns] each.
  struct Posterior {
    std::vector<double> deviation;   ///< standard deviation, for the probability density exp(−φ/2)
    std::vector<double> resolution;  ///< diagonal of the model resolution matrix
  };
  /// The deviations and resolution for this β; the uncertainty of β itself is ignored.
  Posterior posterior(double beta) const;

 private:
  template <class Function>
  double best(const Function& worse) const;

  Objective objective_;
  double inner_tolerance_;
  std::vector<double> lambda_, c_;  ///< [N] each: eigenvalues of K; c = Uᵀ r
  std::vector<double> u_;           ///< [N, N]: row i is the eigenvector of λ_i
};

}  // namespace terrane::inversion
