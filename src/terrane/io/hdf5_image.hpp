// Where an HDF5 file ends inside the memory that the library built it in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace terrane::io {

/// The file at the start of `memory` [size bytes], which is longer than the file. The end stands in the
/// file's first block (HDF5 File Format Specification 3.0, section II.A).
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

}  // namespace terrane::io
