// Sorts large arrays of numbers on the threads of this process.
#pragma once

#include <cstdint>
#include <vector>

#include "terrane/base/progress.hpp"

namespace terrane {

/// Sorts keys [n] in ascending order and permutes values [n] in the same way; equal keys keep their order.
/// The result does not depend on the number of threads.  threads: 0 for all.  Throws Cancelled.
void sort_by_key(std::vector<std::uint64_t>& keys, std::vector<std::uint32_t>& values, int threads,
                 Progress& progress);

}  // namespace terrane
