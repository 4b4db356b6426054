// (K − K₀) φ, the source term of a secondary potential, computed without storing K or K₀: the contributions
// of the cells around a node follow from their differences from the primary's medium. Tests compare with
// network_of() minus half_space_network(), or minus network_of() of the primary's medium.
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
  bool quadrature = false;  ///< whether K and K₀ are those of the imaginary parts
};
/// (K − K₀) φ on the nodes [up, north, east].  conductivity: real or imaginary part of that of K, along the
/// axes as in Conductivity
std::vector<double> difference_times(const TensorMesh& mesh,
                                     const std::array<const std::vector<double>*, 3>& conductivity,
                                     const PrimaryMedium& medium, const Boundaries& boundary,
                                     const Viewpoint& from, const std::vector<double>& phi, int threads);

}  // namespace terrane::electric
