#include "terrane/io/ubc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <optional>
#include <span>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/ubc_octree.hpp"
#include "terrane/survey/observed.hpp"

namespace terrane::io {

namespace {

constexpr double air = -100;  // g/cm³, the value that UBC programs write into cells above the topography
constexpr std::int64_t most_cells_an_axis = 10'000'000;
constexpr std::int64_t most_stations = 1'000'000'000;

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  constexpr std::string_view blanks = " \t\v\f,";
  line = line.substr(0, line.find('!'));
  for (auto begin = line.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(blanks, begin), line.size());
    out.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(blanks, end);
  }
  return out;
}

/// Reads lines of numbers, all with the same count; skips blank lines and comments.
class Rows {
 public:
  Rows(TextReader& in, std::size_t count) : in_(in), count_(count) {}

  /// Reads one row into `values`; false after the last. Throws if the file ends early.
  bool next(std::vector<double>& values) {
    if (row_ == count_) return false;
    std::string_view line;
    do {
      if (!in_.line(line))
        in_.fail(fmt::format("the file ends after {} of {} data lines", row_, count_),
                 "It may be truncated, or the count at its top is wrong.");
      words_ = words(line);
    } while (words_.empty());
    if (row_ > 0 && words_.size() != columns_)
      in_.fail(fmt::format("{} numbers on a line; the lines before have {}", words_.size(), columns_));
    columns_ = words_.size();
    values.clear();
    for (const auto word : words_) {
      double value = 0;
      if (!parse_number(word, value) || !std::isfinite(value))
        in_.fail(fmt::format("\"{}\" stands where a number belongs", shown(word)), "Give a finite number.");
      values.push_back(value);
    }
    ++row_;
    return true;
  }

 private:
  TextReader& in_;
  std::size_t count_, row_ = 0, columns_ = 0;
  std::vector<std::string_view> words_;
};

std::size_t station_count(TextReader& in, std::string_view what) {
  std::string_view line;
  std::vector<std::string_view> found;
  do {
    if (!in.line(line))
      in.fail(fmt::format("the file ends where the {} belongs", what), "It may be truncated.");
    found = words(line);
  } while (found.empty());
  std::int64_t count = 0;
  if (found.size() != 1 || !parse_integer(found[0], count) || count < 1 || count > most_stations)
    in.fail(fmt::format("\"{}\" stands where the {} belongs", shown(line), what),
            "Give one whole number, 1 or more, on a line of its own.");
  if (static_cast<std::size_t>(count) > in.bytes_left() / 2 + 1)
    in.fail(fmt::format("the {} is {}, and the file is too short for that", what, count),
            "It may be truncated, or the count is wrong.");
  return static_cast<std::size_t>(count);
}

Table coordinates() {
  Table table;
  table.columns = {
      {"easting", "m", "easting", {}}, {"northing", "m", "northing", {}}, {"up", "m", "elevation", {}}};
  table.attributes["frame"] = "enu";
  return table;
}

/// The convention that a table's attribute "frame" names.
const Convention& frame_of(const Table& table, const Conventions& known) {
  const auto attribute = table.attributes.find("frame");
  return attribute == table.attributes.end() ? known.own() : known.named(attribute->second);
}

/// The column with the values of a channel, and that with their uncertainties; null if missing.
struct Chosen {
  const Column *values = nullptr, *uncertainty = nullptr;
};

/// Chooses the columns of a channel: column `field` if given; otherwise computed values, which have no
/// uncertainty, before observed ones.
Chosen choose(const Table& table, const Convention& frame, std::string_view channel, std::string_view field) {
  const auto find = [&](Role role) { return table.find(column_name({channel, role}, frame)); };
  const auto *plain = find(Role::field), *observed = find(Role::observed), *residual = find(Role::residual);
  const auto* values = plain != nullptr ? plain : observed;
  if (!field.empty()) {
    values = nullptr;
    for (const auto* column : {plain, observed, residual})
      if (column != nullptr && column->name == field) values = column;
  }
  if (values == nullptr) return {};
  // Data read from a file have the channel's name, and there is no observed column.
  const bool data = values == observed || (values == plain && observed == nullptr);
  return {values, data ? find(Role::uncertainty) : nullptr};
}

