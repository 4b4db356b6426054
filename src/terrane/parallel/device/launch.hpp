// Launchers, which run code on a device: written once for the CPU and once for CUDA.
//
// For files of device code (*.cu), which are compiled by nvcc if CUDA is found, else by the C++ compiler. A
// kernel is a struct of views and numbers, copied to the device. Launches on a GPU return before the work is
// done.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "terrane/parallel/device/buffer.hpp"
#include "terrane/parallel/device/cuda.hpp"
#include "terrane/parallel/device/debug_memory.hpp"
#include "terrane/parallel/threads/for_each_box.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace terrane {

/// Number of threads of a group, which run in lockstep (a warp); group_all() evaluates a condition over them.
inline constexpr int group_threads = 32;

/// Whether `condition` holds for every thread of the group, so that all threads can take the same branch.
/// Every thread of the group must call it. On a CPU, where threads run one after the other, it returns the
/// thread's own condition: the calling code must be right in both cases.
TERRANE_FN bool group_all(bool condition) {
#if defined(__CUDA_ARCH__)
  return __all_sync(0xffffffffU, condition) != 0;
#else
  return condition;
#endif
}

/// Adds to a counter that all threads share; returns the value before.
TERRANE_FN std::uint64_t fetch_add(std::uint64_t& counter, std::uint64_t by) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(reinterpret_cast<unsigned long long*>(&counter), static_cast<unsigned long long>(by));
#else
  return __atomic_fetch_add(&counter, by, __ATOMIC_RELAXED);
#endif
}

namespace detail {

/// Numbers of threads per block and of blocks on three axes.
struct LaunchShape {
  unsigned threads[3], blocks[3];
};
inline constexpr unsigned box_threads = 256;

/// Blocks of 256 threads: 64 points of a row times 4 rows. If the box has fewer points in a row or fewer
/// rows, a block covers several planes instead, so that no threads idle on the thin faces of a halo.
constexpr LaunchShape launch_shape(const Extents& box) {
  constexpr unsigned most_blocks[3] = {65535, 65535, 0x7fffffff};
  const bool one_plane = box.size[0] == 1, one_row = one_plane && box.size[1] == 1;
  const unsigned wanted[3] = {64, one_plane ? box_threads : 4, one_row ? box_threads : 64};
  LaunchShape shape{};
  unsigned left = box_threads;
  for (int axis = 2; axis >= 0; --axis) {
    unsigned threads = 1;
    const unsigned most = std::min(left, wanted[axis]);
    while (threads < most && static_cast<Index>(threads) < box.size[axis]) threads *= 2;
    left /= threads;
    const Index blocks = (box.size[axis] + threads - 1) / threads;
    shape.threads[axis] = threads;
    shape.blocks[axis] = static_cast<unsigned>(std::min<Index>(blocks, most_blocks[axis]));
  }
  return shape;
}

template <class Kernel>
concept looks_ahead = requires(const Kernel& kernel, typename Kernel::Shared& shared,
                               typename Kernel::Thread& state) {
  kernel.look_ahead(shared, state, std::size_t{}, std::size_t{}, 0);
};

#if defined(__CUDACC__)

template <class Kernel>
__global__ void run_each(std::size_t count, const __grid_constant__ Kernel kernel) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += gridDim.x * std::size_t{blockDim.x})
    kernel(i);
}

template <class Kernel>
__global__ void __launch_bounds__(group_threads, Kernel::groups_at_once)
    run_groups(const __grid_constant__ Kernel kernel) {
  __shared__ typename Kernel::Shared shared;
  typename Kernel::Thread state;
  const std::size_t group = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  kernel.begin(shared, state, group, thread);
  const std::size_t steps = kernel.steps(group);
  for (std::size_t step = 0; step < steps; ++step) {
    __syncwarp();
    if constexpr (looks_ahead<Kernel>) {
      kernel.look_ahead(shared, state, group, step, thread);
      __syncwarp();
    }
    kernel.load(shared, state, group, step, thread);
    __syncwarp();
    kernel.work(shared, state, group, step, thread);
  }
  kernel.end(shared, state, group, thread);
}

/// Kernel in which each thread computes a point, then the points at multiples of the grid's size from it,
/// until the box is done.
template <int N, class Kernel>
__global__ void __launch_bounds__(box_threads)
    run_box(const IndexBox<N> box, const __grid_constant__ Kernel kernel) {
  const auto at = [](unsigned block, unsigned threads, unsigned thread) {
    return static_cast<Index>(block) * threads + thread;
  };
  const Index i = box.first[N - 1] + at(blockIdx.x, blockDim.x, threadIdx.x);
  if (i >= box.last[N - 1]) return;
  if constexpr (N == 1) {
    for (Index n = i; n < box.last[0]; n += static_cast<Index>(gridDim.x) * blockDim.x) kernel(n);
  } else {
    for (Index j = box.first[N - 2] + at(blockIdx.y, blockDim.y, threadIdx.y); j < box.last[N - 2];
         j += static_cast<Index>(gridDim.y) * blockDim.y) {
      if constexpr (N == 2) kernel(j, i);
      else
        for (Index k = box.first[0] + at(blockIdx.z, blockDim.z, threadIdx.z); k < box.last[0];
             k += static_cast<Index>(gridDim.z) * blockDim.z)
          kernel(k, j, i);
    }
  }
}

