// Elementary functions that keep relative accuracy where the C library would need two calls or a branch.
//
// The same source serves scalars, SIMD packs (math/pack.hpp) and the device: no table, no branch, one
// division in each function. The polynomials are Chebyshev fits, made by tools/fit_elementary.py;
// tests/unit/math_elementary.cpp checks the errors against quadruple precision.
#pragma once

#include "terrane/math/number.hpp"
#if !defined(__CUDACC__)
#include "terrane/math/pack.hpp"
#include "terrane/math/quad.hpp"
#endif

namespace terrane {

// ---- polynomials ------------------------------------------------------------------------------------------

namespace detail {

/// Horner's scheme, lowest coefficient first.
template <class T>
TERRANE_FN T polynomial(const T&, double c) {
  return T(c);
}
template <class T, class... More>
TERRANE_FN T polynomial(const T& z, double c, double next, More... more) {
  return polynomial(z, next, more...) * z + T(c);
}

/// (2 artanh s − 2 s) / s³ for z = s² ≤ 0.0455; error in 2 artanh s: 2e-18 relative.
template <class T>
TERRANE_FN T artanh_tail(const T& z) {
  return polynomial(z, 0.6666666666666666, 0.4000000000001962, 0.28571428562388285, 0.22222223806657052,
                    0.18181682106561464, 0.15390939490351346, 0.13171598029539003, 0.13883147221082398);
}

/// (arctan s − s) / s³ for z = s² ≤ tan²(π/8); error in arctan s: 7e-18 relative.
template <class T>
TERRANE_FN T arctan_tail(const T& z) {
  return polynomial(z, -0.3333333333333333, 0.19999999999995519, -0.14285714284666184, 0.11111111015227572,
                    -0.09090904576954117, 0.07692183163650894, -0.06664511064599371, 0.05858145587628202,
                    -0.050854323376990765, 0.0392311556198723, -0.01917627151752634);
}

/// (arctan s − s) / s³ for z = s² ≤ 0.0745; error in arctan s: 2e-18 relative.
template <class T>
TERRANE_FN T arctan_tail_small(const T& z) {
  return polynomial(z, -0.3333333333333333, 0.19999999999995854, -0.14285714284226805, 0.11111110905290658,
                    -0.09090894788822913, 0.0769174734064734, -0.06653689154136967, 0.057050243041571594,
                    -0.039167210895964706);
}

// the first 41 bits of ln 2: its product with an integer below 2¹² is exact
inline constexpr double ln2_high = 0x1.62e42fefa38p-1;
inline constexpr double ln2_low = 0x1.ef35793c7673p-45;  // ln 2 − ln2_high

}  // namespace detail

// ---- the functions ----------------------------------------------------------------------------------------

/// ln(a / b) for a and b from 1e-300 to 7e307; accurate also if a ≈ b: it is computed from a − b, which is
/// exact for such numbers.
template <class T>
TERRANE_FN T log_ratio(const T& a, const T& b) {
  const auto [k, c] = scale_towards(a, b);
  const T s = quotient(a - c, a + c), z = s * s;
  return k * T(detail::ln2_high) + (T(2) * s + (s * z * detail::artanh_tail(z) + k * T(detail::ln2_low)));
}

/// 2 artanh(n / d) for |n| < d, to full relative accuracy for small and for large n / d.
template <class T>
TERRANE_FN T two_artanh(const T& n, const T& d) {
  const T a = d + n, b = d - n;
  const auto [k, c] = scale_towards(a, b);
  const auto near_one = k == T(0);
  const T s = quotient(select(near_one, n + n, a - c), select(near_one, d + d, a + c)), z = s * s;
  return k * T(detail::ln2_high) + (T(2) * s + (s * z * detail::artanh_tail(z) + k * T(detail::ln2_low)));
}

/// 2 artanh(n / d) for |n / d| ≤ 0.213.
template <class T>
TERRANE_FN T two_artanh_small(const T& n, const T& d) {
  const T s = quotient(n, d), z = s * s;
  return T(2) * s + s * z * detail::artanh_tail(z);
}

/// The angle between the x axis and the direction to the point (x, y), in (−π, π]; 0 at the origin.
template <class T>
TERRANE_FN T angle(const T& y, const T& x) {
  const T ax = absolute(x), ay = absolute(y);
  const T big = maximum(ax, ay), small = minimum(ax, ay);
  const auto turned = small > big * T(0.41421356237309504880);  // tan(π/8)
  const T n = select(turned, small - big, small);
  const T d = maximum(select(turned, small + big, big), T(1e-300));
  const T s = quotient(n, d), z = s * s;
  T w = s + s * z * detail::arctan_tail(z);
  w = select(turned, w + T(0.78539816339744830962), w);
  w = select(ay > ax, T(1.57079632679489661923) - w, w);
  w = select(x < T(0), T(3.14159265358979323846) - w, w);
  return with_sign_of(w, y);
}

/// angle() for |y / x| ≤ 0.273 and x > 0.
template <class T>
TERRANE_FN T angle_small(const T& y, const T& x) {
  const T s = quotient(y, x), z = s * s;
  return s + s * z * detail::arctan_tail_small(z);
}

}  // namespace terrane
