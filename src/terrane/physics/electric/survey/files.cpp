#include "terrane/physics/electric/survey/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "terrane/base/error.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/physics/electric/survey/arrays.hpp"

namespace terrane::electric {

namespace {

constexpr double on_the_ground = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string_view> words_of(std::string_view line, std::string_view comments) {
  line = line.substr(0, line.find_first_of(comments));
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r,;", at)) != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(" \t\r,;", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

/// The next line that has words; false at the end.
bool next_words(io::TextReader& in, std::string_view comments, std::vector<std::string_view>& words) {
  std::string_view line;
  while (in.line(line)) {
    words = words_of(line, comments);
    if (!words.empty()) return true;
  }
  return false;
}

/// All words as numbers, or nothing.  gaps: "nan", too
std::optional<std::vector<double>> numbers_of(const std::vector<std::string_view>& words, bool gaps = false) {
  std::vector<double> values;
  for (const auto word : words) {
    double value = 0;
    if (!io::parse_number(word, value) || !(std::isfinite(value) || (gaps && std::isnan(value))))
      return std::nullopt;
    values.push_back(value);
  }
  return values;
}

std::vector<double> numbers_or_fail(io::TextReader& in, const std::vector<std::string_view>& words,
                                    const char* what, bool gaps = false) {
  auto values = numbers_of(words, gaps);
  if (!values) in.fail(fmt::format("\"{}\" is not {}", io::shown(words.front()), what), "Allowed: numbers.");
  return *values;
}

std::size_t count_of(io::TextReader& in, double value, const char* what) {
  constexpr double most = 1e9;
  if (!(value >= 0 && value <= most) || value != std::floor(value))
    in.fail(fmt::format("{} is not a number of {}", value, what), "Allowed: whole numbers.");
  return static_cast<std::size_t>(value);
}

/// Places once each, in the order in which they come.
class Places {
 public:
  explicit Places(Electrodes& electrodes) : electrodes_(electrodes) {}
  int of(const Point& p) {
    const bool ground = std::isnan(p.u);
    const auto [entry, is_new] =
        known_.try_emplace({p.e, p.n, ground ? 0 : p.u, ground}, static_cast<int>(electrodes_.place.size()));
    if (is_new) electrodes_.place.push_back(p);
    return entry->second;
  }

 private:
  Electrodes& electrodes_;
  std::map<std::tuple<double, double, double, bool>, int> known_;
};

/// Two electrodes of a row: 1, 2 or 3 coordinates each. The second is far away where it is the first.
std::pair<int, int> pair_of(const std::vector<double>& row, std::size_t each, Places& places) {
  const auto point = [&](std::size_t first) {
    return Point{row[first], each > 1 ? row[first + 1] : 0, each > 2 ? row[first + 2] : on_the_ground};
  };
  const int one = places.of(point(0)), other = places.of(point(each));
  return {one, other == one ? Array::far_away : other};
}

/// The numbers that begin the first block; what stands before them is title and counts of old files.
std::vector<double> first_block(io::TextReader& in, bool& polarized) {
  std::vector<std::string_view> words;
  bool title = false;
  while (next_words(in, "!", words)) {
    const auto numbers = numbers_of(words);
    if (words.front().starts_with("IPTYPE")) {
      polarized = true;
    } else if (!numbers) {
      if (title)
        in.fail("two lines of text begin the file", "A title of one line may stand before the blocks.");
      title = true;
    } else if (title && numbers->size() == 3) {
      title = false;  // number of sources, and two more
    } else {
      return *numbers;
    }
  }
  in.fail("there is no block of a current pair", "Such a line has positions of A and B, then a count.");
}

double unit_factor(io::TextReader& in, std::string_view unit) {
  static const std::map<std::string, double, std::less<>> known{
      {"", 1},  {"m", 1},     {"mm", 1e-3}, {"cm", 1e-2}, {"km", 1e3},  {"V", 1},    {"mV", 1e-3},
      {"A", 1}, {"mA", 1e-3}, {"%", 1e-2},  {"ohm", 1},   {"Ohm", 1},   {"ohmm", 1}, {"Ohmm", 1},
      {"1", 1}, {"mrad", 1},  {"rad", 1e3}, {"mV/V", 1},  {"Ohm*m", 1}, {"V/V", 1e3}};
  const auto found = known.find(unit);
  if (found == known.end())
    in.fail(fmt::format("the unit \"{}\" is not known", io::shown(unit)),
            "Known: m, mm, V, mV, A, mA, %, mrad.");
  return found->second;
}

/// "u/mV" → name in lower case, and what to multiply by.
struct Token {
  std::string name;
  double factor = 1;
};

std::vector<Token> tokens_of(io::TextReader& in, std::string_view line) {
  line.remove_prefix(std::min(line.find('#') + 1, line.size()));
  std::vector<Token> tokens;
  for (const auto word : words_of(line, "#")) {
    const auto slash = word.find('/');
    std::string name(word.substr(0, slash));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    static const std::map<std::string, std::string> same{
        {"c1", "a"},  {"c2", "b"},       {"p1", "m"},  {"p2", "n"},   {"ra", "rhoa"},
        {"imp", "r"}, {"rho_a", "rhoa"}, {"u/i", "r"}, {"phi", "ip"}, {"error", "err"}};
    if (word == "u/i" || word == "U/I") {
      tokens.push_back({"r", 1});
      continue;
    }
    const double factor = slash == std::string_view::npos ? 1 : unit_factor(in, word.substr(slash + 1));
    const auto known = same.find(name);
    tokens.push_back({known == same.end() ? name : known->second, factor});
  }
  return tokens;
}

/// A count, a line of names after '#' where there is one, and so many rows.
struct Block {
  std::vector<Token> tokens;
  std::vector<std::vector<double>> rows;
};

Block read_block(io::TextReader& in, const char* what, bool gaps = false) {
  std::vector<std::string_view> words;
  if (!next_words(in, "#", words)) in.fail(fmt::format("the number of {} is missing", what));
  const auto count = count_of(in, numbers_or_fail(in, words, "a count").front(), what);
  Block block;
  auto mark = in.mark();
  for (std::string_view line; in.line(line); mark = in.mark()) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) continue;
    if (line[begin] != '#') break;
    if (block.tokens.empty()) block.tokens = tokens_of(in, line);
  }
  in.rewind(mark);
  while (block.rows.size() < count) {
    if (!next_words(in, "#", words))
      in.fail(fmt::format("{} of {} {} are there", block.rows.size(), count, what));
    block.rows.push_back(numbers_or_fail(in, words, "a number", gaps));
    if (block.rows.back().size() != block.rows.front().size())
      in.fail(fmt::format("{} numbers, where the first line has {}", block.rows.back().size(),
                          block.rows.front().size()));
  }
  return block;
}

/// Values of a named column, or nothing.
std::vector<double> column_named(const Block& block, const std::string& name) {
  for (std::size_t c = 0; c < block.tokens.size(); ++c)
    if (block.tokens[c].name == name && !block.rows.empty() && c < block.rows.front().size()) {
      std::vector<double> values;
      for (const auto& row : block.rows) values.push_back(row[c] * block.tokens[c].factor);
      return values;
    }
  return {};
}

/// Sensors, whose second coordinate is the height where there are two.
std::vector<Point> sensors_of(io::TextReader& in) {
  auto block = read_block(in, "electrodes");
  const std::size_t columns = block.rows.empty() ? 0 : block.rows.front().size();
  if (columns > 3) in.fail(fmt::format("electrodes have {} coordinates", columns), "Allowed: one to three.");
  std::vector<Point> all;
  for (const auto& row : block.rows) {
    const auto at = [&](std::size_t c) {
      return row[c] * (c < block.tokens.size() ? block.tokens[c].factor : 1);
    };
    if (columns == 3) all.push_back({at(0), at(1), at(2)});
    else all.push_back({at(0), 0, columns == 2 ? at(1) : on_the_ground});
  }
  return all;
}

}  // namespace

