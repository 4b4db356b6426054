// Long lists whose numbers are not initialised before threads write them.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace terrane {

/// An allocator whose numbers are not initialised.
template <class T>
struct Unset : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T>);
  template <class U>
  struct rebind {
    using other = Unset<U>;
  };
  Unset() = default;
  template <class U>
  Unset(const Unset<U>& other) noexcept : std::allocator<T>(other) {}
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
  }
};

/// A list whose new numbers are not initialised: the threads that write them are the first to touch their
/// pages.
template <class T>
using UnsetList = std::vector<T, Unset<T>>;

}  // namespace terrane
