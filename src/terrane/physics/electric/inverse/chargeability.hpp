// Inversion of apparent chargeabilities for those of cells, in a medium of known resistivity:
//
//   m_a = −J m,   J = ∂ ln ρ_a/∂ ln σ        0 ≤ m < 1
//
// m_a, ρ_a: apparent chargeability and resistivity of each array; m, σ: chargeability and conductivity of
// each cell (Seigel 1959, Geophysics 24, 547–565; Oldenburg & Li 1994, Geophysics 59, 1327–1341).
//
// The problem is linear, an approximation that holds for chargeabilities below about 0.2. The entries of a
// row of −J add up to 1: over ground of uniform chargeability the apparent one equals it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "terrane/inversion/loop/problem.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::electric::inverse {

/// Default upper bound of chargeabilities, V/V.
inline constexpr double most_chargeability = 0.99;

/// Tolerance of a minimisation within bounds, where most cells lie on a bound: with 1e-3 the misfit would
/// depend on the starting model, so that the weight of regularisation could not be chosen by it.
inline constexpr double tolerance_of_charges = 1e-5;

/// The problem with its data, bounds from 0 to `most`, and active cells; its operator is set later. apparent,
/// sigma: [arrays] V/V; NaN: no datum.  Throws InputError: an apparent chargeability that is not below 1, a
/// `most` that is not between 0 and 1.
inversion::Problem problem_of_charges(TensorMesh mesh, std::vector<std::uint32_t> active,
                                      std::vector<double> apparent, std::vector<double> sigma,
                                      double most = most_chargeability);

/// −J on the active cells.  j: derivative of logarithms of apparent resistivities with respect to logarithms
/// of the conductivities of all cells
std::shared_ptr<const solve::LinearOperator> operator_of_charges(
    std::shared_ptr<const solve::LinearOperator> j, const std::vector<std::uint32_t>& active,
    std::size_t cells);

/// An operator whose datum, for every array, is the mean of m over all cells: equals −J m for a uniform m,
/// and is used before J is available.
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
