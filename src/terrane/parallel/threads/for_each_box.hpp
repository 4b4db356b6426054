// Runs a kernel over the points of a box on the threads of this process.
//
// A kernel is a small struct of views and numbers with operator()(i), (j, i) or (k, j, i), marked TERRANE_FN,
// which computes one point. Points are computed concurrently and in any order: a kernel writes at its own
// point only and reads nothing that is written at another point of the same box. It does not throw. The
// compiler vectorises rows where it can.
#pragma once

#include "terrane/parallel/arrays/index_box.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane {

namespace detail {

/// Number of points of a box on three axes; 1 on axes that a box of lower dimension lacks.
struct Extents {
  Index size[3];
};
template <int N>
constexpr Extents extents(const IndexBox<N>& box) {
  static_assert(N <= 3, "boxes have up to three dimensions");
  Extents all{{1, 1, 1}};
  for (int a = 0; a < N; ++a) all.size[3 - N + a] = box.size(a);
  return all;
}

/// Size and number, on each axis, of the tiles into which threads divide a box. A tile has many planes, and
/// so few rows that a stencil finds the previous and next planes in the cache. Each thread gets several
/// tiles.
struct Tiles {
  Index size[3], count[3];
  int team;
};
Tiles tiles_of(const Extents& box, int threads);

/// Calls call(with, n) for every n below count, on `team` threads.
void run_team(Index count, int team, void (*call)(const void* with, Index n), const void* with);

/// Computes the points of one row. `kernel` is a copy, so the compiler knows that no store to memory changes
/// it.
template <int N, class Kernel>
void run_row(const Kernel kernel, [[maybe_unused]] Index k, [[maybe_unused]] Index j, Index first,
             Index last) {
#if !defined(__CUDACC__)
#pragma omp simd
#endif
  for (Index i = first; i < last; ++i) {
    if constexpr (N == 1) kernel(i);
    else if constexpr (N == 2) kernel(j, i);
    else kernel(k, j, i);
  }
}

}  // namespace detail

/// Calls kernel(i), kernel(j, i) or kernel(k, j, i) for every point of the box; i is the last index. threads:
/// as for thread_count(); results do not depend on the number.
template <int N, class Kernel>
void for_each(const IndexBox<N>& box, int threads, const Kernel& kernel) {
  if (box.empty()) return;
  struct Work {
    const Kernel& kernel;
    Index first[3], last[3];
    detail::Tiles tiles;
  };
  Work work{kernel, {}, {1, 1, 1}, detail::tiles_of(detail::extents(box), threads)};
  for (int a = 0; a < N; ++a) {
    work.first[3 - N + a] = box.first[a];
    work.last[3 - N + a] = box.last[a];
  }
  const auto do_tile = [](const void* with, Index n) {
    const Work& w = *static_cast<const Work*>(with);
    const Index at[3] = {n / (w.tiles.count[1] * w.tiles.count[2]), n / w.tiles.count[2] % w.tiles.count[1],
                         n % w.tiles.count[2]};
    Index first[3], last[3];
    for (int a = 0; a < 3; ++a) {
      first[a] = w.first[a] + at[a] * w.tiles.size[a];
      last[a] = std::min(first[a] + w.tiles.size[a], w.last[a]);
    }
    for (Index k = first[0]; k < last[0]; ++k)
      for (Index j = first[1]; j < last[1]; ++j) detail::run_row<N>(w.kernel, k, j, first[2], last[2]);
  };
  const auto& count = work.tiles.count;
  detail::run_team(count[0] * count[1] * count[2], work.tiles.team, do_tile, &work);
}

}  // namespace terrane
