// Runs code on a device: the launchers, written once for the processors and once for CUDA.
//
// For files of device code (*.cu), which nvcc compiles where it is found and the C++ compiler where not. A
// kernel is a struct of views and numbers, copied to the device. Work on a GPU is begun, not waited for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "terrane/parallel/device/buffer.hpp"
#include "terrane/parallel/device/cuda.hpp"
#include "terrane/parallel/device/debug_memory.hpp"
#include "terrane/parallel/threads/for_each.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace terrane {

/// Threads of a group that run in step: whom group_all() asks.
inline constexpr int group_threads = 32;

/// Whether `condition` holds for every thread of the group, so that all take the same branch. Every thread of
/// the group must ask. Where threads run one after the other it is the condition itself: code that asks must
/// be right either way.
TERRANE_FN bool group_all(bool condition) {
#if defined(__CUDA_ARCH__)
  return __all_sync(0xffffffffU, condition) != 0;
#else
  return condition;
#endif
}

/// Adds to a counter that all threads share; returns what it held.
TERRANE_FN std::uint64_t fetch_add(std::uint64_t& counter, std::uint64_t by) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(reinterpret_cast<unsigned long long*>(&counter), static_cast<unsigned long long>(by));
#else
  return __atomic_fetch_add(&counter, by, __ATOMIC_RELAXED);
#endif
}

namespace detail {

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

#endif

}  // namespace detail

/// kernel(i) for every i below count, in any order.
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
  const detail::DebugAccess access;
  constexpr std::size_t chunk = 1024;
  for_each((count + chunk - 1) / chunk, 0, [&](std::size_t c) {
    for (std::size_t i = c * chunk; i < std::min((c + 1) * chunk, count); ++i) kernel(i);
  });
}

/// Groups of group_threads threads, each of which walks over tiles. A Kernel has
///   Shared, Thread     what a group holds in common, what each thread holds
///   groups_at_once     how many groups a multiprocessor should hold (registers allowing)
///   begin(Shared&, Thread&, group, thread)
///   steps(group)       tiles to walk over
///   look_ahead(Shared&, Thread&, group, step, thread)   may be there: what load() needs to know
///   load(Shared&, Thread&, group, step, thread)         all threads together bring a tile
///   work(Shared&, Thread&, group, step, thread)         each thread does its share of it
///   end(Shared&, Thread&, group, thread)
/// A thread may keep what is its own in Shared, too, where registers are dear; nobody else may look at that.
template <class Kernel>
void for_each_group([[maybe_unused]] Stream& stream, std::size_t groups, const Kernel& kernel) {
  if (groups == 0) return;
#if defined(__CUDACC__)
  if (stream.device().kind == Device::Kind::cuda) {
    detail::cuda::use(stream.device().index);
    // Else the driver leaves memory to the cache that groups could have.
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
  const detail::DebugAccess access;
  for_each(groups, 0, [&](std::size_t group) {
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
    for (int t = 0; t < group_threads; ++t) kernel.end(*shared, state[static_cast<std::size_t>(t)], group, t);
  });
}

}  // namespace terrane
