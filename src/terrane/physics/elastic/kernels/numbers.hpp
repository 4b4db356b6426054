// How much is stored per element and point, and how.
#pragma once

#include "terrane/physics/elastic/kernels/matched.hpp"

namespace terrane::elastic {

/// Three components and a fourth number, so that one load takes all: u (unused), w (Δt² / m).
template <class T>
struct alignas(4 * sizeof(T)) Vec4 {
  T x, y, z, w;
};

/// The kind of an element's map: linear, trilinear, or through 27 nodes (hexahedron.hpp).
enum class Shape : unsigned char { parallel, trilinear, curved };
/// ∂ξ_r/∂x_d, det; or m1 … m7 of the trilinear map; or for each point the cofactors and 1/det. points: of an
/// element.
inline constexpr int shape_numbers(Shape shape, int points) {
  return shape == Shape::parallel ? 10 : shape == Shape::trilinear ? 21 : 10 * points;
}
/// Kinds of media: isotropic, any 21 constants, isotropic with attenuation; fluids; the medium of a margin,
/// where waves fade (matched.hpp), with the trilinear map alone; any 21 constants with attenuation; and
/// isotropic media and fluids that vary from point to point of an element.
enum class Rheology : unsigned char {
  isotropic,
  anisotropic,
  attenuating,
  fluid,
  matched,
  lossy,
  varying,
  varying_attenuating,
  varying_fluid
};
inline constexpr int rheologies = 9;
inline constexpr bool attenuates(Rheology rheology) {
  return rheology == Rheology::attenuating || rheology == Rheology::lossy ||
         rheology == Rheology::varying_attenuating;
}
/// The unknown is a potential, the first component.
inline constexpr bool is_potential(Rheology rheology) {
  return rheology == Rheology::fluid || rheology == Rheology::varying_fluid;
}
/// Numbers of the medium that differ from point to point of an element: λ and μ; or 1/ρ.
inline constexpr int point_numbers(Rheology rheology) {
  if (rheology == Rheology::varying_fluid) return 1;
  return rheology == Rheology::varying || rheology == Rheology::varying_attenuating ? 2 : 0;
}
/// Numbers of Hooke's law: λ and μ, or 21.
inline constexpr int hooke_numbers(Rheology rheology) {
  return rheology == Rheology::anisotropic || rheology == Rheology::lossy ? 21 : 2;
}
inline constexpr int relaxations = 3;
inline constexpr int memory_of_point = 6 * relaxations;
/// Numbers that an element of this rheology keeps per point. axes: those along which waves fade there.
inline constexpr int memory_numbers_of(Rheology rheology, unsigned axes) {
  return attenuates(rheology) ? memory_of_point : rheology == Rheology::matched ? matched_memory(axes) : 0;
}
/// Numbers of the medium that are the same in all of an element: λ, μ; or C11 … C66 row by row; or either and
/// what the mechanisms take from κ and from μ; or 1/ρ; or the 21 constants, ρ, and fading_numbers for each
/// axis and point along it; or, where media vary, which parts of κ and μ the mechanisms take. points: of an
/// element, in each direction
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
/// All numbers of an element's medium: even ones, then those of points, [number][point].
inline constexpr int medium_numbers(Rheology rheology, int points) {
  return even_numbers(rheology, points) + point_numbers(rheology) * points * points * points;
}
/// Whether points within an element take their step where its forces are computed; in margins they also fade.
inline constexpr bool uses_inner(Rheology rheology) { return rheology != Rheology::matched; }
/// Whether point i, of p points in a direction, is neither the first nor the last.
TERRANE_FN bool within(int i, int p) { return i > 0 && i < p - 1; }
TERRANE_FN bool is_inner(int n, int p) {
  return within(n % p, p) && within(n / p % p, p) && within(n / p / p, p);
}
/// Number of forces that an element stores for the sums at points, layer by layer; where inner_used, points
/// within it are left out. And the place of point i, j, k among them.
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

/// Numbers of each mechanism's recursion: ζ = η + c ε, η ← a ζ + b ε.
template <class T>
struct Recursion {
  T a[relaxations], b[relaxations], c[relaxations];
};

}  // namespace terrane::elastic
