#include "terrane/io/airborne.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane::io {

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();
constexpr double largest_dummy = -1e31;  // values up to this one are gaps: Geosoft writes -1e32
constexpr std::string_view blank_letters = " \t\r";

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(blank_letters);
  return begin == text.npos ? std::string_view{}
                            : text.substr(begin, text.find_last_not_of(blank_letters) - begin + 1);
}

std::vector<std::string_view> split(std::string_view line, std::string_view between) {
  std::vector<std::string_view> words;
  for (auto at = line.find_first_not_of(between); at != line.npos; at = line.find_first_not_of(between, at)) {
    const auto end = std::min(line.find_first_of(between, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

/// The survey line's name, "10" in "Line 10"; empty if the text does not begin a survey line.
std::optional<std::string> line_begun(std::string_view text) {
  const auto words = split(text, " \t\r,");
  if (words.size() != 2) return std::nullopt;
  const auto kind = lower(words[0]);
  if (kind != "line" && kind != "tie" && kind != "random") return std::nullopt;
  return std::string(words[1]);
}

}  // namespace

bool begins_geosoft_xyz(std::string_view head) {
  while (!head.empty()) {
    const auto end = std::min(head.find('\n'), head.size());
    const auto line = without_blanks(head.substr(0, end));
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.empty()) continue;
    if (line_begun(line)) return true;
    if (!line.starts_with('/')) return false;
  }
  return false;
}

Table read_geosoft(TextReader& in) {
  Table table;
  table.source = in.name();
  std::vector<std::string> comments;
  TextColumn lines{"line", {}, 0};
  std::string current;
  std::string_view text;
  while (in.line(text)) {
    text = without_blanks(text);
    if (text.empty()) continue;
    if (text.starts_with('/')) {
      if (table.columns.empty()) comments.emplace_back(text.substr(1));
      continue;
    }
    if (auto begun = line_begun(text)) {
      current = std::move(*begun);
      continue;
    }
    const auto entries = split(text, " \t\r,");
    if (table.columns.empty()) {
      for (std::size_t c = 0; c < entries.size(); ++c)
        table.columns.push_back({fmt::format("column_{}", c + 1), "", "", {}});
      for (auto comment = comments.rbegin(); comment != comments.rend(); ++comment)
        if (const auto names = split(*comment, " \t\r,"); names.size() == entries.size()) {
          for (std::size_t c = 0; c < names.size(); ++c) table.columns[c].name = names[c];
          break;
        }
    }
    if (entries.size() != table.columns.size())
      in.fail(fmt::format("{} entries where there are {} columns", entries.size(), table.columns.size()));
    in.expect_memory(entries.size() + 4);
    for (std::size_t c = 0; c < entries.size(); ++c) {
      double value = gap;
      if (entries[c] != "*" && !parse_number(entries[c], value))
        in.fail(fmt::format("column \"{}\": \"{}\" stands where a number belongs", table.columns[c].name,
                            shown(entries[c])),
                "A gap is \"*\".");
      if (value <= largest_dummy) value = gap;
      table.columns[c].values.push_back(value);
    }
    lines.values.push_back(current);
    table.lines.push_back(in.line_number());
  }
  if (table.columns.empty()) in.fail("there are no rows");
  table.texts.push_back(std::move(lines));
  return table;
}

// --- ASEG-GDF2
// ----------------------------------------------------------------------------------------------

namespace {

/// A field of a record: its columns in a line, and how its content is read.
struct Field {
  std::string name, unit;
  std::size_t first = 0, width = 0;
  bool words = false;
  std::optional<double> null;
};

/// The repeat count, letter and width of "F10.2", "3I6", "A4".
struct Layout {
  std::size_t times = 1, width = 0;
  char letter = 0;
};
std::optional<Layout> layout_of(std::string_view text) {
  Layout layout;
  const auto letter = text.find_first_not_of("0123456789");
  if (letter == text.npos) return std::nullopt;
  std::int64_t number = 0;
  constexpr std::int64_t most = 10'000;
  if (letter > 0) {
    if (!parse_integer(text.substr(0, letter), number) || number < 1 || number > most) return std::nullopt;
    layout.times = static_cast<std::size_t>(number);
  }
  layout.letter = lower(text.substr(letter, 1))[0];
  const auto width =
      text.substr(letter + 1, text.find('.') == text.npos ? text.npos : text.find('.') - letter - 1);
  if (!parse_integer(width, number) || number < 1 || number > most) return std::nullopt;
  layout.width = static_cast<std::size_t>(number);
  if (std::string_view("aifedx").find(layout.letter) == std::string_view::npos) return std::nullopt;
  return layout;
}

/// Adds a definition such as "NAME:F10.1:UNIT=m,NULL=-9999.99:a comment" to the fields of a record.
void add_fields(const TextReader& in, std::string_view text, std::size_t& at, std::vector<Field>& fields) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(':', begin), text.size());
    parts.push_back(without_blanks(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (parts.size() < 2)
    in.fail(fmt::format("\"{}\" defines no column", shown(text)), "It reads NAME:F10.2:UNIT=m.");
  const auto layout = layout_of(parts[1]);
  if (!layout)
    in.fail(fmt::format("column {} has the layout \"{}\"", shown(parts[0]), shown(parts[1])),
            "Allowed: An, In, Fn.d, En.d, with a number of times before it.");
  // More columns than any survey has: a damaged file must not cause large allocations.
  constexpr std::size_t most = 100'000;
  if (fields.size() + layout->times > most) in.fail(fmt::format("more than {} columns are defined", most));
  Field field;
  for (std::size_t p = 2; p < parts.size(); ++p)
    for (const auto option : split(parts[p], ",")) {
      const auto word = without_blanks(option);
      const auto small = lower(word);
      double null = 0;
      if (small.starts_with("unit=") || small.starts_with("units="))
        field.unit = word.substr(word.find('=') + 1);
      if (small.starts_with("null=") && parse_number(without_blanks(word.substr(5)), null)) field.null = null;
    }
  for (std::size_t n = 0; n < layout->times; ++n, at += layout->width) {
    field.name = layout->times == 1 ? std::string(parts[0]) : fmt::format("{}_{}", parts[0], n + 1);
    field.first = at;
    field.width = layout->width;
    field.words = layout->letter == 'a';
    if (layout->letter != 'x') fields.push_back(field);
  }
}

std::vector<Field> fields_of(TextReader& in) {
  std::vector<Field> fields;
  std::size_t at = 0;
  std::string_view line;
  while (in.line(line)) {
    const auto text = without_blanks(line);
    if (!lower(text.substr(0, 4)).starts_with("defn")) continue;
    const auto record = lower(text).find("rt=");
    if (record == std::string::npos) continue;
    auto rest = text.substr(record + 3);
    const auto kind = without_blanks(rest.substr(0, rest.find(';')));
    if (!kind.empty() && lower(kind) != "data") continue;  // skips comments and projections
    rest.remove_prefix(std::min(rest.find(';') == rest.npos ? rest.size() : rest.find(';') + 1, rest.size()));
    for (const auto part : split(rest, ";"))
      if (const auto one = without_blanks(part); !one.empty() && lower(one) != "end defn")
        add_fields(in, one, at, fields);
  }
  if (fields.empty())
    in.fail("no columns are defined", "Such a line reads DEFN 1 ST=RECD,RT=;X:F10.1:UNIT=m.");
  return fields;
}

}  // namespace

std::string aseg_definition(const std::string& path) {
  const std::filesystem::path file(path);
  std::error_code failed;
  if (lower(file.extension().string()) != ".dat") return {};
  for (const auto* extension : {".dfn", ".DFN"})
    if (auto beside = file; std::filesystem::is_regular_file(beside.replace_extension(extension), failed))
      return beside.string();
  return {};
}

Table read_aseg(TextReader& in, TextReader& definition) {
  const auto fields = fields_of(definition);
  Table table;
  table.source = in.name();
  for (const auto& field : fields)
    if (field.words) table.texts.push_back({field.name, {}, 0});
    else table.columns.push_back({field.name, field.unit, "", {}});
  std::string_view line;
  while (in.line(line)) {
    if (without_blanks(line).empty() || line.starts_with("COMM")) continue;
    in.expect_memory(fields.size() + 4);
    std::size_t number = 0, word = 0;
    for (const auto& field : fields) {
      if (field.first + 1 > line.size())
        in.fail(fmt::format("the line ends before column {}", field.name),
                "Its place and width are those of the .dfn file.");
      const auto text = without_blanks(line.substr(field.first, field.width));
      if (field.words) {
        table.texts[word++].values.emplace_back(text);
        continue;
      }
      double value = gap;
      if (!text.empty() && text.find_first_not_of('*') != text.npos && !parse_number(text, value))
        in.fail(fmt::format("column {}: \"{}\" stands where a number belongs", field.name, shown(text)),
                "Places and widths are those of the .dfn file.");
      if (field.null && std::abs(value - *field.null) <= 1e-6 * std::abs(*field.null)) value = gap;
      table.columns[number++].values.push_back(value);
    }
    table.lines.push_back(in.line_number());
  }
  if (table.lines.empty()) in.fail("there are no rows");
  return table;
}

}  // namespace terrane::io
