// ESRI ASCII grid (.asc): square cells, rows from north to south; values belong to cell centres.
//
// Corners may be written as degrees and minutes ("12°40'E"): the grid is then geographic.
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
