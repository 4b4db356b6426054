// Points of elements that share corners, edges and faces are the same points: found from the corners' numbers
// alone, never from coordinates.
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

/// Numbers the points of these elements of a mesh. points: in each direction. The numbers do not depend on
/// threads. Throws InputError: there are more points than numbers of 32 bits.
Numbering number_points(const Mesh& mesh, int points, std::span<const std::uint32_t> elements,
                        int threads = 0);

/// Elements that each element of the mesh has a face in common with. [elements][6], by sides; `nobody` where
/// there is none.
inline constexpr std::uint32_t nobody = UINT32_MAX;
UnsetList<std::array<std::uint32_t, 6>> neighbours_of(const Mesh& mesh, int threads = 0);

/// Number in the element of point (p, q) of a side; p along the lower of the two axes in the face.
int point_on_side(std::uint32_t side, int p, int q, int points);

}  // namespace terrane::elastic
