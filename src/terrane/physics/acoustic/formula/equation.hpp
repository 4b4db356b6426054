// The wave equations, and the phase velocity in media with an axis of symmetry.
//
// In a medium with the velocity v along its axis of symmetry and Thomsen's ε and δ, the phase velocity at the
// angle θ to the axis is (Alkhalifah 2000, with a shear-wave velocity of zero)
//
//   v²(θ)/v² = ½ [1 + 2ε sin²θ + √((1 + 2ε sin²θ)² − 2(ε − δ) sin²2θ)]
#pragma once

#include <array>

namespace terrane::acoustic {

enum class Equation {
  constant_density,  ///< isotropic
  variable_density,  ///< isotropic
  vti,               ///< the axis of symmetry is vertical; constant density
  tti                ///< the axis is tilted, in a direction that may vary; constant density
};

/// The phase velocity at the angle θ to the axis of symmetry, divided by the velocity along the axis: v(θ)/v.
/// angle: θ, radians
double phase_velocity(double epsilon, double delta, double angle);
/// The least phase_velocity() over all angles.
double slowest_direction(double epsilon, double delta);

/// The unit vector [up, north, east] of an axis whose upper end leans towards an azimuth.  tilt: angle
/// between the axis and the vertical, radians; azimuth: clockwise from north, radians
std::array<double, 3> axis_of(double tilt, double azimuth);

}  // namespace terrane::acoustic
