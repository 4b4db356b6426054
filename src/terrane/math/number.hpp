// The functions that formulas need for a number type, in addition to arithmetic and comparison; here for
// double and float. math/pack.hpp has the same for SIMD packs, math/quad.hpp for quadruple precision.
//
// On a GPU, reciprocals and roots start from the hardware's approximation (20 bits or more) and apply one
// iteration of third order. For normal numbers, the only ones that formulas need, the error is at most one
// unit in the last place. CUDA's library functions, which also handle all other numbers, need three times
// as many instructions.
#pragma once

#include <cmath>
#include <cstdint>

#include "terrane/base/function.hpp"

namespace terrane {

TERRANE_FN double select(bool condition, double yes, double no) { return condition ? yes : no; }
TERRANE_FN double minimum(double a, double b) { return a < b ? a : b; }
TERRANE_FN double maximum(double a, double b) { return a > b ? a : b; }
TERRANE_FN double absolute(double x) { return std::fabs(x); }
#if defined(__CUDA_ARCH__)
TERRANE_FN double reciprocal(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = fma(-x, y, 1.0);
  return fma(y, fma(e, e, e), y);
}
TERRANE_FN double inverse_square_root(double x) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = fma(-(x * y), y, 1.0);
  return fma(y * e, fma(e, 0.375, 0.5), y);
}
TERRANE_FN double square_root(double x) {
  const double y = inverse_square_root(x < 1e-300 ? 1e-300 : x), r = x * y;
  return fma(fma(-r, r, x), 0.5 * y, r);
}
TERRANE_FN double quotient(double n, double d) {
  const double r = reciprocal(d), q = n * r;
  return fma(fma(-d, q, n), r, q);
}
TERRANE_FN float reciprocal(float x) { return __frcp_rn(x); }
/// For squares of distances, which are above 1e-38: handling smaller numbers would need three more
/// instructions.
TERRANE_FN float inverse_square_root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
TERRANE_FN float square_root(float x) { return __fsqrt_rn(x); }
TERRANE_FN float quotient(float n, float d) { return __fdividef(n, d); }
#else
TERRANE_FN double reciprocal(double x) { return 1.0 / x; }
TERRANE_FN double square_root(double x) { return std::sqrt(x); }
TERRANE_FN double inverse_square_root(double x) { return 1.0 / std::sqrt(x); }
TERRANE_FN double quotient(double n, double d) { return n / d; }
TERRANE_FN float reciprocal(float x) { return 1.0F / x; }
TERRANE_FN float square_root(float x) { return std::sqrt(x); }
TERRANE_FN float inverse_square_root(float x) { return 1.0F / std::sqrt(x); }
TERRANE_FN float quotient(float n, float d) { return n / d; }
#endif
TERRANE_FN double with_sign_of(double magnitude, double sign) { return std::copysign(magnitude, sign); }
TERRANE_FN float select(bool condition, float yes, float no) { return condition ? yes : no; }
TERRANE_FN float minimum(float a, float b) { return a < b ? a : b; }
TERRANE_FN float maximum(float a, float b) { return a > b ? a : b; }
TERRANE_FN float absolute(float x) { return std::fabs(x); }
TERRANE_FN float with_sign_of(float magnitude, float sign) { return std::copysign(magnitude, sign); }
TERRANE_FN bool any(bool b) { return b; }
TERRANE_FN bool all(bool b) { return b; }

/// The result of scale_towards(): exponent k and value b · 2ᵏ.
template <class T>
struct Scaled {
  T exponent, value;
};

/// Finds, for positive a and b, the k with 0.66 < a / (b · 2ᵏ) < 1.51.
/// The bits of a positive double x, read as an integer, equal 2⁵² · log₂ x + constant to within 0.0861 · 2⁵²;
/// k is the difference of these integers for a and b, divided by 2⁵² and rounded.
TERRANE_FN Scaled<double> scale_towards(double a, double b) {
  constexpr std::int64_t one = std::int64_t{1} << 52;
  const auto bits_a = __builtin_bit_cast(std::int64_t, a);
  const auto bits_b = __builtin_bit_cast(std::int64_t, b);
  const std::int64_t shift = (bits_a - bits_b + one / 2) & -one;  // k · 2⁵², k as above
  return {static_cast<double>(shift) * 0x1p-52, __builtin_bit_cast(double, bits_b + shift)};
}

}  // namespace terrane
