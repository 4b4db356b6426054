// Sums and maxima over boxes, bitwise independent of the number of threads, of thread blocks, of the kind of
// device and of how ranks divide the box. tree.hpp describes the order of additions, and the cells: a block
// of points, or 64 cells of the next lower level, is one cell.
//
// The rule for ranks: each rank's part of the box begins and ends at multiples of a block (4 × 4 × 32 points
// in three dimensions, 16 × 32 in two, 512 in one), counted from index 0 of the whole problem, or at the ends
// of the box. Parts that are cut at multiples of 4, 16, 64, … blocks send each other fewer values.
//
// For files of device code (*.cu), as device/launch.hpp.
#pragma once

#include <array>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/sweep.hpp"
#include "terrane/parallel/reduce/tree.hpp"
#include "terrane/parallel/simd/wide_rows.hpp"

namespace terrane {

namespace detail {

#if defined(__CUDACC__)

inline constexpr unsigned warps_of_block = 8;
/// Four warps share the rows of a block of points, enough to hide the latency of memory.
inline constexpr unsigned warps_of_cell = 4, cells_of_block = warps_of_block / warps_of_cell;
inline constexpr int rows_of_warp = block_rows / static_cast<int>(warps_of_cell);

/// The number of thread blocks that a multiprocessor should hold: Kernel::blocks_at_once if the kernel
/// defines it, else 1.
template <class Kernel>
constexpr int blocks_at_once() {
  if constexpr (requires { Kernel::blocks_at_once; }) return Kernel::blocks_at_once;
  else return 1;
}

/// Kernel that reduces blocks of points, with one lane per column of a block. Each warp sums some of the
/// rows; one warp then adds these sums in a fixed order.
template <int N, int M, class Op, class Kernel>
__global__ void __launch_bounds__(warps_of_block* lanes, blocks_at_once<Kernel>())
    reduce_blocks(const IndexBox<N> cells, const IndexBox<N> points, const __grid_constant__ Kernel kernel,
                  double* out) {
  __shared__ double values[cells_of_block][M][block_rows][lanes];
  let_the_next_begin();
  wait_for_earlier_kernels();
  const unsigned warp = threadIdx.x / lanes, own = warp / warps_of_cell;
  const int lane = static_cast<int>(threadIdx.x % lanes),
            first = static_cast<int>(warp % warps_of_cell) * rows_of_warp;
  const Index cell = static_cast<Index>(blockIdx.x) * cells_of_block + own;
  const bool has_cell = cell < cells.count();
  if (has_cell) {
    const Rows<N> rows(place_of<N>(cell, cells), points);
#pragma unroll
    for (int r = first; r < first + rows_of_warp; ++r) {
      const Index i = rows.column(r) + lane;
      double value[M];
      for (double& one : value) one = Op::nothing;
      if (rows.has(r, points) && i >= rows.first && i < rows.last) {
        const auto answer = rows.call(kernel, r, i);
        for (int m = 0; m < M; ++m) value[m] = value_of(answer, m);
      }
      for (int m = 0; m < M; ++m) values[own][m][r][lane] = value[m];
    }
  }
  __syncthreads();
  if (first > 0 || !has_cell) return;
  for (int m = 0; m < M; ++m) {
    double sum = Op::nothing;
    for (int r = 0; r < block_rows; ++r) sum = Op::join(sum, values[own][m][r][lane]);
    for (int half = lanes / 2; half > 0; half /= 2)
      sum = Op::join(sum, __shfl_down_sync(0xffffffffU, sum, half));
    if (lane == 0) out[cell * M + m] = sum;
  }
}

/// A warp joins the children of cell `number`, two per lane.
template <int N, int M, class Op>
__device__ __forceinline__ void join_children(Index number, const IndexBox<N>& next, const IndexBox<N>& cells,
                                              const double* values, double* out) {
  const int lane = static_cast<int>(threadIdx.x % lanes);
  const auto cell = place_of<N>(number, next);
  for (int m = 0; m < M; ++m) {
    double sum = Op::join(child_value<N, M, Op>(cell, lane, cells, values, m),
                          child_value<N, M, Op>(cell, lane + lanes, cells, values, m));
    for (int half = lanes / 2; half > 0; half /= 2)
      sum = Op::join(sum, __shfl_down_sync(0xffffffffU, sum, half));
    if (lane == 0) out[number * M + m] = sum;
  }
}

/// Kernel that joins the values of cells to those of the next level, one warp per cell.
template <int N, int M, class Op>
__global__ void __launch_bounds__(warps_of_block* lanes)
    join_cells(const IndexBox<N> next, const IndexBox<N> cells, const double* values, double* out) {
  let_the_next_begin();
  wait_for_earlier_kernels();
  const Index number = static_cast<Index>(blockIdx.x) * warps_of_block + threadIdx.x / lanes;
  if (number < next.count()) join_children<N, M, Op>(number, next, cells, values, out);
}

/// The last levels of the tree, which have few cells: one block of threads joins these, level after level.
template <int N>
struct FewCells {
  static constexpr Index most = 8192;  // largest number of cells on the first of the last levels
  static constexpr int most_levels = 4;
  int levels = 0;
  IndexBox<N> cells;
  const double* values = nullptr;
  double* out[most_levels] = {};
};
inline constexpr unsigned warps_for_few_cells = 32;
template <int N, int M, class Op>
__global__ void __launch_bounds__(warps_for_few_cells* lanes)
    join_few_cells(const __grid_constant__ FewCells<N> few) {
  let_the_next_begin();
  wait_for_earlier_kernels();
  IndexBox<N> cells = few.cells;
  const double* values = few.values;
  for (int level = 0; level < few.levels; ++level) {
    const auto next = joined(cells);
    double* const out = few.out[level];
    for (Index number = threadIdx.x / lanes; number < next.count(); number += warps_for_few_cells)
      join_children<N, M, Op>(number, next, cells, values, out);
    __syncthreads();
    cells = next;
    values = out;
  }
}

#endif

/// Calls work(n) for every n below count, on `threads` threads.
template <class Work>
void share_cells(Index count, int threads, const Work& work) {
  constexpr Index some = 16;  // cells that a thread takes at once: about ten microseconds
  struct All {
    const Work& work;
    Index count;
  } all{work, count};
  const Index pieces = (count + some - 1) / some;
  run_team(
      pieces, static_cast<int>(std::min<Index>(thread_count(threads), pieces)),
      [](const void* with, Index piece) {
        const All& a = *static_cast<const All*>(with);
        for (Index n = piece * some; n < std::min((piece + 1) * some, a.count); ++n) a.work(n);
      },
      &all);
}

/// Reduces a row of blocks of points on the CPU. If a kernel's loops differ from row to row, it may compute a
/// row of points itself, by kernel.row(k, j, first, last, values), which writes values[m][i − first]. block:
/// indices of the row of blocks (the last is not used); cells: blocks of the row; out: [blocks of the
/// row][M]
template <int M, class Op, class Kernel>
inline void reduce_row_of_blocks(const Kernel kernel, const Place<3>& block, const IndexBox<3>& cells,
                                 const IndexBox<3>& points, double* out) {
  constexpr Index blocks_at_once = 8, columns = blocks_at_once * lanes;
  for (Index from = cells.first[2]; from < cells.last[2]; from += blocks_at_once) {
    const Index to = std::min(from + blocks_at_once, cells.last[2]), corner = from * lanes;
    const Rows<3> rows(Place<3>{{block.at[0], block.at[1], from}}, points);
    const Index first = std::max(points.first[2], corner), last = std::min(points.last[2], to * lanes);
    double sum[M][columns], values[M][columns];
    for (auto& one : sum)
      for (double& value : one) value = Op::nothing;
    for (int r = 0; r < block_rows; ++r) {
      if (!rows.has(r, points)) continue;
      const Index k = rows.corner.at[0] + r / 4, j = rows.corner.at[1] + r % 4;
      if constexpr (requires { kernel.row(k, j, first, last, values); }) {
        kernel.row(k, j, first, last, values);
      } else {
#if !defined(__CUDACC__)
#pragma omp simd
#endif
        for (Index i = first; i < last; ++i) {
          const auto answer = kernel(k, j, i);
          for (int m = 0; m < M; ++m) values[m][i - first] = value_of(answer, m);
        }
      }
      // Forces the values through memory, so that no compiler fuses a product of the kernel with the
      // addition.
      asm volatile("" : : "r"(values) : "memory");
      for (int m = 0; m < M; ++m) {
        double* const here = sum[m] + (first - corner);
        for (Index l = 0; l < last - first; ++l) here[l] = Op::join(here[l], values[m][l]);
      }
    }
    for (Index cell = from; cell < to; ++cell)
      for (int m = 0; m < M; ++m) {
        double(&one)[lanes] = *reinterpret_cast<double(*)[lanes]>(sum[m] + (cell - from) * lanes);
        out[(cell - cells.first[2]) * M + m] = join_lanes<Op>(one);
      }
  }
}

/// Reduces the blocks of a box on the CPU.
template <int M, class Op, class Kernel>
struct RowsOfBlocks {
  const Kernel& kernel;
  const IndexBox<3>&cells, &points;
  double* out;
  static constexpr Index some = 2;  // rows of blocks that a thread takes at once

