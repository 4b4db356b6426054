// A step with variable density by tiles: each block of threads moves a tile upward through the planes. The
// tuned kernel of a GPU, for order 8 in single precision and nodes that no sponge affects. Its results are
// bitwise those of nodes.hpp.
//
// Memory traffic of a node in a step: p⁻ read and p⁺ written, p, ρv²Δt² and ρ/2 read, 20 bytes. Every flux
// b D⁺p between two nodes is computed once per tile (and again in a neighbouring tile that needs it): fluxes
// of the axes north and east are in shared memory for one plane. On the axis up, when a plane of p or of
// fluxes is available, its terms are added to the 2M differences that contain it; these are in registers, and
// each addition moves them to the next register. The copy engine loads planes two ahead of the one that is
// computed. A thread has two rows, which share operands of differences along north: otherwise shared memory,
// with some 100 bytes per node, would limit the speed.
//
// Absorbing layers: ψ lies at the same points as fluxes, so the thread that computes a flux updates its ψ,
// too. A tile contains a whole layer along north or east with the nodes it affects, and its ψ and ζ are
// loaded with the planes. ψ of the axis up is updated before the step (gpu_steps.cuh), because blocks contain
// only some planes of its layers. If a layer along north or east does not fit into tiles, tiles compute only
// nodes that no layer affects.
#pragma once

#include <limits>
#include <type_traits>
#include <utility>

#include "terrane/physics/acoustic/march/gpu_tiles.cuh"

namespace terrane::acoustic::gpu {

/// The shared memory of a block: values of some planes of its tile. A thread computes four nodes in each of
/// two rows.
template <int points, int threads_of_row, int tile_rows>
struct DensityTile {
  static constexpr int M = points, rows_of_thread = 2, threads_east = threads_of_row, rows = tile_rows,
                       threads = threads_east * rows / rows_of_thread, nodes_east = 4 * threads_east;
  static constexpr int reach = 2 * M - 1, pad = (reach + 3) / 4 * 4, beside = (M + 3) / 4 * 4;
  static constexpr int width = nodes_east + 2 * pad, height = rows + 2 * reach;  ///< extent of the array p
  /// Extent of ρ/2 in shared memory: the nodes that fluxes read, from column −beside and row −M on.
  static constexpr int density_width = nodes_east + 2 * beside + 4, density_height = rows + 2 * M;
  static constexpr int ahead = 2;  ///< planes that are being loaded while one is computed
  static constexpr int turns = ahead + 1, densities = M + ahead;
  /// Greatest thickness of absorbing layers along north, and along east, nodes.
  static constexpr int layer_rows = 16, layer_nodes = 16;

  alignas(128) float p[ahead][height][width];
  alignas(128) float half_density[densities][density_height][density_width];  ///< loaded M planes before p
  alignas(128) float before[turns][rows][nodes_east];
  alignas(128) float squared[turns][rows][nodes_east];
  /// ψ and ζ of the absorbing layers along north, and along east, in the tile.
  alignas(128) float north[turns][2][layer_rows][nodes_east];
  alignas(128) float east[turns][2][rows][layer_nodes];
  /// Coefficients of the absorbing layer along east: a and b of ψ, a and b of ζ; zeros outside it.
  alignas(16) float decay[4][nodes_east];
  /// Fluxes [plane mod 2][row][node] to the east of each node, from node i0 − beside on, and to the north of
  /// each node, from row j0 − M on. i0, j0: first node and row of the tile.
  alignas(16) float flux_east[2][rows][nodes_east + 2 * beside];
  alignas(16) float flux_north[2][rows + reach][nodes_east];
  /// Barriers that open when a plane is loaded; the last one, when the first planes of ρ/2 are loaded.
  alignas(8) std::uint64_t full[turns + 1];
};

/// The staggered difference Σ a_m (of(m) − of(−1 − m)) at four nodes: D⁺ from nodes around a half-way point,
/// or D⁻ from fluxes around a node.
template <int M, class Of>
__device__ __forceinline__ Four half_difference_of_four(const float (&a)[widest], const Of& of) {
  Four sum{};
#pragma unroll
  for (int m = 0; m < M; ++m) {
    const Four after = of(m), before = of(-1 - m);
#pragma unroll
    for (int n = 0; n < 4; ++n) sum.at[n] = fused(a[m], after.at[n] - before.at[n], sum.at[n]);
  }
  return sum;
}

/// half_difference_of_four() along a row: of(r) are the four values from at[shift + r] on. own: the four
/// values from `at` on
template <int M, int shift>
__device__ __forceinline__ Four half_difference_in_row(const float (&a)[widest], const float* at,
                                                       const Four& own) {
  constexpr int beside = (M + 3) / 4 * 4;
  float row[4 + 2 * beside];
#pragma unroll
  for (int s = -beside; s < 4 + beside; s += 4) {
    const Four value = s == 0 ? own : four_at(at + s);
#pragma unroll
    for (int n = 0; n < 4; ++n) row[s + beside + n] = value.at[n];
  }
  return half_difference_of_four<M>(a, [&](int m) {
    Four value;
#pragma unroll
    for (int n = 0; n < 4; ++n) value.at[n] = row[beside + n + shift + m];
    return value;
  });
}

/// Unfinished differences of four nodes on the axis up: sums over the planes that are already available, in
/// the order of difference_of_planes().
template <int M>
struct DifferencesOnTheWay {
  Four sum[2 * M - 1]{};  ///< unfinished sums; the next plane completes the first
  /// Adds the next plane, and returns the difference that it completes.
  __device__ __forceinline__ Four add(const float (&a)[widest], const Four& value) {
    Four ended;
#pragma unroll
    for (int m = 0; m < 4; ++m) ended.at[m] = fused(a[M - 1], value.at[m], sum[0].at[m]);
#pragma unroll
    for (int n = 0; n < 2 * M - 2; ++n)
#pragma unroll
      for (int m = 0; m < 4; ++m)
        sum[n].at[m] = fused(n < M - 1 ? a[M - 2 - n] : -a[n - M + 1], value.at[m], sum[n + 1].at[m]);
#pragma unroll
    for (int m = 0; m < 4; ++m) sum[2 * M - 2].at[m] = -a[M - 1] * value.at[m];
    return ended;
  }
};

/// The flux b D⁺p, b = 1/ρ, at four nodes.  difference: D⁺p; here, there: ρ/2 at the nodes on both sides
__device__ __forceinline__ Four flux_of_four(const Four& difference, const Four& here, const Four& there) {
  Four flux;
#pragma unroll
  for (int n = 0; n < 4; ++n) flux.at[n] = ratio(difference.at[n], here.at[n] + there.at[n]);
  return flux;
}

/// Fluxes between four nodes of a row and the next nodes east.  here: ρ/2 at the four nodes; next: ρ/2 at the
/// node after them
__device__ __forceinline__ Four flux_to_east(const Four& difference, const Four& here, float next) {
  return flux_of_four(difference, here, Four{here.at[1], here.at[2], here.at[3], next});
}

/// The copy engine's descriptions of the fields, and of the absorbing layers' arrays: [side][ψ, ζ].
struct DensityMaps {
  CUtensorMap p, half_density, before, squared, north[2][2], east[2][2];
};

/// The absorbing layers whose ψ a block contains or reads.
struct DensityLayers {
  int north = -1, east = -1;  ///< side of the absorbing layer in the block's rows, in its columns; −1: none
  bool up = false;            ///< whether the block reads fluxes in an absorbing layer of the axis up

