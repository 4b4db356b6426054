// Orders points so that every run of tile_size of them is compact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace terrane::gravity {

/// Box around points, m.
struct Bounds {
  double low[3], high[3];
};

/// Distance between two boxes, squared; 0 where they meet.
double squared_gap(const Bounds& a, const Bounds& b);

/// A permutation of the points in which each consecutive tile of `tile_size` lies close together: the longest
/// side of their box is cut at a multiple of tile_size near the middle, again and again. It depends on the
/// points alone. x, y, z [n] m · threads: 0 for all
std::vector<std::uint32_t> compact_order(std::span<const double> x, std::span<const double> y,
                                         std::span<const double> z, std::size_t tile_size, int threads = 1);

}  // namespace terrane::gravity
