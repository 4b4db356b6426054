// Which rank computes which elements.
#pragma once

#include <vector>

#include "terrane/physics/elastic/mesh.hpp"

namespace terrane::elastic {

/// The rank of each element: the box of the centres is cut across its longest side, again and again, each
/// time in the ratio of the ranks on both sides. Of equal centres the element with the lower number goes
/// first, so the parts depend on the mesh alone.
std::vector<int> bisect(const Mesh& mesh, int ranks);

}  // namespace terrane::elastic
