#include "terrane/io/electrodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/ert_protocols.hpp"
#include "terrane/io/ert_tables.hpp"

namespace terrane::io {

using electric::Electrodes;
using electric::Point;
using FourElectrodes = electric::Array;

namespace {

/// The first line of files written by Terrane: without this comment, lines of electrode arrays can look like
/// lists of prisms.
constexpr std::string_view sign_of_ubc_dcip = "! DCIP3D";
constexpr std::string_view other_files =
    " Or is it a file of another program? Those of BERT, Res2dinv, Syscal, SuperSting and R2 are read, and "
    "tables with columns a_easting and so on; files of ABEM's instruments and of Lippmann's are not: bring "
    "theirs into one of these.";
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

/// Reads the next line that is not empty; false at the end of the text.
bool next_words(TextReader& in, std::string_view comments, std::vector<std::string_view>& words) {
  std::string_view line;
  while (in.line(line)) {
    words = words_of(line, comments);
    if (!words.empty()) return true;
  }
  return false;
}

/// All words as numbers; empty if one of them is not a number.  gaps: allows "nan"
std::optional<std::vector<double>> numbers_of(const std::vector<std::string_view>& words, bool gaps = false) {
  std::vector<double> values;
  for (const auto word : words) {
    double value = 0;
    if (!parse_number(word, value) || !(std::isfinite(value) || (gaps && std::isnan(value))))
      return std::nullopt;
    values.push_back(value);
  }
  return values;
}

std::vector<double> numbers_or_fail(TextReader& in, const std::vector<std::string_view>& words,
                                    const char* what, bool gaps = false) {
  auto values = numbers_of(words, gaps);
  if (!values) in.fail(fmt::format("\"{}\" is not {}", shown(words.front()), what), "Allowed: numbers.");
  return *values;
}

std::size_t count_of(TextReader& in, double value, const char* what) {
  constexpr double most = 1e9;
  if (!(value >= 0 && value <= most) || value != std::floor(value))
    in.fail(fmt::format("{} is not a number of {}", value, what), "Allowed: whole numbers.");
  return static_cast<std::size_t>(value);
}

/// The distinct positions of electrodes, in the order of their first occurrence.
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

/// The coordinates of an electrode in a UBC file.
enum class Coordinates : std::size_t { x = 1, x_y = 2, x_y_z = 3, x_z = 12 };
std::size_t count_of_coordinates(Coordinates has) { return static_cast<std::size_t>(has) % 10; }

/// Two electrodes, whose coordinates begin at index `from` of a row. If both positions are equal, the second
/// electrode is at infinity.
std::pair<int, int> pair_of(const std::vector<double>& row, std::size_t from, Coordinates has,
                            Places& places) {
  const std::size_t each = count_of_coordinates(has);
  const auto point = [&](std::size_t first) {
    const bool along = has == Coordinates::x_z;
    return Point{row[first], each > 1 && !along ? row[first + 1] : 0,
                 along      ? row[first + 1]
                 : each > 2 ? row[first + 2]
                            : on_the_ground};
  };
  const int one = places.of(point(from)), other = places.of(point(from + each));
  return {one, other == one ? FourElectrodes::far_away : other};
}

/// Whether the line is IPTYPE=1, after which data are chargeabilities (then sets `polarized`). Throws
/// InputError: another type, or the line follows data of another kind.
bool says_type(TextReader& in, const std::vector<std::string_view>& words, bool after_data, bool& polarized) {
  if (!words.front().starts_with("IPTYPE")) return false;
  const auto line = fmt::format("{}", fmt::join(words, ""));
  if (line != "IPTYPE=1")
    in.fail(fmt::format("{} is not read{}", shown(line), line == "IPTYPE=2" ? ": secondary potentials" : ""),
            "Allowed: IPTYPE=1, apparent chargeabilities.");
  if (after_data && !polarized)
    in.fail("data before this line are potentials, those after it chargeabilities",
            "Make a file of each, with IPTYPE=1 before the first block.");
  return polarized = true;
}

/// Whether the line is a single keyword of DCIP2D for the layout of electrode arrays: blocks with a common
/// current pair, or one array per line.
bool says_layout(const std::vector<std::string_view>& words) {
  if (words.size() != 1) return false;
  const auto word = lower(words.front());
  return word == "common_current" || word == "general" || word == "simple" || word == "surface";
}

bool is_count(double value) { return value >= 1 && value == std::floor(value); }

/// Whether three numbers behind a title are counts of the whole file, as old files have them, and not
/// positions of A and B along a line and the number of their potential pairs. next, after: the words of the
/// two lines behind them; empty: the text ends
bool are_counts(const std::vector<std::string_view>& next, const std::vector<std::string_view>& after) {
  if (next.size() != 3) return next.size() == 5 || next.size() == 7;     // a current pair by x, y or x, y, z
  if (after.size() != 3) return after.size() == 2 || after.size() == 4;  // a potential pair behind `next`
  const auto numbers = numbers_of(next);
  return numbers && is_count(numbers->back());
}

/// Skips a title and the counts of old files, and returns the numbers in the first line of data. layout: set
/// to DCIP2D's keyword before it, in small letters
std::vector<double> first_block(TextReader& in, bool& polarized, std::string& layout) {
  std::vector<std::string_view> words;
  bool title = false;
  while (next_words(in, "!", words)) {
    if (says_type(in, words, false, polarized)) continue;
    if (says_layout(words)) {
      layout = lower(words.front());
      continue;
    }
    const auto numbers = numbers_of(words);
    if (!numbers) {
      if (title)
        in.fail("two lines of text begin the file", "A title of one line may stand before the blocks.");
      title = true;
    } else {
      const auto mark = in.mark();
      std::vector<std::string_view> next, after;
      if (next_words(in, "!", next)) next_words(in, "!", after);
      const bool counts = title && numbers->size() == 3 && are_counts(next, after);
      in.rewind(mark);
      if (!counts) return *numbers;
      title = false;
    }
  }
  in.fail("there is no block of a current pair", "Such a line has positions of A and B, then a count.");
}

// Names of BERT's columns "ip" and "iperr" if these are ratios of voltages.
constexpr const char *chargeability = "chargeability", *chargeability_error = "chargeability error";

/// Units of a column in BERT's files, each with its factor; the first is that of columns without a unit.
using UnitsOfColumn = std::vector<std::pair<std::string_view, double>>;

/// The units of a column; empty for columns that are not read.
const UnitsOfColumn& units_of_column(std::string_view name) {
  static const UnitsOfColumn lengths{{"m", 1}, {"mm", 1e-3}, {"cm", 1e-2}, {"km", 1e3}},
      resistances{{"Ohm", 1}, {"ohm", 1}, {"V/A", 1}, {"1", 1}},
      resistivities{{"Ohmm", 1}, {"ohmm", 1}, {"Ohm*m", 1}, {"ohm*m", 1}, {"Ohm", 1}, {"ohm", 1}, {"1", 1}},
      polarizations{{"mrad", 1}, {"rad", 1e3}, {"mV/V", 1}, {"V/V", 1e3}, {"%", 1e-2}},
      shares{{"1", 1}, {"%", 1e-2}, {"V/V", 1}, {"mV/V", 1e-3}}, voltages{{"V", 1}, {"mV", 1e-3}},
      currents{{"A", 1}, {"mA", 1e-3}}, none;
  static const std::map<std::string_view, const UnitsOfColumn&> of_columns{
      {"x", lengths},     {"y", lengths},          {"z", lengths},        {"k", lengths},
      {"r", resistances}, {"rhoa", resistivities}, {"ip", polarizations}, {"iperr", polarizations},
      {"err", shares},    {"u", voltages},         {"i", currents}};
  const auto found = of_columns.find(name);
  return found == of_columns.end() ? none : found->second;
}

/// The factor of a column's unit. Throws InputError: a unit that this column cannot have.
double unit_factor(TextReader& in, const std::string& name, std::string_view unit) {
  const auto& units = units_of_column(name);
  if (unit.empty() || units.empty()) return 1;
  std::string known;
  for (const auto& [one, factor] : units) {
    if (one == unit) return factor;
    known += (known.empty() ? "" : ", ") + std::string(one);
  }
  in.fail(fmt::format("the unit \"{}\" of column {} is not known", shown(unit), name),
          fmt::format("Known there: {}.{}", known, name == "err" ? " Errors are shares of the value." : ""));
}

/// A column's name in small letters, with factor and unit, from "u/mV".
struct Token {
  std::string name;
  double factor = 1;
  std::string unit = {};
};

/// Gives the column "ip" a name and a unit: a phase in mrad or, if its unit is that of a ratio, a
/// chargeability in mV/V. Its error has the same unit unless it states another.
void name_polarization(TextReader& in, std::vector<Token>& tokens) {
  static const std::map<std::string, double> shares{{"mV/V", 1}, {"V/V", 1e3}, {"%", 10}};
  const auto is_named = [](const char* name) {
    return [name](const Token& token) { return token.name == name; };
  };
  const auto ip = std::find_if(tokens.begin(), tokens.end(), is_named("ip"));
  if (ip == tokens.end()) return;
  const auto error = std::find_if(tokens.begin(), tokens.end(), is_named("iperr"));
  if (error != tokens.end() && error->unit.empty()) {
    error->unit = ip->unit;
    error->factor = ip->factor;
  }
  if (error != tokens.end() && shares.contains(ip->unit) != shares.contains(error->unit))
    in.fail(fmt::format("ip is in \"{}\" and iperr in \"{}\"", shown(ip->unit), shown(error->unit)),
            "Both are phases (mrad, rad), or both chargeabilities (mV/V, V/V, %).");
  for (const auto token : {ip, error})
    if (token != tokens.end())
      if (const auto share = shares.find(token->unit); share != shares.end()) {
        token->name = token == ip ? chargeability : chargeability_error;
        token->factor = share->second;
      }
}

/// The name of a column from a word in a line of names, without its unit: "A/x" → "a".
std::string name_in(std::string_view word) {
  static const std::map<std::string, std::string> same{
      {"c1", "a"},  {"c2", "b"},       {"p1", "m"},  {"p2", "n"},   {"ra", "rhoa"},
      {"imp", "r"}, {"rho_a", "rhoa"}, {"u/i", "r"}, {"phi", "ip"}, {"error", "err"}};
  auto name = lower(word);
  if (name != "u/i") name = name.substr(0, name.find('/'));
  const auto known = same.find(name);
  return known == same.end() ? name : known->second;
}

std::vector<std::string_view> words_behind_hash(std::string_view line) {
  line.remove_prefix(std::min(line.find('#') + 1, line.size()));
  return words_of(line, "#");
}

/// Whether a comment has names of columns: coordinates of electrodes, or a, b, m, n of electrode arrays.
bool names_electrodes(const std::vector<std::string_view>& words) {
  return !words.empty() && std::all_of(words.begin(), words.end(), [](std::string_view word) {
    const auto name = name_in(word);
    return name == "x" || name == "y" || name == "z";
  });
}
bool names_arrays(const std::vector<std::string_view>& words) {
  constexpr std::string_view first[] = {"a", "m"};
  return std::all_of(std::begin(first), std::end(first), [&](std::string_view wanted) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return name_in(word) == wanted; });
  });
}

