// A step with a tilted axis by tiles: each block of threads moves a tile upward through the planes. The tuned
// kernel of a GPU, for order 8 in single precision. It computes the formulas of nodes.hpp, with some sums in
// another order. Tiles compute all nodes of such a step, so results are bitwise identical for any parts of
// ranks.
//
// Memory traffic of a node in a step: p⁻, q⁻ read and p⁺, q⁺ written, p, q, n, v²Δt² and two parameters read:
// 48 bytes. G p and G q, which would take 28 bytes more and a separate launch, never leave the chip: a block
// computes them plane by plane, for its tile and the four nodes beside it that V reads.
//
// Differences on the axis up need no queue of planes: when a plane is loaded, its terms are added to the sums
// of all planes whose stencils contain it, and each addition moves the sum to the next register. The copy
// engine loads planes of p and q. When plane m is loaded, G is computed in plane m − M, p⁺ and q⁺ in plane
// m − 2M (symbols: problem.hpp; d, c: coefficients of D_up and L_up):
//
//   U += d p_m              for the nodes of the tile and beside it, U = D_up p, p_m: p in plane m
//   s = n_up U + n_north D_north p + n_east D_east p                          in plane m − M
//   H += c p − d (n_up s),  n_north s and n_east s to neighbouring threads    in plane m − M
//   p⁺, q⁺                                                                    in plane m − 2M
//   T = L_level p − D_north (n_north s) − D_east (n_east s)                   in plane m − M
//
// T is a part of H; with absorbing layers of the axis up it is stored apart, in shared memory, because η
// depends only on the other part. Layers: ψ of all layers is updated before the step; terms of layers of the
// axis up are added in this kernel, those of the axes north and east, which n does not affect, in a later
// launch (layers_batch).
#pragma once

#include "terrane/physics/acoustic/march/gpu_tiles.cuh"

namespace terrane::acoustic::gpu {

/// The shared memory of a block, whose tile has 32 × 32 nodes, four nodes per thread. Additional threads
/// compute the nodes beside the tile, M rows south and north, then M columns west and east. Lengths of rows
/// are such that threads of one column read from different banks.
struct TiltedTile {
  static constexpr int M = 4, nodes_east = 32, rows = 32, fours = nodes_east / 4;
  static constexpr int own_threads = fours * rows, threads = own_threads + 2 * M * fours + 2 * rows;
  static constexpr int beside = 2 * M, width = nodes_east + 2 * beside + 4, height = rows + 2 * beside;
  static constexpr int slots = M + 2;  ///< planes of p and q: m − M … m, and one that is being loaded
  static constexpr int width_east = nodes_east + 2 * M + 4;
  /// Arrays that are read at the tile's own nodes only.
  enum Own { before, before_q, now, now_q, squared, wide, mixed, own_arrays };

