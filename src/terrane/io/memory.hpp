// A limit for the memory used in reading a file. It is checked before memory is allocated, because sizes
// stated in files may be wrong, and compressed files are larger than they look.
#pragma once

#include <cstddef>
#include <string>

namespace terrane::io {

/// The number of bytes that may still be used for reading; each take() reduces it.
class ReadBudget {
 public:
  /// bytes: the limit; 0: the free memory of this machine.
  explicit ReadBudget(std::size_t bytes = 0);
  std::size_t left() const noexcept { return left_; }
  /// Reserves `count` values of `width` bytes. Throws MemoryError with the location `where` if they exceed
  /// what is left.
  void take(const std::string& where, std::size_t count, std::size_t width = sizeof(double));

 private:
  std::size_t left_;
};

}  // namespace terrane::io
