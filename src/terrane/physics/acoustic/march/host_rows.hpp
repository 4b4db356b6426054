// Kernels of the CPU for rows of nodes: absorbing layers, and a step of constant density. Included once for
// each instruction set, with TERRANE_SIMD_TARGET its name, which is also the namespace of these functions.
//
// Memory traffic of a node in a step without layers: p⁻ read and overwritten by p⁺, p and v²Δt² read:
// 16 bytes in single precision, as long as the cache holds 2M + 1 planes of a tile's rows.
#pragma once

#include "terrane/parallel/simd/no_denormals.hpp"
#include "terrane/physics/acoustic/march/host_kernels.hpp"

namespace terrane::acoustic {
namespace TERRANE_SIMD_TARGET {

// Functions with loops over rows inline all that they call (gnu::flatten): in a file of this size the
// compiler would not inline every call, and it does not vectorise a loop with a call in it.

/// Updates ψ of an absorbing layer at the nodes of a row. a and b: coefficients of the layer, on the axis
/// easting one per node, else one for all nodes
template <Equation equation, int M, bool along, class T>
void psi_of_row(const Stencil<T>& stencil, int axis, const T* a, const T* b, T* psi, const T* p, Index step,
                Index nodes) {
  constexpr bool half_way = equation == Equation::variable_density;
  T d[widest];
  for (int r = 0; r < widest; ++r) d[r] = half_way ? stencil.half[axis][r] : stencil.first[axis][r];
#pragma omp simd
  for (Index i = 0; i < nodes; ++i) {
    const T a_here = a[along ? i : 0], b_here = b[along ? i : 0];
    if constexpr (half_way) psi[i] = new_psi_half_way<M>(d, a_here, b_here, psi[i], p + i, along ? 1 : step);
    else psi[i] = new_psi<M>(d, a_here, b_here, psi[i], p + i, along ? 1 : step);
  }
}

template <Equation equation, int M, class T>
[[gnu::flatten]] void psi_of_box(const StepArguments<T>& g, int axis, int side, const IndexBox<3>& box) {
  const NoDenormals zero;
  const LayerArrays<T>& layer = g.layers[axis][side];
  const Index i = box.first[2], nodes = box.last[2] - i;
  for (Index k = box.first[0]; k < box.last[0]; ++k)
    for (Index j = box.first[1]; j < box.last[1]; ++j) {
      const Index at = axis == 0 ? k : axis == 1 ? j : i;
      T* const psi = layer.psi + k * layer.stride[0] + j * layer.stride[1] + i;
      const T* const p = field_on(g, axis) + k * g.stride[0] + j * g.stride[1] + i;
      const T *const a = layer.a_psi + at, *const b = layer.b_psi + at;
      if (axis == 2) psi_of_row<equation, M, true>(g.stencil, axis, a, b, psi, p, 1, nodes);
      else psi_of_row<equation, M, false>(g.stencil, axis, a, b, psi, p, g.stride[axis], nodes);
    }
}

template <int M, class T>
[[gnu::flatten]] void step_plain(const StepArguments<T>& arguments, const IndexBox<3>& box) {
  const Stencil<T> stencil = arguments.stencil;
  const Index stride[3] = {arguments.stride[0], arguments.stride[1], 1};
  for (Index k = box.first[0]; k < box.last[0]; ++k)
    for (Index j = box.first[1]; j < box.last[1]; ++j) {
      const Index row = k * stride[0] + j * stride[1];
      const T* const now = arguments.now + row;
      const T* const squared = arguments.squared + row;
      T* const next = arguments.next + row;
      if (const T c = arguments.rounding; c > 0) {
#pragma omp simd
        for (Index i = box.first[2]; i < box.last[2]; ++i)
          next[i] = leap_and_back(now[i], next[i], squared[i], laplacian<M>(stencil, now + i, stride), c);
        continue;
      }
#pragma omp simd
      for (Index i = box.first[2]; i < box.last[2]; ++i)
        next[i] = leap(now[i], next[i], squared[i], laplacian<M>(stencil, now + i, stride));
    }
}

/// Adds the difference D ψ to the sums A p of a row's nodes beside the absorbing layer; add_layer(), for
/// nodes in the layer, adds the new ζ, too.
template <int M, bool along, class T>
void add_slopes(const Stencil<T>& stencil, int axis, const T* psi, Index step, Index nodes, T* sum) {
  T d[widest];
  for (int r = 0; r < widest; ++r) d[r] = stencil.first[axis][r];
#pragma omp simd
  for (Index i = 0; i < nodes; ++i) sum[i] += first_difference<M>(d, psi + i, along ? 1 : step);
}

template <int M, bool along, class T>
void add_layer(const Stencil<T>& stencil, int axis, const T* a, const T* b, const T* psi, Index psi_step,
               T* zeta, const T* p, Index step, Index nodes, T* sum) {
  T c[widest], d[widest];
  for (int r = 0; r < widest; ++r) c[r] = stencil.second[axis][r], d[r] = stencil.first[axis][r];
  const T centre = stencil.centre_of[axis];
#pragma omp simd
  for (Index i = 0; i < nodes; ++i) {
    const T slope = first_difference<M>(d, psi + i, along ? 1 : psi_step);
    zeta[i] =
        new_zeta<M>(c, centre, a[along ? i : 0], b[along ? i : 0], zeta[i], slope, p + i, along ? 1 : step);
    sum[i] += slope + zeta[i];
  }
}

/// Adds the terms D ψ + ζ of one axis's absorbing layer at the nodes from ≤ i < to of a row.  sum: pointer to
/// the sum of node `from`
template <int M, class T>
void add_axis(const StepArguments<T>& g, int axis, int side, Index k, Index j, Index from, Index to, T* sum) {
  const LayerArrays<T>& layer = g.layers[axis][side];
  const Index row = k * layer.stride[0] + j * layer.stride[1], at = axis == 0 ? k : j;
  const T* const p = field_on(g, axis) + k * g.stride[0] + j * g.stride[1];
  if (axis < 2) {
    if (at < layer.first || at >= layer.last)
      return add_slopes<M, false>(g.stencil, axis, layer.psi + row + from, layer.stride[axis], to - from,
                                  sum);
    return add_layer<M, false>(g.stencil, axis, layer.a + at, layer.b + at, layer.psi + row + from,
                               layer.stride[axis], layer.zeta + row + from, p + from, g.stride[axis],
                               to - from, sum);
  }
  // Along easting the absorbing layer is a piece of the row; its ψ also affects nodes beside this piece.
  const Index first = from > layer.first ? from : layer.first, last = to < layer.last ? to : layer.last;
  if (first >= last) return add_slopes<M, true>(g.stencil, axis, layer.psi + row + from, 1, to - from, sum);
  add_slopes<M, true>(g.stencil, axis, layer.psi + row + from, 1, first - from, sum);
  add_layer<M, true>(g.stencil, axis, layer.a + first, layer.b + first, layer.psi + row + first, 1,
                     layer.zeta + row + first, p + first, 1, last - first, sum + (first - from));
  add_slopes<M, true>(g.stencil, axis, layer.psi + row + last, 1, to - last, sum + (last - from));
}

/// Adds the terms D ψ + ζ of absorbing layers along easting at those nodes of a row that one of its layers
/// affects.
template <int M, class T>
void add_ends(const StepArguments<T>& g, Index k, Index j, Index from, Index to, T* sum) {
  for (int side = 0; side < 2; ++side) {
    const LayerArrays<T>& layer = g.layers[2][side];
    if (layer.first == layer.last) continue;
    const Index low = layer.first - (side == 1 ? M : 0), high = layer.last + (side == 0 ? M : 0);
    const Index first = from > low ? from : low, last = to < high ? to : high;
    if (first < last) add_axis<M>(g, 2, side, k, j, first, last, sum + (first - from));
  }
}

/// Adds the terms of an axis's absorbing layers, on any side, at the nodes from ≤ i < to of a row.
template <int M, class T>
void add_layers(const StepArguments<T>& g, const Region& region, int axis, Index k, Index j, Index from,
                Index to, T* sum) {
  const int side = region.side[axis];
  if (side == Region::both) add_ends<M>(g, k, j, from, to, sum);
  else if (side >= 0) add_axis<M>(g, axis, side, k, j, from, to, sum);
}

/// Computes p⁺ of a piece of a row from its A p.  a_p: pointer to A p of the first node, `from`
template <class T>
void leap_of_row(const StepArguments<T>& g, const Region& region, Index k, Index j, Index from, Index nodes,
                 const T* field, T* field_next, const T* a_p) {
  const Index row = k * g.stride[0] + j * g.stride[1] + from;
  T* const next = field_next + row;
  const T *const now = field + row, *const squared = g.squared + row;
  if (region.sponge) {
    const T s = g.damping[0][k] + g.damping[1][j];
    const T* const along = g.damping[2] + from;
#pragma omp simd
    for (Index i = 0; i < nodes; ++i)
      next[i] = leap_through_sponge(now[i], next[i], squared[i], a_p[i], s + along[i]);
  } else if (const T c = g.rounding; c > 0) {
#pragma omp simd
    for (Index i = 0; i < nodes; ++i) next[i] = leap_and_back(now[i], next[i], squared[i], a_p[i], c);
  } else {
#pragma omp simd
    for (Index i = 0; i < nodes; ++i) next[i] = leap(now[i], next[i], squared[i], a_p[i]);
  }
}

constexpr Index piece_of_row = 512;  ///< nodes of a piece: their sums fit the L1 cache

/// Calls use(k, j, from, nodes) for pieces of all rows of a box.
template <class Use>
void each_piece(const IndexBox<3>& box, const Use& use) {
  for (Index k = box.first[0]; k < box.last[0]; ++k)
    for (Index j = box.first[1]; j < box.last[1]; ++j)
      for (Index from = box.first[2]; from < box.last[2]; from += piece_of_row)
        use(k, j, from, (from + piece_of_row < box.last[2] ? from + piece_of_row : box.last[2]) - from);
}

/// The step of a region that absorbing layers affect: A p of a piece of a row is summed axis by axis.
template <int M, class T>
[[gnu::flatten]] void step_layers(const StepArguments<T>& g, const Region& region) {
  const Stencil<T> stencil = g.stencil;
  const Index stride[3] = {g.stride[0], g.stride[1], 1};
  T sum[piece_of_row];
  each_piece(region.box, [&](Index k, Index j, Index from, Index nodes) {
    const T* const now = g.now + k * stride[0] + j * stride[1] + from;
#pragma omp simd
    for (Index i = 0; i < nodes; ++i) sum[i] = laplacian<M>(stencil, now + i, stride);
    for (int axis = 0; axis < 3; ++axis) add_layers<M>(g, region, axis, k, j, from, from + nodes, sum);
    leap_of_row(g, region, k, j, from, nodes, g.now, g.next, sum);
  });
}

template <int M, class T>
void constant_density_region(const StepArguments<T>& g, const Region& region, Climb<T>*) {
  const NoDenormals zero;
  if (region.plain()) step_plain<M>(g, region.box);
  else step_layers<M>(g, region);
}

}  // namespace TERRANE_SIMD_TARGET
}  // namespace terrane::acoustic
