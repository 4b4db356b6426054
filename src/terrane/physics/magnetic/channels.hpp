// The channels that the magnetic physics computes, and their names in other programs.
#pragma once

#include <array>
#include <string_view>

#include "terrane/survey/convention.hpp"

namespace terrane::magnetic {

/// Components of B along easting, northing and up, and the total-field anomaly.
enum class Channel { b_e, b_n, b_u, tmi };

inline constexpr std::array<std::string_view, 4> channel_names{"b_e", "b_n", "b_u", "tmi"};

/// The names and axes of each convention: enu: b_e b_n b_u tmi.  harmonica: the same.  simpeg: bx by bz tmi,
/// z up.  ubc: bx north, by east, bz down. Values are in nT, or in T for si units.
const Conventions& conventions();

}  // namespace terrane::magnetic
