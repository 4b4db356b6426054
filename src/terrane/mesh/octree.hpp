// An octree over the centres of boxes: prisms, cells, or points, which are boxes without extent.
//
// Boxes are sorted by the octants of their centres, level by level, down to cells half as long as the box; so
// a large one comes before the small ones of its cell. Cells of more than a leaf's boxes are cut.
#pragma once

#include <cstdint>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/mesh/bounds.hpp"

namespace terrane {

struct Octree {
  struct Cell {
    std::uint32_t first = 0, last = 0;  ///< its boxes: the range [first, last) of `order`
    std::uint32_t child = 0;            ///< index of its first child; the others follow
    std::uint8_t children = 0;          ///< none: a leaf
    std::uint8_t level = 0;
    bool flat = false;  ///< boxes too large for finer cells: cut in equal parts
    std::uint32_t size() const { return last - first; }
  };
  std::vector<std::uint32_t> order;  ///< [boxes]
  std::vector<Cell> cells;           ///< children after their parents, level by level; none without boxes
  std::vector<std::size_t> levels;   ///< first cell of each level of descent, and the end
};

/// leaf: the most boxes that a leaf may have. The octree is the same for any number of threads (0: all).
/// Throws UnsupportedError where there are more boxes than numbers of 32 bits can count; Cancelled.
Octree grow_octree(const Boxes& boxes, std::size_t leaf, int threads, Progress& progress);

}  // namespace terrane
