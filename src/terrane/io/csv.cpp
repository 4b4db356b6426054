#include "terrane/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_set>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"

namespace terrane::io {

namespace {

constexpr char blanks_separator = ' ';
constexpr std::array<std::string_view, 20> numeric_names{
    "easting", "northing", "up",      "longitude", "latitude", "height", "west", "east", "south", "north",
    "bottom",  "top",      "density", "x1",        "y1",       "z1",     "x2",   "y2",   "z2",    "rho"};
constexpr std::array<std::string_view, 7> prism_names{"x1", "y1", "z1", "x2", "y2", "z2", "rho"};

bool must_be_numbers(const Column& c) {
  const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), c.name) != list.end(); };
  return !c.unit.empty() || in(numeric_names);
}

std::string_view trimmed(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

/// The separator of a line: the first of semicolon, tab, comma and blank that occurs outside quotes and
/// brackets.
char separator_of(std::string_view line) {
  bool semicolon = false, tab = false, comma = false, quoted = false;
  int depth = 0;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth > 0) continue;
    semicolon |= c == ';';
    tab |= c == '\t';
    comma |= c == ',';
  }
  return semicolon ? ';' : tab ? '\t' : comma ? ',' : blanks_separator;
}

/// The entries of a line, without enclosing quotes ("" inside quotes is a single ").
class Splitter {
 public:
  explicit Splitter(char separator) : separator_(separator) {}

  void split(const TextReader& in, std::string_view line, std::vector<std::string_view>& out) {
    out.clear();
    unwrapped_.clear();
    const bool blanks = separator_ == blanks_separator;
    if (blanks || separator_ != '\t') line = trimmed(line);
    std::size_t at = 0;
    while (true) {
      if (blanks)
        while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
      if (blanks && at >= line.size()) return;
      std::size_t begin = at;
      while (begin < line.size() && line[begin] == ' ') ++begin;
      if (begin < line.size() && line[begin] == '"') {
        at = quoted(in, line, begin, out);
      } else {
        at = blanks ? line.find_first_of(" \t", at) : line.find(separator_, at);
        at = std::min(at, line.size());
        out.push_back(trimmed(line.substr(begin, at - begin)));
      }
      if (at >= line.size()) break;
      ++at;  // skips the separator
    }
  }

 private:
  std::size_t quoted(const TextReader& in, std::string_view line, std::size_t begin,
                     std::vector<std::string_view>& out) {
    std::string text;
    std::size_t at = begin + 1;
    for (;; ++at) {
      if (at >= line.size()) in.fail("a quotation mark is not closed on its line");
      if (line[at] == '"' && at + 1 < line.size() && line[at + 1] == '"') ++at;
      else if (line[at] == '"') break;
      text += line[at];
    }
    ++at;
    while (separator_ != blanks_separator && at < line.size() && line[at] == ' ') ++at;
    const bool ends =
        at >= line.size() || line[at] == separator_ || (separator_ == blanks_separator && line[at] == '\t');
    if (!ends) in.fail("text stands between a closing quotation mark and the next separator");
    unwrapped_.push_back(std::move(text));
    out.push_back(unwrapped_.back());
    return at;
  }

  char separator_;
  std::deque<std::string> unwrapped_;  // a deque: views into it stay valid when it grows
};

/// The name and unit of a column, from "g_u [mGal]" or "g_u (mGal)".
Column header_column(std::string_view text) {
  Column c;
  text = trimmed(text);
  const char close = text.empty() ? '\0' : text.back();
  if (close == ']' || close == ')') {
    const auto open = text.rfind(close == ']' ? '[' : '(');
    if (open != std::string_view::npos && open > 0) {
      c.unit = trimmed(text.substr(open + 1, text.size() - open - 2));
      if (c.unit == "-") c.unit = "1";
      text = trimmed(text.substr(0, open));
    }
  }
  c.name = text;
  return c;
}

/// Reads "# key: value"; a key that occurs again appends a line to its text.
void read_comment(std::string_view line, Attributes& attributes) {
  line.remove_prefix(1);
  const auto colon = line.find(':');
  const auto key = trimmed(line.substr(0, colon));
  const bool is_key =
      colon != std::string_view::npos && !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
      });
  auto value = is_key ? line.substr(colon + 1) : trimmed(line);
  if (is_key && value.starts_with(' ')) value.remove_prefix(1);
  const auto [it, fresh] = attributes.try_emplace(is_key ? std::string(key) : "comment", value);
  if (!fresh) it->second.append("\n").append(value);
}