  /// k0, k1, j0, j1: planes and rows of the block; i0, i1: columns of the tile in the box
  __device__ __forceinline__ void find(const StepArguments<float>& g, int M, Index k0, Index k1, Index j0,
                                       Index j1, Index i0, Index i1) {
    for (int side = 0; side < 2; ++side) {
      const auto has = [&](int axis, Index first, Index last) {
        const auto& layer = g.layers[axis][side];
        return layer.first < layer.last && first < layer.last && last > layer.first;
      };
      if (has(1, j0, j1)) north = side;
      if (has(2, i0, i1)) east = side;
      up = up || has(0, k0 - M, k1 + M);
    }
  }
  __device__ __forceinline__ bool any() const { return north >= 0 || east >= 0 || up; }
};

/// Loads a block's planes ahead of the computation. k0: the first plane; n: index of a plane, counted from
/// k0; j0, i0: first row and column of the tile.  knows_layers: whether the launch computes absorbing layers
template <class TileShape, bool knows_layers>
struct DensityPlanes {
  using Shape = TileShape;
  static constexpr int M = Shape::M;
  /// Values that are read only once: dropping them first from the L2 cache saves up to a twentieth of the
  /// time without absorbing layers, but takes more time with all layers.
  static constexpr Stays once = knows_layers ? Stays::normally : Stays::least;
  Shape& tile;
  const StepArguments<float>& g;
  const DensityMaps& maps;
  DensityLayers layers;
  Index k0, j0, i0;
  int count;
  bool brings;  ///< whether this thread begins loads

  /// Begins to load the first M planes of ρ/2, then all arrays of the first planes (stage()).
  __device__ __forceinline__ void begin() const {
    if (threadIdx.x == 0 && threadIdx.y + 1 == blockDim.y)
      for (auto& full : tile.full) begin_barrier(&full);
    __syncthreads();
    if (!brings) return;
    expect(&tile.full[Shape::turns], M * sizeof(tile.half_density[0]));
    for (int n = 0; n < M; ++n) bring_density(n, &tile.full[Shape::turns]);
    for (int n = 0; n < Shape::ahead; ++n) stage(n);
  }
  __device__ __forceinline__ void bring_density(int n, std::uint64_t* full) const {
    bring<Shape::density_height, Shape::density_width>(&tile.half_density[n % Shape::densities][0][0],
                                                       maps.half_density, g.half_density, g, k0 + n, j0 - M,
                                                       i0 - Shape::beside, full);
  }
  __device__ __forceinline__ void stage(int n) const {
    if (!brings || n >= count) return;
    const int turn = n % Shape::turns;
    std::uint64_t* const full = &tile.full[turn];
    const unsigned of_layers = (layers.north >= 0 ? static_cast<unsigned>(sizeof(tile.north[0])) : 0) +
                               (layers.east >= 0 ? static_cast<unsigned>(sizeof(tile.east[0])) : 0);
    expect(full, sizeof(tile.p[0]) + sizeof(tile.half_density[0]) + 2 * sizeof(tile.before[0]) + of_layers);
    bring<Shape::height, Shape::width>(&tile.p[n % Shape::ahead][0][0], maps.p, g.now, g, k0 + n,
                                       j0 - Shape::reach, i0 - Shape::pad, full);
    bring_density(n + M, full);
    bring<Shape::rows, Shape::nodes_east, once>(&tile.before[turn][0][0], maps.before, g.next, g, k0 + n, j0,
                                                i0, full);
    bring<Shape::rows, Shape::nodes_east, once>(&tile.squared[turn][0][0], maps.squared, g.squared, g, k0 + n,
                                                j0, i0, full);
    if (layers.north >= 0) bring_layer<1, Shape::layer_rows, Shape::nodes_east>(n, layers.north, full);
    if (layers.east >= 0) bring_layer<2, Shape::rows, Shape::layer_nodes>(n, layers.east, full);
  }
  template <int axis, int height, int width>
  __device__ __forceinline__ void bring_layer(int n, int side, std::uint64_t* full) const {
    const auto& layer = g.layers[axis][side];
    const LayerBox box(g, axis, side);
    const Index j = axis == 1 ? box.held.first[1] : j0, i = axis == 2 ? box.held.first[2] : i0;
    const int turn = n % Shape::turns;
    float* const to = axis == 1 ? &tile.north[turn][0][0][0] : &tile.east[turn][0][0][0];
    const auto& map = axis == 1 ? maps.north[side] : maps.east[side];
    bring<height, width>(to, map[0], layer.psi, box, k0 + n, j, i, full);
    bring<height, width>(to + height * width, map[1], layer.zeta, box, k0 + n, j, i, full);
  }

