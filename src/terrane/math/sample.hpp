// Selects a few indices, evenly spread over many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace terrane {

/// `count` of the indices 0 .. of − 1, or all if there are fewer: the range is divided into `count` equal
/// parts, and the middle of each part is selected.
inline std::vector<std::size_t> evenly_spread(std::size_t count, std::size_t of) {
  std::vector<std::size_t> sample(std::min(count, of));
  for (std::size_t i = 0; i < sample.size(); ++i)
    sample[i] = static_cast<std::size_t>((static_cast<double>(i) + 0.5) * static_cast<double>(of) /
                                         static_cast<double>(sample.size()));
  return sample;
}

}  // namespace terrane
