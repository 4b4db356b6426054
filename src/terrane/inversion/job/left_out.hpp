// Data that a job leaves out by their numbers: inversion.leave_out = ["7", "12-20"].
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terrane/job/config.hpp"

namespace terrane::inversion {

/// The range that "7" or "12-20" stands for, counted from 1: its first number from 0, and one past its last.
/// things: the counted things, "arrays";  also: another word that is allowed, or empty.  Throws InputError.
std::pair<std::size_t, std::size_t> numbers_left_out(const Config& table, const std::string& word,
                                                     std::size_t count, std::string_view things,
                                                     std::string_view also = {});

/// "4, 17 and 9 more", of numbers from 0.
std::string some_of(const std::vector<std::size_t>& numbers);

/// Takes away what is left out.
template <class T>
void keep(std::vector<T>& values, const std::vector<bool>& left) {
  std::size_t n = 0;
  std::erase_if(values, [&](const T&) { return left[n++]; });
}

}  // namespace terrane::inversion
