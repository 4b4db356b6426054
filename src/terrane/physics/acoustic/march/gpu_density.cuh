// A step of rock with variable density by tiles that walk up through the planes, order 8 in single precision:
// the tuned kernel of a GPU for the nodes that no layer and no sponge reaches. nodes.hpp has what it
// computes, to the bit.
//
// Memory of a node in a step: p⁻ read and p⁺ written, p, ρv²Δt² and ρ/2 read, 20 bytes. Every flux
// b D⁺p between two nodes is computed once per tile (and once more where tiles meet): those of the axes north
// and east stand in shared memory for one plane, those of the axis up in registers, a queue of 2M. The copy
// engine brings planes, two ahead of the one that is computed. A thread has two rows, which share what their
// differences along north read: shared memory, of which a node moves some 100 bytes, would bound the kernel.
#pragma once

#include <limits>

#include "terrane/physics/acoustic/march/gpu_tiles.cuh"

namespace terrane::acoustic::gpu {

/// A tile of 64 nodes along east and some rows, four nodes of two rows a thread, and what a block keeps of
/// its planes.
template <int M, int tile_rows>
struct DensityTile {
  static constexpr int rows_of_thread = 2, threads_east = 16, rows = tile_rows,
                       threads = threads_east * rows / rows_of_thread, nodes_east = 4 * threads_east;
  static constexpr int reach = 2 * M - 1, pad = (reach + 3) / 4 * 4, beside = (M + 3) / 4 * 4;
  static constexpr int width = nodes_east + 2 * pad, height = rows + 2 * reach;  ///< of p
  /// Of ρ/2: what fluxes read, from the nodes −beside, −M.
  static constexpr int density_width = nodes_east + 2 * beside + 4, density_height = rows + 2 * M;
  static constexpr int ahead = 2;  ///< planes on their way while one is computed
  static constexpr int turns = ahead + 1, densities = M + ahead;

  alignas(128) float p[ahead][height][width];
  alignas(128) float half_density[densities][density_height][density_width];  ///< comes M planes early
  alignas(128) float before[turns][rows][nodes_east];
  alignas(128) float squared[turns][rows][nodes_east];
  alignas(16) float flux_east[2][rows][nodes_east + 2 * beside];  ///< behind the nodes i0 − beside …
  alignas(16) float flux_north[2][rows + reach][nodes_east];      ///< behind the rows j0 − M …
  alignas(8) std::uint64_t full[turns + 1];  ///< barriers: all of a plane is there; the first of ρ/2, too
};

/// Σ a_m (of(m) − of(−1 − m)) of four nodes: D⁺ of nodes around a half-way point, D⁻ of fluxes around a node.
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

/// The same along a row: of(r) are the four that begin r nodes after at[shift]. own: the four at `at`
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

/// b D⁺p.  here, there: ρ/2 of the nodes on both sides
__device__ __forceinline__ Four flux_of_four(const Four& difference, const Four& here, const Four& there) {
  Four flux;
#pragma unroll
  for (int n = 0; n < 4; ++n) flux.at[n] = ratio(difference.at[n], here.at[n] + there.at[n]);
  return flux;
}

/// Fluxes between four nodes of a row and the next nodes east.  own, here: p and ρ/2 of the four
template <int M>
__device__ __forceinline__ Four flux_to_east(const Stencil<float>& stencil, const float* p, const Four& own,
                                             const Four& here, float next) {
  return flux_of_four(half_difference_in_row<M, 1>(stencil.half[2], p, own), here,
                      Four{here.at[1], here.at[2], here.at[3], next});
}

/// A block's planes on their way, by their number n from k0.
template <int M, int rows>
struct DensityPlanes {
  using Shape = DensityTile<M, rows>;
  Shape& tile;
  const StepArguments<float>& g;
  const Maps& maps;
  Index k0, j0, i0;
  int count;
  bool brings;  ///< whether this thread does

