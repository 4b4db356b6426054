// HDF5 files that are built in memory and then written as a whole: the library crashes if the disk fills up
// while one of its files is open.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace terrane::io {

/// The file at the start of `memory` [size bytes], which is longer than the file. The length of the file is
/// stored in its first block (HDF5 File Format Specification 3.0, section II.A).
inline std::string_view hdf5_image(const void* memory, std::size_t size) {
  constexpr std::size_t version_at = 8, old_end_at = 40, new_end_at = 28;
  const auto* bytes = static_cast<const unsigned char*>(memory);
  const std::string_view whole(static_cast<const char*>(memory), size);
  if (size < old_end_at + 8 || bytes[version_at] == 1) return whole;
  const auto* end = bytes + (bytes[version_at] == 0 ? old_end_at : new_end_at);
  std::uint64_t used = 0;
  for (int i = 7; i >= 0; --i) used = used << 8 | end[i];
  return used > 0 && used <= size ? whole.substr(0, used) : whole;
}

/// An HDF5 file in memory. The caller holds LibraryLock.
class Hdf5InMemory {
 public:
  /// A new file in the layout of HDF5 1.8, which allows attributes with texts of more than 64 KiB, as jobs
  /// may be long.  path: its name in the library's tables.
  explicit Hdf5InMemory(const std::string& path) : Hdf5InMemory(path, {}) {}
  /// A file that begins with the bytes `begun`, which are copied.
  Hdf5InMemory(const std::string& path, std::string_view begun);
  Hdf5InMemory(const Hdf5InMemory&) = delete;
  Hdf5InMemory& operator=(const Hdf5InMemory&) = delete;
  ~Hdf5InMemory();

  /// Negative if the library could not make or open the file.
  hid_t file() const { return file_; }
  /// Closes the file and returns its bytes, which stay valid as long as this object; none if the library
  /// failed.
  std::string_view close();

 private:
  static herr_t take(void* memory, H5FD_file_image_op_t when, void* self);

  hid_t file_ = -1;
  std::size_t size_ = 0;    ///< bytes in `memory_` once the file is complete
  void* memory_ = nullptr;  ///< the library's buffer when the complete file was closed
};

}  // namespace terrane::io
