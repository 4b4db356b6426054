// Couplings of a model to another on the same mesh: each is a quadratic form in one model while the other is
// constant.
//
// Similar structure, measured by the cross-gradient (Gallardo & Meju 2003):
//
//   φ_c(m₁, m₂) = Σ_cells V |∇m₁ × ∇m₂|²
//
// (V: volume of the cell) is 0 in cells in which both models change in the same direction, or one of them
// does not change. Along each axis a cell has two differences, to the previous and to the next cell, divided
// by the distance of the centres; if one of these cells is not active, the other difference is used twice.
// |∇m₁ × ∇m₂|² is the mean over the cell's corners, each with the three differences towards it. It is
// symmetric under reflection, exact for linear models, and not zero for models that alternate from cell to
// cell. φ_c is a quadratic form in each model while the other is constant:
//   φ_c = m₁ᵀ C(m₂) m₁ = m₂ᵀ C(m₁) m₂
// so models are computed alternately by least squares, and C is added to the regulariser.
//
// Common rocks: cells are mixtures of two rocks A and B with known properties, so that all models must give
// the same fraction s of B:
//
//   φ_r(m₁, m₂) = Σ_cells V (s₁ − s₂)²,   s = (m − m_A) / (m_B − m_A)
//
// m_A, m_B: the values of the model's property in rock A and in rock B.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane::inversion {

/// The quadratic form vᵀ C v − 2 vᵀ c + constant of a model v. C, c and the constant include a factor that
/// the constructor of the derived class gets.
class Coupling {
 public:
  virtual ~Coupling() = default;
  virtual std::size_t size() const = 0;
  /// Adds C v to out. [active] each
  virtual void add_apply(std::span<const double> v, std::span<double> out) const = 0;
  /// Adds the diagonal of the coupling's matrix C to out.
  virtual void add_diagonal(std::span<double> out) const = 0;
  /// Adds c to out.
  virtual void add_centre(std::span<double> out) const = 0;
  /// The value of the form including the constant; its minimum is 0.
  virtual double value(std::span<const double> v) const = 0;
};

/// The cross-gradient as a coupling: C = factor · C(m₂), m₂ = other, and c = 0.
class CrossGradient final : public Coupling {
 public:
  /// active: cells of the mesh, ascending; empty: all; other: [active]
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
  /// Differences of a cell along each axis, [0] to the previous cell and [1] to the next, divided by the
  /// distance.
  struct Sides {
    std::array<std::array<double, 2>, 3> along{};
  };
  double towards_next(std::span<const double> v, std::size_t c, std::size_t axis) const;
  /// difference(cell, axis): the difference from the cell to the next one along the axis
  template <class Difference>
  Sides sides(std::size_t c, const Difference& difference) const;
  Sides sides_of_other(std::size_t c) const;
  /// factor · V |g × a|² of cell c, mean over its corners; g, a: differences of this and of the other model.
  double form(const Sides& g, std::size_t c) const;
  /// Half the derivative of form() with respect to the differences g.
  Sides flux(const Sides& g, std::size_t c) const;

  double factor_;
  int threads_;
  std::vector<double> volume_;
  std::vector<std::array<std::uint32_t, 3>> next_,
      before_;                        ///< indices of the adjacent active cells along each axis, or `nothing`
  std::vector<Vector> per_distance_;  ///< 1/distance to the next cell along each axis; 0: no such cell
  std::vector<Vector> other_;         ///< differences of the other model to the next cell along each axis
};

/// The values of a model's property in the two rocks.
struct TwoRocks {
  double first = 0, second = 1;

  double share(double m) const { return (m - first) / (second - first); }
  double mixed(double share) const { return first + share * (second - first); }
};

/// factor · φ_r as a form in one model, with constant fractions s of the other.
class SharedMixture final : public Coupling {
 public:
  /// active: cells of the mesh, ascending; empty: all; other: [active], the other model; of_other: its
  /// rocks
  SharedMixture(const TensorMesh& mesh, std::span<const std::uint32_t> active, const TwoRocks& rocks,
                std::span<const double> other, const TwoRocks& of_other, double factor = 1);

  std::size_t size() const override { return aim_.size(); }
  void add_apply(std::span<const double> v, std::span<double> out) const override;
  void add_diagonal(std::span<double> out) const override;
  void add_centre(std::span<double> out) const override;
  double value(std::span<const double> v) const override;

 private:
  std::vector<double> weight_;  ///< factor V / (m_B − m_A)²
  std::vector<double>
      aim_;  ///< [active] the value in each cell with which this model has the same s as the other model
};

/// Couplings to several other models.
using Couplings = std::vector<std::shared_ptr<const Coupling>>;

}  // namespace terrane::inversion