/// Names of the columns whose channels are not in `written`, the channels that a file gets.
std::vector<std::string> without(const Table& table, const Convention& frame,
                                 const std::vector<std::string_view>& written) {
  std::vector<std::string> names;
  for (const auto& column : table.columns)
    if (const auto what = channel_column(column.name, frame);
        what && what->role != Role::uncertainty && std::ranges::find(written, what->channel) == written.end())
      names.push_back(column.name);
  return names;
}

/// A column of lengths in metres.
std::vector<double> metres(const Table& table, std::string_view name) {
  return table.si(name, Quantity::length, "m");
}

/// A column in the unit of the file, multiplied by `sign` and converted to Terrane's sign (enu).
std::vector<double> in_unit(const Table& table, const Column& column, const Convention& frame,
                            std::string_view channel, std::string_view unit, int sign) {
  const auto& there = *frame.of_channel(channel);
  // A column without a unit is assumed to have the usual unit of its frame; in Terrane's frame (enu) that is
  // the unit usual in geophysics, which these files use, too.
  const auto there_unit = there.unit(frame.name == "enu" ? UnitSystem::geo : frame.usual);
  auto values = table.si(column.name, there.quantity, there_unit);
  const double factor = si_factor(there.quantity, unit);
  // Does not multiply if the unit does not change, so that values keep all digits.
  const bool same =
      si_factor(there.quantity, column.unit.empty() ? there_unit : std::string_view(column.unit)) == factor;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = there.sign * sign * (same ? column.values[i] : values[i] / factor);
  return values;
}

/// An uncertainty in the unit of the file; always positive.
std::vector<double> uncertainty_in_unit(const Table& table, const Column& column, const Convention& frame,
                                        std::string_view channel, std::string_view unit) {
  auto values = in_unit(table, column, frame, channel, unit, 1);
  for (auto& v : values) v = std::abs(v);
  return values;
}

/// Writes `head`, then columns as lines with one row each.
void write_rows(const std::string& path, const std::string& head,
                const std::vector<std::vector<double>>& columns) {
  AtomicFile file(path);
  file.write(head);
  for (std::size_t row = 0; row < columns.front().size(); ++row) {
    std::string line;
    for (const auto& c : columns) line += fmt::format("{}{}", line.empty() ? "" : " ", c[row]);
    file.write(line + '\n');
  }
  file.commit();
}

/// Cell widths from the origin on. They have few digits (0.1, not 0.09999999997671694) if no face moves by
/// more than its rounding error.
std::vector<double> file_widths(const std::vector<double>& faces, bool downwards) {
  const double tolerance = 8e-16 * std::max(std::abs(faces.front()), std::abs(faces.back()));
  const double origin = downwards ? faces.back() : faces.front();
  std::vector<double> out;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < faces.size(); ++i) {
    const double next = std::abs((downwards ? faces[faces.size() - 2 - i] : faces[i + 1]) - origin);
    double width = next - sum;
    for (int digits = 4; digits <= 12; ++digits) {
      double rounded = 0;
      if (!parse_number(fmt::format("{:.{}g}", width, digits), rounded) || !(rounded > 0)) continue;
      if (std::abs(sum + rounded - next) > tolerance) continue;
      width = rounded;
      break;
    }
    out.push_back(width);
    sum += width;
  }
  return out;
}

struct Component {
  std::string_view ubc, channel;
  int sign;
};
constexpr std::array<Component, 6> components{{{"xx", "g_nn", 1},
                                               {"xy", "g_en", 1},
                                               {"xz", "g_nu", -1},
                                               {"yy", "g_ee", 1},
                                               {"yz", "g_eu", -1},
                                               {"zz", "g_uu", 1}}};

constexpr std::string_view vertical = "g_u";  // the channel of gravity files

}  // namespace