std::vector<Token> tokens_of(TextReader& in, std::string_view line) {
  std::vector<Token> tokens;
  for (const auto word : words_behind_hash(line)) {
    const auto name = name_in(word);
    const auto slash = lower(word) == "u/i" ? word.npos : word.find('/');
    const auto unit = slash == std::string_view::npos ? std::string_view{} : word.substr(slash + 1);
    tokens.push_back({name, unit_factor(in, name, unit), std::string(unit)});
  }
  name_polarization(in, tokens);
  for (std::size_t n = 1; n < tokens.size(); ++n)
    for (std::size_t before = 0; before < n; ++before)
      if (tokens[n].name == tokens[before].name)
        in.fail(fmt::format("two columns are called {}", shown(tokens[n].name)),
                "Rename the one that does not count.");
  return tokens;
}

/// A block of a BERT file: a count, then optionally a line of names after '#', then that number of rows.
struct BlockOfArrays {
  std::vector<Token> tokens;
  std::vector<std::vector<double>> rows;
};

/// Reads comments up to the next line of numbers; the first comment with names of columns gives the tokens.
void read_names(TextReader& in, bool arrays, BlockOfArrays& block) {
  auto mark = in.mark();
  for (std::string_view line; in.line(line); mark = in.mark()) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) continue;
    if (line[begin] != '#') break;
    const auto words = words_behind_hash(line);
    if (block.tokens.empty() && (arrays ? names_arrays(words) : names_electrodes(words)))
      block.tokens = tokens_of(in, line);
  }
  in.rewind(mark);
}

BlockOfArrays read_block(TextReader& in, const char* what, bool arrays) {
  BlockOfArrays block;
  const auto missing = fmt::format("the number of {} is missing", what);
  const auto next = fmt::format("It stands on a line of its own before the {}.", what);
  read_names(in, arrays, block);
  std::vector<std::string_view> words;
  if (!next_words(in, "#!", words)) in.fail(missing, next);
  if (const auto numbers = numbers_of(words, true); words.size() > 1 && numbers) in.fail(missing, next);
  if (words.size() > 1 || !numbers_of(words))
    in.fail(fmt::format("\"{}\" stands where the number of {} belongs", shown(words.front()), what),
            "A file of BERT begins with the number of its electrodes. Other files of arrays may be called "
            "so, too, such as those of ABEM's instruments, which are not read: export those as Res2dinv.");
  const auto count = count_of(in, numbers_of(words)->front(), what);
  read_names(in, arrays, block);
  while (block.rows.size() < count) {
    if (!next_words(in, "#", words))
      in.fail(fmt::format("{} of {} {} are there", block.rows.size(), count, what));
    block.rows.push_back(numbers_or_fail(in, words, "a number", arrays));
    if (block.rows.back().size() != block.rows.front().size())
      in.fail(fmt::format("{} numbers, where the first line has {}", block.rows.back().size(),
                          block.rows.front().size()));
  }
  if (!block.tokens.empty() && count > 0 && block.tokens.size() != block.rows.front().size())
    in.fail(fmt::format("{} numbers on a line of {}, where {} columns are named", block.rows.front().size(),
                        what, block.tokens.size()));
  return block;
}

