// Data sets in NetCDF-4, as xarray opens them, written piece by piece.
//
// Complex values have a last dimension `complex` of two entries, named "real" and "imag"; the attribute
// `complex` of the variable says so. Single precision, whole numbers, bytes and words keep their types.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "terrane/data/sink.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Smaller variables are kept until finish(), and then compressed and written at once; larger ones are
/// written to the disk as they come, uncompressed, into space that is reserved before the first value.
inline constexpr std::size_t netcdf_held_bytes = std::size_t{256} << 20;

/// The file is written under a temporary name and renamed by finish(): it appears complete or not at all.
/// Throws FileError (the folder is not there, the disk has no room), InputError (a name that files of this
/// kind cannot have).
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
  std::unique_ptr<File> file_;  ///< null while the values are held
};

/// Writes a data set that is in memory.
void write_netcdf(const std::string& path, const Dataset& data);

/// All numbers and words of a NetCDF file. Coordinates are the variables that have the name of a dimension,
/// or that others name in their attribute `coordinates`. Throws FileError, MemoryError.
Dataset read_dataset(const std::string& path);

}  // namespace terrane::io
