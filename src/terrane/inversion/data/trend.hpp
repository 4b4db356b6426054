// A regional field in addition to the field G m of the model m: data d = G m + T c, with polynomials T of the
// station coordinates and unknown coefficients c. W = diag(1/σ), σ: the data's standard deviations.
//
// For any m the best c is found by least squares, so that φ_d(m) = min_c ‖W(G m + T c − d)‖². With the
// columns p_k of P, obtained by orthonormalising T with respect to the product Σ p q/σ², this is
//   φ_d(m) = ‖W Q (G m − d)‖²,  Q = I − P PᵀW²
// This is an inversion with the operator Q G and the data Q d. A trend that is removed from the data before
// an inversion would also remove part of the field of the bodies; a trend fitted together with the model does
// not. But the model explains no part of the field that a trend can explain.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "terrane/inversion/data/data_set.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::inversion {

enum class Trend { none, constant, plane, quadratic };

/// The matrix P of trends (see the head of this file), with separate columns for each set of data. Columns
/// that are linearly dependent at the stations (for example if all are on a line) are omitted.
class Trends {
 public:
  /// easting, northing [stations]: row n of each set belongs to station n · weight [rows] 1/σ; 0: datum not
  /// used
  Trends(Trend trend, std::span<const DataSet> sets, std::span<const double> easting,
         std::span<const double> northing, std::span<const double> weight);

  std::size_t columns() const { return all_.size(); }
  /// P PᵀW² r: the trend that fits r [rows] best, evaluated also at stations without a datum.
  std::vector<double> nearest(std::span<const double> r) const;
  /// d ← Q d: removes the trend that fits d best.
  void remove(std::span<double> d) const;
  /// w ← Qᵀ w: applies the transpose of remove().
  void remove_transposed(std::span<double> w) const;
  /// Column k of W²P, [rows].
  std::vector<double> weighted_column(std::size_t k) const;

 private:
  struct Column {
    std::size_t first;
    std::vector<double> value;  ///< [rows of the data set] values of the column
  };
  std::vector<double> squares_;  ///< W² = 1/σ², [rows]
  std::vector<Column> all_;
};

/// The operator Q G, which replaces G if a trend is fitted together with the model.
class Detrended final : public solve::LinearOperator {
 public:
  Detrended(std::shared_ptr<const solve::LinearOperator> g, Trends trends)
      : g_(std::move(g)), trends_(std::move(trends)) {}
  std::size_t rows() const override { return g_->rows(); }
  std::size_t columns() const override { return g_->columns(); }
  void apply(std::span<const double> model, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> model) const override;
  /// Precondition: weight is the W² with which the trends were made.
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;

 private:
  std::shared_ptr<const solve::LinearOperator> g_;
  Trends trends_;
};

}  // namespace terrane::inversion
