// Point electrodes in a homogeneous half space, and what arrays of them measure.
//
//   φ(P) = I/(4πσ) (1/r + 1/r')        r from the source, r' from its image in the flat surface
//   k = 4π / Σ± (1/r + 1/r')           geometric factor, so that ρ_a = k ΔV/I
//   α(P) = [cosθ/r² + cosθ'/r'²] / [1/r + 1/r']   mixed boundary ∂φ/∂n + α φ = 0
//
// Dey & Morrison 1979 (Geophysics 44, 753-780), eq. 33 to 37 for α.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

namespace terrane::electric {

/// m; easting, northing, up.
struct Point {
  double e = 0, n = 0, u = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

inline double distance(const Point& a, const Point& b) { return std::hypot(a.e - b.e, a.n - b.n, a.u - b.u); }

/// The image of a point in a flat surface at height `surface`.
inline Point image(const Point& p, double surface) { return {p.e, p.n, 2 * surface - p.u}; }

/// 1/r + 1/r', 1/m; infinite at the source.
inline double inverse_distances(const Point& source, const Point& p, double surface) {
  return 1 / distance(source, p) + 1 / distance(image(source, surface), p);
}

/// Potential of 1 A in a half space of this conductivity.  S/m → V/A
inline double half_space_potential(const Point& source, const Point& p, double surface, double conductivity) {
  return inverse_distances(source, p, surface) / (4 * std::numbers::pi * conductivity);
}

/// E = −∇φ of the same, along easting, northing, up.  V/m per A
inline std::array<double, 3> half_space_field(const Point& source, const Point& p, double surface,
                                              double conductivity) {
  std::array<double, 3> e{};
  for (const auto& from : {source, image(source, surface)}) {
    const double r = distance(from, p), d[3] = {p.e - from.e, p.n - from.n, p.u - from.u};
    if (r == 0) continue;  // at the source: the mean around it
    for (std::size_t a = 0; a < 3; ++a) e[a] += d[a] / (4 * std::numbers::pi * conductivity * r * r * r);
  }
  return e;
}

/// α at a point of a wall with the outward normal along an axis (0 easting, 1 northing, 2 up), sign ±1.  1/m
inline double mixed_boundary(const Point& source, const Point& p, double surface, int axis, double sign) {
  const auto along = [&](const Point& from) {
    const double d[3] = {p.e - from.e, p.n - from.n, p.u - from.u};
    const double r = distance(from, p);
    return std::array{sign * d[axis] / (r * r * r), 1 / r};
  };
  const auto direct = along(source), mirrored = along(image(source, surface));
  return (direct[0] + mirrored[0]) / (direct[1] + mirrored[1]);
}

}  // namespace terrane::electric
