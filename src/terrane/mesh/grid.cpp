#include "terrane/mesh/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

/// The interval of an ascending axis that contains x, and the fraction of the interval below x; weight < 0
/// outside.
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

/// Linear interpolation. A gap (NaN) only affects points where its weight is not zero: a node beside a gap
/// keeps its value.
double mix(double a, double b, double t) { return t == 0 ? a : t == 1 ? b : a + t * (b - a); }

void check_axis(const std::vector<double>& axis, const char* name, const std::string& where) {
  if (axis.empty())
    throw InputError(where, fmt::format("the grid has no {} coordinates", name), "A grid needs nodes.");
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (!std::isfinite(axis[i]))
      throw InputError(where, fmt::format("{} coordinate {} is {}", name, i + 1, axis[i]),
                       "Coordinates are finite numbers.");
    if (i > 0 && !(axis[i] > axis[i - 1]))
      throw InputError(where,
                       fmt::format("{} coordinate {} ({}) does not lie beyond coordinate {} ({})", name,
                                   i + 1, axis[i], i, axis[i - 1]),
                       "Both axes of a grid ascend strictly; turn a descending one with its values.");
  }
}

}  // namespace

double Grid::interpolate(double easting_at, double northing_at) const noexcept {
  const auto [i, s] = locate(easting, easting_at);
  const auto [j, t] = locate(northing, northing_at);
  if (s < 0 || t < 0) return std::numeric_limits<double>::quiet_NaN();
  return mix(mix(at(i, j), at(i + 1, j), s), mix(at(i, j + 1), at(i + 1, j + 1), s), t);
}

void check(const Grid& grid, const std::string& where) {
  check_axis(grid.easting, "easting", where);
  check_axis(grid.northing, "northing", where);
  if (grid.values.size() / grid.n_east() != grid.n_north() || grid.values.size() % grid.n_east() != 0)
    throw ShapeError(
        where, fmt::format("{} values for {} × {} nodes", grid.values.size(), grid.n_east(), grid.n_north()),
        "Give one value per node, easting fastest.");
  const auto infinite =
      std::find_if(grid.values.begin(), grid.values.end(), [](double v) { return std::isinf(v); });
  if (infinite != grid.values.end()) {
    const auto n = static_cast<std::size_t>(infinite - grid.values.begin());
    throw InputError(where,
                     fmt::format("the value at easting {}, northing {} is infinite",
                                 grid.easting[n % grid.n_east()], grid.northing[n / grid.n_east()]),
                     "Mark gaps by NaN.");
  }
}

}  // namespace terrane
