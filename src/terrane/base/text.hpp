// Small helpers on text that several components need.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace terrane {

/// The candidate nearest to `word` by edit distance, or "" if none is near; for "did you mean".
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

/// The question " Did you mean \"mesh\"?", or "" if no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// A duration, rounded to the precision of an estimate: "0.12 s", "8.5 s", "95 s", "12 min", "3.4 h", "5
/// days".
std::string duration_text(double seconds);

/// The words with commas between them: "a, b, c".
std::string joined(std::span<const std::string_view> words);

/// The text with A to Z replaced by lower case.
std::string lower(std::string_view text);

/// The text for a terminal: control characters except line ends and tabs are replaced by '?', so that text
/// from a file cannot move the cursor or change colours.
std::string printable(std::string_view text);

}  // namespace terrane
