// A view of an array in memory: on the host, or on a device, where only code that runs there may read it.
//
// Arrays are row-major: the last index is contiguous. A view of two or more dimensions is indexed by the
// indices of its box, which need not begin at 0: a rank's part of a field, with its halo, is indexed by the
// indices of the whole problem. Debug builds assert that an index lies in the box.
#pragma once

#include <cassert>
#include <cstddef>
#include <type_traits>

#include "terrane/base/function.hpp"
#include "terrane/parallel/arrays/index_box.hpp"

namespace terrane {

/// View<T, N> with N ≥ 2:  v(k, j, i) is the element at these indices of box().
template <class T, int N = 1>
struct View {
  View() = default;
  /// The elements of `box`, one after the other in memory, beginning at `first`.
  TERRANE_FN View(T* first, const IndexBox<N>& box) : box_(box) {
    stride_[N - 1] = 1;
    for (int a = N - 2; a >= 0; --a) stride_[a] = stride_[a + 1] * box.size(a + 1);
    zero_ = first == nullptr ? first : first - offset_of(box.first);  // null stays null
  }
  /// A view for writing converts to one for reading.
  template <class Other>
  requires std::is_same_v<const Other, T> TERRANE_FN View(const View<Other, N>& other)
      : View(other.zero_, other.box_, other.stride_) {}

  template <class... At>
  requires(sizeof...(At) == N) TERRANE_FN T& operator()(At... at) const {
    assert(box_.contains(at...));
    const Index index[N] = {static_cast<Index>(at)...};
    return zero_[offset_of(index)];
  }

  TERRANE_FN const IndexBox<N>& box() const { return box_; }
  /// Number of elements from one index of an axis to the next; 1 on the last axis.
  TERRANE_FN Index stride(int axis) const { return stride_[axis]; }
  /// The element at the lower end of every axis.
  TERRANE_FN T* first() const { return zero_ + offset_of(box_.first); }
  /// A view of those elements that are in `box`, under their indices.
  TERRANE_FN View part(const IndexBox<N>& box) const {
    assert(box_.contains(box));
    return View(zero_, box, stride_);
  }
  /// The elements with this index on the first axis.
  TERRANE_FN View<T, N - 1> slice(Index at) const requires(N >= 2) {
    assert(at >= box_.first[0] && at < box_.last[0]);
    if constexpr (N == 2) {
      return View<T, 1>(zero_ + at * stride_[0] + box_.first[1], {{box_.first[1]}, {box_.last[1]}});
    } else {
      IndexBox<N - 1> box;
      Index stride[N - 1];
      for (int a = 1; a < N; ++a) {
        box.first[a - 1] = box_.first[a];
        box.last[a - 1] = box_.last[a];
        stride[a - 1] = stride_[a];
      }
      return View<T, N - 1>(zero_ + at * stride_[0], box, stride);
    }
  }
  /// A view of the same elements, with indices that begin at `first`.
  TERRANE_FN View renumbered(const Index (&first)[N]) const {
    View view = *this;
    view.zero_ = this->first();
    for (int a = 0; a < N; ++a) {
      view.box_.first[a] = first[a];
      view.box_.last[a] = first[a] + box_.size(a);
      view.zero_ -= first[a] * stride_[a];
    }
    return view;
  }

 private:
  template <class, int>
  friend struct View;
  TERRANE_FN View(T* zero, const IndexBox<N>& box, const Index (&stride)[N]) : zero_(zero), box_(box) {
    for (int a = 0; a < N; ++a) stride_[a] = stride[a];
  }
  TERRANE_FN Index offset_of(const Index (&index)[N]) const {
    Index offset = index[N - 1];
    for (int a = 0; a < N - 1; ++a) offset += index[a] * stride_[a];
    return offset;
  }

  T* zero_ = nullptr;  // address that the element with indices 0 has or would have
  IndexBox<N> box_;
  Index stride_[N] = {};
};

/// A one-dimensional view: v[n] is the n-th of `size` elements, v(i) the element with index i of box(); the
/// two agree if box() begins at 0.
template <class T>
struct View<T, 1> {
  T* data = nullptr;
  std::size_t size = 0;
  Index from = 0;  ///< index of the first element
  View() = default;
  TERRANE_FN View(T* first, std::size_t count) : data(first), size(count) {}
  TERRANE_FN View(T* first, const IndexBox<1>& box)
      : data(first), size(static_cast<std::size_t>(box.size(0))), from(box.first[0]) {}
  /// A view for writing converts to one for reading.
  template <class Other>
  requires std::is_same_v<const Other, T> TERRANE_FN View(const View<Other>& other)
      : data(other.data), size(other.size), from(other.from) {}
  TERRANE_FN T& operator[](std::size_t i) const { return data[i]; }
  TERRANE_FN T& operator()(Index i) const {
    assert(box().contains(i));
    return data[i - from];
  }
  TERRANE_FN IndexBox<1> box() const { return {{from}, {from + static_cast<Index>(size)}}; }
  TERRANE_FN Index stride(int) const { return 1; }
  TERRANE_FN T* first() const { return data; }
};

}  // namespace terrane
