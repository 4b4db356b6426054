// The time step of one node in each equation: the reference with which the kernels for rows on a CPU and the
// tuned kernels of a GPU must agree.
#pragma once

#include "terrane/physics/acoustic/march/kernels.hpp"

namespace terrane::acoustic {

/// Step with constant density. Memory traffic of a node in single precision: p⁻ read and p⁺ written, p and
/// v²Δt² read: 16 bytes.
template <int M, class T>
TERRANE_FN void step_constant_density(const StepArguments<T>& g, const Region& region, Index k, Index j,
                                      Index i) {
  T sum = laplacian<M>(g.stencil, g.now + k * g.stride[0] + j * g.stride[1] + i, g.stride);
  for (int axis = 0; axis < 3; ++axis)
    if (region.side[axis] >= 0) sum += layer_term<M>(g, axis, region.side[axis], k, j, i);
  leap_at(g, region, k, j, i, g.now, g.next, sum);
}

/// Step with variable density. Memory traffic: as for constant density, and ρ: 20 bytes. Here a flux
/// b (D⁺p + ψ) is computed again at each of the 2M nodes that need it, from p and ρ read once per node;
/// kernels for rows on a CPU and tiles of a GPU compute each flux once.
template <int M, class T>
TERRANE_FN void step_variable_density(const StepArguments<T>& g, const Region& region, Index k, Index j,
                                      Index i) {
  const Index here = k * g.stride[0] + j * g.stride[1] + i;
  T sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const Index step = g.stride[axis];
    if (step == 0) continue;
    const auto& a = g.stencil.half[axis];
    const int side = region.side[axis];
    const LayerArrays<T>& layer = g.layers[axis][side > 0 ? side : 0];
    const Index in_layer = k * layer.stride[0] + j * layer.stride[1] + i;
    const Index at = axis == 0 ? k : axis == 1 ? j : i;
    T p[4 * M - 1], half_density[2 * M + 1], flux[2 * M];  // first elements: nodes 1 − 2M, −M, −M on the axis
    unrolled<4 * M - 1>([&](auto n) { p[n] = g.now[here + (n + 1 - 2 * M) * step]; });
    unrolled<2 * M + 1>([&](auto n) { half_density[n] = g.half_density[here + (n - M) * step]; });
    unrolled<2 * M>([&](auto n) {
      T difference = 0;
      if (by_planes<T>(axis)) difference = difference_of_planes<M>(a, [&](int m) { return p[n + M + m]; });
      else
        unrolled<M>([&](auto m) { difference = fused(a[m], p[n + M + m] - p[n + M - 1 - m], difference); });
      const Index of_flux = at + n - M;
      const bool has_psi = side >= 0 && of_flux >= layer.first && of_flux < layer.last;
      const T psi = has_psi ? layer.psi[in_layer + (n - M) * layer.stride[axis]] : T(0);
      flux[n] = ratio(difference + psi, half_density[n] + half_density[n + 1]);
    });
    T divergence = 0;
    if (by_planes<T>(axis)) divergence = difference_of_planes<M>(a, [&](int m) { return flux[M + m]; });
    else unrolled<M>([&](auto n) { divergence = fused(a[n], flux[M + n] - flux[M - 1 - n], divergence); });
    if (side >= 0 && at >= layer.first && at < layer.last) {
      T& zeta = layer.zeta[in_layer];
      zeta = fused(layer.b[at], zeta, layer.a[at] * divergence);
      divergence += zeta;
    }
    sum += divergence;
  }
  leap_at(g, region, k, j, i, g.now, g.next, sum);
}

/// Computes p⁺ and q⁺ of a VTI or TTI medium from H p and V q (problem.hpp).
template <class T>
TERRANE_FN void leap_with_axis(const StepArguments<T>& g, const Region& region, Index k, Index j, Index i,
                               T h_p, T v_q) {
  const Index here = k * g.stride[0] + j * g.stride[1] + i;
  const T wide = g.wide[here], mixed = g.mixed[here];
  leap_at(g, region, k, j, i, g.now, g.next, fused(wide, h_p, mixed * v_q));
  leap_at(g, region, k, j, i, g.now_q, g.next_q, fused(mixed, h_p, v_q));
}

/// L_north p + L_east p: the second differences along the two horizontal axes.
template <int M, class T>
TERRANE_FN T level_difference(const Stencil<T>& s, const T* p, const Index (&stride)[3]) {
  T sum = (s.centre_of[1] + s.centre_of[2]) * p[0];
  unrolled<M>([&](auto r) {
    constexpr int n = decltype(r)::value;
    const Index j = (n + 1) * stride[1];
    sum = fused(s.second[2][n], p[n + 1] + p[-n - 1], sum);
    sum = fused(s.second[1][n], p[j] + p[-j], sum);
  });
  return sum;
}

/// Step with a vertical axis. Memory traffic: p⁻, q⁻, p, q, v²Δt², 1 + 2ε and √(1 + 2δ) read, p⁺ and q⁺
/// written: 36 bytes.
template <int M, class T>
TERRANE_FN void step_vti(const StepArguments<T>& g, const Region& region, Index k, Index j, Index i) {
  const Index here = k * g.stride[0] + j * g.stride[1] + i;
  T h_p = level_difference<M>(g.stencil, g.now + here, g.stride);
  T v_q = second_difference<M>(g.stencil.second[0], g.stencil.centre_of[0], g.now_q + here, g.stride[0]);
  if (region.side[0] >= 0) v_q += layer_term<M>(g, 0, region.side[0], k, j, i);
  for (int axis = 1; axis < 3; ++axis)
    if (region.side[axis] >= 0) h_p += layer_term<M>(g, axis, region.side[axis], k, j, i);
  leap_with_axis(g, region, k, j, i, h_p, v_q);
}