const MeasuredColumn* Measured::find(const std::string& name) const {
  for (const auto& column : columns)
    if (column.name == name) return &column;
  return nullptr;
}

Measured read_ubc_dcip(io::TextReader& in, const UbcColumn& given) {
  Measured measured;
  Places places(measured.electrodes);
  bool polarized = false;
  auto header = first_block(in, polarized);
  MeasuredColumn column;
  std::size_t extra = 0;
  std::vector<std::string_view> words;
  for (bool more = true; more;) {
    if (header.size() != 3 && header.size() != 5 && header.size() != 7)
      in.fail(fmt::format("{} numbers on the line of a current pair", header.size()),
              "Allowed: XA YA XB YB n, with ZA and ZB for heights, or XA XB n along a line.");
    const std::size_t each = header.size() / 2;
    const auto [a, b] = pair_of(header, each, places);
    const auto count = count_of(in, header.back(), "potential pairs");
    for (std::size_t n = 0; n < count; ++n) {
      if (!next_words(in, "!", words)) in.fail(fmt::format("{} of {} potential pairs are there", n, count));
      if (words.front().starts_with("IPTYPE")) {
        polarized = true;
        --n;
        continue;
      }
      const auto row = numbers_or_fail(in, words, "a number");
      if (row.size() < 2 * each || row.size() > 2 * each + 2)
        in.fail(fmt::format("{} numbers on the line of a potential pair", row.size()),
                fmt::format("Allowed: {} of places, then a value and its uncertainty.", 2 * each));
      if (measured.electrodes.arrays.empty()) extra = row.size() - 2 * each;
      if (row.size() - 2 * each != extra)
        in.fail("some pairs have a value and others none", "All have one, all with an uncertainty, or none.");
      const auto [m, second] = pair_of(row, each, places);
      measured.electrodes.arrays.push_back({a, b, m, second});
      if (extra > 0) column.values.push_back(row[2 * each]);
      if (extra > 1) column.uncertainty.push_back(std::abs(row[2 * each + 1]));
    }
    more = next_words(in, "!", words);
    if (more && words.front().starts_with("IPTYPE")) {
      polarized = true;
      more = next_words(in, "!", words);
    }
    if (more) header = numbers_or_fail(in, words, "a place of A");
  }
  if (extra > 0) {
    column.name = !given.name.empty() ? given.name : polarized ? "chargeability" : "resistance";
    column.unit = !given.unit.empty() ? given.unit : column.name == "resistance" ? "V/A" : "mV/V";
    measured.columns.push_back(std::move(column));
  }
  return measured;
}