const Conventions& names_in_ubc_files() {
  static const Conventions own = [] {
    Convention enu{"enu", {{vertical, vertical, 1, Quantity::acceleration, "mGal", "gravity"}}};
    Convention ubc{"ubc", {{vertical, "gz", -1, Quantity::acceleration, "mGal", "gravity"}}};
    for (const auto& c : components) {
      enu.channels.push_back(
          {c.channel, c.channel, 1, Quantity::acceleration_gradient, "E", "gravity gradient"});
      ubc.channels.push_back(
          {c.channel, c.ubc, c.sign, Quantity::acceleration_gradient, "E", "gravity gradient"});
    }
    return Conventions{{std::move(enu), std::move(ubc)}};
  }();
  return own;
}

namespace {

/// Throws InputError: the mesh is one of UBC's programs for sections, DCIP2D and MT2D. Such a file begins
/// with a number of segments alone on its line, and a segment: two positions and a number of cells.
void refuse_mesh_of_section(TextReader& in) {
  const auto begin = in.mark();
  std::array<std::size_t, 2> words{};
  for (std::size_t n = 0; n < 2;) {
    std::string_view line;
    if (!in.line(line)) break;
    line = line.substr(0, line.find('!'));
    constexpr std::string_view blanks = " \t\r";
    for (auto at = line.find_first_not_of(blanks); at != line.npos; ++words[n])
      at = line.find_first_not_of(blanks, std::min(line.find_first_of(blanks, at), line.size()));
    if (words[n] > 0) ++n;
  }
  in.rewind(begin);
  if (words == std::array<std::size_t, 2>{1, 3})
    in.fail(
        "a mesh of a section, of DCIP2D or MT2D",
        "Meshes of three dimensions are read, with three counts in the first line. For arrays along a line "
        "leave [mesh] out: it is planned for their electrodes.");
}

}  // namespace

