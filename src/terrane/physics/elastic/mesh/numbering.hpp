// Points of elements that share corners, edges and faces are the same points: found from the corners' numbers
// alone, never from coordinates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

struct Numbering {
  std::vector<std::uint32_t> point;  ///< [elements][points of an element], ξ fastest
  std::size_t count = 0;
};

/// Numbers the points of these elements of a mesh. points: in each direction. The numbers do not depend on
/// threads.
Numbering number_points(const Mesh& mesh, int points, std::span<const std::uint32_t> elements,
                        int threads = 0);

/// Number in the element of point (p, q) of a side; p along the lower of the two axes in the face.
int point_on_side(std::uint32_t side, int p, int q, int points);

}  // namespace terrane::elastic
