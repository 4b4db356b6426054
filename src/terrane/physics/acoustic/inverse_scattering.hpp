// The inverse-scattering image: it shows scatterers, and suppresses the smooth artefacts of a correlation
// image where the waves of source and receivers travel in the same direction.
//
//   I_is = Σ_n (m a q + ∇p·∇q)      p, q: the waves of source and receivers;  a = p_tt;  m = 1/v²
//
// Σ_n: sum over time steps. For two plane waves of frequency ω whose directions of travel enclose the angle
// π − 2θ (θ: angle of incidence at a reflector), I_is is in magnitude 2 ω² m cos²θ times Σ p q. It is zero
// for waves that travel in the same direction, θ = π/2 (Op 't Root, Stolk & de Hoop 2012; Whitmore & Crawley
// 2012). Because ρ∇·(ρ⁻¹∇p) = m a, and likewise for q,
//
//   2 ∇p·∇q = ρ∇·(ρ⁻¹∇(pq)) − p m q_tt − q m p_tt,   Σ p q_tt = Σ q p_tt,   so   I_is = ½ ρ∇·(ρ⁻¹∇ Σ_n p q):
//
// away from sources and receivers the image follows from the cross-correlation alone. Differences have order
// 8 and are staggered (half-way between nodes), so they stay accurate for an image that varies over half a
// wavelength.
#pragma once

#include <vector>

#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// correlation: Σ p q on the mesh, Pa²; the result is in Pa²/m². Beyond the mesh the correlation is continued
/// by its values at the edge. VTI and TTI media are treated as media of constant density.
std::vector<double> inverse_scattering_of(const Problem& problem, const std::vector<double>& correlation);

}  // namespace terrane::acoustic
