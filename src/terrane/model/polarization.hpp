// Induced polarization: rock that stores charge.
//
//   ρ(ω) = ρ₀ [1 − m (1 − 1/(1 + (iωτ)^c))]     Cole-Cole (Pelton et al. 1978, Geophysics 43, 588-609, eq. 2)
//   σ∞ = σ₀/(1 − m)                             before charge is stored (Seigel 1959, Geophysics 24, 547-565)
//
// ρ₀ is the resistivity for direct current, m the chargeability, 0 ≤ m < 1, τ the time constant, and c the
// exponent, between 0 and 1; σ₀ and σ∞ are conductivities, ω is the angular frequency. The time dependence is
// e^{iωt}: the imaginary part of the conductivity is not negative, and voltages lag behind currents.
#pragma once

#include <cmath>
#include <complex>
#include <numbers>

namespace terrane {

/// Complex conductivity at a frequency.  conductivity S/m · chargeability V/V · time s · frequency Hz → S/m
inline std::complex<double> cole_cole(double conductivity, double chargeability, double time, double exponent,
                                      double frequency) {
  const double amount = std::pow(2 * std::numbers::pi * frequency * time, exponent);
  const auto turned = std::polar(amount, exponent * std::numbers::pi / 2);  // (iωτ)^c
  return conductivity / (1.0 - chargeability * (1.0 - 1.0 / (1.0 + turned)));
}

}  // namespace terrane
