// (K − K₀) φ, what a secondary potential begins with, without either network: the cells around a node give
// their differences from the medium that a primary potential is of, and no array is kept. Its slow twin is
// network_of() less half_space_network(), or less network_of() of that medium.
#pragma once

#include <array>
#include <vector>

#include "terrane/physics/electric/formula/primary.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"

namespace terrane::electric {

/// K₀ has the walls of K where `boundary` is mixed, so that they leave no difference; elsewhere, in a half
/// space alone, those through which the current flows on as it does from the source.
struct PrimaryMedium {
  Primary primary;
  Viewpoint source;
  bool quadrature = false;  ///< its imaginary part
};
/// (K − K₀) φ on the nodes [up, north, east].  conductivity: of K, as Conductivity has either part
std::vector<double> difference_times(const TensorMesh& mesh,
                                     const std::array<const std::vector<double>*, 3>& conductivity,
                                     const PrimaryMedium& medium, const Boundaries& boundary,
                                     const Viewpoint& from, const std::vector<double>& phi, int threads);

}  // namespace terrane::electric
