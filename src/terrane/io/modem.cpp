#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/magnetotellurics.hpp"

namespace terrane::io {

namespace magnetotelluric {

namespace {

/// Names of the sites: those of the table, or S001, S002 … by their places.
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

constexpr double no_weight = 2e15;  // as ModEM writes it
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

/// Rows of a list as they are met.
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

  /// The six lines of a block after its first one, ">".
  void begin(std::string_view first) {
    const auto kind = lower(first);
    tipper_ = kind == "full_vertical_components";
    if (!tipper_ && kind != "full_impedance" && kind != "off_diagonal_impedance")
      in_.fail(fmt::format("a block of \"{}\"", shown(first)),
               "Allowed: Full_Impedance, Off_Diagonal_Impedance, Full_Vertical_Components.");
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
    conjugate_ = next("time dependence").find('-') != std::string::npos;
    const auto unit = lower(next("unit"));
    factor_ = 1;
    if (!tipper_) {
      if (unit.find("mv") != unit.npos) factor_ = practical;
      else if (unit.find("v/m") != unit.npos) factor_ = practical / 1000;
      else if (unit.find("ohm") == unit.npos)
        in_.fail(fmt::format("impedances in \"{}\"", shown(unit)), "Allowed: [mV/km]/[nT], [V/m]/[T], Ohm.");
    }
    double turned = 0;
    const auto orientation = next("orientation");
    const auto words = words_of(orientation);
    if (words.size() != 1 || !parse_number(words[0], turned) || turned != 0)
      in_.fail(fmt::format("axes turned by \"{}\"", shown(orientation)), "Turn the data to north first.");
    next("origin");
    next("numbers of periods and sites");
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
    const auto element = std::find_if(std::begin(elements), std::end(elements),
                                      [&](const auto& e) {
                                        return e.tipper == tipper_ && lower(words[7]) == lower(e.in_list);
                                      }) -
                         std::begin(elements);
    if (element == std::ssize(elements))
      in_.fail(fmt::format("\"{}\" is no component of this block", shown(words[7])),
               tipper_ ? "Allowed: TX, TY." : "Allowed: ZXX, ZXY, ZYX, ZYY.");
    const auto [at, fresh] = rows_.try_emplace({std::string(words[1]), period}, rows_.size());
    if (fresh) begin_row(words[1], {number(5), number(4), 0.0 - number(6), number(3), number(2), 1 / period});
    auto& of = columns(static_cast<std::size_t>(element));
    const double real = number(8), imag = number(9), error = number(10), sign = elements[element].sign;
    of[0].values[at->second] = sign * factor_ * real;
    of[1].values[at->second] = (conjugate_ ? -sign : sign) * factor_ * imag;
    of[2].values[at->second] = error >= no_weight / 2 ? NAN : factor_ * error;
  }

  Table finish() {
    if (rows_.empty()) in_.fail("there are no data");
    for (std::size_t n = 0; n < std::size(elements); ++n)
      for (auto& column : data_[n]) {
        if (column.values.empty()) continue;
        column.values.resize(rows_.size(), NAN);
        table_.columns.push_back(std::move(column));
      }
    return std::move(table_);
  }

 private:
  void begin_row(std::string_view site, const std::array<double, 6>& place) {
    in_.expect_memory(24);
    for (std::size_t n = 0; n < place.size(); ++n) table_.columns[n].values.push_back(place[n]);
    table_.texts[0].values.emplace_back(site);
    table_.lines.push_back(in_.line_number());
    for (auto& all : data_)
      for (auto& column : all)
        if (!column.values.empty()) column.values.resize(rows_.size(), NAN);
  }
  std::array<Column, 3>& columns(std::size_t element) {
    auto& all = data_[element];
    if (!all[0].values.empty()) return all;
    const std::string name = elements[element].name, unit = elements[element].tipper ? "1" : "ohm";
    all = {{{name + "_real", unit, "", {}},
            {name + "_imag", unit, "", {}},
            {name + "_uncertainty", unit, "", {}}}};
    for (auto& column : all) column.values.resize(rows_.size(), NAN);
    return all;
  }

