// A step by tiles: each block of threads moves a tile upward through the planes. The tuned kernel of a GPU
// for constant density and for a vertical axis, in single precision and three dimensions. Its results are
// bitwise those of nodes.hpp.
//
// Memory traffic of a node in a step: p⁻ read and p⁺ written, p and v²Δt² read, 16 bytes; with a vertical
// axis also q⁻, q⁺, q and two parameters of the medium, 36 bytes. p is read once from memory, and once more
// from the cache for the rows and columns beside a tile. Operands of differences on the axis up are in
// registers (a queue of 2M + 1 planes), those of the other axes in shared memory. The GPU's copy engine loads
// planes into shared memory, two ahead of the plane that is computed: threads do not wait for memory, and
// each plane needs one barrier.
//
// Absorbing layers: ψ and ζ are read and written once, 16 bytes per node and axis; they are loaded before the
// plane that needs them, along easting by the copy engine. A block contains a whole layer with the nodes that
// it affects, so it updates ψ itself: of the axis up for all planes before the first one; of northing for
// each plane, through shared memory; of easting from the row in registers, exchanged within the warp. ψ of
// layers up and north that do not fit into blocks (more points than a tile has rows, or parts of ranks hardly
// thicker than a layer) is updated before the step (psi_walks), for 11 bytes more.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/cuda.hpp"
#include "terrane/physics/acoustic/march/nodes.hpp"

namespace terrane::acoustic::gpu {

/// Values at four consecutive nodes of a row, loaded and stored together.
struct alignas(16) Four {
  float at[4];
};

__device__ __forceinline__ Four four_at(const float* from) { return *reinterpret_cast<const Four*>(from); }
/// Loads values that no thread writes in this launch (read-only cache).
__device__ __forceinline__ Four four_kept(const float* from) {
  const float4 value = __ldg(reinterpret_cast<const float4*>(from));
  return {value.x, value.y, value.z, value.w};
}
/// Loads values that are read only once in a step: they do not displace values from the cache that are read
/// again.
__device__ __forceinline__ Four four_once(const float* from) {
  const float4 value = __ldcs(reinterpret_cast<const float4*>(from));
  return {value.x, value.y, value.z, value.w};
}

/// Begins to load the value at an address, which will be read later, from memory into the cache.
__device__ __forceinline__ void look_ahead(const float* at) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#endif
}

/// Which of four consecutive nodes of a row are in the box.
struct Inside {
  bool any, all;
  int first, last;  ///< first <= n < last
  __device__ Inside(bool row, Index i, const IndexBox<3>& box)
      : any(row && i < box.last[2] && i + 4 > box.first[2]),
        all(row && i >= box.first[2] && i + 4 <= box.last[2]),
        first(static_cast<int>(box.first[2] - i)),
        last(static_cast<int>(box.last[2] - i)) {}
  __device__ __forceinline__ bool has(int n) const { return any && n >= first && n < last; }
};

/// Stores values that no thread reads again in this launch.
__device__ __forceinline__ void store_once(float* to, const Four& value) {
  __stcs(reinterpret_cast<float4*>(to), make_float4(value.at[0], value.at[1], value.at[2], value.at[3]));
}
/// Stores the values at nodes inside the box. again: whether this launch reads them again
template <bool again = false>
__device__ __forceinline__ void store(float* to, const Four& value, const Inside& inside) {
  if (inside.all) {
    if constexpr (again) *reinterpret_cast<Four*>(to) = value;
    else store_once(to, value);
    return;
  }
#pragma unroll
  for (int n = 0; n < 4; ++n)
    if (inside.has(n)) to[n] = value.at[n];
}

/// Stores p⁺ (field 0) or q⁺ (1) of four nodes of plane k, also in the fields of neighbours that read them.
__device__ __forceinline__ void store_next(const StepArguments<float>& g, float* next, int field, Index k,
                                           Index here, const Four& value, const Inside& inside) {
  store(next + here, value, inside);
#pragma unroll
  for (const auto& other : g.beside)
    if (other.reads(k)) store<true>(other.next[field] + here, value, inside);
}

/// The shared memory of a block, whose tile has 64 nodes along east and 16 rows, four nodes per thread:
/// values of some planes.
template <Equation equation, int M>
struct Tile {
  static constexpr bool with_axis = equation == Equation::vti;
  static constexpr int threads_east = 16, rows = 16, threads = threads_east * rows,
                       nodes_east = 4 * threads_east;
  static constexpr int pad = (M + 3) / 4 * 4;  ///< nodes loaded on each side of the tile, a multiple of four
  static constexpr int width = nodes_east + 2 * pad, height = rows + 2 * M;
  static constexpr int ahead = 2;  ///< planes that are being loaded while one is computed
  /// Number of planes by which p is loaded ahead of the arrays `own`, for the queue of planes on the axis up.
  static constexpr int lead = with_axis ? 0 : M;
  /// Arrays that are read at the tile's own nodes only; q is loaded M planes early, for the queue of planes
  /// along the axis up.
  enum Own { before, squared, q, before_q, wide, mixed };
  static constexpr int own_arrays = with_axis ? 6 : 2, turns = ahead + 1, planes = turns + lead;

  alignas(128) float p[planes][height][width];
  alignas(128) float own[turns][own_arrays][rows][nodes_east];
  /// The new ψ of an absorbing layer along northing; zeros outside it.
  alignas(16) float psi[rows + 2 * M][nodes_east];
  /// Coefficients of an absorbing layer along easting: a and b of ψ, a and b of ζ; zeros outside it.
  alignas(16) float decay[4][nodes_east];
  /// Barriers that open when a plane is loaded; the last one, when the first planes of p are loaded.
  alignas(8) std::uint64_t full[turns + 1];

  __device__ __forceinline__ const float* own_p(int slot) const {
    return &p[slot][threadIdx.y + M][pad + 4 * threadIdx.x];
  }
  __device__ __forceinline__ Four own_of(int turn, Own array) const {
    return four_at(&own[turn][array][threadIdx.y][4 * threadIdx.x]);
  }
};

/// The nodes of an absorbing layer along north or east in the rank's part, without the zeros around them in
/// the layer's arrays; along east beginning with the group of four nodes that contains the first.
struct LayerBox {
  IndexBox<3> held;
  Index stride[3];
  __host__ __device__ LayerBox(const StepArguments<float>& g, int axis, int side) : held(g.part) {
    const auto& layer = g.layers[axis][side];
    held.first[axis] = axis == 2 ? g.part.first[2] + (layer.first - g.part.first[2]) / 4 * 4 : layer.first;
    held.last[axis] = layer.last;
    for (int a = 0; a < 3; ++a) stride[a] = layer.stride[a];
  }
};

/// Number of nodes of a row of an absorbing layer along east, a multiple of four; 0: there is no layer.
inline __host__ __device__ int row_of_layer(const StepArguments<float>& g, int side) {
  const auto& layer = g.layers[2][side];
  if (layer.first == layer.last) return 0;
  return static_cast<int>((layer.last - LayerBox(g, 2, side).held.first[2] + 3) / 4 * 4);
}
inline int longest_row(const StepArguments<float>& g) {
  return std::max(row_of_layer(g, 0), row_of_layer(g, 1));
}

