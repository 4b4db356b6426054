// Tables as text: comma, semicolon, tab or blanks between entries, units in the header.
//
//   # frame: enu
//   easting [m],northing [m],up [m],g_u [mGal]
//
// "name (unit)" is read too. Lines "# key: value" before the header are attributes. A first line of numbers
// means that there is no header: seven columns are then prisms x1 y1 z1 x2 y2 z2 rho.
#pragma once

#include <string>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Columns are returned as they are; without a header they are called column_1, column_2, ... (or x1 ... z2,
/// rho). A column with words in it becomes a TextColumn, unless it has a unit or the name of a coordinate or
/// channel: then the word is an InputError with its line.
Table read_csv(TextReader& in);
Table read_csv(const std::string& path);
void write_csv(const std::string& path, const Table& table);

}  // namespace terrane::io