  __device__ __forceinline__ const float* p_at(int n, int row, int at) const {
    return &tile.p[n % Shape::ahead][row + Shape::reach][Shape::pad + at];
  }
  __device__ __forceinline__ const float* density_at(int slot, int row, int at) const {
    return &tile.half_density[slot][row + M][Shape::beside + at];
  }
};

/// A thread's share of the fluxes beside a tile, towards east and north, which differences in the tile read.
/// The threads compute these fluxes in `rounds` rounds: in each round a thread computes four fluxes of a row,
/// or none. Their positions are computed once, or, if absorbing layers need the registers, again for each
/// plane.
template <class Shape>
struct FluxesBeside {
  static constexpr int M = Shape::M, fours = Shape::beside / 4, east_tasks = 2 * fours * Shape::rows,
                       north_tasks = Shape::reach * Shape::threads_east;
  static_assert(east_tasks % 32 == 0, "warps take one kind of them");
  static constexpr int tasks = east_tasks + north_tasks,
                       rounds = (tasks + Shape::threads - 1) / Shape::threads;
  /// [round] offset of the thread's first node in the arrays of p, densities and fluxes.
  int p[rounds], density[rounds], flux[rounds];

  __device__ __forceinline__ FluxesBeside() {
    const int thread = static_cast<int>(threadIdx.y) * Shape::threads_east + static_cast<int>(threadIdx.x);
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      const int task = thread + round * Shape::threads;
      int row, at;
      if (task < east_tasks) {
        const int four = task % (2 * fours);
        row = task / (2 * fours),
        at = four < fours ? 4 * (four - fours) : Shape::nodes_east + 4 * (four - fours);
        flux[round] = row * (Shape::nodes_east + 2 * Shape::beside) + Shape::beside + at;
      } else {
        const int nth_row = (task - east_tasks) / Shape::threads_east;
        at = (task - east_tasks) % Shape::threads_east * 4,
        row = nth_row < M ? nth_row - M : Shape::rows + nth_row - M;
        flux[round] = (row + M) * Shape::nodes_east + at;
      }
      p[round] = (row + Shape::reach) * Shape::width + Shape::pad + at;
      density[round] = (row + M) * Shape::density_width + Shape::beside + at;
    }
  }
  __device__ __forceinline__ void make(Shape& tile, const Stencil<float>& stencil, int n, int slot) const {
    const int thread = static_cast<int>(threadIdx.y) * Shape::threads_east + static_cast<int>(threadIdx.x);
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      const int task = thread + round * Shape::threads;
      const float* const from = &tile.p[n % Shape::ahead][0][0] + p[round];
      const float* const of = &tile.half_density[slot][0][0] + density[round];
      if (task < east_tasks)
        *reinterpret_cast<Four*>(&tile.flux_east[n % 2][0][0] + flux[round]) = flux_to_east(
            half_difference_in_row<M, 1>(stencil.half[2], from, four_at(from)), four_at(of), of[4]);
      else if (task < tasks)
        *reinterpret_cast<Four*>(&tile.flux_north[n % 2][0][0] + flux[round]) =
            flux_of_four(half_difference_of_four<M>(
                             stencil.half[1], [&](int m) { return four_at(from + (m + 1) * Shape::width); }),
                         four_at(of), four_at(of + Shape::density_width));
    }
  }
};

/// The work of a thread, plane after plane upward through its block.  knows_layers: whether it has absorbing
/// layers
template <class Planes, bool knows_layers>
class DensityWalk {
 public:
  using Shape = typename Planes::Shape;
  static constexpr int M = Shape::M, R = Shape::rows_of_thread;