  TextReader& in_;
  Table table_;
  bool tipper_ = false, conjugate_ = false;
  double factor_ = 1;
  std::map<std::pair<std::string, double>, std::size_t> rows_;
  std::array<std::array<Column, 3>, 6> data_;
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

void write_modem_data(const std::string& path, const Table& table) {
  const auto rows = magnetotelluric::rows_of(path, "a ModEM list", table);
  const auto value = [](const Column* column, std::size_t row) { return column ? column->values[row] : 0.0; };
  const std::set<double> frequencies(rows.frequency->values.begin(), rows.frequency->values.end());
  AtomicFile file(path);
  for (const bool tipper : {false, true}) {
    if (!(tipper ? rows.tipper() : rows.impedance())) continue;
    file.write(fmt::format(
        "# written by Terrane\n# period(s) code lat lon X(m) Y(m) Z(m) component real imag error\n> {}\n"
        "> exp(+i\\omega t)\n> {}\n> 0.00\n> 0.000 0.000\n> {} {}\n",
        tipper ? "Full_Vertical_Components" : "Full_Impedance", tipper ? "[]" : "[mV/km]/[nT]",
        frequencies.size(), rows.sites.size()));
    for (std::size_t row = 0; row < table.rows(); ++row)
      for (std::size_t n = 0; n < std::size(elements); ++n) {
        const auto& [real, imag, uncertainty] = rows.elements[n];
        if (elements[n].tipper != tipper || real == nullptr) continue;
        if (!std::isfinite(real->values[row]) || !std::isfinite(imag->values[row])) continue;
        const double scale = elements[n].sign / (tipper ? 1 : practical),
                     error = uncertainty ? std::abs(scale) * uncertainty->values[row] : no_weight;
        file.write(fmt::format("{:.9g} {} {:.6f} {:.6f} {:.10g} {:.10g} {:.10g} {} {:.12g} {:.12g} {:.6g}\n",
                               1 / rows.frequency->values[row], rows.sites[rows.site_of_row[row]],
                               value(rows.latitude, row), value(rows.longitude, row),
                               value(rows.northing, row), value(rows.easting, row), 0.0 - value(rows.up, row),
                               elements[n].in_list, scale * real->values[row], scale * imag->values[row],
                               std::isfinite(error) ? error : no_weight));
      }
  }
  file.commit();
}

std::vector<std::string> left_out_of_modem_data(const std::string& path, const Table& table) {
  return magnetotelluric::not_in(magnetotelluric::rows_of(path, "a ModEM list", table), table);
}

MeshData read_modem_model(TextReader& in) {
  std::string_view line;
  do {
    if (!in.line(line)) in.fail("the file holds no model");
  } while (line.empty() || line.find_first_not_of(" \t\r") == line.npos ||
           line[line.find_first_not_of(" \t\r")] == '#');
  const auto words = words_of(line);
  std::array<std::int64_t, 3> count{};
  for (std::size_t a = 0; a < 3; ++a)
    if (words.size() < 3 || !parse_integer(words[a], count[a]) || count[a] < 1 ||
        count[a] > static_cast<std::int64_t>(most_axis))
      in.fail("no line with the numbers of cells north, east and down", "It reads: Nx Ny Nz 0 LOGE.");
  const auto scale = words.size() > 4 ? lower(words[4]) : std::string("linear");
  if (scale != "loge" && scale != "log10" && scale != "linear")
    in.fail(fmt::format("values as \"{}\"", shown(scale)), "Allowed: LOGE, LOG10, LINEAR.");
  std::array<std::vector<double>, 3> widths;
  for (std::size_t a = 0; a < 3; ++a) {
    widths[a] = in.numbers(static_cast<std::size_t>(count[a]), "width of a cell");
    for (const double w : widths[a])
      if (!(w > 0)) in.fail("a cell without width");
  }
  const auto cells = checked_product(in.where(), count);
  const auto read = in.numbers(cells, "a resistivity");
  // Then, perhaps, the corner: north, east, down; and a rotation.
  double length_north = 0, length_east = 0;
  for (const double w : widths[0]) length_north += w;
  for (const double w : widths[1]) length_east += w;
  std::array<double, 3> corner{-length_north / 2, -length_east / 2, 0};
  const auto before = in.mark();
  std::string_view word;
  if (in.token(word)) {
    in.rewind(before);
    for (double& x : corner) x = in.number("the corner of the model");
    if (in.token(word)) {
      double turned = 0;
      if (!parse_number(word, turned) || turned != 0)
        in.fail("a model that is turned", "Its rotation must be 0.");
    }
  }
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
                {}};
  const auto north = static_cast<std::size_t>(count[0]), east = static_cast<std::size_t>(count[1]),
             deep = static_cast<std::size_t>(count[2]);
  std::size_t n = 0;
  for (std::size_t k = deep; k-- > 0;)  // from the top, east outside, and from north to south
    for (std::size_t i = 0; i < east; ++i)
      for (std::size_t j = north; j-- > 0;) {
        const double value = read[n++];
        data.cells[0].values[data.mesh.index(i, j, k)] = scale == "loge"    ? std::exp(value)
                                                         : scale == "log10" ? std::pow(10, value)
                                                                            : value;
      }
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
