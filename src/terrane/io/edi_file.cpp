#include "terrane/io/edi_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane::io::edi {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr double foot = 0.3048;

std::string_view trimmed_value(std::string_view text) {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Position of an equals sign outside quotes, and of the key before it.
struct Sign {
  std::size_t key, at;
};
std::vector<Sign> signs_of(std::string_view line) {
  std::vector<Sign> signs;
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '"') quoted = !quoted;
    if (line[at] != '=' || quoted || at == 0) continue;
    const auto end = line.find_last_not_of(blanks, at - 1);
    if (end == line.npos) continue;
    const auto before = line.find_last_of(" \t\r\"", end);
    signs.push_back({before == line.npos ? 0 : before + 1, at});
  }
  return signs;
}

/// Adds the key-value pairs of a line; blanks are allowed around "=" and within values.
void add_options(std::string_view line, std::size_t number, Options& to) {
  const auto signs = signs_of(line);
  for (std::size_t n = 0; n < signs.size(); ++n) {
    const auto end = n + 1 < signs.size() ? signs[n + 1].key : line.size();
    const auto key = trimmed_value(line.substr(signs[n].key, signs[n].at - signs[n].key));
    if (key.empty() || end <= signs[n].at) continue;
    auto value = trimmed_value(line.substr(signs[n].at + 1, end - signs[n].at - 1));
    if (value.starts_with('"')) {
      value.remove_prefix(1);
      value = value.substr(0, value.find('"'));
    }
    const auto [found, fresh] = to.try_emplace(lower(key), Option{std::string(value), number});
    if (!fresh && found->second.value != value) found->second.twice = true;
  }
}

std::string_view first_word(std::string_view text) {
  text = trimmed_value(text);
  return text.substr(0, text.find_first_of(blanks));
}

class Reader {
 public:
  explicit Reader(TextReader& in) : in_(in) {}

  File read() {
    std::string_view line;
    while (section_ != "end" && in_.line(line)) {
      line = trimmed_value(line);
      if (line.empty() || line.starts_with('!') || line.starts_with(">!")) continue;
      if (line.starts_with('>')) begin(line.substr(1));
      else within(line);
    }
    if (section_.empty()) in_.fail("there is no section", "An EDI file begins with >HEAD.");
    return std::move(file_);
  }

 private:
  void begin(std::string_view line) {
    section_ = lower(line.substr(0, line.find_first_of(" \t/")));
    line.remove_prefix(section_.size());
    block_ = nullptr;
    const auto slashes = line.find("//");
    const auto options = line.substr(0, slashes);
    if (section_.starts_with('=')) begin_section();
    else if (section_ == "hmeas" || section_ == "emeas") file_.channels.emplace_back();
    else if (section_ == "spectra") block_ = &file_.spectra.emplace_back();
    else if (slashes != line.npos) block_ = &new_block();
    if (block_ != nullptr) {
      in_.expect_memory(64);
      block_->line = in_.line_number();
      add_options(options, in_.line_number(), block_->options);
      double count = 0;
      if (slashes != line.npos && parse_number(first_word(line.substr(slashes + 2)), count) && count >= 1 &&
          count < 1e9)
        block_->counted = static_cast<std::size_t>(count);
    } else {
      within(options);
    }
  }
  void begin_section() {
    if (section_ == "=emapsect")
      in_.fail("a section of EMAP data", "Files of magnetotelluric sites are read, with >=MTSECT.");
    if (section_ != "=mtsect" && section_ != "=spectrasect") return;
    if (sections_++ > 0) in_.fail("a second section of data", "Each site is a file: part them.");
  }
  /// Coherences, of which there is one for each pair of channels, may come again.
  Block& new_block() {
    const auto [at, fresh] = file_.blocks.try_emplace(section_);
    if (!fresh && section_ != "coh")
      in_.fail(fmt::format("a second block {} (the first: line {})", shown(section_), at->second.line),
               "Each site is a file: part them.");
    return at->second;
  }
  void within(std::string_view line) {
    if (block_ != nullptr) return numbers(line);
    if (section_ == "head") add_options(line, in_.line_number(), file_.head);
    else if (section_ == "info") file_.info += lower(line) + "\n";
    else if (section_ == "=definemeas") add_options(line, in_.line_number(), file_.measured);
    else if (section_ == "=mtsect" || section_ == "=spectrasect") of_section(line);
    else if (section_ == "hmeas" || section_ == "emeas") of_channel(line);
  }
  /// Reads options, and after "//7" the names of the channels of spectra, in order.
  void of_section(std::string_view line) {
    const auto slashes = line.find("//");
    add_options(line.substr(0, slashes), in_.line_number(), file_.section);
    if (line.find('=') != line.npos && slashes == line.npos) return;
    if (slashes != line.npos) {
      line = trimmed_value(line.substr(slashes + 2));
      line.remove_prefix(first_word(line).size());  // skips the number of channels
    }
    for (line = trimmed_value(line); !line.empty();) {
      const auto word = first_word(line);
      in_.expect_memory(8);
      file_.order.emplace_back(word);
      line = trimmed_value(line.substr(word.size()));
    }
  }
  void of_channel(std::string_view line) {
    auto& channel = file_.channels.back();
    in_.expect_memory(64);
    add_options(line, in_.line_number(), channel.options);
    const auto word = [&](const char* key) {
      const auto found = channel.options.find(key);
      return found == channel.options.end() ? std::string() : std::string(first_word(found->second.value));
    };
    channel.id = word("id");
    channel.type = lower(word("chtype"));
  }
  void numbers(std::string_view line) {
    constexpr std::string_view between = " \t\r,";
    for (auto at = line.find_first_not_of(between); at != line.npos;
         at = line.find_first_not_of(between, at)) {
      const auto stop = std::min(line.find_first_of(between, at), line.size());
      const auto word = line.substr(at, stop - at);
      double value = std::numeric_limits<double>::quiet_NaN();
      if (word.find_first_not_of('*') != word.npos && !parse_number(word, value))
        in_.fail(fmt::format("\"{}\" is no number", shown(word)));
      in_.expect_memory(4);
      block_->values.push_back(value);
      at = stop;
    }
  }