  /// box: the block's nodes
  __device__ __forceinline__ DensityWalk(const Planes& planes, const IndexBox<3>& box)
      : planes_(planes), g_(planes.g), tile_(planes.tile), box_(box) {
    const Index here = planes.k0 * g_.stride[0] + j_ * g_.stride[1] + i_;
#pragma unroll
    for (int r = 0; r < R; ++r) {  // includes nodes beside the box, whose fluxes are read by nodes of the box
      reads_[r] = Inside(j_ + r < box.last[1] + M, i_, box.grown(2, M, M)).any;
      any_[r] = inside(r).any, all_[r] = inside(r).all;
    }
    ahead_ = g_.now + here + 2 * M * g_.stride[0];
    next_ = g_.next + here;
    if constexpr (knows_layers)
      if (const int side = planes.layers.east; side >= 0) {
        const auto& layer = g_.layers[2][side];
        in_east_ = i_ < layer.last && i_ + 4 > layer.first;
        in_box_ = static_cast<int>(i_ - LayerBox(g_, 2, side).held.first[2]);
      }
  }

  __device__ __forceinline__ void walk() {
    begin_differences();
    wait_for(&tile_.full[Shape::turns], 0);
    int turn = 0, slot = 0, slot_ahead = M % Shape::densities;
    unsigned parity = 0;
    for (int n = 0; n < planes_.count; ++n) {
      wait_for(&tile_.full[turn], parity);
      if constexpr (!by_engine) __syncthreads();
      make_fluxes(n, turn, slot, slot_ahead);
      if constexpr (knows_layers) FluxesBeside<Shape>().make(tile_, g_.stencil, n, slot);
      else beside_.make(tile_, g_.stencil, n, slot);
      __syncthreads();  // fluxes are stored, and the memory of this plane's p is free
      planes_.stage(n + Shape::ahead);
      step(n, turn);
      ahead_ += g_.stride[0], next_ += g_.stride[0];
      if (++turn == Shape::turns) turn = 0, parity ^= 1;
      if (++slot == Shape::densities) slot = 0;
      if (++slot_ahead == Shape::densities) slot_ahead = 0;
    }
  }

 private:
  __device__ __forceinline__ Inside inside(int r) const { return {j_ + r < box_.last[1], i_, box_}; }
  /// The absorbing layer along up that contains plane k, or null.
  __device__ __forceinline__ const LayerArrays<float>* layer_up(Index k) const {
    for (const auto& layer : g_.layers[0])
      if (k >= layer.first && k < layer.last) return &layer;
    return nullptr;
  }
  __device__ __forceinline__ bool in_north(int r) const {
    if (planes_.layers.north < 0) return false;
    const auto& layer = g_.layers[1][planes_.layers.north];
    return j_ + r >= layer.first && j_ + r < layer.last;
  }
  /// Address in an absorbing layer's array of the node k, j, i.
  __device__ __forceinline__ static float* at(float* array, const LayerArrays<float>& layer, Index k, Index j,
                                              Index i) {
    return array + k * layer.stride[0] + j * layer.stride[1] + i;
  }
  /// ψ, updated before the step, of the flux between planes k and k + 1.
  __device__ __forceinline__ Four psi_up(int r, Index k) const {
    const auto* const layer = layer_up(k);
    if (!layer || !inside(r).any) return {};
    return four_once(at(layer->psi, *layer, k, j_ + r, i_));
  }
  __device__ __forceinline__ Four zeta_up(int r, Index k) const {
    const auto* const layer = layer_up(k);
    if (!layer || !inside(r).any) return {};
    return four_once(at(layer->zeta, *layer, k, j_ + r, i_));
  }
  /// Updates and stores ψ of an absorbing layer along north, and adds it to the difference.
  __device__ __forceinline__ void add_psi_north(int r, int n, int turn, Four& difference) const {
    if (!in_north(r)) return;
    const auto& layer = g_.layers[1][planes_.layers.north];
    const Index j = j_ + r;
    const float a = __ldg(layer.a_psi + j), b = __ldg(layer.b_psi + j);
    Four psi = four_at(&tile_.north[turn][0][j - layer.first][east_]);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      psi.at[m] = fused(b, psi.at[m], a * difference.at[m]);
      difference.at[m] += psi.at[m];
    }
    store(at(layer.psi, layer, planes_.k0 + n, j, i_), psi, inside(r));
  }
  __device__ __forceinline__ void add_psi_east(int r, int n, int turn, Four& difference) const {
    if (!in_east_) return;
    const auto& layer = g_.layers[2][planes_.layers.east];
    const Four a = four_at(&tile_.decay[0][east_]), b = four_at(&tile_.decay[1][east_]);
    Four psi = four_at(&tile_.east[turn][0][row_ + r][in_box_]);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      psi.at[m] = fused(b.at[m], psi.at[m], a.at[m] * difference.at[m]);
      difference.at[m] += psi.at[m];
    }
    store(at(layer.psi, layer, planes_.k0 + n, j_ + r, i_), psi, inside(r));
  }
  /// Updates and stores ζ of an absorbing layer, and adds it to the divergence on the layer's axis.
  __device__ __forceinline__ static void add_zeta(float* to, const Four& a, const Four& b, Four zeta,
                                                  const Inside& inside, Four& divergence) {
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      zeta.at[m] = fused(b.at[m], zeta.at[m], a.at[m] * divergence.at[m]);
      divergence.at[m] += zeta.at[m];
    }
    store(to, zeta, inside);
  }
  __device__ __forceinline__ static Four four_of(float value) { return {value, value, value, value}; }

  /// Initialises the differences along the axis up with planes below the block and the block's first planes.
  __device__ __forceinline__ void begin_differences() {
    const Index up = g_.stride[0];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (!reads_[r]) continue;
      const float* const now = ahead_ + r * g_.stride[1] - 2 * M * up;
      const float* const density = g_.half_density + (now - g_.now);
#pragma unroll
      for (int n = 1 - 2 * M; n < 0; ++n) differences_[r].add(g_.stencil.half[0], four_kept(now + n * up));
      half_density_[r] = four_kept(density - M * up);
#pragma unroll
      for (int n = -M; n < M - 1; ++n) {
        next_p_[r] = four_kept(now + (n + M) * up);
        if constexpr (knows_layers) next_psi_[r] = psi_up(r, planes_.k0 + n);
        make_flux_up(r, four_kept(density + (n + 1) * up));
      }
      next_p_[r] = four_kept(now + (2 * M - 1) * up);
      if constexpr (knows_layers) next_psi_[r] = psi_up(r, planes_.k0 + M - 1);
    }
  }

  /// Computes the next flux on the axis up, and returns the divergence that it completes.  next_density: ρ/2
  /// in the plane above the flux
  __device__ __forceinline__ Four make_flux_up(int r, const Four& next_density) {
    Four difference = differences_[r].add(g_.stencil.half[0], next_p_[r]);
    if constexpr (knows_layers)
#pragma unroll
      for (int m = 0; m < 4; ++m) difference.at[m] += next_psi_[r].at[m];
    const Four flux = flux_of_four(difference, half_density_[r], next_density);
    half_density_[r] = next_density;
    return divergences_[r].add(g_.stencil.half[0], flux);
  }

  /// Computes the fluxes of plane n; neighbouring rows share the values that they read.
  __device__ __forceinline__ void make_fluxes(int n, int turn, int slot, int slot_ahead) {
    const Index north = g_.stride[1];
    const float* const rows = planes_.p_at(n, row_, east_);
    const float* const densities = planes_.density_at(slot, row_, east_);
    Four density[R + 1], beside[2 * M - 1 + R];
#pragma unroll
    for (int r = 0; r <= R; ++r) density[r] = four_at(densities + r * Shape::density_width);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      on_up_[r] = make_flux_up(r, four_at(planes_.density_at(slot_ahead, row_ + r, east_)));
      p_[r] = four_at(rows + r * Shape::width);
      if (reads_[r] && n + 1 < planes_.count) next_p_[r] = four_kept(ahead_ + r * north);
      if constexpr (knows_layers) {
        if (planes_.layers.up) next_psi_[r] = psi_up(r, planes_.k0 + n + M);
        if (planes_.layers.up) zeta_up_[r] = zeta_up(r, planes_.k0 + n);
      }
    }
