#include "terrane/mesh/grid.hpp"

#include <algorithm>
#include <limits>

namespace terrane {

namespace {

/// The interval of an ascending axis that holds x, and how far into it x lies; weight < 0 outside.
struct Place {
  std::size_t index;
  double weight;
};

Place locate(const std::vector<double>& axis, double x) {
  if (axis.size() < 2 || !(x >= axis.front()) || !(x <= axis.back())) return {0, -1.0};
  const auto upper = std::upper_bound(axis.begin(), axis.end() - 1, x);
  const auto i = static_cast<std::size_t>(upper - axis.begin()) - 1;
  return {i, (x - axis[i]) / (axis[i + 1] - axis[i])};
}

/// A gap counts only where it has weight: a node beside it keeps its own value.
double mix(double a, double b, double t) { return t == 0 ? a : t == 1 ? b : a + t * (b - a); }

}  // namespace

double Grid::interpolate(double easting_at, double northing_at) const noexcept {
  const auto [i, s] = locate(easting, easting_at);
  const auto [j, t] = locate(northing, northing_at);
  if (s < 0 || t < 0) return std::numeric_limits<double>::quiet_NaN();
  return mix(mix(at(i, j), at(i + 1, j), s), mix(at(i, j + 1), at(i + 1, j + 1), s), t);
}

}  // namespace terrane
