// Data sets in NetCDF-4, readable by xarray, written piece by piece.
//
// Complex values have a last dimension `complex` of size two with entries named "real" and "imag"; the
// variable's attribute `complex` marks them. Single-precision numbers, integers, bytes and texts keep their
// types.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "terrane/data/sink.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Data sets up to this size are kept in memory until finish(), then compressed and written as a whole.
/// Larger ones are written to disk piece by piece, uncompressed; disk space is reserved before that.
inline constexpr std::size_t netcdf_held_bytes = std::size_t{256} << 20;

/// Writes to a temporary file, which finish() renames: the file appears complete or not at all. Throws
/// FileError (the folder does not exist, not enough disk space), InputError (a name that NetCDF does not
/// allow).
class NetcdfSink final : public Sink {
 public:
  explicit NetcdfSink(std::string path, std::size_t held_bytes = netcdf_held_bytes);
  ~NetcdfSink() override;

 protected:
  void do_define(const Dataset& header) override;
  void do_put(const Variable& variable, const Slab& slab, const ValueSpan& values) override;
  void do_finish() override;

 private:
  class File;
  friend void write_netcdf(const std::string& path, const Dataset& data);
  static void write_whole(const std::string& path, const Dataset& data);

  std::string path_;
  std::size_t held_bytes_;
  MemorySink held_;
  std::unique_ptr<PendingPath> pending_;
  std::unique_ptr<File> file_;  ///< null while values are kept in memory
};

/// Writes a data set that is in memory.
void write_netcdf(const std::string& path, const Dataset& data);

/// Reads all numbers and texts of a NetCDF file. Coordinates are the variables that have the name of a
/// dimension or are named in the attribute `coordinates` of others. Throws FileError, MemoryError.
Dataset read_dataset(const std::string& path);

}  // namespace terrane::io
