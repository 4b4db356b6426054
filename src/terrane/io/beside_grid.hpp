// Files that other programs write beside a grid whose own format has no word for its coordinates: NAME.prj (a
// map projection as WKT, or in the older form of Arc/Info) and NAME.EXT.aux.xml (GDAL).
//
//   WKT of degrees                    applied: the grid is geographic; another prime meridian than Greenwich
//   is
//                                     refused, another datum than WGS84 is noted
//   WKT of a map                      applied: units become metres, the projection is the grid's; axes to the
//                                     west or south are refused
//   WKT of heights (VERTCS)           unit and direction applied
//   Arc/Info: Projection, Units       degrees, seconds, metres, feet and numbers applied; others refused; a
//   map
//                                     without a datum is noted
//   Arc/Info: Zunits, Xshift, Yshift  METERS, FEET and numbers applied; shifts are refused
//   .aux.xml: NoDataValue, Scale,     applied in this order, to grids without numbers of their own for this
//   Offset, UnitType                  (Surfer, ESRI); beside others NoDataValue, Scale and Offset are refused
//   .aux.xml: SRS                     as WKT in a .prj
//   .aux.xml: GeoTransform            noted
//   text that is none of these        noted
#pragma once

#include <string>
#include <string_view>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// Applies what the files beside the grid file `path` say of its values, and sets the coordinates of a grid
/// whose own file gives no unit of them (unit_is_assumed). stored: whether the grid's format has no scale and
/// offset of its own, so that values are as stored. Throws InputError, FileError with the name of the file
/// beside the grid.
void place_by_files_beside(const std::string& path, bool stored, GridData& grid);

/// Sets the coordinates of the grid according to the text of a .prj file with this name.
void place_by_prj(const std::string& name, std::string_view text, GridData& grid);

}  // namespace terrane::io
