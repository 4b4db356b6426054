// Tomofast-x text files: x east, y north, z down, SI units (data m/s², density kg/m³). Files in which x
// points north are mirrored, which does not change gravity's vertical component.
#pragma once

#include <string>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// N, then "x1 x2 y1 y2 z1 z2 i j k", or with the density before i j k. Prisms without one get density 0.
PrismData read_tomofast_grid(TextReader& in);
PrismData read_tomofast_grid(const std::string& path);
/// N, then "x y z value": columns easting, northing, up (m) and g_u (m/s2) = -value.
Table read_tomofast_data(TextReader& in);
Table read_tomofast_data(const std::string& path);

}  // namespace terrane::io
