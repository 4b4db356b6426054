// Small helpers on text that several components need.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace terrane {

/// The candidate nearest to `word` by edit distance, or "" when none is near: for "did you mean".
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

/// " Did you mean \"mesh\"?" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// "0.12 s", "8.5 s", "95 s", "12 min", "3.4 h", "5 days": as exact as an estimate deserves.
std::string duration_text(double seconds);

/// "a, b, c".
std::string joined(std::span<const std::string_view> words);

/// The text with small letters in place of A to Z.
std::string lower(std::string_view text);

/// The text without control characters (but ends of lines and tabs), for a terminal: text from a file may
/// not move the cursor or colour other text. They become '?'.
std::string printable(std::string_view text);

}  // namespace terrane
