// Compressed variables of NetCDF files that are built in memory: netCDF defines them, and threads deflate
// their numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "terrane/io/deflated.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Makes a variable that was just defined one that store_deflated() writes.  shape: of its numbers; out: the
/// variable, without its numbers.  Returns netCDF's status.
int define_deflated(int file, int variable, std::vector<std::size_t> shape, Deflated& out);

/// Closes a file of netCDF in memory, adds the numbers of its variables, and writes all to `out`. LibraryLock
/// is held.  Throws FileError.
void write_closed(int file, const std::vector<Deflated>& all, AtomicFile& out);

/// Throws FileError for a status of netCDF that is an error, while a file is written.
void check_written(int status, const std::string& path);

}  // namespace terrane::io
