// Several files of magnetotelluric sites as one survey: an EDI file holds one site.
#pragma once

#include <string>
#include <vector>

#include "terrane/io/registry.hpp"

namespace terrane::io {

/// The files that a name stands for, in the order of their names: the EDI files of a folder, those that a
/// pattern with * and ? in its last part matches ("sites/*.edi"), or the file of this name itself. Throws
/// FileError: there is none.
std::vector<std::string> files_named(const std::string& path);

/// The sites of several files as one table. Where a file has no column that others have, it has gaps. Throws
/// InputError: a file holds no sites; some give longitudes and latitudes and others local coordinates; of
/// several one gives no place; two have a site of one name at different places.
Table read_sites(const std::vector<std::string>& files, const ReadOptions& options = {});

}  // namespace terrane::io