#pragma unroll
    for (int s = 0; s < 2 * M - 1 + R; ++s) {
      const int r = s - (M - 1);
      beside[s] = r >= 0 && r < R ? p_[r] : four_at(rows + r * Shape::width);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      Four on_north = half_difference_of_four<M>(g_.stencil.half[1],
                                                 [&](int m) -> const Four& { return beside[M + r + m]; }),
           on_east = half_difference_in_row<M, 1>(g_.stencil.half[2], rows + r * Shape::width, p_[r]);
      if constexpr (knows_layers) {
        add_psi_north(r, n, turn, on_north);
        add_psi_east(r, n, turn, on_east);
      }
      to_north_[r] = flux_of_four(on_north, density[r], density[r + 1]);
      *reinterpret_cast<Four*>(&tile_.flux_north[n % 2][row_ + r + M][east_]) = to_north_[r];
      to_east_[r] = flux_to_east(on_east, density[r], densities[r * Shape::density_width + 4]);
      *reinterpret_cast<Four*>(&tile_.flux_east[n % 2][row_ + r][Shape::beside + east_]) = to_east_[r];
    }
  }

  /// Computes p⁺ of plane n, in the order of step_variable_density().
  __device__ __forceinline__ void step(int n, int turn) {
    const float* const rows = &tile_.flux_north[n % 2][row_ + M][east_];
    Four beside[2 * M - 1 + R];
#pragma unroll
    for (int s = 0; s < 2 * M - 1 + R; ++s) {
      const int r = s - M;
      beside[s] = r >= 0 && r < R ? to_north_[r] : four_at(rows + r * Shape::nodes_east);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      Four sum = on_up_[r];
      Four on_north = half_difference_of_four<M>(g_.stencil.half[1],
                                                 [&](int m) -> const Four& { return beside[M + r + m]; });
      Four on_east = half_difference_in_row<M, 0>(
          g_.stencil.half[2], &tile_.flux_east[n % 2][row_ + r][Shape::beside + east_], to_east_[r]);
      if constexpr (knows_layers) add_zetas(r, n, turn, sum, on_north, on_east);
#pragma unroll
      for (int m = 0; m < 4; ++m) sum.at[m] = sum.at[m] + on_north.at[m] + on_east.at[m];
      const Four after = leap_of_four<false>(g_, p_[r], four_at(&tile_.before[turn][row_ + r][east_]),
                                             four_at(&tile_.squared[turn][row_ + r][east_]), sum, Four{});
      float* const to = next_ + r * g_.stride[1];
      if (all_[r]) store_once(to, after);
      else if (any_[r]) store(to, after, inside(r));
#pragma unroll
      for (const auto& other : g_.beside)
        if (other.reads(planes_.k0 + n) && any_[r])
          store<true>(other.next[0] + (to - g_.next), after, inside(r));
    }
  }

  __device__ __forceinline__ void add_zetas(int r, int n, int turn, Four& on_up, Four& on_north,
                                            Four& on_east) const {
    const Index k = planes_.k0 + n, j = j_ + r;
    if (const auto* const layer = planes_.layers.up ? layer_up(k) : nullptr)
      add_zeta(at(layer->zeta, *layer, k, j, i_), four_of(__ldg(layer->a + k)), four_of(__ldg(layer->b + k)),
               zeta_up_[r], inside(r), on_up);
    if (in_north(r)) {
      const auto& layer = g_.layers[1][planes_.layers.north];
      add_zeta(at(layer.zeta, layer, k, j, i_), four_of(__ldg(layer.a + j)), four_of(__ldg(layer.b + j)),
               four_at(&tile_.north[turn][1][j - layer.first][east_]), inside(r), on_north);
    }
    if (in_east_) {
      const auto& layer = g_.layers[2][planes_.layers.east];
      add_zeta(at(layer.zeta, layer, k, j, i_), four_at(&tile_.decay[2][east_]),
               four_at(&tile_.decay[3][east_]), four_at(&tile_.east[turn][1][row_ + r][in_box_]), inside(r),
               on_east);
    }
  }

  const Planes& planes_;
  const StepArguments<float>& g_;
  Shape& tile_;
  const IndexBox<3>& box_;
  const FluxesBeside<Shape> beside_;
  const int row_ = R * static_cast<int>(threadIdx.y), east_ = 4 * static_cast<int>(threadIdx.x);
  const Index j_ = planes_.j0 + row_, i_ = planes_.i0 + east_;
  bool reads_[R];         ///< whether the step reads p of a row's nodes
  bool any_[R], all_[R];  ///< whether the block contains any, or all, of a row's four nodes
  const float* ahead_;    ///< p of the first row's nodes, 2M planes after plane n
  float* next_;           ///< p⁺ of these nodes
  /// Values along the axis up: D⁺p and D⁻ of fluxes, summed over the planes already read; p of the next
  /// plane, which is being loaded; ρ/2 in the plane above the last flux. In plane n: p, and D⁻ of the fluxes
  /// along up.
  DifferencesOnTheWay<M> differences_[R], divergences_[R];
  Four next_p_[R]{}, half_density_[R]{}, p_[R], on_up_[R];
  Four to_north_[R], to_east_[R];  ///< fluxes of plane n
  // Absorbing layers: ψ of the next flux on the axis up and ζ of plane n, which are being loaded; whether a
  // layer along east contains some of these nodes, and the nodes' index in the loaded box of this layer.
  Four next_psi_[R]{}, zeta_up_[R]{};
  bool in_east_ = false;
  int in_box_ = 0;
};

