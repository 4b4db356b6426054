// Records of one size, one for each time step, in the memory of the device, on the host, or on a disk. They
// are written from the first to the last and read from the last to the first.
//
//   memory   one array on the device
//   host     pinned memory for all records, and a ring of slots on the device. A separate stream copies
//            between them while the device computes; records are read some steps ahead
//   disk     the ring on the device, a ring of slots in pinned memory, and a thread that writes records to a
//            file some steps behind and reads them some steps ahead. The file's space is reserved before the
//            first step; the file has no name, so it vanishes with the run
#pragma once

#include <memory>
#include <string>

#include "terrane/parallel/device/buffer.hpp"

namespace terrane::acoustic {

enum class KeptIn { automatic, memory, host, disk };
inline constexpr std::array<std::string_view, 4> kept_in_names{"auto", "memory", "host", "disk"};
constexpr std::string_view to_string(KeptIn place) { return kept_in_names[static_cast<std::size_t>(place)]; }

class Records {
 public:
  /// Number of records, those of the latest calls of get(), that work on the stream may still be reading.
  static constexpr Index in_use = 3;         ///< images read pⁿ⁺¹, pⁿ and pⁿ⁻¹
  static constexpr Index slots_of_ring = 8;  ///< in_use, and five that get() copies ahead

  virtual ~Records() = default;
  /// Memory of the device for record n, n = 0, 1, …, which work on the stream fills before put().
  virtual std::byte* room(Stream& stream, Index n) = 0;
  virtual void put(Stream& stream, Index n) = 0;
  /// Record n; called for n = count − 1, … 0. It is valid for work on the stream that is begun before
  /// get(n − in_use).
  virtual const std::byte* get(Stream& stream, Index n) = 0;
};

struct RecordsWanted {
  KeptIn place = KeptIn::memory;  ///< place of the records; not `automatic`
  std::size_t bytes = 0;          ///< size of one record
  Index count = 0;
  std::string folder;  ///< folder of records on disk; empty: the system's folder for temporary files
  bool operator==(const RecordsWanted&) const = default;
};

/// On a device without memory of its own, `host` means `memory`. Throws MemoryError; FileError if no file can
/// be made in the folder, or if the disk has too little free space.
std::unique_ptr<Records> make_records(Stream& stream, const RecordsWanted& wanted);

/// scratch_folder: the folder for temporary files, `wanted` or, if that is empty, the system's. free_on_disk:
/// the free bytes on a folder's disk. Both throw FileError if there is no such folder.
std::string scratch_folder(const std::string& wanted);
double free_on_disk(const std::string& folder);
/// Whether the folder is in a file system in memory (tmpfs).
bool lies_in_memory(const std::string& folder);

}  // namespace terrane::acoustic
