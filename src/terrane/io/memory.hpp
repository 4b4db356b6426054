// What reading a file may take, asked before it is taken: files claim sizes, and packed ones are larger than
// they look.
#pragma once

#include <cstddef>
#include <string>

namespace terrane::io {

/// What is left for reading; counts down.
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