  inline void work(Index piece) const {
    const Index across = cells.size(1), all = cells.size(0) * across;
    for (Index n = piece * some; n < std::min((piece + 1) * some, all); ++n)
      reduce_row_of_blocks<M, Op, Kernel>(
          kernel, Place<3>{{cells.first[0] + n / across, cells.first[1] + n % across}}, cells, points,
          out + n * cells.size(2) * M);
  }
  static void run(const void* with, Index piece) { static_cast<const RowsOfBlocks*>(with)->work(piece); }
  TERRANE_WIDE_ROWS static void run_wide(const void* with, Index piece) {
    static_cast<const RowsOfBlocks*>(with)->work(piece);
  }
};

template <int N, int M, class Op, class Kernel>
void reduce_on_host(const IndexBox<N>& cells, const IndexBox<N>& points, const Kernel& kernel, double* out,
                    int threads) {
  if constexpr (N == 3) {
    using Work = RowsOfBlocks<M, Op, Kernel>;
    const Work work{kernel, cells, points, out};
    const Index pieces = (cells.size(0) * cells.size(1) + Work::some - 1) / Work::some;
    run_team(pieces, static_cast<int>(std::min<Index>(thread_count(threads), pieces)),
             has_wide_rows() ? Work::run_wide : Work::run, &work);
  } else {
    share_cells(cells.count(), threads, [&](Index n) {
      reduce_block<N, M, Op, Kernel>(kernel, place_of<N>(n, cells), points, out + n * M);
    });
  }
}

/// Computes the values of the cells `next`: each is joined from those of its children among `cells`.
template <int N, int M, class Op>
void join_on_host(const IndexBox<N>& next, const IndexBox<N>& cells, const double* values, double* out,
                  int threads) {
  share_cells(next.count(), threads,
              [&](Index n) { join_cell<N, M, Op>(place_of<N>(n, next), cells, values, out + n * M); });
}

/// Which rank has which points, and the highest level of the tree whose cells each lie within one rank.
template <int N>
struct Shares {
  IndexBox<N> whole;
  std::vector<IndexBox<N>> parts;  // points of each rank
  int level = 0;