  alignas(128) float fields[slots][2][height][width];  ///< [planes][2: p, q][rows][nodes]
  /// n_north G p and n_north G q, and the same with n_east: [n mod 2][2: p, q][rows][nodes], n: index of a
  /// plane.
  alignas(16) float to_north[2][2][rows + 2 * M][nodes_east];
  alignas(16) float to_east[2][2][rows][width_east];
  alignas(128) float own[own_arrays][rows][nodes_east];
  /// T (head of this file) of planes whose p⁺ is not yet computed: [plane mod M][threads].
  Four level[M][own_threads];
  Four normal[3][threads];  ///< n, the direction of the tilted axis: [axis][threads]
  /// Barriers that open when a plane of p and q is loaded; the last one, when `own` is loaded.
  alignas(8) std::uint64_t full[slots + 1];
};

/// The copy engine's descriptions of the fields: p and q with the nodes read beside a tile, and those of
/// TiltedTile::Own.
struct TiltedMaps {
  CUtensorMap fields[2], own[TiltedTile::own_arrays];
};

constexpr int tilted_block_bytes() { return static_cast<int>(sizeof(TiltedTile)) + 128; }

/// Begins to copy values of four nodes from memory to `to`, in shared memory.
__device__ __forceinline__ void bring_four(Four& to, const float* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(in_shared(&to)), "l"(from) : "memory");
#else
  to = four_at(from);
#endif
}
__device__ __forceinline__ void wait_for_fours() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// The position of a thread's nodes: column and row of the first, in its block's tile (`own`), in the rows
/// south and north of the tile (`beside_north`), or in the columns west and east of it (`beside_east`).
struct TiltedPlace {
  using Shape = TiltedTile;
  int thread, column, row;
  bool own, beside_north, beside_east;
  __device__ TiltedPlace() : thread(static_cast<int>(threadIdx.x)) {
    constexpr int M = Shape::M;
    const int after = thread - Shape::own_threads, last = after - 2 * M * Shape::fours;
    own = after < 0, beside_north = after >= 0 && last < 0, beside_east = last >= 0;
    column = 4 * (thread % Shape::fours), row = thread / Shape::fours;
    if (beside_north) row = after / Shape::fours - M + (after >= M * Shape::fours ? Shape::rows : 0);
    if (beside_east) row = last % Shape::rows, column = last < Shape::rows ? -M : Shape::nodes_east;
  }
};

/// Differences along the axis up, from planes that are loaded one after the other: unfinished sums at the
/// planes m − M … m + M − 1. `add` adds the term of plane m to each, and returns the sum at m − M, which is
/// then complete.
struct SumsUp {
  static constexpr int M = TiltedTile::M;
  Four of[2 * M];

  /// Adds the terms of plane m to sums for first differences D f. f: values in plane m
  __device__ __forceinline__ Four add(const float (&d)[widest], const Four& f) {
    Four done;
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      done.at[n] = fused(d[M - 1], f.at[n], of[0].at[n]);
#pragma unroll
      for (int x = 1; x < 2 * M; ++x) {
        const int r = M - x;  // plane m is r planes above the plane of this sum
        of[x - 1].at[n] = r > 0   ? fused(d[r - 1], f.at[n], of[x].at[n])
                          : r < 0 ? fused(-d[-r - 1], f.at[n], of[x].at[n])
                                  : of[x].at[n];
      }
      of[2 * M - 1].at[n] = -d[M - 1] * f.at[n];
    }
    return done;
  }
  /// Adds the terms of plane m to sums for differences L f − D g. f, g: values in plane m
  __device__ __forceinline__ Four add(const float (&c)[widest], float centre, const Four& f,
                                      const float (&d)[widest], const Four& g) {
    Four done;
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      done.at[n] = fused(-d[M - 1], g.at[n], fused(c[M - 1], f.at[n], of[0].at[n]));
#pragma unroll
      for (int x = 1; x < 2 * M; ++x) {
        const int r = M - x;
        of[x - 1].at[n] = r > 0   ? fused(-d[r - 1], g.at[n], fused(c[r - 1], f.at[n], of[x].at[n]))
                          : r < 0 ? fused(d[-r - 1], g.at[n], fused(c[-r - 1], f.at[n], of[x].at[n]))
                                  : fused(centre, f.at[n], of[x].at[n]);
      }
      of[2 * M - 1].at[n] = fused(d[M - 1], g.at[n], c[M - 1] * f.at[n]);
    }
    return done;
  }
  /// The sum for plane m itself, unfinished after add() has added the terms of plane m.
  __device__ __forceinline__ Four& middle() { return of[M - 1]; }
};

/// Values at the nodes i − M … i + 3 + M of a row.  row: address of node i
struct PieceOfRow {
  static constexpr int M = TiltedTile::M;
  float at[4 + 2 * M];
  __device__ __forceinline__ explicit PieceOfRow(const float* row) {
#pragma unroll
    for (int s = 0; s < 4 + 2 * M; s += 4) {
      const Four value = four_at(row + s - M);
#pragma unroll
      for (int n = 0; n < 4; ++n) at[s + n] = value.at[n];
    }
  }
};

