// The medium at nodes outside of the mesh: on sides with absorbing layers or walls it is continued by its
// values at the edge; beyond a free surface it is the mirror image of the medium inside.
#pragma once

#include <algorithm>

#include "terrane/physics/acoustic/formula/images.hpp"
#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// The boundary on a side of an axis; a wall if the grid has only one node on that axis.
inline Boundary side_of(const Problem& p, int axis, int side) {
  return p.grid.there(axis) ? p.sides[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)]
                            : Boundary::wall;
}

/// The node itself, or, if it lies beyond a free surface of the axis, its mirror image.
inline Image image_of(const Problem& p, int axis, Index node) {
  const auto is_free = [&](int side) { return side_of(p, axis, side) == Boundary::free_surface; };
  return image_of(node, p.grid.nodes[static_cast<std::size_t>(axis)], is_free(0), is_free(1));
}

/// The node of the mesh from which a node, inside or outside of the mesh, gets its medium.
struct MediumNode {
  std::size_t node;
  std::array<bool, 3> mirrored;  ///< whether values are mirrored at a free surface of each axis
};

inline MediumNode medium_node(const Problem& p, const std::array<Index, 3>& at) {
  MediumNode found{0, {}};
  for (std::size_t a = 0; a < 3; ++a) {
    const Index nodes = p.grid.nodes[a];
    const auto image = image_of(p, static_cast<int>(a), at[a]);
    found.mirrored[a] = image.odd;
    found.node = found.node * static_cast<std::size_t>(nodes) +
                 static_cast<std::size_t>(std::clamp<Index>(image.node, 0, nodes - 1));
  }
  return found;
}

/// The axis of symmetry [up, north, east] of a VTI or TTI medium at a node: towards a cpml the axis turns to
/// the vertical (problem.hpp); beyond a free surface its components are mirrored.
std::array<double, 3> axis_at(const Problem& p, const std::array<Index, 3>& at, const MediumNode& there);

}  // namespace terrane::acoustic