/// The division of a box into blocks, each a tile over some planes. Tiles begin at the easting index
/// first_east; the last tiles to the north begin at the northing index last_north. If blocks have many
/// planes, the planes that absorbing layers of the axis up affect, below `head` and from `tail` on, are
/// separate blocks. Slow blocks, with layers north and east, begin first; short blocks, of head and tail,
/// begin last, so that all multiprocessors end about together.
struct DensityCut {
  Index first_east, last_north, planes, head, tail;
  /// Number of tiles along east and along north; slow: [north, east][side] 1 if the side has an absorbing
  /// layer, else 0.
  unsigned east, north, slow[2][2];
  __host__ __device__ unsigned tiles() const { return east * north; }
  __host__ __device__ unsigned plain() const {
    return (east - slow[1][0] - slow[1][1]) * (north - slow[0][0] - slow[0][1]);
  }
  /// Number of blocks, one above the other, between the planes head and tail.
  __host__ __device__ unsigned pieces() const {
    return static_cast<unsigned>((tail - head + planes - 1) / planes);
  }
  struct Block {
    unsigned j, i;      ///< indices of the tile along north and east
    Index first, last;  ///< planes first ≤ k < last
  };
  /// The nth block, from below, between the planes head and tail.
  __host__ __device__ Block piece(unsigned nth) const {
    const Index begin = head + nth * planes;
    return {0, 0, begin, begin + planes < tail ? begin + planes : tail};
  }
  /// The n-th block of the launch.  first, last: planes of the box
  __host__ __device__ Block block(unsigned n, Index first, Index last) const {
    const unsigned slow_tiles = tiles() - plain(), middle = pieces();
    const auto at = [&](Block block, unsigned j, unsigned i) {
      block.j = j, block.i = i;
      return block;
    };
    if (n < slow_tiles * middle) {
      const Block planes_of = piece(n / slow_tiles);
      unsigned nth = n % slow_tiles;
      const unsigned rows = slow[0][0] + slow[0][1];
      if (nth < rows * east) return at(planes_of, nth < east && slow[0][0] ? 0 : north - 1, nth % east);
      nth -= rows * east;
      const unsigned inner = north - rows;
      return at(planes_of, slow[0][0] + nth % inner, nth < inner && slow[1][0] ? 0 : east - 1);
    }
    n -= slow_tiles * middle;
    if (n < plain() * middle) {
      const unsigned columns = east - slow[1][0] - slow[1][1], nth = n % plain();
      return at(piece(n / plain()), slow[0][0] + nth / columns, slow[1][0] + nth % columns);
    }
    n -= plain() * middle;
    const bool low = n < tiles() && head > first;
    const unsigned nth = n % tiles();
    return {nth / east, nth % east, low ? first : tail, low ? head : last};
  }
};

