// Two models of one mesh that share their structure, by the cross-gradient (Gallardo & Meju 2003):
//
//   φ_c(m₁, m₂) = Σ_cells V |∇m₁ × ∇m₂|²
//
// is 0 where both change in the same direction, or one of them does not change. ∇ is of the differences
// towards the next cells east, north and up, over the distance of the centres; a difference across the edge
// of the active cells is 0. φ_c is a quadratic form of each model while the other stays:
//   φ_c = m₁ᵀ C(m₂) m₁ = m₂ᵀ C(m₁) m₂
// so each is found by least squares in turn, and C joins the regulariser.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane::inversion {

/// `factor` C(other): a quadratic form of a model.
class CrossGradient {
 public:
  /// active: cells of the mesh, ascending; empty: all · other: [active]
  CrossGradient(const TensorMesh& mesh, std::span<const std::uint32_t> active, std::span<const double> other,
                double factor = 1, int threads = 0);

  std::size_t size() const { return gradient_.size(); }
  /// out += factor C v.  [active] each
  void add_apply(std::span<const double> v, std::span<double> out) const;
  /// out += factor diag(C)
  void add_diagonal(std::span<double> out) const;
  /// factor vᵀ C v
  double value(std::span<const double> v) const;

 private:
  using Vector = std::array<double, 3>;
  static constexpr std::uint32_t nothing = 0xffffffff;
  /// ∇v in a cell.
  Vector gradient(std::span<const double> v, std::size_t c) const;
  /// V ∇v × a, turned by a: what a difference of v in the cell is multiplied with.
  Vector flux(std::span<const double> v, std::size_t c) const;

  double factor_;
  int threads_;
  std::vector<double> volume_;
  std::vector<std::array<std::uint32_t, 3>> next_, before_;  ///< active cells beside each; or nothing
  std::vector<Vector> per_distance_;                         ///< 1/δ towards the next; 0 where there is none
  std::vector<Vector> gradient_;                             ///< a = ∇other
};

/// To several other models.
using Couplings = std::vector<std::shared_ptr<const CrossGradient>>;

}  // namespace terrane::inversion
