#include "terrane/physics/acoustic/formula/equation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace terrane::acoustic {

double phase_velocity(double epsilon, double delta, double angle) {
  const double s = std::sin(angle), twice = std::sin(2 * angle), wide = 1 + 2 * epsilon * s * s;
  return std::sqrt(0.5 * (wide + std::sqrt(wide * wide - 2 * (epsilon - delta) * twice * twice)));
}

double slowest_direction(double epsilon, double delta) {
  if (epsilon >= 0 && delta >= 0) return 1;
  double least = 1;
  constexpr int samples = 90;
  for (int n = 1; n <= samples; ++n)
    least = std::min(least, phase_velocity(epsilon, delta, std::numbers::pi / 2 * n / samples));
  return least;
}

std::array<double, 3> axis_of(double tilt, double azimuth) {
  return {std::cos(tilt), std::sin(tilt) * std::cos(azimuth), std::sin(tilt) * std::sin(azimuth)};
}

}  // namespace terrane::acoustic
