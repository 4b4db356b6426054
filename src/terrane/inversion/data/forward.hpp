// Data that depend non-linearly on a model: F(m), and its derivative J = ∂F/∂m as an operator.
//
// In each cell the model may be a function of the physical property p. With p = e^m a resistivity stays above
// zero, and a factor of ten is as large a change of the model at 1 Ω·m as at 1000. Then ∂F/∂m = J_p
// diag(dp/dm).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::inversion {

/// F linearised about one model.
struct Linearised {
  std::vector<double> data;                               ///< F(m), [rows]
  std::shared_ptr<const solve::LinearOperator> jacobian;  ///< J = ∂F/∂m at m, [rows, columns]
  std::vector<std::string> warnings;  ///< warnings, for example of solves that did not converge
  /// If entries of J take solves of their own and are worth storing: computes them, adds warnings, and
  /// returns J with them in memory. To be called where J is needed, not for models of which only the data are
  /// needed.
  std::function<std::shared_ptr<const solve::LinearOperator>(std::vector<std::string>&, Progress*)> entries =
      {};

  /// Replaces `jacobian` by that with its entries in memory, if `entries` computes them.
  void store_entries(Progress* progress = nullptr);
};

class Forward {
 public:
  virtual ~Forward() = default;
  virtual std::size_t rows() const = 0;
  virtual std::size_t columns() const = 0;
  /// F and J at a model, with the same bits on any number of threads; J is null if the model is beyond the
  /// bounds that the physics allows. Throws InputError, MemoryError, Cancelled.
  virtual Linearised at(std::span<const double> model, Progress* progress = nullptr) const = 0;
};

/// The operator J diag(slope), restricted to some columns of J.
class Chained final : public solve::LinearOperator {
 public:
  /// columns: indices of columns of J, ascending; empty: all. slope: the factor of each of these columns, for
  /// example dp/dm
  Chained(std::shared_ptr<const solve::LinearOperator> jacobian, std::vector<std::uint32_t> columns,
          std::vector<double> slope);
  std::size_t rows() const override { return jacobian_->rows(); }
  std::size_t columns() const override { return slope_.size(); }
  void apply(std::span<const double> model, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> model) const override;
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;
  bool has_quick_diagonal() const override { return jacobian_->has_quick_diagonal(); }
  void row(std::size_t i, std::span<double> out) const override;

 private:
  std::size_t place(std::size_t c) const { return columns_.empty() ? c : columns_[c]; }
  void gather(std::span<const double> whole, std::span<double> out) const;

  std::shared_ptr<const solve::LinearOperator> jacobian_;
  std::vector<std::uint32_t> columns_;
  std::vector<double> slope_;
};

/// F as a function of m = ln p, p the physical property: F(e^m) with the derivative J diag(p). p below 1e-30
/// or above 1e30 is out of bounds.
class LogarithmForward final : public Forward {
 public:
  explicit LogarithmForward(std::shared_ptr<const Forward> physics) : physics_(std::move(physics)) {}
  std::size_t rows() const override { return physics_->rows(); }
  std::size_t columns() const override { return physics_->columns(); }
  Linearised at(std::span<const double> model, Progress* progress = nullptr) const override;

 private:
  std::shared_ptr<const Forward> physics_;
};

/// The operator g with all entries in memory, which are computed by a product with the transpose for each
/// row: worthwhile for a few hundred data and many products.
std::shared_ptr<const solve::LinearOperator> in_memory(const solve::LinearOperator& g, int threads);
/// The operator that has these entries, [rows, columns].
std::shared_ptr<const solve::LinearOperator> in_memory(std::size_t rows, std::size_t columns,
                                                       std::vector<double> entries, int threads);

}  // namespace terrane::inversion