  /// Of ρ/2 what stands before the first plane's stage.
  __device__ __forceinline__ void begin() const {
    if (threadIdx.x == 0 && threadIdx.y == 0)
      for (auto& full : tile.full) begin_barrier(&full);
    __syncthreads();
    if (!brings) return;
    expect(&tile.full[Shape::turns], M * sizeof(tile.half_density[0]));
    for (int n = 0; n < M; ++n) bring_density(n, &tile.full[Shape::turns]);
    for (int n = 0; n < Shape::ahead; ++n) stage(n);
  }
  __device__ __forceinline__ void bring_density(int n, std::uint64_t* full) const {
    bring<Shape::density_height, Shape::density_width>(&tile.half_density[n % Shape::densities][0][0],
                                                       maps.of[1], g.half_density, g, k0 + n, j0 - M,
                                                       i0 - Shape::beside, full);
  }
  __device__ __forceinline__ void stage(int n) const {
    if (!brings || n >= count) return;
    const int turn = n % Shape::turns;
    std::uint64_t* const full = &tile.full[turn];
    expect(full, sizeof(tile.p[0]) + sizeof(tile.half_density[0]) + 2 * sizeof(tile.before[0]));
    bring<Shape::height, Shape::width>(&tile.p[n % Shape::ahead][0][0], maps.of[0], g.now, g, k0 + n,
                                       j0 - Shape::reach, i0 - Shape::pad, full);
    bring_density(n + M, full);
    bring<Shape::rows, Shape::nodes_east>(&tile.before[turn][0][0], maps.of[2], g.next, g, k0 + n, j0, i0,
                                          full);
    bring<Shape::rows, Shape::nodes_east>(&tile.squared[turn][0][0], maps.of[3], g.squared, g, k0 + n, j0, i0,
                                          full);
  }

  __device__ __forceinline__ const float* p_at(int n, int row, int at) const {
    return &tile.p[n % Shape::ahead][row + Shape::reach][Shape::pad + at];
  }
  __device__ __forceinline__ const float* density_at(int n, int row, int at) const {
    return &tile.half_density[n % Shape::densities][row + M][Shape::beside + at];
  }

  /// Fluxes of plane n beside the tile, towards east and north, that its differences reach.
  __device__ __forceinline__ void make_fluxes_beside(int n) const {
    constexpr int fours = Shape::beside / 4, east_tasks = 2 * fours * Shape::rows,
                  north_tasks = Shape::reach * Shape::threads_east;
    static_assert(east_tasks % 32 == 0, "warps take one kind of them");
    const int thread = static_cast<int>(threadIdx.y) * Shape::threads_east + static_cast<int>(threadIdx.x);
    for (int task = thread; task < east_tasks + north_tasks; task += Shape::threads) {
      const bool to_east = task < east_tasks;
      const int nth = to_east ? task : task - east_tasks;
      if (to_east) {
        const int row = nth / (2 * fours), four = nth % (2 * fours),
                  at = four < fours ? 4 * (four - fours) : Shape::nodes_east + 4 * (four - fours);
        const float *const p = p_at(n, row, at), *const density = density_at(n, row, at);
        *reinterpret_cast<Four*>(&tile.flux_east[n % 2][row][Shape::beside + at]) =
            flux_to_east<M>(g.stencil, p, four_at(p), four_at(density), density[4]);
      } else {
        const int at = nth % Shape::threads_east * 4, nth_row = nth / Shape::threads_east,
                  row = nth_row < M ? nth_row - M : Shape::rows + nth_row - M;
        const float *const p = p_at(n, row, at), *const density = density_at(n, row, at);
        *reinterpret_cast<Four*>(&tile.flux_north[n % 2][row + M][at]) =
            flux_of_four(half_difference_of_four<M>(
                             g.stencil.half[1], [&](int m) { return four_at(p + (m + 1) * Shape::width); }),
                         four_at(density), four_at(density + Shape::density_width));
      }
    }
  }
};

/// A thread's walk up through the planes of a block.
template <int M, int tile_rows>
class DensityWalk {
 public:
  using Shape = DensityTile<M, tile_rows>;
  static constexpr int R = Shape::rows_of_thread;