Measured read_bert(io::TextReader& in) {
  Measured measured;
  measured.electrodes.place = sensors_of(in);
  const auto block = read_block(in, "arrays", true);
  const auto count = static_cast<double>(measured.electrodes.place.size());
  std::array<std::vector<double>, 4> numbers;
  for (std::size_t p = 0; p < 4; ++p) {
    numbers[p] = column_named(block, std::string(1, "abmn"[p]));
    if (numbers[p].empty() && !block.rows.empty())
      in.fail(fmt::format("arrays have no column {}", "abmn"[p]),
              "A line such as \"# a b m n rhoa\" names them.");
    for (const double number : numbers[p])
      if (!(number >= 0 && number <= count) || number != std::floor(number))
        in.fail(fmt::format("an array has electrode {}", number),
                fmt::format("Allowed: 1 to {}, or 0 for one far away.", count));
  }
  const auto valid = column_named(block, "valid");
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < block.rows.size(); ++row) {
    if (!valid.empty() && valid[row] == 0) continue;
    kept.push_back(row);
    const auto at = [&](std::size_t p) { return static_cast<int>(numbers[p][row]) - 1; };
    measured.electrodes.arrays.push_back({at(0), at(1), at(2), at(3)});
  }
  const auto of_kept = [&](const std::vector<double>& values) {
    std::vector<double> chosen;
    for (const auto row : kept)
      if (!values.empty()) chosen.push_back(values[row]);
    return chosen;
  };
  auto resistance = of_kept(column_named(block, "r"));
  const auto u = of_kept(column_named(block, "u")), i = of_kept(column_named(block, "i"));
  if (resistance.empty() && !u.empty() && !i.empty())
    for (std::size_t n = 0; n < u.size(); ++n) resistance.push_back(i[n] == 0 ? NAN : u[n] / i[n]);
  const auto relative = of_kept(column_named(block, "err")), spread = of_kept(column_named(block, "iperr"));
  const auto add = [&](const char* name, const char* unit, std::vector<double> values,
                       const std::vector<double>& uncertainty, bool is_relative) {
    if (values.empty()) return;
    MeasuredColumn column{name, unit, std::move(values), uncertainty};
    for (std::size_t n = 0; n < column.uncertainty.size(); ++n)
      column.uncertainty[n] = std::abs(column.uncertainty[n] * (is_relative ? column.values[n] : 1));
    measured.columns.push_back(std::move(column));
  };
  add("resistance", "V/A", std::move(resistance), relative, true);
  add("apparent_resistivity", "ohm m", of_kept(column_named(block, "rhoa")), relative, true);
  add("phase", "mrad", of_kept(column_named(block, "ip")), spread, false);
  return measured;
}

