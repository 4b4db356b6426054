// Conversion between longitude, latitude (degrees, WGS84) and easting, northing (metres), by PROJ.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "terrane/mesh/grid.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

/// West, east, south, north, in metres.
struct Region {
  double west = 0, east = 0, south = 0, north = 0;
};

/// A map projection. Axes are always longitude, latitude → easting, northing, in degrees and metres,
/// whatever order, direction or unit the definition prescribes. A Projection is cheap to copy, and several
/// threads may use it at once.
class Projection {
 public:
  /// An EPSG code ("EPSG:32735"), a PROJ string ("+proj=laea +lat_0=-25 +lon_0=28"), or WKT of a projected
  /// system. Throws InputError when PROJ does not know it, or it is not a projected system.
  explicit Projection(const std::string& definition);

  /// As above; "utm" stands for the UTM zone of the points' mean.  longitude, latitude [n] degrees
  static Projection for_points(const std::string& definition, std::span<const double> longitude,
                               std::span<const double> latitude);

  /// The definition, with "utm" replaced by the EPSG code: the value for Survey::projection.
  const std::string& definition() const noexcept;

  /// All arrays [n]; output may be the input. Throws ShapeError (lengths differ), InputError that names the
  /// definition and the first row (counted from 1) that cannot be projected.
  void forward(std::span<const double> longitude, std::span<const double> latitude, std::span<double> easting,
               std::span<double> northing) const;
  void inverse(std::span<const double> easting, std::span<const double> northing, std::span<double> longitude,
               std::span<double> latitude) const;

 private:
  friend Grid project_grid(const Grid&, const Projection&, std::array<double, 2>, const Region*);
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// "EPSG:32735" for points whose mean lies at 28°E in the southern hemisphere. The mean takes account of the
/// date line. Throws InputError (no points, beyond 84°N or 80°S).
std::string utm_zone(std::span<const double> longitude, std::span<const double> latitude);

/// Reads a survey's easting and northing as longitude and latitude and projects them in place: columns
/// "longitude" and "latitude" are added, projection is set, a grid is dropped (its lines bend).
void project(Survey& survey, const Projection& projection);

/// The rectangle around a geographic grid's edge after projection.
Region projected_region(const Grid& geographic, const Projection& projection);

/// A geographic grid resampled onto even nodes in the plane, bilinearly in longitude and latitude; NaN
/// outside the source and beside its gaps.
///
/// Cells of a geographic grid are not rectangles in the plane: as prisms they would leave gaps and overlap.
/// Cells of evenly spaced nodes tile exactly. The scale error of the projection remains: choose one that is
/// true near the stations, and equal-area
/// (+proj=laea +lat_0= +lon_0= at the middle) for regions wider than about five degrees, so that masses are
/// kept. spacing {east, north} m: 0 chooses the source's own spacing at the middle of the grid. region:
/// absent, all of the source; the region's edges are moved outward to whole spacings. Throws InputError: the
/// grid is not geographic, spacing is negative or NaN, more than 1e9 nodes.
Grid project_grid(const Grid& geographic, const Projection& projection,
                  std::array<double, 2> spacing = {0, 0}, const Region* region = nullptr);

/// Height above the ellipsoid = height above sea level + geoid height there.
/// longitude, latitude [n] degrees · height [n] m · geoid: a geographic grid, m. Longitudes of either
/// convention (−180 … 180, 0 … 360) fit either grid. Throws InputError (a station outside the geoid grid,
/// with its row).
std::vector<double> ellipsoidal_height(std::span<const double> longitude, std::span<const double> latitude,
                                       std::span<const double> height, const Grid& geoid);

}  // namespace terrane
