// A box of points cut into a box of parts, one per rank.
//
// If the last bits of sums matter (reduce/reduce.hpp), cuts lie at multiples of the blocks of a Reduction,
// counted from index 0 of the whole problem; then no result depends on the number of ranks.
#pragma once

#include <array>
#include <vector>

#include "terrane/parallel/arrays/index_box.hpp"

namespace terrane {

template <int N>
struct Cartesian {
  IndexBox<N> whole;
  std::array<int, N> pieces{};     ///< parts on each axis; ranks count fastest on the last axis
  std::vector<IndexBox<N>> parts;  ///< box of each rank; empty for ranks without points

  int ranks() const noexcept { return static_cast<int>(parts.size()); }
  const IndexBox<N>& part(int rank) const { return parts[static_cast<std::size_t>(rank)]; }
  /// The position of a rank's part on each axis, counted in parts from 0.
  std::array<int, N> place(int rank) const;
  /// The rank whose part is `step` parts further along an axis; −1 beyond the ends.
  int neighbour(int rank, int axis, int step) const;
};

template <int N>
struct CartesianSettings {
  /// Cuts lie at multiples of these numbers of points. 0: at multiples of a Reduction's block, or of 4 or 16
  /// blocks if that hardly enlarges the largest part.
  std::array<Index, N> unit{};
  /// Number of parts on each axis; the product of these is the number of ranks. 0: chosen such that the
  /// largest part is as small as possible. Among choices with the same largest part, the one with the
  /// smallest faces between parts is used.
  std::array<int, N> pieces{};
  /// When `pieces` are chosen, a partition whose cuts are not at multiples of 4 blocks of a Reduction is
  /// rated as if its largest part were larger by this fraction: an equivalent of the time in which the host
  /// adds one number per block.
  double not_joining = 0;
};

/// Throws InputError when the pieces do not fit the number of ranks.
template <int N>
Cartesian<N> cut(const IndexBox<N>& whole, int ranks, const CartesianSettings<N>& settings = {});

}  // namespace terrane
