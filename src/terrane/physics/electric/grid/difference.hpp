// (K − K₀) φ, what a secondary potential begins with, without either network: the cells around a node give
// their differences from a half space, and no array is kept. Its slow twin is network_of() less
// half_space_network().
#pragma once

#include <array>
#include <vector>

#include "terrane/physics/electric/grid/assemble.hpp"

namespace terrane::electric {

/// A half space: conductivities along easting, northing, up, and its point source.
struct HomogeneousRock {
  std::array<double, 3> conductivity;
  Viewpoint source;
};
/// (K − K₀) φ on the nodes [up, north, east], without either network. K₀ is that of a half space. Where
/// `boundary` is mixed, its walls are those of K, so that they leave no difference; elsewhere the current
/// flows on through them as it does from the source.
std::vector<double> difference_times(const TensorMesh& mesh,
                                     const std::array<const std::vector<double>*, 3>& conductivity,
                                     const HomogeneousRock& half_space, const Boundaries& boundary,
                                     const Viewpoint& from, const std::vector<double>& phi, int threads);

}  // namespace terrane::electric
