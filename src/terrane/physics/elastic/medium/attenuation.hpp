// Attenuation: standard linear solids with almost constant Q.
//
//   M(ω) = M_U (1 − Σ_l Y_l ω_l / (ω_l + iω)),   1/Q = Im M / Re M      M: bulk modulus κ, shear modulus μ
//
// κ, μ and M are complex moduli at the angular frequency ω, M_U is the unrelaxed modulus. Each l is a
// mechanism: a standard linear solid with the relaxation frequency ω_l and the strength Y_l.
//
// All media have the same three ω_l, distributed over 1.75 decades so that 1/Q is within 3 % of its given
// value; Y_l are fitted by least squares for each Q (Emmerich & Korn 1987, Geophysics 52, 1252). Given speeds
// are phase speeds at a reference frequency, from which the unrelaxed moduli M_U follow. In the time domain,
// for each mechanism and component of strain ε, with its relaxed part ζ_l and a memory variable η,
//
//   ζ̇ + ω_l ζ = ω_l ε,   σ = M_U (ε − Σ_l Y_l ζ_l)
//   ζ = η + c ε,   η ← a ζ + b ε        a = e^{−x}, r = (1 − a)/x, b = r − a, c = 1 − r, x = ω_l Δt
//
// The recursion is exact if strain is linear in time between instants, stable for any step, and needs one
// memory variable.
#pragma once

#include <array>

#include "terrane/physics/elastic/element/medium.hpp"

namespace terrane::elastic {

inline constexpr int mechanisms = 3;
/// Number of memory variables per point: for each mechanism five of the strain without its trace, and the
/// trace.
inline constexpr int memory_numbers = 6 * mechanisms;
using Mechanisms = std::array<double, mechanisms>;

/// The relaxation frequencies ω_l, 1/s, for the band of 1.75 decades around `middle`, Hz.
Mechanisms relaxation(double middle);
/// The middle of the band that ends at `highest`, Hz.
double middle_below(double highest);
/// The strengths Y_l of the mechanisms for a Q; none is negative.
Mechanisms strengths(double quality, double middle);

/// Returns the medium with unrelaxed moduli and the parts of them that each mechanism relaxes. quality_kappa,
/// quality_mu of the medium may be infinite. reference: Hz. Throws InputError at `where` if the medium is not
/// isotropic, or if its Q is too low for a fit.
Medium unrelaxed(const Medium& medium, double middle, double reference, const std::string& where);

/// The elastic medium with the moduli that an attenuating medium has at a frequency, Hz; other media are
/// returned unchanged.
Medium elastic_at(const Medium& medium, double frequency, double middle);

/// Q_κ from Q_P and Q_S = Q_μ; not positive if there is no such Q_κ, or infinite without bulk attenuation.
double quality_kappa(double quality_p, double quality_s, double velocity_p, double velocity_s);

}  // namespace terrane::elastic
