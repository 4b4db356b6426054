// Perfectly matched layers: elements beyond a side, in which waves fade without being sent back.
//
//   ∂_j → ∂_j / s_j,   s_j = 1 + d_j / (α_j + iω)
//   d_j = − 3 v ln R / (2 L) q²,   α_j = π f (1 − q),   q = depth / L
//
// L thickness, v speed of the fastest wave, f of the sources, R what paper says is sent back (Komatitsch &
// Martin 2007). u = 0 at the outer edge. Damping 0.05 f q² ρ u̇ in each direction keeps modes of the layer,
// which coarse elements may let grow slowly, from growing; four times as much sends back twice as much. What
// a point does is in kernels/matched.hpp.
#pragma once

#include "terrane/physics/elastic/kernels/matched.hpp"
#include "terrane/physics/elastic/mesh.hpp"

namespace terrane::elastic {

/// Puts `elements` elements in front of each absorbing face, which must lie in planes across the axes, with
/// the rock of those at the face, and 10^−elements as reflection. The mesh has no absorbing faces then. The
/// new ones come after all others, and their axes of reference are those along which they fade. Throws
/// InputError at "elastic: boundary".
void add_margins(Mesh& mesh, std::size_t elements);

/// s of an axis at a place, and the damping, 1/s. frequency: f, Hz.
struct Fading {
  double d = 0, alpha = 0, damping = 0;
};
Fading fading_at(const Mesh& mesh, std::size_t axis, double x, double frequency);

/// Numbers of kernels/matched.hpp.
std::array<double, fading_numbers> filters_of(const Fading& fading, double step);

}  // namespace terrane::elastic
