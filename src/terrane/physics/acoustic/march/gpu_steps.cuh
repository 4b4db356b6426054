// The kernels of a GPU: ψ of all layers in one launch, all nodes that layers reach in one, and the others by
// tiles that walk up through the planes.
//
// Memory of a plain step of a node: p⁻ read and p⁺ written, p and v²Δt² read, 16 bytes in single precision.
// p is read once per tile, plus what tiles share along north and east: planes wait in registers until the
// stencil is past them, rows and their neighbours in shared memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "terrane/parallel/device/cuda.hpp"
#include "terrane/physics/acoustic/march/medium.hpp"
#include "terrane/physics/acoustic/march/nodes.hpp"

namespace terrane::acoustic::gpu {

/// Boxes that one launch shares out: blocks of 256 threads, a node each.
struct Batch {
  static constexpr int most = 26;
  Region regions[most];
  unsigned first_block[most + 1];  ///< of each region
  unsigned blocks_north[most], blocks_east[most];
  unsigned char log_east[most];  ///< threads along east, as a power of two; the rest along north
  int count = 0;
};

inline constexpr unsigned batch_threads = 256;

inline void add_to(Batch& batch, const Region& region) {
  const int n = batch.count++;
  const auto& box = region.box;
  batch.regions[n] = region;
  unsigned char log = 3;
  while (log < 6 && (Index{1} << log) < box.size(2)) ++log;
  batch.log_east[n] = log;
  const Index east = Index{1} << log, north = batch_threads >> log;
  batch.blocks_east[n] = static_cast<unsigned>((box.size(2) + east - 1) / east);
  batch.blocks_north[n] = static_cast<unsigned>((box.size(1) + north - 1) / north);
  if (n == 0) batch.first_block[0] = 0;
  batch.first_block[n + 1] = batch.first_block[n] + batch.blocks_east[n] * batch.blocks_north[n] *
                                                        static_cast<unsigned>(box.size(0));
}

/// The region and node of this thread; false: none.
__device__ __forceinline__ bool find_node(const Batch& batch, int& region, Index (&at)[3]) {
  region = 0;
  while (blockIdx.x >= batch.first_block[region + 1]) ++region;
  unsigned block = blockIdx.x - batch.first_block[region];
  const auto& box = batch.regions[region].box;
  const unsigned log = batch.log_east[region], east = batch.blocks_east[region],
                 north = batch.blocks_north[region];
  const unsigned i = block % east;
  block /= east;
  const unsigned j = block % north;
  at[0] = box.first[0] + block / north;
  at[1] = box.first[1] + j * (batch_threads >> log) + (threadIdx.x >> log);
  at[2] = box.first[2] + (static_cast<Index>(i) << log) + (threadIdx.x & ((1U << log) - 1));
  return at[1] < box.last[1] && at[2] < box.last[2];
}

/// sides of a psi batch: region.side[0] the axis, region.side[1] the side.
template <Rock rock, int M, class T>
__global__ void __launch_bounds__(batch_threads)
    psi_batch(const __grid_constant__ StepArguments<T> g, const __grid_constant__ Batch batch) {
  int n = 0;
  Index at[3];
  if (!find_node(batch, n, at)) return;
  update_psi<rock, M>(g, batch.regions[n].side[0], batch.regions[n].side[1], at[0], at[1], at[2]);
}

template <Rock rock, int M, class T>
__global__ void __launch_bounds__(batch_threads)
    step_batch(const __grid_constant__ StepArguments<T> g, const __grid_constant__ Batch batch) {
  int n = 0;
  Index at[3];
  if (!find_node(batch, n, at)) return;
  step_node<rock, M>(g, batch.regions[n], at[0], at[1], at[2]);
}

/// Four numbers of a row, moved at once in single precision.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T at[4];
};

/// A tile: 32 nodes along east and 8 rows, four nodes a thread.
template <int M, class T>
struct Tile {
  static constexpr int threads_east = 8, rows = 8, nodes_east = 4 * threads_east;
  static constexpr int pad = (M + 3) / 4 * 4;  ///< nodes beside the tile, in whole fours
  T p[rows + 2 * M][nodes_east + 2 * pad];
};

