// Kernels of the CPU for rows of nodes with variable density. Included once for each instruction set.
//
// A tile is computed plane by plane, from the lowest up. Each flux b (D⁺p + ψ) is computed once and stays in
// the cache for all nodes that need it: fluxes on the axis up of 2M planes, on the other axes of one plane.
// Memory traffic of a node: p⁻ read and overwritten by p⁺, p, ρ and ρv²Δt² read, 20 bytes in single
// precision; each flux needs a division. In a pass of several steps (passes.hpp) the kernel is called for one
// plane of a tile at a time, and the tile's fluxes on the axis up are kept between the calls (Climb).
#pragma once

#include <vector>

#include "terrane/physics/acoustic/march/host_rows.hpp"

namespace terrane::acoustic {
namespace TERRANE_SIMD_TARGET {

/// Fluxes b (D⁺p + ψ), b = 1/ρ, between each node of a row and the next node on an axis.  psi: ψ of the row's
/// nodes, or null
template <int M, bool along, class T>
void flux_of_row(const Stencil<T>& stencil, int axis, const T* half_density, const T* p, const T* psi,
                 Index step, Index nodes, T* out) {
  T a[widest];
  for (int r = 0; r < widest; ++r) a[r] = stencil.half[axis][r];
  const Index by = along ? 1 : step;
  if (psi) {
#pragma omp simd
    for (Index i = 0; i < nodes; ++i)
      out[i] = (half_difference<M>(a, p + i, by) + psi[i]) / (half_density[i] + half_density[i + by]);
  } else {
#pragma omp simd
    for (Index i = 0; i < nodes; ++i)
      out[i] = half_difference<M>(a, p + i, by) / (half_density[i] + half_density[i + by]);
  }
}

/// The 2M fluxes around each node of a row on an axis: rows[n + M] has the fluxes n + ½ nodes further on the
/// axis, n = −M … M − 1.
template <int M, class T>
struct FluxesAround {
  const T* rows[2 * M];
};

/// Adds the staggered difference D⁻ of the fluxes, and in an absorbing layer ζ, to the sums of a row's
/// nodes.  a, b: coefficients of ζ; zeta: null outside layers
template <int M, bool along, class T>
void add_divergence(const Stencil<T>& stencil, int axis, const FluxesAround<M, T>& fluxes, Index nodes,
                    T* sum, const T* a, const T* b, T* zeta) {
  T weights[widest];
  const T* rows[2 * M];
  for (int r = 0; r < widest; ++r) weights[r] = stencil.half[axis][r];
  for (int r = 0; r < 2 * M; ++r) rows[r] = fluxes.rows[r];
  const auto divergence = [&](Index i) {
    T total = 0;
    for (int n = 0; n < M; ++n) total = fused(weights[n], rows[M + n][i] - rows[M - 1 - n][i], total);
    return total;
  };
  if (zeta) {
#pragma omp simd
    for (Index i = 0; i < nodes; ++i) {
      const T total = divergence(i);
      zeta[i] = fused(b[along ? i : 0], zeta[i], a[along ? i : 0] * total);
      sum[i] += total + zeta[i];
    }
  } else {
#pragma omp simd
    for (Index i = 0; i < nodes; ++i) sum[i] += divergence(i);
  }
}

/// The step of one tile, which consists of whole rows along easting.
template <int M, class T>
class DensityTile {
 public:
  DensityTile(const StepArguments<T>& g, const Region& region, std::vector<T>& memory, Climb<T>* climb)
      : g_(g),
        region_(region),
        box_(region.box),
        tile_(climb ? climb->tile : region.box),
        width_(box_.size(2)),
        first_plane_(climb ? climb->first_plane : box_.first[0]),
        deep_(g.stride[0] != 0),
        across_(g.stride[1] != 0) {
    const Index up = deep_ ? 2 * M * tile_.size(1) * tile_.size(2) : 0,
                north = across_ ? (box_.size(1) + 2 * M - 1) * width_ : 0;
    memory.resize(static_cast<std::size_t>((climb ? 0 : up) + north + (width_ + 2 * M) + width_));
    if (climb && box_.first[0] == first_plane_) climb->kept.resize(static_cast<std::size_t>(up));
    up_ = climb ? climb->kept.data() : memory.data();
    north_ = memory.data() + (climb ? 0 : up);
    east_ = north_ + north;
    sum_ = east_ + width_ + 2 * M;
  }

  void run() {
    const Index first = box_.first[0], last = box_.last[0];
    if (first == first_plane_)
      for (Index k = first - M; k < first + M - 1; ++k) fluxes_up(k);
    for (Index k = first; k < last; ++k) {
      fluxes_up(k + M - 1);
      if (across_)
        for (Index j = box_.first[1] - M; j < box_.last[1] + M - 1; ++j)
          flux(1, region_.side[1], k, j, box_.first[2], width_, north_row(j));
      for (Index j = box_.first[1]; j < box_.last[1]; ++j) step_row(k, j);
    }
  }

 private:
  T* up_row(Index k, Index j) const {
    const Index row = (k - first_plane_ + M) % (2 * M) * tile_.size(1) + (j - tile_.first[1]);
    return up_ + row * tile_.size(2) + (box_.first[2] - tile_.first[2]);
  }
  T* north_row(Index j) const { return north_ + (j - box_.first[1] + M) * width_; }