/// Shared memory of a block, bytes: for its tile, and for ψ and ζ of an absorbing layer along east with `row`
/// nodes per row. 128 bytes are added, because boxes are loaded to addresses that are multiples of 128 bytes,
/// and a block's memory may begin at others.
template <Equation equation, int M>
constexpr int block_bytes(int row = 0) {
  using Shape = Tile<equation, M>;
  return static_cast<int>(sizeof(Shape)) + 128 + Shape::turns * 2 * Shape::rows * row * int{sizeof(float)};
}

/// The copy engine's descriptions of arrays: p with the nodes that are read beside a tile, the arrays of
/// Tile::Own, and the arrays of the absorbing layers along east: [side][ψ, ζ].
struct Maps {
  CUtensorMap of[7], east[2][2];
};

/// How long loaded values stay in the L2 cache, as the codes by which the copy engine is told so.
enum class Stays : std::uint64_t { normally = 0x1000000000000000, least = 0x12F0000000000000 };

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr bool by_engine = true;
#else
inline constexpr bool by_engine = false;  // without a copy engine, all threads of a block copy a plane
#endif

__device__ __forceinline__ unsigned in_shared(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/// Begins to load a box of one plane: [height][width] nodes from k, j, i on; zeros outside the field. With
/// the copy engine one thread calls it, else all threads.  g: an object with the field's box and strides
template <Stays stays = Stays::normally, class Held>
__device__ __forceinline__ void bring_box([[maybe_unused]] int height, [[maybe_unused]] int width, float* to,
                                          const CUtensorMap& map, const float* field, const Held& g, Index k,
                                          Index j, Index i, std::uint64_t* full) {
  const auto& held = g.held.first;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
      "[%1, {%3, %4, %5}], [%2], %6;" ::"r"(in_shared(to)),
      "l"(&map), "r"(in_shared(full)), "r"(static_cast<int>(i - held[2])), "r"(static_cast<int>(j - held[1])),
      "r"(static_cast<int>(k - held[0])), "l"(static_cast<std::uint64_t>(stays))
      : "memory");
#else
  const int fours = width / 4;
  const int threads = static_cast<int>(blockDim.x * blockDim.y);
  for (int n = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); n < height * fours; n += threads) {
    const Index row = j + n / fours, at = i + n % fours * 4;
    const bool there =
        k < g.held.last[0] && row >= held[1] && row < g.held.last[1] && at >= held[2] && at < g.held.last[2];
    Four value{};
    if (there) value = four_at(field + k * g.stride[0] + row * g.stride[1] + at);
    *reinterpret_cast<Four*>(to + 4 * n) = value;
  }
#endif
}

/// Like bring_box(), for a box whose size is known at compile time.
template <int height, int width, Stays stays = Stays::normally, class Held>
__device__ __forceinline__ void bring(float* to, const CUtensorMap& map, const float* field, const Held& g,
                                      Index k, Index j, Index i, std::uint64_t* full) {
  bring_box<stays>(height, width, to, map, field, g, k, j, i, full);
}

__device__ __forceinline__ void begin_barrier(std::uint64_t* full) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(in_shared(full)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
/// Sets the number of bytes that must arrive before the barrier opens.
__device__ __forceinline__ void expect(std::uint64_t* full, unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(in_shared(full)), "r"(bytes)
               : "memory");
#endif
}
__device__ __forceinline__ void wait_for(std::uint64_t* full, unsigned parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n .reg .pred open;\nwait%=:\n mbarrier.try_wait.parity.shared::cta.b64 open, [%0], %1;\n"
      " @open bra done%=;\n bra wait%=;\ndone%=:\n}" ::"r"(in_shared(full)),
      "r"(parity)
      : "memory");
#endif
}

/// Loads a block's planes, k0 … k0 + count − 1, ahead of the computation. n: index of a plane, counted from
/// k0. j0, i0: first row and column of the tile.
template <Equation equation, int M>
struct Planes {
  using Shape = Tile<equation, M>;
  Shape& tile;
  const StepArguments<float>& g;
  const Maps& maps;
  Index k0, j0, i0;
  int count;
  bool brings;  ///< whether this thread begins loads
  /// The side of the absorbing layer along east that affects the block (−1: none), and row_of_layer().
  int east = -1, row = 0;
  float* of_layer = nullptr;  ///< ψ and ζ of this absorbing layer: [buffers of a plane][2: ψ, ζ][rows][row]

  __device__ __forceinline__ float* layer_at(int turn, int array) const {
    return of_layer + (2 * turn + array) * Shape::rows * row;
  }

  __device__ __forceinline__ void find_layer() {
    for (int side = 0; side < 2; ++side) {
      const auto& layer = g.layers[2][side];
      if (layer.first == layer.last || i0 >= layer.last + M || i0 + Shape::nodes_east <= layer.first - M)
        continue;
      east = side;
      row = row_of_layer(g, side);
      of_layer = reinterpret_cast<float*>(&tile + 1);
    }
  }
  /// Begins to load the planes of p that precede stage(0), then the first stages.
  __device__ __forceinline__ void begin() const {
    if (threadIdx.x == 0 && threadIdx.y == 0)
      for (auto& full : tile.full) begin_barrier(&full);
    __syncthreads();
    if (!brings) return;
    if constexpr (Shape::lead > 0) {
      expect(&tile.full[Shape::turns], Shape::lead * sizeof(tile.p[0]));
      for (int n = 0; n < Shape::lead; ++n) bring_p(n, &tile.full[Shape::turns]);
    }
    for (int n = 0; n < Shape::ahead; ++n) stage(n);
  }
  __device__ __forceinline__ void bring_p(int n, std::uint64_t* full) const {
    bring<Shape::height, Shape::width>(&tile.p[n % Shape::planes][0][0], maps.of[0], g.now, g, k0 + n, j0 - M,
                                       i0 - Shape::pad, full);
  }
  /// Begins to load all values that plane n needs and that are not loaded yet.
  __device__ __forceinline__ void stage(int n) const {
    if (!brings || n >= count) return;
    const int turn = n % Shape::turns;
    std::uint64_t* const full = &tile.full[turn];
    constexpr unsigned of_fields = sizeof(tile.p[0]) + sizeof(tile.own[0]),
                       of_rows = 2 * Shape::rows * sizeof(float);
    expect(full, of_fields + of_rows * static_cast<unsigned>(row));
    bring_p(n + Shape::lead, full);
    const float* const fields[] = {g.next, g.squared, g.now_q, g.next_q, g.wide, g.mixed};
#pragma unroll
    for (int f = 0; f < Shape::own_arrays; ++f)
      bring<Shape::rows, Shape::nodes_east>(&tile.own[turn][f][0][0], maps.of[f + 1], fields[f], g,
                                            k0 + n + (f == Shape::q ? M : 0), j0, i0, full);
    if (east < 0) return;
    const LayerBox box(g, 2, east);
    const float* const arrays[] = {g.layers[2][east].psi, g.layers[2][east].zeta};
#pragma unroll
    for (int a = 0; a < 2; ++a)
      bring_box(Shape::rows, row, layer_at(turn, a), maps.east[east][a], arrays[a], box, k0 + n, j0,
                box.held.first[2], full);
  }
};

