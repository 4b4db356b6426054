// The order in which sums over boxes are added: fixed by the indices of the points alone.
//
// Space is cut into blocks of 512 points: 4 × 4 × 32 in three dimensions, 16 × 32 in two, 512 in one. Blocks
// begin at multiples of these numbers, regardless of where the summed box begins. A block has 32 partial
// sums, one per column of its rows, which are added in a binary tree. Then the sums of 64 blocks (4 × 4 × 4,
// 8 × 8, 64) are added in a binary tree, and 64 of the resulting sums, until one is left. Points outside of
// the box are not added.
//
// A rank that has a whole number of blocks can add its points by itself up to the level where the tree joins
// blocks of different ranks; so the bits depend only on the points. This file defines the blocks and adds on
// the CPU; reduce.hpp does the same on GPUs.
#pragma once

#include <limits>

#include "terrane/base/function.hpp"
#include "terrane/parallel/arrays/view.hpp"

namespace terrane {

/// Several values per point, each of which is reduced separately: the parts of a complex product, or two dot
/// products in one pass over memory.
template <int M>
struct Several {
  double value[M];
};

namespace detail {

inline constexpr int lanes = 32, block_rows = 16, fan_in = 64;

/// block_extent: number of points of a block along an axis. join: number of cells along each axis that are
/// added to one cell of the next level; the lowest cells are blocks.
template <int N>
TERRANE_FN constexpr Index block_extent(int axis) {
  if (axis == N - 1) return N == 1 ? lanes * block_rows : lanes;
  return N == 2 ? block_rows : 4;
}
template <int N>
inline constexpr Index join = N == 1   ? 64
                              : N == 2 ? 8
                                       : 4;

/// The operations of sums and of maxima. `join` prevents fusing of the addition with a preceding product, so
/// that every device computes the same bits.
struct Add {
  static constexpr double nothing = 0;
  TERRANE_FN static double join(double a, double b) {
#if defined(__CUDA_ARCH__)
    return __dadd_rn(a, b);
#else
    return a + b;
#endif
  }
};
struct Highest {  // the largest value, or NaN if any value is NaN
  static constexpr double nothing = -std::numeric_limits<double>::infinity();
  TERRANE_FN static double join(double a, double b) { return a > b || a != a ? a : b; }
};

TERRANE_FN constexpr Index down(Index a, Index by) { return a / by; }
TERRANE_FN constexpr Index up(Index a, Index by) { return (a + by - 1) / by; }

/// The blocks that contain points of a box (level 0), and the cells into which they are joined.
template <int N>
constexpr IndexBox<N> blocks_of(const IndexBox<N>& points) {
  IndexBox<N> cells;
  if (points.empty()) return cells;
  for (int a = 0; a < N; ++a) {
    cells.first[a] = down(points.first[a], block_extent<N>(a));
    cells.last[a] = up(points.last[a], block_extent<N>(a));
  }
  return cells;
}
template <int N>
TERRANE_FN constexpr IndexBox<N> joined(const IndexBox<N>& cells) {
  IndexBox<N> next;
  if (cells.empty()) return next;
  for (int a = 0; a < N; ++a) {
    next.first[a] = down(cells.first[a], join<N>);
    next.last[a] = up(cells.last[a], join<N>);
  }
  return next;
}

/// Whether no cell of the tree up to this level contains both points of `mine` and other points of `whole`.
template <int N>
constexpr bool closed(const IndexBox<N>& mine, const IndexBox<N>& whole, int level) {
  if (mine.empty()) return true;
  for (int a = 0; a < N; ++a) {
    Index extent = block_extent<N>(a);
    for (int l = 0; l < level; ++l) extent *= join<N>;
    if (mine.first[a] != whole.first[a] && mine.first[a] % extent != 0) return false;
    if (mine.last[a] != whole.last[a] && mine.last[a] % extent != 0) return false;
  }
  return true;
}

/// Indices of a point, a block or a cell.
template <int N>
struct Place {
  Index at[N];
};
template <int N>
TERRANE_FN constexpr Place<N> place_of(Index n, const IndexBox<N>& cells) {
  Place<N> place{};
  for (int a = N - 1; a >= 0; --a) {
    place.at[a] = cells.first[a] + n % cells.size(a);
    n /= cells.size(a);
  }
  return place;
}
template <int N>
TERRANE_FN constexpr Index number_of(const Place<N>& place, const IndexBox<N>& cells) {
  Index n = 0;
  for (int a = 0; a < N; ++a) n = n * cells.size(a) + (place.at[a] - cells.first[a]);
  return n;
}

/// Value m of a kernel's result.
TERRANE_FN double value_of(double answer, int) { return answer; }
template <int M>
TERRANE_FN double value_of(const Several<M>& answer, int m) {
  return answer.value[m];
}

/// Evaluates a kernel at a row r of a block, 0 ≤ r < 16, and at index i along the row.
template <int N>
struct Rows {
  Place<N> corner;    // index of the block's first point on each axis
  Index first, last;  // columns of the block that are in the box

