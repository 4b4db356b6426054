// Kernels of the CPU for rows of nodes in a medium with an axis of symmetry. Included once for each
// instruction set. nodes.hpp gives the memory traffic of a node.
#pragma once

#include "terrane/physics/acoustic/march/host_rows.hpp"
#include "terrane/physics/acoustic/march/nodes.hpp"

namespace terrane::acoustic {
namespace TERRANE_SIMD_TARGET {

/// Computes p⁺ and q⁺ of a piece of a row from its H p and V q (problem.hpp).
template <class T>
void leap_of_row_with_axis(const StepArguments<T>& g, const Region& region, Index k, Index j, Index from,
                           Index nodes, const T* h_p, const T* v_q) {
  const Index row = k * g.stride[0] + j * g.stride[1] + from;
  const T *const wide = g.wide + row, *const mixed = g.mixed + row;
  T a_p[piece_of_row], a_q[piece_of_row];
#pragma omp simd
  for (Index i = 0; i < nodes; ++i) {
    a_p[i] = fused(wide[i], h_p[i], mixed[i] * v_q[i]);
    a_q[i] = fused(mixed[i], h_p[i], v_q[i]);
  }
  leap_of_row(g, region, k, j, from, nodes, g.now, g.next, a_p);
  leap_of_row(g, region, k, j, from, nodes, g.now_q, g.next_q, a_q);
}

template <int M, class T>
[[gnu::flatten]] void vti_region(const StepArguments<T>& g, const Region& region, Climb<T>*) {
  const NoDenormals zero;
  const Stencil<T> stencil = g.stencil;
  const Index stride[3] = {g.stride[0], g.stride[1], 1};
  T h_p[piece_of_row], v_q[piece_of_row];
  each_piece(region.box, [&](Index k, Index j, Index from, Index nodes) {
    const Index row = k * stride[0] + j * stride[1] + from;
    const T *const p = g.now + row, *const q = g.now_q + row;
#pragma omp simd
    for (Index i = 0; i < nodes; ++i) {
      h_p[i] = level_difference<M>(stencil, p + i, stride);
      v_q[i] = second_difference<M>(stencil.second[0], stencil.centre_of[0], q + i, stride[0]);
    }
    add_layers<M>(g, region, 0, k, j, from, from + nodes, v_q);
    for (int axis = 1; axis < 3; ++axis) add_layers<M>(g, region, axis, k, j, from, from + nodes, h_p);
    leap_of_row_with_axis(g, region, k, j, from, nodes, h_p, v_q);
  });
}

/// Adds ψ of q (psi_of_q()) to G q, the derivative of q along the tilted axis, at the nodes from ≤ i < to of
/// a row.
template <class T>
void add_psi_of_q(const StepArguments<T>& g, Index k, Index j, Index from, Index to, T* along_q) {
  if (j < g.part.first[1] || j >= g.part.last[1]) return;
  const Index first = from > g.part.first[2] ? from : g.part.first[2],
              last = to < g.part.last[2] ? to : g.part.last[2];
  for (int side = 0; side < 2; ++side) {
    const LayerArrays<T>& layer = g.layers[0][side];
    if (k < layer.first || k >= layer.last) continue;
    const T* const psi = layer.psi + k * layer.stride[0] + j * layer.stride[1];
    for (Index i = first; i < last; ++i) along_q[i - from] += psi[i];
  }
}

/// Computes G p and G q, the derivatives along the tilted axis, in a box, which may extend beyond the rank's
/// part.
template <int M, class T>
[[gnu::flatten]] void derive_along_of_box(const StepArguments<T>& g, const IndexBox<3>& box) {
  const NoDenormals zero;
  const Stencil<T> stencil = g.stencil;
  const Index stride[3] = {g.stride[0], g.stride[1], 1};
  each_piece(box, [&](Index k, Index j, Index from, Index nodes) {
    const Index row = k * stride[0] + j * stride[1] + from;
    const T *const p = g.now + row, *const q = g.now_q + row;
    T *const along_p = g.along_p + row, *const along_q = g.along_q + row;
    const T* const n[3] = {g.normal[0] + row, g.normal[1] + row, g.normal[2] + row};
#pragma omp simd
    for (Index i = 0; i < nodes; ++i) {
      along_p[i] = derivative_along<M>(stencil, n, i, p + i, stride);
      along_q[i] = derivative_along<M>(stencil, n, i, q + i, stride);
    }
    add_psi_of_q(g, k, j, from, from + nodes, along_q);
  });
}

template <int M, class T>
[[gnu::flatten]] void tti_region(const StepArguments<T>& g, const Region& region, Climb<T>*) {
  const NoDenormals zero;
  const Stencil<T> stencil = g.stencil;
  const Index stride[3] = {g.stride[0], g.stride[1], 1};
  T h_p[piece_of_row], v_q[piece_of_row], up_p[piece_of_row];
  each_piece(region.box, [&](Index k, Index j, Index from, Index nodes) {
    const Index row = k * stride[0] + j * stride[1] + from;
    const T *const p = g.now + row, *const along_p = g.along_p + row, *const along_q = g.along_q + row;
    const T* const n[3] = {g.normal[0] + row, g.normal[1] + row, g.normal[2] + row};
#pragma omp simd
    for (Index i = 0; i < nodes; ++i) {
      up_p[i] = second_difference<M>(stencil.second[0], stencil.centre_of[0], p + i, stride[0]) -
                derivative_back<M>(stencil, n, i, along_p + i, stride);
      v_q[i] = derivative_back<M>(stencil, n, i, along_q + i, stride);
    }
#pragma omp simd
    for (Index i = 0; i < nodes; ++i) h_p[i] = level_difference<M>(stencil, p + i, stride) + up_p[i];
    for (int axis = 1; axis < 3; ++axis) add_layers<M>(g, region, axis, k, j, from, from + nodes, h_p);
    if (const int side = region.side[0]; side >= 0)
      if (const LayerArrays<T>& layer = g.layers[0][side]; k >= layer.first && k < layer.last) {
        const Index in_layer = k * layer.stride[0] + j * layer.stride[1] + from;
        T *const zeta = layer.zeta + in_layer, *const eta = layer.eta + in_layer;
        const T a = layer.a[k], b = layer.b[k];
#pragma omp simd
        for (Index i = 0; i < nodes; ++i) {
          zeta[i] = fused(b, zeta[i], a * v_q[i]);
          eta[i] = new_eta(a, b, eta[i], up_p[i]);
          v_q[i] += zeta[i];
          h_p[i] += eta[i];
        }
      }
    leap_of_row_with_axis(g, region, k, j, from, nodes, h_p, v_q);
  });
}

}  // namespace TERRANE_SIMD_TARGET
}  // namespace terrane::acoustic
