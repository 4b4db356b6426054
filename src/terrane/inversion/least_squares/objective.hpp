// The least-squares problem that every solver of this component solves:
//
//   φ(m) = φ_d + β φ_m,   φ_d = ‖W (G m − d)‖²,  W = diag(1/σ),   φ_m = (m − m̃)ᵀ R (m − m̃)
//
// m: model, m̃: reference model, d: data, σ: their standard deviations, R: regulariser.hpp. φ has no factor ½.
// The target of φ_d is χ N for N data and a given χ (with noise of standard deviation σ, φ_d ≈ N). A
// datum with weight 0 is not used.
#pragma once

#include <span>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/inversion/model/regulariser.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::inversion {

/// To be called between products: shows progress. Throws Cancelled.
void go_on(Progress* progress);

struct Objective {
  const solve::LinearOperator* g = nullptr;
  std::span<const double> data;    ///< [rows]
  std::span<const double> weight;  ///< [rows] 1/σ; 0: datum not used
  const Regulariser* regulariser = nullptr;
  std::span<const double> centre;  ///< [columns] m̃: the reference model or centre_of() (problem.hpp)

  std::size_t used() const;  ///< number of data whose weight is not 0
  int threads() const { return regulariser->threads(); }
  /// The weighted residual W (d − G m) of a model, computed with one product.
  std::vector<double> weighted_residual(std::span<const double> model) const;
  double phi_d(std::span<const double> model) const;
};

/// The normal equations A m = b for the minimum of φ: A = GᵀW²G + βR and b = GᵀW²d + βR m̃. Counts products
/// with G and Gᵀ.
class NormalEquations {
 public:
  explicit NormalEquations(const Objective& objective);

  void set_beta(double beta);
  double beta() const { return beta_; }
  std::size_t size() const { return objective_.g->columns(); }
  /// out = A v; weighted = W G v, by which φ_d can be updated without further products.  weighted: [rows]
  void apply(std::span<const double> v, std::span<double> out, std::span<double> weighted) const;
  const std::vector<double>& right_side() const { return b_; }
  /// The diagonal of A: diag(GᵀW²G) + β diag(R).
  const std::vector<double>& diagonal() const { return diagonal_; }
  int products() const { return products_; }
  const Objective& objective() const { return objective_; }

 private:
  const Objective objective_;
  double beta_ = 0;
  std::vector<double> squares_, data_part_, r_centre_, r_diagonal_, g_diagonal_, b_, diagonal_;
  mutable std::vector<double> data_;
  mutable int products_ = 0;
};

}  // namespace terrane::inversion
