#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/magnetotellurics.hpp"
#include "terrane/survey/projection.hpp"

namespace terrane::io {

namespace magnetotelluric {

namespace {

/// Sets the names of the sites: those in the table, or S001, S002, ... for each distinct position.
void name_sites(Rows& rows, const Table& table) {
  const TextColumn* words = nullptr;
  for (const auto& text : table.texts)
    if (text.name == "site") words = &text;
  std::map<std::string, std::size_t> by_name;
  std::map<std::array<double, 3>, std::size_t> by_place;
  const auto at = [](const Column* column, std::size_t row) { return column ? column->values[row] : 0.0; };
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::size_t number = 0;
    if (words != nullptr) {
      number = by_name.try_emplace(words->values[row], by_name.size()).first->second;
      if (number == rows.sites.size()) rows.sites.push_back(words->values[row]);
    } else {
      const bool local = rows.easting != nullptr;
      const std::array<double, 3> place{at(local ? rows.easting : rows.longitude, row),
                                        at(local ? rows.northing : rows.latitude, row), at(rows.up, row)};
      number = by_place.try_emplace(place, by_place.size()).first->second;
      if (number == rows.sites.size()) rows.sites.push_back(fmt::format("S{:03}", number + 1));
    }
    rows.site_of_row.push_back(number);
  }
}

}  // namespace

Rows rows_of(const std::string& path, const std::string& format, const Table& table) {
  Rows rows{};
  const auto either = [&](const std::string& name) {
    const auto* column = table.find(name);
    return column != nullptr ? column : table.find("receiver_" + name);
  };
  rows.easting = either("easting");
  rows.northing = either("northing");
  rows.up = either("up");
  rows.longitude = table.find("longitude");
  rows.latitude = table.find("latitude");
  rows.frequency = table.find("frequency");
  for (std::size_t n = 0; n < std::size(elements); ++n) {
    const std::string name = elements[n].name;
    rows.elements[n] = {table.find(name + "_real"), table.find(name + "_imag"),
                        table.find(name + "_uncertainty")};
    if (rows.elements[n].imag == nullptr) rows.elements[n].real = nullptr;
  }
  const char* missing = nullptr;
  if (rows.frequency == nullptr) missing = "no column frequency";
  else if (!rows.impedance() && !rows.tipper()) missing = "neither impedances (z_ne_real, …) nor tippers";
  else if ((rows.easting == nullptr || rows.northing == nullptr) &&
           (rows.longitude == nullptr || rows.latitude == nullptr))
    missing = "no places of sites";
  if (missing != nullptr)
    throw UnsupportedError(
        path, fmt::format("{} holds magnetotelluric data, and the table has {}", format, missing),
        "Write NetCDF or CSV; of plane waves simulation.responses asks for impedance and tipper.");
  name_sites(rows, table);
  return rows;
}

std::vector<std::string> not_in(const Rows& rows, const Table& table) {
  std::set<const Column*> written{rows.easting,   rows.northing, rows.up,
                                  rows.longitude, rows.latitude, rows.frequency};
  for (const auto& [real, imag, uncertainty] : rows.elements) {
    if (real == nullptr) continue;
    written.insert({real, imag, uncertainty});
  }
  std::vector<std::string> names;
  for (const auto& column : table.columns)
    if (!written.contains(&column) && column.name != "receiver") names.push_back(column.name);
  return names;
}

}  // namespace magnetotelluric

namespace {

using magnetotelluric::elements;
using magnetotelluric::practical;

constexpr double no_weight = 2e15;  // the uncertainty that ModEM writes for data without weight
constexpr std::size_t most_axis = 100'000;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view blanks = " \t\r";
  for (auto at = line.find_first_not_of(blanks); at != line.npos; at = line.find_first_not_of(blanks, at)) {
    const auto stop = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, stop - at));
    at = stop;
  }
  return words;
}