/// The values of a named column; empty if there is none.
std::vector<double> column_named(const BlockOfArrays& block, const std::string& name) {
  for (std::size_t c = 0; c < block.tokens.size(); ++c)
    if (block.tokens[c].name == name && !block.rows.empty() && c < block.rows.front().size()) {
      std::vector<double> values;
      for (const auto& row : block.rows) values.push_back(row[c] * block.tokens[c].factor);
      return values;
    }
  return {};
}

/// Reads the positions of electrodes by the names of their columns: x east, y north, z up. Two coordinates
/// without names are x and z.
std::vector<Point> sensors_of(TextReader& in, std::string& note) {
  auto block = read_block(in, "electrodes", false);
  const std::size_t columns = block.rows.empty() ? 0 : block.rows.front().size();
  if (columns > 3) in.fail(fmt::format("electrodes have {} coordinates", columns), "Allowed: one to three.");
  if (block.tokens.empty() && columns > 0) {
    constexpr const char* named[3][3] = {{"x", "", ""}, {"x", "z", ""}, {"x", "y", "z"}};
    for (std::size_t c = 0; c < columns; ++c) block.tokens.push_back({named[columns - 1][c]});
    if (columns == 2) note += "electrodes have two coordinates without names: taken as x and z, the height\n";
  }
  const auto x = column_named(block, "x"), y = column_named(block, "y"), z = column_named(block, "z");
  if (!block.rows.empty() && x.empty() && y.empty()) in.fail("electrodes have no column x");
  if (!y.empty() && z.empty())
    note += "electrodes have x and y: taken as easting and northing, on the ground. A height is called z\n";
  std::vector<Point> all;
  for (std::size_t n = 0; n < block.rows.size(); ++n)
    all.push_back({x.empty() ? 0 : x[n], y.empty() ? 0 : y[n], z.empty() ? on_the_ground : z[n]});
  return all;
}

/// Gives the columns "ip" and "iperr" names if they have no unit: a phase in mrad, the default of this
/// format, or the quantity asked for.
void take_polarization_as(const UbcColumn& asked, BlockOfArrays& block, std::string& note) {
  for (auto& token : block.tokens) {
    const bool error = token.name == "iperr";
    if ((token.name != "ip" && !error) || !token.unit.empty()) continue;
    if (asked.name == "chargeability") token.name = error ? chargeability_error : chargeability;
    else if (!error)
      note += "ip has no unit and is taken as a phase, mrad. Chargeabilities are called ip/mV/V\n";
  }
}

/// Reads what follows the electrode arrays: nothing, or a count of topography points with the points.
void read_topography(TextReader& in, std::size_t arrays, std::string& note) {
  std::vector<std::string_view> words;
  if (!next_words(in, "#!", words)) return;
  if (words.size() > 1 || !numbers_of(words))
    in.fail(fmt::format("\"{}\" stands after the {} arrays", shown(words.front()), arrays),
            "Is their number wrong? Behind them may be points of topography, with a count before them.");
  const auto points = count_of(in, numbers_of(words)->front(), "points of topography");
  for (std::size_t n = 0; n < points; ++n)
    if (!next_words(in, "#!", words))
      in.fail(fmt::format("{} of {} points of topography are there", n, points));
  if (points > 0)
    note += fmt::format(
        "{} points of topography behind the arrays are not read: model.topography takes a file of "
        "heights\n",
        points);
  if (next_words(in, "#!", words))
    in.fail(fmt::format("\"{}\" stands after the last thing that such a file has", shown(words.front())),
            "Check the counts.");
}

/// Names of data columns that are not read.
std::string columns_not_read(const BlockOfArrays& block) {
  static const std::set<std::string> read{"a",     "b",  "m",     "n",           "r",
                                          "u",     "i",  "rhoa",  "ip",          "err",
                                          "iperr", "k",  "valid", chargeability, chargeability_error,
                                          "nr",    "no", "num",   "id"};
  std::string names;
  for (const auto& token : block.tokens)
    if (!read.contains(token.name)) names += (names.empty() ? "" : ", ") + token.name;
  return names;
}

}  // namespace

const ElectrodeColumn* ElectrodeData::find(const std::string& name) const {
  for (const auto& column : columns)
    if (column.name == name) return &column;
  return nullptr;
}

namespace {

/// Reads the electrode arrays of a UBC file.
class UbcArrays {
 public:
  UbcArrays(TextReader& in, const UbcColumn& given) : in_(in), given_(given), places_(data_.electrodes) {}

  ElectrodeData read() {
    std::string layout;
    auto header = first_block(in_, polarized_, layout);
    if (const auto has = of_single_lines(header.size(), layout)) single_lines(*has, std::move(header));
    else blocks(std::move(header), !layout.empty());
    if (extra_ > 0) {
      column_.name = !given_.name.empty() ? given_.name : polarized_ ? "chargeability" : "resistance";
      column_.unit = !given_.unit.empty() ? given_.unit : column_.name == "resistance" ? "V/A" : "mV/V";
      data_.columns.push_back(std::move(column_));
    }
    return std::move(data_);
  }