#endif

}  // namespace detail

/// Calls kernel(i) for every i below count, in any order.
template <class Kernel>
void for_each([[maybe_unused]] Stream& stream, std::size_t count, const Kernel& kernel) {
  if (count == 0) return;
#if defined(__CUDACC__)
  if (stream.device().kind == Device::Kind::cuda) {
    detail::cuda::use(stream.device().index);
    constexpr unsigned threads = 128;
    const auto blocks =
        static_cast<unsigned>(std::min<std::size_t>((count + threads - 1) / threads, 1U << 20));
    detail::run_each<<<blocks, threads, 0, static_cast<cudaStream_t>(stream.handle())>>>(count, kernel);
    detail::cuda::check(cudaGetLastError(), "for_each");
    return;
  }
#endif
  stream.do_on_host([kernel, count, threads = stream.threads()] {
    constexpr std::size_t chunk = 1024;
    for_each((count + chunk - 1) / chunk, threads, [&](std::size_t c) {
      for (std::size_t i = c * chunk; i < std::min((c + 1) * chunk, count); ++i) kernel(i);
    });
  });
}

/// Calls kernel(i), kernel(j, i) or kernel(k, j, i) for every point of the box, in any order; i is the last
/// index.
template <int N, class Kernel>
void for_each([[maybe_unused]] Stream& stream, const IndexBox<N>& box, const Kernel& kernel) {
  if (box.empty()) return;
#if defined(__CUDACC__)
  if (stream.device().kind == Device::Kind::cuda) {
    detail::cuda::use(stream.device().index);
    const auto shape = detail::launch_shape(detail::extents(box));
    const dim3 blocks(shape.blocks[2], shape.blocks[1], shape.blocks[0]),
        threads(shape.threads[2], shape.threads[1], shape.threads[0]);
    detail::run_box<<<blocks, threads, 0, static_cast<cudaStream_t>(stream.handle())>>>(box, kernel);
    detail::cuda::check(cudaGetLastError(), "for_each");
    return;
  }
#endif
  stream.do_on_host([=, threads = stream.threads()] { for_each(box, threads, kernel); });
}

/// Runs groups of group_threads threads; each group processes a sequence of tiles. A Kernel has
///   Shared, Thread     what a group shares, what each thread owns
///   groups_at_once     how many groups a multiprocessor should hold (registers allowing)
///   begin(Shared&, Thread&, group, thread)
///   steps(group)       number of tiles that the group processes
///   look_ahead(Shared&, Thread&, group, step, thread)   optional: finds what load() needs to know
///   load(Shared&, Thread&, group, step, thread)         all threads together load a tile
///   work(Shared&, Thread&, group, step, thread)         each thread does its share of the work on it
///   end(Shared&, Thread&, group, thread)
/// Where registers are scarce, a thread may keep data of its own in Shared; no other thread may read it.
template <class Kernel>
void for_each_group([[maybe_unused]] Stream& stream, std::size_t groups, const Kernel& kernel) {
  if (groups == 0) return;
#if defined(__CUDACC__)
  if (stream.device().kind == Device::Kind::cuda) {
    detail::cuda::use(stream.device().index);
    // Makes as much memory as possible shared memory of groups, which the L1 cache would otherwise take.
    detail::cuda::check(
        cudaFuncSetAttribute(detail::run_groups<Kernel>, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared),
        "cudaFuncSetAttribute");
    detail::run_groups<<<static_cast<unsigned>(groups), group_threads, 0,
                         static_cast<cudaStream_t>(stream.handle())>>>(kernel);
    detail::cuda::check(cudaGetLastError(), "for_each_group");
    return;
  }
#endif
  stream.do_on_host([=, threads = stream.threads()] {
    for_each(groups, threads, [&](std::size_t group) {
      const auto shared = std::make_unique<typename Kernel::Shared>();
      std::vector<typename Kernel::Thread> state(group_threads);
      for (int t = 0; t < group_threads; ++t)
        kernel.begin(*shared, state[static_cast<std::size_t>(t)], group, t);
      const std::size_t steps = kernel.steps(group);
      for (std::size_t step = 0; step < steps; ++step) {
        if constexpr (detail::looks_ahead<Kernel>)
          for (int t = 0; t < group_threads; ++t)
            kernel.look_ahead(*shared, state[static_cast<std::size_t>(t)], group, step, t);
        for (int t = 0; t < group_threads; ++t)
          kernel.load(*shared, state[static_cast<std::size_t>(t)], group, step, t);
        for (int t = 0; t < group_threads; ++t)
          kernel.work(*shared, state[static_cast<std::size_t>(t)], group, step, t);
      }
      for (int t = 0; t < group_threads; ++t)
        kernel.end(*shared, state[static_cast<std::size_t>(t)], group, t);
    });
  });
}

}  // namespace terrane
