// How much memory reading a file may take. It is asked before memory is allocated, because sizes stated in
// files may be wrong, and packed files are larger than they look.
#pragma once

#include <cstddef>
#include <string>

namespace terrane::io {

/// The memory that is left for reading; it counts down.
class ReadBudget {
 public:
  /// 0: what this machine has left.
  explicit ReadBudget(std::size_t bytes = 0);
  std::size_t left() const noexcept { return left_; }
  /// Throws MemoryError that names the file when `count` values of `width` bytes do not fit beside what was
  /// taken before.
  void take(const std::string& where, std::size_t count, std::size_t width = sizeof(double));

 private:
  std::size_t left_;
};

}  // namespace terrane::io