bool entry_is_missing(std::string_view entry) {
  return entry.empty() || entry == "NA" || entry == "N/A" || entry == "null" || entry == "*";
}

std::string quoted_if_needed(const std::string& text) {
  if (text.find_first_of(",;\"\t\n\r#") == std::string::npos && !text.starts_with(' ') &&
      !text.ends_with(' '))
    return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + '"';
}

/// Reads a table in one or two passes: first the numbers, then, in a second pass, the columns that contain
/// words.
class CsvReader {
 public:
  explicit CsvReader(TextReader& in) : in_(in) { table_.source = in.name(); }

  Table read() {
    read_comments();
    read_header();
    // The number of rows is limited by the length of the text: each row has a line, and at least one
    // separator or line end for each column.
    const std::size_t n = table_.columns.size();
    const std::size_t rows = std::min(in_.lines_left() + 1, in_.bytes_left() / n + 1) + (headless_ ? 1 : 0);
    in_.expect_memory(rows * (n + 1));
    for (auto& column : table_.columns) column.values.reserve(rows);
    const auto start = in_.mark();
    first_text_.assign(n, 0);
    if (headless_) take_numbers();
    each_row([&] { take_numbers(); });
    if (std::any_of(first_text_.begin(), first_text_.end(), [](auto row) { return row > 0; })) {
      in_.rewind(start);
      read_words();
    }
    if (commas_) table_.attributes["note"] = "commas within numbers are taken as decimal signs";
    if (const auto it = table_.attributes.find("projection"); it != table_.attributes.end()) {
      table_.projection = it->second;
      table_.attributes.erase(it);
    }
    return std::move(table_);
  }

 private:
  /// Reads comments up to the first line that is not a comment.
  void read_comments() {
    while (true) {
      if (!in_.line(line_))
        in_.fail("the file has no rows",
                 "Its first line names the columns: easting [m],northing [m],up [m].");
      line_ = trimmed(line_);
      if (line_.starts_with('#')) read_comment(line_, table_.attributes);
      else if (!line_.empty()) return;
    }
  }

  /// Reads the names of columns, or numbers them if the first line has numbers.
  void read_header() {
    const char separator = separator_of(line_);
    splitter_.emplace(separator);
    splitter_->split(in_, line_, entries_);
    comma_may_be_decimal_ = separator == ';' || separator == '\t';
    headless_ = std::all_of(entries_.begin(), entries_.end(), [&](std::string_view entry) {
      double ignored = 0;
      return number_of(entry, ignored);
    });
    std::unordered_set<std::string> names;
    for (std::size_t c = 0; c < entries_.size(); ++c) {
      const auto entry = entries_[c];
      if (headless_) {
        const bool prisms = entries_.size() == prism_names.size();
        table_.columns.push_back(
            {prisms ? std::string(prism_names[c]) : fmt::format("column_{}", c + 1), "", "", {}});
        continue;
      }
      if (!table_.columns.empty() && separator == blanks_separator &&
          (entry.starts_with('[') || entry.starts_with('('))) {
        table_.columns.back().unit = header_column(fmt::format("x {}", entry)).unit;
        continue;
      }
      auto column = header_column(entry);
      if (column.name.empty()) column.name = fmt::format("column_{}", c + 1);
      if (!names.insert(column.name).second)
        in_.fail(fmt::format("two columns are called \"{}\"", shown(column.name)),
                 "Give every column a name of its own.");
      table_.columns.push_back(std::move(column));
    }
  }

  template <class Use>
  void each_row(const Use& use) {
    const std::size_t n = first_text_.size();
    while (in_.line(line_)) {
      const auto text = trimmed(line_);
      if (text.empty() || text.starts_with('#')) continue;
      splitter_->split(in_, line_, entries_);
      if (entries_.size() == n + 1 && entries_.back().empty()) entries_.pop_back();
      if (entries_.size() != n)
        in_.fail(fmt::format("{} entries where there are {} columns", entries_.size(), n),
                 table_.lines.empty()
                     ? "Is it a table? Its first line names the columns: easting [m],northing [m],up [m]. "
                       "Another format can be named; `terrane convert --formats` lists them."
                     : "Every row needs one entry per column; quote entries that contain the separator.");
      use();
    }
  }