 private:
  /// The coordinates of each electrode, if a line is a whole electrode array; empty if the first line is a
  /// current pair and a count.
  std::optional<Coordinates> of_single_lines(std::size_t width, const std::string& layout) const {
    constexpr std::size_t values = 2;
    if (width >= 12 && width <= 12 + values) return Coordinates::x_y_z;
    if (width >= 8 && width <= 8 + values) {
      if (layout.empty())
        in_.fail(
            fmt::format("{} numbers on a line of an array: x and z of each electrode, or x and y", width),
            "Write SIMPLE on a line before the data of a section (x and z), or give x, y and z.");
      return Coordinates::x_z;
    }
    if (width == 4 || width == 6 || (width == 5 && layout == "simple")) return Coordinates::x;
    return std::nullopt;
  }
  /// Reads a line with the electrodes of an array, or of its potential pair, and its data.
  void take(const std::vector<double>& row, std::size_t places) {
    if (row.size() < places || row.size() > places + 2)
      in_.fail(fmt::format("{} numbers on the line of {}", row.size(),
                           places_before_ ? "a potential pair" : "an array"),
               fmt::format("Allowed: {} of places, then a value and its uncertainty.", places));
    if (data_.electrodes.arrays.empty()) extra_ = row.size() - places;
    if (row.size() - places != extra_)
      in_.fail("some pairs have a value and others none", "All have one, all with an uncertainty, or none.");
    if (extra_ > 0) column_.values.push_back(row[places]);
    if (extra_ > 1) column_.uncertainty.push_back(std::abs(row[places + 1]));
  }
  void single_lines(Coordinates has, std::vector<double> row) {
    const std::size_t pair = 2 * count_of_coordinates(has);
    std::vector<std::string_view> words;
    for (bool more = true; more;) {
      take(row, 2 * pair);
      const auto [a, b] = pair_of(row, 0, has, places_);
      const auto [m, n] = pair_of(row, pair, has, places_);
      data_.electrodes.arrays.push_back({a, b, m, n});
      more = next_words(in_, "!", words);
      while (more && says_type(in_, words, true, polarized_)) more = next_words(in_, "!", words);
      if (more) row = numbers_or_fail(in_, words, "a place of A");
    }
  }
  void blocks(std::vector<double> header, bool two_dimensional) {
    places_before_ = true;
    std::vector<std::string_view> words;
    for (bool more = true; more;) {
      if (header.size() != 3 && header.size() != 5 && header.size() != 7)
        in_.fail(fmt::format("{} numbers on the line of a current pair", header.size()),
                 fmt::format(
                     "Allowed in files of UBC: XA YA XB YB n, with ZA and ZB for heights, or XA XB n along a "
                     "line; or four electrodes and a value on each line.{}",
                     data_.electrodes.arrays.empty() ? other_files : ""));
      const auto has = header.size() == 3                      ? Coordinates::x
                       : header.size() == 5 && two_dimensional ? Coordinates::x_z
                       : header.size() == 5                    ? Coordinates::x_y
                                                               : Coordinates::x_y_z;
      const auto [a, b] = pair_of(header, 0, has, places_);
      const auto count = count_of(in_, header.back(), "potential pairs");
      for (std::size_t n = 0; n < count; ++n) {
        if (!next_words(in_, "!", words))
          in_.fail(fmt::format("{} of {} potential pairs are there", n, count));
        if (says_type(in_, words, !data_.electrodes.arrays.empty(), polarized_)) {
          --n;
          continue;
        }
        const auto row = numbers_or_fail(in_, words, "a number");
        take(row, 2 * count_of_coordinates(has));
        const auto [m, second] = pair_of(row, 0, has, places_);
        data_.electrodes.arrays.push_back({a, b, m, second});
      }
      more = next_words(in_, "!", words);
      while (more && says_type(in_, words, !data_.electrodes.arrays.empty(), polarized_))
        more = next_words(in_, "!", words);
      if (more) header = numbers_or_fail(in_, words, "a place of A");
    }
  }

  TextReader& in_;
  UbcColumn given_;
  ElectrodeData data_;
  Places places_;
  ElectrodeColumn column_;
  std::size_t extra_ = 0;
  bool polarized_ = false, places_before_ = false;
};

}  // namespace

ElectrodeData read_ubc_dcip(TextReader& in, const UbcColumn& given) { return UbcArrays(in, given).read(); }

namespace {

/// Indices, from 0, of the electrodes A, B, M and N [4][arrays]; −1: at infinity.
std::array<std::vector<int>, 4> electrodes_of_arrays(const TextReader& in, const BlockOfArrays& block,
                                                     std::size_t count) {
  std::array<std::vector<int>, 4> all;
  for (std::size_t p = 0; p < 4; ++p) {
    const auto numbers = column_named(block, std::string(1, "abmn"[p]));
    if (numbers.empty() && !block.rows.empty())
      in.fail(fmt::format("arrays have no column {}", "abmn"[p]),
              "A line such as \"# a b m n rhoa\" names them.");
    for (const double number : numbers) {
      if (!(number >= 0 && number <= static_cast<double>(count)) || number != std::floor(number))
        in.fail(fmt::format("an array has electrode {}", number),
                fmt::format("Allowed: 1 to {}, or 0 for one far away.", count));
      all[p].push_back(static_cast<int>(number) - 1);
    }
  }
  return all;
}

/// Indices of the rows that the column "valid" does not exclude.
std::vector<std::size_t> valid_rows(const BlockOfArrays& block, std::string& note) {
  const auto valid = column_named(block, "valid");
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < block.rows.size(); ++row)
    if (valid.empty() || valid[row] != 0) kept.push_back(row);
  if (const auto out = block.rows.size() - kept.size(); out > 0)
    note += fmt::format("{} of {} arrays are not valid, as the file says, and left out\n", out,
                        block.rows.size());
  return kept;
}

void note_large_shares(const BlockOfArrays& block, const std::vector<double>& relative, std::string& note) {
  const auto unit_of_error = std::find_if(block.tokens.begin(), block.tokens.end(),
                                          [](const Token& token) { return token.name == "err"; });
  if (unit_of_error != block.tokens.end() && unit_of_error->unit.empty() &&
      std::any_of(relative.begin(), relative.end(), [](double share) { return share >= 1; }))
    note +=
        fmt::format("err has no unit and is a share of the value: up to {:.3g}. Per cent are called err/%\n",
                    *std::max_element(relative.begin(), relative.end()));
}

}  // namespace

ElectrodeData read_bert(TextReader& in, const UbcColumn& asked) {
  ElectrodeData data;
  data.electrodes.place = sensors_of(in, data.note);
  auto block = read_block(in, "arrays", true);
  read_topography(in, block.rows.size(), data.note);
  if (const auto names = columns_not_read(block); !names.empty())
    data.note += fmt::format("columns that are not read: {}\n", names);
  take_polarization_as(asked, block, data.note);
  const auto numbers = electrodes_of_arrays(in, block, data.electrodes.place.size());
  const auto kept = valid_rows(block, data.note);
  for (const auto row : kept)
    data.electrodes.arrays.push_back({numbers[0][row], numbers[1][row], numbers[2][row], numbers[3][row]});
  const auto of_kept = [&](const std::string& name) {
    const auto values = column_named(block, name);
    std::vector<double> chosen;
    for (const auto row : kept)
      if (!values.empty()) chosen.push_back(values[row]);
    return chosen;
  };
  auto resistance = of_kept("r");
  const auto u = of_kept("u"), i = of_kept("i");
  if (resistance.empty() && !u.empty() && !i.empty())
    for (std::size_t n = 0; n < u.size(); ++n) resistance.push_back(i[n] == 0 ? NAN : u[n] / i[n]);
  const auto relative = of_kept("err");
  note_large_shares(block, relative, data.note);
  const auto add = [&](const char* name, const char* unit, std::vector<double> values,
                       const std::vector<double>& uncertainty, bool is_relative) {
    if (values.empty()) return;
    ElectrodeColumn column{name, unit, std::move(values), uncertainty};
    for (std::size_t n = 0; n < column.uncertainty.size(); ++n)
      column.uncertainty[n] = std::abs(column.uncertainty[n] * (is_relative ? column.values[n] : 1));
    data.columns.push_back(std::move(column));
  };
  add("resistance", "V/A", std::move(resistance), relative, true);
  add("apparent_resistivity", "ohm m", of_kept("rhoa"), relative, true);
  add("phase", "mrad", of_kept("ip"), of_kept("iperr"), false);
  add("chargeability", "mV/V", of_kept(chargeability), of_kept(chargeability_error), false);
  add("geometric_factor", "m", of_kept("k"), {}, false);
  if (!data.note.empty()) data.note.pop_back();
  return data;
}

