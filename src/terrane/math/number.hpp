// What a formula asks of its number type beyond arithmetic and comparison, for double.
// math/pack.hpp offers the same for SIMD packs, math/quad.hpp for quadruple precision.
#pragma once

#include <cmath>
#include <cstdint>

#include "terrane/base/function.hpp"

namespace terrane {

TERRANE_FN double select(bool condition, double yes, double no) { return condition ? yes : no; }
TERRANE_FN double minimum(double a, double b) { return a < b ? a : b; }
TERRANE_FN double maximum(double a, double b) { return a > b ? a : b; }
TERRANE_FN double absolute(double x) { return std::fabs(x); }
TERRANE_FN double square_root(double x) { return std::sqrt(x); }
TERRANE_FN double reciprocal(double x) { return 1.0 / x; }
TERRANE_FN double with_sign_of(double magnitude, double sign) { return std::copysign(magnitude, sign); }
TERRANE_FN bool any(bool b) { return b; }
TERRANE_FN bool all(bool b) { return b; }

/// k, and b · 2ᵏ.
template <class T>
struct Scaled {
  T exponent, value;
};

/// For positive a and b: the k with 0.66 < a / (b · 2ᵏ) < 1.51.
/// The bits of a positive double, read as an integer, are 2⁵² · log₂ of it to within 0.0861 · 2⁵².
TERRANE_FN Scaled<double> scale_towards(double a, double b) {
  constexpr std::int64_t one = std::int64_t{1} << 52;
  const auto bits_a = __builtin_bit_cast(std::int64_t, a);
  const auto bits_b = __builtin_bit_cast(std::int64_t, b);
  const std::int64_t shift = (bits_a - bits_b + one / 2) & -one;  // k · 2⁵²
  return {static_cast<double>(shift) * 0x1p-52, __builtin_bit_cast(double, bits_b + shift)};
}

}  // namespace terrane