/// The first difference D f along a row, at four nodes.
__device__ __forceinline__ Four slope_of_row(const float (&d)[widest], const PieceOfRow& f) {
  constexpr int M = TiltedTile::M;
  Four sum{};
#pragma unroll
  for (int r = 1; r <= M; ++r)
#pragma unroll
    for (int n = 0; n < 4; ++n) sum.at[n] = fused(d[r - 1], f.at[M + n + r] - f.at[M + n - r], sum.at[n]);
  return sum;
}

__device__ __forceinline__ void add(Four& to, const Four& what) {
#pragma unroll
  for (int n = 0; n < 4; ++n) to.at[n] += what.at[n];
}

/// The work of a block, and the memory that its threads share.
struct TiltedBlock {
  using Shape = TiltedTile;
  Shape& tile;
  const StepArguments<float>& g;
  const TiltedMaps& maps;
  Index k0, k1, j0, i0;
  bool brings;  ///< whether this thread starts the copies of planes

  /// Begins to load the n-th plane of p and q, counted from k0 − 2M.
  __device__ __forceinline__ void stage(int n) const {
    if (!brings || n >= static_cast<int>(k1 - k0) + 4 * Shape::M) return;
    const int slot = n % Shape::slots;
    expect(&tile.full[slot], sizeof(tile.fields[0]));
    const Index k = k0 - 2 * Shape::M + n;
    bring<Shape::height, Shape::width>(&tile.fields[slot][0][0][0], maps.fields[0], g.now, g, k,
                                       j0 - Shape::beside, i0 - Shape::beside, &tile.full[slot]);
    bring<Shape::height, Shape::width>(&tile.fields[slot][1][0][0], maps.fields[1], g.now_q, g, k,
                                       j0 - Shape::beside, i0 - Shape::beside, &tile.full[slot]);
  }
  /// Begins to load the arrays of TiltedTile::Own for the n-th plane, counted from k0.
  __device__ __forceinline__ void stage_own(int n) const {
    if (!brings || n >= static_cast<int>(k1 - k0)) return;
    std::uint64_t* const full = &tile.full[Shape::slots];
    expect(full, sizeof(tile.own));
    const float* const fields[] = {g.next, g.next_q, g.now, g.now_q, g.squared, g.wide, g.mixed};
#pragma unroll
    for (int f = 0; f < Shape::own_arrays; ++f)
      bring<Shape::rows, Shape::nodes_east>(&tile.own[f][0][0], maps.own[f], fields[f], g, k0 + n, j0, i0,
                                            full);
  }
  __device__ __forceinline__ const float* field_at(int slot, int field, const TiltedPlace& place) const {
    return &tile.fields[slot][field][place.row + Shape::beside][place.column + Shape::beside];
  }

