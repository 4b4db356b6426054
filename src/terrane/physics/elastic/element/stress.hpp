// Computes stress from strain at a point, for any number type.
#pragma once

#include "terrane/base/function.hpp"

namespace terrane::elastic {

/// The stress of an isotropic medium, in the order xx, yy, zz, yz, xz, xy.  g [c][d]: ∂u_c/∂x_d
template <class V>
TERRANE_FN void isotropic_stress(const V (&g)[3][3], const V& lambda, const V& mu, V (&stress)[6]) {
  const V trace = lambda * (g[0][0] + g[1][1] + g[2][2]), twice = mu + mu;
  stress[0] = trace + twice * g[0][0];
  stress[1] = trace + twice * g[1][1];
  stress[2] = trace + twice * g[2][2];
  stress[3] = mu * (g[1][2] + g[2][1]);
  stress[4] = mu * (g[0][2] + g[2][0]);
  stress[5] = mu * (g[0][1] + g[1][0]);
}

/// Like isotropic_stress(), from 21 constants. constant(n): the n-th of the upper triangle, row by row: C11 …
/// C16, C22 … C26, …, C66. scale: factor of the strain.
template <class V, class Constant>
TERRANE_FN void anisotropic_stress(const V (&g)[3][3], const V& scale, const Constant& constant,
                                   V (&stress)[6]) {
  const V strain[6] = {scale * g[0][0],
                       scale * g[1][1],
                       scale * g[2][2],
                       scale * (g[1][2] + g[2][1]),
                       scale * (g[0][2] + g[2][0]),
                       scale * (g[0][1] + g[1][0])};
  constexpr int row[6] = {0, 5, 9, 12, 14, 15};  // C_pq, p ≤ q, is constant row[p] + q
  for (int p = 0; p < 6; ++p) {
    stress[p] = constant(p) * strain[0];
    for (int q = 1; q < 6; ++q) stress[p] += constant(p < q ? row[p] + q : row[q] + p) * strain[q];
  }
}

/// Subtracts the relaxed part from an isotropic stress, and advances the memory variables of all mechanisms
/// by a step (attenuation.hpp). taken: relaxed parts of κ, then of μ, [mechanisms] each, times `scale`.
/// memory(l, n): memory variable of mechanism l, in the unit of g, for the n-th of six numbers: strains xx
/// and yy, each less a third of the trace; doubled strains yz, xz, xy; the trace. a, b, c: coefficients of
/// the recursion, [mechanisms].
template <int count, class V, class T, class Taken, class Memory>
TERRANE_FN void relax(const V (&g)[3][3], const V& scale, const Taken& taken, const T* a, const T* b,
                      const T* c, const Memory& memory, V (&stress)[6]) {
  const V trace = g[0][0] + g[1][1] + g[2][2], third = trace * T(1.0 / 3);
  const V strain[6] = {g[0][0] - third,   g[1][1] - third,   g[1][2] + g[2][1],
                       g[0][2] + g[2][0], g[0][1] + g[1][0], trace};
  for (int l = 0; l < count; ++l) {
    V zeta[6];
    for (int n = 0; n < 6; ++n) {
      auto& eta = memory(l, n);
      zeta[n] = eta + c[l] * strain[n];
      eta = a[l] * zeta[n] + b[l] * strain[n];
    }
    const V mu = taken(count + l) * scale, twice = mu + mu, even = taken(l) * scale * zeta[5];
    stress[0] -= twice * zeta[0] + even;
    stress[1] -= twice * zeta[1] + even;
    stress[2] -= even - twice * (zeta[0] + zeta[1]);
    stress[3] -= mu * zeta[2];
    stress[4] -= mu * zeta[3];
    stress[5] -= mu * zeta[4];
  }
}

/// F_c = Σ_d σ_cd a_d: the flux of momentum (component c) through a face with normal a.
template <class V>
TERRANE_FN void flux(const V (&stress)[6], const V& a0, const V& a1, const V& a2, V& f0, V& f1, V& f2) {
  f0 = stress[0] * a0 + stress[5] * a1 + stress[4] * a2;
  f1 = stress[5] * a0 + stress[1] * a1 + stress[3] * a2;
  f2 = stress[4] * a0 + stress[3] * a1 + stress[2] * a2;
}

}  // namespace terrane::elastic