/// The absorbing layer of an axis that affects nodes with this index: 0 below, 1 above, −1 none.
template <int M>
__device__ __forceinline__ int side_at(const LayerArrays<float> (&layers)[2], Index at) {
  for (int side = 0; side < 2; ++side)
    if (layers[side].first != layers[side].last && at >= layers[side].first - M && at < layers[side].last + M)
      return side;
  return -1;
}

/// The first difference D at four nodes, like first_difference().  of(r): values r nodes further on the axis
template <int M, class Of>
__device__ __forceinline__ Four slope_of_four(const float (&d)[widest], const Of& of) {
  Four sum{};
#pragma unroll
  for (int r = 1; r <= M; ++r) {
    const Four after = of(r), before = of(-r);
#pragma unroll
    for (int n = 0; n < 4; ++n) sum.at[n] = fused(d[r - 1], after.at[n] - before.at[n], sum.at[n]);
  }
  return sum;
}

/// Updates ψ of an absorbing layer along up or north, at all its nodes first ≤ n < last on that axis and four
/// nodes of their rows: p is read once.  p, psi: pointers to the values at node `first`
template <bool again, int M>
__device__ __forceinline__ void walk_psi(const StepArguments<float>& g, int axis,
                                         const LayerArrays<float>& layer, Index first, Index last,
                                         const float* p, float* psi, const Inside& inside) {
  const Index step = g.stride[axis], psi_step = layer.stride[axis];
  Four queue[2 * M + 1];
#pragma unroll
  for (int r = 0; r < 2 * M; ++r) queue[r + 1] = four_kept(p + (r - M) * step);
  constexpr int ahead = 5;  // number of nodes whose values are loaded together
  for (Index at = first; at < last; at += ahead) {
    Four lead[ahead], value[ahead];
#pragma unroll
    for (int n = 0; n < ahead; ++n)
      if (at + n < last) {
        lead[n] = four_kept(p + (n + M) * step);
        value[n] = four_once(psi + n * psi_step);
      }
#pragma unroll
    for (int n = 0; n < ahead; ++n) {
      if (at + n >= last) break;
#pragma unroll
      for (int r = 0; r < 2 * M; ++r) queue[r] = queue[r + 1];
      queue[2 * M] = lead[n];
      const float a = __ldg(layer.a_psi + at + n), b = __ldg(layer.b_psi + at + n);
      const Four slope =
          slope_of_four<M>(g.stencil.first[axis], [&](int r) -> const Four& { return queue[M + r]; });
#pragma unroll
      for (int m = 0; m < 4; ++m) value[n].at[m] = fused(b, value[n].at[m], a * slope.at[m]);
      store<again>(psi + n * psi_step, value[n], inside);
    }
    p += ahead * step, psi += ahead * psi_step;
  }
}

/// Adds D ψ, and ζ in the absorbing layer, to A p of four nodes, for a layer along up or north; like
/// layer_term(). to: address of ζ. slope: D ψ. zeta: ζ of the preceding step. p(r): the field r nodes further
/// on the axis
template <int M, class P>
__device__ __forceinline__ void add_layer(const Stencil<float>& stencil, int axis,
                                          const LayerArrays<float>& layer, Index at, float* to,
                                          const Inside& inside, const P& p, Four slope, Four zeta,
                                          Four& sum) {
  if (at >= layer.first && at < layer.last) {
    const float a = __ldg(layer.a + at), b = __ldg(layer.b + at);
    const Four centre = p(0);
    Four second;
#pragma unroll
    for (int n = 0; n < 4; ++n) second.at[n] = stencil.centre_of[axis] * centre.at[n];
#pragma unroll
    for (int r = 1; r <= M; ++r) {
      const Four after = p(r), before = p(-r);
#pragma unroll
      for (int n = 0; n < 4; ++n)
        second.at[n] = fused(stencil.second[axis][r - 1], after.at[n] + before.at[n], second.at[n]);
    }
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      zeta.at[n] = fused(b, zeta.at[n], a * (second.at[n] + slope.at[n]));
      slope.at[n] += zeta.at[n];
    }
    store(to, zeta, inside);
  }
#pragma unroll
  for (int n = 0; n < 4; ++n) sum.at[n] += slope.at[n];
}

/// The terms of an absorbing layer along easting: updates ψ at these nodes, computes D ψ with ψ of
/// neighbouring threads, and updates ζ. All threads of a warp call it: outside the layer coefficients, ψ and
/// ζ are zero. east: threads of a row. decay: a and b of ψ, a and b of ζ. psi, zeta: values of the preceding
/// step, replaced by new ones. row: p of the nodes i − M … i + 3 + M
template <int M, int east, class Decay>
__device__ __forceinline__ void add_layer_east(const Stencil<float>& stencil, const Decay& decay, Four& psi,
                                               Four& zeta, const float (&row)[4 + 2 * M], Four& sum) {
  constexpr int fours = (M + 3) / 4;
  const Four a_psi = decay(0), b_psi = decay(1);
  float wide[4 * (2 * fours + 1)];  // ψ at the nodes of this thread and, on both sides, of its neighbours
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    float slope = 0;
#pragma unroll
    for (int r = 1; r <= M; ++r)
      slope = fused(stencil.first[2][r - 1], row[n + M + r] - row[n + M - r], slope);
    psi.at[n] = fused(b_psi.at[n], psi.at[n], a_psi.at[n] * slope);
    wide[4 * fours + n] = psi.at[n];
  }
#pragma unroll
  for (int f = 1; f <= fours; ++f)
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const float before = __shfl_up_sync(0xffffffffU, psi.at[n], f, east),
                  after = __shfl_down_sync(0xffffffffU, psi.at[n], f, east);
      const int tx = static_cast<int>(threadIdx.x);
      wide[4 * (fours - f) + n] = tx >= f ? before : 0;
      wide[4 * (fours + f) + n] = tx + f < east ? after : 0;
    }
  const Four a = decay(2), b = decay(3);
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    float slope = 0, second = stencil.centre_of[2] * row[n + M];
#pragma unroll
    for (int r = 1; r <= M; ++r) {
      slope = fused(stencil.first[2][r - 1], wide[4 * fours + n + r] - wide[4 * fours + n - r], slope);
      second = fused(stencil.second[2][r - 1], row[n + M + r] + row[n + M - r], second);
    }
    zeta.at[n] = fused(b.at[n], zeta.at[n], a.at[n] * (second + slope));
    sum.at[n] += slope + zeta.at[n];
  }
}

