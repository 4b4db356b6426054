// An octree over the centres of boxes: prisms, cells, or points (boxes of zero size).
//
// Boxes are sorted by the octants of their centres, level by level, down to the finest level whose cells are
// at least half as long as the box. So a large box comes before the small boxes in the same cell. A cell with
// more boxes than `leaf` is divided.
#pragma once

#include <cstdint>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/mesh/bounds.hpp"

namespace terrane {

struct Octree {
  struct Cell {
    std::uint32_t first = 0, last = 0;  ///< boxes of the cell: the range [first, last) of `order`
    std::uint32_t child = 0;            ///< index of the first child; the others follow
    std::uint8_t children = 0;          ///< number of children; 0: a leaf
    std::uint8_t level = 0;
    bool flat = false;  ///< whether the boxes are too large for finer cells, and divided into equal parts
    std::uint32_t size() const { return last - first; }
  };
  std::vector<std::uint32_t> order;  ///< [boxes] sorted indices of boxes
  std::vector<Cell> cells;           ///< children after their parents, level by level; no cell without boxes
  std::vector<std::size_t> levels;   ///< first cell of each level below the root; then the number of cells
};

/// leaf: maximum number of boxes in a leaf. The octree does not depend on the number of threads (0: all).
/// Throws UnsupportedError if there are more boxes than 32-bit indices; Cancelled.
Octree grow_octree(const Boxes& boxes, std::size_t leaf, int threads, Progress& progress);

}  // namespace terrane
