// Frames of equal size on disk, put and taken in any order: results until they are written where they belong,
// waves that are wanted again. So only a few of them are in memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace terrane::io {

/// The file has no name: it goes when this object does, also where the process is killed.
class Spool {
 public:
  /// What errors say: "WHAT take 2 GB, 1 GB are free", "writing WHAT: ...", and the next move.
  struct Words {
    std::string what = "results on their way into this file", next;
  };
  /// In the folder of `path`. Takes the room for `frames` of so many bytes now, where the file system can
  /// keep room. Throws FileError (naming `path`): the folder is not there or cannot be written, or there is
  /// not so much room.
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