/// Pointers to an absorbing layer's arrays at four nodes of a plane; next() moves them to the plane above.
struct Place {
  float *psi = nullptr, *zeta = nullptr;
  Index up = 0;
  __device__ __forceinline__ void begin(const LayerArrays<float>& layer, Index k, Index j, Index i) {
    const Index here = k * layer.stride[0] + j * layer.stride[1] + i;
    psi = layer.psi + here, zeta = layer.zeta + here, up = layer.stride[0];
  }
  __device__ __forceinline__ void next() { psi += up, zeta += up; }
  __device__ __forceinline__ void look_up(int planes) const {
    look_ahead(psi + planes * up);
    look_ahead(zeta + planes * up);
  }
};

/// Computes p⁺ of four nodes. s: dΔt/2 of sponges; with s = 0 the formula of a sponge is bitwise equal to
/// leap()
template <bool sponge>
__device__ __forceinline__ Four leap_of_four(const StepArguments<float>& g, const Four& now,
                                             const Four& before, const Four& squared, const Four& a_p,
                                             const Four& s) {
  Four result;
#pragma unroll
  for (int n = 0; n < 4; ++n)
    result.at[n] = sponge ? leap_through_sponge(now.at[n], before.at[n], squared.at[n], a_p.at[n], s.at[n])
                   : g.rounding > 0
                       ? leap_and_back(now.at[n], before.at[n], squared.at[n], a_p.at[n], g.rounding)
                       : leap(now.at[n], before.at[n], squared.at[n], a_p.at[n]);
  return result;
}

/// The division of a box into blocks. East: 64 nodes each, from first_east on. North: 16 rows each; the last
/// blocks begin at last_north. Up: `planes` planes each, but the first block ends at `head`, and the last one
/// begins at `tail`. up, north: whether one block contains all nodes that an absorbing layer of that axis
/// affects, and updates its ψ.
struct Cut {
  Index first_east, last_north, head, tail, planes;
  bool up, north;
};

/// The absorbing layers that affect a block's planes, a thread's row and a block's columns.
struct Reached {
  Index below, above;  ///< absorbing layers along up affect the planes k < below and k >= above
  /// The side of the absorbing layer that affects the thread's row, and the tile's columns; −1: none.
  int north = -1, east = -1;
  bool some_north = false;    ///< whether an absorbing layer along north affects any row of the block
  bool walked_north = false;  ///< whether ψ of absorbing layers along north was updated before this launch

  /// Finds the absorbing layers along up, and the layer along north that affects a thread's row.
  template <int M>
  __device__ __forceinline__ void find(const StepArguments<float>& g, Index j) {
    const auto& on_up = g.layers[0];
    below = on_up[0].first != on_up[0].last ? on_up[0].last + M : g.part.first[0];
    above = on_up[1].first != on_up[1].last ? on_up[1].first - M : g.part.last[0];
    north = side_at<M>(g.layers[1], j);
  }
};

/// Axes whose absorbing layers affect a block; for several axes their values are added.
enum Along { nothing = 0, along_up = 1, along_north = 2, along_east = 4, all_axes = 7 };

/// The work of a thread, plane after plane upward through its block. known: the axes whose absorbing layers
/// it computes
template <int known, bool sponge, Equation equation, int M>
class TileWalk {
 public:
  using Shape = Tile<equation, M>;
  static constexpr bool with_axis = Shape::with_axis, knows_up = (known & along_up) != 0,
                        knows_north = (known & along_north) != 0, knows_east = (known & along_east) != 0;

  /// j, i: the first of the thread's nodes
  __device__ __forceinline__ TileWalk(const Planes<equation, M>& planes, const Inside& inside,
                                      const Reached& reached, Index j, Index i)
      : planes_(planes), g_(planes.g), tile_(planes.tile), inside_(inside), reached_(reached), j_(j), i_(i) {
    here_ = planes.k0 * g_.stride[0] + j * g_.stride[1] + i;
  }

  __device__ __forceinline__ void walk() {
    Four queue[2 * M + 1]{};  // planes k − M … k + M of the field that is differentiated on the axis up
    begin(queue);
    if constexpr (Shape::lead > 0) wait_for(&tile_.full[Shape::turns], 0);
    find_layers();
    int slot = 0, slot_ahead = Shape::lead % Shape::planes, turn = 0;
    unsigned parity = 0;
    for (int n = 0; n < planes_.count; ++n, here_ += g_.stride[0]) {
      const Index k = planes_.k0 + n;
      Four psi_north{}, zeta_north{}, slope_up{}, zeta_up{};
      if constexpr (knows_north) read_layer_north(n, psi_north, zeta_north);
      if constexpr (knows_up) read_layer_up(k, slope_up, zeta_up);
      __syncthreads();  // all threads have finished the preceding plane: its memory is free
      planes_.stage(n + Shape::ahead);
      wait_for(&tile_.full[turn], parity);
      take_plane(slot_ahead, turn, queue);
      const float* const at = tile_.own_p(slot);
      const Four p = with_axis ? four_at(at) : queue[M];
      float row[4 + 2 * M];  // p at the nodes i − M … i + 3 + M
      take_row(at, p, row);
      if constexpr (knows_north) make_psi_north(at, p, psi_north);
      Four sum, v_q;  // sum: A p, in a VTI or TTI medium H p; v_q: V q
      add_differences(at, p, row, queue, sum, v_q);
      if constexpr (knows_up) add_layer_up(k, queue, slope_up, zeta_up, with_axis ? v_q : sum);
      if constexpr (knows_north) add_layer_north(at, p, zeta_north, sum);
      if constexpr (knows_east) add_layer_of_east(turn, row, sum);
      leap(k, turn, p, queue[M], sum, v_q);
      if (++slot == Shape::planes) slot = 0;
      if (++slot_ahead == Shape::planes) slot_ahead = 0;
      if (++turn == Shape::turns) turn = 0, parity ^= 1;
    }
  }

 private:
  // Values that change from plane to plane are passed as arguments: members of an object would be kept in
  // memory until loops are unrolled, and the compiler would need more registers.
  using Queue = Four[2 * M + 1];
  using Row = float[4 + 2 * M];

  /// p at the nodes r rows north of the thread's nodes.
  __device__ __forceinline__ static Four north_of(const float* at, const Four& p, int r) {
    return r == 0 ? p : four_at(at + r * Shape::width);
  }
  __device__ __forceinline__ bool reached_up(Index k) const {
    return inside_.any && (k < reached_.below || k >= reached_.above);
  }
  __device__ __forceinline__ const LayerArrays<float>& layer_up(Index k) const {
    return g_.layers[0][k < reached_.below ? 0 : 1];
  }