/// The unit of impedances in ohm, from a text such as "[mV/km]/[nT]", "[V/m]/[A/m]" or "Ohm".
double unit_of_impedance(const TextReader& in, std::string_view said) {
  std::string unit;
  for (const char c : lower(said))
    if (std::string_view(" \t\r[]()").find(c) == std::string_view::npos) unit += c;
  if (unit == "ohm" || unit == "ohms") return 1;
  constexpr double mu = 4e-7 * 3.14159265358979323846;
  constexpr std::pair<std::string_view, double> electric[] = {{"mv/km/", 1e-6}, {"v/m/", 1}, {"uv/m/", 1e-6}},
                                                magnetic[] = {{"nt", 1e-9 / mu}, {"t", 1 / mu}, {"a/m", 1}};
  if (unit == "mv/km/nt") return practical;  // avoids rounding differences
  for (const auto& [e, volts] : electric)
    for (const auto& [h, amperes] : magnetic)
      if (unit.starts_with(e) && unit.substr(e.size()) == h) return volts / amperes;
  in.fail(fmt::format("impedances in \"{}\"", shown(said)),
          "Allowed: [mV/km]/[nT], [V/m]/[T], [V/m]/[A/m], Ohm.");
}

/// Throws InputError that names the content of an unsupported block.
void refuse_block(const TextReader& in, const std::string& kind, std::string_view first) {
  const bool field = kind.ends_with("_field"), section = kind.starts_with("te_") || kind.starts_with("tm_");
  const auto what = field                                ? "CSEM data"
                    : section                            ? "two-dimensional data (TE, TM)"
                    : kind.starts_with("off_diagonal_r") ? "apparent resistivities and phases"
                    : kind.starts_with("phase_tensor")   ? "phase tensors"
                    : kind.starts_with("full_inter")     ? "transfer functions between sites"
                                                         : "another kind";
  in.fail(fmt::format("a block of \"{}\": a list of {} of ModEM is not read", shown(first), what),
          "Allowed: Full_Impedance, Off_Diagonal_Impedance, Full_Vertical_Components.");
}

/// Collects the rows of a data list.
class DataList {
 public:
  explicit DataList(TextReader& in) : in_(in) {
    table_.source = in.name();
    table_.columns = {{"easting", "m", "easting", {}},
                      {"northing", "m", "northing", {}},
                      {"up", "m", "height", {}},
                      {"longitude", "degree", "longitude", {}},
                      {"latitude", "degree", "latitude", {}},
                      {"frequency", "Hz", "frequency", {}}};
    table_.texts = {{"site", {}}};
    table_.attributes = {{"frame", "enu"}, {"time_dependence", "exp(+i omega t)"}};
  }

  /// Reads the rest of the header of a block: the six lines "> ..." after its first one.
  void begin(std::string_view first) {
    const auto kind = lower(first);
    tipper_ = kind == "full_vertical_components";
    if (!tipper_ && kind != "full_impedance" && kind != "off_diagonal_impedance")
      refuse_block(in_, kind, first);
    const auto next = [&](const char* what) {
      std::string_view line;
      do {
        if (!in_.line(line)) in_.fail(fmt::format("the file ends before the {} of a block", what));
        const auto start = line.find_first_not_of(" \t");
        line.remove_prefix(std::min(start, line.size()));
      } while (line.empty() || line.front() == '#');
      if (line.front() != '>') in_.fail(fmt::format("no line \"> …\" with the {} of the block", what));
      return std::string(line.substr(1));
    };
    const auto dependence = next("time dependence");
    conjugate_ =
        dependence.find('-') != dependence.npos || dependence.find("\xE2\x88\x92") != dependence.npos;
    const auto unit = next("unit");
    factor_ = tipper_ ? 1 : unit_of_impedance(in_, unit);
    double turned = 0;
    const auto orientation = next("orientation");
    const auto words = words_of(orientation);
    if (words.size() != 1 || !parse_number(words[0], turned) || turned != 0)
      in_.fail(
          fmt::format("axes turned by \"{}\"", shown(orientation)),
          "Write 0 there, and on each line the azimuths of Hx, Hy, Ex and Ey, which are turned to north.");
    const auto origin = next("origin");
    const auto place = words_of(origin);
    double latitude = 0, longitude = 0;
    if (place.size() >= 2 && parse_number(place[0], latitude) && parse_number(place[1], longitude) &&
        (latitude != 0 || longitude != 0))
      table_.attributes["origin"] = fmt::format("latitude {:g}, longitude {:g}", latitude, longitude);
    end_block();
    const auto counts = next("numbers of periods and sites");
    const auto numbers = words_of(counts);
    for (std::size_t n = 0; n < 2; ++n)
      if (n >= numbers.size() || !parse_integer(numbers[n], counted_[n])) counted_[n] = 0;
  }

