// Numbers of NetCDF and HDF5 files, compressed by all threads; the libraries do it in one.
//
// A data set is cut into chunks, each a run of its numbers. Threads shuffle the bytes of a chunk and deflate
// them, as the filters 2 and 1 of HDF5 do (HDF5 File Format Specification 3.0, section IV.A.2.l), and the
// library stores what they made. Any program that reads the format reads them; the bytes of the file do not
// depend on the number of threads.
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

/// The numbers of a data set, which live until they are stored.
struct Deflated {
  std::string name;  ///< of the data set in the file
  const void* numbers = nullptr;
  std::size_t width = 0;           ///< bytes of a number
  std::vector<std::size_t> shape;  ///< row-major
};

/// The entries of a chunk along each dimension: at most 512 KiB, whole along the last dimensions and one
/// entry along the first ones, so that it is a run of numbers.
std::vector<std::size_t> chunk_of(const std::vector<std::size_t>& shape, std::size_t width);

/// Stores the numbers of data sets that the file has, with these chunks, shuffled and deflated, and without
/// values yet. LibraryLock is held. False where a data set is not there, is another one, or cannot be
/// written.
[[nodiscard]] bool store_deflated(hid_t file, std::span<const Deflated> all);

}  // namespace terrane::io
