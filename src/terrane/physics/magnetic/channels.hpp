// The channels that the magnetic physics computes, and their names in other programs.
#pragma once

#include <array>
#include <string_view>

#include "terrane/survey/convention.hpp"

namespace terrane::magnetic {

/// Components of B along easting, northing and up, the total-field anomaly, and |B|.
enum class Channel { b_e, b_n, b_u, tmi, b_amplitude };

inline constexpr std::array<std::string_view, 5> channel_names{"b_e", "b_n", "b_u", "tmi", "b_amplitude"};

/// The names and axes of each convention: enu: b_e b_n b_u tmi b_amplitude.  harmonica: the same.  simpeg: bx
/// by bz tmi, z up.  ubc: bx north, by east, bz down. Values are in nT, or in T for si units.
const Conventions& conventions();

}  // namespace terrane::magnetic
