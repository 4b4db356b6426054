// Divides numbered items of work among ranks.
#pragma once

#include <algorithm>
#include <cstddef>

namespace terrane {

struct Range {
  std::size_t first = 0, last = 0;  ///< items first .. last − 1
  std::size_t size() const noexcept { return last - first; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// The share of rank q of Q in M items: s = M / Q items, and one more for the first r = M mod Q ranks
/// (Couder-Castañeda et al. 2013).
constexpr Range balanced_range(std::size_t items, std::size_t ranks, std::size_t rank) {
  const std::size_t s = items / ranks, r = items % ranks, first = rank * s + std::min(rank, r);
  return {first, first + s + (rank < r ? 1 : 0)};
}

}  // namespace terrane
