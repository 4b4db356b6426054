// Margins: perfectly matched layers, elements beyond a side in which waves are damped without reflection.
//
//   ∂_j → ∂_j / s_j,   s_j = 1 + d_j / (α_j + iω)
//   d_j = − 3 v ln R / (2 L) q²,   α_j = π f (1 − q),   q = distance from the layer's inner edge / L
//
// s_j stretches the coordinate along axis j; ω angular frequency, L thickness of the layer, v speed of the
// fastest wave, f frequency of the sources, R theoretical reflection coefficient (Komatitsch & Martin 2007).
// u = 0 at the outer edge. Damping 0.05 f q² ρ u̇ in each direction prevents modes of the layer from growing
// slowly in coarse elements; four times this damping doubles the reflection. The computation at a point is in
// kernels/matched.hpp.
//
// A layer damps waves whose group and phase velocity both point outward. Waves whose group velocity points
// outward and whose phase velocity points inward grow. A weak stretch changes the frequency ω of a wave with
// the wavenumber k_j and the group velocity V_j by
//
//   δω = − k_j V_j d / (α + iω),   which is growth by  − (k_j V_j / ω) d ω² / (α² + ω²)
//
// (Bécache, Fauqueux & Joly 2003, Journal of Computational Physics 188, 399). V_j k_j < 0 holds for some
// guided waves in a slow medium between a free surface and faster media, and for waves in some anisotropic
// media. No choice of α, R or thickness prevents their growth, but damping of the medium (braking) does:
//
//   ρ ü → ρ (ü + b u̇),   b = braking · d,   before coordinates are stretched
//
// which reduces the growth rate by b/2. Without braking this rate is at most −(k_j V_j / ω) d, so braking
// above −2 k_j V_j / ω suffices. The layer is then no longer perfectly matched and reflects waves; therefore
// braking is zero if all media at a side are equal or similar.
#pragma once

#include "terrane/physics/elastic/kernels/matched.hpp"
#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

/// Adds `elements` elements beyond each absorbing face, with the medium of the element at the face and a
/// reflection coefficient R of 10^−elements, or nearer to 10^−2 with braking. Absorbing faces must lie in
/// planes normal to the axes; afterwards the mesh has none. New elements follow all others; their reference
/// axes ξ, η, ζ are aligned with the axes along which they damp waves. Throws InputError at "elastic:
/// boundary".
void add_margins(Mesh& mesh, std::size_t elements);

/// Coefficients of one axis at a coordinate x on it, 1/s: d and α of s; damping: 0.05 f q²; brake: b. All are
/// explained at the head of this file. frequency: f, Hz.
struct Fading {
  double d = 0, alpha = 0, damping = 0, brake = 0;
};
Fading fading_at(const Mesh& mesh, std::size_t axis, double x, double frequency);

/// The braking that prevents guided waves from growing. fastest, slowest: each medium at the side has a
/// slowest wave; these are the largest and the smallest speed of such waves, m/s
double braking_of_layers(double fastest, double slowest);

/// The braking that plane waves of one medium need along an axis; 0 for isotropic media.
double braking_of(const Medium& medium, std::size_t axis);

/// The coefficients of one axis that kernels/matched.hpp needs.
std::array<double, fading_numbers> filters_of(const Fading& fading, double step);

}  // namespace terrane::elastic