  __device__ __forceinline__ void begin(Queue& queue) const {
    if (inside_.any)
#pragma unroll
      for (int r = 0; r < 2 * M; ++r)
        queue[r + 1] = four_at((with_axis ? g_.now_q : g_.now) + here_ + (r - M) * g_.stride[0]);
  }
  __device__ __forceinline__ void find_layers() {
    if (knows_north && reached_.north >= 0) {
      const auto& layer = g_.layers[1][reached_.north];
      on_north_.begin(layer, planes_.k0, j_, i_);
      in_north_ = inside_.any && j_ >= layer.first && j_ < layer.last;
    }
    if (knows_east && reached_.east >= 0) {
      const auto& layer = g_.layers[2][reached_.east];
      on_east_.begin(layer, planes_.k0, j_, i_);
      for (int n = 0; n < 4; ++n) in_east_ |= inside_.has(n) && i_ + n >= layer.first && i_ + n < layer.last;
      in_row_ = static_cast<int>(threadIdx.y) * planes_.row +
                static_cast<int>(i_ - LayerBox(g_, 2, reached_.east).held.first[2]);
    }
    makes_north_ = knows_north && reached_.some_north && !reached_.walked_north;
  }

  /// These functions read ψ and ζ of absorbing layers at these nodes while the plane is still being loaded.
  /// read_layer_up also computes D ψ, because the registers that later work needs are still free.
  __device__ __forceinline__ void read_layer_north(int n, Four& psi, Four& zeta) const {
    if (!in_north_) return;
    if (makes_north_) psi = four_once(on_north_.psi);
    zeta = four_once(on_north_.zeta);
    if (n + Shape::ahead < planes_.count) on_north_.look_up(Shape::ahead);
  }
  __device__ __forceinline__ void read_layer_up(Index k, Four& slope, Four& zeta) const {
    if (!reached_up(k)) return;
    const auto& layer = layer_up(k);
    Place place;
    place.begin(layer, k, j_, i_);
    if (k >= layer.first && k < layer.last) zeta = four_once(place.zeta);
    slope = slope_of_four<M>(g_.stencil.first[0], [&](int r) { return four_at(place.psi + r * place.up); });
  }

  __device__ __forceinline__ void take_plane(int slot_ahead, int turn, Queue& queue) const {
#pragma unroll
    for (int r = 0; r < 2 * M; ++r) queue[r] = queue[r + 1];
    queue[2 * M] = with_axis ? tile_.own_of(turn, Shape::q) : four_at(tile_.own_p(slot_ahead));
  }
  __device__ __forceinline__ static void take_row(const float* at, const Four& p, Row& row) {
#pragma unroll
    for (int s = -Shape::pad; s < 4 + Shape::pad; s += 4) {
      const Four value = s == 0 ? p : four_at(at + s);
#pragma unroll
      for (int m = 0; m < 4; ++m)
        if (s + m >= -M && s + m < 4 + M) row[s + m + M] = value.at[m];
    }
  }

  __device__ __forceinline__ void make_psi_north(const float* at, const Four& p, Four& psi) const {
    if (!makes_north_ || !in_north_) return;
    const auto& layer = g_.layers[1][reached_.north];
    const Four slope = slope_of_four<M>(g_.stencil.first[1], [&](int r) { return north_of(at, p, r); });
    const float a = __ldg(layer.a_psi + j_), b = __ldg(layer.b_psi + j_);
#pragma unroll
    for (int m = 0; m < 4; ++m) psi.at[m] = fused(b, psi.at[m], a * slope.at[m]);
    store(on_north_.psi, psi, inside_);
    *reinterpret_cast<Four*>(&tile_.psi[threadIdx.y + M][4 * threadIdx.x]) = psi;
  }

  /// Adds the differences in the order and with the roundings of laplacian(), or, in a VTI medium, of
  /// level_difference() and second_difference().
  __device__ __forceinline__ void add_differences(const float* at, const Four& p, const Row& row,
                                                  const Queue& queue, Four& sum, Four& v_q) const {
    const auto& d = g_.stencil;
    const float centre = with_axis ? d.centre_of[1] + d.centre_of[2] : d.centre;
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      sum.at[m] = centre * p.at[m];
      v_q.at[m] = d.centre_of[0] * queue[M].at[m];
    }
    Four& on_up = with_axis ? v_q : sum;
#pragma unroll
    for (int r = 1; r <= M; ++r) {
      const Four south = north_of(at, p, -r), north = north_of(at, p, r);
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        sum.at[m] = fused(d.second[2][r - 1], row[m + M + r] + row[m + M - r], sum.at[m]);
        sum.at[m] = fused(d.second[1][r - 1], north.at[m] + south.at[m], sum.at[m]);
        on_up.at[m] = fused(d.second[0][r - 1], queue[M + r].at[m] + queue[M - r].at[m], on_up.at[m]);
      }
    }
  }

  __device__ __forceinline__ void add_layer_up(Index k, const Queue& queue, const Four& slope,
                                               const Four& zeta, Four& sum) const {
    if (!reached_up(k)) return;
    const auto& layer = layer_up(k);
    Place place;
    place.begin(layer, k, j_, i_);
    add_layer<M>(
        g_.stencil, 0, layer, k, place.zeta, inside_, [&](int r) { return queue[M + r]; }, slope, zeta, sum);
  }
  __device__ __forceinline__ void add_layer_north(const float* at, const Four& p, const Four& zeta,
                                                  Four& sum) {
    if (makes_north_) __syncthreads();  // new ψ of all rows is stored
    if (reached_.north >= 0 && inside_.any) {
      const auto& layer = g_.layers[1][reached_.north];
      const float* const rows = &tile_.psi[threadIdx.y + M][4 * threadIdx.x];
      const Four slope = slope_of_four<M>(g_.stencil.first[1], [&](int r) {
        return four_at(makes_north_ ? rows + r * Shape::nodes_east : on_north_.psi + r * layer.stride[1]);
      });
      add_layer<M>(
          g_.stencil, 1, layer, j_, on_north_.zeta, inside_, [&](int r) { return north_of(at, p, r); }, slope,
          zeta, sum);
    }
    on_north_.next();
  }
  __device__ __forceinline__ void add_layer_of_east(int turn, const Row& row, Four& sum) {
    if (reached_.east < 0) return;
    Four psi{}, zeta{};
    if (in_east_) {
      psi = four_at(planes_.layer_at(turn, 0) + in_row_);
      zeta = four_at(planes_.layer_at(turn, 1) + in_row_);
    }
    const auto decay = [&](int d) { return four_at(&tile_.decay[d][4 * threadIdx.x]); };
    add_layer_east<M, Shape::threads_east>(g_.stencil, decay, psi, zeta, row, sum);
    if (in_east_) {
      store_once(on_east_.psi, psi);
      store_once(on_east_.zeta, zeta);
    }
    on_east_.next();
  }

  /// Computes p⁺ and q⁺ of plane k.
  __device__ __forceinline__ void leap(Index k, int turn, const Four& p, const Four& q, const Four& sum,
                                       const Four& v_q) const {
    Four s{};
    if constexpr (sponge)
#pragma unroll
      for (int m = 0; m < 4; ++m)
        if (inside_.has(m)) s.at[m] = g_.damping[0][k] + g_.damping[1][j_] + g_.damping[2][i_ + m];
    const Four before = tile_.own_of(turn, Shape::before), squared = tile_.own_of(turn, Shape::squared);
    if constexpr (with_axis) {
      const Four wide = tile_.own_of(turn, Shape::wide), mixed = tile_.own_of(turn, Shape::mixed),
                 before_q = tile_.own_of(turn, Shape::before_q);
      Four a_p, a_q;
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        a_p.at[m] = fused(wide.at[m], sum.at[m], mixed.at[m] * v_q.at[m]);
        a_q.at[m] = fused(mixed.at[m], sum.at[m], v_q.at[m]);
      }
      store_next(g_, g_.next, 0, k, here_, leap_of_four<sponge>(g_, p, before, squared, a_p, s), inside_);
      store_next(g_, g_.next_q, 1, k, here_, leap_of_four<sponge>(g_, q, before_q, squared, a_q, s), inside_);
    } else
      store_next(g_, g_.next, 0, k, here_, leap_of_four<sponge>(g_, p, before, squared, sum, s), inside_);
  }

  const Planes<equation, M>& planes_;
  const StepArguments<float>& g_;
  Shape& tile_;
  const Inside& inside_;
  const Reached& reached_;
  Index j_, i_, here_;
  Place on_north_, on_east_;
  bool in_north_ = false, in_east_ = false;  // whether the thread's nodes are in the absorbing layer
  bool makes_north_ = false;                 // whether ψ along north is updated plane by plane
  int in_row_ = 0;  // index of the thread's nodes in the loaded box of the absorbing layer along east
};

