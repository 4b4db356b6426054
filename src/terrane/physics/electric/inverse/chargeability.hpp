// Chargeabilities of cells from apparent ones, in a medium whose resistivity is known:
//
//   m_a = −J m,   J = ∂ ln ρ_a/∂ ln σ        0 ≤ m < 1
//
// (Seigel 1959, Geophysics 24, 547–565; Oldenburg & Li 1994, Geophysics 59, 1327–1341). It is linear, and
// right for chargeabilities below about 0.2. The entries of a row of −J add up to 1: ground of one
// chargeability has this as apparent one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "terrane/inversion/loop/problem.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::electric::inverse {

/// Largest chargeability that is found where nothing else is asked for, V/V.
inline constexpr double most_chargeability = 0.99;

/// Of descents within bounds, on which most cells are: with 1e-3 the misfit depends on where a descent began,
/// and β is not found.
inline constexpr double tolerance_of_charges = 1e-5;

/// Data, bounds from 0 to `most`, cells that have ground; without its operator.  apparent, sigma [arrays]
/// V/V, NaN: none.  Throws InputError: an apparent chargeability that is not below 1, a `most` that is not
/// between 0 and 1.
inversion::Problem problem_of_charges(TensorMesh mesh, std::vector<std::uint32_t> active,
                                      std::vector<double> apparent, std::vector<double> sigma,
                                      double most = most_chargeability);

/// −J on the active cells.  j: of logarithms of apparent resistivities and of the conductivities of all cells
std::shared_ptr<const solve::LinearOperator> operator_of_charges(
    std::shared_ptr<const solve::LinearOperator> j, const std::vector<std::uint32_t>& active,
    std::size_t cells);

/// The mean of all cells for each datum: what −J makes of ground that is all alike, before J is there.
class MeanOfCells final : public solve::LinearOperator {
 public:
  MeanOfCells(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {}
  std::size_t rows() const override { return rows_; }
  std::size_t columns() const override { return columns_; }
  void apply(std::span<const double> model, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> model) const override;
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;
  void row(std::size_t i, std::span<double> out) const override;

 private:
  std::size_t rows_, columns_;
};

}  // namespace terrane::electric::inverse
