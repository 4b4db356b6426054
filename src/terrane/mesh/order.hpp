// Orders points, or boxes by their centres, so that every run of tile_size of them is compact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "terrane/mesh/bounds.hpp"

namespace terrane {

/// A permutation of the points in which each consecutive tile of `tile_size` lies close together: the longest
/// side of their box is cut at a multiple of tile_size near the middle, again and again. It depends on the
/// points alone. x, y, z [n] m · threads: 0 for all. Throws UnsupportedError: more points than there are
/// numbers for.
std::vector<std::uint32_t> compact_order(std::span<const double> x, std::span<const double> y,
                                         std::span<const double> z, std::size_t tile_size, int threads = 1);

/// The same for boxes, by their centres.
std::vector<std::uint32_t> compact_order(const Boxes& boxes, std::size_t tile_size, int threads = 1);

}  // namespace terrane