template <int known, bool sponge, Equation equation, int M>
__device__ __forceinline__ void walk(const Planes<equation, M>& planes, const Inside& inside,
                                     const Reached& reached, Index j, Index i) {
  TileWalk<known, sponge, equation, M>(planes, inside, reached, j, i).walk();
}

/// Computes p⁺ and q⁺ at the nodes of `box`.
template <Equation equation, int M, bool sponge>
__global__ void __launch_bounds__(Tile<equation, M>::threads, M <= 4 && !sponge ? 2 : 1)
    step_tiles(const __grid_constant__ StepArguments<float> g, const __grid_constant__ Maps maps,
               const IndexBox<3> box, const Cut cut) {
  using Shape = Tile<equation, M>;
  extern __shared__ unsigned char memory[];
  Shape& tile = *reinterpret_cast<Shape*>(memory + (128 - in_shared(memory) % 128) % 128);
  // Blocks of the lowest and highest planes begin last: they have few planes, so all multiprocessors end
  // about together.
  const bool head = gridDim.z == 1 || blockIdx.z + 2 == gridDim.z,
             tail = !head && blockIdx.z + 1 == gridDim.z;
  const Index begin = cut.head + static_cast<Index>(blockIdx.z) * cut.planes,
              end = begin + cut.planes < cut.tail ? begin + cut.planes : cut.tail;
  const Index k0 = head   ? box.first[0]
                   : tail ? cut.tail
                          : begin,
              k1 = head   ? cut.head
                   : tail ? box.last[0]
                          : end;
  // Blocks of the first and the last rows begin first, because absorbing layers make them slow.
  const bool last_rows = blockIdx.y == (gridDim.y > 1 ? 1 : 0);
  const Index nth = blockIdx.y > 1 ? blockIdx.y - 1 : 0;
  const Index j0 = last_rows ? cut.last_north : box.first[1] + nth * Shape::rows,
              j1 = last_rows                           ? box.last[1]
                   : j0 + Shape::rows < cut.last_north ? j0 + Shape::rows
                                                       : cut.last_north;
  const Index i0 = cut.first_east + static_cast<Index>(blockIdx.x) * Shape::nodes_east;
  const bool one = threadIdx.x == 0 && threadIdx.y == 0;
  Planes<equation, M> on_their_way{tile, g, maps, k0, j0, i0, static_cast<int>(k1 - k0), !by_engine || one};
  on_their_way.find_layer();
  on_their_way.begin();
  const Index j = j0 + threadIdx.y, i = i0 + 4 * threadIdx.x;
  const Inside inside(j < j1, i, box);
  Reached reached;
  reached.template find<M>(g, j);
  reached.east = on_their_way.east;
  reached.some_north = __syncthreads_or(reached.north >= 0 && j < j1);
  reached.walked_north = !cut.north;
  if (cut.up && inside.any)
    for (int side = 0; side < 2; ++side) {
      const LayerArrays<float>& layer = g.layers[0][side];
      if (layer.first == layer.last || (side == 0 ? k0 >= reached.below : k1 <= reached.above)) continue;
      walk_psi<true, M>(g, 0, layer, layer.first, layer.last,
                        field_on(g, 0) + layer.first * g.stride[0] + j * g.stride[1] + i,
                        layer.psi + layer.first * layer.stride[0] + j * layer.stride[1] + i, inside);
    }
  // The shared arrays that are set here are read only after the barrier of the first plane.
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  if (reached.some_north)
    for (int n = thread; n < (Shape::rows + 2 * M) * Shape::nodes_east; n += Shape::threads)
      (&tile.psi[0][0])[n] = 0;
  if (reached.east >= 0 && thread < Shape::nodes_east) {
    const LayerArrays<float>& layer = g.layers[2][reached.east];
    const Index at = i0 + thread;
    const bool has = at >= layer.first && at < layer.last && at >= box.first[2] && at < box.last[2];
    const float* const decay[] = {layer.a_psi, layer.b_psi, layer.a, layer.b};
#pragma unroll
    for (int d = 0; d < 4; ++d) tile.decay[d][thread] = has ? __ldg(decay[d] + at) : 0.0F;
  }
  // Most blocks have no node that an absorbing layer affects, and so less work; few have nodes of several
  // layers.
  const bool up = k0 < reached.below || k1 > reached.above, north = reached.some_north;
  if (sponge || (up && north)) walk<all_axes, sponge>(on_their_way, inside, reached, j, i);
  else if (up) walk<along_up | along_east, false>(on_their_way, inside, reached, j, i);
  else if (north) walk<along_north | along_east, false>(on_their_way, inside, reached, j, i);
  else if (reached.east >= 0) walk<along_east, false>(on_their_way, inside, reached, j, i);
  else walk<nothing, false>(on_their_way, inside, reached, j, i);
}

/// Like step_tiles(), for a box that no absorbing layer and no sponge affects. This kernel needs 76 registers
/// instead of 128, so the compiler is asked for up to three blocks per multiprocessor, and a block determines
/// its nodes in less time.
template <Equation equation, int M>
__global__ void __launch_bounds__(Tile<equation, M>::threads, M > 4                       ? 1
                                                              : equation == Equation::vti ? 2
                                                                                          : 3)
    step_plain_tiles(const __grid_constant__ StepArguments<float> g, const __grid_constant__ Maps maps,
                     const IndexBox<3> box, Index first_east, Index planes) {
  using Shape = Tile<equation, M>;
  extern __shared__ unsigned char memory[];
  Shape& tile = *reinterpret_cast<Shape*>(memory + (128 - in_shared(memory) % 128) % 128);
  const Index k0 = box.first[0] + static_cast<Index>(blockIdx.z) * planes,
              k1 = k0 + planes < box.last[0] ? k0 + planes : box.last[0];
  const Index j0 = box.first[1] + static_cast<Index>(blockIdx.y) * Shape::rows,
              j1 = j0 + Shape::rows < box.last[1] ? j0 + Shape::rows : box.last[1];
  const Index i0 = first_east + static_cast<Index>(blockIdx.x) * Shape::nodes_east;
  const bool one = threadIdx.x == 0 && threadIdx.y == 0;
  const Planes<equation, M> on_their_way{
      tile, g, maps, k0, j0, i0, static_cast<int>(k1 - k0), !by_engine || one};
  on_their_way.begin();
  const Index j = j0 + threadIdx.y, i = i0 + 4 * threadIdx.x;
  walk<nothing, false>(on_their_way, Inside(j < j1, i, box), Reached(), j, i);
}

