#include "terrane/parallel/device/debug_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

namespace terrane::detail {

namespace {

struct Block {
  char* pages;
  std::size_t bytes;  // of the pages that may be opened, without the guard behind them
};

/// What the process has of it: like the heap, there is one.
struct Heap {
  std::mutex mutex;
  std::map<void*, Block> blocks;
  std::size_t used = 0;
  int open = 0;

  void protect(int how) {
    for (const auto& [address, block] : blocks) mprotect(block.pages, block.bytes, how);
  }
};

Heap& heap() {
  static Heap one;
  return one;
}

}  // namespace

DebugAccess::DebugAccess(bool open) : open_(open) {
  if (!open_) return;
  auto& h = heap();
  const std::lock_guard lock(h.mutex);
  if (h.open++ == 0) h.protect(PROT_READ | PROT_WRITE);
}

DebugAccess::~DebugAccess() {
  if (!open_) return;
  auto& h = heap();
  const std::lock_guard lock(h.mutex);
  if (--h.open == 0) h.protect(PROT_NONE);
}

std::size_t debug_total() {
  const char* text = std::getenv("TERRANE_DEBUG_MEMORY");
  return text ? std::strtoull(text, nullptr, 10) : std::size_t{16} << 30;
}

std::size_t debug_free() {
  auto& h = heap();
  const std::lock_guard lock(h.mutex);
  const std::size_t total = debug_total();
  return total > h.used ? total - h.used : 0;
}

void* debug_allocate(std::size_t bytes) {
  if (bytes > debug_free()) return nullptr;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t pages = (bytes + page - 1) / page * page;
  auto& h = heap();
  const std::lock_guard lock(h.mutex);
  void* const all =
      mmap(nullptr, pages + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  if (h.open > 0) mprotect(all, pages, PROT_READ | PROT_WRITE);
  // What arrays of such a size can need: the end is then just before the guard.
  const std::size_t alignment = std::min<std::size_t>(bytes & (~bytes + 1), 64);
  void* const memory = static_cast<char*>(all) + (pages - bytes) / alignment * alignment;
  h.blocks[memory] = {static_cast<char*>(all), pages};
  h.used += pages;
  return memory;
}

void debug_release(void* memory) noexcept {
  auto& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto found = h.blocks.find(memory);
  if (found == h.blocks.end()) return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  munmap(found->second.pages, found->second.bytes + page);
  h.used -= found->second.bytes;
  h.blocks.erase(found);
}

}  // namespace terrane::detail
