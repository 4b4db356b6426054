// Records of one size, one for each time step, in the memory of the device, on the host, or on a disk. They
// are written from the first to the last and read from the last to the first.
//
//   memory   one array on the device
//   host     pinned memory for all records, and a ring of slots on the device; a stream of its own copies
//            between them while the device computes, on the way back some steps ahead
//   disk     the same ring, another one of pinned memory, and a thread that writes a file some steps behind,
//            and reads it some steps ahead. The file's space is reserved before the first step; the file has
//            no name, so it vanishes with the run
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
  /// Number of the latest records from get() that work on the stream may still be reading.
  static constexpr Index in_use = 3;
  static constexpr Index slots_of_ring = 8;

  virtual ~Records() = default;
  /// Memory of the device for record n, n = 0, 1, …, which work on the stream fills before put().
  virtual std::byte* room(Stream& stream, Index n) = 0;
  virtual void put(Stream& stream, Index n) = 0;
  /// Record n, n = count − 1, … 0, for work on the stream that is begun before get(n − in_use).
  virtual const std::byte* get(Stream& stream, Index n) = 0;
};

struct RecordsWanted {
  KeptIn place = KeptIn::memory;  ///< not automatic
  std::size_t bytes = 0;          ///< of a record
  Index count = 0;
  std::string folder;  ///< for place disk; empty: the system's folder for temporary files
  bool operator==(const RecordsWanted&) const = default;
};

/// On a device without memory of its own, `host` counts as `memory`. Throws MemoryError; FileError: no file
/// can be made in the folder, or the disk has no room.
std::unique_ptr<Records> make_records(Stream& stream, const RecordsWanted& wanted);

/// The folder for temporary files: `wanted`, or if that is empty the system's; and the free bytes on a
/// folder's disk. Throw FileError: there is no such folder.
std::string scratch_folder(const std::string& wanted);
double free_on_disk(const std::string& folder);
/// Whether the folder lies in a file system in memory (tmpfs).
bool lies_in_memory(const std::string& folder);

}  // namespace terrane::acoustic
