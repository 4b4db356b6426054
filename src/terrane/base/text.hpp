// Small helpers on text that several rooms need.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace terrane {

/// The candidate nearest to `word` by edit distance, or "" when none is near: for "did you mean".
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

/// " Did you mean \"mesh\"?" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// "a, b, c".
std::string joined(std::span<const std::string_view> words);

}  // namespace terrane
