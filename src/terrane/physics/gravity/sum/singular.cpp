#include "terrane/physics/gravity/sum/singular.hpp"

#include <algorithm>
#include <cmath>

namespace terrane::gravity {

std::uint8_t octants_filled(const double (&x)[2], const double (&y)[2], const double (&z)[2]) {
  // Sides along one axis: bit 0 stands for the negative side, bit 1 for the positive side.
  const auto sides = [](const double(&f)[2]) { return (f[0] < 0 ? 1 : 0) | (f[1] > 0 ? 2 : 0); };
  const int sx = sides(x), sy = sides(y), sz = sides(z);
  std::uint8_t octants = 0;
  for (int octant = 0; octant < 8; ++octant)
    if ((sx >> (octant & 1) & 1) && (sy >> (octant >> 1 & 1) & 1) && (sz >> (octant >> 2 & 1) & 1))
      octants = static_cast<std::uint8_t>(octants | 1 << octant);
  return octants;
}

namespace {

/// Γee, Γnn, Γuu: compares the density steps along the axis in the four quadrants around it.
Correction diagonal(int axis, const std::array<double, 8>& rho, double tolerance, SingularPolicy policy) {
  const int bit = 1 << axis;
  double lower = 0, upper = 0, least = INFINITY, most = -INFINITY;
  for (int octant = 0; octant < 8; ++octant) {
    if (octant & bit) continue;
    const double step = rho[octant | bit] - rho[octant];
    least = std::min(least, step);
    most = std::max(most, step);
    lower += rho[octant] / 4;
    upper += rho[octant | bit] / 4;
  }
  if (most - least > tolerance) return {true, true, 0};
  if (std::max(std::fabs(most), std::fabs(least)) <= tolerance) return {};
  // On the side of a face with density s the component is the mean of both sides minus 2πG (s − density of
  // the other side).
  const double into_upper = -2 * pi * (upper - lower);
  const bool upper_is_outside = std::fabs(upper) < std::fabs(lower);
  switch (policy) {
    case SingularPolicy::nan:
      return {true, true, 0};
    case SingularPolicy::mean:
      return {true, false, 0};
    case SingularPolicy::outside:
      return {true, false, upper_is_outside ? into_upper : -into_upper};
    case SingularPolicy::inside:
      return {true, false, upper_is_outside ? -into_upper : into_upper};
  }
  return {};
}

/// Γen, Γeu, Γnu: compares the mixed difference of density over both axes, on either side along the third,
/// with the tolerance.
Correction off_diagonal(int a, int b, const std::array<double, 8>& rho, double tolerance) {
  const int bit_a = 1 << a, bit_b = 1 << b, bit_c = 7 & ~(bit_a | bit_b);
  for (int c : {0, bit_c})
    if (std::fabs(rho[bit_a | bit_b | c] - rho[bit_a | c] - rho[bit_b | c] + rho[c]) > tolerance)
      return {true, true, 0};
  return {};
}

}  // namespace

Correction correction(Channel component, const std::array<double, 8>& densities, SingularPolicy policy,
                      double largest) {
  for (double rho : densities) largest = std::max(largest, std::fabs(rho));
  const double tolerance = 1e-12 * largest;
  switch (component) {
    case Channel::g_ee:
      return diagonal(0, densities, tolerance, policy);
    case Channel::g_nn:
      return diagonal(1, densities, tolerance, policy);
    case Channel::g_uu:
      return diagonal(2, densities, tolerance, policy);
    case Channel::g_en:
      return off_diagonal(0, 1, densities, tolerance);
    case Channel::g_eu:
      return off_diagonal(0, 2, densities, tolerance);
    case Channel::g_nu:
      return off_diagonal(1, 2, densities, tolerance);
    default:
      return {};
  }
}

namespace {

/// The density steps along an axis in the four quadrants around it: their mean, and whether all are equal.
struct Step {
  double mean = 0;
  bool even = true;
};

Step step_across(std::size_t axis, const std::array<double, 8>& rho, double tolerance) {
  const std::size_t bit = std::size_t{1} << axis;
  double least = INFINITY, most = -INFINITY;
  Step step;
  for (std::size_t octant = 0; octant < 8; ++octant) {
    if (octant & bit) continue;
    const double here = rho[octant | bit] - rho[octant];
    least = std::min(least, here);
    most = std::max(most, here);
    step.mean += here / 4;
  }
  step.even = most - least <= tolerance;
  return step;
}

double mean_of_side(std::size_t axis, bool upper, const std::array<double, 8>& values) {
  double sum = 0;
  for (std::size_t octant = 0; octant < 8; ++octant)
    if ((octant >> axis & 1) == (upper ? 1U : 0U)) sum += values[octant];
  return sum / 4;
}

}  // namespace

Correction flux_correction(std::size_t axis, const std::array<double, 8>& densities,
                           const std::array<double, 8>& sizes, SingularPolicy policy) {
  const double tolerance = 1e-12 * *std::max_element(sizes.begin(), sizes.end());
  Correction made;
  for (const double rho : densities) made.add += 4 * pi * rho / 8;
  if (!step_across(axis, densities, tolerance).even) return {true, true, 0};
  for (std::size_t across = 0; across < 3; ++across) {
    if (across == axis) continue;
    const auto step = step_across(across, densities, tolerance);
    if (step.even && std::fabs(step.mean) <= tolerance) continue;
    if (!step.even || made.singular || policy == SingularPolicy::nan) return {true, true, 0};
    made.singular = true;
    const double lower = mean_of_side(across, false, sizes), upper = mean_of_side(across, true, sizes);
    const bool upper_is_outside = upper < lower - tolerance, outside = policy == SingularPolicy::outside;
    if (policy != SingularPolicy::mean)
      made.add = 4 * pi * mean_of_side(across, upper_is_outside == outside, densities);
  }
  return made;
}

}  // namespace terrane::gravity
