// Quadruple precision: for references and checks, never for speed. Host only. Where the compiler has no
// 128-bit type with a library (Clang), long double is used; on 64-bit Arm that is quadruple precision too.
#pragma once

#include "terrane/math/extended.hpp"

#if defined(__GNUC__) && !defined(__clang__) && __has_include(<quadmath.h>)
#include <quadmath.h>
#define TERRANE_QUADMATH 1
#endif

namespace terrane {

#if defined(TERRANE_QUADMATH)
__extension__ typedef __float128 Quad;
inline Quad square_root(Quad x) { return sqrtq(x); }
inline Quad natural_log(Quad x) { return logq(x); }
inline Quad log_one_plus(Quad x) { return log1pq(x); }
inline Quad arctangent(Quad y, Quad x) { return atan2q(y, x); }

inline Quad reciprocal(Quad x) { return 1 / x; }
inline Quad inverse_square_root(Quad x) { return 1 / square_root(x); }
inline Quad select(bool condition, Quad yes, Quad no) { return condition ? yes : no; }
inline Quad minimum(Quad a, Quad b) { return a < b ? a : b; }
inline Quad maximum(Quad a, Quad b) { return a > b ? a : b; }
inline Quad absolute(Quad x) { return x < 0 ? -x : x; }

// The library's functions replace the polynomials of math/elementary.hpp, so that a formula in quadruple
// precision shares none of their approximations.
inline Quad log_ratio(const Quad& a, const Quad& b) { return natural_log(a / b); }
inline Quad two_artanh(const Quad& n, const Quad& d) { return log_one_plus(2 * n / (d - n)); }
inline Quad two_artanh_small(const Quad& n, const Quad& d) { return two_artanh(n, d); }
inline Quad angle(const Quad& y, const Quad& x) { return arctangent(y, x); }
inline Quad angle_small(const Quad& y, const Quad& x) { return arctangent(y, x); }
#else
using Quad = Extended;
#endif

}  // namespace terrane
