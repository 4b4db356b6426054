// Potentials of point electrodes in a homogeneous half space, and geometric factors of electrode arrays.
//
//   φ(P) = I/(4πσ) (1/r + 1/r')        r from the source, r' from its image in the flat surface
//   k = 4π / Σ± (1/r + 1/r')           geometric factor, so that ρ_a = k ΔV/I; Σ± over the pairs of a
//                                      current and a potential electrode, with the sign of each pair in ΔV
//   α(P) = [cosθ/r² + cosθ'/r'²] / [1/r + 1/r']   mixed boundary ∂φ/∂n + α φ = 0; θ, θ': angles at P between
//                                      the wall's outward normal and the lines from source and image
//
// I: current; σ: conductivity; ρ_a: apparent resistivity; ΔV: voltage between the potential electrodes; ∂/∂n:
// derivative along the wall's outward normal.
//
// If the conductivity σ_a differs by axis a (e, n, u: easting, northing, up), the formulas hold in stretched
// coordinates ξ_a = s_a x_a, s_a = (σ/σ_a)^½, with σ = (σ_e σ_n σ_u)^⅓ (Maillet 1947, Geophysics 12,
// 529-556).
//
// Dey & Morrison 1979 (Geophysics 44, 753-780), eq. 33 to 37 for α.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "terrane/survey/electrodes.hpp"

namespace terrane::electric {

/// The factors s of the three axes: in stretched coordinates the medium is isotropic.
struct Stretch {
  double e = 1, n = 1, u = 1;

  Point operator()(const Point& p) const { return {e * p.e, n * p.n, u * p.u}; }
  double of(int axis) const { return axis == 0 ? e : axis == 1 ? n : u; }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// The stretch for conductivities along easting, northing and up.
inline Stretch stretch_of(const std::array<double, 3>& sigma) {
  if (sigma[0] == sigma[1] && sigma[0] == sigma[2]) return {};
  const double mean = std::cbrt(sigma[0] * sigma[1] * sigma[2]);
  return {std::sqrt(mean / sigma[0]), std::sqrt(mean / sigma[1]), std::sqrt(mean / sigma[2])};
}

inline double distance(const Point& a, const Point& b) { return std::hypot(a.e - b.e, a.n - b.n, a.u - b.u); }

/// The image of a point in a flat surface at height `surface`.
inline Point image(const Point& p, double surface) { return {p.e, p.n, 2 * surface - p.u}; }

/// 1/r + 1/r', 1/m; infinite at the source.
inline double inverse_distances(const Point& source, const Point& p, double surface) {
  return 1 / distance(source, p) + 1 / distance(image(source, surface), p);
}

/// Potential of 1 A in a half space of this conductivity (S/m), V/A.
inline double half_space_potential(const Point& source, const Point& p, double surface, double conductivity) {
  return inverse_distances(source, p, surface) / (4 * std::numbers::pi * conductivity);
}

/// E = −∇φ of half_space_potential(), along easting, northing, up, V/m per A.
inline std::array<double, 3> half_space_field(const Point& source, const Point& p, double surface,
                                              double conductivity) {
  std::array<double, 3> e{};
  for (const auto& from : {source, image(source, surface)}) {
    const double r = distance(from, p), d[3] = {p.e - from.e, p.n - from.n, p.u - from.u};
    if (r == 0) continue;  // E is infinite at the source; its mean over all directions, 0, is used there
    for (std::size_t a = 0; a < 3; ++a) e[a] += d[a] / (4 * std::numbers::pi * conductivity * r * r * r);
  }
  return e;
}

/// Like half_space_potential(), for a conductivity that differs by axis.  stretch: stretch_of() the
/// conductivities; conductivity: their geometric mean
inline double half_space_potential(const Point& source, const Point& p, double surface,
                                   const Stretch& stretch, double conductivity) {
  return half_space_potential(stretch(source), stretch(p), stretch.u * surface, conductivity);
}
inline std::array<double, 3> half_space_field(const Point& source, const Point& p, double surface,
                                              const Stretch& stretch, double conductivity) {
  auto e = half_space_field(stretch(source), stretch(p), stretch.u * surface, conductivity);
  for (std::size_t a = 0; a < 3; ++a) e[a] *= stretch.of(static_cast<int>(a));
  return e;
}

/// α of the mixed boundary condition, 1/m, at a point of a wall. axis: of the wall's normal, 0 easting, 1
/// northing, 2 up; sign: 1 if the outward normal points along the axis, −1 if against it
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
