#include "terrane/inversion/job/left_out.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/base/error.hpp"

namespace terrane::inversion {

std::pair<std::size_t, std::size_t> numbers_left_out(const Config& table, const std::string& word,
                                                     std::size_t count, std::string_view things,
                                                     std::string_view also) {
  const auto wrong = [&](const std::string& what) {
    return table.wrong(
        "leave_out", what,
        fmt::format("Allowed: {}numbers of {} from 1 to {}, and ranges of them, such as \"12-20\".",
                    also.empty() ? "" : fmt::format("\"{}\", ", also), things, count));
  };
  const auto dash = word.find('-');
  const auto number = [&](const std::string& digits) {
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
      throw wrong(fmt::format("\"{}\" is no number of {}", word, things));
    return static_cast<std::size_t>(std::stoul(digits));
  };
  const auto first = number(word.substr(0, dash));
  const auto last = dash == std::string::npos ? first : number(word.substr(dash + 1));
  if (first < 1 || last < first || last > count) throw wrong(fmt::format("there are no {} {}", things, word));
  return {first - 1, last};
}

std::string some_of(const std::vector<std::size_t>& numbers) {
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t n = 0; n < std::min(most, numbers.size()); ++n)
    text += fmt::format("{}{}", n > 0 ? ", " : "", numbers[n] + 1);
  return numbers.size() > most ? fmt::format("{} and {} more", text, numbers.size() - most) : text;
}

}  // namespace terrane::inversion