namespace {

/// Throws InputError for data that cannot be written.
void check(const ElectrodeData& data) {
  data.electrodes.check();
  const std::size_t arrays = data.electrodes.arrays.size();
  for (const auto& column : data.columns) {
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

/// Throws UnsupportedError for other quantities: readers of a UBC file would take them for a resistance.
void expect_in_ubc(const std::string& path, const std::string& name) {
  if (name != "resistance" && name != "chargeability")
    throw UnsupportedError(path, fmt::format("files of UBC DCIP have no column \"{}\"", shown(name)),
                           "Allowed: resistance, chargeability. Files of BERT (.ohm) have others.");
}

/// Whether electrodes have heights. Throws InputError if only some have.
bool have_heights(const std::string& path, const std::vector<Point>& place) {
  const auto lies = [](const Point& p) { return std::isnan(p.u); };
  const auto first = std::find_if(place.begin(), place.end(), lies);
  if (first == place.end()) return true;
  if (std::all_of(place.begin(), place.end(), lies)) return false;
  throw InputError(path,
                   fmt::format("electrode {} has no height, and others have", first - place.begin() + 1),
                   "Give all a height, or none.");
}

}  // namespace

void write_ubc_dcip(const std::string& path, const ElectrodeData& data) {
  check(data);
  if (!data.columns.empty()) expect_in_ubc(path, data.columns.front().name);
  const auto& electrodes = data.electrodes;
  const bool heights = have_heights(path, electrodes.place);
  const auto place = [&](int n, int other) {
    const auto& p = electrodes.place[static_cast<std::size_t>(n == FourElectrodes::far_away ? other : n)];
    return heights ? fmt::format("{:.10g} {:.10g} {:.10g}", p.e, p.n, p.u)
                   : fmt::format("{:.10g} {:.10g}", p.e, p.n);
  };
  std::vector<std::size_t> kept;
  for (std::size_t n = 0; n < electrodes.arrays.size(); ++n)
    if (data.columns.empty() || !std::isnan(data.columns.front().values[n])) kept.push_back(n);
  if (kept.empty())
    throw InputError(path, "there is no array with a value, and the file has no place for others",
                     "Files of BERT (.ohm) have gaps.");
  if (!data.columns.empty() && !data.columns.front().uncertainty.empty())
    for (const std::size_t n : kept)
      if (std::isnan(data.columns.front().uncertainty[n]))
        refuse_uncertainty(n, "it has a value without an uncertainty, and other arrays have one",
                           "Give all an uncertainty or none; or write a file of BERT (.ohm).");
  AtomicFile out(path);
  const std::string name = data.columns.empty() ? "" : data.columns.front().name;
  out.write(fmt::format("{}{}\n", sign_of_ubc_dcip, name.empty() ? "" : ": " + name));
  if (name == "chargeability") out.write("IPTYPE=1\n");
  // Consecutive electrode arrays with the same current pair form a block.
  for (std::size_t first = 0, last = 0; first < kept.size(); first = last) {
    const auto& head = electrodes.arrays[kept[first]];
    const auto of_pair = [&](const FourElectrodes& array) { return array.a == head.a && array.b == head.b; };
    while (last < kept.size() && of_pair(electrodes.arrays[kept[last]])) ++last;
    out.write(fmt::format("{} {} {}\n", place(head.a, head.b), place(head.b, head.a), last - first));
    for (std::size_t at = first; at < last; ++at) {
      const std::size_t n = kept[at];
      const auto& array = electrodes.arrays[n];
      out.write(fmt::format("{} {}", place(array.m, array.n), place(array.n, array.m)));
      if (!data.columns.empty()) {
        const auto& column = data.columns.front();
        out.write(fmt::format(" {:.10g}", column.values[n]));
        if (!column.uncertainty.empty()) out.write(fmt::format(" {:.6g}", column.uncertainty[n]));
      }
      out.write("\n");
    }
    out.write("\n");
  }
  out.commit();
}

namespace {

/// The name of a column in files of BERT.
std::string_view token_of(const std::string& name) {
  static const std::map<std::string, std::string_view> names{
      {"resistance", "r"}, {"apparent_resistivity", "rhoa"}, {"phase", "ip/mrad"}, {"geometric_factor", "k"}};
  const auto found = names.find(name);
  return found == names.end() ? std::string_view{} : found->second;
}

/// The positions of electrodes as text; only x if electrodes have no heights and all have northing 0.
std::string sensors(const std::string& path, const std::vector<Point>& place) {
  std::string text = fmt::format("{}\n", place.size());
  if (have_heights(path, place)) {
    text += "# x y z\n";
    for (const auto& p : place) text += fmt::format("{:.10g} {:.10g} {:.10g}\n", p.e, p.n, p.u);
    return text;
  }
  for (const auto& p : place)
    if (p.n != 0)
      throw InputError(path, "electrodes that lie beside a line have no heights, which the file needs",
                       "Give columns a_up, b_up, m_up and n_up, or write a file of UBC (.dcip).");
  text += "# x\n";
  for (const auto& p : place) text += fmt::format("{:.10g}\n", p.e);
  return text;
}

}  // namespace

void write_bert(const std::string& path, const ElectrodeData& data) {
  check(data);
  const auto& electrodes = data.electrodes;
  std::vector<const ElectrodeColumn*> columns;
  for (const auto& column : data.columns)
    if (!token_of(column.name).empty()) columns.push_back(&column);
  const ElectrodeColumn* with_error = nullptr;
  for (const auto* column : columns)
    if (!with_error && column->name != "phase" && !column->uncertainty.empty()) with_error = column;
  for (std::size_t n = 0; with_error && n < electrodes.arrays.size(); ++n)
    if (with_error->values[n] == 0 && with_error->uncertainty[n] > 0)
      refuse_uncertainty(n,
                         fmt::format("its {} is 0, and its uncertainty is relative there", with_error->name),
                         "Leave the array out, or write a file of UBC (.dcip).");
  const auto places = sensors(path, electrodes.place);
  AtomicFile out(path);
  out.write(places);
  out.write(fmt::format("{}\n# a b m n", electrodes.arrays.size()));
  for (const auto* column : columns) out.write(fmt::format(" {}", token_of(column->name)));
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

// --- tables ------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view letters = "abmn";
constexpr const char* axes[3] = {"easting", "northing", "up"};

/// A quantity that is measured with electrode arrays, and the unit of its columns.
struct DatumKind {
  const char *name, *unit;
  Quantity quantity;
};
constexpr DatumKind datum_kinds[] = {{"resistance", "V/A", Quantity::resistance},
                                     {"apparent_resistivity", "ohm m", Quantity::resistivity},
                                     {"chargeability", "mV/V", Quantity::fraction},
                                     {"phase", "mrad", Quantity::angle},
                                     {"geometric_factor", "m", Quantity::length}};

std::vector<double> in_unit(const Column& column, const DatumKind& kind) {
  const double factor = column.unit.empty() || column.unit == kind.unit
                            ? 1
                            : si_factor(kind.quantity, column.unit) / si_factor(kind.quantity, kind.unit);
  auto values = column.values;
  for (double& value : values) value *= factor;
  return values;
}

/// The columns with the values of a quantity and, if they were measured, with their uncertainty; null if
/// missing.
std::pair<const Column*, const Column*> columns_of(const Table& table, const DatumKind& kind,
                                                   TakenValues taken) {
  const std::string name = kind.name;
  const bool measured = kind.quantity != Quantity::length;
  if (taken == TakenValues::computed || !measured)
    if (const auto* computed = table.find(name)) return {computed, nullptr};
  const auto* observed = measured ? table.find(name + "_observed") : nullptr;
  return {observed, observed != nullptr ? table.find(name + "_uncertainty") : nullptr};
}

std::string name_of(char letter, std::size_t axis) { return fmt::format("{}_{}", letter, axes[axis]); }

/// Coordinates from a table, [electrode a b m n][axis][rows]; empty if the table does not have them.
using PlaceColumns = std::array<std::array<std::vector<double>, 3>, 4>;

PlaceColumns place_columns(const Table& table) {
  PlaceColumns at;
  for (std::size_t p = 0; p < 4; ++p)
    for (std::size_t x = 0; x < 3; ++x) {
      const auto name = name_of(letters[p], x);
      if (const auto* column = table.find(name)) {
        const double factor = column->unit.empty() ? 1 : si_factor(Quantity::length, column->unit);
        at[p][x] = column->values;
        for (double& value : at[p][x]) value *= factor;
      } else if (x < 2 && (letters[p] == 'a' || letters[p] == 'm')) {
        throw InputError(
            table.source, fmt::format("there is no column {}", name),
            "Columns are a_easting, a_northing, a_up, and so for b, m and n; b and n may be missing.");
      }
    }
  return at;
}

/// Sorts electrodes by position: along a line from west to east, and in a borehole downwards.
void sort_places(Electrodes& electrodes) {
  const auto& place = electrodes.place;
  std::vector<int> order(place.size()), rank(place.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = static_cast<int>(n);
  const auto key = [&](int n) {
    const auto& p = place[static_cast<std::size_t>(n)];
    return std::tuple(p.e, p.n, std::isnan(p.u) ? -INFINITY : -p.u);
  };
  std::sort(order.begin(), order.end(), [&](int one, int other) { return key(one) < key(other); });
  std::vector<Point> sorted;
  for (std::size_t n = 0; n < order.size(); ++n) {
    sorted.push_back(place[static_cast<std::size_t>(order[n])]);
    rank[static_cast<std::size_t>(order[n])] = static_cast<int>(n);
  }
  electrodes.place = std::move(sorted);
  for (auto& array : electrodes.arrays)
    for (int* n : {&array.a, &array.b, &array.m, &array.n})
      if (*n != FourElectrodes::far_away) *n = rank[static_cast<std::size_t>(*n)];
}

/// Throws UnsupportedError if the table has no electrode arrays.
void expect_arrays(const std::string& path, std::string_view format, const Table& table) {
  for (const char* name : {"a_easting", "a_northing", "m_easting", "m_northing"})
    if (table.find(name) == nullptr)
      throw UnsupportedError(
          path, fmt::format("{} holds arrays of electrodes, and the table has no column {}", format, name),
          "Write NetCDF or CSV.");
}

/// The names of columns that are neither positions nor in `written`, the columns that a file gets.
std::vector<std::string> beside(const Table& table, std::set<const Column*> written) {
  for (std::size_t x = 0; x < 3; ++x) {
    written.insert(table.find(axes[x]));  // position at which a value is plotted
    for (const char letter : letters) written.insert(table.find(name_of(letter, x)));
  }
  std::vector<std::string> names;
  for (const auto& column : table.columns)
    if (!written.contains(&column)) names.push_back(column.name);
  return names;
}

/// The quantity that a UBC file will contain; null: electrode arrays only.
const DatumKind* kind_of_field(const std::string& path, const Table& table, const std::string& field) {
  const auto is_there = [&](const DatumKind& kind) {
    return columns_of(table, kind, TakenValues::computed).first != nullptr;
  };
  if (field.empty()) {
    for (const std::size_t k : {0U, 2U})
      if (is_there(datum_kinds[k])) return &datum_kinds[k];
    return nullptr;
  }
  expect_in_ubc(path, field);
  for (const auto& kind : datum_kinds)
    if (field == kind.name && is_there(kind)) return &kind;
  throw UnsupportedError(path, fmt::format("there is no column \"{}\" of arrays to write", field),
                         "Allowed: resistance or chargeability, where there are.");
}

/// The data to write. For computed data at a frequency, the column resistance is the in-phase part; files
/// contain the magnitude, to which the phase belongs.
ElectrodeData to_write(const Table& table) {
  auto data = to_electrode_data(table, TakenValues::computed);
  if (const auto* computed = table.find("resistance"), *reactance = table.find("reactance");
      computed != nullptr && reactance != nullptr) {
    const auto out_of_phase = in_unit(*reactance, datum_kinds[0]);
    for (auto& column : data.columns)
      for (std::size_t n = 0; column.name == "resistance" && n < column.values.size(); ++n)
        column.values[n] = std::copysign(std::hypot(column.values[n], out_of_phase[n]), column.values[n]);
  }
  sort_places(data.electrodes);
  return data;
}

}  // namespace

Table to_table(const ElectrodeData& data) {
  Table table;
  const auto& [place, arrays] = data.electrodes;
  for (std::size_t p = 0; p < 4; ++p)
    for (std::size_t x = 0; x < 3; ++x) {
      Column column{name_of(letters[p], x), "m", fmt::format("electrode {}, {}", letters[p], axes[x]), {}};
      for (const auto& array : arrays) {
        const int n = std::array{array.a, array.b, array.m, array.n}[p];
        const Point at =
            n == FourElectrodes::far_away ? Point{NAN, NAN, NAN} : place[static_cast<std::size_t>(n)];
        column.values.push_back(std::array{at.e, at.n, at.u}[x]);
      }
      table.columns.push_back(std::move(column));
    }
  for (const auto& column : data.columns) {
    const bool measured = column.name != "geometric_factor";
    table.columns.push_back({column.name + (measured ? "_observed" : ""), column.unit, "", column.values});
    if (!column.uncertainty.empty())
      table.columns.push_back({column.name + "_uncertainty", column.unit, "", column.uncertainty});
  }
  table.attributes["electrodes"] = fmt::format("{}", place.size());
  if (!data.note.empty()) table.attributes["note"] = data.note;
  return table;
}

ElectrodeData to_electrode_data(const Table& table, TakenValues taken) {
  const auto at = place_columns(table);
  ElectrodeData data;
  Places places(data.electrodes);
  const auto electrode = [&](std::size_t p, std::size_t row) {
    const auto get = [&](std::size_t x) { return at[p][x].empty() ? NAN : at[p][x][row]; };
    if (std::isnan(get(0)) && std::isnan(get(1))) return FourElectrodes::far_away;
    if (std::isnan(get(0)) || std::isnan(get(1)))
      throw InputError(table.where(row), fmt::format("electrode {} has one coordinate", letters[p]),
                       "Give both, or leave both empty when it is far away.");
    return places.of({get(0), get(1), get(2)});
  };
  for (std::size_t row = 0; row < table.rows(); ++row)
    data.electrodes.arrays.push_back(
        {electrode(0, row), electrode(1, row), electrode(2, row), electrode(3, row)});
  for (const auto& kind : datum_kinds) {
    const auto [values, uncertainty] = columns_of(table, kind, taken);
    if (values == nullptr) continue;
    ElectrodeColumn column{kind.name, kind.unit, in_unit(*values, kind), {}};
    if (uncertainty != nullptr) column.uncertainty = in_unit(*uncertainty, kind);
    data.columns.push_back(std::move(column));
  }
  return data;
}

std::vector<std::string> left_out_of_bert(const std::string& path, const Table& table) {
  expect_arrays(path, "a file of BERT", table);
  std::set<const Column*> written;
  bool with_error = false;
  for (const auto& kind : datum_kinds) {
    if (token_of(kind.name).empty()) continue;
    const auto [values, uncertainty] = columns_of(table, kind, TakenValues::computed);
    written.insert(values);
    if (!with_error && uncertainty != nullptr && std::string_view(kind.name) != "phase") {
      written.insert(uncertainty);
      with_error = true;
    }
  }
  if (table.find("resistance") != nullptr && table.find("phase") != nullptr)
    written.insert(table.find("reactance"));  // magnitude and phase contain the reactance, too
  return beside(table, std::move(written));
}

void write_bert_rows(const std::string& path, const Table& table) {
  left_out_of_bert(path, table);
  write_bert(path, to_write(table));
}

std::vector<std::string> left_out_of_ubc_dcip(const std::string& path, const Table& table,
                                              const std::string& field) {
  expect_arrays(path, "a file of UBC DCIP", table);
  const auto* kind = kind_of_field(path, table, field);
  if (kind == nullptr) return beside(table, {});
  const auto [values, uncertainty] = columns_of(table, *kind, TakenValues::computed);
  auto names = beside(table, {values, uncertainty});
  if (const auto gaps = std::count_if(values->values.begin(), values->values.end(),
                                      [](double value) { return std::isnan(value); });
      gaps > 0)
    names.push_back(
        fmt::format("{} of {} arrays, which have no {}", gaps, values->values.size(), kind->name));
  return names;
}

void write_ubc_dcip_rows(const std::string& path, const Table& table, const std::string& field) {
  left_out_of_ubc_dcip(path, table, field);
  const auto* kind = kind_of_field(path, table, field);
  auto data = to_write(table);
  std::erase_if(data.columns,
                [&](const ElectrodeColumn& column) { return kind == nullptr || column.name != kind->name; });
  write_ubc_dcip(path, data);
}

// --- recognition of formats by their first lines --------------------------------------------------------

namespace {

/// The number that is alone in its line: the count of electrodes, which distinguishes BERT from UBC files.
std::optional<double> number_alone(const std::vector<std::string_view>& words) {
  double number = 0;
  if (words.size() != 1 || !parse_number(words.front(), number)) return std::nullopt;
  return number;
}

}  // namespace

namespace {

/// The next few lines as one text, without moving on.
std::string head_of(TextReader& in) {
  constexpr std::size_t lines = 8;
  const auto mark = in.mark();
  std::string head;
  std::string_view line;
  for (std::size_t n = 0; n < lines && head.size() < head_bytes && in.line(line); ++n)
    head += std::string(line) + "\n";
  in.rewind(mark);
  return head;
}

/// Renames columns XA, YA, ZA and so on, or A, B, M, N, and V/A, RHOA to Terrane's names; without Y,
/// electrodes are along x. If there is a column XA, a column A is not a position but the number of an
/// electrode or a spacing.
void take_usual_names(Table& table) {
  constexpr std::string_view from = "xyz";
  constexpr std::string_view numbered[][2] = {{"c1", "a"}, {"c2", "b"}, {"p1", "m"}, {"p2", "n"}};
  const bool by_axis =
      std::ranges::any_of(table.columns, [](const Column& column) { return lower(column.name) == "xa"; });
  for (auto& column : table.columns) {
    auto name = lower(column.name);
    for (const auto& [electrode, letter] : numbered)
      if (!by_axis && name == electrode) name = letter;
    if (name.size() == 2 && from.find(name[0]) != from.npos && letters.find(name[1]) != letters.npos) {
      column.name = name_of(name[1], from.find(name[0]));
      if (column.unit.empty()) column.unit = "m";
    } else if (!by_axis && name.size() == 1 && letters.find(name[0]) != letters.npos) {
      column.name = name_of(name[0], 0);
      if (column.unit.empty()) column.unit = "m";
    } else if (name == "v/a" || name == "r" || name == "u/i" || name == "v/i" || name == "resistance") {
      column = {"resistance_observed", column.unit.empty() ? "V/A" : column.unit, "",
                std::move(column.values)};
    } else if (name == "rhoa" || name == "rho" || name == "rho_a" || name == "ra" ||
               name == "apparent_resistivity") {
      column = {"apparent_resistivity_observed", column.unit.empty() ? "ohm m" : column.unit, "",
                std::move(column.values)};
    }
  }
  for (const char letter : letters) {
    const auto* x = table.find(name_of(letter, 0));
    if (x == nullptr || table.find(name_of(letter, 1)) != nullptr) continue;
    std::vector<double> y;
    for (const double value : x->values) y.push_back(std::isnan(value) ? value : 0);
    table.columns.push_back({name_of(letter, 1), "m", "", std::move(y)});
  }
}

}  // namespace

namespace {

/// The words in the first line, separated by commas, semicolons, tabs and blanks; in small letters.
std::set<std::string> names_of(std::string_view head) {
  std::set<std::string> names;
  std::string name;
  for (const char c : lower(head.substr(0, head.find_first_of("\r\n"))) + ",") {
    const bool between = std::string_view(",; \t\"").find(c) != std::string_view::npos;
    if (!between) name += c;
    else if (!name.empty()) names.insert(std::exchange(name, {}));
  }
  return names;
}

/// Whether the first line has columns named A, B, M and N, or C1, C2, P1 and P2: positions of electrodes
/// along x.
bool names_electrodes(std::string_view head) {
  const auto names = names_of(head);
  const auto all = [&](auto... one) { return (names.contains(one) && ...); };
  if (all("xa", "xm")) return false;
  return all("a", "b", "m", "n") || all("c1", "c2", "p1", "p2");
}

/// Throws InputError if the first line has names of columns separated by commas, which no other format of
/// electrode arrays has.
void refuse_other_columns(const TextReader& in, std::string_view head) {
  constexpr std::ptrdiff_t fewest = 4;
  const auto line = head.substr(0, head.find_first_of("\r\n"));
  const auto next =
      head.substr(std::min(head.size(), head.find('\n') + 1));  // the title of a UBC file may have commas
  const auto row = next.substr(0, next.find('\n'));
  const bool words = !line.empty() && std::isalpha(static_cast<unsigned char>(line.front())) != 0;
  for (const char between : {',', ';', '\t'})
    if (words && std::count(line.begin(), line.end(), between) >= fewest &&
        std::count(row.begin(), row.end(), between) >= fewest)
      throw InputError(
          in.name(), fmt::format("its columns {} are none of arrays of electrodes", shown(line)),
          "Call places along a line A, B, M, N, or XA, YA, ZA and so on, and what was measured rhoa (ohm "
          "m) or R (V/A).");
}

/// Reads a table of electrode arrays with columns named A, B, M, N. Throws InputError if no column has
/// measured values.
ElectrodeData read_named(TextReader& in) {
  auto rows = read_csv(in);
  take_usual_names(rows);
  if (rows.find("resistance_observed") == nullptr && rows.find("apparent_resistivity_observed") == nullptr)
    throw InputError(in.name(), "no column tells what was measured with A, B, M and N",
                     "Call it rhoa (ohm m) or R (V/A).");
  auto data = to_electrode_data(rows, TakenValues::observed);
  std::string others;
  for (const auto& column : rows.columns)
    if (column.name.find("_easting") == column.name.npos &&
        column.name.find("_northing") == column.name.npos && !column.name.ends_with("_observed"))
      others += (others.empty() ? "" : ", ") + column.name;
  data.note = "A, B, M and N are taken for places along x, m";
  if (!others.empty()) data.note += "; not read: " + others;
  return data;
}

}  // namespace

ElectrodeData read_arrays(TextReader& in, const UbcColumn& column) {
  const auto begin = in.mark();
  const auto head = head_of(in);
  if (begins_res2dinv(head)) return read_res2dinv(in);
  if (begins_syscal(head)) return read_syscal(in);
  if (begins_sting(head)) return read_sting(in);
  if (begins_protocol(head)) return read_protocol(in);
  if (names_electrodes(head)) return read_named(in);
  std::vector<std::string_view> words;
  if (!next_words(in, "#!", words)) in.fail("the file is empty");
  const auto is_there = [&](std::string_view wanted) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return lower(word).starts_with(wanted); });
  };
  const bool table = is_there("a_easting"), usual = is_there("xa") && is_there("xm");
  const bool bert = number_alone(words).has_value();
  in.rewind(begin);
  if (table || usual) {
    auto rows = read_csv(in);
    if (usual && !table) take_usual_names(rows);
    return to_electrode_data(rows, TakenValues::observed);
  }
  refuse_other_columns(in, head);
  // If a file called .ohm begins with words instead of the number of electrodes, BERT's reader reports it.
  const bool called_so = lower(in.name()).ends_with(".ohm");
  return bert || called_so ? read_bert(in, column) : read_ubc_dcip(in, column);
}

