#include "terrane/io/memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "terrane/base/error.hpp"

namespace terrane::io {

void check_memory(const std::string& where, std::size_t count) {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return;
  const double have = static_cast<double>(pages) * static_cast<double>(page);
  const double want = static_cast<double>(count) * sizeof(double);
  if (want > have)
    throw MemoryError(
        where,
        fmt::format("{} values need {:.1f} GB and this machine has {:.1f} GB", count, want / 1e9, have / 1e9),
        "Check the counts in the file, or cut out a part of it.");
}

}  // namespace terrane::io