namespace {

/// Columns NAME_observed and NAME_uncertainty, as results have them.
Measured read_table(const std::filesystem::path& file) {
  Measured measured{read_arrays(file), {}};
  const auto table = io::read_csv(file.string());
  const auto values = [&](const std::string& name, std::string_view unit, Quantity quantity) {
    const auto* column = table.find(name);
    if (column == nullptr) return std::vector<double>{};
    const double factor =
        column->unit.empty() || column->unit == unit ? 1 : si_factor(quantity, column->unit);
    auto found = column->values;
    for (double& value : found) value *= factor;
    return found;
  };
  const auto add = [&](const std::string& name, const char* unit, Quantity quantity) {
    auto observed = values(name + "_observed", unit, quantity);
    if (observed.empty()) return;
    measured.columns.push_back(
        {name, unit, std::move(observed), values(name + "_uncertainty", unit, quantity)});
  };
  add("resistance", "V/A", Quantity::resistance);
  add("apparent_resistivity", "ohm m", Quantity::resistivity);
  return measured;
}

}  // namespace

Measured read_measured(const std::filesystem::path& file, const UbcColumn& column) {
  auto in = io::TextReader::open(file.string());
  const auto begin = in.mark();
  std::vector<std::string_view> words;
  if (!next_words(in, "#!", words)) in.fail("the file is empty");
  const bool letters =
      std::any_of(words.begin(), words.end(), [](auto word) { return word.starts_with("a_easting"); });
  if (letters) return read_table(file);
  const auto numbers = numbers_of(words);
  in.rewind(begin);
  return numbers && numbers->size() == 1 ? read_bert(in) : read_ubc_dcip(in, column);
}

namespace {

/// What cannot be written.
void check(const Measured& measured) {
  measured.electrodes.check();
  const std::size_t arrays = measured.electrodes.arrays.size();
  for (const auto& column : measured.columns) {
    if (column.values.size() != arrays)
      throw ShapeError(column.name, fmt::format("{} values for {} arrays", column.values.size(), arrays));
    if (!column.uncertainty.empty() && column.uncertainty.size() != arrays)
      throw ShapeError(column.name,
                       fmt::format("{} uncertainties for {} arrays", column.uncertainty.size(), arrays));
    for (const auto* of : {&column.values, &column.uncertainty})
      for (std::size_t n = 0; n < of->size(); ++n)
        if (std::isinf((*of)[n]))
          throw InputError(
              fmt::format("array {}", n + 1),
              fmt::format("{} {} cannot be read again", column.name,
                          of == &column.values ? "that is infinite" : "with an infinite uncertainty"),
              "A value that is not there is NaN.");
  }
}

[[noreturn]] void refuse_uncertainty(std::size_t array, const std::string& problem, const std::string& next) {
  throw InputError(fmt::format("array {}", array + 1), problem, next);
}

}  // namespace

