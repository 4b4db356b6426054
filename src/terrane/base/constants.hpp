// Physical and mathematical constants, SI.
#pragma once

#include <limits>

namespace terrane {

/// Gravitational constant, m³ kg⁻¹ s⁻², CODATA 2018. Other programs use 6.67384e-11 (UBC-GIF), 6.674e-11 or
/// 6.673e-11.
inline constexpr double default_gravitational_constant = 6.67430e-11;

/// The value of data that were not measured or cannot be computed.
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline constexpr double pi = 3.14159265358979323846264338327950288;

}  // namespace terrane
