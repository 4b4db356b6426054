// Tomofast-x text files: x east, y north, z down, SI units (data m/s², density kg/m³). Files with x to the
// north are read as a mirror image, which does not change the vertical component of gravity.
#pragma once

#include <string>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Reads N, then N lines "x1 x2 y1 y2 z1 z2 i j k", or with the density before i j k. Prisms without a
/// density get 0.
PrismData read_tomofast_grid(TextReader& in);
PrismData read_tomofast_grid(const std::string& path);
/// Reads N, then N lines "x y z value": columns easting, northing, up (m) and g_u (m/s2) = -value.
Table read_tomofast_data(TextReader& in);
Table read_tomofast_data(const std::string& path);

}  // namespace terrane::io