TensorMesh read_ubc_mesh(TextReader& in) {
  refuse_mesh_of_section(in);
  in.set_comment('!');
  std::array<std::int64_t, 3> n{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    n[axis] = in.integer(
        std::array{"the number of cells east", "the number of cells north", "the number of cells down"}[axis],
        1, most_cells_an_axis);
  checked_product(in.where(), n);
  std::array<double, 3> origin{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    origin[axis] =
        in.number(std::array{"the easting of the top south-west corner",
                             "the northing of the top south-west corner", "the elevation of the top"}[axis]);
  constexpr std::array what{"widths from west to east", "widths from south to north",
                            "thicknesses from the top down"};
  std::array<std::vector<double>, 3> faces;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto widths = in.numbers(static_cast<std::size_t>(n[axis]), what[axis], true);
    faces[axis].push_back(origin[axis]);
    // The widths are added before the origin, which loses least precision for large coordinates.
    double sum = 0;
    for (const double w : widths) {
      if (!(w > 0))
        in.fail(fmt::format("a width of {} among the {}", w, what[axis]),
                "Every cell needs a width above zero.");
      sum += w;
      faces[axis].push_back(axis == 2 ? origin[axis] - sum : origin[axis] + sum);
    }
  }
  in.expect_end("the last cell width");
  std::reverse(faces[2].begin(), faces[2].end());
  try {
    return {std::move(faces[0]), std::move(faces[1]), std::move(faces[2])};
  } catch (const InputError& e) {
    throw InputError(in.name(), e.problem(), e.next());
  }
}

TensorMesh read_ubc_mesh(const std::string& path) {
  auto in = TextReader::open(path);
  return read_ubc_mesh(in);
}

void write_ubc_mesh(const std::string& path, const TensorMesh& mesh) {
  AtomicFile file(path);
  std::string out = fmt::format("{} {} {}\n{} {} {}\n", mesh.n_east(), mesh.n_north(), mesh.n_up(),
                                mesh.easting().front(), mesh.northing().front(), mesh.up().back());
  const auto widths = [&](const std::vector<double>& faces, bool downwards) {
    const auto written = file_widths(faces, downwards);
    for (std::size_t i = 0; i < written.size();) {
      std::size_t same = 1;
      while (i + same < written.size() && written[i + same] == written[i]) ++same;
      if (i > 0) out += ' ';
      out += same > 1 ? fmt::format("{}*{}", same, written[i]) : fmt::format("{}", written[i]);
      i += same;
    }
    out += '\n';
  };
  widths(mesh.easting(), false);
  widths(mesh.northing(), false);
  widths(mesh.up(), true);
  file.write(out);
  file.commit();
}

std::vector<double> read_ubc_model(TextReader& in, const TensorMesh& mesh) {
  in.set_comment('!');
  const auto read = in.numbers(mesh.size(), fmt::format("cell values of a mesh of {} x {} x {} cells",
                                                        mesh.n_east(), mesh.n_north(), mesh.n_up()));
  in.expect_end(fmt::format("the {} values of the mesh", mesh.size()));
  std::vector<double> values(mesh.size());
  auto from = read.begin();
  for (std::size_t j = 0; j < mesh.n_north(); ++j)
    for (std::size_t i = 0; i < mesh.n_east(); ++i)
      for (std::size_t k = mesh.n_up(); k-- > 0;) values[mesh.index(i, j, k)] = *from++;
  return values;
}

std::vector<double> read_ubc_model(TextReader& in, const MeshData& on) {
  return on.octree.cells > 0 ? read_octree_model(in, on.octree) : read_ubc_model(in, on.mesh);
}

std::array<std::vector<double>, 4> read_ubc_weights(const std::string& path, const TensorMesh& mesh) {
  auto in = TextReader::open(path);
  return read_ubc_weights(in, mesh);
}

std::array<std::vector<double>, 4> read_ubc_weights(TextReader& in, const TensorMesh& mesh) {
  in.set_comment('!');
  std::array<std::vector<double>, 4> made;
  made.fill(std::vector<double>(mesh.size(), 1.0));
  constexpr std::string_view names[] = {"W.S", "W.E", "W.N", "W.Z"};
  for (std::size_t t = 0; t < 4; ++t) {
    const std::size_t east = mesh.n_east() - (t == 1), north = mesh.n_north() - (t == 2),
                      up = mesh.n_up() - (t == 3);
    const auto read = in.numbers(east * north * up, fmt::format("weights {}", names[t]));
    auto from = read.begin();
    for (std::size_t j = 0; j < north; ++j)
      for (std::size_t i = 0; i < east; ++i)
        for (std::size_t k = up; k-- > 0;) made[t][mesh.index(i, j, k)] = *from++;
  }
  in.expect_end("the weights of cells and faces");
  return made;
}

namespace {

/// The factor from the unit of a property in UBC-GIF files to its SI unit.
double ubc_unit(const PropertyKind& kind) { return kind.quantity == Quantity::density ? 1000.0 : 1.0; }

}  // namespace

MeshData read_ubc_property(const std::string& path, const TensorMesh& mesh, std::string_view property) {
  auto in = TextReader::open(path);
  return read_ubc_property(in, MeshData{mesh, {}, {}}, property);
}

MeshData read_ubc_property(TextReader& in, const MeshData& on, std::string_view property) {
  const auto& kind = property_kind(property, in.name());
  auto values = read_ubc_model(in, on);
  for (auto& v : values) v = v == air ? kind.absent : v * ubc_unit(kind);
  const std::string name(property);
  MeshData data{on.mesh, {{name, std::string(si_unit(kind.quantity)), name, std::move(values)}}, {}};
  if (const auto note = on.attributes.find("note"); note != on.attributes.end())
    data.attributes.insert(*note);
  data.octree = on.octree;
  return data;
}

void check_ubc_property(const std::string& path, const MeshData& data, std::string_view property) {
  if (data.find(property) == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& c : data.cells) names.push_back(c.name);
    throw InputError(
        path, fmt::format("the model has no cell property \"{}\"", property),
        fmt::format("UBC files hold one property, a .den file the density. It has: {}.", joined(names)));
  }
}

void write_ubc_property(const std::string& path, const MeshData& data, std::string_view property) {
  check_ubc_property(path, data, property);
  const Column* column = data.find(property);
  const auto& kind = property_kind(property, path);
  const double factor =
      (column->unit.empty() ? 1.0 : si_factor(kind.quantity, column->unit)) / ubc_unit(kind);
  AtomicFile file(path);
  fmt::memory_buffer line;
  const auto& mesh = data.mesh;
  for (std::size_t j = 0; j < mesh.n_north(); ++j)
    for (std::size_t i = 0; i < mesh.n_east(); ++i)
      for (std::size_t k = mesh.n_up(); k-- > 0;) {
        line.clear();
        const double value = column->values[mesh.index(i, j, k)];
        fmt::format_to(std::back_inserter(line), "{}\n", std::isnan(value) ? air : value * factor);
        file.write({line.data(), line.size()});
      }
  file.commit();
}