  __device__ __forceinline__ DensityWalk(const DensityPlanes<M, tile_rows>& planes, const IndexBox<3>& box)
      : planes_(planes), g_(planes.g), tile_(planes.tile), box_(box) {
    here_ = planes.k0 * g_.stride[0] + j_ * g_.stride[1] + i_;
#pragma unroll
    for (int r = 0; r < R; ++r)  // nodes beside the box have fluxes that its nodes read
      reads_[r] = Inside(j_ + r < box.last[1] + M, i_, box.grown(2, M, M)).any;
  }

  __device__ __forceinline__ void walk() {
    fill_queues();
    wait_for(&tile_.full[Shape::turns], 0);
    int turn = 0;
    unsigned parity = 0;
    for (int n = 0; n < planes_.count; ++n) {
      wait_for(&tile_.full[turn], parity);
      if constexpr (!by_engine) __syncthreads();
      make_fluxes(n);
      planes_.make_fluxes_beside(n);
      __syncthreads();  // fluxes are there, and the place of this plane's p is free
      planes_.stage(n + Shape::ahead);
      step(n, turn);
      here_ += g_.stride[0];
      if (++turn == Shape::turns) turn = 0, parity ^= 1;
    }
  }

 private:
  __device__ __forceinline__ Inside inside(int r) const { return {j_ + r < box_.last[1], i_, box_}; }

  /// Those behind the nodes k0 − M … k0 + M − 2, and what the next needs.
  __device__ __forceinline__ void fill_queues() {
    const Index up = g_.stride[0];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (!reads_[r]) continue;
      const Index in_row = here_ + r * g_.stride[1];
      const float *const now = g_.now + in_row, *const density = g_.half_density + in_row;
#pragma unroll
      for (int s = 1; s < 2 * M; ++s) p_[r][s] = four_kept(now + (s - 2 * M) * up);
      half_density_[r] = four_kept(density - M * up);
#pragma unroll
      for (int n = -M; n < M - 1; ++n) {
        next_p_[r] = four_kept(now + (n + M) * up);
        make_flux_up(r, four_kept(density + (n + 1) * up));
      }
      next_p_[r] = four_kept(now + (2 * M - 1) * up);
    }
  }

  /// The next flux of the queue.  next_density: ρ/2 beyond it
  __device__ __forceinline__ void make_flux_up(int r, const Four& next_density) {
#pragma unroll
    for (int s = 0; s + 1 < 2 * M; ++s) p_[r][s] = p_[r][s + 1], flux_[r][s] = flux_[r][s + 1];
    p_[r][2 * M - 1] = next_p_[r];
    flux_[r][2 * M - 1] = flux_of_four(
        half_difference_of_four<M>(g_.stencil.half[0], [&](int m) -> const Four& { return p_[r][M + m]; }),
        half_density_[r], next_density);
    half_density_[r] = next_density;
  }

