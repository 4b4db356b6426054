// Compressed variables of NetCDF files that are built in memory: netCDF defines them, and all threads
// compress their numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "terrane/io/deflated.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Sets up a variable that was just defined so that store_deflated() can write it.  shape: its number of
/// entries along each dimension; out: the description of the variable, without its numbers.  Returns netCDF's
/// status.
int define_deflated(int file, int variable, std::vector<std::size_t> shape, Deflated& out);

/// Closes a netCDF file in memory, adds the numbers of its variables, and writes it to `out`. The caller
/// holds LibraryLock.  Throws FileError.
void write_closed(int file, const std::vector<Deflated>& all, AtomicFile& out);

/// Throws FileError if the status that netCDF returned while a file was written is an error.
void check_written(int status, const std::string& path);

}  // namespace terrane::io
