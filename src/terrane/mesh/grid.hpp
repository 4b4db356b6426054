// A regular or rectilinear horizontal grid with one value per node: elevations, thicknesses, maps.
#pragma once

#include <cstddef>
#include <string>
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
  /// Bilinear interpolation; NaN outside the grid and next to a gap.
  double interpolate(double easting_at, double northing_at) const noexcept;
};

/// Throws ShapeError (values do not fill the axes), InputError (an axis is empty, not finite or does not
/// ascend strictly; an infinite value). `where` opens the message.
void check(const Grid& grid, const std::string& where);

}  // namespace terrane