/// G w = Σ n_k D_k w, the derivative along the tilted axis n.  n: arrays, read at the offset `here`; w:
/// pointer to the value at the node
template <int M, class T>
TERRANE_FN T derivative_along(const Stencil<T>& s, const T* const (&n)[3], Index here, const T* w,
                              const Index (&stride)[3]) {
  T sum = n[0][here] * first_difference<M>(s.first[0], w, stride[0]);
  sum = fused(n[1][here], first_difference<M>(s.first[1], w, stride[1]), sum);
  return fused(n[2][here], first_difference<M>(s.first[2], w, 1), sum);
}

/// −Gᵀ s = Σ D_k (n_k s); with s = G w this is V w (problem.hpp).  s: pointer to the value at the node
template <int M, class T>
TERRANE_FN T derivative_back(const Stencil<T>& d, const T* const (&n)[3], Index here, const T* s,
                             const Index (&stride)[3]) {
  T sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const T* const n_k = n[axis] + here;
    const Index step = axis == 2 ? 1 : stride[axis];
    for (int r = 0; r < M; ++r) {
      const Index there = (r + 1) * step;
      sum = fused(d.first[axis][r], fused(n_k[there], s[there], -(n_k[-there] * s[-there])), sum);
    }
  }
  return sum;
}

/// ψ of q, which is added to G q (the derivative of q along the tilted axis) in absorbing layers of the axis
/// up. Outside the rank's part ψ may be left out, because G q is multiplied there by n_north or n_east, which
/// are zero at these layers.
template <class T>
TERRANE_FN T psi_of_q(const StepArguments<T>& g, Index k, Index j, Index i) {
  if (j < g.part.first[1] || j >= g.part.last[1] || i < g.part.first[2] || i >= g.part.last[2]) return 0;
  for (int side = 0; side < 2; ++side) {
    const LayerArrays<T>& layer = g.layers[0][side];
    if (k >= layer.first && k < layer.last) return layer.psi[k * layer.stride[0] + j * layer.stride[1] + i];
  }
  return 0;
}

/// Computes G p and G q, the derivatives along a tilted axis, before the step. Memory traffic: p, q and n
/// read, G p and G q written: 28 bytes.
template <int M, class T>
TERRANE_FN void derive_along(const StepArguments<T>& g, Index k, Index j, Index i) {
  const Index here = k * g.stride[0] + j * g.stride[1] + i;
  g.along_p[here] = derivative_along<M>(g.stencil, g.normal, here, g.now + here, g.stride);
  g.along_q[here] =
      derivative_along<M>(g.stencil, g.normal, here, g.now_q + here, g.stride) + psi_of_q(g, k, j, i);
}

/// The new η, b η + a (L_up p − V p), in an absorbing layer of the axis up, where the axis n is vertical.
template <class T>
TERRANE_FN T new_eta(T a, T b, T eta, T difference) {
  return fused(b, eta, a * difference);
}

/// Step with a tilted axis. Memory traffic: p⁻, q⁻, p, q, G p, G q, n, v²Δt², 1 + 2ε and √(1 + 2δ) read, p⁺
/// and q⁺ written: 56 bytes.
template <int M, class T>
TERRANE_FN void step_tti(const StepArguments<T>& g, const Region& region, Index k, Index j, Index i) {
  const Index here = k * g.stride[0] + j * g.stride[1] + i;
  const T v_p = derivative_back<M>(g.stencil, g.normal, here, g.along_p + here, g.stride);
  T v_q = derivative_back<M>(g.stencil, g.normal, here, g.along_q + here, g.stride);
  const T up_p =
      second_difference<M>(g.stencil.second[0], g.stencil.centre_of[0], g.now + here, g.stride[0]) - v_p;
  T h_p = level_difference<M>(g.stencil, g.now + here, g.stride) + up_p;
  for (int axis = 1; axis < 3; ++axis)
    if (region.side[axis] >= 0) h_p += layer_term<M>(g, axis, region.side[axis], k, j, i);
  if (const int side = region.side[0]; side >= 0) {
    const LayerArrays<T>& layer = g.layers[0][side];
    if (k >= layer.first && k < layer.last) {
      const Index in_layer = k * layer.stride[0] + j * layer.stride[1] + i;
      T &zeta = layer.zeta[in_layer], &eta = layer.eta[in_layer];
      zeta = fused(layer.b[k], zeta, layer.a[k] * v_q);
      eta = new_eta(layer.a[k], layer.b[k], eta, up_p);
      v_q += zeta;
      h_p += eta;
    }
  }
  leap_with_axis(g, region, k, j, i, h_p, v_q);
}

template <Equation equation, int M, class T>
TERRANE_FN void step_node(const StepArguments<T>& g, const Region& region, Index k, Index j, Index i) {
  if constexpr (equation == Equation::constant_density) step_constant_density<M>(g, region, k, j, i);
  else if constexpr (equation == Equation::variable_density) step_variable_density<M>(g, region, k, j, i);
  else if constexpr (equation == Equation::vti) step_vti<M>(g, region, k, j, i);
  else step_tti<M>(g, region, k, j, i);
}

}  // namespace terrane::acoustic