Table read_ubc_gravity(TextReader& in) {
  in.set_comment('!');
  const auto count = station_count(in, "number of stations");
  Table table = coordinates();
  table.source = in.name();
  Rows rows(in, count);
  std::vector<double> row;
  while (rows.next(row)) {
    if (row.size() < 3 || row.size() > 5)
      in.fail(fmt::format("{} numbers on a line", row.size()),
              "Allowed: E N elevation, then gz (mGal), then its uncertainty.");
    if (table.lines.empty()) {
      if (row.size() > 3) table.columns.push_back({"g_u", "mGal", "upward attraction", {}});
      if (row.size() > 4) table.columns.push_back({"g_u_uncertainty", "mGal", "uncertainty of g_u", {}});
    }
    if (row.size() > 4 && row[4] < 0)
      in.fail(fmt::format("an uncertainty of {}", row[4]), "It must be zero or more.");
    if (row.size() > 3) row[3] = -row[3];
    for (std::size_t c = 0; c < row.size(); ++c) table.columns[c].values.push_back(row[c]);
    table.lines.push_back(in.line_number());
  }
  in.expect_end(fmt::format("the {} stations", count));
  return table;
}

Table read_ubc_gravity(const std::string& path) {
  auto in = TextReader::open(path);
  return read_ubc_gravity(in);
}

namespace {

/// Reads a line of numbers at the top of a file; skips blank lines and comments.
std::vector<double> header_line(TextReader& in, std::size_t count, std::string_view what) {
  std::string_view line;
  std::vector<std::string_view> found;
  do {
    if (!in.line(line)) in.fail(fmt::format("the file ends where {} belong", what), "It may be truncated.");
    found = words(line);
  } while (found.empty());
  std::vector<double> values(count);
  bool numbers = found.size() == count;
  for (std::size_t i = 0; numbers && i < count; ++i)
    numbers = parse_number(found[i], values[i]) && std::isfinite(values[i]);
  if (!numbers)
    in.fail(fmt::format("\"{}\" stands where {} belong", shown(line), what),
            fmt::format("Give {} numbers on a line.", count));
  return values;
}

}  // namespace

bool begins_ubc_magnetic(std::string_view head) {
  std::vector<std::vector<double>> lines;
  while (lines.size() < 4 && !head.empty()) {
    const auto end = std::min(head.find('\n'), head.size());
    auto line = head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto found = words(line);
    if (found.empty()) continue;
    lines.emplace_back();
    double value = 0;
    for (const auto word : found) {
      if (!parse_number(word, value)) return false;
      lines.back().push_back(value);
    }
  }
  if (lines.size() < 4 || lines[0].size() != 3 || lines[1].size() != 3 || lines[2].size() != 1) return false;
  constexpr double weakest = 1000;  // nT, smallest main field accepted; the Earth's is above 20,000 nT
  const auto is_direction = [](const std::vector<double>& line) {
    return std::abs(line[0]) <= 90 && std::abs(line[1]) <= 360;
  };
  return is_direction(lines[0]) && is_direction(lines[1]) && lines[0][2] >= weakest &&
         (lines[1][2] == 0 || lines[1][2] == 1) && lines[2][0] >= 1 &&
         lines[2][0] == std::floor(lines[2][0]) && lines[3].size() >= 3 && lines[3].size() <= 7;
}

