// A regular or rectilinear horizontal grid of nodes with one value a node: elevations, thicknesses, maps.
#pragma once

#include <cstddef>
#include <vector>

namespace terrane {

/// values[j * easting.size() + i] at (easting[i], northing[j]); both axes strictly ascending. NaN marks a
/// gap. In a geographic grid easting is the longitude and northing the latitude, in degrees.
struct Grid {
  std::vector<double> easting, northing, values;
  bool geographic = false;

  std::size_t n_east() const noexcept { return easting.size(); }
  std::size_t n_north() const noexcept { return northing.size(); }
  double at(std::size_t i, std::size_t j) const noexcept { return values[j * easting.size() + i]; }
  /// Bilinear interpolation; NaN outside the grid and beside a gap.
  double interpolate(double easting_at, double northing_at) const noexcept;
};

}  // namespace terrane