  /// Fluxes of plane n; those of rows beside each other share what they read.
  __device__ __forceinline__ void make_fluxes(int n) {
    const Index north = g_.stride[1];
    const float* const rows = planes_.p_at(n, row_, east_);
    const float* const densities = planes_.density_at(n, row_, east_);
    Four density[R + 1], beside[2 * M - 1 + R];
#pragma unroll
    for (int r = 0; r <= R; ++r) density[r] = four_at(densities + r * Shape::density_width);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      make_flux_up(r, four_at(planes_.density_at(n + M, row_ + r, east_)));
      if (reads_[r] && n + 1 < planes_.count)
        next_p_[r] = four_kept(g_.now + here_ + r * north + 2 * M * g_.stride[0]);
    }
#pragma unroll
    for (int s = 0; s < 2 * M - 1 + R; ++s) {
      const int r = s - (M - 1);
      beside[s] = r >= 0 && r < R ? p_[r][0] : four_at(rows + r * Shape::width);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      to_north_[r] =
          flux_of_four(half_difference_of_four<M>(g_.stencil.half[1],
                                                  [&](int m) -> const Four& { return beside[M + r + m]; }),
                       density[r], density[r + 1]);
      *reinterpret_cast<Four*>(&tile_.flux_north[n % 2][row_ + r + M][east_]) = to_north_[r];
      to_east_[r] = flux_to_east<M>(g_.stencil, rows + r * Shape::width, p_[r][0], density[r],
                                    densities[r * Shape::density_width + 4]);
      *reinterpret_cast<Four*>(&tile_.flux_east[n % 2][row_ + r][Shape::beside + east_]) = to_east_[r];
    }
  }

  /// p⁺ of plane n, in the order of step_variable_density().
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
      Four sum = half_difference_of_four<M>(g_.stencil.half[0],
                                            [&](int m) -> const Four& { return flux_[r][M + m]; });
      const Four on_north = half_difference_of_four<M>(
          g_.stencil.half[1], [&](int m) -> const Four& { return beside[M + r + m]; });
      const Four on_east = half_difference_in_row<M, 0>(
          g_.stencil.half[2], &tile_.flux_east[n % 2][row_ + r][Shape::beside + east_], to_east_[r]);
#pragma unroll
      for (int m = 0; m < 4; ++m) sum.at[m] = sum.at[m] + on_north.at[m] + on_east.at[m];
      store(g_.next + here_ + r * g_.stride[1],
            leap_of_four<false>(g_, p_[r][0], four_at(&tile_.before[turn][row_ + r][east_]),
                                four_at(&tile_.squared[turn][row_ + r][east_]), sum, Four{}),
            inside(r));
    }
  }

  const DensityPlanes<M, tile_rows>& planes_;
  const StepArguments<float>& g_;
  Shape& tile_;
  const IndexBox<3>& box_;
  const int row_ = R * static_cast<int>(threadIdx.y), east_ = 4 * static_cast<int>(threadIdx.x);
  const Index j_ = planes_.j0 + row_, i_ = planes_.i0 + east_;
  Index here_;     ///< of the first row's nodes in plane n
  bool reads_[R];  ///< whether the step reads p of a row's nodes
  /// Of the axis up: p of the nodes k … k + 2M − 1, and p of the next on its way; fluxes behind the nodes
  /// k − M … k + M − 1; ρ/2 of the last flux's node.
  Four p_[R][2 * M]{}, next_p_[R]{}, flux_[R][2 * M]{}, half_density_[R]{};
  Four to_north_[R], to_east_[R];  ///< fluxes of plane n
};

/// p⁺ of a box that no layer and no sponge reaches.  first_east: where tiles begin
template <int M, int tile_rows>
__global__ void __launch_bounds__(DensityTile<M, tile_rows>::threads, 1)
    step_density_tiles(const __grid_constant__ StepArguments<float> g, const __grid_constant__ Maps maps,
                       const IndexBox<3> box, Index first_east, Index planes) {
  using Shape = DensityTile<M, tile_rows>;
  extern __shared__ unsigned char memory[];
  Shape& tile = *reinterpret_cast<Shape*>(memory + (128 - in_shared(memory) % 128) % 128);
  const Index k0 = box.first[0] + static_cast<Index>(blockIdx.z) * planes,
              k1 = k0 + planes < box.last[0] ? k0 + planes : box.last[0];
  const Index j0 = box.first[1] + static_cast<Index>(blockIdx.y) * Shape::rows,
              i0 = first_east + static_cast<Index>(blockIdx.x) * Shape::nodes_east;
  const int count = static_cast<int>(k1 - k0);
  const bool one = threadIdx.x == 0 && threadIdx.y == 0;
  const DensityPlanes<M, tile_rows> on_their_way{tile, g, maps, k0, j0, i0, count, !by_engine || one};
  on_their_way.begin();

  DensityWalk<M, tile_rows>(on_their_way, box).walk();
}