  /// Throws ShapeError if the parts break the rule for ranks at the head of this file.
  Shares(const IndexBox<N>& whole_box, const IndexBox<N>& mine, Comm& comm);
};

}  // namespace detail

/// Sums and maxima over all ranks of a Comm. Comments say which functions are collective.
template <int N>
class Reduction {
 public:
  /// Collective: `mine` are the points of `whole` that this rank has; indices are not negative. stream: runs
  /// the kernels. most: largest number of values per point in sums(). Throws ShapeError if parts overlap,
  /// omit points or are not cut at block boundaries; MemoryError. Stream and Comm must outlive this object.
  Reduction(Stream& stream, const IndexBox<N>& whole, const IndexBox<N>& mine, Comm& comm, int most = 1)
      : stream_(stream), comm_(comm), shares_(whole, mine, comm), mine_(mine), most_(most) {
    cells_.push_back(detail::blocks_of(mine));
    for (int level = 0; level < shares_.level; ++level) cells_.push_back(detail::joined(cells_.back()));
    std::size_t size = 0;
    for (const auto& cells : cells_) {
      first_.push_back(size);
      size += static_cast<std::size_t>(cells.count() * most);
    }
    rest_ = size;
    for (auto cells = comm.size() > 1 ? cells_of_all() : cells_.back();; cells = detail::joined(cells)) {
      size += static_cast<std::size_t>(cells.count() * most);
      if (cells.count() <= 1) break;
    }
    values_ = Buffer<double>(stream.device(), size);
  }

  /// Collective: the sum of kernel(i), (j, i) or (k, j, i) over all points of `whole`.
  template <class Kernel>
  double sum(const Kernel& kernel) {
    begin<1, detail::Add>(kernel);
    return finish<1, detail::Add>()[0];
  }
  /// Collective: the maximum of the kernel's values over all points of `whole`; NaN if any value is NaN, −∞
  /// if there are no points.
  template <class Kernel>
  double highest(const Kernel& kernel) {
    begin<1, detail::Highest>(kernel);
    return finish<1, detail::Highest>()[0];
  }
  /// Collective: sums of a kernel that returns Several<M>.
  template <int M, class Kernel>
  std::array<double, M> sums(const Kernel& kernel) {
    begin<M, detail::Add>(kernel);
    return finish<M, detail::Add>();
  }

