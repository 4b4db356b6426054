// The memory of the debug device: this process can access it only while device code runs. It is protected
// again after each of the first thousand runs of device code, later after every 17th, because protecting
// takes long.
#pragma once

#include <cstddef>

namespace terrane::detail {

/// Memory of the debug device can be read and written while an object constructed with open = true exists.
class DebugAccess {
 public:
  explicit DebugAccess(bool open = true);
  ~DebugAccess();
  DebugAccess(const DebugAccess&) = delete;
  DebugAccess& operator=(const DebugAccess&) = delete;

 private:
  bool open_;
};

/// Allocates memory of the debug device; nullptr if too little is left: the debug device has
/// TERRANE_DEBUG_MEMORY bytes, or else 16 GB. The last byte lies just before a protected page.
void* debug_allocate(std::size_t bytes);
void debug_release(void* memory) noexcept;
/// The free and the total memory of the debug device, bytes.
std::size_t debug_free();
std::size_t debug_total();

}  // namespace terrane::detail
