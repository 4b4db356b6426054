#include "terrane/io/ert_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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
#include "terrane/io/csv.hpp"

namespace terrane::io {

namespace {

using FourElectrodes = electric::Array;
using electric::Point;
constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string_view> words_of_line(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view between = " \t\r,;";
  for (auto at = line.find_first_not_of(between); at != line.npos; at = line.find_first_not_of(between, at)) {
    const auto end = std::min(line.find_first_of(between, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

/// The words of a line, in small letters, with one blank between them.
std::string joined_words(std::string_view line) {
  std::string all;
  for (const auto word : words_of_line(line)) all += (all.empty() ? "" : " ") + lower(word);
  return all;
}

std::optional<std::vector<double>> numbers_of(std::string_view line) {
  std::vector<double> values;
  for (const auto word : words_of_line(line)) {
    double value = 0;
    if (!parse_number(word, value) || !std::isfinite(value)) return std::nullopt;
    values.push_back(value);
  }
  return values;
}

/// The distinct electrodes of a line, identified by x and, if given, height.
class Line {
 public:
  explicit Line(electric::Electrodes& electrodes) : electrodes_(electrodes) {}

  int at(double x, double height = nowhere) {
    const bool ground = std::isnan(height);
    const auto [found, fresh] =
        known_.try_emplace({x, ground ? 0 : height, ground}, static_cast<int>(electrodes_.place.size()));
    if (fresh) electrodes_.place.push_back({x, 0, height});
    return found->second;
  }

 private:
  electric::Electrodes& electrodes_;
  std::map<std::tuple<double, double, bool>, int> known_;
};

/// Positions of A, B, M, N relative to the first electrode of a Res2dinv array, in units of the spacing a;
/// NaN: at infinity.
struct Shape {
  std::array<double, 4> at;
  double length;  ///< position of the last electrode
};

enum Kind : int {
  wenner_alpha = 1,
  pole_pole,
  dipole_dipole,
  wenner_beta,
  wenner_gamma,
  pole_dipole,
  schlumberger,
  general = 11
};

Shape shape_of(int kind, double n) {
  switch (kind) {
    case wenner_alpha:
      return {{0, 3, 1, 2}, 3};
    case wenner_beta:
      return {{1, 0, 2, 3}, 3};
    case wenner_gamma:
      return {{0, 2, 1, 3}, 3};
    case pole_pole:
      return {{0, nowhere, 1, nowhere}, 1};
    case dipole_dipole:
      return {{1, 0, 1 + n, 2 + n}, 2 + n};
    case schlumberger:
      return {{0, 2 * n + 1, n, n + 1}, 2 * n + 1};
    default:
      break;
  }
  // Pole-dipole; if n is negative, the current electrode is on the other side.
  if (n < 0) return {{1 - n, nowhere, 1, 0}, 1 - n};
  return {{0, nowhere, n, n + 1}, n + 1};
}
bool is_array_with_pole(double kind) { return kind == double{pole_pole} || kind == double{pole_dipole}; }
bool has_n(int kind) { return kind == dipole_dipole || kind == pole_dipole || kind == schlumberger; }

class Res2dinv {
 public:
  explicit Res2dinv(TextReader& in) : in_(in), line_(data_.electrodes) {}

  ElectrodeData read() {
    std::string_view line;
    if (!in_.line(line)) in_.fail("the file is empty");
    spacing_ = number("the unit spacing of electrodes");
    kind_ = static_cast<int>(whole("the kind of array", 1, 1000));
    if (!(kind_ <= schlumberger || kind_ == general))
      in_.fail(fmt::format("arrays of kind {}", kind_),
               "Kinds of Res2dinv that are read: 1 to 7 (Wenner, pole-pole, dipole-dipole, pole-dipole, "
               "Wenner-Schlumberger) and 11, any arrays by places of electrodes.");
    if (kind_ == general) begin_general();
    begin_remotes();
    const auto count = static_cast<std::size_t>(whole("the number of data", 1, 100'000'000));
    const auto place = whole("where x is: 0, 1 or 2", 0, 2);
    middle_ = place == 1 && kind_ != general;
    along_ground_ = place == 2 && kind_ == general;
    if (middle_ && kind_ == pole_dipole)
      in_.fail("pole-dipole arrays by their middles",
               "Give x of the first electrode (0), or arrays of kind 11.");
    begin_polarization();
    begin_errors();
    for (std::size_t n = 0; n < count; ++n) {
      if (!next(line)) in_.fail(fmt::format("{} of {} data are there", n, count));
      const auto numbers = numbers_of(line);
      if (!numbers) in_.fail(fmt::format("\"{}\" is no line of numbers", shown(line)));
      if (kind_ == general) take_general(*numbers);
      else take(*numbers);
    }
    read_topography();
    if (along_ground_ && heights_of_lines_) lay_along_the_ground();
    finish();
    return std::move(data_);
  }

 private:
  bool next(std::string_view& line) {
    while (in_.line(line))
      if (!words_of_line(line).empty()) return true;
    return false;
  }
  double number(const char* what) {
    std::string_view line;
    if (!next(line)) in_.fail(fmt::format("the file ends where {} belongs", what));
    double value = 0;
    const auto words = words_of_line(line);
    if (!parse_number(words.front(), value) || !std::isfinite(value))
      in_.fail(fmt::format("\"{}\" stands where {} belongs", shown(line), what));
    return value;
  }
  std::int64_t whole(const char* what, std::int64_t least, std::int64_t most) {
    const double value = number(what);
    if (value != std::floor(value) || value < static_cast<double>(least) || value > static_cast<double>(most))
      in_.fail(fmt::format("{} stands where {} belongs", value, what),
               fmt::format("Allowed: {} to {}.", least, most));
    return static_cast<std::int64_t>(value);
  }
  /// Whether the next line begins with this word (case ignored); if so, reads the line.
  bool says(std::string_view word) {
    const auto mark = in_.mark();
    std::string_view line;
    if (next(line) && joined_words(line).starts_with(word)) return true;
    in_.rewind(mark);
    return false;
  }
  void begin_general() {
    sub_kind_ = whole("the kind of array within those of any places", 0, 1000);
    // The line "Type of measurement", which ABEM's program calls "Type of data".
    if (says("type of ")) resistance_ = whole("the kind of measurement", 0, 1) == 1;
  }
  /// Reads positions of remote electrodes: C2 is B, P2 is N.
  void begin_remotes() {
    if (!says("remote electrodes included")) return;
    for (const char* name : {"c2 remote", "p2 remote"}) {
      if (!says(name)) continue;
      std::string_view line;
      const auto place = next(line) ? numbers_of(line) : std::nullopt;
      if (!place || place->size() != 3)
        in_.fail(fmt::format("no x, y and z behind the line \"{} electrode\"", name));
      (name[0] == 'c' ? remote_b_ : remote_n_) = electric::Point{(*place)[0], (*place)[1], (*place)[2]};
    }
    if (says("exact geometric factor")) return;
    says("approximate geometric factor");
    note(
        "apparent resistivities are those of electrodes at infinity: places of remote electrodes are not "
        "read");
    remote_b_ = remote_n_ = std::nullopt;
  }
  void begin_polarization() {
    const auto flag = whole("0 or 1, for chargeabilities", 0, 2);
    if (flag == 0) return;
    std::string_view line;
    if (!next(line)) in_.fail("the file ends before what is polarized");
    if (!next(line)) in_.fail("the file ends before the unit of chargeabilities");
    polarization_ = lower(line.substr(line.find_first_not_of(" \t")));
    while (!polarization_.empty() && (polarization_.back() == ' ' || polarization_.back() == '\r'))
      polarization_.pop_back();
    if (!next(line)) in_.fail("the file ends before the times of chargeabilities");
    polarized_ = true;
  }
  void begin_errors() {
    if (!says("error")) return;
    if (!says("type of error")) in_.fail("no line \"Type of error estimate\" behind \"Error estimate\"");
    if (whole("the kind of error", 0, 1000) != 0)
      in_.fail("errors of a kind other than 0", "Allowed: 0, in the unit of the data.");
    with_errors_ = true;
  }

  void take(const std::vector<double>& row) {
    const std::size_t of_place = has_n(kind_) ? 3 : 2, values = 1 + polarized_ + with_errors_;
    if (row.size() != of_place + values)
      in_.fail(fmt::format("{} numbers on a line of data", row.size()),
               fmt::format("Here it has {}: x, a{}, value{}{}.", of_place + values, has_n(kind_) ? ", n" : "",
                           polarized_ ? ", chargeability" : "", with_errors_ ? ", error" : ""));
    const double a = row[1], n = has_n(kind_) ? row[2] : 1;
    if (!(a > 0)) in_.fail(fmt::format("a spacing of {}", a), "It must be above zero.");
    if (n == 0 || (n < 0 && kind_ != pole_dipole))
      in_.fail(fmt::format("n is {}", n), "It must be above zero.");
    const auto shape = shape_of(kind_, n);
    const double first = row[0] - (middle_ ? shape.length * a / 2 : 0);
    std::array<int, 4> numbers{};
    for (std::size_t p = 0; p < 4; ++p)
      numbers[p] =
          std::isnan(shape.at[p]) ? FourElectrodes::far_away : line_.at(rounded(first + shape.at[p] * a));
    add(numbers, row, of_place);
  }
  /// Rounds, so that equal positions with different rounding errors are one electrode.
  static double rounded(double x) {
    constexpr double digits = 1e7;
    return std::round(x * digits) / digits + 0.0;
  }
  void take_general(const std::vector<double>& row) {
    const double electrodes = row.empty() ? 0 : row[0];
    if (electrodes != 2 && electrodes != 3 && electrodes != 4)
      in_.fail(fmt::format("an array of {} electrodes", electrodes), "Such a line begins with 2, 3 or 4.");
    const auto count = static_cast<std::size_t>(electrodes), of_place = 1 + 2 * count,
               values = std::size_t{1} + polarized_ + with_errors_;
    if (row.size() != of_place + values)
      in_.fail(fmt::format("{} numbers on a line of an array of {} electrodes", row.size(), count),
               fmt::format("Here it has {}: the count, x and z of each, the value.", of_place + values));
    constexpr std::array<std::array<int, 4>, 3> order{{{0, -1, 1, -1}, {0, -1, 1, 2}, {0, 1, 2, 3}}};
    std::array<int, 4> numbers{};
    for (std::size_t p = 0; p < 4; ++p) {
      const int which = order[count - 2][p];
      numbers[p] = FourElectrodes::far_away;
      if (which < 0) continue;
      const auto from = static_cast<std::size_t>(1 + 2 * which);
      heights_of_lines_ = heights_ = heights_ || row[from + 1] != 0;
      numbers[p] = line_.at(row[from], row[from + 1]);
    }
    add(numbers, row, of_place);
  }
  void add(const std::array<int, 4>& n, const std::vector<double>& row, std::size_t first) {
    in_.expect_memory(16);
    data_.electrodes.arrays.push_back({n[0], n[1], n[2], n[3]});
    value_.push_back(row[first]);
    if (polarized_) chargeability_.push_back(row[first + 1]);
    if (with_errors_) error_.push_back(std::abs(row.back()));
  }

  static bool all_zero(const std::vector<double>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 0; });
  }
  /// Reads a flag, a count, points with x and height, and the number of the point at the first electrode.
  void read_topography() {
    std::string_view line;
    if (!next(line)) return;
    const auto flag = numbers_of(line);
    if (!flag || (flag->size() != 1 && !all_zero(*flag)) ||
        ((*flag)[0] != 0 && (*flag)[0] != 1 && (*flag)[0] != 2))
      in_.fail(fmt::format("\"{}\" stands after the data", shown(line)),
               "Is their number wrong? Behind them is 0, or topography: 1 (x is horizontal) or 2 (x is along "
               "the ground).");
    if ((*flag)[0] != 0) {
      const auto count = static_cast<std::size_t>(whole("the number of points of topography", 2, 1'000'000));
      std::vector<std::pair<double, double>> points;
      for (std::size_t n = 0; n < count; ++n) {
        const auto numbers = next(line) ? numbers_of(line) : std::nullopt;
        if (!numbers || numbers->size() != 2)
          in_.fail(fmt::format("{} of {} points of topography are there", n, count),
                   "Such a line has x and the height.");
        points.emplace_back((*numbers)[0], (*numbers)[1]);
      }
      std::sort(points.begin(), points.end());
      take_topography(points, (*flag)[0] == 2);
    }
    bool others = false;
    while (next(line)) {
      const auto numbers = numbers_of(line);
      others = others || !numbers || (numbers->size() != 1 && !all_zero(*numbers));
    }
    if (others) note("what stands behind the topography, such as fixed regions, is not read");
  }
  /// Sets the heights of electrodes, interpolated linearly between topography points; if distances are along
  /// the ground, converts x to horizontal distance.
  void take_topography(const std::vector<std::pair<double, double>>& points, bool along_ground) {
    if (heights_)
      return note("heights of the electrodes are those of their lines; the topography behind is not read");
    std::vector<double> horizontal{points.front().first};
    for (std::size_t n = 1; n < points.size(); ++n) {
      const double step = points[n].first - points[n - 1].first,
                   rise = points[n].second - points[n - 1].second;
      if (!(step > 0)) in_.fail("two points of topography at one x");
      if (along_ground && std::abs(rise) >= step)
        in_.fail(fmt::format("the ground rises by {} within {} along it", rise, step));
      horizontal.push_back(horizontal.back() + (along_ground ? std::sqrt(step * step - rise * rise) : step));
    }
    for (auto& place : data_.electrodes.place) {
      const double tolerance = 1e-6 * std::max(std::abs(spacing_), 1e-6);
      if (place.e < points.front().first - tolerance || place.e > points.back().first + tolerance)
        in_.fail(fmt::format("an electrode at x = {:g} lies beside the topography", place.e),
                 fmt::format("It has points from {:g} to {:g}.", points.front().first, points.back().first));
      std::size_t n = 1;
      while (n + 1 < points.size() && place.e > points[n].first) ++n;
      const double share = (place.e - points[n - 1].first) / (points[n].first - points[n - 1].first);
      place.u = points[n - 1].second + share * (points[n].second - points[n - 1].second);
      place.e = horizontal[n - 1] + share * (horizontal[n] - horizontal[n - 1]);
    }
    heights_ = true;
  }
  /// Replaces x along the ground, of arrays with heights, by horizontal distance.
  void lay_along_the_ground() {
    auto& places = data_.electrodes.place;
    std::map<double, double> height;
    for (const auto& place : places)
      if (const auto [at, fresh] = height.try_emplace(place.e, place.u); !fresh && at->second != place.u)
        in_.fail(fmt::format("two heights at x = {:g}, which is a distance along the ground", place.e));
    std::map<double, double> horizontal;
    double at = height.empty() ? 0 : height.begin()->first;
    for (auto one = height.begin(), before = one; one != height.end(); before = one++) {
      const double step = one->first - before->first, rise = one->second - before->second;
      if (std::abs(rise) > step)
        in_.fail(fmt::format("the ground rises by {:g} within {:g} along it", rise, step));
      at += std::sqrt(step * step - rise * rise);
      horizontal[one->first] = at;
    }
    for (auto& place : places) place.e = horizontal[place.e];
  }
  /// Puts a remote electrode where the array has an electrode at infinity.
  void put_remote(const std::optional<electric::Point>& remote, int electric::Array::*which) {
    if (!remote) return;
    auto& [places, arrays] = data_.electrodes;
    for (auto& array : arrays)
      if (array.*which == FourElectrodes::far_away) array.*which = static_cast<int>(places.size());
    places.push_back(*remote);
  }
  void finish() {
    put_remote(remote_b_, &electric::Array::b);
    put_remote(remote_n_, &electric::Array::n);
    if (!heights_)
      for (auto& place : data_.electrodes.place) place.u = nowhere;
    data_.columns.push_back({resistance_ ? "resistance" : "apparent_resistivity",
                             resistance_ ? "V/A" : "ohm m", std::move(value_), std::move(error_)});
    if (!polarized_) return;
    if (polarization_.starts_with("mv/v"))
      data_.columns.push_back({"chargeability", "mV/V", std::move(chargeability_), {}});
    else if (polarization_.starts_with("mrad"))
      data_.columns.push_back({"phase", "mrad", std::move(chargeability_), {}});
    else note(fmt::format("chargeabilities in \"{}\" are not read: mV/V and mrad are", shown(polarization_)));
  }
  void note(const std::string& text) { data_.note += (data_.note.empty() ? "" : "\n") + text; }

  TextReader& in_;
  ElectrodeData data_;
  Line line_;
  double spacing_ = 0;
  int kind_ = 0;
  std::int64_t sub_kind_ = 0;
  bool middle_ = false, polarized_ = false, with_errors_ = false, resistance_ = false, heights_ = false,
       heights_of_lines_ = false, along_ground_ = false;
  std::string polarization_;
  std::vector<double> value_, chargeability_, error_;
  std::optional<electric::Point> remote_b_, remote_n_;
};

/// A column of an instrument's table, found by its name; case is ignored.
const Column* find(const Table& table, std::string_view wanted) {
  for (const auto& column : table.columns)
    if (lower(column.name) == wanted) return &column;
  return nullptr;
}

}  // namespace

bool begins_res2dinv(std::string_view head) {
  constexpr std::size_t lines = 6;
  std::vector<std::string_view> all;
  while (all.size() < lines && !head.empty()) {
    const auto end = std::min(head.find('\n'), head.size());
    all.push_back(head.substr(0, end));
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  if (all.size() < lines) return false;
  std::array<double, lines> first{};
  for (std::size_t n = 1; n < lines; ++n) {
    const auto words = words_of_line(all[n]);
    const auto first_word = words.empty() ? std::string() : lower(words.front());
    if (n == 4 && first[2] == double{general} && first_word == "type") return true;
    if (n == 3 && is_array_with_pole(first[2]) && first_word == "remote") return true;
    if (words.size() != 1 || !parse_number(words.front(), first[n])) return false;
  }
  const auto is_whole = [](double x, double least, double most) {
    return x == std::floor(x) && x >= least && x <= most;
  };
  return first[1] > 0 && is_whole(first[2], 1, 15) && is_whole(first[3], 0, 1e8) &&
         (first[2] == double{general} || (is_whole(first[4], 0, 2) && is_whole(first[5], 0, 2)));
}

bool begins_syscal(std::string_view head) {
  const auto line = lower(head.substr(0, head.find_first_of("\r\n")));
  return line.find("spa.1") != line.npos && line.find("spa.4") != line.npos;
}

ElectrodeData read_res2dinv(TextReader& in) { return Res2dinv(in).read(); }

namespace {

/// The values of a column in `unit`, which columns without a unit have. Throws InputError: a unit that is not
/// known.
std::vector<double> values_in(const std::string& file, const Column& column, Quantity quantity,
                              std::string_view unit) {
  auto said = column.unit;
  std::replace(said.begin(), said.end(), '.', ' ');  // "ohm.m"
  if (said.empty() || said == unit) return column.values;
  try {
    const double factor = si_factor(quantity, said) / si_factor(quantity, unit);
    auto values = column.values;
    for (double& value : values) value *= factor;
    return values;
  } catch (const InputError& e) {
    throw InputError(file, fmt::format("column {}: {}", shown(column.name), e.problem()), e.next());
  }
}

void add_line(std::string& note, const std::string& text) { note += (note.empty() ? "" : "\n") + text; }

/// The apparent resistivities of a Syscal table with their uncertainties, or else its resistances.
void take_measured(const Table& table, ElectrodeData& data) {
  const auto& file = table.source;
  if (const auto* rho = find(table, "rho")) {
    auto values = values_in(file, *rho, Quantity::resistivity, "ohm m");
    std::vector<double> error;
    const auto* deviation = find(table, "dev.");
    const auto percent = deviation == nullptr ? error : values_in(file, *deviation, Quantity::fraction, "%");
    if (std::any_of(percent.begin(), percent.end(), [](double one) { return !(one > 0); }))
      add_line(data.note, "Dev. is 0 or empty in some rows: uncertainties are not taken from it");
    else
      for (std::size_t row = 0; row < percent.size(); ++row)
        error.push_back(std::abs(values[row]) * percent[row] / 100);
    data.columns.push_back({"apparent_resistivity", "ohm m", std::move(values), std::move(error)});
  } else if (const auto* voltage = find(table, "vp"), *current = find(table, "in");
             voltage != nullptr && current != nullptr) {
    const auto volts = values_in(file, *voltage, Quantity::voltage, "mV"),
               amperes = values_in(file, *current, Quantity::current, "mA");
    std::vector<double> resistance;
    for (std::size_t row = 0; row < table.rows(); ++row)
      resistance.push_back(amperes[row] == 0 ? nowhere : volts[row] / amperes[row]);
    data.columns.push_back({"resistance", "V/A", std::move(resistance), {}});
  }
}

/// Adds a note on columns of coordinates that a Syscal table of this form does not use: electrodes lie on one
/// line, at the distances Spa.1 to Spa.4. Throws InputError if such a column has several values, as for
/// several lines.
void look_at_other_places(const Table& table, ElectrodeData& data) {
  constexpr std::array<std::string_view, 5> words{"alt", "elev", "lat", "lon", "northing"};
  std::string unread;
  for (const auto& column : table.columns) {
    const auto name = lower(column.name);
    const bool of_axis = (name.starts_with("y") || name.starts_with("z")) &&
                         (name.size() <= 3 || name.find('.') != std::string::npos);
    const bool of_word =
        std::any_of(words.begin(), words.end(), [&](auto word) { return name.starts_with(word); });
    if (!(of_axis || of_word) || column.values.empty() || std::isnan(column.values.front())) continue;
    const auto differs = [&](double value) { return value != column.values.front(); };
    if (std::any_of(column.values.begin(), column.values.end(), differs))
      throw InputError(
          table.source,
          fmt::format("column {} has several values, and Spa.1 to Spa.4 place electrodes on one line",
                      shown(column.name)),
          "Write the places of electrodes as columns a_easting, a_northing, a_up, b_easting and so on.");
    unread +=
        fmt::format("{}{} = {:g}", unread.empty() ? "" : ", ", shown(column.name), column.values.front());
  }
  if (!unread.empty())
    data.note = fmt::format("{} is not read: electrodes lie on a line, at Spa.1 to Spa.4", unread);
}

}  // namespace

ElectrodeData read_syscal(TextReader& in) {
  const auto table = read_csv(in);
  ElectrodeData data;
  Line line(data.electrodes);
  std::array<std::vector<double>, 4> places;
  for (std::size_t p = 0; p < 4; ++p) {
    const auto* column = find(table, fmt::format("spa.{}", p + 1));
    if (column == nullptr)
      throw InputError(in.name(), fmt::format("there is no column of numbers Spa.{}", p + 1));
    places[p] = values_in(in.name(), *column, Quantity::length, "m");
  }
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::array<int, 4> n{};
    for (std::size_t p = 0; p < 4; ++p) {
      const double x = places[p][row];
      if (std::isnan(x)) throw InputError(table.where(row), fmt::format("Spa.{} is empty", p + 1));
      n[p] = line.at(x);
    }
    data.electrodes.arrays.push_back({n[0], n[1], n[2], n[3]});
  }
  look_at_other_places(table, data);
  take_measured(table, data);
  if (const auto* m = find(table, "m"))
    data.columns.push_back(
        {"chargeability", "mV/V", values_in(in.name(), *m, Quantity::fraction, "mV/V"), {}});
  for (const auto& text : table.texts)
    for (const auto& word : text.values)
      if (lower(word).find("pole") != std::string::npos &&
          lower(word).find("dipole dipole") == std::string::npos && lower(word).starts_with("pole")) {
        add_line(data.note,
                 fmt::format("arrays \"{}\": far electrodes are taken to stand where the table says",
                             shown(word)));
        return data;
      }
  return data;
}

}  // namespace terrane::io
