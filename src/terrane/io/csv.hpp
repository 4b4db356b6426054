// Tables as text: entries separated by comma, semicolon, tab or blanks; units in the header.
//
//   # frame: enu
//   easting [m],northing [m],up [m],g_u [mGal]
//
// "name (unit)" is read too. Lines "# key: value" before the header are attributes. If the first line has
// numbers, there is no header; seven columns are then prisms x1 y1 z1 x2 y2 z2 rho.
#pragma once

#include <string>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Columns keep their units; without a header they are named column_1, column_2, ... (or x1 ... z2, rho). A
/// column that contains words becomes a TextColumn; if the column has a unit or the name of a coordinate or
/// channel, a word is an InputError with its line.
Table read_csv(TextReader& in);
Table read_csv(const std::string& path);
void write_csv(const std::string& path, const Table& table);

}  // namespace terrane::io