namespace {

/// The complete lines of the head, as words.  comments: characters that begin a comment
std::vector<std::vector<std::string_view>> lines_of(std::string_view head, std::string_view comments) {
  std::vector<std::vector<std::string_view>> lines;
  const bool whole = head.size() < head_bytes;
  while (!head.empty()) {
    const auto end = head.find('\n');
    if (end == head.npos && !whole && !lines.empty()) break;  // the last line may be cut off
    auto words = words_of(head.substr(0, end), comments);
    if (!words.empty()) lines.push_back(std::move(words));
    head.remove_prefix(end == head.npos ? head.size() : end + 1);
  }
  return lines;
}

/// Whether the text begins with DCIP2D's comment about the layout of electrode arrays: "! GENERAL FORMAT".
bool names_layout(std::string_view head) {
  if (!head.starts_with('!')) return false;
  const auto words = words_of(head.substr(1, head.find('\n') - 1), "");
  return words.size() == 2 && says_layout({words.front()}) && lower(words.back()) == "format";
}

/// Whether six coordinates could be those of a prism: west, south, bottom, east, north, top.
bool is_box(const std::vector<double>& numbers) {
  return numbers.size() >= 6 && numbers[0] < numbers[3] && numbers[1] < numbers[4] && numbers[2] < numbers[5];
}

}  // namespace

