// The annotation for functions that can be called on the host and, if compiled by nvcc, on the device.
#pragma once

#if defined(__CUDACC__)
#define TERRANE_FN __host__ __device__ __forceinline__
#else
#define TERRANE_FN inline __attribute__((always_inline))
#endif

#include <utility>

namespace terrane {

namespace detail {
template <class F, int... I>
TERRANE_FN constexpr void unrolled(const F& f, std::integer_sequence<int, I...>) {
  (f(std::integral_constant<int, I>{}), ...);
}
}  // namespace detail

/// Calls f(0), f(1), …, f(Count − 1) with the index known to the compiler, so that arrays indexed by it stay
/// in registers.
template <int Count, class F>
TERRANE_FN constexpr void unrolled(const F& f) {
  detail::unrolled(f, std::make_integer_sequence<int, Count>{});
}

}  // namespace terrane
