// A step of rock with variable density by tiles that walk up through the planes, order 8 in single precision:
// the tuned kernel of a GPU for the nodes that no layer and no sponge reaches. nodes.hpp has what it
// computes, to the bit.
//
// Memory of a node in a step: p⁻ read and p⁺ written, p, ρv²Δt² and ρ/2 read, 20 bytes. Every flux
// b D⁺p between two nodes is computed once per tile (and once more where tiles meet): those of the axes north
// and east stand in shared memory for one plane, those of the axis up in registers, a queue of 2M. Planes of
// p and of ρ/2 are brought by the copy engine, one ahead of the one that is computed.
#pragma once

#include "terrane/physics/acoustic/march/gpu_tiles.cuh"

namespace terrane::acoustic::gpu {

/// A tile of 64 nodes along east and 16 rows, four nodes a thread, and what a block keeps of its planes.
template <int M>
struct DensityTile {
  static constexpr int threads_east = 16, rows = 16, threads = threads_east * rows,
                       nodes_east = 4 * threads_east;
  static constexpr int reach = 2 * M - 1, pad = (reach + 3) / 4 * 4, beside = (M + 3) / 4 * 4;
  static constexpr int width = nodes_east + 2 * pad, height = rows + 2 * reach;
  static constexpr int turns = 2;