/// Whether the head could be that of a UBC file: a current pair and a count, then lines of another length. If
/// lines have equal lengths (values without uncertainties), the counts must agree with the blocks, values
/// must not all be whole numbers, and lines must not look like a table, points or prisms.
bool begins_ubc_dcip(std::string_view head) {
  if (head.starts_with(sign_of_ubc_dcip) || names_layout(head)) return true;
  const bool whole = head.size() < head_bytes;
  auto lines = lines_of(head, "!");
  std::size_t words_of_title = 0;
  bool title_of_words = true;  // no number is among them, as in a line of names of columns
  bool names_line = false;     // as the marks "Line 10" and "Tie 3" of Geosoft's XYZ files do
  while (!lines.empty() && !numbers_of(lines.front())) {
    if (lines.front().front().starts_with("IPTYPE") || says_layout(lines.front())) return true;
    if (words_of_title > 0) return false;
    words_of_title = lines.front().size();
    title_of_words = std::none_of(lines.front().begin(), lines.front().end(),
                                  [](std::string_view word) { return numbers_of({word}).has_value(); });
    const auto first = lower(lines.front().front());
    names_line = first == "line" || first == "tie";
    lines.erase(lines.begin());
  }
  if (words_of_title > 0 && lines.size() > 1 && lines.front().size() == 3 &&
      are_counts(lines[1], lines.size() > 2 ? lines[2] : std::vector<std::string_view>()))
    lines.erase(lines.begin());
  if (lines.size() < 2) return false;
  const std::size_t width = lines.front().size(), of_row = lines[1].size();
  if ((width != 3 && width != 5 && width != 7) || of_row < width - 1 || of_row > width + 1) return false;
  std::size_t blocks = 0, rows = 0;
  bool broken = false, prisms = width == 7;
  for (const auto& words : lines) {
    const auto numbers = numbers_of(words);
    if (!numbers || words.size() != (rows == 0 ? width : of_row)) return false;
    prisms = prisms && is_box(*numbers);
    if (rows == 0) {
      if (!is_count(numbers->back())) return false;
      rows = static_cast<std::size_t>(std::min(numbers->back(), 1e9));
      ++blocks;
    } else {
      --rows;
      broken = broken || numbers->back() != std::floor(numbers->back());
    }
  }
  if (of_row != width) return !names_line || !whole || rows == 0;
  const bool table = words_of_title == width && title_of_words, points = width == 3 && words_of_title == 0;
  if (points || table || !broken || prisms || head.find_first_of(",;") != head.npos) return false;
  constexpr std::size_t enough = 4;  // a single block of so many lines hardly has the right count by chance
  return whole ? rows == 0 && (blocks > 1 || (width > 3 && lines.size() >= enough)) : blocks > 1;
}

/// Whether the head could be that of a BERT file: a count alone in its line, and a line of names after '#': x
/// of electrodes, or a, b, m, n of arrays.
bool begins_bert(std::string_view head) {
  const auto lines = lines_of(head, "#!");
  if (lines.empty() || !is_count(number_alone(lines.front()).value_or(0))) return false;
  std::size_t at = 0;
  while ((at = head.find('#', at)) != head.npos) {
    const auto names = words_of(head.substr(at + 1, head.find('\n', at) - at - 1), "#");
    at += 1;
    if (names.empty()) continue;
    const auto first = names.front().substr(0, names.front().find('/'));
    if (first == "x" || first == "X") return true;
    static constexpr std::string_view words[2][4] = {{"a", "b", "m", "n"}, {"c1", "c2", "p1", "p2"}};
    for (const auto& of_array : words)
      if (std::all_of(std::begin(of_array), std::end(of_array), [&](std::string_view wanted) {
            return std::any_of(names.begin(), names.end(),
                               [&](std::string_view name) { return lower(name) == wanted; });
          }))
        return true;
  }
  return false;
}

}  // namespace terrane::io
