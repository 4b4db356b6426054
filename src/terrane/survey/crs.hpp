// Map projections as text that other programs read.
#pragma once

#include <optional>
#include <string>

namespace terrane {

/// The coordinate reference system of an EPSG code, a PROJ string or WKT as WKT 2 (ISO 19162), for
/// eastings and northings in metres. Empty where PROJ does not know it, and where its axes are in other units
/// or run to the west or south: such numbers would not be Terrane's.
std::string crs_wkt(const std::string& definition);

/// The kind and unit of the axes of a coordinate reference system.
struct CrsAxes {
  enum class Kind { projected, geographic, vertical, other };
  Kind kind = Kind::other;
  double unit = 1;     ///< unit of the axes in metres, in a geographic system in radians
  bool usual = false;  ///< true: axes run east and north, or up
};
/// The axes of the system of an EPSG code, a PROJ string or WKT; empty where PROJ does not know it.
std::optional<CrsAxes> crs_axes(const std::string& definition);

}  // namespace terrane
