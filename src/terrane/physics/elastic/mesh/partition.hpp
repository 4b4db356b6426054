// Assigns elements to ranks.
#pragma once

#include <vector>

#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

/// The rank of each element by recursive bisection: the box of the elements' centres is cut across its
/// longest side, in the ratio of the numbers of ranks on both sides. Equal coordinates are ordered by the
/// element's index, so the result depends only on the mesh.
std::vector<int> bisect(const Mesh& mesh, int ranks, int threads = 0);

/// Smooths rough cuts through unstructured meshes: moves elements to the rank with which they share most
/// faces, as long as each rank's number of elements stays within one per cent of the mean.
void smooth(const Mesh& mesh, int ranks, std::vector<int>& rank, int threads = 0);

/// bisect(), then smooth(). docs/decisions/0017-partition.md compares this with METIS.
std::vector<int> partition(const Mesh& mesh, int ranks, int threads = 0);

}  // namespace terrane::elastic
