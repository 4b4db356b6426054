// Coordinate reference systems as text that other programs read.
#pragma once

#include <optional>
#include <string>

namespace terrane {

/// Converts an EPSG code, a PROJ string or WKT to WKT 2 (ISO 19162), for eastings and northings in metres.
/// Empty if PROJ does not know the system, or if its axes have other units or point west or south: its
/// coordinates would differ from Terrane's.
std::string crs_wkt(const std::string& definition);

/// The kind and unit of the axes of a coordinate reference system.
struct CrsAxes {
  enum class Kind { projected, geographic, vertical, other };
  Kind kind = Kind::other;
  double unit = 1;      ///< unit of the axes in metres; of a geographic system, in radians
  bool usual = false;   ///< whether the axes point east and north, or up
  double meridian = 0;  ///< longitude of the prime meridian of a geographic system, degrees east of Greenwich
};
/// The axes of the system given by an EPSG code, a PROJ string or WKT; empty if PROJ does not know it.
std::optional<CrsAxes> crs_axes(const std::string& definition);

/// The same map with axes in metres, as WKT, if those of the definition are in another unit; otherwise the
/// definition itself. Coordinates in Terrane are in metres, and so is the map that is written beside them.
std::string crs_in_metres(const std::string& definition);

}  // namespace terrane
