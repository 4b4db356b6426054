// Tables of airborne and ground surveys.
//
//   Geosoft XYZ   lines of numbers under "Line 10", "Tie 20" or "Random 1"; comments begin with "/", and the
//   last of
//                 them that has a word for each column names the columns; "*" is a gap. No units.
//   ASEG-GDF2     columns of fixed width in a file .dat, with a file .dfn beside it that says their names,
//   widths,
//                 units and null values; all of these are applied, other kinds of records skipped.
#pragma once

#include <string>
#include <string_view>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Whether first bytes are those of a Geosoft XYZ file: comments after "/", then a line of the survey.
bool begins_geosoft_xyz(std::string_view head);
/// Columns by the names of the file, else column_1, ...; `line` says which line of the survey a row is of.
/// Throws InputError: rows of other lengths, no number.
Table read_geosoft(TextReader& in);

/// The definition that lies beside a file .dat; empty where there is none.
std::string aseg_definition(const std::string& path);
/// Throws InputError: a definition that cannot be read, a line shorter than it says, no number in a field.
Table read_aseg(TextReader& in, TextReader& definition);

}  // namespace terrane::io