  /// Returns n_up s of a field f, s = n_up on_up + n_north on_north + n_east D_east f + ψ; if `kept`, stores
  /// n_north s and n_east s in shared memory for neighbouring threads.  row: values of f
  __device__ __forceinline__ Four make_products(const TiltedPlace& place, int turn, int field, bool kept,
                                                const Four& on_up, const Four& on_north,
                                                const PieceOfRow& row, const Four* psi = nullptr) const {
    const Four on_east = slope_of_row(g.stencil.first[2], row), up = tile.normal[0][place.thread],
               north = tile.normal[1][place.thread], east = tile.normal[2][place.thread];
    Four s, to_up, to_north, to_east;
#pragma unroll
    for (int m = 0; m < 4; ++m)
      s.at[m] = fused(east.at[m], on_east.at[m], fused(north.at[m], on_north.at[m], up.at[m] * on_up.at[m]));
    if (psi) add(s, *psi);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      to_up.at[m] = up.at[m] * s.at[m];
      to_north.at[m] = north.at[m] * s.at[m];
      to_east.at[m] = east.at[m] * s.at[m];
    }
    if (kept && !place.beside_east)
      *reinterpret_cast<Four*>(&tile.to_north[turn][field][place.row + Shape::M][place.column]) = to_north;
    if (kept && !place.beside_north)
      *reinterpret_cast<Four*>(&tile.to_east[turn][field][place.row][place.column + Shape::M]) = to_east;
    return to_up;
  }
  /// D_north (n_north s) + D_east (n_east s) of a field.
  __device__ __forceinline__ Four level_of_v(const TiltedPlace& place, int turn, int field) const {
    const float* const rows = &tile.to_north[turn][field][place.row + Shape::M][place.column];
    Four sum = slope_of_four<Shape::M>(g.stencil.first[1],
                                       [&](int r) { return four_at(rows + r * Shape::nodes_east); });
    add(sum, slope_of_row(g.stencil.first[2],
                          PieceOfRow(&tile.to_east[turn][field][place.row][place.column + Shape::M])));
    return sum;
  }
  /// Computes p⁺ and q⁺ of plane k from H p and V q.  here: offset of the nodes in fields, s: dΔt/2 of
  /// sponges
  template <bool sponge>
  __device__ __forceinline__ void leap_of_both(const TiltedPlace& place, const Inside& inside, Index k,
                                               Index here, const Four& h_p, const Four& v_q,
                                               const Four& s) const {
    const auto own = [&](int array) { return four_at(&tile.own[array][place.row][place.column]); };
    const Four wide = own(Shape::wide), mixed = own(Shape::mixed), squared = own(Shape::squared);
    Four a_p, a_q;
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      a_p.at[m] = fused(wide.at[m], h_p.at[m], mixed.at[m] * v_q.at[m]);
      a_q.at[m] = fused(mixed.at[m], h_p.at[m], v_q.at[m]);
    }
    const auto leap_to = [&](float* next, int field, const Four& now, const Four& before, const Four& a) {
      Four value;
#pragma unroll
      for (int m = 0; m < 4; ++m)
        value.at[m] = sponge ? leap_through_sponge(now.at[m], before.at[m], squared.at[m], a.at[m], s.at[m])
                             : leap(now.at[m], before.at[m], squared.at[m], a.at[m]);
      store_next(g, next, field, k, here, value, inside);
    };
    leap_to(g.next, 0, own(Shape::now), own(Shape::before), a_p);
    leap_to(g.next_q, 1, own(Shape::now_q), own(Shape::before_q), a_q);
  }
};

/// Computes D_north f and L_level f at four nodes.  f: address of the first node in the tile, row: values of
/// f
__device__ __forceinline__ void derive_level(const Stencil<float>& stencil, const float* f,
                                             const PieceOfRow& row, Four& on_north, Four& level) {
  constexpr int M = TiltedTile::M;
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    on_north.at[m] = 0;
    level.at[m] = (stencil.centre_of[1] + stencil.centre_of[2]) * row.at[M + m];
  }
#pragma unroll
  for (int r = 1; r <= M; ++r) {
    const Four after = four_at(f + r * TiltedTile::width), before = four_at(f - r * TiltedTile::width);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      on_north.at[m] = fused(stencil.first[1][r - 1], after.at[m] - before.at[m], on_north.at[m]);
      level.at[m] = fused(stencil.second[2][r - 1], row.at[M + m + r] + row.at[M + m - r], level.at[m]);
      level.at[m] = fused(stencil.second[1][r - 1], after.at[m] + before.at[m], level.at[m]);
    }
  }
}

/// The ψ of field q at four nodes in an absorbing layer of the axis up; zeros outside of layers.
__device__ __forceinline__ Four psi_up(const StepArguments<float>& g, Index k, Index j, Index i) {
  for (const auto& layer : g.layers[0])
    if (k >= layer.first && k < layer.last)
      return four_at(layer.psi + k * layer.stride[0] + j * layer.stride[1] + i);
  return {};
}