  /// Compares the periods and sites of the block that ends here with the numbers in its header.
  void end_block() {
    const std::array<std::size_t, 2> found{periods_.size(), sites_.size()};
    constexpr const char* what[2] = {"periods", "sites"};
    for (std::size_t n = 0; n < 2; ++n)
      if (found[0] > 0 && counted_[n] > 0 && found[n] != static_cast<std::size_t>(counted_[n]))
        note(fmt::format("a block counts {} {}, and it has {}", counted_[n], what[n], found[n]));
    periods_.clear();
    sites_.clear();
  }

  void take(std::string_view line) {
    const auto words = words_of(line);
    if (words.size() < 11)
      in_.fail(fmt::format("{} words on a line of data", words.size()),
               "It reads: period, site, latitude, longitude, X, Y, Z, component, real, imaginary, error.");
    const auto number = [&](std::size_t n) {
      double value = 0;
      if (!parse_number(words[n], value) || !std::isfinite(value))
        in_.fail(fmt::format("\"{}\" is no number", shown(words[n])));
      return value;
    };
    const double period = number(0);
    if (!(period > 0)) in_.fail("a period that is not above zero");
    const auto element = static_cast<std::size_t>(std::find_if(std::begin(elements), std::end(elements),
                                                               [&](const auto& e) {
                                                                 return e.tipper == tipper_ &&
                                                                        lower(words[7]) == lower(e.in_list);
                                                               }) -
                                                  std::begin(elements));
    if (element == std::size(elements))
      in_.fail(fmt::format("\"{}\" is no component of this block", shown(words[7])),
               tipper_ ? "Allowed: TX, TY." : "Allowed: ZXX, ZXY, ZYX, ZYY.");
    const auto [at, fresh] = rows_.try_emplace({std::string(words[1]), period}, rows_.size());
    const Place place{number(5), number(4), 0.0 - number(6), number(3), number(2)};
    expect_place(words[1], place);
    if (fresh) begin_row(words[1], place, 1 / period);
    periods_.insert(period);
    sites_.emplace(words[1]);
    auto& row = data_[at->second];
    const auto axes = axes_of(words, number);
    auto& known = row.axes[tipper_];
    if (row.has[tipper_] &&
        (known.hx != axes.hx || known.hy != axes.hy || known.ex != axes.ex || known.ey != axes.ey))
      in_.fail(
          fmt::format("the axes of {} are not those of its other numbers at this period", shown(words[7])));
    known = axes;
    row.has[tipper_] = has_[element] = true;
    if (!std::isnan(row.numbers.value[element].real()))
      in_.fail(fmt::format("a second {} of site {} at this period", shown(words[7]), shown(words[1])),
               "Keep one of the two.");
    const double error = number(10);
    if (error < 0) in_.fail(fmt::format("an error of {:g}", error), "It must be zero or more.");
    row.numbers.value[element] = factor_ * std::complex<double>(number(8), (conjugate_ ? -1 : 1) * number(9));
    row.numbers.error[element] = error >= no_weight / 2 ? NAN : factor_ * error;
  }

  Table finish() {
    if (rows_.empty()) in_.fail("there are no data");
    end_block();
    turn();
    for (std::size_t n = 0; n < std::size(elements); ++n) {
      if (!has_[n]) continue;
      const std::string name = elements[n].name, unit = elements[n].tipper ? "1" : "ohm";
      const double sign = elements[n].sign;
      Column real{name + "_real", unit, "", {}}, imag{name + "_imag", unit, "", {}},
          error{name + "_uncertainty", unit, "", {}};
      for (const auto& row : data_) {
        real.values.push_back(sign * row.numbers.value[n].real());
        imag.values.push_back(sign * row.numbers.value[n].imag());
        error.values.push_back(row.numbers.error[n]);
      }
      for (auto* column : {&real, &imag, &error}) table_.columns.push_back(std::move(*column));
    }
    drop_places_that_are_none();
    return std::move(table_);
  }

 private:
  struct Row {
    magnetotelluric::Transfer numbers;
    std::array<magnetotelluric::Axes, 2> axes;  ///< axes of the impedance, and of the tipper
    std::array<bool, 2> has{};
    std::size_t line = 0;
  };

