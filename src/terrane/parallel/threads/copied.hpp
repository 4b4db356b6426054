// Copies of long lists, whose memory pages are touched first by all threads (filled.hpp).
#pragma once

#include <vector>

#include "terrane/parallel/threads/filled.hpp"

namespace terrane {

template <class T>
std::vector<T> copied(const std::vector<T>& from) {
  std::vector<T> all;
  all.reserve(from.size());
  ask_for_pages(all.data(), from.size() * sizeof(T));
  all.assign(from.begin(), from.end());
  return all;
}

}  // namespace terrane
