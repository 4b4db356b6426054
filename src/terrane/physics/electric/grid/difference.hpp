// (K − K₀) φ, the source term of a secondary potential: K is the network of the mesh's medium, K₀ that of the
// primary's medium, and φ the primary potential. Neither K nor K₀ is stored: the contributions of the cells
// around a node are computed from the differences between the conductivities of the two media. Tests compare
// with network_of() minus half_space_network(), or minus network_of() of the primary's medium.
#pragma once

#include <array>
#include <vector>

#include "terrane/physics/electric/formula/primary.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"

namespace terrane::electric {

/// The medium for which K₀ is made. At mixed walls, K₀ has the same walls as K, so that these contribute no
/// difference; at other walls, which are combined with a half space only, K₀ lets the current of the source
/// flow on as if the half space continued.
struct PrimaryMedium {
  Primary primary;
  Viewpoint source;
  bool quadrature = false;  ///< whether K and K₀ are made from imaginary parts of σ
};
/// (K − K₀) φ on the nodes [up, north, east].  conductivity: of the mesh's medium, its real or
/// imaginary part along each axis, as in Conductivity
std::vector<double> difference_times(const TensorMesh& mesh,
                                     const std::array<const std::vector<double>*, 3>& conductivity,
                                     const PrimaryMedium& medium, const Boundaries& boundary,
                                     const Viewpoint& from, const std::vector<double>& phi, int threads);

}  // namespace terrane::electric
