// Frames of equal size in a temporary file, written and read in any order: results that wait to be written,
// wave fields that are needed again. So only a few of them are in memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace terrane::io {

/// The file has no name: it is removed with this object, also when the process is killed.
class Spool {
 public:
  /// The words of errors: "WHAT take 2 GB, 1 GB are free", "writing WHAT: ...", and advice.
  struct Words {
    std::string what = "results on their way into this file", next;
  };
  /// Makes the file in the folder of `path`. Reserves space for `frames` of so many bytes now, where the file
  /// system can. Throws FileError (naming `path`): the folder is not there or cannot be written, or there is
  /// not enough space.
  Spool(const std::string& path, std::size_t frames, std::size_t bytes_of_frame, Words words);
  Spool(const std::string& path, std::size_t frames, std::size_t bytes_of_frame)
      : Spool(path, frames, bytes_of_frame, Words()) {}
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  /// bytes: of one frame. May be called by several threads at once. Throws FileError.
  void put(std::size_t frame, std::span<const std::byte> bytes);
  void get(std::size_t frame, std::span<std::byte> bytes) const;

 private:
  std::string path_;
  std::size_t bytes_of_frame_;
  Words words_;
  int file_ = -1;
};

}  // namespace terrane::io