  /// The two halves of sums(): begin_sums() begins work on the stream, which a Graph may record; end_sums(),
  /// which is collective, waits for it. after: as for sweep().
  template <int M, class Kernel>
  void begin_sums(const Kernel& kernel, After after = After::events) {
    begin<M, detail::Add>(kernel, nullptr, after);
  }
  template <int M>
  std::array<double, M> end_sums() {
    return finish<M, detail::Add>();
  }

  /// Whether sums_to() can be called: one rank has all points.
  bool alone() const { return comm_.size() == 1; }

  /// If ranks access each other's memory, sums can stay on the devices with several ranks, too. Each rank
  /// calls sums_of_cells(), which returns a device pointer to the sums of its cells, M values per cell;
  /// copies those of all other ranks to room_of_all(), in the order of cells_of_all(); and adds them up by
  /// add_all_to().
  template <int M, class Kernel>
  const double* sums_of_cells(const Kernel& kernel, After after = After::events) {
    begin<M, detail::Add>(kernel, nullptr, after);
    return values_.view().data + first_.back();
  }
  IndexBox<N> cells_of_all() const { return cells_of(shares_.whole); }
  IndexBox<N> cells_of_rank(int rank) const {
    return cells_of(shares_.parts[static_cast<std::size_t>(rank)]);
  }
  double* room_of_all() { return values_.view().data + rest_; }
  template <int M>
  void add_all_to(double* to) {
    join_to<M>(to, cells_of_all(), room_of_all(), room_of_all() + cells_of_all().count() * most_);
  }

  /// Begins work that writes the sums to `to` on the device, for later kernels of the stream.
  template <int M, class Kernel>
  void sums_to(double* to, const Kernel& kernel, After after = After::events) {
    begin<M, detail::Add>(kernel, cells_.back().count() == 1 ? to : nullptr, after);
    if (cells_.back().count() > 1)
      join_to<M>(to, cells_.back(), values_.view().data + first_.back(), values_.view().data + rest_);
  }

 private:
  /// Joins the values of one or more cells, level by level, into one value at `to`; next: memory for the
  /// levels between.
  template <int M>
  void join_to(double* to, IndexBox<N> cells, const double* from, double* next) {
    std::vector<IndexBox<N>> levels{cells};
    std::vector<double*> out{nullptr};
    do {
      cells = detail::joined(cells);
      levels.push_back(cells);
      out.push_back(cells.count() == 1 ? to : next);
      next += cells.count() * M;
    } while (cells.count() > 1);
    join_levels<M, detail::Add>(levels, from, out);
  }

  template <int M, class Op, class Kernel>
  void begin(const Kernel& kernel, double* to = nullptr, After after = After::events) {
    detail::check_holds(static_cast<std::size_t>(most_), M);
    if (cells_.front().empty()) return;
    std::vector<double*> out;
    for (std::size_t level = 0; level < cells_.size(); ++level)
      out.push_back(to && level + 1 == cells_.size() ? to : values_.view().data + first_[level]);
    blocks<M, Op>(kernel, cells_.front(), out.front(), after);
    join_levels<M, Op>(cells_, out.front(), out);
  }

  template <int M, class Op, class Kernel>
  void blocks(const Kernel& kernel, const IndexBox<N>& cells, double* out, [[maybe_unused]] After after) {
#if defined(__CUDACC__)
    if (stream_.device().kind == Device::Kind::cuda)
      return launch<Kernel>(after == After::kernel, detail::reduce_blocks<N, M, Op, Kernel>,
                            (cells.count() + detail::cells_of_block - 1) / detail::cells_of_block,
                            detail::warps_of_block, cells, mine_, kernel, out);
#endif
    stream_.do_on_host([=, points = mine_, threads = stream_.threads()] {
      detail::reduce_on_host<N, M, Op>(cells, points, kernel, out, threads);
    });
  }

  /// Computes the values of each level from those of the level below; `values`: those of the lowest level.
  template <int M, class Op>
  void join_levels(const std::vector<IndexBox<N>>& cells, const double* values,
                   const std::vector<double*>& out) {
    for (std::size_t level = 1; level < cells.size(); values = out[level++]) {
#if defined(__CUDACC__)
      using Few = detail::FewCells<N>;
      if (stream_.device().kind == Device::Kind::cuda && cells[level - 1].count() <= Few::most &&
          cells.size() - level <= static_cast<std::size_t>(Few::most_levels)) {
        Few few;
        few.cells = cells[level - 1];
        few.values = values;
        for (; level < cells.size(); ++level) few.out[few.levels++] = out[level];
        return launch<Few>(true, detail::join_few_cells<N, M, Op>, 1, detail::warps_for_few_cells, few);
      }
#endif
      join<M, Op>(cells[level], cells[level - 1], values, out[level]);
    }
  }

