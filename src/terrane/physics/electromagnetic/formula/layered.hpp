// Fields of dipoles in a layered earth, by Hankel transforms: what the fields of meshes are compared with.
//
// For a horizontal wavenumber λ a layer is a transmission line along up, of two kinds (σ_h, σ_v: horizontal
// and vertical conductivity):
//
//   TM   γ² = σ_h (λ²/σ_v + iωμ₀),  Z = γ/σ_h          TE   γ² = λ² + iωμ₀ σ_h,  Z = iωμ₀/γ
//   dV/dz = −γ Z I + v,   dI/dz = −(γ/Z) V + i
//
// V_i, I_i answer a unit i at the source, V_v, I_v a unit v. At the end of a layer waves are reflected with
// Γ = (r + Γ' e^{−2γ'h'})/(1 + r Γ' e^{−2γ'h'}), r = (Z' − Z)/(Z' + Z), primes for the next layer. All
// exponents are negative. With k² from x along a horizontal dipole of moment Il, e TM and h TE:
//
//   E_x = −Il/4π ∫ [(V_i^e + V_i^h) J₀ − cos 2φ (V_i^e − V_i^h) J₂] λ dλ
//   E_y = Il/4π sin 2φ ∫ (V_i^e − V_i^h) J₂ λ dλ        E_z = Il cos φ/(2πσ_v) ∫ I_i^e λ² J₁ dλ
//   H_x = −Il/4π sin 2φ ∫ (I_i^e − I_i^h) J₂ λ dλ       H_z = −i Il sin φ/(2πωμ₀) ∫ V_i^h λ² J₁ dλ
//   H_y = −Il/4π ∫ [(I_i^e + I_i^h) J₀ − cos 2φ (I_i^e − I_i^h) J₂] λ dλ
//
// and of vertical electric and magnetic dipoles as layered.cpp has them. What a dipole of a wire has in
// common with its neighbours is a derivative along the wire and leaves its two ends alone; with the unit
// vectors ρ̂ away from an end and φ̂ to the left of it, the first end (−: the last) gives
//
//   E = −ρ̂ I/2π ∫ (V_i^e − V_i^h) J₁ dλ − ẑ I/(2πσ_v) ∫ I_i^e λ J₀ dλ,   H = −φ̂ I/2π ∫ (I_i^e − I_i^h) J₁ dλ
//
// and a part (dl, dz) of the wire, dl horizontal with ŷ to its left, only what induction gives, which falls
// with the distance and not with its square and cube:
//
//   E = −I dl/2π ∫ V_i^h λ J₀ dλ − iωμ₀ I dz/2π [ρ̂ ∫ (V_v^e − V_v^h) J₁ dλ + ẑ/σ_v ∫ I_v^e λ J₀ dλ]
//   H = −ŷ I dl/2π ∫ I_i^h λ J₀ dλ − ẑ i I dl sin φ/(2πωμ₀) ∫ V_i^h λ² J₁ dλ
//       + φ̂ iωμ₀ I dz/2π ∫ (I_v^h − I_v^e) J₁ dλ
//
// as ∂V_i/∂z' = γZ V_v and ∂I_i/∂z' = γZ I_v − δ(z − z') at the source's height z'. Quasi-static, time
// e^{+iωt}. Between
// zeros of the Bessel functions 16 Gauss points, and Wynn's ε over the alternating sums: 1e-8 or better of
// the field, but where it is exponentially small against its integrand.  Sources: Ward & Hohmann 1988;
// Michalski & Mosig 1997 (the potential of charges on a wire).
#pragma once

#include <array>
#include <complex>
#include <span>
#include <vector>

namespace terrane::electromagnetic {

struct LayeredEarth {
  struct Layer {
    std::complex<double> horizontal, vertical;  ///< conductivity, S/m; complex of a medium that stores charge
  };
  std::vector<Layer> layers;       ///< from below
  std::vector<double> interfaces;  ///< [layers − 1] heights, ascending, m
};

/// East, north, up, V/m and A/m.
struct DipoleField {
  std::array<std::complex<double>, 3> e{}, h{};
};

/// The field of an electric dipole, moment in A m east, north, up. Source and receiver lie in layers, not on
/// interfaces. Throws InputError: another number of interfaces, conductivities that are not positive, source
/// and receiver on one vertical line.
DipoleField electric_dipole(const LayeredEarth& earth, double hertz, const std::array<double, 3>& source,
                            const std::array<double, 3>& moment, const std::array<double, 3>& receiver);
/// The field of a vertical magnetic dipole, A m² up.
DipoleField vertical_magnetic_dipole(const LayeredEarth& earth, double hertz,
                                     const std::array<double, 3>& source, double moment,
                                     const std::array<double, 3>& receiver);

/// The field of a wire through points, current in A; grounded at its ends, or a loop where the last point is
/// the first. Accurate to 1e-5 of the field at any distance: parts of the wire are no longer than their
/// distance from the receiver, with four Gauss points each, or fewer where they are short. A receiver may lie
/// anywhere but on an interface or on the wire. Throws InputError as above.
DipoleField wire(const LayeredEarth& earth, double hertz, std::span<const std::array<double, 3>> points,
                 double current, const std::array<double, 3>& receiver);

/// E/H of a plane wave at the top interface, ohm: the layers below it, as a wave from above sees them. From
/// below, Z = z_j (Z + z_j t)/(z_j + Z t), t = tanh(k_j h_j), k = √(iωμ₀σ), z = iωμ₀/k.
std::complex<double> plane_wave_impedance(const LayeredEarth& earth, double hertz);

}  // namespace terrane::electromagnetic
