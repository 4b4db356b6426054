// How far apart the elements of an array lie in memory, where there is a box of indices but no array.
#pragma once

#include "terrane/parallel/arrays/index_box.hpp"

namespace terrane {

/// Of a row-major array over a box: the last axis is contiguous.
template <int N>
struct Strides {
  Index along[N] = {};

  /// Elements from one index of an axis to the next.
  constexpr Index operator[](int axis) const { return along[axis]; }
  /// Elements from where that with indices 0 is, or would be, to that with these indices: at[axis].
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
