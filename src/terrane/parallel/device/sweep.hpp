// for_each over a box (launch.hpp) for kernels that read neighbouring points and are launched in quick
// succession, such as the steps of a multigrid cycle.
//
// On a GPU a thread computes several planes, one after the other, so that it finds the neighbours of its
// points in the cache of its multiprocessor; and a kernel is launched while the one before it still runs
// (programmatic dependent launch), which saves each more than a microsecond.
//
// On a CPU the loops over rows are also compiled for wide registers (AVX2, eight numbers of single
// precision), which are used where the CPU has them. Products and sums are not fused, so the bits are the
// same for any width.
//
// For files of device code (*.cu), as device/launch.hpp.
#pragma once

#include <array>
#include <atomic>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/simd/wide_rows.hpp"

namespace terrane {

namespace detail {

/// Blocks of 256 threads: 32 points of a row times 8 rows, if the box has as many; and the number of planes
/// that each thread computes.
struct SweepShape {
  unsigned threads[3], blocks[3];
  Index planes;
};
constexpr SweepShape sweep_shape(const Extents& box) {
  constexpr Index threads_that_fill_a_gpu = Index{1} << 18, most_planes = 4;
  SweepShape shape{};
  const Index points = box.size[0] * box.size[1] * box.size[2];
  shape.planes = std::clamp<Index>(points / threads_that_fill_a_gpu, 1, most_planes);
  const Index wanted[3] = {shape.planes > 1 ? 1 : 64, 256, 32};
  unsigned left = box_threads;
  for (int axis = 2; axis >= 0; --axis) {
    unsigned threads = 1;
    while (threads < left && threads < wanted[axis] && static_cast<Index>(threads) < box.size[axis])
      threads *= 2;
    left /= threads;
    const Index each = threads * (axis == 0 ? shape.planes : 1);
    shape.threads[axis] = threads;
    shape.blocks[axis] = static_cast<unsigned>((box.size[axis] + each - 1) / each);
  }
  return shape;
}

inline constexpr int threads_of_one_block = 512;

#if defined(__CUDACC__)

/// Code of a kernel before this call must not depend on earlier kernels, as it may run before they have
/// ended.
__device__ __forceinline__ void wait_for_earlier_kernels() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();  // from here on, everything that earlier kernels wrote can be read
#endif
}
__device__ __forceinline__ void let_the_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// A kernel may have ahead(k, j, i), which loads values that no kernel writes before earlier kernels have
/// ended; then its operator is called as kernel(k, j, i, kernel.ahead(k, j, i)).
template <class Kernel>
__global__ void __launch_bounds__(box_threads)
    run_sweep(const IndexBox<3> box, const int planes, const __grid_constant__ Kernel kernel) {
  let_the_next_begin();
  // The indices are int, so that the compiler can use 32-bit arithmetic for the indices of a GridView.
  const int i = static_cast<int>(box.first[2]) + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
            j = static_cast<int>(box.first[1]) + static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y),
            k = static_cast<int>(box.first[0]) +
                static_cast<int>((blockIdx.z * blockDim.z + threadIdx.z)) * planes,
            end = static_cast<int>(box.last[0]);
  if (i >= static_cast<int>(box.last[2]) || j >= static_cast<int>(box.last[1]) || k >= end) return;
  const int last = k + planes < end ? k + planes : end;
  if constexpr (requires { kernel.ahead(Index{}, Index{}, Index{}); }) {
    auto ahead = kernel.ahead(Index{k}, Index{j}, Index{i});
    wait_for_earlier_kernels();
    for (int n = k;;) {
      kernel(Index{n}, Index{j}, Index{i}, ahead);
      if (++n >= last) break;
      ahead = kernel.ahead(Index{n}, Index{j}, Index{i});
    }
  } else {
    wait_for_earlier_kernels();
    for (int n = k; n < last; ++n) kernel(Index{n}, Index{j}, Index{i});
  }
}

/// For kernels that compute several boxes one after the other: computes the points of one box, then
/// synchronises the block's threads.
struct PointsOfBlock {
  template <class Step>
  __device__ __forceinline__ void operator()(const IndexBox<3>& box, const Step& step) const {
    const int wide = static_cast<int>(box.size(2)), deep = static_cast<int>(box.size(1)),
              count = static_cast<int>(box.count());
    for (int n = static_cast<int>(threadIdx.x); n < count; n += threads_of_one_block) {
      const int row = n / wide, plane = row / deep;
      step(box.first[0] + plane, box.first[1] + (row - plane * deep), box.first[2] + (n - row * wide));
    }
    __syncthreads();
  }
};
template <class Kernel>
__global__ void __launch_bounds__(threads_of_one_block) run_one_block(const __grid_constant__ Kernel kernel) {
  let_the_next_begin();
  wait_for_earlier_kernels();
  kernel.work(PointsOfBlock{});
}

/// Whether the kernel's code for this device contains the wait for earlier kernels, as code for compute
/// capability 9.0 and later does. The answer is stored per device, as devices of a machine may differ.
/// function: the kernel's CUDA function
template <class Kernel, class Function>
bool waits_itself(int device, Function function) {
  enum : signed char { unknown, no, yes };
  static std::array<std::atomic<signed char>, 64> known{};
  auto& here = known[static_cast<std::size_t>(device) % known.size()];
  if (here == unknown) {
    cudaFuncAttributes attributes{};
    cuda::check(cudaFuncGetAttributes(&attributes, function), "cudaFuncGetAttributes");
    here = attributes.ptxVersion >= 90 ? yes : no;
  }
  return here == yes;
}