/// Computes p⁺ of a box that no sponge affects. A separate kernel computes boxes without absorbing layers:
/// its blocks determine their nodes in less time.
template <class Shape, bool knows_layers>
__global__ void __launch_bounds__(Shape::threads, 1)
    step_density_tiles(const __grid_constant__ StepArguments<float> g,
                       const __grid_constant__ DensityMaps maps, IndexBox<3> box, const DensityCut cut) {
  extern __shared__ unsigned char memory[];
  Shape& tile = *reinterpret_cast<Shape*>(memory + (128 - in_shared(memory) % 128) % 128);
  DensityCut::Block block;
  if constexpr (knows_layers) block = cut.block(blockIdx.x, box.first[0], box.last[0]);
  else {
    const auto planes = cut.piece(blockIdx.z);
    block = {blockIdx.y, blockIdx.x, planes.first, planes.last};
  }
  box.first[0] = block.first, box.last[0] = block.last;
  const Index i0 = cut.first_east + static_cast<Index>(block.i) * Shape::nodes_east;
  if (block.j + 1 == cut.north) box.first[1] = cut.last_north;
  else {
    box.first[1] += static_cast<Index>(block.j) * Shape::rows;
    if (block.j + 2 == cut.north) box.last[1] = cut.last_north;
    else box.last[1] = box.first[1] + Shape::rows;
  }
  if (i0 > box.first[2]) box.first[2] = i0;
  if (i0 + Shape::nodes_east < box.last[2]) box.last[2] = i0 + Shape::nodes_east;
  DensityLayers layers;
  if constexpr (knows_layers)
    layers.find(g, Shape::M, box.first[0], box.last[0], box.first[1], box.last[1], box.first[2], box.last[2]);
  if (layers.east >= 0) {
    const auto& layer = g.layers[2][layers.east];
    const float* const decay[] = {layer.a_psi, layer.b_psi, layer.a, layer.b};
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    if (thread < Shape::nodes_east) {
      const Index at = i0 + thread;
      const bool has = at >= layer.first && at < layer.last && at >= box.first[2] && at < box.last[2];
#pragma unroll
      for (int d = 0; d < 4; ++d) tile.decay[d][thread] = has ? __ldg(decay[d] + at) : 0.0F;
    }
  }
  const int count = static_cast<int>(box.size(0));
  const bool one = threadIdx.x == 0 && threadIdx.y + 1 == blockDim.y;
  using Planes = DensityPlanes<Shape, knows_layers>;
  const Planes on_their_way{tile, g, maps, layers, box.first[0], box.first[1], i0, count, !by_engine || one};
  on_their_way.begin();
  if constexpr (knows_layers)
    if (layers.any()) return DensityWalk<Planes, true>(on_their_way, box).walk();
  DensityWalk<Planes, false>(on_their_way, box).walk();
}

template <class Shape>
constexpr int density_block_bytes() {
  return static_cast<int>(sizeof(Shape)) + 128;
}

/// The most shared memory that a block may have on the GPU in use, bytes.
inline int most_shared_memory() {
  int device = 0, most = 0;
  detail::cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  detail::cuda::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                      "cudaDeviceGetAttribute");
  return most;
}

/// Sizes of tiles: with larger tiles fewer values are read twice, but they need more shared memory.
template <int M>
using LargeDensityTile = DensityTile<M, 16, 32>;
template <int M>
using MiddleDensityTile = DensityTile<M, 16, 16>;
template <int M>
using SmallDensityTile = DensityTile<M, 8, 16>;

/// Calls use(type of a tile) for the largest tile that fits into a multiprocessor of the GPU in use.
template <int M, class Use>
auto with_density_tile(const Use& use) {
  const int most = most_shared_memory();
  if (density_block_bytes<LargeDensityTile<M>>() <= most)
    return use(std::type_identity<LargeDensityTile<M>>{});
  if (density_block_bytes<MiddleDensityTile<M>>() <= most)
    return use(std::type_identity<MiddleDensityTile<M>>{});
  return use(std::type_identity<SmallDensityTile<M>>{});
}

/// The number of planes per block for which the estimated time is least: each multiprocessor computes its
/// blocks one after the other, and the start of a block takes as long as `before` planes.  tiles: number of
/// tiles, those with absorbing layers along north or east counted as 1½; most: greatest number of planes
inline Index density_planes(Index planes, Index tiles, Index most) {
  int device = 0, at_once = 1;
  detail::cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  detail::cuda::check(cudaDeviceGetAttribute(&at_once, cudaDevAttrMultiProcessorCount, device),
                      "cudaDeviceGetAttribute");
  constexpr Index before = 6;
  const auto parts = [](Index all, Index of) { return (all + of - 1) / of; };
  Index best = planes, least = std::numeric_limits<Index>::max();
  for (Index pieces = parts(planes, most); pieces <= parts(planes, 4); ++pieces) {
    const Index each = parts(planes, pieces),
                time = parts(tiles * parts(planes, each), at_once) * (each + before);
    if (time < least) least = time, best = each;
  }
  return best;
}

/// Whether the tiled kernel can compute the absorbing layers: each layer along north and east must lie in one
/// tile, together with the nodes that it affects, also in the boxes of nodes next to other ranks' parts.
template <class Shape>
bool layers_in_density_tiles(const StepArguments<float>& g) {
  constexpr Index M = Shape::M, fours = 4;
  Index rows = 0;
  bool fits = true;
  for (const auto& layer : g.layers[1]) {
    const Index points = layer.last - layer.first;
    if (points == 0) continue;
    rows += points + M;
    fits = fits && points <= Shape::layer_rows && points + M <= Shape::rows;
  }
  for (const auto& layer : g.layers[2])
    fits = fits && layer.last - layer.first + fours - 1 <= Shape::layer_nodes;
  constexpr Index beside_ranks = 2 * M;
  return fits && !g.sponge && (rows == 0 || g.part.size(1) >= rows + beside_ranks) &&
         first_east_of(g, M, Shape::nodes_east).has_value();
}

