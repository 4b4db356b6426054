// Blocks of equal size (frames) in a temporary file, written and read in any order, for results that are
// written to their own file later, and for wave fields that are read again. Only a few frames need to be in
// memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace terrane::io {

/// The file has no name: the system removes it with this object, and also if the process is killed.
class Spool {
 public:
  /// Texts of error messages: "WHAT take 2 GB, 1 GB are free", "writing WHAT: ...", and advice.
  struct Words {
    std::string what = "results on their way into this file", next;
  };
  /// Creates the file in the folder of `path`, and reserves disk space for `frames` frames of
  /// `bytes_of_frame` bytes if the file system can. Throws FileError (naming `path`): the folder does not
  /// exist or cannot be written to, or there is not enough space.
  Spool(const std::string& path, std::size_t frames, std::size_t bytes_of_frame, Words words);
  Spool(const std::string& path, std::size_t frames, std::size_t bytes_of_frame)
      : Spool(path, frames, bytes_of_frame, Words()) {}
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  /// bytes: one frame. Several threads may call these functions at once. Throws FileError.
  void put(std::size_t frame, std::span<const std::byte> bytes);
  void get(std::size_t frame, std::span<std::byte> bytes) const;

 private:
  std::string path_;
  std::size_t bytes_of_frame_;
  Words words_;
  int file_ = -1;
};

}  // namespace terrane::io
