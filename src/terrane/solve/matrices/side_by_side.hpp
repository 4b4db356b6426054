// Operators side by side: G = [G₁ G₂ …], for a model that has the models of all of them, one after the other.
#pragma once

#include <memory>
#include <vector>

#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::solve {

class SideBySide final : public LinearOperator {
 public:
  /// parts: at least one, all with the same rows. Throws ShapeError.
  explicit SideBySide(std::vector<std::shared_ptr<const LinearOperator>> parts);
  std::size_t rows() const override { return parts_.front()->rows(); }
  std::size_t columns() const override;
  void apply(std::span<const double> model, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> model) const override;
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;
  bool has_quick_diagonal() const override;
  void row(std::size_t i, std::span<double> out) const override;

 private:
  std::vector<std::shared_ptr<const LinearOperator>> parts_;
};

}  // namespace terrane::solve