namespace {

/// The channel of a datum measured along a direction, and its sign.
struct MagneticChannel {
  std::string_view name;
  double sign = 1;
};

/// field: inclination and declination of the main field, degrees. Empty if the direction is neither along the
/// main field nor along an axis.
std::optional<MagneticChannel> magnetic_channel(double inclination, double declination,
                                                std::span<const double> field) {
  const double turn = std::remainder(declination - field[1], 360.0);
  if (std::fabs(inclination - field[0]) <= 1e-6 && (std::fabs(turn) <= 1e-6 || std::fabs(field[0]) == 90))
    return MagneticChannel{"tmi"};
  constexpr double degree = std::numbers::pi / 180;
  const double level = std::cos(inclination * degree);
  const std::array<std::pair<std::string_view, double>, 3> along{
      {{"b_e", level * std::sin(declination * degree)},
       {"b_n", level * std::cos(declination * degree)},
       {"b_u", -std::sin(inclination * degree)}}};
  for (const auto& [name, cosine] : along)
    if (1 - std::fabs(cosine) < 1e-12) return MagneticChannel{name, cosine > 0 ? 1.0 : -1.0};
  return {};
}

/// Groups consecutive data: values of different channels at one position belong to one station.
class MagneticRows {
 public:
  explicit MagneticRows(TextReader& in) : in_(in), table_(coordinates()) { table_.source = in.name(); }

  void add(const MagneticChannel& channel, std::span<const double> row) {
    const auto known = std::find(names_.begin(), names_.end(), channel.name);
    const auto c = static_cast<std::size_t>(known - names_.begin());
    if (known == names_.end()) {
      names_.push_back(channel.name);
      values_.emplace_back(stations(), nan);
      errors_.emplace_back(stations(), nan);
    }
    if (!at_last_place(row) || !std::isnan(values_[c].back())) begin_station(row);
    if (row.size() > 3) values_[c].back() = channel.sign * row[3];
    if (row.size() > 4) errors_[c].back() = row[4];
    with_values_ = row.size() > 3;
    with_errors_ = row.size() > 4;
  }

  Table table() && {
    for (std::size_t c = 0; c < names_.size() && with_values_; ++c) {
      const std::string name(names_[c]);
      const auto what = name == "tmi" ? std::string("total-field anomaly") : "anomaly of " + name;
      table_.columns.push_back({name, "nT", what, std::move(values_[c])});
      if (with_errors_)
        table_.columns.push_back(
            {name + "_uncertainty", "nT", "uncertainty of " + name, std::move(errors_[c])});
    }
    return std::move(table_);
  }

 private:
  std::size_t stations() const { return table_.columns[0].values.size(); }
  bool at_last_place(std::span<const double> row) const {
    if (stations() == 0) return false;
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (table_.columns[axis].values.back() != row[axis]) return false;
    return true;
  }
  void begin_station(std::span<const double> row) {
    for (std::size_t axis = 0; axis < 3; ++axis) table_.columns[axis].values.push_back(row[axis]);
    for (auto* all : {&values_, &errors_})
      for (auto& column : *all) column.push_back(nan);
    table_.lines.push_back(in_.line_number());
  }

  TextReader& in_;
  Table table_;
  std::vector<std::string_view> names_;
  std::vector<std::vector<double>> values_, errors_;
  bool with_values_ = false, with_errors_ = false;
};

}  // namespace

