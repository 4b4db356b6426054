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
/// λ, μ; or C11 … C66 row by row.
inline constexpr int rock_numbers(bool isotropic) { return isotropic ? 2 : 21; }

}  // namespace terrane::elastic
