// Long lists whose pages all threads ask the system for. The first touch of a page costs more than filling
// it: one thread gets 1 to 2 GB a second, and a model of 262 million cells is several lists of 2 GB.
#pragma once

#include <cstddef>
#include <vector>

namespace terrane {

/// Touches the pages of memory that will be written soon, on all threads where it is long. Its values stay.
void ask_for_pages(void* memory, std::size_t bytes);

/// A list with `count` times the value.
template <class T>
std::vector<T> filled(std::size_t count, const T& value) {
  std::vector<T> all;
  all.reserve(count);
  ask_for_pages(all.data(), count * sizeof(T));
  all.resize(count, value);
  return all;
}

}  // namespace terrane
