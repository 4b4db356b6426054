// ESRI ASCII grid (.asc): square cells, rows from north to south; values belong to cell centres.
//
//   ncols, nrows                  applied
//   xllcorner, yllcorner          applied: half a cell outside the first centre
//   xllcenter, yllcenter          applied: the first centre
//   xurcorner, yurcorner          refused where they contradict the others
//   corners such as "12°40'E"     applied: the grid is geographic
//   cellsize; dx and dy           applied
//   NODATA_value, nodata          applied, however it was rounded; without it -9999 is a gap, and noted
//   unit of coordinates           the format has none: metres (unit_is_assumed)
#pragma once

#include <string>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

GridData read_esri(TextReader& in);
GridData read_esri(const std::string& path);
/// Throws InputError when spacings are not equal in both directions (to 1e-6 of a cell), or there is no one
/// field. A value that no node has stands for gaps.
void write_esri(const std::string& path, const GridData& grid, const std::string& field = {});

/// Throws what write_esri would; fields need no values.
void check_esri(const std::string& path, const GridData& grid, const std::string& field = {});

}  // namespace terrane::io
