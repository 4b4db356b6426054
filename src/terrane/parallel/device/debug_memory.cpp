#include "terrane/parallel/device/debug_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

namespace terrane::detail {

namespace {

struct Block {
  char* pages;
  std::size_t bytes;  // bytes of the pages that may be opened, without the guard page behind them
};

/// The memory of the debug device. A process has only one, like its heap.
struct Heap {
  std::mutex mutex;
  std::map<void*, Block> blocks;
  std::size_t used = 0;
  int inside = 0;          // number of calls of device code that are running
  bool open = false;       // whether pages can be read and written
  std::uint64_t left = 0;  // how often `inside` has become zero

  void enter() {
    if (inside++ == 0 && !open) protect(true);
  }
  /// Protecting memory takes a system call for every block, which takes longer than a small kernel. So after
  /// the first thousand calls, in which most programs have run all of their code, memory is protected only
  /// every 17th time.
  void leave() {
    constexpr std::uint64_t always = 1000, then_every = 17;
    if (--inside == 0 && (++left <= always || left % then_every == 0)) protect(false);
  }

 private:
  void protect(bool opened) {
    open = opened;
    for (const auto& [address, block] : blocks)
      mprotect(block.pages, block.bytes, opened ? PROT_READ | PROT_WRITE : PROT_NONE);
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
  h.enter();
}

DebugAccess::~DebugAccess() {
  if (!open_) return;
  auto& h = heap();
  const std::lock_guard lock(h.mutex);
  h.leave();
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
  if (h.open) mprotect(all, pages, PROT_READ | PROT_WRITE);
  // The largest alignment that an array of this size can need; thus the array ends just before the guard
  // page.
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
