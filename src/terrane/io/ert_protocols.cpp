#include "terrane/io/ert_protocols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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
  bool more = false, errors = true;
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
    // Files differ in the order of the current poles; the sign of the apparent resistivity decides.
    if (inverse_distances(data.electrodes, four) * resistance.back() * number(apparent_entry) < 0)
      std::swap(four[0], four[1]);
    data.electrodes.arrays.push_back({four[0], four[1], four[2], four[3]});
    const double tenths = number(error_entry);
    errors = errors && tenths > 0;
    deviation.push_back(std::abs(resistance.back()) * tenths / 1000);
    more = more || words.size() > entries_of_sting + 6;
  }
  if (resistance.empty()) in.fail("there are no records");
  if (counted && *counted != resistance.size())
    data.note = fmt::format("its header counts {} records, and it has {}\n", *counted, resistance.size());
  if (!errors) {
    deviation.clear();
    data.note += "errors are 0 in some records: uncertainties are not taken from them";
  }
  if (more)
    data.note += std::string(data.note.empty() || data.note.back() == '\n' ? "" : "\n") +
                 "what stands behind the places, such as chargeabilities of time windows, is not read";
  while (!data.note.empty() && data.note.back() == '\n') data.note.pop_back();
  put_on_the_ground_where_flat(data.electrodes);
  data.columns.push_back({"resistance", "V/A", std::move(resistance), std::move(deviation)});
  return data;
}

bool begins_protocol(std::string_view head) {
  const auto end = head.find('\n');
  if (end == head.npos) return false;
  const auto count = row_of_numbers(head.substr(0, end));
  auto second = head.substr(end + 1);
  const auto row = row_of_numbers(second.substr(0, second.find('\n')));
  if (!count || count->size() != 1 || !row || row->size() < 6 || row->size() > 8 || (*row)[0] != 1)
    return false;
  return std::all_of(row->begin(), row->begin() + 5, [](double v) { return v == std::floor(v) && v >= 1; });
}

ElectrodeData read_protocol(TextReader& in, TextReader& places) {
  ElectrodeData data;
  std::string_view line;
  while (places.line(line)) {
    if (is_empty_line(line)) continue;
    const auto row = row_of_numbers(line);
    if (!row && data.electrodes.place.empty()) continue;  // skips names of columns
    if (!row || row->size() < 2 || row->size() > 4)
      places.fail(fmt::format("\"{}\" is no place", shown(line)), "Write x z or x y z of each electrode.");
    places.expect_memory(4);
    const bool plane = row->size() == 2;
    data.electrodes.place.push_back({(*row)[0], plane ? 0 : (*row)[1], plane ? (*row)[1] : (*row)[2]});
  }
  if (!in.line(line)) in.fail("the file is empty");
  std::vector<double> resistance, deviation;
  while (in.line(line)) {
    if (is_empty_line(line)) continue;
    const auto row = row_of_numbers(line);
    if (!row || row->size() < 6)
      in.fail(fmt::format("\"{}\" is no record", shown(line)),
              "A record is a number, four electrodes and V/I; strings of R3t are not read.");
    std::array<int, 4> four{};
    for (std::size_t p = 0; p < 4; ++p) {
      const double n = (*row)[1 + p];
      if (n != std::floor(n) || n < 1 || n > static_cast<double>(data.electrodes.place.size()))
        in.fail(fmt::format("there is no electrode {:g}", n),
                fmt::format("{} has {}, counted from 1.", places.name(), data.electrodes.place.size()));
      four[p] = static_cast<int>(n) - 1;
    }
    in.expect_memory(16);
    data.electrodes.arrays.push_back({four[0], four[1], four[2], four[3]});
    resistance.push_back((*row)[5]);
    deviation.push_back(row->size() > 6 ? (*row)[6] : 0);
  }
  if (resistance.empty()) in.fail("there are no records");
  const auto above = [](double v) { return v > 0; };
  if (std::all_of(deviation.begin(), deviation.end(), above)) {
    data.note = "the column behind V/I is taken for its standard deviation, as R2 has it";
  } else {
    if (std::any_of(deviation.begin(), deviation.end(), [](double v) { return v != 0; }))
      data.note = "the column behind V/I is not above zero everywhere, and not read: phases of cR2 are so";
    deviation.clear();
  }
  put_on_the_ground_where_flat(data.electrodes);
  data.columns.push_back({"resistance", "V/A", std::move(resistance), std::move(deviation)});
  return data;
}

ElectrodeData read_protocol(TextReader& in) {
  const auto beside = std::filesystem::path(in.name()).parent_path() / "electrodes.dat";
  std::error_code status;
  if (!std::filesystem::is_regular_file(beside, status))
    throw InputError(in.name(), "a protocol of R2 has no places of electrodes",
                     "Put them beside it, into electrodes.dat: x z or x y z of each electrode, one a line.");
  auto places = TextReader::open(beside.string());
  return read_protocol(in, places);
}

}  // namespace terrane::io
