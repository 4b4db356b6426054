// Several files of magnetotelluric sites combined to one survey: an EDI file holds one site.
#pragma once

#include <string>
#include <vector>

#include "terrane/io/registry.hpp"

namespace terrane::io {

/// The files that a path stands for, sorted by name: the EDI files in a folder, or the files that match a
/// pattern with * and ? in its last part ("sites/*.edi"), or the file itself. Throws FileError if there is
/// none.
std::vector<std::string> files_named(const std::string& path);

/// The sites of several files as one table; a file without a column that others have gets gaps in it. Throws
/// InputError: a file without sites; some files have longitudes and latitudes and others local coordinates;
/// one of several files has no position; two files have sites of the same name at different positions.
Table read_sites(const std::vector<std::string>& files, const ReadOptions& options = {});

}  // namespace terrane::io
