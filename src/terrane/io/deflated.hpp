// Compresses the numbers of NetCDF and HDF5 files on all threads; the libraries would use only one.
//
// A data set is divided into chunks of consecutive numbers. Threads shuffle the bytes of a chunk and deflate
// them, as the filters 2 and 1 of HDF5 do (HDF5 File Format Specification 3.0, section IV.A.2.l), and the
// library stores the results. Any program that reads these formats can read them; the bytes of the file do
// not depend on the number of threads.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace terrane::io {

/// Shorter data sets are not compressed.
inline constexpr std::size_t least_numbers_to_deflate = 4096;
inline constexpr int deflate_level = 4;

/// The numbers of a data set; they must stay in memory until they are stored.
struct Deflated {
  std::string name;  ///< name of the data set in the file
  const void* numbers = nullptr;
  std::size_t width = 0;           ///< bytes per number
  std::vector<std::size_t> shape;  ///< number of entries along each dimension; row-major
};

/// The number of entries of a chunk along each dimension: all along the last dimensions and one along the
/// first ones, at most 512 KiB, so that its numbers are contiguous.
std::vector<std::size_t> chunk_of(const std::vector<std::size_t>& shape, std::size_t width);

/// Compresses and stores the numbers of data sets. The file must already define them, with the chunks of
/// chunk_of() and the filters shuffle and deflate, but without values. The caller holds LibraryLock.
/// False if a data set is missing, is defined differently, or cannot be written.
[[nodiscard]] bool store_deflated(hid_t file, std::span<const Deflated> all);

}  // namespace terrane::io