  void take_numbers() {
    const std::size_t row = table_.lines.size();
    for (std::size_t c = 0; c < entries_.size(); ++c) {
      double value = nan;
      if (!entry_is_missing(entries_[c]) && !number_of(entries_[c], value)) {
        if (must_be_numbers(table_.columns[c]) || headless_)
          in_.fail(fmt::format("column \"{}\": \"{}\" stands where a number belongs", table_.columns[c].name,
                               shown(entries_[c])),
                   "Give a number with a decimal point, or leave the entry empty.");
        if (first_text_[c] == 0) first_text_[c] = row + 1;
        value = nan;
      }
      table_.columns[c].values.push_back(value);
    }
    table_.lines.push_back(in_.line_number());
  }

  /// Reads a number. The decimal sign may be a comma if commas do not separate entries; all numbers of a file
  /// must have the same decimal sign.
  bool number_of(std::string_view entry, double& value) {
    if (parse_number(entry, value)) {
      const bool point = entry.find('.') != entry.npos;
      if (point && commas_) refuse_both(entry);
      points_ = points_ || point;
      return true;
    }
    const auto comma = entry.find(',');
    if (!comma_may_be_decimal_ || comma == entry.npos || comma != entry.rfind(',') ||
        entry.find('.') != entry.npos)
      return false;
    std::string with_point(entry);
    with_point[comma] = '.';
    if (!parse_number(with_point, value)) return false;
    if (points_) refuse_both(entry);
    return commas_ = true;
  }
  [[noreturn]] void refuse_both(std::string_view entry) const {
    in_.fail(fmt::format("\"{}\": some numbers have decimal commas, and others points", shown(entry)),
             "Write all numbers with a decimal point.");
  }
  /// Converts columns with words to text columns.
  void read_words() {
    std::vector<Column> numbers;
    std::vector<std::size_t> text_columns;
    for (std::size_t c = 0; c < first_text_.size(); ++c) {
      if (first_text_[c] == 0) {
        numbers.push_back(std::move(table_.columns[c]));
      } else {
        text_columns.push_back(c);
        table_.texts.push_back({table_.columns[c].name, {}, first_text_[c] - 1});
      }
    }
    each_row([&] {
      for (std::size_t t = 0; t < text_columns.size(); ++t)
        table_.texts[t].values.emplace_back(entries_[text_columns[t]]);
    });
    table_.columns = std::move(numbers);
  }

  TextReader& in_;
  Table table_;
  std::optional<Splitter> splitter_;
  std::string_view line_;
  std::vector<std::string_view> entries_;
  std::vector<std::size_t> first_text_;  // [columns] 1 + row of the first entry that is not a number; 0: none
  bool headless_ = false, comma_may_be_decimal_ = false, points_ = false, commas_ = false;
};

}  // namespace

Table read_csv(TextReader& in) { return CsvReader(in).read(); }

Table read_csv(const std::string& path) {
  auto in = TextReader::open(path);
  return read_csv(in);
}

void write_csv(const std::string& path, const Table& table) {
  AtomicFile file(path);
  const auto write_attribute = [&](const std::string& key, std::string_view value) {
    while (true) {
      const auto end = std::min(value.find('\n'), value.size());
      auto part = value.substr(0, end);
      if (part.ends_with('\r')) part.remove_suffix(1);
      file.write(part.empty() ? fmt::format("# {}:\n", key) : fmt::format("# {}: {}\n", key, part));
      if (end == value.size()) break;
      value.remove_prefix(end + 1);
    }
  };
  for (const auto& [key, value] : table.attributes) write_attribute(key, value);
  if (!table.projection.empty()) write_attribute("projection", table.projection);
  std::string header;
  for (const auto& c : table.columns) {
    const auto name = c.unit.empty() ? c.name : fmt::format("{} [{}]", c.name, c.unit);
    header += (header.empty() ? "" : ",") + quoted_if_needed(name);
  }
  for (const auto& t : table.texts) header += (header.empty() ? "" : ",") + quoted_if_needed(t.name);
  file.write(header + '\n');
  fmt::memory_buffer row_text;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    row_text.clear();
    bool first = true;
    for (const auto& c : table.columns) {
      if (!first) row_text.push_back(',');
      first = false;
      if (!std::isnan(c.values[row])) fmt::format_to(std::back_inserter(row_text), "{}", c.values[row]);
    }
    for (const auto& t : table.texts) {
      if (!first) row_text.push_back(',');
      first = false;
      row_text.append(quoted_if_needed(t.values[row]));
    }
    row_text.push_back('\n');
    file.write({row_text.data(), row_text.size()});
  }
  file.commit();
}

}  // namespace terrane::io
