// Launches the kernels of a GPU. Tiled kernels, in which a block of threads moves upward through the planes:
// constant density and vertical axis (gpu_tiles.cuh), tilted axis (gpu_tilted.cuh), variable density
// (gpu_density.cuh). For all other cases: one launch for ψ of all absorbing layers and one for all nodes, one
// node per thread.
#pragma once

#include <algorithm>
#include <vector>

#include "terrane/parallel/device/cuda.hpp"
#include "terrane/physics/acoustic/march/gpu_density.cuh"
#include "terrane/physics/acoustic/march/gpu_tilted.cuh"
#include "terrane/physics/acoustic/march/medium.hpp"
#include "terrane/physics/acoustic/march/steps.hpp"

namespace terrane::acoustic::gpu {

/// Boxes that one launch computes: blocks of 256 threads, one node per thread.
struct Batch {
  static constexpr int most = 26;
  Region regions[most];
  unsigned first_block[most + 1];  ///< index of the first block of each region, and the number of blocks
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

/// Finds the region and the node of this thread; false if the thread has no node.
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

/// Updates ψ of absorbing layers. In the regions of this batch region.side[0] is the axis of the layer and
/// region.side[1] its side.
template <Equation equation, int M, class T>
__global__ void __launch_bounds__(batch_threads)
    psi_batch(const __grid_constant__ StepArguments<T> g, const __grid_constant__ Batch batch) {
  int n = 0;
  Index at[3];
  if (!find_node(batch, n, at)) return;
  update_psi<equation, M>(g, batch.regions[n].side[0], batch.regions[n].side[1], at[0], at[1], at[2]);
}

template <Equation equation, int M, class T>
__global__ void __launch_bounds__(batch_threads)
    step_batch(const __grid_constant__ StepArguments<T> g, const __grid_constant__ Batch batch) {
  int n = 0;
  Index at[3];
  if (!find_node(batch, n, at)) return;
  step_node<equation, M>(g, batch.regions[n], at[0], at[1], at[2]);
}

/// Adds the terms of absorbing layers of the axes north and east to a step with a tilted axis.
template <class T>
__global__ void __launch_bounds__(batch_threads)
    layers_batch(const __grid_constant__ StepArguments<T> g, const __grid_constant__ Batch batch) {
  int n = 0;
  Index at[3];
  if (find_node(batch, n, at)) add_layers_beside(g, batch.regions[n], at[0], at[1], at[2]);
}

/// Equations and number types with tiled kernels. tiled: tiles compute all nodes; partly_tiled: tiles
/// compute all nodes except those that a sponge affects, or an absorbing layer that does not fit into tiles.
template <Equation equation, class T>
inline constexpr bool tiled = (equation == Equation::constant_density || equation == Equation::vti) &&
                              sizeof(T) == 4;
template <Equation equation, int M, class T>
inline constexpr bool partly_tiled = equation == Equation::variable_density&& M == 4 && sizeof(T) == 4;

/// Equations whose tiled kernel computes all nodes, after ψ of all absorbing layers has been updated.
template <Equation equation, int M, class T>
inline constexpr bool tilted_tiles = equation == Equation::tti&& M == TiltedTile::M && sizeof(T) == 4;

/// Whether tiled kernels compute the steps: in three dimensions, if each absorbing layer along easting, with
/// the nodes it affects, fits into a tile, and a tile fits into a multiprocessor of the GPU in use.
template <Equation equation, int M, class T>
bool by_tiles(const StepArguments<T>& g) {
  if constexpr (tiled<equation, T> || partly_tiled<equation, M, T> || tilted_tiles<equation, M, T>) {
    if (g.stride[0] == 0 || g.stride[1] == 0 || (g.sponge && g.rounding > 0)) return false;
    if constexpr (tiled<equation, T>)
      return block_bytes<equation, M>(longest_row(g)) <= most_shared_memory() &&
             first_east<equation, M>(g).has_value();
    else if constexpr (equation == Equation::tti)
      return tilted_block_bytes() <= most_shared_memory() && g.stride[2] != 0 && g.rounding == 0;
    else return density_block_bytes<SmallDensityTile<M>>() <= most_shared_memory();
  } else {
    return false;
  }
}

/// Whether tiles of variable density also compute the nodes that absorbing layers affect.
template <Equation equation, int M, class T>
bool layers_by_density_tiles(const StepArguments<T>& g) {
  if constexpr (partly_tiled<equation, M, T>)
    return by_tiles<equation, M>(g) && with_density_tile<M>([&](auto shape) {
             return layers_in_density_tiles<typename decltype(shape)::type>(g);
           });
  else return false;
}

/// Whether tiles compute all nodes; if so, they also write p⁺ into the fields of neighbouring ranks.
template <Equation equation, int M, class T>
bool steps_hand_on(const StepArguments<T>& g, const Work& work) {
  if (!by_tiles<equation, M>(g)) return false;
  if (equation != Equation::variable_density || layers_by_density_tiles<equation, M>(g)) return true;
  return std::all_of(work.regions().begin(), work.regions().end(),
                     [](const Region& region) { return region.plain(); });
}

/// Updates ψ of those absorbing layers along up and north that tiles do not update: each thread processes the
/// nodes of a layer one after the other along its axis.
template <Equation equation, int M>
void begin_walks(cudaStream_t stream, const StepArguments<float>& g, const std::vector<Slab>& slabs) {
  Walks walks;
  Index fours = 0, others = 0;
  for (const auto& slab : slabs) {
    if (slab.axis == 2 || makes_psi<equation, M>(g, slab.axis)) continue;
    walks.of[walks.count++] = {slab.axis, slab.side, slab.layer};
    fours = std::max(fours, (slab.layer.size(2) + 3) / 4);
    others = std::max(others, slab.layer.size(1 - slab.axis));
  }
  if (walks.count == 0) return;
  const dim3 threads(32, 4),
      blocks(static_cast<unsigned>((fours + 31) / 32), static_cast<unsigned>((others + 3) / 4),
             static_cast<unsigned>(walks.count));
  psi_walks<M><<<blocks, threads, 0, stream>>>(g, walks);
  detail::cuda::check(cudaGetLastError(), "psi");
}

template <Equation equation, int M, class T>
void psi(Stream& stream, const StepArguments<T>& g, const std::vector<Slab>& slabs) {
  if (slabs.empty()) return;
  detail::cuda::use(stream.device().index);
  const auto handle = static_cast<cudaStream_t>(stream.handle());
  if constexpr (tiled<equation, T>)
    if (by_tiles<equation, M>(g)) return begin_walks<equation, M>(handle, g, slabs);
  const bool up_alone = layers_by_density_tiles<equation, M>(g);
  Batch batch;
  for (const auto& slab : slabs) {
    if (up_alone && slab.axis != 0) continue;
    Region region;
    region.box = slab.layer;
    region.side[0] = slab.axis;
    region.side[1] = slab.side;
    add_to(batch, region);
  }
  if (batch.count == 0) return;
  psi_batch<equation, M><<<batch.first_block[batch.count], batch_threads, 0, handle>>>(g, batch);
  detail::cuda::check(cudaGetLastError(), "psi");
}

/// Computes the steps of all nodes: by tiles if possible, else with one thread per node.
template <Equation equation, int M, class T>
void steps(Stream& stream, const StepArguments<T>& g, const Work& work) {
  detail::cuda::use(stream.device().index);
  const auto handle = static_cast<cudaStream_t>(stream.handle());
  if constexpr (tiled<equation, T>)
    if (by_tiles<equation, M>(g)) {
      for (const auto& box : work.boxes())
        g.sponge ? begin_tiles<equation, M, true>(handle, g, box)
                 : begin_tiles<equation, M, false>(handle, g, box);
      return;
    }
  if constexpr (partly_tiled<equation, M, T>)
    if (layers_by_density_tiles<equation, M>(g)) {
      for (const auto& box : work.boxes()) begin_density_tiles<M>(handle, g, box, true);
      return;
    }
  const bool plain_by_tiles = partly_tiled<equation, M, T> && by_tiles<equation, M>(g);
  const bool all_by_tiles = tilted_tiles<equation, M, T> && by_tiles<equation, M>(g);
  if constexpr (tilted_tiles<equation, M, T>)
    if (all_by_tiles)
      for (const auto& box : work.boxes()) begin_tilted_tiles(handle, g, box);
  Batch batch;
  const auto launch = [&] {
    if (batch.count == 0) return;
    const auto kernel = all_by_tiles ? layers_batch<T> : step_batch<equation, M, T>;
    kernel<<<batch.first_block[batch.count], batch_threads, 0, handle>>>(g, batch);
    detail::cuda::check(cudaGetLastError(), "steps");
    batch.count = 0;
  };
  for (const auto& region : work.regions()) {
    if constexpr (partly_tiled<equation, M, T>)
      if (plain_by_tiles && region.plain()) {
        begin_density_tiles<M>(handle, g, region.box, false);
        continue;
      }
    if (all_by_tiles && region.side[1] < 0 && region.side[2] < 0) continue;
    add_to(batch, region);
    if (batch.count == Batch::most) launch();
  }
  launch();
}

}  // namespace terrane::acoustic::gpu
