// Map projections in words that other programs read.
#pragma once

#include <string>

namespace terrane {

/// The coordinate reference system of an EPSG code, a PROJ string or WKT as WKT 2 (ISO 19162), for
/// eastings and northings in metres. Empty where PROJ does not know it, and where its axes are in other units
/// or run to the west or south: such numbers would not be Terrane's.
std::string crs_wkt(const std::string& definition);

}  // namespace terrane
