// Frames of equal size on disk, until they are written where they belong: so only one of them is in memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace terrane::io {

/// The file has no name: it goes when this object does, also where the process is killed.
class Spool {
 public:
  /// In the folder of `path`. Takes the room for `frames` of so many numbers now. Throws FileError (naming
  /// `path`): the folder is not there or cannot be written, or there is not so much room.
  Spool(const std::string& path, std::size_t frames, std::size_t numbers);
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  std::size_t numbers() const noexcept { return numbers_; }  ///< of a frame
  /// values: one frame. Throws FileError.
  void put(std::size_t frame, std::span<const float> values);
  void get(std::size_t frame, std::span<float> values) const;

 private:
  std::string path_;
  std::size_t numbers_;
  int file_ = -1;
};

}  // namespace terrane::io
