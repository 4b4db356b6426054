// Least squares in model space, at one β: by conjugate gradients, and with bounds by GPCG.
//
//   min q(m) = ½ mᵀA m − bᵀm,  l ≤ m ≤ u
//
// Moré & Toraldo (1991), with the metric 1/diag(A), which is diagonal because a projected step in any other
// need not descend:
//   1. gradient projection, at most 10 times: dir = −D g_P, the step of steepest descent, halved until the
//   projected
//      point has descended enough; until the set of cells on bounds stays, or little is gained
//   2. conjugate gradients on the free cells, until one step gains little; a projected search along what they
//   found;
//      when every bound cell is where it should be and the search took the whole step: 2 again, more exactly
// until the projected gradient has fallen by `tolerance`. A product with G is spent where a projection bent a
// step, and for each step of the conjugate gradients.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/inversion/least_squares/objective.hpp"

namespace terrane::inversion {

struct Bounds {
  std::vector<double> lower, upper;  ///< [columns] each, or empty: none
  bool any() const { return !lower.empty(); }
  void clip(std::span<double> model) const;
};

struct Descent {
  int products = 0;     ///< number of products with G, and of those with Gᵀ
  double began = 0;     ///< the scaled norm of the gradient, √(g_Pᵀ D g_P), at the start
  double gradient = 0;  ///< and at the end
  double phi_d = 0;
  bool converged = false;
  std::size_t on_bounds = 0;
};

/// Moves `model` to the minimum within bounds, until the projected gradient has fallen by `tolerance`, or to
/// `least`.
Descent minimise_within(NormalEquations& equations, const Bounds& bounds, std::span<double> model,
                        double tolerance, double least = 0, int most_products = 2000,
                        Progress* progress = nullptr);

/// Without bounds: solves A m = b by conjugate gradients from `model`, preconditioned with the diagonal or
/// the fast inverse of R, until √(rᵀM⁻¹r) has fallen by `tolerance`. A slow alternative to the data-space
/// solvers, for comparison.
Descent minimise(NormalEquations& equations, std::span<double> model, double tolerance, bool fast_inverse,
                 int most_products = 5000, Progress* progress = nullptr);

}  // namespace terrane::inversion
