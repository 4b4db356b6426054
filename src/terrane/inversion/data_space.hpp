// Least squares in the space of the data, for all β at once.
//
//   K = W G R⁻¹ Gᵀ W  [N, N],  r = W (d − G m̃)
//   m(β) = m̃ + R⁻¹ Gᵀ W (K + β)⁻¹ r
//
// Lanczos: K is never formed. v₁ = r/‖r‖; a step applies Gᵀ, R⁻¹ and G once and orthogonalises twice against
// all vectors; after k steps K ≈ V T Vᵀ with a tridiagonal T, and for every β
//   y = (T + β)⁻¹ ‖r‖ e₁,  m = m̃ + R⁻¹ Gᵀ W V y,  φ_d = β²‖y‖² + (b_{k+1} y_k)²,  φ_m = yᵀ T y
// exactly, for that m: the misfit of a model is known before the model is made. 20 to 80 steps do for any
// mesh.
//
// Dense: K is formed and diagonalised, K = U Λ Uᵀ; then degrees of freedom, GCV, the L-curve and exact
// variances follow for any β. For up to a thousand data or so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/inversion/objective.hpp"
#include "terrane/solve/symmetric.hpp"

namespace terrane::inversion {

struct LanczosSettings {
  int most_steps = 500;
  double tolerance = 1e-3;        ///< of what φ_d may still move, relative to its target, and of β
  double inner_tolerance = 1e-6;  ///< of R⁻¹ where that is not exact
  double beta = 0;                ///< above 0: the β asked for, in place of that of the target
};

/// One value of β of all that were considered: before any model is made.
struct Step {
  int steps = 0;
  double beta = 0;
  double phi_d = 0;  ///< of the model at this β after so many steps
  double phi_m = 0;
};

class Lanczos {
 public:
  /// seen: called after every step with β for the target. Throws Cancelled.
  Lanczos(const Objective& objective, double target, const LanczosSettings& settings = {},
          const std::function<void(const Step&)>& seen = {}, Progress* progress = nullptr);

  /// Why it stopped: "converged", "the reference model fits already", "most steps", "no more directions", and
  /// whether φ_d can come down to the target at all.
  const std::string& reason() const { return reason_; }
  bool converged() const { return converged_; }
  double beta() const { return last_.beta; }
  double largest_eigenvalue() const;  ///< of T, and so nearly of K
  int steps() const { return static_cast<int>(a_.size()); }
  int inner_steps() const { return inner_steps_; }

  /// φ_d and φ_m for any β, without a product.
  Step at(double beta) const;
  /// What of that φ_d further steps will change, (b_{k+1} y_k)²: for β far below that of the target it is
  /// much.
  double unsettled(double beta) const;
  /// The model, with one product by Gᵀ.
  std::vector<double> model(double beta) const;

 private:
  std::vector<double> coefficients(double beta) const;
  double beta_for(double target) const;
  void multiply(std::span<const double> v, std::span<double> u);

  Objective objective_;
  LanczosSettings settings_;
  double length_ = 0, next_ = 0;        ///< ‖r‖, b_{k+1}
  std::vector<double> a_, b_;           ///< T: diagonal [k], beside [k − 1]
  std::vector<std::vector<double>> v_;  ///< [k][rows]
  Step last_;
  std::string reason_;
  bool converged_ = false;
  int inner_steps_ = 0;
};

class DenseDataSpace {
 public:
  /// N products by each of Gᵀ, R⁻¹ and G. Throws Cancelled.
  explicit DenseDataSpace(const Objective& objective, double inner_tolerance = 1e-10,
                          Progress* progress = nullptr);

  const std::vector<double>& eigenvalues() const { return lambda_; }  ///< descending, those below 0 as 0
  double phi_d(double beta) const;
  double phi_m(double beta) const;
  double degrees_of_freedom(double beta) const;
  double gcv(double beta) const;        ///< N φ_d / (Σ β/(λ+β))²
  double curvature(double beta) const;  ///< of (ln φ_d, ln φ_m)
  std::vector<double> model(double beta) const;
  /// φ_d(β) = target; nothing when no β has it.
  double discrepancy(double target) const;
  double gcv_minimum() const;
  double l_curve_corner() const;
  /// Of the posterior, φ read as −2 ln of its density, β as known: [columns]. Precondition: R⁻¹ is exact.
  std::vector<double> posterior_deviation(double beta) const;

 private:
  template <class Function>
  double best(const Function& worse) const;

  Objective objective_;
  double inner_tolerance_;
  std::vector<double> lambda_, c_;  ///< [N] c = Uᵀ r
  std::vector<double> u_;           ///< [N, N]: row i is the eigenvector of λ_i
};

}  // namespace terrane::inversion