Table read_ubc_magnetic(TextReader& in) {
  in.set_comment('!');
  const auto field =
      header_line(in, 3, "inclination, declination (degrees) and strength (nT) of the main field");
  if (std::fabs(field[0]) > 90 || std::fabs(field[1]) > 360 || !(field[2] > 0))
    in.fail(
        fmt::format("a main field of inclination {}, declination {} and {} nT", field[0], field[1], field[2]),
        "Inclinations are between -90 and 90 degrees, declinations between -360 and 360, strengths above 0.");
  const auto data = header_line(in, 3, "inclination and declination of the data, and 0 or 1,");
  const auto channel_of = [&](double inclination, double declination) {
    const auto channel = magnetic_channel(inclination, declination, field);
    if (!channel)
      in.fail(
          fmt::format("data along inclination {}, declination {}, in a main field along {}, {}", inclination,
                      declination, field[0], field[1]),
          "Total-field anomalies (along the main field) and components along east, north and up are read.");
    return *channel;
  };
  if (data[2] != 0 && data[2] != 1)
    in.fail(fmt::format("{} stands where 0 or 1 belongs", data[2]),
            "1: all data have the direction that is named here; 0: each line names its own.");
  const bool own = data[2] == 0;
  auto channel = own ? MagneticChannel{"tmi"} : channel_of(data[0], data[1]);
  const auto count = station_count(in, "number of data");
  MagneticRows found(in);
  Rows rows(in, count);
  std::vector<double> row;
  while (rows.next(row)) {
    if (own && row.size() >= 5) {
      channel = channel_of(row[3], row[4]);
      row.erase(row.begin() + 3, row.begin() + 5);
    }
    if (row.size() < 3 || row.size() > 5)
      in.fail(fmt::format("{} numbers on a line", row.size()),
              "Allowed: E N elevation, the datum's direction where the head says so, then nT, then its "
              "uncertainty.");
    if (row.size() > 4 && row[4] < 0)
      in.fail(fmt::format("an uncertainty of {}", row[4]), "It must be zero or more.");
    found.add(channel, row);
  }
  in.expect_end(fmt::format("the {} data", count));
  auto table = std::move(found).table();
  const auto everywhere = [&](const char* name, const char* unit, const char* what, double value) {
    table.columns.push_back({name, unit, what, std::vector<double>(table.columns[0].values.size(), value)});
  };
  everywhere("main_field_intensity", "nT", "strength of the main field", field[2]);
  everywhere("main_field_inclination", "degree", "inclination of the main field", field[0]);
  everywhere("main_field_declination", "degree", "declination of the main field", field[1]);
  return table;
}

Table read_ubc_magnetic(const std::string& path) {
  auto in = TextReader::open(path);
  return read_ubc_magnetic(in);
}

std::vector<std::string> left_out_of_ubc_gravity(const std::string& path, const Table& table,
                                                 std::string_view field, const Conventions& known) {
  const auto& frame = frame_of(table, known);
  const auto name = column_name({vertical, Role::field}, frame);
  const bool there = choose(table, frame, vertical, field).values != nullptr;
  auto others = without(table, frame, there ? std::vector{vertical} : std::vector<std::string_view>{});
  if (!there && !field.empty())
    throw InputError(path, fmt::format("there is no column \"{}\" of the vertical component", field),
                     fmt::format("These files hold {}.", name));
  if (!there && !others.empty() && !path.ends_with(".loc"))
    throw UnsupportedError(
        path, fmt::format("these files hold {}, and there is only {}", name, fmt::join(others, ", ")),
        "Gradients go to .gg files, locations alone to .loc, everything to .nc and .csv.");
  return others;
}

void write_ubc_gravity(const std::string& path, const Table& table, std::string_view field,
                       const Conventions& known) {
  left_out_of_ubc_gravity(path, table, field, known);
  const auto& frame = frame_of(table, known);
  std::vector<std::vector<double>> columns;
  for (const auto* name : {"easting", "northing", "up"}) columns.push_back(metres(table, name));
  const auto chosen = choose(table, frame, vertical, field);
  if (chosen.values != nullptr)
    columns.push_back(in_unit(table, *chosen.values, frame, vertical, "mGal", -1));
  if (chosen.uncertainty != nullptr)
    columns.push_back(uncertainty_in_unit(table, *chosen.uncertainty, frame, vertical, "mGal"));
  write_rows(path, fmt::format("{}\n", table.rows()), columns);
}