/// Whether an absorbing layer affects nodes of the box.
inline bool layers_reach(const StepArguments<float>& g, const IndexBox<3>& box, Index M) {
  for (int axis = 0; axis < 3; ++axis)
    for (const auto& layer : g.layers[axis])
      if (layer.first < layer.last && layer.first - M < box.last[axis] && layer.last + M > box.first[axis])
        return true;
  return false;
}

/// The easting index at which tiles `nodes` wide begin, such that each absorbing layer along easting lies in
/// one tile with the nodes it affects, and rows begin at whole cache lines; none if layers are too thick or
/// too close.
inline std::optional<Index> first_east_of(const StepArguments<float>& g, Index M, Index nodes) {
  const auto& [below, above] = g.layers[2];
  const auto there = [](const LayerArrays<float>& layer) { return layer.first != layer.last; };
  for (const Index first : {g.part.first[2], g.part.first[2] - nodes / 2}) {
    const auto tile_of = [&](Index i) { return (i - first) / nodes; };
    const bool fits = (!there(below) || tile_of(below.first) == tile_of(below.last + M - 1)) &&
                      (!there(above) || tile_of(above.first - M) == tile_of(above.last - 1)) &&
                      (!there(below) || !there(above) || tile_of(below.first) != tile_of(above.first));
    if (fits) return first;
  }
  return std::nullopt;
}
template <Equation equation, int M>
std::optional<Index> first_east(const StepArguments<float>& g) {
  return first_east_of(g, M, Tile<equation, M>::nodes_east);
}

/// Finds cuTensorMapEncodeTiled in the driver at run time, because this library is not linked with the
/// driver.
inline PFN_cuTensorMapEncodeTiled_v12000 find_encoder() {
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  constexpr auto name = "cuTensorMapEncodeTiled";
#if CUDART_VERSION >= 12050
  const auto asked = cudaGetDriverEntryPointByVersion(name, &encode, 12000, cudaEnableDefault, &found);
#else
  const auto asked = cudaGetDriverEntryPoint(name, &encode, cudaEnableDefault, &found);
#endif
  detail::cuda::check(asked, "cudaGetDriverEntryPoint");
  if (found != cudaDriverEntryPointSuccess)
    throw Error("acoustic: GPU", std::string("the driver has no ") + name,
                "Take a driver for CUDA 12 or later, or device = \"cpu\".");
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(encode);
}

/// The copy engine's description of a field. zero: address of node [0, 0, 0]. height, width: size of the
/// boxes that are loaded
template <class Held>
CUtensorMap map_of(const float* zero, const Held& g, int height, int width) {
  const auto& held = g.held;
  const float* const first = zero + held.first[0] * g.stride[0] + held.first[1] * g.stride[1] + held.first[2];
  const cuuint64_t size[] = {static_cast<cuuint64_t>(held.size(2)), static_cast<cuuint64_t>(held.size(1)),
                             static_cast<cuuint64_t>(held.size(0))};
  const cuuint64_t apart[] = {g.stride[1] * sizeof(float), g.stride[0] * sizeof(float)};  // distances between
                                                                                          // rows and between
                                                                                          // planes, bytes
  const cuuint32_t box[] = {static_cast<cuuint32_t>(width), static_cast<cuuint32_t>(height), 1},
                   every[] = {1, 1, 1};
  static const auto encode = find_encoder();
  CUtensorMap map;
  const auto status = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, const_cast<float*>(first), size, apart,
                             box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw Error("acoustic: GPU", "cuTensorMapEncodeTiled refuses a field: " + std::to_string(status),
                "Please report this; device = \"cpu\" computes the same waves.");
  return map;
}

template <Equation equation, int M>
Maps maps_of(const StepArguments<float>& g) {
  using Shape = Tile<equation, M>;
  const float* const fields[] = {g.next, g.squared, g.now_q, g.next_q, g.wide, g.mixed};
  Maps maps{};
  maps.of[0] = map_of(g.now, g, Shape::height, Shape::width);
  for (int f = 0; f < Shape::own_arrays; ++f)
    maps.of[f + 1] = map_of(fields[f], g, Shape::rows, Shape::nodes_east);
  for (int side = 0; side < 2; ++side) {
    const auto& layer = g.layers[2][side];
    if (layer.first == layer.last) continue;
    const LayerBox box(g, 2, side);
    maps.east[side][0] = map_of(layer.psi, box, Shape::rows, row_of_layer(g, side));
    maps.east[side][1] = map_of(layer.zeta, box, Shape::rows, row_of_layer(g, side));
  }
  return maps;
}

/// Number of planes of a block: large enough that few planes are read twice, and small enough that all
/// multiprocessors have blocks, and that values read by two neighbouring blocks are still in the cache.
inline Index planes_for(Index planes, Index tiles) {
  constexpr Index blocks_wanted = 4096;
  Index most = 32;
  while (most > 8 && tiles * ((planes + most - 1) / most) < blocks_wanted) most /= 2;
  return most;
}

/// Whether one block contains all nodes that an absorbing layer of this axis, up or north, affects, and
/// updates its ψ. The rank's part must be so thick that none of these nodes is next to a neighbouring rank
/// (nodes there are computed as separate boxes). North: these nodes must fit into the rows of a tile. Up:
/// there must be so many tiles that other tiles need not wait for those of the layer.
template <Equation equation, int M>
bool makes_psi(const StepArguments<float>& g, int axis) {
  using Shape = Tile<equation, M>;
  const auto& part = g.part;
  constexpr Index many = 256;
  Index needed = 0;
  bool fits = axis == 1 || part.size(1) / Shape::rows * (part.size(2) / Shape::nodes_east) >= many;
  for (const auto& layer : g.layers[axis]) {
    if (layer.first == layer.last) continue;
    const Index reached = layer.last - layer.first + M;
    needed += reached;
    fits = fits && (axis == 0 || reached <= Shape::rows);
  }
  return fits && part.size(axis) >= needed + M;
}

/// The division of a box into blocks, and the number of blocks along east, north and up.
struct Blocks {
  Cut cut;
  Index east, north, up;
};

