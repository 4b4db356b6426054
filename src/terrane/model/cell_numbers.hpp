// Numbers of cells of a mesh: a list, or all of them, which takes no memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "terrane/parallel/threads/search.hpp"
#include "terrane/parallel/threads/unset.hpp"

namespace terrane {

/// Ascending numbers of cells. The numbers 0 … size() − 1 are not stored: a model that fills a mesh of a
/// billion cells would need 8 GB for them.
class CellNumbers {
 public:
  CellNumbers() = default;
  /// numbers: ascending, each once
  explicit CellNumbers(UnsetList<std::size_t> numbers) : size_(numbers.size()), listed_(std::move(numbers)) {
    if (size_ > 0 && listed_.back() + 1 == size_) listed_ = {};
  }
  /// The numbers 0 … count − 1.
  static CellNumbers up_to(std::size_t count) {
    CellNumbers all;
    all.size_ = count;
    return all;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::size_t operator[](std::size_t n) const { return listed_.empty() ? n : listed_[n]; }
  /// How many of the numbers are less than `cell`; if `cell` is one of them, this is its index.
  std::size_t place_of(std::size_t cell) const {
    if (listed_.empty()) return std::min<std::size_t>(cell, size_);
    return static_cast<std::size_t>(std::lower_bound(listed_.begin(), listed_.end(), cell) - listed_.begin());
  }
  /// Bytes of memory.
  double bytes() const noexcept { return static_cast<double>(sizeof(std::size_t) * listed_.size()); }

 private:
  std::size_t size_ = 0;
  UnsetList<std::size_t> listed_;  // empty: 0 … size_ − 1
};

/// The numbers below `count` for which is_so(n) is true. threads: as for for_each()
template <class IsSo>
CellNumbers cells_where(std::size_t count, int threads, const IsSo& is_so) {
  const bool all = first_where(count, threads, [&](std::size_t n) { return !is_so(n); }) == count;
  if (all) return CellNumbers::up_to(count);
  return CellNumbers(all_where(count, threads, is_so));
}

}  // namespace terrane
