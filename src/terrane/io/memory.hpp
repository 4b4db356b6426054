// Sizes that a file claims, held against the machine before anything is allocated.
#pragma once

#include <cstddef>
#include <string>

namespace terrane::io {

/// Throws MemoryError when `count` float64 values would not fit into the memory of this machine.
void check_memory(const std::string& where, std::size_t count);

}  // namespace terrane::io