/// box: without layers. first_east: where its tiles begin, aligned to four nodes in memory. planes: of a
/// block
template <int M, class T>
__global__ void __launch_bounds__(64) step_tiles(const __grid_constant__ StepArguments<T> g,
                                                 const IndexBox<3> box, Index first_east, Index planes) {
  using Shape = Tile<M, T>;
  using Quad = Four<T>;
  __shared__ Shape tile;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const Index j0 = box.first[1] + static_cast<Index>(blockIdx.y) * Shape::rows, j = j0 + ty;
  const Index i0 = first_east + static_cast<Index>(blockIdx.x) * Shape::nodes_east, i = i0 + 4 * tx;
  const Index k0 = box.first[0] + static_cast<Index>(blockIdx.z) * planes,
              k1 = k0 + planes < box.last[0] ? k0 + planes : box.last[0];
  const Index sk = g.stride[0], sj = g.stride[1];
  // Rows and fours that exist in memory: the box and what its stencils read.
  const Index last_row = box.last[1] + (sj == 0 ? 0 : M), last_four = box.last[2] + Shape::pad;
  const bool mine = j < box.last[1] && i < box.last[2] && i + 4 > box.first[2];
  const bool whole = j < box.last[1] && i >= box.first[2] && i + 4 <= box.last[2];
  const auto four = [&](const T* field, Index k, Index row, Index at) {
    Quad value{};
    if (row < last_row && at < last_four)
      value = *reinterpret_cast<const Quad*>(field + k * sk + row * sj + at);
    return value;
  };

  Quad queue[2 * M + 1];  // planes k − M … k + M of this thread's nodes
#pragma unroll
  for (int r = 0; r < 2 * M; ++r) queue[r] = four(g.now, k0 - M + r, j, i);

  for (Index k = k0; k < k1; ++k) {
    queue[2 * M] = four(g.now, k + M, j, i);
    Quad next{}, squared{};
    if (mine) {
      next = four(g.next, k, j, i);
      squared = four(g.squared, k, j, i);
    }
    *reinterpret_cast<Quad*>(&tile.p[ty + M][Shape::pad + 4 * tx]) = queue[M];
    if (ty < M) {
      // The rows south and north of the tile; one row across has neither.
      const Index south = sj == 0 ? j0 : j0 - M + ty, north = j0 + Shape::rows + ty;
      *reinterpret_cast<Quad*>(&tile.p[ty][Shape::pad + 4 * tx]) = four(g.now, k, south, i);
      *reinterpret_cast<Quad*>(&tile.p[Shape::rows + M + ty][Shape::pad + 4 * tx]) = four(g.now, k, north, i);
    }
    if (tx < Shape::pad / 4) {
      *reinterpret_cast<Quad*>(&tile.p[ty + M][4 * tx]) = four(g.now, k, j, i0 - Shape::pad + 4 * tx);
      *reinterpret_cast<Quad*>(&tile.p[ty + M][Shape::pad + Shape::nodes_east + 4 * tx]) =
          four(g.now, k, j, i0 + Shape::nodes_east + 4 * tx);
    }
    __syncthreads();

    T row[4 + 2 * M];  // nodes i − M … i + 3 + M
#pragma unroll
    for (int n = 0; n < 4 + 2 * M; ++n) row[n] = tile.p[ty + M][Shape::pad - M + 4 * tx + n];
    Quad sum;
#pragma unroll
    for (int n = 0; n < 4; ++n) sum.at[n] = g.stencil.centre * queue[M].at[n];
#pragma unroll
    for (int r = 1; r <= M; ++r) {
      const Quad south = *reinterpret_cast<const Quad*>(&tile.p[ty + M - r][Shape::pad + 4 * tx]),
                 north = *reinterpret_cast<const Quad*>(&tile.p[ty + M + r][Shape::pad + 4 * tx]);
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        // The order and the roundings of laplacian().
        sum.at[n] = fused(g.stencil.second[2][r - 1], row[n + M + r] + row[n + M - r], sum.at[n]);
        sum.at[n] = fused(g.stencil.second[1][r - 1], north.at[n] + south.at[n], sum.at[n]);
        sum.at[n] = fused(g.stencil.second[0][r - 1], queue[M + r].at[n] + queue[M - r].at[n], sum.at[n]);
      }
    }
    Quad result;
#pragma unroll
    for (int n = 0; n < 4; ++n) result.at[n] = leap(queue[M].at[n], next.at[n], squared.at[n], sum.at[n]);
    T* const to = g.next + k * sk + j * sj + i;
    if (whole) *reinterpret_cast<Quad*>(to) = result;
    else if (mine)
#pragma unroll
      for (int n = 0; n < 4; ++n)
        if (i + n >= box.first[2] && i + n < box.last[2]) to[n] = result.at[n];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2 * M; ++r) queue[r] = queue[r + 1];
  }
}

