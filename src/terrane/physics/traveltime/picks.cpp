#include "terrane/physics/traveltime/picks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"
#include "terrane/job/contents.hpp"

namespace terrane::traveltime {

namespace {

constexpr std::array axes{"easting", "northing", "up"};

/// The index of a position in `all`, to which it is added if new. All heights of NaN count as equal.
std::uint32_t number_of(const Point& at, std::vector<Point>& all, std::map<Point, std::uint32_t>& known) {
  auto key = at;
  if (std::isnan(key[2])) key[2] = INFINITY;
  const auto [found, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(all.size()));
  if (is_new) all.push_back(at);
  return found->second;
}

std::vector<Point> places_of(const io::Table& table, std::string_view of, std::string_view other) {
  std::array<std::vector<double>, 3> columns;
  for (std::size_t a = 0; a < 3; ++a) {
    auto name = fmt::format("{}_{}", of, axes[a]);
    if (table.find(name) == nullptr && !other.empty()) name = axes[a];
    if (table.find(name) == nullptr && a > 0) columns[a].assign(table.rows(), a == 1 ? 0.0 : NAN);
    else columns[a] = table.si(name, Quantity::length, "m", a == 2);
  }
  std::vector<Point> all;
  for (std::size_t n = 0; n < table.rows(); ++n) all.push_back({columns[0][n], columns[1][n], columns[2][n]});
  return all;
}

Picked picks_of(const io::Table& table) {
  Picked found;
  const auto shots = places_of(table, "shot", ""), receivers = places_of(table, "receiver", "alone");
  std::map<Point, std::uint32_t> known_shots, known_receivers;
  for (std::size_t n = 0; n < shots.size(); ++n) {
    const auto shot = number_of(shots[n], found.shots, known_shots);
    found.picks.push_back({shot, number_of(receivers[n], found.receivers, known_receivers)});
  }
  for (const char* name : {"travel_time_observed", "travel_time"}) {
    if (table.find(name) == nullptr) continue;
    found.times = table.si(name, Quantity::time, "s", true);
    break;
  }
  if (table.find("travel_time_uncertainty") != nullptr)
    found.uncertainties = table.si("travel_time_uncertainty", Quantity::time, "s", true);
  for (std::size_t n = 0; n < found.times.size(); ++n) {
    if (found.times[n] < 0)
      throw InputError(table.where(n), fmt::format("a travel time of {} s", found.times[n]),
                       "Times count from the shot.");
    if (n < found.uncertainties.size() && !(found.uncertainties[n] > 0) && !std::isnan(found.times[n]) &&
        !std::isnan(found.uncertainties[n]))
      throw InputError(table.where(n), fmt::format("an uncertainty of {} s", found.uncertainties[n]),
                       "It must be above zero.");
  }
  return found;
}

/// Words of the next line that has any; if `comments`, also the words of a comment.
std::vector<std::string> words(io::TextReader& in, bool comments) {
  std::string_view line;
  while (in.line(line)) {
    const auto sign = line.find('#');
    auto rest = comments && sign != line.npos ? line.substr(sign + 1) : line.substr(0, sign);
    std::vector<std::string> found;
    while (!rest.empty()) {
      const auto begin = rest.find_first_not_of(" \t\r");
      if (begin == rest.npos) break;
      rest.remove_prefix(begin);
      found.emplace_back(rest.substr(0, rest.find_first_of(" \t\r")));
      rest.remove_prefix(found.back().size());
    }
    if (!found.empty()) return found;
  }
  return {};
}

double number_in(const io::TextReader& in, const std::string& word) {
  try {
    std::size_t used = 0;
    const double value = std::stod(word, &used);
    if (used == word.size()) return value;
  } catch (const std::exception&) {  // ignored here: the error is thrown below
  }
  in.fail(fmt::format("\"{}\" is no number", word));
}

struct Block {
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> lines;
  const std::string* name(std::string_view sought) const {
    for (const auto& one : names)
      if (one.substr(0, one.find('/')) == sought) return &one;
    return nullptr;
  }
  std::size_t column(std::string_view sought) const {
    const auto* found = name(sought);
    return found == nullptr ? names.size() : static_cast<std::size_t>(found - names.data());
  }
};

Block block_of(io::TextReader& in, std::string_view what, std::vector<std::string> usual) {
  Block block;
  const auto first = words(in, false);
  if (first.empty()) in.fail(fmt::format("the number of {} is missing", what));
  const double count = number_in(in, first.front());
  if (!(count >= 1 && count <= 1e8) || count != std::floor(count))
    in.fail(fmt::format("{} {}", first.front(), what), "Their number is a whole one, above zero.");
  const auto here = in.mark();
  std::string_view line;
  while (in.line(line) && line.find_first_not_of(" \t\r") == line.npos) {
  }
  const auto begins = line.find_first_not_of(" \t\r");
  in.rewind(here);
  block.names = begins != line.npos && line[begins] == '#' ? words(in, true) : std::move(usual);
  for (std::size_t n = 0; n < static_cast<std::size_t>(count); ++n) {
    const auto row = words(in, false);
    if (row.empty()) in.fail(fmt::format("{} of {} {}, and the file ends", n, count, what));
    std::vector<double> numbers;
    for (const auto& word : row) numbers.push_back(number_in(in, word));
    if (block.rows.empty() && numbers.size() < block.names.size()) block.names.resize(numbers.size());
    if (numbers.size() < block.names.size())
      in.fail(fmt::format("{} numbers for {} columns", numbers.size(), block.names.size()));
    block.rows.push_back(std::move(numbers));
    block.lines.push_back(in.line_number());
  }
  return block;
}

std::vector<Point> sensors_of(const Block& block, std::vector<std::string>& notes) {
  const auto x = block.column("x"), y = block.column("y"), z = block.column("z");
  const bool plane = z >= block.names.size();  // the columns "x y" belong to a section: y is the height
  if (plane && y < block.names.size())
    notes.push_back(
        "places have columns x and y and no z: y is taken for the height, as in sections of pyGIMLi");
  std::vector<Point> all;
  for (const auto& row : block.rows) {
    const auto at = [&](std::size_t column, double none) { return column < row.size() ? row[column] : none; };
    all.push_back({at(x, 0), plane ? 0 : at(y, 0), plane ? at(y, NAN) : at(z, NAN)});
  }
  return all;
}

/// Times of all rows, in the unit of the file; NaN for times that the file marks as not valid.
Column times_of(const Block& data, std::size_t t, std::size_t valid, const std::string& unit) {
  Column times{"t", unit, "", {}};
  for (const auto& row : data.rows)
    times.values.push_back(valid < row.size() && row[valid] == 0 ? std::nan("") : row[t]);
  return times;
}

/// Reads the file that table[key] names. Throws InputError at the key if times contain numbers written for
/// "no value", and at a line of the file for everything else.
Picked read_sgt(const Config& table, std::string_view key) {
  const auto path = table.input_file(key).string();
  auto in = io::TextReader::open(path);
  Picked found;
  const auto places = sensors_of(block_of(in, "shots and geophones", {"x", "y"}), found.notes);
  const auto data = block_of(in, "travel times", {"s", "g", "t"});
  const auto s = data.column("s"), g = data.column("g"), t = data.column("t"), valid = data.column("valid"),
             err = data.column("err");
  for (const auto& [name, column] : {std::pair{"s", s}, {"g", g}, {"t", t}})
    if (column >= data.names.size())
      in.fail(fmt::format("data have no column {}", name), "A line such as \"#s g t\" names them.");
  const auto unit = [&](std::size_t column) {
    const auto& name = data.names[column];
    return name.find('/') == name.npos ? std::string{} : name.substr(name.find('/') + 1);
  };
  const auto t_unit = unit(t).empty() ? "s" : unit(t);
  if (t_unit != "s" && t_unit != "ms") in.fail(fmt::format("times in \"{}\"", t_unit), "Allowed: s, ms.");
  refuse_written_for_none(table, key, times_of(data, t, valid, t_unit));
  const double seconds = t_unit == "ms" ? 1e-3 : 1;
  const auto err_unit = err < data.names.size() ? unit(err) : std::string{};
  if (err < data.names.size() && err_unit != "s" && err_unit != "ms" && err_unit != "%")
    found.notes.push_back("err has no unit (err/s, err/ms or err/%), and is not taken for an uncertainty");
  std::map<Point, std::uint32_t> known_shots, known_receivers;
  std::size_t invalid = 0;
  for (std::size_t n = 0; n < data.rows.size(); ++n) {
    const auto& row = data.rows[n];
    const auto where = fmt::format("{}:{}", path, data.lines[n]);
    for (const auto column : {s, g})
      if (!(row[column] >= 1 && row[column] <= static_cast<double>(places.size())) ||
          row[column] != std::floor(row[column]))
        throw InputError(where, fmt::format("there is no shot or geophone {}", row[column]),
                         fmt::format("Allowed: 1 to {}.", places.size()));
    if (valid < row.size() && row[valid] == 0) {
      ++invalid;
      continue;
    }
    if (row[t] < 0) throw InputError(where, fmt::format("a travel time of {} {}", row[t], t_unit));
    const auto shot = number_of(places[static_cast<std::size_t>(row[s]) - 1], found.shots, known_shots);
    found.picks.push_back(
        {shot, number_of(places[static_cast<std::size_t>(row[g]) - 1], found.receivers, known_receivers)});
    found.times.push_back(row[t] * seconds);
    if (err_unit == "%") found.uncertainties.push_back(row[err] / 100 * found.times.back());
    if (err_unit == "s" || err_unit == "ms")
      found.uncertainties.push_back(row[err] * (err_unit == "ms" ? 1e-3 : 1));
  }
  if (invalid > 0)
    found.notes.push_back(fmt::format("{} of {} times are not valid, as the file says, and left out", invalid,
                                      data.rows.size()));
  return found;
}

}  // namespace

Picked read_picks(const Config& table, const char* key) {
  Picked found;
  const auto name = table.text(key);
  if (!is_given(table, key) && name.ends_with(".sgt")) {
    found = read_sgt(table, key);
  } else {
    const auto content = read_content(table, key, {}, no_column);
    tell_notes(table, key, content);
    const auto* rows = std::get_if<io::Table>(&content);
    const bool measured = rows != nullptr && rows->find("travel_time_observed") != nullptr;
    refuse_written_for_none(table, key, content, [&](std::string_view column) {
      return column == "shot_up" || column == "receiver_up" || column == "up" ||
             column == "travel_time_uncertainty" ||
             column == (measured ? "travel_time_observed" : "travel_time");
    });
    if (rows == nullptr)
      throw table.wrong(
          key, fmt::format("\"{}\" is no table of shots and receivers", name),
          "Columns are shot_easting, shot_northing, shot_up, receiver_easting, ..., travel_time_observed.");
    found = picks_of(*rows);
  }
  if (found.picks.empty()) throw table.wrong(key, fmt::format("\"{}\" has no shot and no receiver", name));
  return found;
}

}  // namespace terrane::traveltime