Table read_ubc_gradient(TextReader& in) {
  in.set_comment('!');
  std::string_view line;
  std::vector<std::string_view> found;
  do {
    if (!in.line(line)) in.fail("the file is empty", "It begins with datacomp=xx,xy,xz,yy,yz,zz.");
    found = words(line);
  } while (found.empty());
  line = line.substr(0, line.find('!'));
  const auto equals = line.find('=');
  auto key = line.substr(0, equals);
  key.remove_prefix(std::min(key.find_first_not_of(" \t"), key.size()));
  key = key.substr(0, key.find_last_not_of(" \t") + 1);
  if (equals == std::string_view::npos || key != "datacomp")
    in.fail(fmt::format("\"{}\" stands where the list of components belongs", shown(line)),
            "The first line is datacomp=xx,xy,xz,yy,yz,zz or some of these.");
  std::vector<Component> listed;
  for (const auto name : words(line.substr(equals + 1))) {
    const auto it =
        std::find_if(components.begin(), components.end(), [&](const Component& c) { return c.ubc == name; });
    if (it == components.end())
      in.fail(fmt::format("\"{}\" is not a component read here", shown(name)),
              "Allowed: xx, xy, xz, yy, yz, zz.");
    if (std::any_of(listed.begin(), listed.end(), [&](const Component& c) { return c.ubc == name; }))
      in.fail(fmt::format("\"{}\" is listed twice", name));
    listed.push_back(*it);
  }
  if (listed.empty())
    in.fail("no components are listed", "Write datacomp=xx,xy,xz,yy,yz,zz or some of these.");
  const auto count = station_count(in, "number of stations");
  Table table = coordinates();
  table.source = in.name();
  for (const auto& c : listed) table.columns.push_back({std::string(c.channel), "E", "gravity gradient", {}});
  Rows rows(in, count);
  std::vector<double> row;
  while (rows.next(row)) {
    if (table.lines.empty() &&
        row.size() == 3) {  // a row with a position only, at which the listed components are to be computed
      table.columns.resize(3);
      listed.clear();
    }
    const bool uncertain = !listed.empty() && row.size() == 3 + 2 * listed.size();
    if (!uncertain && row.size() != 3 + listed.size())
      in.fail(fmt::format("{} numbers on a line with {} components", row.size(), listed.size()),
              fmt::format("Allowed: E N elevation alone, or with {} values, or also {} uncertainties.",
                          listed.size(), listed.size()));
    if (table.lines.empty() && uncertain)
      for (const auto& c : listed)
        table.columns.push_back(
            {fmt::format("{}_uncertainty", c.channel), "E", fmt::format("uncertainty of {}", c.channel), {}});
    for (std::size_t c = 0; c < listed.size(); ++c) row[3 + c] *= listed[c].sign;
    for (std::size_t c = 0; c < row.size(); ++c) table.columns[c].values.push_back(row[c]);
    table.lines.push_back(in.line_number());
  }
  in.expect_end(fmt::format("the {} stations", count));
  return table;
}

Table read_ubc_gradient(const std::string& path) {
  auto in = TextReader::open(path);
  return read_ubc_gradient(in);
}

std::vector<std::string> left_out_of_ubc_gradient(const std::string& path, const Table& table,
                                                  std::string_view field, const Conventions& known) {
  const auto& frame = frame_of(table, known);
  std::vector<std::string_view> written;
  for (const auto& c : components)
    if (choose(table, frame, c.channel, field).values != nullptr) written.push_back(c.channel);
  if (written.empty()) {
    std::vector<std::string> names;
    for (const auto* channel : {"g_ee", "g_nn", "g_uu", "g_en", "g_eu", "g_nu"})
      names.push_back(column_name({channel, Role::field}, frame));
    throw UnsupportedError(path, "there is no gradient component to write",
                           fmt::format("Compute some of {}.", fmt::join(names, ", ")));
  }
  return without(table, frame, written);
}

void write_ubc_gradient(const std::string& path, const Table& table, std::string_view field,
                        const Conventions& known) {
  left_out_of_ubc_gradient(path, table, field, known);
  const auto& frame = frame_of(table, known);
  std::vector<std::vector<double>> columns, uncertainties;
  for (const auto* name : {"easting", "northing", "up"}) columns.push_back(metres(table, name));
  std::string listed;
  std::size_t count = 0;
  for (const auto& c : components) {
    const auto chosen = choose(table, frame, c.channel, field);
    if (chosen.values == nullptr) continue;
    columns.push_back(in_unit(table, *chosen.values, frame, c.channel, "E", c.sign));
    listed += (listed.empty() ? "" : ",") + std::string(c.ubc);
    ++count;
    if (chosen.uncertainty != nullptr)
      uncertainties.push_back(uncertainty_in_unit(table, *chosen.uncertainty, frame, c.channel, "E"));
  }
  if (uncertainties.size() == count)
    columns.insert(columns.end(), uncertainties.begin(), uncertainties.end());
  write_rows(path, fmt::format("datacomp={}\n{}\n", listed, table.rows()), columns);
}

}  // namespace terrane::io
