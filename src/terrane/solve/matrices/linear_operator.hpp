// A linear operator, independent of physics: data d = G m, and other products that an inversion needs.
//
//   d = G m          m [columns], d [rows]
//   m = Gᵀ d         exactly the transpose: ⟨G m, d⟩ = ⟨m, Gᵀ d⟩ to rounding
//   s = diag(Gᵀ W G) s_j = Σ_i w_i G_ij²
//
// The bits of a product depend on the operator and the vector alone, never on the number of threads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace terrane::solve {

class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  virtual std::size_t rows() const = 0;
  virtual std::size_t columns() const = 0;
  /// d = G m.  model [columns]; data [rows], overwritten.  All members throw ShapeError.
  virtual void apply(std::span<const double> model, std::span<double> data) const = 0;
  /// m = Gᵀ d.  data [rows]; model [columns], overwritten
  virtual void apply_transpose(std::span<const double> data, std::span<double> model) const = 0;
  /// s_j = Σ_i w_i G_ij².  weight [rows], ≥ 0 · diagonal [columns], overwritten
  virtual void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const = 0;
  /// Whether weighted_diagonal() is exact and costs no more than a few products.
  virtual bool has_quick_diagonal() const { return true; }
  /// Row i of G: Gᵀ e_i.  out [columns]
  virtual void row(std::size_t i, std::span<double> out) const;
};

/// |⟨G m, d⟩ − ⟨m, Gᵀ d⟩| / (‖G m‖ ‖d‖) for one model and one set of data: not relative to ⟨G m, d⟩, which
/// may vanish.
double dot_product_test(const LinearOperator& g, std::span<const double> model, std::span<const double> data);

/// Throws ShapeError unless the lengths of model and data match the operator.
void expect_shapes(const LinearOperator& g, std::size_t model, std::size_t data);

/// Σ a_i b_i, in pieces of 4096 that are added in a binary tree: the same bits for any number of threads.
double dot(std::span<const double> a, std::span<const double> b, int threads = 1);
double norm(std::span<const double> a, int threads = 1);

}  // namespace terrane::solve
