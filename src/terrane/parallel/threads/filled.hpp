// Long lists whose memory pages are touched first by all threads. The first access to a page costs more than
// filling it: one thread gets 1 to 2 GB a second, and a model of 262 million cells is several lists of 2 GB.
#pragma once

#include <cstddef>
#include <vector>

#include "terrane/parallel/threads/search.hpp"
#include "terrane/parallel/threads/unset.hpp"

namespace terrane {

/// Touches the pages of memory that will be written soon, on all threads if it is long. Does not change
/// values.
void ask_for_pages(void* memory, std::size_t bytes);

/// A list of `count` copies of the value.
template <class T>
std::vector<T> filled(std::size_t count, const T& value) {
  std::vector<T> all;
  all.reserve(count);
  ask_for_pages(all.data(), count * sizeof(T));
  all.resize(count, value);
  return all;
}

/// A list of `count` copies of the value, written by all threads.
template <class T>
UnsetList<T> filled_by_threads(std::size_t count, const T& value, int threads) {
  UnsetList<T> all(count);
  for_each_stretch(count, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) all[n] = value;
  });
  return all;
}

}  // namespace terrane
