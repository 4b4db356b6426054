// Tables of airborne and ground surveys.
//
//   Geosoft XYZ   rows of numbers after lines "Line 10", "Tie 20" or "Random 1"; comments begin with "/".
//                 The last comment with one word per column has the names of the columns. "*" and the
//                 dummy -1e32 mark gaps. The format has no units.
//   ASEG-GDF2     columns of fixed width in a .dat file; the .dfn file in the same folder has their names,
//                 widths, units and null values, all of which are applied. Other records are skipped.
#pragma once

#include <string>
#include <string_view>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Whether the first bytes are those of a Geosoft XYZ file: comments after "/", then a line such as "Line
/// 10".
bool begins_geosoft_xyz(std::string_view head);
/// Columns have the names in the file, or column_1, ...; column `line` has the number of the survey line of
/// each row. Throws InputError: rows of different lengths, an entry that is no number.
Table read_geosoft(TextReader& in);

/// The path of the definition file (.dfn) in the folder of a .dat file; empty if there is none.
std::string aseg_definition(const std::string& path);
/// Throws InputError: a definition that cannot be read, a line shorter than defined, a field that is no
/// number.
Table read_aseg(TextReader& in, TextReader& definition);

}  // namespace terrane::io
