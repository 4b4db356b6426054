#include "terrane/inversion/model/sparse.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/solve/matrices/matrix_kernels.hpp"

namespace terrane::inversion {

std::array<double, 4> largest_magnitudes(const Factors& magnitudes) {
  std::array<double, 4> most{};
  for (std::size_t t = 0; t < 4; ++t)
    for (const double x : magnitudes[t])
      if (std::fabs(x) > most[t]) most[t] = std::fabs(x);
  return most;
}

void SparseState::begin(const Factors& magnitudes) {
  largest = largest_magnitudes(magnitudes);
  first_epsilon = largest[0] > 0 ? largest[0] : 1;
}

void SparseState::next_stage(const SparseNorms& norms, double last, const Factors& magnitudes) {
  part = std::max(part / 1.5, last);
  for (std::size_t t = 0; t < 4; ++t) stage.epsilon[t] = part * (largest[t] > 0 ? largest[t] : first_epsilon);
  stage.scale = sparse_scales(norms, stage.epsilon, magnitudes);
  phi = INFINITY;
}

double beta_of_next_stage(double ratio, double tolerance) {
  if (std::fabs(ratio - 1) <= tolerance) return 1;
  return std::clamp(std::pow(1 / ratio, 1.5), 0.5, 2.0);
}

/// For |x| ≤ X, the derivative of a sparse norm, x (1 + x²/ε²)^(p/2−1), is largest at X if p ≥ 1, and at
/// min(X, ε/√(1−p)) if p < 1.
std::array<double, 4> sparse_scales(const SparseNorms& norms, const std::array<double, 4>& epsilon,
                                    const Factors& magnitudes) {
  const auto most = largest_magnitudes(magnitudes);
  std::array<double, 4> scale{1, 1, 1, 1};
  for (std::size_t t = 0; t < 4; ++t) {
    const double p = norms.p[t], e = epsilon[t];
    if (p == 2 || most[t] == 0) continue;
    const double at = p >= 1 ? most[t] : std::min(most[t], e / std::sqrt(1 - p));
    scale[t] = most[t] / (at * std::pow(1 + at * at / (e * e), p / 2 - 1));
  }
  return scale;
}

Factors sparse_factors(const SparseNorms& norms, const SparseStage& stage, const Factors& magnitudes) {
  Factors made;
  for (std::size_t t = 0; t < 4; ++t) {
    made[t].resize(magnitudes[t].size());
    for (std::size_t i = 0; i < made[t].size(); ++i) {
      const double x = magnitudes[t][i] / stage.epsilon[t];
      made[t][i] = std::isnan(x) ? 1 : stage.scale[t] * std::pow(1 + x * x, norms.p[t] / 2 - 1);
    }
  }
  return made;
}

Terms sparse_terms(const SparseNorms& norms, const SparseStage& stage, const Alphas& alphas,
                   const Factors& magnitudes, const Factors& measures) {
  const std::array<double, 4> alpha{alphas.smallness, alphas.flatness[0], alphas.flatness[1],
                                    alphas.flatness[2]};
  std::array<double, 4> sums{};
  for (std::size_t t = 0; t < 4; ++t) {
    const double p = norms.p[t], e = stage.epsilon[t];
    std::vector<double> parts;
    constexpr std::size_t piece = 4096;
    for (std::size_t first = 0; first < magnitudes[t].size(); first += piece) {
      double sum = 0;
      for (std::size_t i = first; i < std::min(first + piece, magnitudes[t].size()); ++i) {
        if (std::isnan(magnitudes[t][i])) continue;
        const double q = magnitudes[t][i] / e, q2 = q * q;
        sum += measures[t][i] * (p == 0 ? std::log1p(q2) : 2 / p * (std::pow(1 + q2, p / 2) - 1));
      }
      parts.push_back(sum);
    }
    sums[t] = alpha[t] * e * e * stage.scale[t] * solve::tree_sum(parts);
  }
  return {sums[0], {sums[1], sums[2], sums[3]}};
}

}  // namespace terrane::inversion
