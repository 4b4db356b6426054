#include "terrane/inversion/data/robust.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace terrane::inversion {

double huber_consistency(double c) {
  const double density = std::exp(-0.5 * c * c) / std::sqrt(2 * std::numbers::pi),
               inside = std::erf(c / std::numbers::sqrt2);
  return inside - 2 * c * density + c * c * (1 - inside);
}

double huber_misfit(std::span<const double> residual, double c) {
  double sum = 0;
  for (const double r : residual) sum += std::min(r * r, c * c);
  return sum / huber_consistency(c);
}

double huber_weight(double residual, double c) {
  const double size = std::fabs(residual);
  return size > c ? c / size : 1;
}

}  // namespace terrane::inversion
