// Stations on the surface of a prism, where components of the gradient tensor jump or are unbounded.
//
// Whether a component has a value at a station depends on the densities in the eight octants around it, not
// on how the body was cut into prisms. With ρ_ijk the density of an octant (i = 0 west, 1 east of the
// station; j = 0 south, 1 north; k = 0 below, 1 above):
//   Γee jumps by −4πG (ρ_1jk − ρ_0jk) from west to east of the station. If all four jumps (j, k) are 0, Γee
//     is regular. If they are equal but not 0, the station lies in a face, and both one-sided limits exist.
//     Otherwise the limit depends on the direction.
//   Γen is unbounded unless ρ_11k − ρ_10k − ρ_01k + ρ_00k = 0 for both k.
// The other components follow by exchange of axes.
// So a station between cells of equal density is regular, and one within a face that the mesh has cut into
// cells lies in a face. V and g are regular everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "terrane/physics/gravity/parameters.hpp"

namespace terrane::gravity {

/// One prism that contains or touches a station.
struct Contact {
  std::size_t station;
  double density;        ///< kg/m³
  std::uint8_t octants;  ///< bit i + 2j + 4k: the prism fills this octant around the station
  bool inside() const noexcept { return octants == 0xff; }
};

/// The octants around the station that a prism fills.  x, y, z: coordinates of the prism's two faces along
/// each axis, relative to the station
std::uint8_t octants_filled(const double (&x)[2], const double (&y)[2], const double (&z)[2]);

/// The correction of one component of the tensor at one station: value += correction · G, or NaN.
struct Correction {
  bool singular = false;   ///< whether the component has no single value here
  bool undefined = false;  ///< whether the component is set to NaN
  double add = 0;          ///< kg/m³; G times this is added to the component
};

/// densities: of the eight octants, kg/m³.  largest: kg/m³; steps of density below 1e-12 times this value, or
/// times the largest of the eight densities if that is larger, count as zero
Correction correction(Channel component, const std::array<double, 8>& densities, SingularPolicy policy,
                      double largest = 0);

/// The correction of Γaa + 4πGρ, which is proportional to the flux density of matter magnetized along axis a.
/// This quantity is continuous across faces perpendicular to a, and jumps by 4πG times the step of density
/// across other faces. densities: kg/m³; sizes: |ρ| or |M| of the octants; the side with the smaller mean
/// counts as outside. The result's `add` is needed at any station in contact, singular or not
Correction flux_correction(std::size_t axis, const std::array<double, 8>& densities,
                           const std::array<double, 8>& sizes, SingularPolicy policy);

}  // namespace terrane::gravity