void write_ubc_dcip(const std::filesystem::path& file, const Measured& measured) {
  check(measured);
  const auto& electrodes = measured.electrodes;
  const auto place = [&](int n, int other) {
    const auto& p = electrodes.place[static_cast<std::size_t>(n == Array::far_away ? other : n)];
    return fmt::format("{:.10g} {:.10g} {:.10g}", p.e, p.n, p.u);
  };
  std::vector<std::size_t> kept;
  for (std::size_t n = 0; n < electrodes.arrays.size(); ++n)
    if (measured.columns.empty() || !std::isnan(measured.columns.front().values[n])) kept.push_back(n);
  if (kept.empty())
    throw InputError(file.string(), "there is no array with a value, and the file has no place for others",
                     "Files of BERT (.ohm) have gaps.");
  if (!measured.columns.empty() && !measured.columns.front().uncertainty.empty())
    for (const std::size_t n : kept)
      if (std::isnan(measured.columns.front().uncertainty[n]))
        refuse_uncertainty(n, "it has a value without an uncertainty, and other arrays have one",
                           "Give all an uncertainty or none; or write a file of BERT (.ohm).");
  io::AtomicFile out(file.string());
  // Arrays of a current pair that follow one another are a block.
  for (std::size_t first = 0, last = 0; first < kept.size(); first = last) {
    const auto& head = electrodes.arrays[kept[first]];
    const auto of_pair = [&](const Array& array) { return array.a == head.a && array.b == head.b; };
    while (last < kept.size() && of_pair(electrodes.arrays[kept[last]])) ++last;
    out.write(fmt::format("{} {} {}\n", place(head.a, head.b), place(head.b, head.a), last - first));
    for (std::size_t at = first; at < last; ++at) {
      const std::size_t n = kept[at];
      const auto& array = electrodes.arrays[n];
      out.write(fmt::format("{} {}", place(array.m, array.n), place(array.n, array.m)));
      if (!measured.columns.empty()) {
        const auto& column = measured.columns.front();
        out.write(fmt::format(" {:.10g}", column.values[n]));
        if (!column.uncertainty.empty()) out.write(fmt::format(" {:.6g}", column.uncertainty[n]));
      }
      out.write("\n");
    }
    out.write("\n");
  }
  out.commit();
}

void write_bert(const std::filesystem::path& file, const Measured& measured) {
  check(measured);
  const auto& electrodes = measured.electrodes;
  static const std::map<std::string, std::string> names{
      {"resistance", "r"}, {"apparent_resistivity", "rhoa"}, {"phase", "ip/mrad"}};
  std::vector<const MeasuredColumn*> columns;
  for (const auto& column : measured.columns)
    if (names.contains(column.name)) columns.push_back(&column);
  const MeasuredColumn* with_error = nullptr;
  for (const auto* column : columns)
    if (!with_error && column->name != "phase" && !column->uncertainty.empty()) with_error = column;
  for (std::size_t n = 0; with_error && n < electrodes.arrays.size(); ++n)
    if (with_error->values[n] == 0 && with_error->uncertainty[n] > 0)
      refuse_uncertainty(n,
                         fmt::format("its {} is 0, and its uncertainty is relative there", with_error->name),
                         "Leave the array out, or write a file of UBC (.obs).");
  io::AtomicFile out(file.string());
  out.write(fmt::format("{}\n# x y z\n", electrodes.place.size()));
  for (const auto& p : electrodes.place) out.write(fmt::format("{:.10g} {:.10g} {:.10g}\n", p.e, p.n, p.u));
  out.write(fmt::format("{}\n# a b m n", electrodes.arrays.size()));
  for (const auto* column : columns) out.write(" " + names.at(column->name));
  out.write(with_error ? " err\n" : "\n");
  for (std::size_t n = 0; n < electrodes.arrays.size(); ++n) {
    const auto& array = electrodes.arrays[n];
    out.write(fmt::format("{} {} {} {}", array.a + 1, array.b + 1, array.m + 1, array.n + 1));
    for (const auto* column : columns) out.write(fmt::format(" {:.10g}", column->values[n]));
    if (with_error)
      out.write(fmt::format(" {:.6g}", with_error->values[n] == 0
                                           ? with_error->uncertainty[n]
                                           : with_error->uncertainty[n] / std::abs(with_error->values[n])));
    out.write("\n");
  }
  out.write("0\n");
  out.commit();
}

}  // namespace terrane::electric
