// The numbers that are stored per element and per point, and their order.
#pragma once

#include "terrane/physics/elastic/kernels/matched.hpp"

namespace terrane::elastic {

/// Three components and a fourth number, so that one instruction loads all. The fourth number is Δt² / mass
/// in w, the change of displacement over a step, and unused in the displacement u.
template <class T>
struct alignas(4 * sizeof(T)) Vec4 {
  T x, y, z, w;
};

/// The kind of an element's map: linear, trilinear, or through 27 nodes (hexahedron.hpp).
enum class Shape : unsigned char { parallel, trilinear, curved };
/// Number of values that describe an element's shape. parallel: ∂ξ_r/∂x_d and det; trilinear: m1 … m7;
/// curved: for each point the cofactors and 1/det. points: number of points of an element.
inline constexpr int shape_numbers(Shape shape, int points) {
  return shape == Shape::parallel ? 10 : shape == Shape::trilinear ? 21 : 10 * points;
}
/// Kinds of media.
enum class Rheology : unsigned char {
  isotropic,
  anisotropic,  ///< 21 elastic constants
  attenuating,  ///< isotropic, with attenuation
  fluid,
  matched,              ///< elements in a perfectly matched layer (matched.hpp); with the trilinear map only
  lossy,                ///< 21 elastic constants, with attenuation
  varying,              ///< isotropic, varies from point to point within an element
  varying_attenuating,  ///< isotropic, with attenuation, varies within an element
  varying_fluid         ///< varies within an element
};
inline constexpr int rheologies = 9;
inline constexpr bool attenuates(Rheology rheology) {
  return rheology == Rheology::attenuating || rheology == Rheology::lossy ||
         rheology == Rheology::varying_attenuating;
}
/// Whether the unknown is a potential (in fluids), stored as the first component.
inline constexpr bool is_potential(Rheology rheology) {
  return rheology == Rheology::fluid || rheology == Rheology::varying_fluid;
}
/// Number of values of the medium that differ from point to point of an element: λ and μ; in fluids 1/ρ.
inline constexpr int point_numbers(Rheology rheology) {
  if (rheology == Rheology::varying_fluid) return 1;
  return rheology == Rheology::varying || rheology == Rheology::varying_attenuating ? 2 : 0;
}
/// Number of elastic constants: 2 (λ and μ), or 21.
inline constexpr int hooke_numbers(Rheology rheology) {
  return rheology == Rheology::anisotropic || rheology == Rheology::lossy ? 21 : 2;
}
inline constexpr int relaxations = 3;
inline constexpr int memory_of_point = 6 * relaxations;
/// Number of memory variables of an element per point. axes: along which waves are damped in it.
inline constexpr int memory_numbers_of(Rheology rheology, unsigned axes) {
  return attenuates(rheology) ? memory_of_point : rheology == Rheology::matched ? matched_memory(axes) : 0;
}
/// Number of values of the medium that are constant within an element. Isotropic: λ, μ. Anisotropic: C11 …
/// C66 row by row. Either with attenuation: in addition the part of κ that each mechanism relaxes, then those
/// of μ, Pa. Fluids: 1/ρ. Matched layers: the 21 constants, ρ, and for each axis fading_numbers coefficients
/// at each of the `points` along it. Media that vary have none; with attenuation, the relaxed parts as
/// fractions of κ and μ. points: number of an element's points in each direction.
inline constexpr int even_numbers(Rheology rheology, int points) {
  switch (rheology) {
    case Rheology::fluid:
      return 1;
    case Rheology::matched:
      return 22 + 3 * fading_numbers * points;
    case Rheology::varying:
    case Rheology::varying_fluid:
      return 0;
    case Rheology::varying_attenuating:
      return 2 * relaxations;
    default:
      return hooke_numbers(rheology) + (attenuates(rheology) ? 2 * relaxations : 0);
  }
}
/// Number of all values of an element's medium: first constant ones, then those of points, [numbers][points].
inline constexpr int medium_numbers(Rheology rheology, int points) {
  return even_numbers(rheology, points) + point_numbers(rheology) * points * points * points;
}
/// Whether points within an element are advanced by a time step in the kernel that computes its forces: not
/// in matched layers, where another kernel (LeapAndLeave) also damps them.
inline constexpr bool uses_inner(Rheology rheology) { return rheology != Rheology::matched; }
/// Whether point i, of p points in a direction, is neither the first nor the last.
TERRANE_FN bool within(int i, int p) { return i > 0 && i < p - 1; }
TERRANE_FN bool is_inner(int n, int p) {
  return within(n % p, p) && within(n / p % p, p) && within(n / p / p, p);
}
/// forces_kept: number of forces that an element stores for the sums at points, layer by layer; if
/// inner_used, without points within the element. place_of_force: index of point i, j, k among them.
inline constexpr int forces_kept(int p, bool inner_used) {
  return p * p * p - (inner_used ? (p - 2) * (p - 2) * (p - 2) : 0);
}
TERRANE_FN int place_of_force(int i, int j, int k, int p) {
  const int plane = i + p * j, ring = 4 * (p - 1);
  if (k == 0) return plane;
  if (k == p - 1) return p * p + (p - 2) * ring + plane;
  const int before = j == 0 ? i : j == p - 1 ? ring - p + i : p + 2 * (j - 1) + (i == 0 ? 0 : 1);
  return p * p + (k - 1) * ring + before;
}

/// Coefficients a, b, c of each attenuation mechanism's recursion ζ = η + c ε, η ← a ζ + b ε; ε: strain, ζ:
/// its relaxed part, η: memory variable (attenuation.hpp).
template <class T>
struct Recursion {
  T a[relaxations], b[relaxations], c[relaxations];
};

}  // namespace terrane::elastic