  void fluxes_up(Index k) {
    for (Index j = box_.first[1]; j < box_.last[1]; ++j)
      flux(0, region_.side[0], k, j, box_.first[2], width_, up_row(k, j));
  }

  /// Fluxes on the axis up or north (`axis`) at the nodes of a row, from node `from` on.
  void flux(int axis, int side, Index k, Index j, Index from, Index nodes, T* out) {
    const Index here = k * g_.stride[0] + j * g_.stride[1] + from;
    const T* psi = nullptr;
    if (side >= 0) {
      const LayerArrays<T>& layer = g_.layers[axis][side];
      psi = layer.psi + k * layer.stride[0] + j * layer.stride[1] + from;
    }
    flux_of_row<M, false>(g_.stencil, axis, g_.half_density + here, g_.now + here, psi, g_.stride[axis],
                          nodes, out);
  }

  /// Computes the fluxes to the east of the row's nodes and of those nodes beside the row that differences
  /// read. In absorbing layers the fluxes contain ψ.
  void fluxes_east(Index k, Index j) {
    const Index from = box_.first[2] - M, nodes = width_ + 2 * M - 1;
    const Index here = k * g_.stride[0] + j * g_.stride[1];
    const auto plain = [&](Index first, Index last, const T* psi) {
      if (first < last)
        flux_of_row<M, true>(g_.stencil, 2, g_.half_density + here + first, g_.now + here + first, psi, 1,
                             last - first, east_ + (first - from));
    };
    Index done = from;
    for (int side = 0; side < 2; ++side) {
      if (region_.side[2] != Region::both && region_.side[2] != side) continue;
      const LayerArrays<T>& layer = g_.layers[2][side];
      const Index first = layer.first > from ? layer.first : from,
                  last = layer.last < from + nodes ? layer.last : from + nodes;
      if (first >= last) continue;
      plain(done, first, nullptr);
      plain(first, last, layer.psi + k * layer.stride[0] + j * layer.stride[1] + first);
      done = last;
    }
    plain(done, from + nodes, nullptr);
  }

  void step_row(Index k, Index j) {
    for (Index i = 0; i < width_; ++i) sum_[i] = 0;
    FluxesAround<M, T> fluxes;
    if (deep_) {
      for (int n = 0; n < 2 * M; ++n) fluxes.rows[n] = up_row(k + n - M, j);
      add_across(0, fluxes, k, j, k);
    }
    if (across_) {
      for (int n = 0; n < 2 * M; ++n) fluxes.rows[n] = north_row(j + n - M);
      add_across(1, fluxes, k, j, j);
    }
    fluxes_east(k, j);
    for (int n = 0; n < 2 * M; ++n) fluxes.rows[n] = east_ + n;
    add_along(fluxes, k, j);
    leap_of_row(g_, region_, k, j, box_.first[2], width_, g_.now, g_.next, sum_);
  }

  void add_across(int axis, const FluxesAround<M, T>& fluxes, Index k, Index j, Index at) {
    const int side = region_.side[axis];
    const LayerArrays<T>& layer = g_.layers[axis][side > 0 ? side : 0];
    const bool inside = side >= 0 && at >= layer.first && at < layer.last;
    T* const zeta = inside ? layer.zeta + k * layer.stride[0] + j * layer.stride[1] + box_.first[2] : nullptr;
    add_divergence<M, false>(g_.stencil, axis, fluxes, width_, sum_, inside ? layer.a + at : nullptr,
                             inside ? layer.b + at : nullptr, zeta);
  }

  void add_along(const FluxesAround<M, T>& fluxes, Index k, Index j) {
    const auto some = [&](Index first, Index last, const LayerArrays<T>* layer) {
      if (first >= last) return;
      FluxesAround<M, T> shifted;
      for (int n = 0; n < 2 * M; ++n) shifted.rows[n] = fluxes.rows[n] + (first - box_.first[2]);
      add_divergence<M, true>(
          g_.stencil, 2, shifted, last - first, sum_ + (first - box_.first[2]),
          layer ? layer->a + first : nullptr, layer ? layer->b + first : nullptr,
          layer ? layer->zeta + k * layer->stride[0] + j * layer->stride[1] + first : nullptr);
    };
    Index done = box_.first[2];
    for (int side = 0; side < 2; ++side) {
      if (region_.side[2] != Region::both && region_.side[2] != side) continue;
      const LayerArrays<T>& layer = g_.layers[2][side];
      const Index first = layer.first > done ? layer.first : done,
                  last = layer.last < box_.last[2] ? layer.last : box_.last[2];
      if (first >= last) continue;
      some(done, first, nullptr);
      some(first, last, &layer);
      done = last;
    }
    some(done, box_.last[2], nullptr);
  }

  const StepArguments<T>& g_;
  const Region& region_;
  const IndexBox<3> box_, tile_;
  const Index width_, first_plane_;
  const bool deep_, across_;
  T *up_, *north_, *east_, *sum_;
};

template <int M, class T>
void variable_density_region(const StepArguments<T>& g, const Region& region, Climb<T>* climb) {
  const NoDenormals zero;
  static thread_local std::vector<T> memory;
  DensityTile<M, T>(g, region, memory, climb).run();
}

}  // namespace TERRANE_SIMD_TARGET
}  // namespace terrane::acoustic