inline bool has_layers(const StepArguments<float>& g) {
  for (const auto& axis : g.layers)
    for (const auto& layer : axis)
      if (layer.first < layer.last) return true;
  return false;
}

template <class Shape>
DensityMaps density_maps(const StepArguments<float>& g) {
  DensityMaps maps{};
  maps.p = map_of(g.now, g, Shape::height, Shape::width);
  maps.half_density = map_of(g.half_density, g, Shape::density_height, Shape::density_width);
  maps.before = map_of(g.next, g, Shape::rows, Shape::nodes_east);
  maps.squared = map_of(g.squared, g, Shape::rows, Shape::nodes_east);
  for (int axis = 1; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side) {
      const auto& layer = g.layers[axis][side];
      if (layer.psi == nullptr) continue;
      const LayerBox box(g, axis, side);
      auto& to = axis == 1 ? maps.north[side] : maps.east[side];
      const int height = axis == 1 ? Shape::layer_rows : Shape::rows,
                width = axis == 1 ? Shape::nodes_east : Shape::layer_nodes;
      to[0] = map_of(layer.psi, box, height, width);
      to[1] = map_of(layer.zeta, box, height, width);
    }
  return maps;
}

template <class Shape>
void begin_density_tiles_of(cudaStream_t stream, const StepArguments<float>& g, const IndexBox<3>& box,
                            bool with_layers) {
  constexpr int bytes = density_block_bytes<Shape>();
  with_layers = with_layers && has_layers(g);
  const auto kernel = with_layers ? step_density_tiles<Shape, true> : step_density_tiles<Shape, false>;
  const bool engine = allow_memory(kernel, bytes);
  // Rows of tiles begin at whole cache lines, as those of fields do.
  constexpr Index line = 32;
  DensityCut cut;
  cut.first_east = with_layers ? *first_east_of(g, Shape::M, Shape::nodes_east)
                               : g.part.first[2] + (box.first[2] - g.part.first[2]) / line * line;
  const auto parts = [](Index nodes, Index most) { return (nodes + most - 1) / most; };
  cut.east = static_cast<unsigned>(parts(box.last[2] - cut.first_east, Shape::nodes_east));
  cut.north = static_cast<unsigned>(parts(box.size(1), Shape::rows));
  cut.last_north = box.first[1] + (cut.north - 1) * Shape::rows;
  const auto reached = [&](int axis) {
    const auto& [below, above] = g.layers[axis];
    return std::pair{
        with_layers && below.first < below.last ? std::max(below.last + Shape::M, box.first[axis])
                                                : box.first[axis],
        with_layers && above.first < above.last ? std::min(above.first - Shape::M, box.last[axis])
                                                : box.last[axis]};
  };
  const auto [south_end, north_begin] = reached(1);
  if (cut.north > 1 && cut.last_north > north_begin)
    cut.last_north = std::max(box.last[1] - Shape::rows, south_end);
  for (int axis = 1; axis < 3; ++axis) {
    const unsigned tiles = axis == 1 ? cut.north : cut.east;
    const auto [end, begin] = reached(axis);
    cut.slow[axis - 1][0] = end > box.first[axis] ? 1 : 0;
    cut.slow[axis - 1][1] = begin < box.last[axis] && tiles > cut.slow[axis - 1][0] ? 1 : 0;
  }
  const unsigned slow = cut.tiles() - cut.plain();
  const Index most = with_layers ? 128 : 512;  // blocks with absorbing layers are slower than the others
  cut.head = box.first[0], cut.tail = box.last[0];
  cut.planes = density_planes(box.size(0), cut.tiles() + slow / 2, most);
  if (const auto [head, tail] = reached(0);
      head < tail && 2 * std::max(head - cut.head, cut.tail - tail) < cut.planes) {
    cut.head = head, cut.tail = tail;
    cut.planes = density_planes(tail - head, cut.tiles() + slow / 2, most);
  }
  const unsigned ends = (cut.head > box.first[0] ? 1 : 0) + (cut.tail < box.last[0] ? 1 : 0);
  const dim3 blocks =
      with_layers ? dim3(cut.tiles() * (cut.pieces() + ends)) : dim3(cut.east, cut.north, cut.pieces());
  kernel<<<blocks, dim3(Shape::threads_east, Shape::threads / Shape::threads_east), bytes, stream>>>(
      g, engine ? density_maps<Shape>(g) : DensityMaps{}, box, cut);
  detail::cuda::check(cudaGetLastError(), "steps");
}

/// Computes p⁺ of a box with the largest tiles that fit into the GPU in use. No sponge may affect the box,
/// and absorbing layers only if with_layers is set.
template <int M>
void begin_density_tiles(cudaStream_t stream, const StepArguments<float>& g, const IndexBox<3>& box,
                         bool with_layers) {
  with_density_tile<M>([&](auto shape) {
    begin_density_tiles_of<typename decltype(shape)::type>(stream, g, box, with_layers);
  });
}

}  // namespace terrane::acoustic::gpu