/// Adds the terms of the absorbing layers of the axis up to H p (without T) and V q at four nodes, as
/// step_tti().
__device__ __forceinline__ void add_layers_up(const StepArguments<float>& g, const Inside& inside, Index k,
                                              Index j, Index i, Four& h_p, Four& v_q) {
  for (int side = 0; side < 2; ++side) {
    const LayerArrays<float>& layer = g.layers[0][side];
    if (k < layer.first || k >= layer.last) continue;
    const Index here = k * layer.stride[0] + j * layer.stride[1] + i;
    const float a = __ldg(layer.a + k), b = __ldg(layer.b + k);
    Four zeta = four_at(layer.zeta + here), eta = four_at(layer.eta + here);
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      zeta.at[n] = fused(b, zeta.at[n], a * v_q.at[n]);
      eta.at[n] = new_eta(a, b, eta.at[n], h_p.at[n]);
      v_q.at[n] += zeta.at[n];
      h_p.at[n] += eta.at[n];
    }
    store(layer.zeta + here, zeta, inside);
    store(layer.eta + here, eta, inside);
  }
}

/// Adds the terms of the absorbing layers of the axes north and east to p⁺ and q⁺ of a node, after the step.
template <class T>
__device__ __forceinline__ void add_layers_beside(const StepArguments<T>& g, const Region& region, Index k,
                                                  Index j, Index i) {
  T h_p = 0;
  for (int axis = 1; axis < 3; ++axis)
    if (region.side[axis] >= 0) h_p += layer_term<TiltedTile::M>(g, axis, region.side[axis], k, j, i);
  const Index here = k * g.stride[0] + j * g.stride[1] + i;
  T share = g.squared[here] * h_p;
  if (region.sponge) share = share / (1 + (g.damping[0][k] + g.damping[1][j] + g.damping[2][i]));
  g.next[here] = fused(g.wide[here], share, g.next[here]);
  g.next_q[here] = fused(g.mixed[here], share, g.next_q[here]);
  g.hand_on(here);
}

