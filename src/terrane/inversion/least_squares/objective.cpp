#include "terrane/inversion/least_squares/objective.hpp"

#include <algorithm>

#include "terrane/base/error.hpp"

namespace terrane::inversion {

void go_on(Progress* progress) {
  if (progress == nullptr) return;
  progress->advance(0);
  if (progress->cancelled()) throw Cancelled();
}

std::size_t Objective::used() const {
  return static_cast<std::size_t>(
      std::count_if(weight.begin(), weight.end(), [](double w) { return w > 0; }));
}

std::vector<double> Objective::weighted_residual(std::span<const double> model) const {
  std::vector<double> r(g->rows());
  g->apply(model, r);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = weight[i] > 0 ? weight[i] * (data[i] - r[i]) : 0.0;
  return r;
}

double Objective::phi_d(std::span<const double> model) const {
  const auto r = weighted_residual(model);
  return solve::dot(r, r);
}

NormalEquations::NormalEquations(const Objective& objective)
    : objective_(objective),
      squares_(objective.weight.begin(), objective.weight.end()),
      data_part_(size()),
      r_centre_(size()),
      r_diagonal_(size()),
      g_diagonal_(size()),
      data_(objective.g->rows()) {
  for (double& w : squares_) w *= w;
  std::vector<double> weighted(data_.size());
  for (std::size_t i = 0; i < weighted.size(); ++i)
    weighted[i] = squares_[i] > 0 ? squares_[i] * objective_.data[i] : 0.0;
  objective_.g->apply_transpose(weighted, data_part_);
  objective_.g->weighted_diagonal(squares_, g_diagonal_);
  products_ = 2;
  set_beta(0);
}

void NormalEquations::set_beta(double beta) {
  beta_ = beta;
  objective_.regulariser->apply(objective_.centre,
                                r_centre_);  // computed again, because weights of sparse norms may have
                                             // changed
  objective_.regulariser->diagonal(r_diagonal_);
  b_ = data_part_;
  diagonal_ = g_diagonal_;
  for (std::size_t c = 0; c < size(); ++c) {
    b_[c] += beta * r_centre_[c];
    diagonal_[c] += beta * r_diagonal_[c];
  }
}

void NormalEquations::apply(std::span<const double> v, std::span<double> out,
                            std::span<double> weighted) const {
  objective_.g->apply(v, data_);
  for (std::size_t i = 0; i < data_.size(); ++i) {
    weighted[i] = objective_.weight[i] * data_[i];
    data_[i] *= squares_[i];
  }
  std::vector<double> flat(size());
  objective_.regulariser->apply(v, flat);
  objective_.g->apply_transpose(data_, out);
  for (std::size_t c = 0; c < size(); ++c) out[c] += beta_ * flat[c];
  products_ += 1;  // one product with G and one with Gᵀ
}

}  // namespace terrane::inversion
