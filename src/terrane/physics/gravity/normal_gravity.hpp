// Normal gravity: the magnitude of the gravity of a rotating equipotential ellipsoid, at any height, in
// closed form.
//
//   γ = √(γ_u² + γ_β²)
//   γ_u = −1/w [ GM/(u² + E²) + ω² a² E/(u² + E²) q'/q₀ (½ sin²β − 1/6) − ω² u cos²β ]
//   γ_β =  1/w  ω² sinβ cosβ / √(u² + E²) [ a² q/q₀ − (u² + E²) ]
//
// γ_u, γ_β are the components along the ellipsoidal coordinates u (polar semiaxis of the confocal ellipsoid
// through the point, m) and β (its reduced latitude); a, GM and ω are those of ReferenceEllipsoid, and E =
// √(a² − b²) with b the polar semiaxis; w² = (u² + E² sin²β)/(u² + E²); q and q' are the functions of u in
// normal_gravity.cpp, and q₀ = q(b).
//
// Sources: Heiskanen & Moritz (1967), Physical Geodesy, sections 2-7 and 2-8; Li & Götze (2001), Geophysics
// 66, 1660-1668, who leave γ_β out: it vanishes on the ellipsoid and adds 1e-4 mGal at a height of 10 km.
// Limits: exact outside the masses; inside the Earth it is the field continued downward.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "terrane/base/constants.hpp"

namespace terrane::gravity {

struct ReferenceEllipsoid {
  std::string_view name;
  double semimajor_axis;                     ///< a, m
  double flattening;                         ///< f
  double geocentric_gravitational_constant;  ///< GM, m³ s⁻²
  double angular_velocity;                   ///< ω, rad/s
};

inline constexpr ReferenceEllipsoid wgs84{"WGS84", 6378137.0, 1 / 298.257223563, 3.986004418e14, 7.292115e-5};
inline constexpr ReferenceEllipsoid grs80{"GRS80", 6378137.0, 1 / 298.257222100882711, 3.986005e14,
                                          7.292115e-5};

/// "WGS84" or "GRS80", any case. Throws InputError.
const ReferenceEllipsoid& ellipsoid_from_name(std::string_view name);

/// Normal gravity in m/s².  latitude: geodetic, degrees; height: above the ellipsoid, m.
double normal_gravity(double latitude, double height, const ReferenceEllipsoid& ellipsoid = wgs84);

/// Normal gravity at n points; all arrays are [n]. Throws ShapeError (lengths differ), InputError that names
/// the row of a latitude beyond ±90° or of a value that is not finite.
std::vector<double> normal_gravity(std::span<const double> latitude, std::span<const double> height,
                                   const ReferenceEllipsoid& ellipsoid = wgs84);

/// Gravity disturbance: observed absolute gravity less normal gravity at the same point.
/// observed [n] m/s² · latitude [n] degrees · height [n] m above the ellipsoid · returns [n] m/s²
std::vector<double> gravity_disturbance(std::span<const double> observed, std::span<const double> latitude,
                                        std::span<const double> height,
                                        const ReferenceEllipsoid& ellipsoid = wgs84);

/// Attraction of an infinite slab, 2πGρh, m/s²: the simple Bouguer correction.  thickness m · density kg/m³
double infinite_slab(double thickness, double density,
                     double gravitational_constant = default_gravitational_constant);

}  // namespace terrane::gravity