  template <int M, class Op>
  void join(const IndexBox<N>& next, const IndexBox<N>& cells, const double* values, double* out) {
#if defined(__CUDACC__)
    if (stream_.device().kind == Device::Kind::cuda)
      return launch<Op>(true, detail::join_cells<N, M, Op>,
                        (next.count() + detail::warps_of_block - 1) / detail::warps_of_block,
                        detail::warps_of_block, next, cells, values, out);
#endif
    stream_.do_on_host([=, threads = stream_.threads()] {
      detail::join_on_host<N, M, Op>(next, cells, values, out, threads);
    });
  }

#if defined(__CUDACC__)
  template <class Kernel, class Function, class... Words>
  void launch(bool early, Function function, Index blocks, unsigned warps, const Words&... words) {
    detail::cuda::use(stream_.device().index);
    detail::launch_early<Kernel>(stream_, early, function, dim3(static_cast<unsigned>(blocks)),
                                 dim3(warps * detail::lanes), words...);
  }
#endif

  /// The cells that a part has on level shares_.level, up to which every rank adds by itself.
  IndexBox<N> cells_of(const IndexBox<N>& part) const {
    auto cells = detail::blocks_of(part);
    for (int level = 0; level < shares_.level; ++level) cells = detail::joined(cells);
    return cells;
  }

  template <int M, class Op>
  std::array<double, M> finish() {
    // This rank's values, padded to the largest number of values of any rank.
    Index most = 0;
    for (const auto& part : shares_.parts) most = std::max(most, cells_of(part).count());
    const auto each = static_cast<std::size_t>(most * M);
    std::vector<double> mine(each), all(each * shares_.parts.size());
    const auto count = static_cast<std::size_t>(cells_.back().count() * M);
    if (count > 0) values_.download(stream_, std::span(mine.data(), count), first_.back());
    if (comm_.size() == 1) all = std::move(mine);
    else comm_.gather_all(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));

    // The values of all ranks' cells of that level, ordered as in the whole box; these are then joined into
    // one.
    auto cells = cells_of(shares_.whole);
    std::vector<double> values(static_cast<std::size_t>(cells.count() * M), Op::nothing);
    for (std::size_t rank = 0; rank < shares_.parts.size(); ++rank) {
      const auto part = cells_of(shares_.parts[rank]);
      for (Index n = 0; n < part.count(); ++n) {
        const Index to = detail::number_of<N>(detail::place_of<N>(n, part), cells);
        for (int m = 0; m < M; ++m)
          values[static_cast<std::size_t>(to * M + m)] =
              all[rank * each + static_cast<std::size_t>(n * M + m)];
      }
    }
    while (cells.count() > 1) {
      const auto next = detail::joined(cells);
      std::vector<double> joined(static_cast<std::size_t>(next.count() * M));
      detail::join_on_host<N, M, Op>(next, cells, values.data(), joined.data(), stream_.threads());
      cells = next;
      values = std::move(joined);
    }
    std::array<double, M> result;
    for (int m = 0; m < M; ++m)
      result[static_cast<std::size_t>(m)] =
          values.empty() ? Op::nothing : values[static_cast<std::size_t>(m)];
    return result;
  }

  Stream& stream_;
  Comm& comm_;
  detail::Shares<N> shares_;
  IndexBox<N> mine_;
  int most_;
  std::vector<IndexBox<N>> cells_;  // this rank's cells of each level
  std::vector<std::size_t> first_;  // offset of each level's values in values_
  std::size_t rest_ = 0;  // offset in values_ of all ranks' cells, followed by levels joined on the device
  Buffer<double> values_;
};

/// Kernels for the sums and maxima of solvers: products, magnitudes.
template <int N>
struct Product {
  View<const double, N> a, b;
  template <class... At>
  TERRANE_FN double operator()(At... at) const {
    return a(at...) * b(at...);
  }
};
template <int N>
struct Magnitude {
  View<const double, N> values;
  template <class... At>
  TERRANE_FN double operator()(At... at) const {
    const double value = values(at...);
    return value < 0 ? -value : value;
  }
};

}  // namespace terrane