/// The work of a thread, plane after plane. layers: whether the axis up has absorbing layers
template <bool layers, bool sponge>
__device__ __forceinline__ void walk_tilted(const TiltedBlock& block, const TiltedPlace& place,
                                            const Inside& inside, Index j, Index i) {
  using Shape = TiltedTile;
  constexpr int M = Shape::M;
  Shape& tile = block.tile;
  const StepArguments<float>& g = block.g;
  const Stencil<float>& stencil = g.stencil;
  const Index up = g.stride[0];
  const int thread = place.thread, planes = static_cast<int>(block.k1 - block.k0);
  const bool there = j >= g.held.first[1] && j < g.held.last[1] && i < g.held.last[2];
  const bool in_part = place.own && j < g.part.last[1] && i < g.part.last[2];
  Index coming = (block.k0 - M) * up + j * g.stride[1] + i;
  const auto bring_normal = [&] {
    if (!there) return;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) bring_four(tile.normal[axis][thread], g.normal[axis] + coming);
  };
  if (!there)
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) tile.normal[axis][thread] = Four{};
  bring_normal();
  const bool steps = place.own && inside.any;

  SumsUp slope_p{}, slope_q{}, h{}, v{};
  int slot = 0, middle = Shape::slots - M;  // slots of the planes m and m − M
  unsigned parity = 0;
  for (int n = 0; n < planes + 4 * M; ++n) {
    wait_for(&tile.full[slot], parity);
    if constexpr (!by_engine) __syncthreads();
    const Four up_p = slope_p.add(stencil.first[0], four_at(block.field_at(slot, 0, place)));
    const auto add_q = [&] { return slope_q.add(stencil.first[0], four_at(block.field_at(slot, 1, place))); };
    const bool level = n >= 3 * M && n < planes + 3 * M;  // whether T of the plane m − M is needed
    const int turn = n & 1;
    if (n >= 2 * M) wait_for_fours();
    if (n >= 2 * M && (place.own || level)) {
      const float *const p = block.field_at(middle, 0, place), *const q = block.field_at(middle, 1, place);
      const auto north_of = [&](const float* f) {
        return slope_of_four<M>(stencil.first[1], [&](int r) { return four_at(f + r * Shape::width); });
      };
      if (place.own) {
        const PieceOfRow row(p);
        Four on_north, level_p, t{};
        derive_level(stencil, p, row, on_north, level_p);
        const Four to_up = block.make_products(place, turn, 0, level, up_p, on_north, row),
                   centre{{row.at[M], row.at[M + 1], row.at[M + 2], row.at[M + 3]}};
        Four h_p = h.add(stencil.second[0], stencil.centre_of[0], centre, stencil.first[0], to_up);
        if constexpr (layers) {
          Four& level_now = tile.level[n & (M - 1)][thread];
          t = level_now;  // T of the plane m − 2M
          level_now = level_p;
        } else if (level) add(h.middle(), level_p);
        const Four psi = layers && in_part ? psi_up(g, block.k0 - 3 * M + n, j, i) : Four{};
        Four v_q = v.add(stencil.first[0], block.make_products(place, turn, 1, level, add_q(), north_of(q),
                                                               PieceOfRow(q), layers ? &psi : nullptr));
        if (n >= 4 * M && steps) {
          const Index k = block.k0 - 4 * M + n;
          if constexpr (layers) {
            add_layers_up(g, inside, k, j, i, h_p, v_q);
            add(h_p, t);
          }
          Four s{};
          if constexpr (sponge)
#pragma unroll
            for (int m = 0; m < 4; ++m)
              if (inside.has(m)) s.at[m] = g.damping[0][k] + g.damping[1][j] + g.damping[2][i + m];
          wait_for(&tile.full[Shape::slots], static_cast<unsigned>(turn));
          block.leap_of_both<sponge>(place, inside, k, coming - M * up, h_p, v_q, s);
        }
      } else {
        block.make_products(place, turn, 0, level, up_p, north_of(p), PieceOfRow(p));
        block.make_products(place, turn, 1, level, add_q(), north_of(q), PieceOfRow(q));
      }
    } else add_q();
    if (n >= 2 * M && n + 1 < planes + 4 * M) {
      coming += up;
      bring_normal();
    }
    __syncthreads();  // products are stored; the plane m − M is no longer needed
    if (n >= M) block.stage(n - M + Shape::slots);
    if (n >= 4 * M) block.stage_own(n - 4 * M + 1);
    if (level && steps) {
      const Four v_p = block.level_of_v(place, turn, 0);
      Four& t = layers ? tile.level[n & (M - 1)][thread] : h.middle();
#pragma unroll
      for (int m = 0; m < 4; ++m) t.at[m] -= v_p.at[m];
      add(v.middle(), block.level_of_v(place, turn, 1));
    }
    if (++slot == Shape::slots) slot = 0, parity ^= 1;
    if (++middle == Shape::slots) middle = 0;
  }
}

