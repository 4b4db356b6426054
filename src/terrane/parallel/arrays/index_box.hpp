// Ranges of indices in one, two or three dimensions: the points of a kernel, of a rank, or of a halo
// exchange.
//
// Axes are ordered as in arrays: the last one is contiguous in memory. Indices are those of the whole
// problem, on every rank: a kernel does not know which other ranks work on it.
#pragma once

#include <algorithm>
#include <cstddef>

#include "terrane/base/function.hpp"

namespace terrane {

using Index = std::ptrdiff_t;

/// The set of points with first[a] ≤ index < last[a] on each axis a.
template <int N>
struct IndexBox {
  static_assert(N >= 1);
  Index first[N] = {}, last[N] = {};

  TERRANE_FN constexpr Index size(int axis) const {
    return last[axis] > first[axis] ? last[axis] - first[axis] : 0;
  }
  TERRANE_FN constexpr Index count() const {
    Index points = 1;
    for (int a = 0; a < N; ++a) points *= size(a);
    return points;
  }
  TERRANE_FN constexpr bool empty() const { return count() == 0; }
  template <class... At>
  requires(sizeof...(At) == N) TERRANE_FN constexpr bool contains(At... at) const {
    const Index index[N] = {static_cast<Index>(at)...};
    for (int a = 0; a < N; ++a)
      if (index[a] < first[a] || index[a] >= last[a]) return false;
    return true;
  }
  /// An empty box lies in every box.
  TERRANE_FN constexpr bool contains(const IndexBox& other) const {
    if (other.empty()) return true;
    for (int a = 0; a < N; ++a)
      if (other.first[a] < first[a] || other.last[a] > last[a]) return false;
    return true;
  }
  /// The box enlarged by `points` on every side; reduced when negative.
  constexpr IndexBox grown(Index points) const {
    IndexBox box = *this;
    for (int a = 0; a < N; ++a) box = box.grown(a, points, points);
    return box;
  }
  /// The box enlarged on one axis by these numbers of points, below and above.
  constexpr IndexBox grown(int axis, Index below, Index above) const {
    IndexBox box = *this;
    box.first[axis] -= below;
    box.last[axis] += above;
    return box;
  }
  /// A copy of the box with another range on one axis.
  constexpr IndexBox with(int axis, Index from, Index to) const {
    IndexBox box = *this;
    box.first[axis] = from;
    box.last[axis] = to;
    return box;
  }
  friend constexpr bool operator==(const IndexBox&, const IndexBox&) = default;
};

/// The box [0, points) on each axis, for example index_box(up, north, east).
template <class... Points>
constexpr IndexBox<sizeof...(Points)> index_box(Points... points) {
  IndexBox<sizeof...(Points)> box;
  const Index all[] = {static_cast<Index>(points)...};
  for (std::size_t a = 0; a < sizeof...(Points); ++a) box.last[a] = all[a];
  return box;
}

/// The points that are in both boxes.
template <int N>
constexpr IndexBox<N> overlap(const IndexBox<N>& a, const IndexBox<N>& b) {
  IndexBox<N> box;
  for (int axis = 0; axis < N; ++axis) {
    box.first[axis] = std::max(a.first[axis], b.first[axis]);
    box.last[axis] = std::max(box.first[axis], std::min(a.last[axis], b.last[axis]));
  }
  return box;
}

}  // namespace terrane
