// The cells of the tree: an octree over the centres of prisms.
//
// Prisms are sorted by the octants of their centres, level by level, down to cells half as long as the prism;
// so a large one comes before the small ones of its cell. Cells of more than a leaf's prisms are cut.
#pragma once

#include <cstdint>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

struct Octree {
  struct Cell {
    std::uint32_t first = 0, last = 0;  ///< prisms, places in the order
    std::uint32_t child = 0;            ///< the first; the others follow
    std::uint8_t children = 0;          ///< none: a leaf
    std::uint8_t level = 0;
    bool flat = false;  ///< prisms too large for finer cells: cut in equal parts
    std::uint32_t size() const { return last - first; }
  };
  std::vector<std::uint32_t> order;  ///< [prisms]
  std::vector<Cell> cells;           ///< children after their parents, level by level; none without prisms
  std::vector<std::size_t> levels;   ///< first cell of each level of descent, and the end
};

/// leaf: prisms of a leaf, at most. The same for any number of threads (0: all). Throws UnsupportedError:
/// more prisms than there are numbers for. Cancelled.
Octree grow_octree(const Prisms& prisms, std::size_t leaf, int threads, Progress& progress);

}  // namespace terrane::gravity