template <Rock rock, int M, class T>
void psi(Stream& stream, const StepArguments<T>& g, const std::vector<Slab>& slabs) {
  if (slabs.empty()) return;
  Batch batch;
  for (const auto& slab : slabs) {
    Region region;
    region.box = slab.layer;
    region.side[0] = slab.axis;
    region.side[1] = slab.side;
    add_to(batch, region);
  }
  detail::cuda::use(stream.device().index);
  psi_batch<rock, M>
      <<<batch.first_block[batch.count], batch_threads, 0, static_cast<cudaStream_t>(stream.handle())>>>(
          g, batch);
  detail::cuda::check(cudaGetLastError(), "psi");
}

/// Planes of a block: many, so that few are read twice, and few, so that all multiprocessors have blocks.
inline Index planes_for(Index planes, Index tiles) {
  constexpr Index blocks_wanted = 132 * 16;
  Index most = 128;
  while (most > 8 && tiles * ((planes + most - 1) / most) < blocks_wanted) most /= 2;
  return most;
}

/// Rock other than of constant density has no tiles yet: a thread per node reads what it needs through the
/// caches.
template <Rock rock, int M, class T>
void steps(Stream& stream, const StepArguments<T>& g, const std::vector<Region>& regions) {
  detail::cuda::use(stream.device().index);
  const auto handle = static_cast<cudaStream_t>(stream.handle());
  Batch batch;
  const auto launch = [&] {
    if (batch.count == 0) return;
    step_batch<rock, M><<<batch.first_block[batch.count], batch_threads, 0, handle>>>(g, batch);
    detail::cuda::check(cudaGetLastError(), "steps");
    batch.count = 0;
  };
  for (const auto& region : regions) {
    const auto& box = region.box;
    // In two dimensions a tile of one row would be idle for seven of eight threads.
    if (rock != Rock::constant_density || !region.plain() || g.rounding > 0 || sizeof(T) == 8 ||
        g.stride[1] == 0 || box.count() < 4096) {
      add_to(batch, region);
      if (batch.count == Batch::most) launch();
      continue;
    }
    using Shape = Tile<M, T>;
    // Fours are aligned in memory: rows begin at a cache line.
    const auto address = reinterpret_cast<std::uintptr_t>(g.now + box.first[0] * g.stride[0] +
                                                          box.first[1] * g.stride[1] + box.first[2]);
    const Index first_east = box.first[2] - static_cast<Index>(address / sizeof(T) % 4);
    const auto tiles_east = (box.last[2] - first_east + Shape::nodes_east - 1) / Shape::nodes_east,
               tiles_north = (box.size(1) + Shape::rows - 1) / Shape::rows;
    const Index planes = planes_for(box.size(0), tiles_east * tiles_north);
    const dim3 blocks(static_cast<unsigned>(tiles_east), static_cast<unsigned>(tiles_north),
                      static_cast<unsigned>((box.size(0) + planes - 1) / planes));
    step_tiles<M><<<blocks, dim3(Shape::threads_east, Shape::rows), 0, handle>>>(g, box, first_east, planes);
    detail::cuda::check(cudaGetLastError(), "steps");
  }
  launch();
}

}  // namespace terrane::acoustic::gpu
