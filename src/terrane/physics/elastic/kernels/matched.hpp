// Computation at a point of a perfectly matched layer: strain and inertia in stretched coordinates.
//
//   ∂_j → ∂_j / s_j,   s_j = 1 + d_j / (α_j + p),   p = iω                  (Kuzuoglu & Mittra 1996)
//
// d_j and α_j of axis j: margin.hpp; ω: angular frequency. In the weak form with test functions w, and with S
// = s_1 s_2 s_3 (Komatitsch & Martin 2007, Geophysics 72, SM155, without splitting),
//
//   ∫ ρ S p² u_i w + ∫ Σ_j ∂_j w T_ij = 0,   T_ij = Σ_kl C_ijkl (S / (s_j s_l)) ∂_l u_k
//
// S / (s_j s_l) is s_n, n the third axis, or, if j = l, s_m s_n / s_l, m and n the two other axes. Each
// factor is applied to a function of time g as a first-order filter, one after the other. Unlike partial
// fractions such filters are accurate also if two poles are close to each other:
//
//   s g = g + y,  (p + α) y = d g        g / s = g + y,  (p + α + d) y = − d g
//
// Each filter adds a term y to g. It is computed from a memory variable z, exactly if g is linear in time
// over a step Δt; the pole is α or α + d, the sign of ± d that of d in the equation above:
//
//   y = z + c g,   z ← e y + b g         x = pole Δt, e = e^{−x}, r = (1 − e)/x,
//                                        b = ± d Δt (r − e)/x, c = ± d Δt (1 − r)/x
//
// Inertia: the factors s are multiplied one by one to p² + b p, where b is the damping (braking) of the
// layer's medium (margin.hpp): s (p² + β p + γ) u + s m is (p² + β⁺ p + γ⁺) u + m⁺ with
//
//   β⁺ = β + d,   γ⁺ = γ − d α + β d,   m⁺ = m + d/(p + α) [(α² − β α + γ) u + m]
//
// where β⁺, γ⁺, m⁺ are the values of β, γ, m after the factor s; at first β = b, γ = 0, m = 0. The force β p
// u is damping, included in the time step at points as at absorbing sides; γ u + m is computed here.
#pragma once

#include "terrane/base/function.hpp"

/// Loops must be unrolled, or arrays of a thread on a device would not be in registers.
#if defined(__CUDACC__)
#define TERRANE_UNROLL _Pragma("unroll")
#else
#define TERRANE_UNROLL
#endif

namespace terrane::elastic {

/// Number of coefficients of one axis at a point: d, α; e, b, c of the filter s; e, b, c of the filter 1/s;
/// the part of the damping (braking) b that belongs to this axis.
inline constexpr int fading_numbers = 9;

/// Number of memory variables of a point. axes: along which waves are damped there, a sum of bits 1, 2, 4.
inline constexpr int matched_memory(unsigned axes) {
  const unsigned count = (axes & 1) + (axes >> 1 & 1) + (axes >> 2 & 1);
  return count == 0 ? 0 : count == 1 ? 12 : count == 2 ? 27 : 45;
}

/// Returns the term y that a filter adds to g, and advances the filter's memory variable, state (z at the
/// head of this file), by a step. f: the coefficients e, b, c
template <class V, class F>
TERRANE_FN V lag(const V& g, V& state, const F* f) {
  const V y = state + f[2] * g;
  state = f[0] * y + f[1] * g;
  return y;
}
template <class V, class F>
TERRANE_FN V filtered(const V& g, V& state, const F* f) {
  return g + lag(g, state, f);
}

/// of[j][c][l] = S / (s_j s_l) ∂_l u_c.  g [c][l]: ∂_l u_c. axis(d): coefficients of axis d at this point;
/// memory(n): the n-th memory variable. Returns the number of memory variables used.
template <class V, class Axis, class Memory>
TERRANE_FN int stretch(unsigned axes, const V (&g)[3][3], const Axis& axis, const Memory& memory,
                       V (&of)[3][3][3]) {
  int at = 0;
  TERRANE_UNROLL
  for (int l = 0; l < 3; ++l) {
    const int m = (l + 1) % 3, n = (l + 2) % 3;
    const bool on_l = axes >> l & 1, on_m = axes >> m & 1, on_n = axes >> n & 1;
    TERRANE_UNROLL
    for (int c = 0; c < 3; ++c) {
      const V plain = g[c][l];
      const V with_m = on_m ? filtered(plain, memory(at++), axis(m) + 2) : plain;
      const V with_n = on_n ? filtered(plain, memory(at++), axis(n) + 2) : plain;
      V both = on_m ? with_m : with_n;
      if (on_m && on_n) both = filtered(both, memory(at++), axis(n) + 2);
      if (on_l) both = filtered(both, memory(at++), axis(l) + 5);
      of[l][c][l] = both;
      of[n][c][l] = with_m;
      of[m][c][l] = with_n;
    }
  }
  return at;
}

/// t[i][j] = T_ij, the stress at the head of this file.  of: from stretch(); constant(n): the n-th of 21
/// constants (stress.hpp)
template <class V, class Constant>
TERRANE_FN void stretched_stress(const V (&of)[3][3][3], const Constant& constant, V (&t)[3][3]) {
  constexpr int row[6] = {0, 5, 9, 12, 14, 15}, voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
  TERRANE_UNROLL
  for (int j = 0; j < 3; ++j) {
    const V(&g)[3][3] = of[j];
    const V strain[6] = {g[0][0], g[1][1], g[2][2], g[1][2] + g[2][1], g[0][2] + g[2][0], g[0][1] + g[1][0]};
    TERRANE_UNROLL
    for (int i = 0; i < 3; ++i) {
      const int p = voigt[i][j];
      V sum = constant(p) * strain[0];
      TERRANE_UNROLL
      for (int q = 1; q < 6; ++q) sum += constant(p < q ? row[p] + q : row[q] + p) * strain[q];
      t[i][j] = sum;
    }
  }
}

/// push = γ u + m, the part of the inertia (head of this file) that is neither acceleration nor damping.  at:
/// index of the first memory variable to use
template <class V, class Axis, class Memory>
TERRANE_FN void stretched_inertia(unsigned axes, const V (&u)[3], const Axis& axis, const Memory& memory,
                                  int at, V (&push)[3]) {
  V beta{}, gamma{}, m[3] = {};
  TERRANE_UNROLL
  for (int j = 0; j < 3; ++j)
    if (axes >> j & 1) beta += axis(j)[8];
  TERRANE_UNROLL
  for (int j = 0; j < 3; ++j) {
    if (!(axes >> j & 1)) continue;
    const auto* const f = axis(j);
    const V d = V{} + f[0], alpha = V{} + f[1], of_u = (alpha - beta) * alpha + gamma;
    TERRANE_UNROLL
    for (int c = 0; c < 3; ++c) m[c] += lag(V(of_u * u[c] + m[c]), memory(at++), f + 2);
    gamma += d * (beta - alpha);
    beta += d;
  }
  for (int c = 0; c < 3; ++c) push[c] = gamma * u[c] + m[c];
}

}  // namespace terrane::elastic