  /// Easting, northing, up in m; longitude, latitude in degrees.
  using Place = std::array<double, 5>;

  void note(const std::string& text) {
    auto& notes = table_.attributes["note"];
    notes += (notes.empty() ? "" : "\n") + text;
  }
  void begin_row(std::string_view site, const Place& place, double frequency) {
    in_.expect_memory(64);
    for (std::size_t n = 0; n < place.size(); ++n) table_.columns[n].values.push_back(place[n]);
    table_.columns[place.size()].values.push_back(frequency);
    table_.texts[0].values.emplace_back(site);
    table_.lines.push_back(in_.line_number());
    auto& row = data_.emplace_back();
    row.numbers.value.fill({NAN, NAN});
    row.numbers.error.fill(NAN);
    row.line = in_.line_number();
  }
  /// Throws InputError if the site was at another position before, by more than programs round.
  void expect_place(std::string_view site, const Place& place) {
    const auto [known, fresh] = place_of_site_.try_emplace(std::string(site), place);
    const auto& before = known->second;
    constexpr Place tolerance{1, 1, 1, 1e-4, 1e-4};
    bool same = true;
    for (std::size_t n = 0; n < place.size(); ++n)
      same = same && std::abs(place[n] - before[n]) <= tolerance[n];
    if (!fresh && !same)
      in_.fail(fmt::format("site {} was at X {:g}, Y {:g}, Z {:g} before", shown(site), before[1], before[0],
                           0.0 - before[2]),
               "Give sites names of their own.");
  }
  /// The azimuths after the error in a line: of Hx and Hy, and for impedances also of Ex and Ey.
  template <class Number>
  magnetotelluric::Axes axes_of(const std::vector<std::string_view>& words, const Number& number) const {
    magnetotelluric::Axes axes;
    constexpr std::size_t first = 11;
    const std::size_t count = words.size() - first;
    if (count == 0) return axes;
    if (count != 4 && !(tipper_ && (count == 2 || count == 3)))
      in_.fail(fmt::format("\"{}\" stands behind the error", shown(words[first])),
               "Allowed there: azimuths of Hx and Hy, and of impedances those of Ex and Ey.");
    axes.hx = number(first);
    axes.hy = number(first + 1);
    if (!tipper_) {
      axes.ex = number(first + 2);
      axes.ey = number(first + 3);
    }
    return axes;
  }
  void turn() {
    std::size_t turned = 0;
    for (auto& row : data_) {
      if (row.axes[0].at_north() && row.axes[1].at_north()) continue;
      ++turned;
      const auto where = fmt::format("{}:{}", in_.name(), row.line);
      const auto given = row.numbers;
      const auto z = magnetotelluric::to_north(given, row.axes[0], where),
                 t = magnetotelluric::to_north(given, row.axes[1], where);
      const auto count_of_gaps = [](const magnetotelluric::Transfer& of) {
        return std::count_if(of.value.begin(), of.value.end(),
                             [](const auto& one) { return std::isnan(one.real()); });
      };
      for (std::size_t n = 0; n < std::size(elements); ++n) {
        const auto& from = elements[n].tipper ? t : z;
        row.numbers.value[n] = from.value[n];
        row.numbers.error[n] = from.error[n];
        has_[n] = has_[n] || !std::isnan(from.value[n].real());
      }
      if (count_of_gaps(row.numbers) > count_of_gaps(given))
        throw InputError(where, "axes that are turned, and not all components are there",
                         "To turn them to north takes ZXX, ZXY, ZYX and ZYY, and TX and TY of a tipper.");
    }
    if (turned > 0) note(fmt::format("turned to north by azimuths of {} of {} rows", turned, data_.size()));
  }
  /// Removes latitudes and longitudes that are all 0, and X and Y if they are all 0 for several sites:
  /// programs write zeros if positions are unknown.
  void drop_places_that_are_none() {
    const auto all_zero = [&](std::size_t n) {
      const auto& values = table_.columns[n].values;
      return std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
    };
    const bool no_degrees = all_zero(3) && all_zero(4), no_metres = all_zero(0) && all_zero(1);
    const std::set<std::string> sites(table_.texts[0].values.begin(), table_.texts[0].values.end());
    if (no_degrees && no_metres && sites.size() > 1)
      in_.fail(fmt::format("{} sites, and none has a place: all X, Y, latitudes and longitudes are 0",
                           sites.size()));
    if (no_degrees) table_.columns.erase(table_.columns.begin() + 3, table_.columns.begin() + 5);
    else if (no_metres && sites.size() > 1)
      table_.columns.erase(table_.columns.begin(), table_.columns.begin() + 2);
  }

