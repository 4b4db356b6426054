// Distances in memory between the elements of an array, for a box of indices without an array.
#pragma once

#include "terrane/parallel/arrays/index_box.hpp"

namespace terrane {

/// The strides of a row-major array over a box: the last axis is contiguous.
template <int N>
struct Strides {
  Index along[N] = {};

  /// Number of elements in memory from one index of the axis to the next.
  constexpr Index operator[](int axis) const { return along[axis]; }
  /// Offset of the element with these indices, at[axis], from the element with indices 0 (which need not
  /// exist).
  template <class At>
  constexpr Index to(const At& at) const {
    Index offset = 0;
    for (int a = 0; a < N; ++a) offset += at[static_cast<std::size_t>(a)] * along[a];
    return offset;
  }
};

template <int N>
constexpr Strides<N> strides(const IndexBox<N>& box) {
  Strides<N> made;
  made.along[N - 1] = 1;
  for (int a = N - 2; a >= 0; --a) made.along[a] = made.along[a + 1] * box.size(a + 1);
  return made;
}

}  // namespace terrane
