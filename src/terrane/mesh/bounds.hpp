// Boxes whose sides lie along the axes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace terrane {

/// m
struct Bounds {
  double low[3], high[3];
};

/// Distance between two boxes, squared; 0 where they meet.
inline double squared_gap(const Bounds& a, const Bounds& b) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double gap = std::max({a.low[axis] - b.high[axis], b.low[axis] - a.high[axis], 0.0});
    sum += gap * gap;
  }
  return sum;
}

/// Views of many boxes, [n] m along each axis.
struct Boxes {
  std::span<const double> low[3], high[3];

  std::size_t size() const noexcept { return low[0].size(); }
  Bounds operator[](std::size_t n) const noexcept {
    return {{low[0][n], low[1][n], low[2][n]}, {high[0][n], high[1][n], high[2][n]}};
  }
};

}  // namespace terrane
