// Extended precision: long double. On x86 it has 64 bits of mantissa in hardware, 11 more than double. The
// accuracy "best" uses it close to a prism, where the closed-form expressions lose a few bits. Host only. On
// machines where long double is no wider than double (extended_is_wider is false), those bits are lost.
#pragma once

#include <cmath>
#include <limits>

namespace terrane {

using Extended = long double;
inline constexpr bool extended_is_wider =
    std::numeric_limits<Extended>::digits > std::numeric_limits<double>::digits;

inline Extended square_root(Extended x) { return std::sqrt(x); }
inline Extended natural_log(Extended x) { return std::log(x); }
inline Extended log_one_plus(Extended x) { return std::log1p(x); }
inline Extended arctangent(Extended y, Extended x) { return std::atan2(y, x); }
inline Extended with_sign_of(Extended magnitude, Extended sign) { return std::copysign(magnitude, sign); }
inline Extended reciprocal(Extended x) { return 1 / x; }
inline Extended inverse_square_root(Extended x) { return 1 / square_root(x); }
inline Extended select(bool condition, Extended yes, Extended no) { return condition ? yes : no; }
inline Extended minimum(Extended a, Extended b) { return a < b ? a : b; }
inline Extended maximum(Extended a, Extended b) { return a > b ? a : b; }
inline Extended absolute(Extended x) { return std::fabs(x); }

// The C library's functions replace the polynomials of math/elementary.hpp.
inline Extended log_ratio(const Extended& a, const Extended& b) { return natural_log(a / b); }
inline Extended two_artanh(const Extended& n, const Extended& d) { return log_one_plus(2 * n / (d - n)); }
inline Extended two_artanh_small(const Extended& n, const Extended& d) { return two_artanh(n, d); }
inline Extended angle(const Extended& y, const Extended& x) { return arctangent(y, x); }
inline Extended angle_small(const Extended& y, const Extended& x) { return arctangent(y, x); }

}  // namespace terrane