template <int M, int rows>
constexpr int density_block_bytes() {
  return static_cast<int>(sizeof(DensityTile<M, rows>)) + 128;
}

/// Shared memory that a block may have on the GPU in use, bytes.
inline int most_shared_memory() {
  int device = 0, most = 0;
  detail::cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  detail::cuda::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                      "cudaDeviceGetAttribute");
  return most;
}

/// Rows of tiles: more of them read less twice, and want more shared memory.
inline constexpr int many_rows = 32, few_rows = 16;

/// Planes of a block: the multiprocessors work for as many rounds as there are blocks for each, and a block
/// begins with as much work as `before` planes are.
inline Index density_planes(Index planes, Index tiles) {
  int device = 0, at_once = 1;
  detail::cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  detail::cuda::check(cudaDeviceGetAttribute(&at_once, cudaDevAttrMultiProcessorCount, device),
                      "cudaDeviceGetAttribute");
  constexpr Index before = 6, most = 128;
  const auto parts = [](Index all, Index of) { return (all + of - 1) / of; };
  Index best = planes, least = std::numeric_limits<Index>::max();
  for (Index pieces = parts(planes, most); pieces <= parts(planes, 4); ++pieces) {
    const Index each = parts(planes, pieces),
                time = parts(tiles * parts(planes, each), at_once) * (each + before);
    if (time < least) least = time, best = each;
  }
  return best;
}

template <int M, int rows>
void begin_density_tiles_of(cudaStream_t stream, const StepArguments<float>& g, const IndexBox<3>& box) {
  using Shape = DensityTile<M, rows>;
  constexpr int bytes = density_block_bytes<M, rows>();
  const auto kernel = step_density_tiles<M, rows>;
  const bool engine = allow_memory(kernel, bytes);
  Maps maps{};
  if (engine)
    maps = {{map_of(g.now, g, Shape::height, Shape::width),
             map_of(g.half_density, g, Shape::density_height, Shape::density_width),
             map_of(g.next, g, Shape::rows, Shape::nodes_east),
             map_of(g.squared, g, Shape::rows, Shape::nodes_east)}};
  // Rows of tiles begin at whole cache lines, as those of fields do.
  constexpr Index line = 32;
  const Index first_east = g.part.first[2] + (box.first[2] - g.part.first[2]) / line * line;
  const auto parts = [](Index nodes, Index most) { return (nodes + most - 1) / most; };
  const Index tiles_east = parts(box.last[2] - first_east, Shape::nodes_east),
              tiles_north = parts(box.size(1), Shape::rows),
              planes = density_planes(box.size(0), tiles_east * tiles_north);
  const dim3 blocks(static_cast<unsigned>(tiles_east), static_cast<unsigned>(tiles_north),
                    static_cast<unsigned>(parts(box.size(0), planes)));
  kernel<<<blocks, dim3(Shape::threads_east, Shape::threads / Shape::threads_east), bytes, stream>>>(
      g, maps, box, first_east, planes);
  detail::cuda::check(cudaGetLastError(), "steps");
}

/// p⁺ of a box that no layer and no sponge reaches, by the tiles that fit into the GPU in use.
template <int M>
void begin_density_tiles(cudaStream_t stream, const StepArguments<float>& g, const IndexBox<3>& box) {
  density_block_bytes<M, many_rows>() <= most_shared_memory()
      ? begin_density_tiles_of<M, many_rows>(stream, g, box)
      : begin_density_tiles_of<M, few_rows>(stream, g, box);
}

}  // namespace terrane::acoustic::gpu
