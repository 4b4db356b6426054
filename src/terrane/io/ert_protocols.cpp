#include "terrane/io/ert_protocols.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/base/units.hpp"

namespace terrane::io {

namespace {

/// The entries of a line, separated by commas or by blanks.
std::vector<std::string_view> entries_of(std::string_view line, bool commas) {
  std::vector<std::string_view> all;
  constexpr std::string_view blanks = " \t\r";
  while (commas && !line.empty()) {
    const auto end = std::min(line.find(','), line.size());
    auto entry = line.substr(0, end);
    entry.remove_prefix(std::min(entry.find_first_not_of(blanks), entry.size()));
    while (!entry.empty() && blanks.find(entry.back()) != blanks.npos) entry.remove_suffix(1);
    all.push_back(entry);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  for (auto at = line.find_first_not_of(blanks); !commas && at != line.npos;
       at = line.find_first_not_of(blanks, at)) {
    const auto end = std::min(line.find_first_of(blanks, at), line.size());
    all.push_back(line.substr(at, end - at));
    at = end;
  }
  return all;
}

bool is_empty_line(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

std::optional<std::vector<double>> row_of_numbers(std::string_view line) {
  std::vector<double> row;
  for (const auto word : entries_of(line, false)) {
    double value = 0;
    if (!parse_number(word, value) || !std::isfinite(value)) return std::nullopt;
    row.push_back(value);
  }
  return row;
}

/// The distinct electrodes, identified by their positions.
class PlacesOnce {
 public:
  explicit PlacesOnce(electric::Electrodes& electrodes) : electrodes_(electrodes) {}

  int at(const std::array<double, 3>& place) {
    const auto [found, fresh] =
        known_.try_emplace({place[0], place[1], place[2]}, static_cast<int>(electrodes_.place.size()));
    if (fresh) electrodes_.place.push_back({place[0], place[1], place[2]});
    return found->second;
  }

 private:
  electric::Electrodes& electrodes_;
  std::map<std::tuple<double, double, double>, int> known_;
};

void put_on_the_ground_where_flat(electric::Electrodes& electrodes) {
  if (std::all_of(electrodes.place.begin(), electrodes.place.end(), [](const auto& p) { return p.u == 0; }))
    for (auto& place : electrodes.place) place.u = std::numeric_limits<double>::quiet_NaN();
}

/// The unit of positions in metres, from a line such as "Unit: meter".
double unit_of_places(TextReader& in, std::string_view line) {
  const auto words = entries_of(line, false);
  const auto unit = words.size() > 1 ? lower(words[1]) : std::string();
  if (unit.starts_with("met") || unit == "m") return 1;
  if (unit.starts_with("f")) return si_factor(Quantity::length, "ft");
  in.fail(fmt::format("\"{}\" stands where \"Unit: meter\" or \"Unit: feet\" belongs", shown(line)));
}

/// The count in a line such as "Firmware version: 01.33.74E Survey period: 20100101 Records: 112".
std::optional<std::size_t> number_of_records(std::string_view line) {
  const auto words = entries_of(line, false);
  for (std::size_t n = 0; n + 1 < words.size(); ++n) {
    std::int64_t count = 0;
    if (lower(words[n]) == "records:" && parse_integer(words[n + 1], count) && count > 0)
      return static_cast<std::size_t>(count);
  }
  return std::nullopt;
}

constexpr std::size_t first_place = 9, entries_of_sting = 21;
enum StingEntry : std::size_t { resistance_entry = 4, error_entry = 5, apparent_entry = 7 };

/// 1/AM − 1/BM − 1/AN + 1/BN, which has the sign of the geometric factor; 0 if two electrodes coincide.
double inverse_distances(const electric::Electrodes& electrodes, const std::array<int, 4>& four) {
  const auto inverse = [&](std::size_t p, std::size_t q) {
    const auto& a = electrodes.place[static_cast<std::size_t>(four[p])];
    const auto& b = electrodes.place[static_cast<std::size_t>(four[q])];
    return 1 / std::hypot(a.e - b.e, a.n - b.n, a.u - b.u);
  };
  const double sum = inverse(0, 2) - inverse(1, 2) - inverse(0, 3) + inverse(1, 3);
  return std::isfinite(sum) ? sum : 0;
}

/// Removes standard deviations that are not above zero: NaN, and an empty list if there are no others.
/// Returns a note, empty if all are above zero.
std::string keep_above_zero(std::vector<double>& deviation, std::string_view of) {
  std::size_t none = 0;
  for (double& one : deviation)
    if (!(one > 0)) one = std::numeric_limits<double>::quiet_NaN(), ++none;
  if (none == 0) return {};
  if (none < deviation.size())
    return fmt::format("{} of {} errors of {} are not above zero: these data have no uncertainty", none,
                       deviation.size(), of);
  deviation.clear();
  return fmt::format("errors of {} are not above zero, and not read", of);
}

}  // namespace

bool begins_sting(std::string_view head) {
  const auto first = lower(head.substr(0, head.find('\n')));
  return first.find("supersting") != first.npos || first.find("sting r") != first.npos;
}

ElectrodeData read_sting(TextReader& in) {
  ElectrodeData data;
  PlacesOnce places(data.electrodes);
  std::string_view line;
  std::optional<std::size_t> counted;
  for (int n = 0; n < 3; ++n) {
    if (!in.line(line)) in.fail("the file ends within its first three lines");
    if (n < 2 && !counted) counted = number_of_records(line);
  }
  const double metre = unit_of_places(in, line);
  std::vector<double> resistance, deviation;
  bool more = false;
  while (in.line(line)) {
    if (is_empty_line(line)) continue;
    const auto words = entries_of(line, true);
    if (words.size() < entries_of_sting)
      in.fail(
          fmt::format("{} entries in a record", words.size()),
          "A record has 21 and more: number, user, date, time, V/I, error, current, apparent resistivity, "
          "command file, and x, y, z of four electrodes.");
    const auto number = [&](std::size_t n) {
      double value = 0;
      if (!parse_number(words[n], value) || !std::isfinite(value))
        in.fail(fmt::format("entry {}: \"{}\" is no number", n + 1, shown(words[n])));
      return value;
    };
    std::array<int, 4> four{};
    for (std::size_t p = 0; p < 4; ++p) {
      std::array<double, 3> place{};
      for (std::size_t axis = 0; axis < 3; ++axis) place[axis] = metre * number(first_place + 3 * p + axis);
      four[p] = places.at(place);
    }
    in.expect_memory(16);
    resistance.push_back(number(resistance_entry));
    // Files differ in the order of the current poles; the sign of the apparent resistivity tells which pole
    // is the first.
    if (inverse_distances(data.electrodes, four) * resistance.back() * number(apparent_entry) < 0)
      std::swap(four[0], four[1]);
    data.electrodes.arrays.push_back({four[0], four[1], four[2], four[3]});
    const double tenths = number(error_entry);
    deviation.push_back(std::abs(resistance.back()) * tenths / 1000);
    more = more || words.size() > entries_of_sting + 6;
  }
  if (resistance.empty()) in.fail("there are no records");
  if (counted && *counted != resistance.size())
    data.note = fmt::format("its header counts {} records, and it has {}\n", *counted, resistance.size());
  data.note += keep_above_zero(deviation, "V/I");
  if (more)
    data.note += std::string(data.note.empty() || data.note.back() == '\n' ? "" : "\n") +
                 "what stands behind the places, such as chargeabilities of time windows, is not read";
  while (!data.note.empty() && data.note.back() == '\n') data.note.pop_back();
  put_on_the_ground_where_flat(data.electrodes);
  data.columns.push_back({"resistance", "V/A", std::move(resistance), std::move(deviation)});
  return data;
}

namespace {

constexpr std::size_t plain_record = 5, record_with_strings = 9;  // numbers before V/I: 2-D, 3-D

/// The number of records in a first line such as "140", with or without words behind it.
std::optional<std::int64_t> count_of_protocol(std::string_view line) {
  const auto words = entries_of(line, false);
  std::int64_t count = 0;
  double value = 0;
  if (words.empty() || !parse_integer(words[0], count) || count < 1) return std::nullopt;
  if (words.size() > 1 && parse_number(words[1], value)) return std::nullopt;
  return count;
}

/// How many numbers a record has before V/I. In 2-D records these are the record's number and four
/// electrodes; in 3-D records each electrode has the number of its string before it. A 2-D record of cR2 has
/// at most nine numbers.
std::size_t numbers_before_data(std::size_t size) {
  return size > record_with_strings ? record_with_strings : plain_record;
}

/// The electrodes, and the names that records give them: [string, number]; in 2-D records the string is 1.
struct NamedPlaces {
  std::vector<electric::Point> place;
  std::map<std::pair<int, int>, int> labels;  ///< empty: an electrode's number is that of its line
};

/// The label of an electrode, "17" or "1 17".
std::optional<std::pair<int, int>> label_of(std::string_view text) {
  const auto words = entries_of(text, false);
  std::int64_t numbers[2]{1, 0};
  if (words.empty() || words.size() > 2) return std::nullopt;
  for (std::size_t n = 0; n < words.size(); ++n)
    if (!parse_integer(words[n], numbers[n + 2 - words.size()])) return std::nullopt;
  return std::pair{static_cast<int>(numbers[0]), static_cast<int>(numbers[1])};
}

/// The names of the columns of a list of electrodes, lower case, from its first line.
std::vector<std::string> columns_of_places(const std::vector<std::string_view>& words) {
  double value = 0;
  if (!words.empty() && parse_number(words[0], value))
    return words.size() == 2 ? std::vector<std::string>{"x", "z"} : std::vector<std::string>{"x", "y", "z"};
  std::vector<std::string> names;
  for (const auto word : words) names.push_back(lower(word));
  return names;
}

NamedPlaces read_places(TextReader& in) {
  NamedPlaces places;
  std::vector<std::string> columns;
  for (std::string_view line; in.line(line);) {
    if (is_empty_line(line)) continue;
    const auto words = entries_of(line, line.find(',') != line.npos);
    if (columns.empty()) {
      columns = columns_of_places(words);
      double value = 0;
      if (!parse_number(words[0], value)) continue;
    }
    const auto entry = [&](const char* name) {
      const auto at = std::find(columns.begin(), columns.end(), name) - columns.begin();
      return static_cast<std::size_t>(at) < words.size() ? words[static_cast<std::size_t>(at)]
                                                         : std::string_view();
    };
    const auto number = [&](const char* name, double without) {
      double value = without;
      if (!entry(name).empty() && (!parse_number(entry(name), value) || !std::isfinite(value)))
        in.fail(fmt::format("\"{}\" is no place", shown(line)),
                "Write x z or x y z of each electrode; or name the columns: label, x, y, z.");
      return value;
    };
    in.expect_memory(4);
    places.place.push_back({number("x", std::numeric_limits<double>::quiet_NaN()), number("y", 0),
                            number("z", std::numeric_limits<double>::quiet_NaN())});
    if (std::isnan(places.place.back().e))
      in.fail(fmt::format("\"{}\" has no x", shown(line)),
              "Write x z or x y z of each electrode; or name the columns: label, x, y, z.");
    if (const auto label = label_of(entry("label")))
      places.labels[*label] = static_cast<int>(places.place.size()) - 1;
  }
  return places;
}

/// The index of an electrode; none if there is no such electrode.  string, number: as in a record
std::optional<int> index_of_place(const NamedPlaces& places, double string, double number) {
  constexpr double most = 1e9;  // larger than the number of any electrode, and still an int
  if (number != std::floor(number) || !(number >= 1 && number < most && string >= 1 && string < most))
    return std::nullopt;
  const int n = static_cast<int>(number);
  if (places.labels.empty())
    return static_cast<std::size_t>(n) <= places.place.size() ? std::optional(n - 1) : std::nullopt;
  const auto found = places.labels.find({static_cast<int>(string), n});
  return found == places.labels.end() ? std::nullopt : std::optional(found->second);
}

/// The electrodes of a record.  row: its numbers; file: name of the list of electrodes
std::array<int, 4> electrodes_of_record(TextReader& in, const std::vector<double>& row,
                                        const NamedPlaces& places, const std::string& file) {
  const bool strings = numbers_before_data(row.size()) == record_with_strings;
  std::array<int, 4> four{};
  for (std::size_t p = 0; p < 4; ++p) {
    const double string = strings ? row[1 + 2 * p] : 1, number = strings ? row[2 + 2 * p] : row[1 + p];
    const auto name =
        strings ? fmt::format("{:g} of string {:g}", number, string) : fmt::format("{:g}", number);
    if (places.labels.empty() && string != 1)
      in.fail(fmt::format("electrode {}: {} has no labels", name, file),
              "Give it a column of the string and the number of each electrode: label,x,y,z.");
    const auto found = index_of_place(places, string, number);
    if (!found)
      in.fail(fmt::format("there is no electrode {}", name),
              places.labels.empty() ? fmt::format("{} has {}, counted from 1.", file, places.place.size())
                                    : fmt::format("It is no label of {}.", file));
    four[p] = *found;
  }
  return four;
}

/// One column of values of all records.
std::vector<double> values_of_column(const std::vector<std::vector<double>>& values, std::size_t column) {
  std::vector<double> all;
  for (const auto& row : values) all.push_back(row[column]);
  return all;
}

/// The quantity of a single column of numbers after V/I.
enum class Behind { deviation, phase, apparent_resistivity, unknown };

Behind what_stands_behind(const std::vector<double>& resistance, const std::vector<double>& column) {
  std::size_t below_zero = 0, zeros = 0, above_data = 0;
  for (std::size_t n = 0; n < column.size(); ++n) {
    below_zero += column[n] < 0;
    zeros += column[n] == 0;
    above_data += std::abs(column[n]) > std::abs(resistance[n]);
  }
  if (below_zero == 0 && 2 * zeros < column.size())
    return 2 * above_data > column.size() ? Behind::apparent_resistivity : Behind::deviation;
  return 2 * below_zero > column.size() ? Behind::phase : Behind::unknown;
}

/// The phases of cR2, of which a lag is negative, as a column of lags.
ElectrodeColumn lags_of(std::vector<double> phase, std::vector<double> deviation) {
  for (double& one : phase) one = -one;
  return {"phase", "mrad", std::move(phase), std::move(deviation)};
}

/// The data of records: V/I, and the numbers after it. values: [record, column]
void take_values(const std::vector<std::vector<double>>& values, ElectrodeData& data,
                 std::vector<std::string>& notes) {
  const std::size_t behind = values.front().size() - 1;
  auto resistance = values_of_column(values, 0);
  std::vector<double> deviation;
  std::optional<ElectrodeColumn> phase;
  if (behind == 1) {
    auto column = values_of_column(values, 1);
    const auto what = what_stands_behind(resistance, column);
    if (what == Behind::deviation) {
      deviation = std::move(column);
      notes.emplace_back("the column behind V/I is taken for its standard deviation, as R2 has it");
      if (auto note = keep_above_zero(deviation, "V/I"); !note.empty()) notes.push_back(std::move(note));
    } else if (what == Behind::phase) {
      phase = lags_of(std::move(column), {});
    } else {
      notes.emplace_back(what == Behind::apparent_resistivity
                             ? "the column behind V/I is above V/I, so it is no standard deviation, and not "
                               "read: R2_forward.dat has apparent resistivities there"
                             : "the column behind V/I is below zero or 0 too often for errors, and not read");
    }
  } else if (behind == 2) {
    phase = lags_of(values_of_column(values, 1), {});
    notes.emplace_back("the last column is not read: cR2_forward.dat has apparent resistivities there");
  } else if (behind > 2) {
    deviation = values_of_column(values, 2);
    auto of_phase = values_of_column(values, 3);
    for (auto& note : {keep_above_zero(deviation, "V/I"), keep_above_zero(of_phase, "phases")})
      if (!note.empty()) notes.push_back(note);
    phase = lags_of(values_of_column(values, 1), std::move(of_phase));
  }
  if (phase)
    notes.emplace_back("a column is taken for phases of cR2, mrad: negative ones are lags of the voltage");
  data.columns.push_back({"resistance", "V/A", std::move(resistance), std::move(deviation)});
  if (phase) data.columns.push_back(std::move(*phase));
}

}  // namespace

bool begins_protocol(std::string_view head) {
  const auto end = head.find('\n');
  if (end == head.npos || !count_of_protocol(head.substr(0, end))) return false;
  auto second = head.substr(end + 1);
  const auto row = row_of_numbers(second.substr(0, second.find('\n')));
  if (!row || row->size() < plain_record + 1 || row->size() > record_with_strings + 4 || (*row)[0] != 1)
    return false;
  const auto data = row->begin() + static_cast<std::ptrdiff_t>(numbers_before_data(row->size()));
  return std::all_of(row->begin(), data, [](double v) { return v == std::floor(v) && v >= 1; });
}

ElectrodeData read_protocol(TextReader& in, TextReader& beside) {
  ElectrodeData data;
  const auto file = std::filesystem::path(beside.name()).filename().string();
  auto places = read_places(beside);
  std::string_view line;
  if (!in.line(line)) in.fail("the file is empty");
  const auto count = count_of_protocol(line);
  std::vector<std::vector<double>> values;
  while (in.line(line)) {
    if (is_empty_line(line)) continue;
    const auto row = row_of_numbers(line);
    if (!row || row->size() < plain_record + 1)
      in.fail(fmt::format("\"{}\" is no record", shown(line)),
              "A record is a number, four electrodes (of R3t each with its string before it) and V/I.");
    const auto first = static_cast<std::ptrdiff_t>(numbers_before_data(row->size()));
    in.expect_memory(24);
    values.emplace_back(row->begin() + first, row->end());
    if (values.back().size() != values.front().size())
      in.fail(fmt::format("{} numbers behind the electrodes, and {} in the first record",
                          values.back().size(), values.front().size()));
    const auto four = electrodes_of_record(in, *row, places, file);
    data.electrodes.arrays.push_back({four[0], four[1], four[2], four[3]});
  }
  if (values.empty()) in.fail("there are no records");
  data.electrodes.place = std::move(places.place);
  std::vector<std::string> notes{fmt::format("places of electrodes: {}", file)};
  if (count && static_cast<std::size_t>(*count) != values.size())
    notes.push_back(fmt::format("its first line counts {} records, and it has {}", *count, values.size()));
  put_on_the_ground_where_flat(data.electrodes);
  take_values(values, data, notes);
  data.note = fmt::format("{}", fmt::join(notes, "\n"));
  return data;
}

ElectrodeData read_protocol(TextReader& in) {
  const auto folder = std::filesystem::path(in.name()).parent_path();
  std::error_code status;
  for (const char* name : {"electrodes.dat", "electrodes.csv", "elec.dat", "elec.csv"})
    if (const auto beside = folder / name; std::filesystem::is_regular_file(beside, status)) {
      auto places = TextReader::open(beside.string());
      return read_protocol(in, places);
    }
  throw InputError(in.name(), "a protocol of R2 has no places of electrodes",
                   "Put them beside it, into electrodes.dat (x z or x y z of each electrode, one a line), or "
                   "into elec.csv as ResIPy has it (label,x,y,z).");
}

}  // namespace terrane::io
