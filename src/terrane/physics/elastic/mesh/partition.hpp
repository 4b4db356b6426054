// Which rank computes which elements.
#pragma once

#include <vector>

#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

/// The rank of each element: the box of the centres is cut across its longest side, again and again, each
/// time in the ratio of the ranks on both sides. Of equal centres the element with the lower number goes
/// first, so the parts depend on the mesh alone.
std::vector<int> bisect(const Mesh& mesh, int ranks, int threads = 0);

/// Gives elements to the rank that they share most faces with, where it is not their own, as long as no rank
/// has one percent more or less than its part: rough cuts through meshes without rows become smooth.
void smooth(const Mesh& mesh, int ranks, std::vector<int>& rank, int threads = 0);

/// Bisected, and then smooth. docs/decisions/0017-partition.md compares this with METIS.
std::vector<int> partition(const Mesh& mesh, int ranks, int threads = 0);

}  // namespace terrane::elastic
