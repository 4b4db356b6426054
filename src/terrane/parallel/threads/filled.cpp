#include "terrane/parallel/threads/filled.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "terrane/parallel/threads/search.hpp"

namespace terrane {

void ask_for_pages(void* memory, std::size_t bytes) {
  constexpr std::size_t short_list = std::size_t{1} << 24, at_once = std::size_t{1} << 22, page = 1 << 12;
  constexpr int populate_write =
      23;  // MADV_POPULATE_WRITE, since Linux 5.14; on older systems pages are allocated when written
  if (bytes < short_list) return;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const auto skipped = (address + page - 1) / page * page - address;
  auto* const begin = static_cast<std::byte*>(memory) + skipped;
  const auto ask = [&](std::size_t first, std::size_t last) {
    ::madvise(begin + first, last - first, populate_write);
  };
  for_each_stretch((bytes - skipped) / page * page, 0, ask, at_once);
}

}  // namespace terrane
