// A box of points cut into a box of parts, one per rank.
//
// Where the bits of sums matter (reduce/reduce.hpp), cuts lie at multiples of its blocks, counted from index
// 0 of the whole problem; then no result depends on the number of ranks.
#pragma once

#include <array>
#include <vector>

#include "terrane/parallel/arrays/index_box.hpp"

namespace terrane {

template <int N>
struct Cartesian {
  IndexBox<N> whole;
  std::array<int, N> pieces{};     ///< parts on each axis; the last axis counts fastest
  std::vector<IndexBox<N>> parts;  ///< of each rank; empty for ranks that have no points

  int ranks() const noexcept { return static_cast<int>(parts.size()); }
  const IndexBox<N>& part(int rank) const { return parts[static_cast<std::size_t>(rank)]; }
  /// The place of a rank along each axis, counted in pieces.
  std::array<int, N> place(int rank) const;
  /// The rank that is `step` places further on an axis; −1 beyond the ends.
  int neighbour(int rank, int axis, int step) const;
};

template <int N>
struct CartesianSettings {
  /// Cuts lie at multiples of these. 0: at multiples of a Reduction's block, or of 4 or 16 blocks where that
  /// costs little.
  std::array<Index, N> unit{};
  /// Parts on each axis; their product is the number of ranks. 0: chosen here, such that the largest part
  /// is as small as possible, and then the faces between parts.
  std::array<int, N> pieces{};
  /// By which share of its points a part counts as larger where cuts are not at multiples of 4 blocks: what
  /// it costs that hosts add up a number for each block.
  double not_joining = 0;
};

/// Throws InputError when the pieces do not fit the number of ranks.
template <int N>
Cartesian<N> cut(const IndexBox<N>& whole, int ranks, const CartesianSettings<N>& settings = {});

}  // namespace terrane