/// Computes p⁺ and q⁺ of a box without the terms of absorbing layers of the axes north and east.  layers:
/// whether the axis up has layers. first_east: easting index at which tiles begin
template <bool layers, bool sponge>
__global__ void __launch_bounds__(TiltedTile::threads, 1)
    step_tilted_tiles(const __grid_constant__ StepArguments<float> g, const __grid_constant__ TiltedMaps maps,
                      const IndexBox<3> box, Index first_east, Index planes) {
  using Shape = TiltedTile;
  extern __shared__ unsigned char memory[];
  Shape& tile = *reinterpret_cast<Shape*>(memory + (128 - in_shared(memory) % 128) % 128);
  const Index k0 = box.first[0] + static_cast<Index>(blockIdx.z) * planes,
              k1 = k0 + planes < box.last[0] ? k0 + planes : box.last[0];
  const Index j0 = box.first[1] + static_cast<Index>(blockIdx.y) * Shape::rows,
              i0 = first_east + static_cast<Index>(blockIdx.x) * Shape::nodes_east;
  const bool one = threadIdx.x == 0;
  const TiltedBlock block{tile, g, maps, k0, k1, j0, i0, !by_engine || one};
  if (one)
    for (auto& full : tile.full) begin_barrier(&full);
  __syncthreads();
  for (int n = 0; n < Shape::slots; ++n) block.stage(n);
  block.stage_own(0);
  const TiltedPlace place;
  const Index j = j0 + place.row, i = i0 + place.column;
  const Inside inside(j < box.last[1], i, box);
  walk_tilted<layers, sponge>(block, place, inside, j, i);
}

/// Number of planes of a block, such that all multiprocessors, each with one block, have equal work, and few
/// planes are read twice.  columns: number of blocks in a plane
inline Index planes_of_tilted(Index planes, Index columns, Index multiprocessors) {
  Index best = planes, least = 0;
  for (Index pieces = 1; pieces <= planes; ++pieces) {
    const Index most = (planes + pieces - 1) / pieces,
                rounds = (columns * pieces + multiprocessors - 1) / multiprocessors,
                cost = rounds * (most + 2 * TiltedTile::M);
    if (pieces == 1 || cost < least) least = cost, best = most;
    if (most <= 4 * TiltedTile::M) break;
  }
  return best;
}

/// Computes p⁺ and q⁺ of a box without the terms of absorbing layers of the axes north and east.
inline void begin_tilted_tiles(cudaStream_t stream, const StepArguments<float>& g, const IndexBox<3>& box) {
  using Shape = TiltedTile;
  // A separate kernel computes boxes without absorbing layers on the axis up; it is a tenth faster.
  const bool layers =
      g.layers[0][0].first != g.layers[0][0].last || g.layers[0][1].first != g.layers[0][1].last;
  const auto kernel = g.sponge ? step_tilted_tiles<true, true>
                      : layers ? step_tilted_tiles<true, false>
                               : step_tilted_tiles<false, false>;
  const bool engine = allow_memory(kernel, tilted_block_bytes());
  TiltedMaps maps{};
  if (engine) {
    const float* const own[] = {g.next, g.next_q, g.now, g.now_q, g.squared, g.wide, g.mixed};
    maps.fields[0] = map_of(g.now, g, Shape::height, Shape::width);
    maps.fields[1] = map_of(g.now_q, g, Shape::height, Shape::width);
    for (int f = 0; f < Shape::own_arrays; ++f)
      maps.own[f] = map_of(own[f], g, Shape::rows, Shape::nodes_east);
  }
  constexpr Index line = 32;  // rows of tiles begin at whole cache lines, as those of fields do
  const Index first_east = g.part.first[2] + (box.first[2] - g.part.first[2]) / line * line;
  const auto parts = [](Index nodes, Index most) { return (nodes + most - 1) / most; };
  const Index tiles_east = parts(box.last[2] - first_east, Shape::nodes_east),
              tiles_north = parts(box.size(1), Shape::rows);
  int device = 0, multiprocessors = 1;
  detail::cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  detail::cuda::check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                      "cudaDeviceGetAttribute");
  const Index planes = planes_of_tilted(box.size(0), tiles_east * tiles_north, multiprocessors);
  const dim3 blocks(static_cast<unsigned>(tiles_east), static_cast<unsigned>(tiles_north),
                    static_cast<unsigned>(parts(box.size(0), planes)));
  kernel<<<blocks, Shape::threads, tilted_block_bytes(), stream>>>(g, maps, box, first_east, planes);
  detail::cuda::check(cudaGetLastError(), "steps");
}

}  // namespace terrane::acoustic::gpu