template <Equation equation, int M>
Blocks blocks_of(const StepArguments<float>& g, const IndexBox<3>& box) {
  constexpr Index wide = Tile<equation, M>::nodes_east, rows = Tile<equation, M>::rows;
  const auto parts = [](Index nodes, Index most) { return (nodes + most - 1) / most; };
  // The nodes that absorbing layers of the axis affect, if single blocks must contain them: those below the
  // first index, and those from the second index on.
  const auto reached = [&](int axis) {
    const auto& [below, above] = g.layers[axis];
    const bool whole = makes_psi<equation, M>(g, axis);
    return std::pair{
        whole && below.first != below.last ? std::max(below.last + M, box.first[axis]) : box.first[axis],
        whole && above.first != above.last ? std::min(above.first - M, box.last[axis]) : box.last[axis]};
  };
  Blocks blocks;
  auto& cut = blocks.cut;
  cut.first_east = *first_east<equation, M>(g);
  cut.up = makes_psi<equation, M>(g, 0), cut.north = makes_psi<equation, M>(g, 1);
  blocks.east = parts(box.last[2] - cut.first_east, wide);

  const auto [south_end, north_begin] = reached(1);
  blocks.north = parts(box.size(1), rows);
  cut.last_north = box.first[1] + (blocks.north - 1) * rows;
  if (north_begin < box.last[1] && cut.last_north > north_begin) {
    cut.last_north = std::max(box.last[1] - rows, south_end);
    blocks.north = 1 + parts(cut.last_north - box.first[1], rows);
  }

  // If the axis up has absorbing layers, the first and the last block contain only the planes that these
  // affect; all other planes belong to blocks without layers, which are faster.
  const auto [low_end, high_begin] = reached(0);
  cut.planes = planes_for(box.size(0), blocks.east * blocks.north);
  cut.head = std::min(low_end > box.first[0] ? low_end : box.first[0] + cut.planes, box.last[0]);
  if (cut.head > high_begin) cut.head = box.last[0];
  const Index rest = box.last[0] - cut.head;
  cut.tail = high_begin < box.last[0]
                 ? high_begin
                 : cut.head + (std::max<Index>(parts(rest, cut.planes), 1) - 1) * cut.planes;
  blocks.up = rest == 0 ? 1 : 2 + parts(cut.tail - cut.head, cut.planes);
  return blocks;
}

/// Allows blocks of a kernel this much shared memory. Returns whether the kernel's code for this GPU uses the
/// copy engine.
template <class Kernel>
bool allow_memory(Kernel kernel, int bytes) {
  cudaFuncAttributes found{};
  detail::cuda::check(cudaFuncGetAttributes(&found, kernel), "cudaFuncGetAttributes");
  detail::cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                      "cudaFuncSetAttribute");
  return found.ptxVersion >= 90;
}

/// Launches a kernel. together: number of neighbouring blocks along east that run as one cluster, on
/// multiprocessors of the same half of the L2 cache: values that two of them read are fetched from the other
/// half once. They share nothing else.
template <class Kernel, class... Words>
void launch_together(int together, Kernel kernel, const dim3& blocks, const dim3& threads, int bytes,
                     cudaStream_t stream, const Words&... words) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(together);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks, config.blockDim = threads;
  config.dynamicSmemBytes = static_cast<std::size_t>(bytes);
  config.stream = stream;
  config.attrs = &cluster, config.numAttrs = together > 1 ? 1 : 0;
  detail::cuda::check(cudaLaunchKernelEx(&config, kernel, words...), "steps");
}

/// Computes p⁺ and q⁺ of a box that no absorbing layer and no sponge affects.
template <Equation equation, int M>
void begin_plain_tiles(cudaStream_t stream, const StepArguments<float>& g, const IndexBox<3>& box) {
  using Shape = Tile<equation, M>;
  constexpr int bytes = block_bytes<equation, M>();
  const auto kernel = step_plain_tiles<equation, M>;
  const bool engine = allow_memory(kernel, bytes);
  const auto parts = [](Index nodes, Index most) { return (nodes + most - 1) / most; };
  const Index first = *first_east<equation, M>(g), east = parts(box.last[2] - first, Shape::nodes_east),
              north = parts(box.size(1), Shape::rows), planes = planes_for(box.size(0), east * north);
  const dim3 blocks(static_cast<unsigned>(east), static_cast<unsigned>(north),
                    static_cast<unsigned>(parts(box.size(0), planes)));
  // Clusters save time if there are many blocks (1024³ nodes: 2 to 3 %).
  constexpr Index many = 4096;
  constexpr int four = 4;
  const bool together = engine && equation == Equation::constant_density && M == 4 && east % four == 0 &&
                        east * north * blocks.z >= many;
  launch_together(together ? four : 1, kernel, blocks, dim3(Shape::threads_east, Shape::rows), bytes, stream,
                  g, engine ? maps_of<equation, M>(g) : Maps{}, box, first, planes);
}

/// Computes p⁺ and q⁺ of a box.
template <Equation equation, int M, bool sponge>
void begin_tiles(cudaStream_t stream, const StepArguments<float>& g, const IndexBox<3>& box) {
  using Shape = Tile<equation, M>;
  if (!sponge && !layers_reach(g, box, M)) return begin_plain_tiles<equation, M>(stream, g, box);
  const int bytes = block_bytes<equation, M>(longest_row(g));
  const auto kernel = step_tiles<equation, M, sponge>;
  const bool engine = allow_memory(kernel, bytes);
  const auto [cut, blocks_east, blocks_north, blocks_up] = blocks_of<equation, M>(g, box);
  const dim3 blocks(static_cast<unsigned>(blocks_east), static_cast<unsigned>(blocks_north),
                    static_cast<unsigned>(blocks_up));
  kernel<<<blocks, dim3(Shape::threads_east, Shape::rows), bytes, stream>>>(
      g, engine ? maps_of<equation, M>(g) : Maps{}, box, cut);
  detail::cuda::check(cudaGetLastError(), "steps");
}

/// Absorbing layers of the axes up and north whose ψ one launch updates.
struct Walks {
  struct Walk {
    int axis, side;
    IndexBox<3> layer;
  } of[4];
  int count = 0;
};

/// Updates ψ of these absorbing layers. Index x of a thread: group of four nodes of a row, y: row or plane,
/// z: layer.
template <int M>
__global__ void __launch_bounds__(128)
    psi_walks(const __grid_constant__ StepArguments<float> g, const __grid_constant__ Walks walks) {
  const auto& [axis, side, box] = walks.of[blockIdx.z];
  const LayerArrays<float>& layer = g.layers[axis][side];
  const int other = 1 - axis;
  const Index i = box.first[2] + 4 * (static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x),
              o = box.first[other] + static_cast<Index>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (i >= box.last[2] || o >= box.last[other]) return;
  const Inside inside(true, i, box);
  walk_psi<false, M>(g, axis, layer, box.first[axis], box.last[axis],
                     field_on(g, axis) + box.first[axis] * g.stride[axis] + o * g.stride[other] + i,
                     layer.psi + box.first[axis] * layer.stride[axis] + o * layer.stride[other] + i, inside);
}

}  // namespace terrane::acoustic::gpu
