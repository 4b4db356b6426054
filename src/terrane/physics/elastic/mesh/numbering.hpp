// Numbers the points of elements. Points on shared corners, edges and faces get the same number, determined
// only from the indices of corner nodes, not from coordinates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "terrane/parallel/threads/filled.hpp"
#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

struct Numbering {
  UnsetList<std::uint32_t> point;  ///< [elements][points of an element], ξ fastest
  std::size_t count = 0;
};

/// Numbers the points of the listed elements of a mesh. points: number in each direction. The result does not
/// depend on threads. Throws InputError if there are more points than numbers of 32 bits.
Numbering number_points(const Mesh& mesh, int points, std::span<const std::uint32_t> elements,
                        int threads = 0);

/// The neighbours of each element of the mesh through its faces: [elements][sides], `nobody` if there is
/// none.
inline constexpr std::uint32_t nobody = UINT32_MAX;
UnsetList<std::array<std::uint32_t, 6>> neighbours_of(const Mesh& mesh, int threads = 0);

/// Index in the element of point (p, q) of a side. p is along the first of the two axes in the face, in the
/// order ξ, η, ζ; q along the second.
int point_on_side(std::uint32_t side, int p, int q, int points);

}  // namespace terrane::elastic
