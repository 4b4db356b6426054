// Least squares in model space, at one β: by conjugate gradients, and with bounds by GPCG.
//
//   min q(m) = ½ mᵀA m − bᵀm,  l ≤ m ≤ u
//
// A, b: the normal equations (objective.hpp); l, u: the bounds; g_P: the projected gradient of q. The method
// is that of Moré & Toraldo (1991), with the metric D = 1/diag(A); it is diagonal because with any other
// metric a projected step need not decrease q:
//   1. at most 10 gradient projections: the direction is −D g_P; the step of steepest descent is halved until
//      the projected point decreases q enough; ends when the set of cells on bounds is constant, or q hardly
//      decreases
//   2. conjugate gradients on the free cells (those not on a bound), until a step hardly decreases q; then a
//      projected line search along the sum of these steps; phase 2 is repeated with a smaller tolerance if
//      the whole sum was possible and no cell on a bound can lower q by leaving it
// Both phases are repeated until the projected gradient has fallen by `tolerance`. Each step of the conjugate
// gradients takes a product with G, and so does each projection that changes the direction of a step.
//
// If the model is a vector in each cell, the bound may be one of its length, |m_c| ≤ L_c. P shortens vectors
// that are too long, and D has one number for each cell, so that a projected step still decreases q. A cell
// on its bound moves in the tangent plane of the sphere, in which the curvature of the sphere adds
//   λ_c = max(0, −g_c·m_c)/L_c²
// to A, the multiplier of the bound divided by L (g: the gradient of q). A cell leaves its bound if g_c·m_c >
// 0 (Dostál & Kozubek 2012 for separable convex bounds).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/inversion/least_squares/objective.hpp"

namespace terrane::inversion {

struct Bounds {
  std::vector<double> lower, upper;  ///< [columns] each; empty: no bounds
  /// [cells] the largest length of the vector of each cell; empty: none. lower and upper are then empty.
  std::vector<double> length = {};
  bool any() const { return !lower.empty() || !length.empty(); }
  /// Moves a model to the nearest one within the bounds; returns whether it was outside.
  bool clip(std::span<double> model) const;
  /// The number of values, or of vectors, that lie on a bound.
  std::size_t count_on(std::span<const double> model) const;
  /// Whether the vector of a cell is as long as allowed. The bound must be one of lengths.
  bool is_longest(std::span<const double> model, std::size_t cell) const;
};

struct Descent {
  int products = 0;     ///< number of products with G, plus number of products with Gᵀ
  double began = 0;     ///< scaled norm of the projected gradient, √(g_Pᵀ D g_P), at the start
  double gradient = 0;  ///< scaled norm of the projected gradient at the end
  double phi_d = 0;
  bool converged = false;
  std::size_t on_bounds = 0;
};

/// Moves `model` to the minimum within bounds, until the norm of the projected gradient has fallen by the
/// factor `tolerance`, or to `least`.
Descent minimise_within(NormalEquations& equations, const Bounds& bounds, std::span<double> model,
                        double tolerance, double least = 0, int most_products = 2000,
                        Progress* progress = nullptr);

/// Without bounds: solves A m = b by conjugate gradients from `model`, preconditioned with the diagonal or
/// the fast inverse of R, until the preconditioned norm of the residual has fallen by the factor `tolerance`.
/// A slow alternative to the data-space solvers, for comparison.
Descent minimise(NormalEquations& equations, std::span<double> model, double tolerance, bool fast_inverse,
                 int most_products = 5000, Progress* progress = nullptr);

}  // namespace terrane::inversion
