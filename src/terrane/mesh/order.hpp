// Sorts points, or boxes by their centres, so that each group of tile_size consecutive ones is compact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "terrane/mesh/bounds.hpp"

namespace terrane {

/// A permutation of points in which each tile of `tile_size` consecutive points is compact: the bounding box
/// is divided across its longest side, at a multiple of tile_size points near the middle, recursively. The
/// permutation depends on the points alone. x, y, z [n] m; threads: 0 for all. Throws UnsupportedError if
/// there are more points than 32-bit indices.
std::vector<std::uint32_t> compact_order(std::span<const double> x, std::span<const double> y,
                                         std::span<const double> z, std::size_t tile_size, int threads = 1);

/// A permutation of boxes in which each tile of `tile_size` consecutive centres is compact, as for points.
std::vector<std::uint32_t> compact_order(const Boxes& boxes, std::size_t tile_size, int threads = 1);

}  // namespace terrane
