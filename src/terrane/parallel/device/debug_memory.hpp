// The memory of the debug device: open to this process only while code of the device runs. The first thousand
// times it is closed again at once, later every 17th time, as closing takes long.
#pragma once

#include <cstddef>

namespace terrane::detail {

/// While an object of this class exists that was made with `open`, the memory of the debug device can be read
/// and written.
class DebugAccess {
 public:
  explicit DebugAccess(bool open = true);
  ~DebugAccess();
  DebugAccess(const DebugAccess&) = delete;
  DebugAccess& operator=(const DebugAccess&) = delete;

 private:
  bool open_;
};

/// nullptr when no memory is left; the debug device has TERRANE_DEBUG_MEMORY bytes, or else 16 GB. The
/// last byte lies just before a protected page.
void* debug_allocate(std::size_t bytes);
void debug_release(void* memory) noexcept;
/// Bytes free and in all.
std::size_t debug_free();
std::size_t debug_total();

}  // namespace terrane::detail