  TextReader& in_;
  File file_;
  std::string section_;
  Block* block_ = nullptr;
  int sections_ = 0;
};

/// Degrees from "-26:30:15.2" or "-26.504".
std::optional<double> degrees_of(std::string_view text) {
  double sum = 0, unit = 1;
  const bool below = text.starts_with('-');
  if (below || text.starts_with('+')) text.remove_prefix(1);
  for (int part = 0; part < 3; ++part) {
    const auto end = std::min(text.find(':'), text.size());
    double value = 0;
    constexpr double most = 60;  // minutes, seconds; programs round up to 60
    if (!parse_number(text.substr(0, end), value) || !(value >= 0) || !std::isfinite(value) ||
        (part > 0 && value > most))
      return std::nullopt;
    sum += value * unit;
    unit /= 60;
    if (end == text.size()) return below ? -sum : sum;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace

File read(TextReader& in) { return Reader(in).read(); }

namespace {

[[noreturn]] void refuse(const TextReader& in, const char* key, const Option& option,
                         std::string_view problem, std::string next = {}) {
  std::string name = key;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  throw InputError(fmt::format("{}:{}", in.name(), option.line),
                   fmt::format("{}={} {}", name, shown(option.value), problem), std::move(next));
}

/// The option with this key if it exists and has a value; otherwise null.
const Option* said(const Options& options, const char* key) {
  const auto found = options.find(key);
  if (found == options.end() || found->second.value.empty() || lower(found->second.value) == "none")
    return nullptr;
  return &found->second;
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed_value(text); !text.empty(); text = trimmed_value(text)) {
    words.push_back(first_word(text));
    text.remove_prefix(words.back().size());
  }
  return words;
}

/// Removes the letter of a side of the Earth before or behind an angle in small letters.  sides: letters of
/// the positive and the negative side.  Returns the sign; empty if there is no such letter.
std::optional<double> taken_side(std::string& angle, std::string_view sides) {
  if (angle.empty()) return std::nullopt;
  const bool before = sides.find(angle.front()) != sides.npos;
  const char side = before ? angle.front() : angle.back();
  if (sides.find(side) == sides.npos) return std::nullopt;
  if (before) angle.erase(0, 1);
  else angle.pop_back();
  return side == 's' || side == 'w' ? -1.0 : 1.0;
}

/// Degrees from "-26:30:15.2", "-26 30 15.2", "-26.504" or "-26.504 degrees".
std::optional<double> degrees_of_words(std::string_view text) {
  auto words = words_in(text);
  if (words.size() > 1 && words.back().starts_with("deg")) words.pop_back();
  if (words.size() == 1) return degrees_of(words[0]);
  if (text.find(':') != text.npos) return std::nullopt;
  return degrees_of(fmt::format("{}", fmt::join(words, ":")));
}

}  // namespace

std::string text_in(const Options& options, const char* key) {
  const auto* option = said(options, key);
  return option == nullptr ? std::string() : option->value;
}

std::optional<double> number_in(const TextReader& in, const Options& options, const char* key) {
  const auto* option = said(options, key);
  if (option == nullptr) return std::nullopt;
  double value = 0;
  if (!parse_number(first_word(option->value), value) || !std::isfinite(value))
    refuse(in, key, *option, "is no number");
  return value;
}

std::optional<double> length_in(const TextReader& in, const Options& options, const char* key, double unit) {
  const auto number = number_in(in, options, key);
  if (!number) return number;
  const auto* option = said(options, key);
  const auto words = words_in(std::string_view(option->value).substr(0, option->value.find('!')));
  if (words.size() < 2) return *number * unit;
  auto word = lower(words[1]);
  std::erase_if(word, [](char c) { return c == '(' || c == ')' || c == '[' || c == ']'; });
  if (word != "m" && word != "ft" && !word.starts_with("met") && !word.starts_with("feet"))
    refuse(in, key, *option, "is no length", "Allowed behind the number: m, ft.");
  return *number * (word.starts_with('f') ? foot : 1);
}

std::optional<double> angle_in(const TextReader& in, const Options& options, const char* key, double most) {
  const auto* option = said(options, key);
  if (option == nullptr) return std::nullopt;
  std::string plain;
  for (const char c : lower(option->value))  // removes the blank of "00:00: 0.00"
    if (c != ' ' || (!plain.empty() && plain.back() != ':')) plain += c;
  plain = trimmed_value(std::string_view(plain).substr(0, plain.find('!')));
  const auto sign = taken_side(plain, most <= 90 ? "ns" : "ew");
  const auto angle = degrees_of_words(plain);
  if (!angle)
    refuse(in, key, *option, "is no angle",
           "Write degrees, or degrees:minutes:seconds, with minutes and seconds up to 60.");
  if (std::abs(*angle) > most) refuse(in, key, *option, fmt::format("is beyond {} degrees", most));
  return sign ? *sign * std::abs(*angle) : *angle;
}

}  // namespace terrane::io::edi
