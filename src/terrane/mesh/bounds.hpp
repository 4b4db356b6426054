// Boxes whose sides lie along the axes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace terrane {

/// A box whose sides lie along easting, northing and up, m.
struct Bounds {
  double low[3], high[3];
};

/// Square of the smallest distance between two boxes; 0 if they touch or overlap.
inline double squared_gap(const Bounds& a, const Bounds& b) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double gap = std::max({a.low[axis] - b.high[axis], b.low[axis] - a.high[axis], 0.0});
    sum += gap * gap;
  }
  return sum;
}

/// Views of the bounds of many boxes: for each axis (easting, northing, up) an array [boxes], m.
struct Boxes {
  std::span<const double> low[3], high[3];

  std::size_t size() const noexcept { return low[0].size(); }
  Bounds operator[](std::size_t n) const noexcept {
    return {{low[0][n], low[1][n], low[2][n]}, {high[0][n], high[1][n], high[2][n]}};
  }
};

}  // namespace terrane
