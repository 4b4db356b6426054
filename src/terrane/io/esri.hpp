// ESRI ASCII grid (.asc): square cells, rows from north to south; values are at cell centres.
//
//   ncols, nrows                  applied
//   xllcorner, yllcorner          applied: half a cell outside the first centre
//   xllcenter, yllcenter          applied: the first centre
//   xurcorner, yurcorner          refused if they contradict the others
//   corners such as "12°40'E"     applied: the grid is geographic
//   cellsize; dx and dy           applied
//   NODATA_value, nodata          applied, however it was rounded; without it -9999 is a gap, with a note
//   unit of coordinates           not in the format; of a .prj beside the file (beside_grid.hpp), or metres
//   are
//                                 assumed (unit_is_assumed)
#pragma once

#include <string>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

GridData read_esri(TextReader& in);
GridData read_esri(const std::string& path);
/// Throws InputError if spacings along both axes differ (by more than 1e-6 of a cell), or if `field` is empty
/// and there are several fields. Gaps are written as a value that no node has.
void write_esri(const std::string& path, const GridData& grid, const std::string& field = {});

/// Throws what write_esri would throw; fields may be without values.
void check_esri(const std::string& path, const GridData& grid, const std::string& field = {});

}  // namespace terrane::io
