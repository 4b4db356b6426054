// Conversion between longitude, latitude (degrees, WGS84) and easting, northing (metres), using PROJ.
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

/// A map projection. It always converts longitude, latitude in degrees to easting, northing in metres,
/// whatever order, direction or unit of axes the definition prescribes. A Projection is cheap to copy;
/// several threads may use it at once.
class Projection {
 public:
  /// definition: an EPSG code ("EPSG:32735"), a PROJ string ("+proj=laea +lat_0=-25 +lon_0=28"), or WKT of a
  /// projected system. Throws InputError if PROJ does not know it or it is not a projected system.
  explicit Projection(const std::string& definition);

  /// Like the constructor, but the definition "utm" means the UTM zone of the mean of the points.  longitude,
  /// latitude [n] degrees
  static Projection for_points(const std::string& definition, std::span<const double> longitude,
                               std::span<const double> latitude);

  /// The definition, with "utm" replaced by the EPSG code: the value for Survey::projection.
  const std::string& definition() const noexcept;

  /// All arrays [n]; output arrays may be the input arrays. Throws ShapeError (lengths differ), InputError
  /// that names the definition and the first row (counted from 1) that cannot be projected.
  void forward(std::span<const double> longitude, std::span<const double> latitude, std::span<double> easting,
               std::span<double> northing) const;
  void inverse(std::span<const double> easting, std::span<const double> northing, std::span<double> longitude,
               std::span<double> latitude) const;

 private:
  friend Grid project_grid(const Grid&, const Projection&, std::array<double, 2>, const Region*);
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// The UTM zone of the mean of some points: "EPSG:32735" if it is at 28°E in the southern hemisphere. Points
/// on both sides of the date line are averaged correctly. Throws InputError (no points; beyond 84°N or 80°S).
std::string utm_zone(std::span<const double> longitude, std::span<const double> latitude);

/// Projects a survey in place, whose easting and northing are longitude and latitude: adds columns
/// "longitude" and "latitude", sets the projection, and removes the grid (its lines become curved).
void project(Survey& survey, const Projection& projection);

/// The smallest rectangle around the projected edge of a geographic grid.
Region projected_region(const Grid& geographic, const Projection& projection);

/// A geographic grid resampled onto evenly spaced nodes in the plane, bilinearly in longitude and latitude;
/// NaN outside the source grid and next to its gaps.
///
/// Cells of a geographic grid are not rectangles in the plane: used as prisms they would leave gaps and
/// overlap. Cells of evenly spaced nodes tile exactly. The scale error of the projection remains: choose a
/// projection that is true to scale near the stations, and for regions wider than about five degrees an
/// equal-area one (+proj=laea +lat_0= +lon_0= at the middle), so that masses are conserved. spacing {east,
/// north} m: 0 means the spacing of the source grid at the middle of the region. region: the part to
/// resample, with edges moved outward to multiples of the spacing; null: the whole grid. Throws InputError:
/// the grid is not geographic, spacing is negative or NaN, more than 1e9 nodes.
Grid project_grid(const Grid& geographic, const Projection& projection,
                  std::array<double, 2> spacing = {0, 0}, const Region* region = nullptr);

/// Converts heights above sea level to heights above the ellipsoid by adding the geoid height. longitude,
/// latitude [n] degrees · height [n] m; geoid: a geographic grid, m. Longitudes from −180 to 180 or from 0
/// to 360 can be combined with either kind of grid. Throws InputError (a station outside the geoid grid, with
/// its row).
std::vector<double> ellipsoidal_height(std::span<const double> longitude, std::span<const double> latitude,
                                       std::span<const double> height, const Grid& geoid);

}  // namespace terrane
