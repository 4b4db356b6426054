// Perfectly matched layers: elements beyond a side, in which waves fade without reflection.
//
//   ∂_j → ∂_j / s_j,   s_j = 1 + d_j / (α_j + iω)
//   d_j = − 3 v ln R / (2 L) q²,   α_j = π f (1 − q),   q = depth / L
//
// L thickness, v speed of the fastest wave, f frequency of the sources, R reflection in theory (Komatitsch &
// Martin 2007). u = 0 at the outer edge. Damping 0.05 f q² ρ u̇ in each direction keeps modes of the layer,
// which coarse elements may let grow slowly, from growing; four times as much reflects twice as much. What
// a point does is in kernels/matched.hpp.
//
// A layer damps waves whose group and phase velocity both point outward. It lets waves grow whose energy runs
// outward and whose phase runs inward. Where the stretch is weak, it changes the frequency ω of a wave with
// the wavenumber k_j and the group velocity V_j by
//
//   δω = − k_j V_j d / (α + iω),   which is growth by  − (k_j V_j / ω) d ω² / (α² + ω²)
//
// (Bécache, Fauqueux & Joly 2003, Journal of Computational Physics 188, 399). V_j k_j < 0 have guided waves
// of media slow between a free surface and faster ones, near where P and S stand between both, and waves of
// some anisotropic media. No α, R or thickness keeps them from growing, but braking does:
//
//   ρ ü → ρ (ü + b u̇),   b = braking · d,   before coordinates are stretched
//
// which reduces growth by b/2, so braking above −2 k_j V_j / ω suffices. It breaks the perfect match and so
// reflects waves; therefore there is none where all media at a side are alike, or nearly.
#pragma once

#include "terrane/physics/elastic/kernels/matched.hpp"
#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

/// Puts `elements` elements in front of each absorbing face, which must lie in planes across the axes, with
/// the medium of those at the face, and 10^−elements as reflection. The mesh has no absorbing faces then. The
/// new ones come after all others, and their axes of reference are those along which they fade. Throws
/// InputError at "elastic: boundary".
void add_margins(Mesh& mesh, std::size_t elements);

/// s of an axis at a place, the damping, and b, 1/s. frequency: f, Hz.
struct Fading {
  double d = 0, alpha = 0, damping = 0, brake = 0;
};
Fading fading_at(const Mesh& mesh, std::size_t axis, double x, double frequency);

/// The braking that keeps waves from growing where media at a side have slowest waves of such unequal speeds.
double braking_of_layers(double fastest, double slowest);

/// The braking that plane waves of one medium need along an axis; 0 for isotropic media.
double braking_of(const Medium& medium, std::size_t axis);

/// Numbers of kernels/matched.hpp.
std::array<double, fading_numbers> filters_of(const Fading& fading, double step);

}  // namespace terrane::elastic
