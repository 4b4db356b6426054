#include "terrane/physics/acoustic/formula/interpolation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"

namespace terrane::acoustic {

namespace {

/// For each radius, the b of the Kaiser window that minimises the largest error over 0 ≤ kh ≤ π/2.
constexpr double shape[] = {0, 0, 2.94, 4.53, 6.31, 7.92, 9.42, 10.97, 12.47};

/// I₀ by its series, which converges everywhere and needs few terms for x < 15.
double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int n = 1; term > 1e-17 * sum; ++n) {
    term *= x * x / (4.0 * n * n);
    sum += term;
  }
  return sum;
}

}  // namespace

std::vector<NodeWeight> sinc_weights(double x, int radius) {
  if (radius < 2 || radius > widest_radius)
    throw InputError("acoustic: interpolation", fmt::format("a radius of {} nodes", radius),
                     fmt::format("Allowed: 2 to {}.", widest_radius));
  // Positions intended to be on a node differ from it by rounding.
  const double nearest = std::round(x);
  if (std::abs(x - nearest) < 1e-9) return {{static_cast<Index>(nearest), 1.0}};
  const double b = shape[radius], whole = bessel_i0(b);
  const auto below = static_cast<Index>(std::floor(x));
  std::vector<NodeWeight> all;
  for (Index i = below - radius + 1; i <= below + radius; ++i) {
    const double d = x - static_cast<double>(i), ratio = d / radius;
    if (std::abs(ratio) >= 1) continue;
    const double window = bessel_i0(b * std::sqrt(1 - ratio * ratio)) / whole;
    all.push_back({i, std::sin(std::numbers::pi * d) / (std::numbers::pi * d) * window});
  }
  return all;
}

}  // namespace terrane::acoustic