  TERRANE_FN Rows(const Place<N>& block, const IndexBox<N>& points) : corner(block) {
    for (int a = 0; a < N; ++a) corner.at[a] *= block_extent<N>(a);
    first = points.first[N - 1];
    last = points.last[N - 1];
  }
  /// Whether the row is in the box.
  TERRANE_FN bool has(int r, const IndexBox<N>& points) const {
    if constexpr (N == 2) return in(corner.at[0] + r, points, 0);
    else if constexpr (N == 3)
      return in(corner.at[0] + r / 4, points, 0) && in(corner.at[1] + r % 4, points, 1);
    else return true;
  }
  /// Index of the first column of the row.
  TERRANE_FN Index column(int r) const { return corner.at[N - 1] + (N == 1 ? r * lanes : 0); }
  template <class Kernel>
  TERRANE_FN auto call(const Kernel& kernel, int r, Index i) const {
    if constexpr (N == 1) return kernel(i);
    else if constexpr (N == 2) return kernel(corner.at[0] + r, i);
    else return kernel(corner.at[0] + r / 4, corner.at[1] + r % 4, i);
  }

 private:
  TERRANE_FN static bool in(Index at, const IndexBox<N>& points, int axis) {
    return at >= points.first[axis] && at < points.last[axis];
  }
};

/// Joins 32 values into one, in a binary tree.
template <class Op>
TERRANE_FN double join_lanes(double (&value)[lanes]) {
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) value[l] = Op::join(value[l], value[l + half]);
  return value[0];
}

/// Reduces one block, on the CPU.  out [M]
template <int N, int M, class Op, class Kernel>
void reduce_block(const Kernel kernel, const Place<N>& block, const IndexBox<N>& points, double* out) {
  const Rows<N> rows(block, points);
  double sum[M][lanes];
  for (auto& values : sum)
    for (double& value : values) value = Op::nothing;
  for (int r = 0; r < block_rows; ++r) {
    if (!rows.has(r, points)) continue;
    const Index column = rows.column(r);
    const Index first = std::max<Index>(rows.first - column, 0),
                last = std::min<Index>(rows.last - column, lanes);
    // The values are stored in memory, so that no compiler fuses a product of the kernel with the addition.
    double values[M][lanes];
#if !defined(__CUDACC__)
#pragma omp simd
#endif
    for (Index l = first; l < last; ++l) {
      const auto answer = rows.call(kernel, r, column + l);
      for (int m = 0; m < M; ++m) values[m][l] = value_of(answer, m);
    }
    asm volatile("" : : "r"(values) : "memory");
    for (int m = 0; m < M; ++m) {
      if (first == 0 && last == lanes) {
#if !defined(__CUDACC__)
#pragma omp simd
#endif
        for (int l = 0; l < lanes; ++l) sum[m][l] = Op::join(sum[m][l], values[m][l]);
      } else {
        for (Index l = first; l < last; ++l) sum[m][l] = Op::join(sum[m][l], values[m][l]);
      }
    }
  }
  for (int m = 0; m < M; ++m) out[m] = join_lanes<Op>(sum[m]);
}

/// Child c of a cell, 0 ≤ c < 64.
template <int N>
TERRANE_FN constexpr Place<N> child_of(const Place<N>& cell, int c) {
  Place<N> child{};
  for (int a = N - 1; a >= 0; --a) {
    child.at[a] = cell.at[a] * join<N> + c % static_cast<int>(join<N>);
    c /= static_cast<int>(join<N>);
  }
  return child;
}
template <int N>
TERRANE_FN constexpr bool holds(const IndexBox<N>& cells, const Place<N>& place) {
  for (int a = 0; a < N; ++a)
    if (place.at[a] < cells.first[a] || place.at[a] >= cells.last[a]) return false;
  return true;
}

/// Value m of child c, or the neutral value of Op if there is no such child.  values [cells, M]
template <int N, int M, class Op>
TERRANE_FN double child_value(const Place<N>& cell, int c, const IndexBox<N>& cells, const double* values,
                              int m) {
  const auto child = child_of<N>(cell, c);
  return holds<N>(cells, child) ? values[number_of<N>(child, cells) * M + m] : Op::nothing;
}

/// Joins the children of one cell, on the CPU.  values [cells, M]; out [M]
template <int N, int M, class Op>
void join_cell(const Place<N>& cell, const IndexBox<N>& cells, const double* values, double* out) {
  for (int m = 0; m < M; ++m) {
    double sum[lanes];
    for (int l = 0; l < lanes; ++l)
      sum[l] = Op::join(child_value<N, M, Op>(cell, l, cells, values, m),
                        child_value<N, M, Op>(cell, l + lanes, cells, values, m));
    out[m] = join_lanes<Op>(sum);
  }
}

}  // namespace detail

}  // namespace terrane
