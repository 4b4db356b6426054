// Searches in long lists by the threads of this process: the first index at which a condition holds, the
// largest value. Models have billions of cells and are searched several times.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/unset.hpp"

namespace terrane {

/// The default number of indices in a stretch of for_each_stretch.
inline constexpr std::size_t stretch_length = std::size_t{1} << 16;

/// Calls piece(first, last) for stretches of consecutive indices that together cover 0 … count − 1. threads:
/// as for for_each().
template <class Piece>
void for_each_stretch(std::size_t count, int threads, const Piece& piece,
                      const std::size_t stretch = stretch_length) {
  for_each((count + stretch - 1) / stretch, threads,
           [&](std::size_t n) { piece(n * stretch, std::min((n + 1) * stretch, count)); });
}

/// The lowest n < count for which is_so(n) is true; `count` if there is none. Stretches beyond an index
/// already found are not searched.
template <class IsSo>
std::size_t first_where(std::size_t count, int threads, const IsSo& is_so) {
  std::atomic<std::size_t> found{count};
  for_each_stretch(count, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last && first < found.load(std::memory_order_relaxed); ++n) {
      if (!is_so(n)) continue;
      auto known = found.load(std::memory_order_relaxed);
      while (n < known && !found.compare_exchange_weak(known, n, std::memory_order_relaxed)) {
      }
      return;
    }
  });
  return found.load();
}

/// For threads that together fill lists of unequal length: the sum of amount(n) over all n before each
/// stretch of for_each_stretch, at the stretch's index first / stretch_length; the last element is the sum
/// over all n.
template <class Amount>
std::vector<std::size_t> sums_before_stretches(std::size_t count, int threads, const Amount& amount) {
  std::vector<std::size_t> before((count + stretch_length - 1) / stretch_length + 1, 0);
  for_each_stretch(count, threads, [&](std::size_t first, std::size_t last) {
    std::size_t sum = 0;
    for (std::size_t n = first; n < last; ++n) sum += static_cast<std::size_t>(amount(n));
    before[first / stretch_length + 1] = sum;
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}

/// All n < count for which is_so(n) is true, ascending. is_so is called twice for each n.
template <class IsSo>
UnsetList<std::size_t> all_where(std::size_t count, int threads, const IsSo& is_so) {
  const auto before = sums_before_stretches(count, threads, is_so);
  UnsetList<std::size_t> all(before.back());
  for_each_stretch(count, threads, [&](std::size_t first, std::size_t last) {
    std::size_t next = before[first / stretch_length];
    for (std::size_t n = first; n < last; ++n)
      if (is_so(n)) all[next++] = n;
  });
  return all;
}

/// The maximum of value(n) over n < count, ignoring NaN; −∞ if count is 0.
template <class Value>
double largest_value(std::size_t count, int threads, const Value& value) {
  std::atomic<double> largest{-std::numeric_limits<double>::infinity()};
  for_each_stretch(count, threads, [&](std::size_t first, std::size_t last) {
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t n = first; n < last; ++n) most = std::max(most, static_cast<double>(value(n)));
    auto known = largest.load(std::memory_order_relaxed);
    while (most > known && !largest.compare_exchange_weak(known, most, std::memory_order_relaxed)) {
    }
  });
  return largest.load();
}

}  // namespace terrane
