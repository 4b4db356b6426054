// A medium that turns waves into heat: standard linear solids with almost constant Q.
//
//   M(ω) = M_U (1 − Σ_l Y_l ω_l / (ω_l + iω)),   1/Q = Im M / Re M      M: bulk modulus κ, shear modulus μ
//
// The same three ω_l everywhere, spread over 1.75 decades so that 1/Q is within 3 % of what was asked for;
// Y_l by least squares for each Q (Emmerich & Korn 1987, Geophysics 52, 1252). Speeds are phase speeds at a
// reference frequency, from which the unrelaxed moduli M_U follow. In time, for each mechanism and component
// of strain,
//
//   ζ̇ + ω_l ζ = ω_l ε,   σ = M_U (ε − Σ_l Y_l ζ_l)
//   ζ = η + c ε,   η ← a ζ + b ε        a = e^{−x}, r = (1 − a)/x, b = r − a, c = 1 − r, x = ω_l Δt
//
// which is exact where strain is linear in time between instants, stable for any step, and keeps one number.
#pragma once

#include <array>

#include "terrane/physics/elastic/element/medium.hpp"

namespace terrane::elastic {

inline constexpr int mechanisms = 3;
/// Numbers that are kept per point: five of the strain without its trace, and the trace, of each mechanism.
inline constexpr int memory_numbers = 6 * mechanisms;
using Mechanisms = std::array<double, mechanisms>;

/// ω_l, 1/s, of the band of 1.75 decades around `middle`, Hz.
Mechanisms relaxation(double middle);
/// The middle of the band that ends at `highest`, Hz.
double middle_below(double highest);
/// Y_l, not negative.
Mechanisms strengths(double quality, double middle);

/// The medium with unrelaxed moduli and what each mechanism takes from them. quality_kappa, quality_mu: may
/// be infinite. reference: Hz. Throws InputError at `where`: not isotropic, Q too low to fit.
Medium unrelaxed(const Medium& medium, double middle, double reference, const std::string& where);

/// The elastic medium that is as stiff as an unrelaxed medium at a frequency, Hz; any other medium as it is.
Medium elastic_at(const Medium& medium, double frequency, double middle);

/// Q_κ from Q_P and Q_S = Q_μ; not positive or infinite where there is none.
double quality_kappa(double quality_p, double quality_s, double velocity_p, double velocity_s);

}  // namespace terrane::elastic