  alignas(128) float p[turns][height][width];
  alignas(128) float half_density[turns][height][width];
  alignas(128) float before[turns][rows][nodes_east];
  alignas(128) float squared[turns][rows][nodes_east];
  alignas(16) float flux_east[rows][nodes_east + 2 * beside];  ///< behind the nodes i0 − beside …
  alignas(16) float flux_north[rows + reach][nodes_east];      ///< behind the rows j0 − M …
  alignas(8) std::uint64_t full[turns];
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

/// The same along a row: of(r) are the four that begin at at[shift + r].
template <int M, int shift>
__device__ __forceinline__ Four half_difference_in_row(const float (&a)[widest], const float* at) {
  constexpr int beside = DensityTile<M>::beside;
  float row[4 + 2 * beside];
#pragma unroll
  for (int s = 0; s < 4 + 2 * beside; s += 4) {
    const Four value = four_at(at + s - beside);
#pragma unroll
    for (int n = 0; n < 4; ++n) row[s + n] = value.at[n];
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

/// Fluxes between four nodes of a row and the next nodes east.
template <int M>
__device__ __forceinline__ Four flux_to_east(const Stencil<float>& stencil, const float* p,
                                             const float* half_density) {
  const Four here = four_at(half_density), there{here.at[1], here.at[2], here.at[3], half_density[4]};
  return flux_of_four(half_difference_in_row<M, 1>(stencil.half[2], p), here, there);
}

/// Fluxes between four nodes of a row and those of the next row.
template <int M>
__device__ __forceinline__ Four flux_to_north(const Stencil<float>& stencil, const float* p,
                                              const float* half_density) {
  constexpr int width = DensityTile<M>::width;
  return flux_of_four(
      half_difference_of_four<M>(stencil.half[1], [&](int m) { return four_at(p + (m + 1) * width); }),
      four_at(half_density), four_at(half_density + width));
}

/// A block's planes on their way, by their number n from k0.
template <int M>
struct DensityPlanes {
  using Shape = DensityTile<M>;
  Shape& tile;
  const StepArguments<float>& g;
  const Maps& maps;
  Index k0, j0, i0;
  int count;
  bool brings;  ///< whether this thread does

  __device__ __forceinline__ void stage(int n) const {
    if (!brings || n >= count) return;
    const int turn = n % Shape::turns;
    std::uint64_t* const full = &tile.full[turn];
    expect(full, 2 * (sizeof(tile.p[0]) + sizeof(tile.before[0])));
    const Index k = k0 + n, j = j0 - Shape::reach, i = i0 - Shape::pad;
    bring<Shape::height, Shape::width>(&tile.p[turn][0][0], maps.of[0], g.now, g, k, j, i, full);
    bring<Shape::height, Shape::width>(&tile.half_density[turn][0][0], maps.of[1], g.half_density, g, k, j, i,
                                       full);
    bring<Shape::rows, Shape::nodes_east>(&tile.before[turn][0][0], maps.of[2], g.next, g, k, j0, i0, full);
    bring<Shape::rows, Shape::nodes_east>(&tile.squared[turn][0][0], maps.of[3], g.squared, g, k, j0, i0,
                                          full);
  }

  /// Fluxes of a plane towards east and north, of the tile and of what its differences reach.
  __device__ __forceinline__ void make_fluxes(int turn) const {
    const auto& p = tile.p[turn];
    const auto& half_density = tile.half_density[turn];
    const auto make_east = [&](int row, int at) {  // at: nodes from the tile's first
      const float* const in_row = &p[row + Shape::reach][Shape::pad + at];
      *reinterpret_cast<Four*>(&tile.flux_east[row][Shape::beside + at]) =
          flux_to_east<M>(g.stencil, in_row, &half_density[row + Shape::reach][Shape::pad + at]);
    };
    const auto make_north = [&](int row, int at) {  // row: from −M
      const float* const in_row = &p[row + Shape::reach][Shape::pad + at];
      *reinterpret_cast<Four*>(&tile.flux_north[row + M][at]) =
          flux_to_north<M>(g.stencil, in_row, &half_density[row + Shape::reach][Shape::pad + at]);
    };
    const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
    make_east(ty, 4 * tx);
    make_north(ty, 4 * tx);
    // Those beside the tile: first the threads that have a column of these, then those of rows.
    constexpr int fours = Shape::beside / 4, east_tasks = 2 * fours * Shape::rows,
                  north_tasks = Shape::reach * Shape::threads_east;
    static_assert(east_tasks + north_tasks <= Shape::threads);
    const int task = ty * Shape::threads_east + tx;
    if (task < east_tasks) {
      const int n = task % (2 * fours);
      make_east(task / (2 * fours), n < fours ? 4 * (n - fours) : Shape::nodes_east + 4 * (n - fours));
    } else if (task < east_tasks + north_tasks) {
      const int n = task - east_tasks, row = n / Shape::threads_east;
      make_north(row < M ? row - M : Shape::rows + row - M, 4 * (n % Shape::threads_east));
    }
  }
};

/// p⁺ of a box that no layer and no sponge reaches.  first_east: where tiles begin
template <int M>
__global__ void __launch_bounds__(DensityTile<M>::threads, 2)
    step_density_tiles(const __grid_constant__ StepArguments<float> g, const __grid_constant__ Maps maps,
                       const IndexBox<3> box, Index first_east, Index planes) {
  using Shape = DensityTile<M>;
  extern __shared__ unsigned char memory[];
  Shape& tile = *reinterpret_cast<Shape*>(memory + (128 - in_shared(memory) % 128) % 128);
  const Index k0 = box.first[0] + static_cast<Index>(blockIdx.z) * planes,
              k1 = k0 + planes < box.last[0] ? k0 + planes : box.last[0];
  const Index j0 = box.first[1] + static_cast<Index>(blockIdx.y) * Shape::rows,
              i0 = first_east + static_cast<Index>(blockIdx.x) * Shape::nodes_east;
  const int count = static_cast<int>(k1 - k0);
  const bool one = threadIdx.x == 0 && threadIdx.y == 0;
  const DensityPlanes<M> on_their_way{tile, g, maps, k0, j0, i0, count, !by_engine || one};
  if (one)
    for (auto& full : tile.full) begin_barrier(&full);
  __syncthreads();
  on_their_way.stage(0);

  const Index j = j0 + threadIdx.y, i = i0 + 4 * threadIdx.x, up = g.stride[0];
  const Inside inside(j < box.last[1], i, box);
  Index here = k0 * up + j * g.stride[1] + i;
  // Of the axis up: p of the nodes k … k + 2M − 1, fluxes behind the nodes k − M … k + M − 1.
  Four p[2 * M]{}, flux[2 * M]{}, half_density{}, next_p{}, next_density{};
  const auto new_flux = [&] {
#pragma unroll
    for (int r = 0; r + 1 < 2 * M; ++r) p[r] = p[r + 1], flux[r] = flux[r + 1];
    p[2 * M - 1] = next_p;
    flux[2 * M - 1] = flux_of_four(
        half_difference_of_four<M>(g.stencil.half[0], [&](int m) -> const Four& { return p[M + m]; }),
        half_density, next_density);
    half_density = next_density;
  };
  const auto read = [&](Index n) {  // what the flux behind the node n needs, and no other before
    next_p = four_kept(g.now + here + (n + M) * up);
    next_density = four_kept(g.half_density + here + (n + 1) * up);
  };
  if (inside.any) {
#pragma unroll
    for (int r = 1; r < 2 * M; ++r) p[r] = four_kept(g.now + here + (r - 2 * M) * up);
    half_density = four_kept(g.half_density + here - M * up);
#pragma unroll 1
    for (int n = -M; n < M - 1; ++n) {
      read(n);
      new_flux();
    }
    read(M - 1);
  }

  int turn = 0;
  unsigned parity = 0;
  for (int n = 0; n < count; ++n, here += up) {
    __syncthreads();  // all have done the plane before: its place is free
    on_their_way.stage(n + 1);
    if (inside.any) {
      new_flux();
      if (n + 1 < count) read(M);
    }
    wait_for(&tile.full[turn], parity);
    if constexpr (!by_engine) __syncthreads();
    on_their_way.make_fluxes(turn);
    __syncthreads();
    // In the order of step_variable_density().
    Four sum =
        half_difference_of_four<M>(g.stencil.half[0], [&](int m) -> const Four& { return flux[M + m]; });
    const float* const rows = &tile.flux_north[threadIdx.y + M][4 * threadIdx.x];
    const Four on_north = half_difference_of_four<M>(
                   g.stencil.half[1], [&](int m) { return four_at(rows + m * Shape::nodes_east); }),
               on_east = half_difference_in_row<M, 0>(
                   g.stencil.half[2], &tile.flux_east[threadIdx.y][Shape::beside + 4 * threadIdx.x]);
#pragma unroll
    for (int m = 0; m < 4; ++m) sum.at[m] = sum.at[m] + on_north.at[m] + on_east.at[m];
    const int row = static_cast<int>(threadIdx.y), at = 4 * static_cast<int>(threadIdx.x);
    store(g.next + here,
          leap_of_four<false>(g, p[0], four_at(&tile.before[turn][row][at]),
                              four_at(&tile.squared[turn][row][at]), sum, Four{}),
          inside);
    if (++turn == Shape::turns) turn = 0, parity ^= 1;
  }
}

template <int M>
constexpr int density_block_bytes() {
  return static_cast<int>(sizeof(DensityTile<M>)) + 128;
}

/// p⁺ of a box that no layer and no sponge reaches.
template <int M>
void begin_density_tiles(cudaStream_t stream, const StepArguments<float>& g, const IndexBox<3>& box) {
  using Shape = DensityTile<M>;
  const auto kernel = step_density_tiles<M>;
  const bool engine = allow_memory(kernel, density_block_bytes<M>());
  Maps maps{};
  if (engine)
    maps = {{map_of(g.now, g, Shape::height, Shape::width),
             map_of(g.half_density, g, Shape::height, Shape::width),
             map_of(g.next, g, Shape::rows, Shape::nodes_east),
             map_of(g.squared, g, Shape::rows, Shape::nodes_east)}};
  // Rows of tiles begin at whole cache lines, as those of fields do.
  constexpr Index line = 32;
  const Index first_east = g.part.first[2] + (box.first[2] - g.part.first[2]) / line * line;
  const auto parts = [](Index nodes, Index most) { return (nodes + most - 1) / most; };
  const Index tiles_east = parts(box.last[2] - first_east, Shape::nodes_east),
              tiles_north = parts(box.size(1), Shape::rows),
              planes = planes_for(box.size(0), tiles_east * tiles_north);
  const dim3 blocks(static_cast<unsigned>(tiles_east), static_cast<unsigned>(tiles_north),
                    static_cast<unsigned>(parts(box.size(0), planes)));
  kernel<<<blocks, dim3(Shape::threads_east, Shape::rows), density_block_bytes<M>(), stream>>>(
      g, maps, box, first_east, planes);
  detail::cuda::check(cudaGetLastError(), "steps");
}

}  // namespace terrane::acoustic::gpu
