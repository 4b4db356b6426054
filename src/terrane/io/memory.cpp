#include "terrane/io/memory.hpp"

#include <fmt/format.h>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"

namespace terrane::io {

ReadBudget::ReadBudget(std::size_t bytes) : left_(bytes > 0 ? bytes : available_memory()) {}

void ReadBudget::take(const std::string& where, std::size_t count, std::size_t width) {
  if (count > left_ / width)
    throw MemoryError(where,
                      fmt::format("would need {} for what it says it holds, {} available",
                                  bytes_text(static_cast<double>(count) * static_cast<double>(width)),
                                  bytes_text(static_cast<double>(left_))),
                      "Check the counts in the file, cut out a part of it, or allow more memory.");
  left_ -= count * width;
}

}  // namespace terrane::io