  TextReader& in_;
  Table table_;
  bool tipper_ = false, conjugate_ = false;
  double factor_ = 1;
  std::array<std::int64_t, 2> counted_{};  ///< periods and sites by the header of the block; 0: not stated
  std::set<double> periods_;               ///< different periods of the block, s
  std::set<std::string> sites_;            ///< names of the sites in the block
  std::map<std::string, Place> place_of_site_;
  std::map<std::pair<std::string, double>, std::size_t> rows_;
  std::vector<Row> data_;
  std::array<bool, 6> has_{};
};

}  // namespace

Table read_modem_data(TextReader& in) {
  DataList list(in);
  std::string_view line;
  bool begun = false;
  while (in.line(line)) {
    const auto start = line.find_first_not_of(" \t\r");
    if (start == line.npos || line[start] == '#') continue;
    if (line[start] == '>') {
      const auto words = words_of(line.substr(start + 1));
      list.begin(words.empty() ? std::string_view{} : words[0]);
      begun = true;
      continue;
    }
    if (!begun)
      in.fail("data before the first block", "A block begins with a line such as \"> Full_Impedance\".");
    list.take(line);
  }
  return list.finish();
}

namespace {

/// X (north) and Y (east) of each row in metres, and the geographic position of their origin.
struct LocalPlaces {
  std::vector<double> north, east;
  double latitude = 0, longitude = 0;
};
/// Local coordinates of sites. If sites have only longitudes and latitudes, they are projected by a
/// transverse Mercator projection around their middle, whose axes point north and east there.
LocalPlaces local_places(const magnetotelluric::Rows& rows) {
  LocalPlaces places;
  if (rows.easting != nullptr && rows.northing != nullptr) {
    places.north = rows.northing->values;
    places.east = rows.easting->values;
    return places;
  }
  const auto &latitude = rows.latitude->values, &longitude = rows.longitude->values;
  const auto middle = [](const std::vector<double>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return values.empty() ? 0 : (*least + *most) / 2;
  };
  places.latitude = middle(latitude);
  places.longitude = middle(longitude);
  places.north.resize(latitude.size());
  places.east.resize(latitude.size());
  Projection(fmt::format("+proj=tmerc +lat_0={:.10f} +lon_0={:.10f} +datum=WGS84", places.latitude,
                         places.longitude))
      .forward(longitude, latitude, places.east, places.north);
  return places;
}

/// Names of sites as single words. Throws InputError if two of them become the same word.
std::vector<std::string> words_for(const std::string& path, const std::vector<std::string>& sites) {
  std::map<std::string, std::string> taken;
  std::vector<std::string> words;
  for (const auto& site : sites) {
    auto word = site;
    std::replace_if(
        word.begin(), word.end(), [](char c) { return c == ' ' || c == '\t'; }, '_');
    if (const auto [other, fresh] = taken.try_emplace(word, site); !fresh)
      throw InputError(path,
                       fmt::format("the sites \"{}\" and \"{}\" would both be called {}",
                                   shown(other->second), shown(site), shown(word)),
                       "Names in such a list have no blanks. Give the sites other names.");
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

void write_modem_data(const std::string& path, const Table& table) {
  const auto rows = magnetotelluric::rows_of(path, "a ModEM list", table);
  if (rows.up == nullptr)
    throw UnsupportedError(path, "a ModEM list has the heights of its sites, and the table has no column up",
                           "Give the table a column up.");
  const auto places = local_places(rows);
  const auto names = words_for(path, rows.sites);
  const auto value = [](const Column* column, std::size_t row) { return column ? column->values[row] : 0.0; };
  const std::set<double> frequencies(rows.frequency->values.begin(), rows.frequency->values.end());
  AtomicFile file(path);
  for (const bool tipper : {false, true}) {
    if (!(tipper ? rows.tipper() : rows.impedance())) continue;
    file.write(fmt::format(
        "# written by Terrane\n# period(s) code lat lon X(m) Y(m) Z(m) component real imag error\n> {}\n"
        "> exp(+i\\omega t)\n> {}\n> 0.00\n> {:.6f} {:.6f}\n> {} {}\n",
        tipper ? "Full_Vertical_Components" : "Full_Impedance", tipper ? "[]" : "[mV/km]/[nT]",
        places.latitude, places.longitude, frequencies.size(), rows.sites.size()));
    for (std::size_t row = 0; row < table.rows(); ++row)
      for (std::size_t n = 0; n < std::size(elements); ++n) {
        const auto& [real, imag, uncertainty] = rows.elements[n];
        if (elements[n].tipper != tipper || real == nullptr) continue;
        if (!std::isfinite(real->values[row]) || !std::isfinite(imag->values[row])) continue;
        const double scale = elements[n].sign / (tipper ? 1 : practical),
                     error = uncertainty ? std::abs(scale) * uncertainty->values[row] : no_weight;
        file.write(fmt::format("{:.9g} {} {:.6f} {:.6f} {:.10g} {:.10g} {:.10g} {} {:.12g} {:.12g} {:.6g}\n",
                               1 / rows.frequency->values[row], names[rows.site_of_row[row]],
                               value(rows.latitude, row), value(rows.longitude, row), places.north[row],
                               places.east[row], 0.0 - value(rows.up, row), elements[n].in_list,
                               scale * real->values[row], scale * imag->values[row],
                               std::isfinite(error) ? error : no_weight));
      }
  }
  file.commit();
}

std::vector<std::string> left_out_of_modem_data(const std::string& path, const Table& table) {
  return magnetotelluric::not_in(magnetotelluric::rows_of(path, "a ModEM list", table), table);
}

namespace {

/// The line before the widths: numbers of cells north, east and down, and whether values are logarithms.
struct ModelHeader {
  std::array<std::int64_t, 3> count{};
  std::string scale;

  explicit ModelHeader(TextReader& in) {
    std::string_view line;
    do {
      if (!in.line(line)) in.fail("the file holds no model");
    } while (line.empty() || line.find_first_not_of(" \t\r") == line.npos ||
             line[line.find_first_not_of(" \t\r")] == '#');
    const auto words = words_of(line);
    std::int64_t fourth = 0;
    if (words.size() == 3 && parse_integer(words[0], fourth) && parse_integer(words[1], fourth) &&
        !parse_integer(words[2], fourth))
      in.fail("a two-dimensional model of ModEM", "Models with cells north, east and down are read.");
    for (std::size_t a = 0; a < 3; ++a)
      if (words.size() < 3 || !parse_integer(words[a], count[a]) || count[a] < 1 ||
          count[a] > static_cast<std::int64_t>(most_axis))
        in.fail("no line with the numbers of cells north, east and down", "It reads: Nx Ny Nz 0 LOGE.");
    if (words.size() > 3 && parse_integer(words[3], fourth) && fourth != 0)
      in.fail(fmt::format("a model of {} numbered rocks", fourth),
              "Models with the resistivity of each cell are read: 0.");
    if (words.size() > 5)
      in.fail(fmt::format("\"{}\" stands behind the scale", shown(words[5])), "It reads: Nx Ny Nz 0 LOGE.");
    scale = words.size() > 4 ? lower(words[4]) : std::string("linear");
    if (scale != "loge" && scale != "log10" && scale != "linear")
      in.fail(fmt::format("values as \"{}\"", shown(scale)), "Allowed: LOGE, LOG10, LINEAR.");
  }
  double value(double written) const {
    return scale == "loge" ? std::exp(written) : scale == "log10" ? std::pow(10, written) : written;
  }
};

/// The corner of the model (north, east, down) if the file ends with it and a rotation, which must be zero;
/// otherwise the middle of the model is at zero.
std::array<double, 3> corner_of_model(TextReader& in, const std::array<std::vector<double>, 3>& widths,
                                      Attributes& notes) {
  const auto length = [](const std::vector<double>& all) {
    return std::accumulate(all.begin(), all.end(), 0.0);
  };
  std::array<double, 3> corner{-length(widths[0]) / 2, -length(widths[1]) / 2, 0};
  const auto before = in.mark();
  std::string_view word;
  if (!in.token(word)) {
    notes["note"] = "there is no corner of the model: its middle is taken for 0, 0, and its top for 0";
    return corner;
  }
  in.rewind(before);
  for (double& x : corner) x = in.number("the corner of the model");
  if (in.token(word)) {
    double turned = 0;
    if (!parse_number(word, turned) || turned != 0)
      in.fail("a model that is turned", "Its rotation must be 0.");
    in.expect_end("the rotation of the model");
  }
  return corner;
}

}  // namespace

MeshData read_modem_model(TextReader& in) {
  const ModelHeader header(in);
  const auto& count = header.count;
  std::array<std::vector<double>, 3> widths;
  for (std::size_t a = 0; a < 3; ++a) {
    widths[a] = in.numbers(static_cast<std::size_t>(count[a]), "width of a cell");
    for (const double w : widths[a])
      if (!(w > 0)) in.fail("a cell without width");
  }
  const auto cells = checked_product(in.where(), count);
  const auto read = in.numbers(cells, "a resistivity");
  Attributes notes;
  const auto corner = corner_of_model(in, widths, notes);
  const auto faces = [](double from, const std::vector<double>& all) {
    std::vector<double> at{from};
    for (const double w : all) at.push_back(at.back() + w);
    return at;
  };
  auto down = faces(corner[2], widths[2]);
  std::reverse(down.begin(), down.end());
  for (double& z : down) z = 0.0 - z;
  MeshData data{{faces(corner[1], widths[1]), faces(corner[0], widths[0]), down},
                {{"resistivity", "ohm m", "electric resistivity", std::vector<double>(cells)}},
                notes};
  const auto north = static_cast<std::size_t>(count[0]), east = static_cast<std::size_t>(count[1]),
             deep = static_cast<std::size_t>(count[2]);
  std::size_t n = 0;
  for (std::size_t k = deep;
       k-- > 0;)  // order of the file: from the top; west to east; fastest from north to south
    for (std::size_t i = 0; i < east; ++i)
      for (std::size_t j = north; j-- > 0;)
        data.cells[0].values[data.mesh.index(i, j, k)] = header.value(read[n++]);
  return data;
}

void check_modem_model(const std::string& path, const MeshData& data) {
  if (data.find("resistivity") == nullptr && data.find("conductivity") == nullptr)
    throw UnsupportedError(path, "a ModEM model holds resistivities, and the model has none",
                           "Write NetCDF or HDF5.");
}

void write_modem_model(const std::string& path, const MeshData& data) {
  check_modem_model(path, data);
  const auto* resistivity = data.find("resistivity");
  const auto& values = (resistivity ? resistivity : data.find("conductivity"))->values;
  const auto& mesh = data.mesh;
  AtomicFile file(path);
  file.write(
      fmt::format("# written by Terrane\n {} {} {} 0 LOGE\n", mesh.n_north(), mesh.n_east(), mesh.n_up()));
  const auto widths = [&](const std::vector<double>& faces, bool down) {
    std::string text;
    for (std::size_t n = 0; n + 1 < faces.size(); ++n) {
      const std::size_t at = down ? faces.size() - 2 - n : n;
      text += fmt::format(" {:.10g}", faces[at + 1] - faces[at]);
    }
    file.write(text + "\n");
  };
  widths(mesh.northing(), false);
  widths(mesh.easting(), false);
  widths(mesh.up(), true);
  for (std::size_t k = mesh.n_up(); k-- > 0;) {
    file.write("\n");
    for (std::size_t i = 0; i < mesh.n_east(); ++i) {
      std::string text;
      for (std::size_t j = mesh.n_north(); j-- > 0;) {
        const double value = values[mesh.index(i, j, k)];
        text += fmt::format(" {:.12g}", resistivity ? std::log(value) : -std::log(value));
      }
      file.write(text + "\n");
    }
  }
  file.write(fmt::format("\n {:.10g} {:.10g} {:.10g}\n 0\n", mesh.northing().front(), mesh.easting().front(),
                         0.0 - mesh.up().back()));
  file.commit();
}

}  // namespace terrane::io
