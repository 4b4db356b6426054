#include "terrane/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace terrane {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t longest = 100;  // longer words are not compared with the candidates
  if (word.size() > longest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (auto candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return std::string(best);
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto best = nearest(word, candidates);
  return best.empty() ? "" : " Did you mean \"" + best + "\"?";
}

std::string duration_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.2g} s", seconds);
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.3g} h", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

std::string joined(std::span<const std::string_view> words) {
  std::string list;
  for (auto w : words) list += (list.empty() ? "" : ", ") + std::string(w);
  return list;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool c1 = c == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F in UTF-8
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
      out += '?';
    } else if (c1) {
      out += '?';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace terrane
