// Data that are no linear function of a model: F(m), and its derivative J = ∂F/∂m as an operator.
//
// A model may be a function of what the physics knows, cell by cell: p = e^m keeps a resistivity above zero
// and makes a factor of ten as large a change below 1 Ω·m as above 1000. Then ∂F/∂m = J_p diag(dp/dm).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::inversion {

/// F near one model.
struct Linearised {
  std::vector<double> data;                               ///< F(m), [rows]
  std::shared_ptr<const solve::LinearOperator> jacobian;  ///< J at m, [rows, columns]
  std::vector<std::string> warnings;  ///< of the computation, as of solves that did not converge
};

class Forward {
 public:
  virtual ~Forward() = default;
  virtual std::size_t rows() const = 0;
  virtual std::size_t columns() const = 0;
  /// F and J at a model, with the same bits on any number of threads; J is null where the model is beyond all
  /// bounds. Throws InputError, MemoryError, Cancelled.
  virtual Linearised at(std::span<const double> model, Progress* progress = nullptr) const = 0;
};

/// J diag(slope), for some of J's columns.
class Chained final : public solve::LinearOperator {
 public:
  /// columns: of J, ascending; empty: all · slope: [those]
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

/// For physics whose property is p = e^m, m the model: F(e^m), J diag(p). p beyond 1e±30 is out of bounds.
class LogarithmForward final : public Forward {
 public:
  explicit LogarithmForward(std::shared_ptr<const Forward> physics) : physics_(std::move(physics)) {}
  std::size_t rows() const override { return physics_->rows(); }
  std::size_t columns() const override { return physics_->columns(); }
  Linearised at(std::span<const double> model, Progress* progress = nullptr) const override;

 private:
  std::shared_ptr<const Forward> physics_;
};

/// All entries of an operator in memory, made by a product with its transpose for each row: worth it for some
/// hundred data, when there are many products.
std::shared_ptr<const solve::LinearOperator> in_memory(const solve::LinearOperator& g, int threads);
/// The operator that has these entries, [rows, columns].
std::shared_ptr<const solve::LinearOperator> in_memory(std::size_t rows, std::size_t columns,
                                                       std::vector<double> entries, int threads);

}  // namespace terrane::inversion
