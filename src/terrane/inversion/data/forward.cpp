#include "terrane/inversion/data/forward.hpp"

#include <cmath>
#include <limits>

#include "terrane/solve/matrices/chunked.hpp"

namespace terrane::inversion {

Chained::Chained(std::shared_ptr<const solve::LinearOperator> jacobian, std::vector<std::uint32_t> columns,
                 std::vector<double> slope)
    : jacobian_(std::move(jacobian)), columns_(std::move(columns)), slope_(std::move(slope)) {}

void Chained::gather(std::span<const double> whole, std::span<double> out) const {
  for (std::size_t c = 0; c < slope_.size(); ++c) out[c] = slope_[c] * whole[place(c)];
}

void Chained::apply(std::span<const double> model, std::span<double> data) const {
  solve::expect_shapes(*this, model.size(), data.size());
  std::vector<double> whole(jacobian_->columns());
  for (std::size_t c = 0; c < slope_.size(); ++c) whole[place(c)] = slope_[c] * model[c];
  jacobian_->apply(whole, data);
}

void Chained::apply_transpose(std::span<const double> data, std::span<double> model) const {
  solve::expect_shapes(*this, model.size(), data.size());
  std::vector<double> whole(jacobian_->columns());
  jacobian_->apply_transpose(data, whole);
  gather(whole, model);
}

void Chained::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  solve::expect_shapes(*this, diagonal.size(), weight.size());
  std::vector<double> whole(jacobian_->columns());
  jacobian_->weighted_diagonal(weight, whole);
  gather(whole, diagonal);
  for (std::size_t c = 0; c < slope_.size(); ++c) diagonal[c] *= slope_[c];
}

void Chained::row(std::size_t i, std::span<double> out) const {
  solve::expect_shapes(*this, out.size(), rows());
  std::vector<double> whole(jacobian_->columns());
  jacobian_->row(i, whole);
  gather(whole, out);
}

void Linearised::store_entries(Progress* progress) {
  if (!entries) return;
  jacobian = entries(warnings, progress);
  entries = {};
}

Linearised LogarithmForward::at(std::span<const double> model, Progress* progress) const {
  std::vector<double> property(model.begin(), model.end());
  for (double& p : property) {
    p = std::exp(p);
    if (!(p > 1e-30 && p < 1e30))
      return {std::vector<double>(rows(), std::numeric_limits<double>::quiet_NaN()), nullptr, {}};
  }
  auto made = physics_->at(property, progress);
  if (!made.jacobian) return made;
  const auto chained = [property](std::shared_ptr<const solve::LinearOperator> jacobian) {
    return std::make_shared<Chained>(std::move(jacobian), std::vector<std::uint32_t>{}, property);
  };
  made.jacobian = chained(std::move(made.jacobian));
  if (made.entries)
    made.entries = [chained, entries = std::move(made.entries)](std::vector<std::string>& warnings,
                                                                Progress* p) {
      return chained(entries(warnings, p));
    };
  return made;
}

namespace {

/// Entries of an operator, stored row by row in memory and returned by columns.
class KeptRows final : public solve::ColumnSource {
 public:
  KeptRows(std::size_t rows, std::size_t columns, std::vector<double> entries)
      : rows_(rows), columns_(columns), entries_(std::move(entries)) {}
  std::size_t rows() const override { return rows_; }
  std::size_t columns() const override { return columns_; }
  void make(std::size_t first, std::size_t last, std::span<double> out) const override {
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t c = first; c < last; ++c)
        out[i * (last - first) + c - first] = entries_[i * columns_ + c];
  }

 private:
  std::size_t rows_, columns_;
  std::vector<double> entries_;
};

}  // namespace

std::shared_ptr<const solve::LinearOperator> in_memory(const solve::LinearOperator& g, int threads) {
  const std::size_t columns = g.columns();
  std::vector<double> entries(g.rows() * columns);
  for (std::size_t i = 0; i < g.rows(); ++i)
    g.row(i, std::span<double>(entries).subspan(i * columns, columns));
  return in_memory(g.rows(), columns, std::move(entries), threads);
}

std::shared_ptr<const solve::LinearOperator> in_memory(std::size_t rows, std::size_t columns,
                                                       std::vector<double> entries, int threads) {
  return std::make_shared<solve::DenseOperator<double>>(KeptRows(rows, columns, std::move(entries)), threads);
}

}  // namespace terrane::inversion
