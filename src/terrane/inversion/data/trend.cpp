#include "terrane/inversion/data/trend.hpp"

#include <algorithm>
#include <cmath>

namespace terrane::inversion {

namespace {

/// Maps x linearly so that its minimum becomes −1 and its maximum 1.
std::vector<double> scaled(std::span<const double> x) {
  const auto [least, most] = std::minmax_element(x.begin(), x.end());
  const double middle = 0.5 * (*least + *most), half = 0.5 * (*most - *least);
  std::vector<double> made;
  for (const double value : x) made.push_back(half > 0 ? (value - middle) / half : 0);
  return made;
}

}  // namespace

Trends::Trends(Trend trend, std::span<const DataSet> sets, std::span<const double> easting,
               std::span<const double> northing, std::span<const double> weight)
    : squares_(weight.begin(), weight.end()) {
  for (double& w : squares_) w *= w;
  if (trend == Trend::none || easting.empty()) return;
  const auto x = scaled(easting), y = scaled(northing);
  const int degree = trend == Trend::constant ? 0 : trend == Trend::plane ? 1 : 2;
  for (const auto& set : sets) {
    const auto product = [&](const std::vector<double>& a, const std::vector<double>& b) {
      double sum = 0;
      for (std::size_t i = 0; i < set.count; ++i) sum += squares_[set.first + i] * a[i] * b[i];
      return sum;
    };
    const std::size_t first_of_set = all_.size();
    for (int power = 0; power <= degree; ++power)
      for (int of_y = 0; of_y <= power; ++of_y) {
        std::vector<double> p(set.count);
        for (std::size_t i = 0; i < set.count; ++i)
          p[i] = std::pow(x[i], power - of_y) * std::pow(y[i], of_y);
        const double before = product(p, p);
        for (int twice = 0; twice < 2; ++twice)
          for (std::size_t k = first_of_set; k < all_.size(); ++k) {
            const double along = product(all_[k].value, p);
            for (std::size_t i = 0; i < set.count; ++i) p[i] -= along * all_[k].value[i];
          }
        const double left = product(p, p);
        if (!(left > 1e-16 * before)) continue;
        for (double& value : p) value /= std::sqrt(left);
        all_.push_back({set.first, std::move(p)});
      }
  }
}

std::vector<double> Trends::nearest(std::span<const double> r) const {
  std::vector<double> sum(r.size());
  for (const auto& p : all_) {
    double along = 0;
    for (std::size_t i = 0; i < p.value.size(); ++i)
      if (squares_[p.first + i] > 0) along += squares_[p.first + i] * p.value[i] * r[p.first + i];
    for (std::size_t i = 0; i < p.value.size(); ++i) sum[p.first + i] += along * p.value[i];
  }
  return sum;
}

void Trends::remove(std::span<double> d) const {
  const auto trend = nearest(d);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] -= trend[i];
}

void Trends::remove_transposed(std::span<double> w) const {
  std::vector<double> sum(w.size());
  for (const auto& p : all_) {
    double along = 0;
    for (std::size_t i = 0; i < p.value.size(); ++i) along += p.value[i] * w[p.first + i];
    for (std::size_t i = 0; i < p.value.size(); ++i) sum[p.first + i] += along * p.value[i];
  }
  for (std::size_t i = 0; i < w.size(); ++i) w[i] -= squares_[i] * sum[i];
}

std::vector<double> Trends::weighted_column(std::size_t k) const {
  std::vector<double> column(squares_.size());
  const auto& p = all_[k];
  for (std::size_t i = 0; i < p.value.size(); ++i) column[p.first + i] = squares_[p.first + i] * p.value[i];
  return column;
}

void Detrended::apply(std::span<const double> model, std::span<double> data) const {
  g_->apply(model, data);
  trends_.remove(data);
}

void Detrended::apply_transpose(std::span<const double> data, std::span<double> model) const {
  solve::expect_shapes(*this, model.size(), data.size());
  std::vector<double> rest(data.begin(), data.end());
  trends_.remove_transposed(rest);
  g_->apply_transpose(rest, model);
}

/// diag(GᵀQᵀW²QG) = diag(GᵀW²G) − Σ_k (GᵀW²p_k)², p_k the columns of P (trend.hpp)
void Detrended::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  g_->weighted_diagonal(weight, diagonal);
  std::vector<double> seen(columns());
  for (std::size_t k = 0; k < trends_.columns(); ++k) {
    g_->apply_transpose(trends_.weighted_column(k), seen);
    for (std::size_t c = 0; c < seen.size(); ++c) diagonal[c] -= seen[c] * seen[c];
  }
  // If the trend explains the field of a cell completely, only rounding errors are left, which may be
  // negative.
  for (std::size_t c = 0; c < seen.size(); ++c) diagonal[c] = std::max(diagonal[c], 0.0);
}

}  // namespace terrane::inversion
