// Frees memory that a list no longer needs.
#pragma once

namespace terrane {

/// Frees the memory of a std::vector, which `list = {}` and clear() would keep.
template <class List>
void free_memory(List& list) {
  list = List();
}

}  // namespace terrane
