// Data that a job excludes by their numbers: inversion.leave_out = ["7", "12-20"].
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terrane/job/config.hpp"

namespace terrane::inversion {

/// Converts "7" or "12-20", counted from 1, to a range of indices counted from 0: the first, and one past the
/// last. things: name of the numbered items, "arrays" (of electrodes); also: another allowed word, or empty.
/// Throws InputError.
std::pair<std::size_t, std::size_t> numbers_left_out(const Config& table, const std::string& word,
                                                     std::size_t count, std::string_view things,
                                                     std::string_view also = {});

/// The text "4, 17 and 9 more" (counted from 1) for indices counted from 0.
std::string some_of(const std::vector<std::size_t>& numbers);

/// Removes the values n for which left[n] is true.
template <class T>
void keep(std::vector<T>& values, const std::vector<bool>& left) {
  std::size_t n = 0;
  std::erase_if(values, [&](const T&) { return left[n++]; });
}

}  // namespace terrane::inversion