template <class Kernel, class Function, class... Words>
void launch_early(Stream& stream, bool early, Function function, dim3 blocks, dim3 threads,
                  const Words&... words) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = static_cast<cudaStream_t>(stream.handle());
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = early && waits_itself<Kernel>(stream.device().index, function) ? 1 : 0;
  cuda::check(cudaLaunchKernelEx(&config, function, words...), "sweep");
}

#endif

template <class Kernel>
inline void sweep_points(const Kernel& kernel, Index k, Index j, Index first, Index last) {
#if !defined(__CUDACC__)
#pragma omp simd
#endif
  for (Index i = first; i < last; ++i) kernel(k, j, i);
}
/// `kernel` is a copy, so the compiler knows that no store to memory changes it. Compilers do not vectorise a
/// loop with a branch in it. If all points of a kernel take the same branch, its choice() is evaluated before
/// the loop.
template <class Kernel>
inline void sweep_row(const Kernel kernel, Index k, Index j, Index first, Index last) {
  if constexpr (requires { kernel.choice(); }) {
    if (kernel.choice()) sweep_points(kernel, k, j, first, last);  // NOLINT(bugprone-branch-clone): two loops
    else sweep_points(kernel, k, j, first, last);
  } else {
    sweep_points(kernel, k, j, first, last);
  }
}

/// Computes a box on the CPU, in tiles that threads share.
template <class Kernel>
struct SweepOfTiles {
  const Kernel& kernel;
  const IndexBox<3>& box;
  Tiles tiles;

  inline void tile(Index n) const {
    const Index at[3] = {n / (tiles.count[1] * tiles.count[2]), n / tiles.count[2] % tiles.count[1],
                         n % tiles.count[2]};
    Index first[3], last[3];
    for (int a = 0; a < 3; ++a) {
      first[a] = box.first[a] + at[a] * tiles.size[a];
      last[a] = std::min(first[a] + tiles.size[a], box.last[a]);
    }
    for (Index k = first[0]; k < last[0]; ++k)
      for (Index j = first[1]; j < last[1]; ++j) sweep_row(kernel, k, j, first[2], last[2]);
  }
  static void run(const void* with, Index n) { static_cast<const SweepOfTiles*>(with)->tile(n); }
  TERRANE_WIDE_ROWS static void run_wide(const void* with, Index n) {
    static_cast<const SweepOfTiles*>(with)->tile(n);
  }
};

template <class Kernel>
void sweep_on_host(const IndexBox<3>& box, int threads, const Kernel& kernel) {
  using Work = SweepOfTiles<Kernel>;
  const Work work{kernel, box, tiles_of(extents(box), threads)};
  const auto& count = work.tiles.count;
  run_team(count[0] * count[1] * count[2], work.tiles.team, has_wide_rows() ? Work::run_wide : Work::run,
           &work);
}

/// The same as PointsOfBlock, on the CPU.
struct PointsOnHost {
  int threads;
  template <class Step>
  void operator()(const IndexBox<3>& box, const Step& step) const {
    for_each(box, threads, step);
  }
};

}  // namespace detail

enum class After { kernel, events };

/// Calls kernel(k, j, i) for every point of the box, in any order. after: what precedes the kernel on the
/// stream; after an event of another stream the kernel is not launched early.
template <class Kernel>
void sweep(Stream& stream, const IndexBox<3>& box, const Kernel& kernel,
           [[maybe_unused]] After after = After::kernel) {
  if (box.empty()) return;
#if defined(__CUDACC__)
  if (stream.device().kind == Device::Kind::cuda) {
    detail::cuda::use(stream.device().index);
    const auto shape = detail::sweep_shape(detail::extents(box));
    detail::launch_early<Kernel>(stream, after == After::kernel, detail::run_sweep<Kernel>,
                                 dim3(shape.blocks[2], shape.blocks[1], shape.blocks[0]),
                                 dim3(shape.threads[2], shape.threads[1], shape.threads[0]), box,
                                 static_cast<int>(shape.planes), kernel);
    return;
  }
#endif
  stream.do_on_host([=, threads = stream.threads()] { detail::sweep_on_host(box, threads, kernel); });
}

/// Calls kernel.work(points), which may call points(box, step) several times: this calls step(k, j, i) for
/// every point of the box, in any order, and returns when all are done. On a GPU one block of threads does
/// all of it: for boxes so small that kernel launches would take longer than the work.
template <class Kernel>
void in_one_block(Stream& stream, const Kernel& kernel, [[maybe_unused]] After after = After::kernel) {
#if defined(__CUDACC__)
  if (stream.device().kind == Device::Kind::cuda) {
    detail::cuda::use(stream.device().index);
    return detail::launch_early<Kernel>(stream, after == After::kernel, detail::run_one_block<Kernel>,
                                        dim3(1), dim3(detail::threads_of_one_block), kernel);
  }
#endif
  stream.do_on_host([=, threads = stream.threads()] { kernel.work(detail::PointsOnHost{threads}); });
}

}  // namespace terrane
