// The inverse-scattering image: it shows scatterers, and suppresses the smooth artefacts of a correlation
// image where the two waves run the same way.
//
//   I_is = Σ_n (m a q + ∇p·∇q)      p, q: the waves of source and receivers;  a = p_tt;  m = 1/v²
//
// Plane waves that meet at the angle 2θ give ω²m 2cos²θ, those that run the same way nothing (Op 't Root,
// Stolk & de Hoop 2012; Whitmore & Crawley 2012). As ρ∇·(ρ⁻¹∇p) = m a and the same of q,
//
//   2 ∇p·∇q = ρ∇·(ρ⁻¹∇(pq)) − p m q_tt − q m p_tt,   Σ p q_tt = Σ q p_tt,   so   I_is = ½ ρ∇·(ρ⁻¹∇ Σ_n p q):
//
// it follows from the cross-correlation alone, away from sources and receivers. Differences are of order 8,
// half-way between nodes, where also an image of half a wavelength is smooth.
#pragma once

#include <vector>

#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// correlation: Σ p q on the mesh, Pa² → Pa²/m². Beyond the mesh the image goes on as at its edge. A medium
/// with an axis counts as one of constant density.
std::vector<double> inverse_scattering_of(const Problem& problem, const std::vector<double>& correlation);

}  // namespace terrane::acoustic
