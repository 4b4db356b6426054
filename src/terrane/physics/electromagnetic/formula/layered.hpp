// Fields of dipoles in a layered earth, by Hankel transforms: a reference for the fields computed on meshes.
//
// For a horizontal wavenumber λ a layer is a transmission line along up, of two kinds (σ_h, σ_v: horizontal
// and vertical conductivity):
//
//   TM   γ² = σ_h (λ²/σ_v + iωμ₀),  Z = γ/σ_h          TE   γ² = λ² + iωμ₀ σ_h,  Z = iωμ₀/γ
//   dV/dz = −γ Z I + v,   dI/dz = −(γ/Z) V + i
//
// γ: propagation constant; Z: impedance; V, I: voltage and current; v, i: sources of voltage and of current.
// V_i, I_i: response to a unit i at the source; V_v, I_v: to a unit v. At the end of a layer the reflection
// coefficient is
//
//   Γ = (r + Γ' e^{−2γ'h'})/(1 + r Γ' e^{−2γ'h'}),   r = (Z' − Z)/(Z' + Z)
//
// with primes for the next layer, and h' its thickness. All exponents are negative. For a horizontal dipole
// of moment Il along x, with the superscripts e for TM and h for TE, J_n = J_n(λρ), and a receiver at the
// horizontal distance ρ and the azimuth φ from x:
//
//   E_x = −Il/4π ∫ [(V_i^e + V_i^h) J₀ − cos 2φ (V_i^e − V_i^h) J₂] λ dλ
//   E_y = Il/4π sin 2φ ∫ (V_i^e − V_i^h) J₂ λ dλ        E_z = Il cos φ/(2πσ_v) ∫ I_i^e λ² J₁ dλ
//   H_x = −Il/4π sin 2φ ∫ (I_i^e − I_i^h) J₂ λ dλ       H_z = −i Il sin φ/(2πωμ₀) ∫ V_i^h λ² J₁ dλ
//   H_y = −Il/4π ∫ [(I_i^e + I_i^h) J₀ − cos 2φ (I_i^e − I_i^h) J₂] λ dλ
//
// For vertical electric and magnetic dipoles: see layered.cpp. Along a wire, the part of a dipole's field
// that is a derivative along the wire integrates to terms of the two ends; with the unit vectors ρ̂ away from
// an end and φ̂ to the left of ρ̂, the first end (and with opposite sign the last) contributes
//
//   E = −ρ̂ I/2π ∫ (V_i^e − V_i^h) J₁ dλ − ẑ I/(2πσ_v) ∫ I_i^e λ J₀ dλ,   H = −φ̂ I/2π ∫ (I_i^e − I_i^h) J₁ dλ
//
// and a segment (dl, dz) of the wire, dl horizontal with ŷ to its left, contributes only the field of
// induction, which decays as 1/r and not as 1/r² or 1/r³:
//
//   E = −I dl/2π ∫ V_i^h λ J₀ dλ − iωμ₀ I dz/2π [ρ̂ ∫ (V_v^e − V_v^h) J₁ dλ + ẑ/σ_v ∫ I_v^e λ J₀ dλ]
//   H = −ŷ I dl/2π ∫ I_i^h λ J₀ dλ − ẑ i I dl sin φ/(2πωμ₀) ∫ V_i^h λ² J₁ dλ
//       + φ̂ iωμ₀ I dz/2π ∫ (I_v^h − I_v^e) J₁ dλ
//
// because ∂V_i/∂z' = γZ V_v and ∂I_i/∂z' = γZ I_v − δ(z − z') at the source's height z'. Quasi-static, time
// e^{+iωt}. Integration: 16 Gauss points between zeros of the Bessel functions, and Wynn's ε algorithm for
// the alternating sums; relative error 1e-8 or less, unless the field is exponentially smaller than the
// integrand.  Sources: Ward & Hohmann 1988; Michalski & Mosig 1997 (the potential of charges on a wire).
#pragma once

#include <array>
#include <complex>
#include <span>
#include <vector>

namespace terrane::electromagnetic {

struct LayeredEarth {
  struct Layer {
    /// Horizontal and vertical conductivity, S/m; complex if the medium stores charge.
    std::complex<double> horizontal, vertical;
  };
  std::vector<Layer> layers;       ///< layers from the lowest to the highest
  std::vector<double> interfaces;  ///< [layers − 1] heights of interfaces, m, ascending
};

/// E (V/m) and H (A/m) along east, north, up.
struct DipoleField {
  std::array<std::complex<double>, 3> e{}, h{};
};

/// The field of an electric dipole with the given moment, A m along east, north, up. Source and receiver lie
/// within layers, not on interfaces. Throws InputError: the number of interfaces is not layers − 1; a
/// conductivity is not positive; source and receiver lie on one vertical line.
DipoleField electric_dipole(const LayeredEarth& earth, double hertz, const std::array<double, 3>& source,
                            const std::array<double, 3>& moment, const std::array<double, 3>& receiver);
/// The field of a vertical magnetic dipole; moment in A m², positive upward.
DipoleField vertical_magnetic_dipole(const LayeredEarth& earth, double hertz,
                                     const std::array<double, 3>& source, double moment,
                                     const std::array<double, 3>& receiver);

/// The field of a wire through `points`; current in A. The wire is grounded at its ends; if the last point is
/// the first, it is a loop. Relative error 1e-5 at any distance: the wire is divided into segments no longer
/// than their distance from the receiver, with four Gauss points each, or fewer for short segments. A
/// receiver may lie anywhere except on an interface or on the wire. Throws InputError as electric_dipole().
DipoleField wire(const LayeredEarth& earth, double hertz, std::span<const std::array<double, 3>> points,
                 double current, const std::array<double, 3>& receiver);

/// The impedance E/H of a plane wave from above at the top interface, ohm. Recursion from below:
/// Z_j = z_j (Z_{j−1} + z_j t)/(z_j + Z_{j−1} t), t = tanh(k_j h_j), k = √(iωμ₀σ), z = iωμ₀/k;
/// Z_j: impedance at the top of layer j, counted from the lowest; h_j: its thickness.
std::complex<double> plane_wave_impedance(const LayeredEarth& earth, double hertz);

}  // namespace terrane::electromagnetic
