// Stations on the surface of a prism, where components of the gradient tensor jump or are unbounded.
//
// What happens at a station depends on the densities in the eight octants around it, not on how the body was
// cut into prisms. With ρ_ijk the density of octant (i, j, k):
//   Γee jumps by 4πG (ρ_1jk − ρ_0jk) across the plane through the station. No jump: regular. The same jump
//   for
//     all j, k: the station lies in a face, and both one-sided limits exist. Else the limit depends on the
//     direction.
//   Γen is unbounded unless ρ_11k − ρ_10k − ρ_01k + ρ_00k = 0 for both k.
// So a station between cells of equal density, or inside a face that the mesh has cut into cells, is what it
// physically is. V and g are regular everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "terrane/physics/gravity/parameters.hpp"

namespace terrane::gravity {

/// One prism that holds or touches a station.
struct Contact {
  std::size_t station;
  double density;        ///< kg/m³
  std::uint8_t octants;  ///< bit i + 2j + 4k: the prism fills this octant around the station
  bool inside() const noexcept { return octants == 0xff; }
};

/// Octants that a prism with these relative faces fills around the station.
std::uint8_t octants_filled(const double (&x)[2], const double (&y)[2], const double (&z)[2]);

/// The correction of one component of the tensor at one station: value += correction · G, or NaN.
struct Correction {
  bool singular = false;   ///< the component has no single value here
  bool undefined = false;  ///< and is NaN
  double add = 0;          ///< kg/m³: times G
};

/// densities: of the eight octants, kg/m³ · largest: of what the steps between octants are compared with; by
/// default the largest density.
Correction correction(Channel component, const std::array<double, 8>& densities, SingularPolicy policy,
                      double largest = 0);

/// The same for Γaa + 4πGρ along an axis a, by which the flux density of matter magnetized along a exceeds
/// Γaa. It goes on through faces across a, and jumps by 4πG times the step of density across others.
/// densities: kg/m³ · sizes: by which the side with less is outside: |ρ|, or |M|.  add: at any station in
/// contact, singular or not
Correction flux_correction(std::size_t axis, const std::array<double, 8>& densities,
                           const std::array<double, 8>& sizes, SingularPolicy policy);

}  // namespace terrane::gravity
