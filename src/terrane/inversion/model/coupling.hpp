// Couplings of a model to another on the same mesh: each is a quadratic form of one model while the other is
// held.
//
// Structure, by the cross-gradient (Gallardo & Meju 2003):
//
//   φ_c(m₁, m₂) = Σ_cells V |∇m₁ × ∇m₂|²
//
// is 0 where both change in the same direction, or one of them does not change. A cell has a difference over
// the distance of the centres towards each of its neighbours; at the edge of the active cells, where one is
// missing, that towards the other one along the axis stands in for it. |∇m₁ × ∇m₂|² is the mean of what its
// corners have, with the three differences towards each: the same for models seen in a mirror, right where
// both are linear, and with no model that changes from cell to cell and has none. φ_c is a quadratic form of
// each model while the other stays:
//   φ_c = m₁ᵀ C(m₂) m₁ = m₂ᵀ C(m₁) m₂
// so each is found by least squares in turn, and C joins the regulariser.
//
// Rocks: cells are mixtures of two of them, A and B, whose properties are known, so that all models tell the
// same share of B:
//
//   φ_r(m₁, m₂) = Σ_cells V (s₁ − s₂)²,   s = (m − m_A) / (m_B − m_A)
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane::inversion {

/// The quadratic form vᵀ C v − 2 vᵀ c + a constant, times a factor that it was made with.
class Coupling {
 public:
  virtual ~Coupling() = default;
  virtual std::size_t size() const = 0;
  /// out += C v.  [active] each
  virtual void add_apply(std::span<const double> v, std::span<double> out) const = 0;
  /// out += diag(C)
  virtual void add_diagonal(std::span<double> out) const = 0;
  /// out += c
  virtual void add_centre(std::span<double> out) const = 0;
  /// The form's value with the constant: 0 at best.
  virtual double value(std::span<const double> v) const = 0;
};

/// `factor` C(other); c = 0.
class CrossGradient final : public Coupling {
 public:
  /// active: cells of the mesh, ascending; empty: all · other: [active]
  CrossGradient(const TensorMesh& mesh, std::span<const std::uint32_t> active, std::span<const double> other,
                double factor = 1, int threads = 0);

  std::size_t size() const override { return other_.size(); }
  void add_apply(std::span<const double> v, std::span<double> out) const override;
  void add_diagonal(std::span<double> out) const override;
  void add_centre(std::span<double>) const override {}
  double value(std::span<const double> v) const override;

 private:
  using Vector = std::array<double, 3>;
  static constexpr std::uint32_t nothing = 0xffffffff;
  /// Differences of a cell along each axis, towards the cell before it and towards the next.
  struct Sides {
    std::array<std::array<double, 2>, 3> along{};
  };
  double towards_next(std::span<const double> v, std::size_t c, std::size_t axis) const;
  /// difference(cell, axis): towards the next cell
  template <class Difference>
  Sides sides(std::size_t c, const Difference& difference) const;
  Sides sides_of_other(std::size_t c) const;
  /// V |g × a|² of a cell, the mean of its corners, times the factor.
  double form(const Sides& g, std::size_t c) const;
  /// Half its derivative by the differences g.
  Sides flux(const Sides& g, std::size_t c) const;

  double factor_;
  int threads_;
  std::vector<double> volume_;
  std::vector<std::array<std::uint32_t, 3>> next_, before_;  ///< active cells beside each; or `nothing`
  std::vector<Vector> per_distance_;  ///< 1/distance to the next cell along each axis; 0 where there is none
  std::vector<Vector> other_;         ///< differences of the other model to the next cell along each axis
};

/// The values of a model's property in the two rocks.
struct TwoRocks {
  double first = 0, second = 1;

  double share(double m) const { return (m - first) / (second - first); }
  double mixed(double share) const { return first + share * (second - first); }
};

/// `factor` φ_r as a form of one model, while the other one's shares are held.
class SharedMixture final : public Coupling {
 public:
  /// active: cells of the mesh, ascending; empty: all · other: [active] · of_other: the rocks of that model
  SharedMixture(const TensorMesh& mesh, std::span<const std::uint32_t> active, const TwoRocks& rocks,
                std::span<const double> other, const TwoRocks& of_other, double factor = 1);

  std::size_t size() const override { return aim_.size(); }
  void add_apply(std::span<const double> v, std::span<double> out) const override;
  void add_diagonal(std::span<double> out) const override;
  void add_centre(std::span<double> out) const override;
  double value(std::span<const double> v) const override;

 private:
  std::vector<double> weight_;  ///< factor V / (m_B − m_A)²
  std::vector<double> aim_;     ///< the value for each cell that gives the other model's share
};

/// Couplings to several other models.
using Couplings = std::vector<std::shared_ptr<const Coupling>>;

}  // namespace terrane::inversion
