// The SIMD number type of the kernels: as many doubles as fit the widest register of the instruction set
// for which the file is compiled. A formula written on a number type T runs on a Pack unchanged.
//
// std::experimental::native_simd is a different type for every instruction set, so templates compiled several
// times for run-time dispatch never collide at link time. Only libstdc++ has all of it; with other libraries,
// or if TERRANE_OWN_LANES is defined, math/lanes.hpp replaces it.
#pragma once

#include <cstddef>  // defines the macro that names the standard library

#include "terrane/math/lanes.hpp"
#include "terrane/math/number.hpp"

#if defined(__GLIBCXX__) && !defined(TERRANE_OWN_LANES)
#include <experimental/simd>

namespace terrane {

using Pack = std::experimental::native_simd<double>;
using PackMask = Pack::mask_type;

inline constexpr std::experimental::element_aligned_tag element_aligned{};
inline constexpr std::experimental::vector_aligned_tag vector_aligned{};
TERRANE_FN double sum_of_lanes(const Pack& x) { return std::experimental::reduce(x); }
TERRANE_FN double least_lane(const Pack& x) { return std::experimental::hmin(x); }

TERRANE_FN Pack select(const PackMask& condition, const Pack& yes, const Pack& no) {
  Pack result = no;
  where(condition, result) = yes;
  return result;
}
TERRANE_FN Pack minimum(const Pack& a, const Pack& b) { return std::experimental::min(a, b); }
TERRANE_FN Pack maximum(const Pack& a, const Pack& b) { return std::experimental::max(a, b); }
TERRANE_FN Pack absolute(const Pack& x) { return std::experimental::abs(x); }
TERRANE_FN Pack square_root(const Pack& x) { return std::experimental::sqrt(x); }
TERRANE_FN Pack reciprocal(const Pack& x) { return Pack(1.0) / x; }
TERRANE_FN Pack inverse_square_root(const Pack& x) { return Pack(1.0) / std::experimental::sqrt(x); }
TERRANE_FN Pack quotient(const Pack& n, const Pack& d) { return n / d; }
TERRANE_FN Pack with_sign_of(const Pack& magnitude, const Pack& sign) {
  return std::experimental::copysign(magnitude, sign);
}
TERRANE_FN bool any(const PackMask& m) { return std::experimental::any_of(m); }
TERRANE_FN bool all(const PackMask& m) { return std::experimental::all_of(m); }

TERRANE_FN Scaled<Pack> scale_towards(const Pack& a, const Pack& b) {
  using Bits = std::experimental::rebind_simd_t<std::int64_t, Pack>;
  constexpr std::int64_t one = std::int64_t{1} << 52;
  const auto bits_a = __builtin_bit_cast(Bits, a);
  const auto bits_b = __builtin_bit_cast(Bits, b);
  const Bits shift = (bits_a - bits_b + Bits(one / 2)) & Bits(-one);  // k · 2⁵², see math/number.hpp
  return {std::experimental::static_simd_cast<Pack>(shift) * Pack(0x1p-52),
          __builtin_bit_cast(Pack, Bits(bits_b + shift))};
}

}  // namespace terrane

#else

namespace terrane {

using Pack = Lanes<native_lanes>;
using PackMask = Pack::Mask;

inline constexpr ElementAligned element_aligned{};
inline constexpr VectorAligned vector_aligned{};

}  // namespace terrane

#endif
