// How much is stored per element and point, and how.
#pragma once

namespace terrane::elastic {

/// Three components and a fourth number, so that one load takes all: u (unused), w (Δt² / m).
template <class T>
struct alignas(4 * sizeof(T)) Vec4 {
  T x, y, z, w;
};

/// ∂ξ_r/∂x_d, det; or m1 … m7 of the trilinear map (hexahedron.hpp).
inline constexpr int shape_numbers(bool trilinear) { return trilinear ? 21 : 10; }
/// Kinds of rock: isotropic, any 21 constants, isotropic with attenuation; and fluids.
enum class Rheology : unsigned char { isotropic, anisotropic, attenuating, fluid };
inline constexpr int relaxations = 3;
inline constexpr int memory_of_point = 6 * relaxations;
/// λ, μ; or C11 … C66 row by row; or λ, μ and what the mechanisms take from κ and from μ; or 1/ρ.
inline constexpr int rock_numbers(Rheology rheology) {
  switch (rheology) {
    case Rheology::fluid:
      return 1;
    case Rheology::isotropic:
      return 2;
    case Rheology::anisotropic:
      return 21;
    default:
      return 2 + 2 * relaxations;
  }
}
/// Of each mechanism's recursion: ζ = η + c ε, η ← a ζ + b ε.
template <class T>
struct Recursion {
  T a[relaxations], b[relaxations], c[relaxations];
};

}  // namespace terrane::elastic
