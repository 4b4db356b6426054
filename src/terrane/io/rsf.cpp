#include "terrane/io/rsf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/base/version.hpp"
#include "terrane/io/file.hpp"
#include "terrane/model/properties.hpp"

namespace terrane::io {

namespace {

constexpr std::string_view end_of_text = "\f\f\004";
constexpr std::size_t most_axes = 9;

/// The key=value words of a header.
class RsfHeader {
 public:
  RsfHeader(const std::string& name, std::string_view text) : name_(name) {
    while (!text.empty()) {
      const auto begin = text.find_first_not_of(" \t\r\n");
      if (begin == std::string_view::npos) break;
      text.remove_prefix(begin);
      const auto stop = text.find_first_of("= \t\r\n");
      if (stop == std::string_view::npos ||
          text[stop] != '=') {  // the text is not key=value but a word of the file's history
        text.remove_prefix(std::min(stop, text.size()));
        continue;
      }
      const auto key = text.substr(0, stop);
      text.remove_prefix(stop + 1);
      const bool quoted = !text.empty() && (text.front() == '"' || text.front() == '\'');
      const auto end =
          std::min(quoted ? text.find(text.front(), 1) : text.find_first_of(" \t\r\n"), text.size());
      words_[std::string(key)] = std::string(text.substr(quoted ? 1 : 0, end - (quoted ? 1 : 0)));
      text.remove_prefix(std::min(end + (quoted ? 1 : 0), text.size()));
    }
  }
  bool has(const std::string& key) const { return words_.contains(key); }
  std::string text(const std::string& key, const std::string& otherwise = {}) const {
    const auto at = words_.find(key);
    return at == words_.end() ? otherwise : at->second;
  }
  double number(const std::string& key, double otherwise) const {
    const auto at = words_.find(key);
    double value = otherwise;
    if (at != words_.end() && (!parse_number(at->second, value) || !std::isfinite(value)))
      throw InputError(name_, fmt::format("{}={} is no number", key, shown(at->second)));
    return value;
  }
  std::int64_t count(const std::string& key) const {
    const auto at = words_.find(key);
    std::int64_t value = 1;
    if (at != words_.end() && (!parse_integer(at->second, value) || value < 1))
      throw InputError(name_, fmt::format("{}={} is no count", key, shown(at->second)));
    return value;
  }

 private:
  const std::string& name_;
  std::map<std::string, std::string> words_;
};

struct RsfAxis {
  std::size_t n = 1;
  double first = 0, step = 1;
  std::string label, unit;
  bool given = false;
};

/// The unit of an axis in metres or seconds; 1 if there is none.
double factor_of(const std::string& name, std::size_t axis, const std::string& unit) {
  constexpr std::array<std::string_view, 8> plain{"", "none", "m", "meter", "meters", "metres", "s", "sec"};
  if (std::find(plain.begin(), plain.end(), unit) != plain.end() || unit.starts_with("second")) return 1;
  if (unit == "msec") return 1e-3;
  if (unit == "kft") return 1e3 * si_factor(Quantity::length, "ft");
  for (const auto quantity : {Quantity::length, Quantity::time}) {
    try {
      return si_factor(quantity, unit);
    } catch (const InputError&) {
    }
  }
  throw InputError(
      name, fmt::format("unit{}=\"{}\" is no length or time", axis, shown(unit)),
      "Allowed: " + allowed_units(Quantity::length) + ", " + allowed_units(Quantity::time) + ".");
}

/// An axis of the header, converted to SI units.
RsfAxis axis_of(const std::string& name, const RsfHeader& h, std::size_t number) {
  const auto key = [&](const char* what) { return fmt::format("{}{}", what, number); };
  RsfAxis axis{static_cast<std::size_t>(h.count(key("n"))),
               h.number(key("o"), 0),
               h.number(key("d"), 1),
               lower(h.text(key("label"))),
               lower(h.text(key("unit"))),
               h.has(key("d"))};
  const double factor = axis.n > 1 || axis.given ? factor_of(name, number, axis.unit) : 1;
  axis.first *= factor;
  axis.step *= factor;
  return axis;
}

std::vector<float> numbers_of(const std::string& name, std::string_view raw, const std::string& format,
                              std::size_t count, std::size_t memory) {
  ReadBudget(memory).take(name, count, 2 * sizeof(float));
  std::vector<float> values;
  if (format == "ascii_float") {
    TextReader in(name, std::string(raw));
    for (const double v : in.numbers(count, "the samples", false, true))
      values.push_back(static_cast<float>(v));
    in.expect_end("the last sample");
    return values;
  }
  const bool big = format == "xdr_float";
  if (!big && format != "native_float")
    throw InputError(name, fmt::format("data_format=\"{}\" is not read", shown(format)),
                     "Read are native_float, xdr_float and ascii_float.");
  if (raw.size() / sizeof(float) < count)
    throw InputError(
        name, fmt::format("the axes make {} samples of 4 bytes, and there are {} bytes", count, raw.size()),
        "It may be truncated.");
  if (raw.size() != count * sizeof(float))
    throw InputError(
        name, fmt::format("the axes make {} samples of 4 bytes, and there are {} bytes", count, raw.size()),
        "Check n1, n2, …, and esize.");
  values.resize(count);
  const auto order = big ? std::endian::big : std::endian::native;
  for (std::size_t n = 0; n < count; ++n) {
    std::array<char, sizeof(float)> bytes;
    std::copy_n(raw.begin() + static_cast<std::ptrdiff_t>(n * sizeof(float)), sizeof(float), bytes.begin());
    if (order != std::endian::native) std::reverse(bytes.begin(), bytes.end());
    values[n] = std::bit_cast<float>(bytes);
  }
  return values;
}

bool is_time(const RsfAxis& axis) {
  constexpr std::array<std::string_view, 6> seconds{"s", "ms", "us", "sec", "msec", "seconds"};
  return std::find(seconds.begin(), seconds.end(), axis.unit) != seconds.end() ||
         axis.label.starts_with("time");
}

Gathers gathers_of(const std::string& name, const RsfHeader& h, const std::array<RsfAxis, 3>& axes,
                   std::vector<float> values) {
  if (!(axes[0].step > 0))
    throw InputError(name, fmt::format("d1={} s is no time between samples", axes[0].step));
  Gathers g;
  g.step = axes[0].step;
  g.first = axes[0].first;
  g.samples = axes[0].n;
  g.values = std::move(values);
  if (!axes[0].given) g.attributes["note"] = "the header has no d1: taken for 1 s between samples";
  g.unit = h.text("unit");
  if (const auto label = lower(h.text("label")); !label.empty() && label.find(' ') == std::string::npos)
    g.name = label;
  const bool offset = axes[1].label.find("offset") != std::string::npos;
  for (std::size_t s = 0; s < axes[2].n; ++s)
    for (std::size_t r = 0; r < axes[1].n; ++r) {
      const double source = axes[2].first + static_cast<double>(s) * axes[2].step,
                   receiver = axes[1].first + static_cast<double>(r) * axes[1].step + (offset ? source : 0);
      g.source.push_back({source, h.number("source_northing", 0), h.number("source_up", 0)});
      g.receiver.push_back({receiver, h.number("receiver_northing", 0), h.number("receiver_up", 0)});
      g.shot.push_back(static_cast<std::int32_t>(s + 1));
    }
  return g;
}

/// Faces of cells around evenly spaced samples.
std::vector<double> faces_of(const std::string& name, const RsfAxis& axis, int number) {
  if (!(axis.step > 0) || !std::isfinite(axis.first + static_cast<double>(axis.n) * axis.step))
    throw InputError(name, fmt::format("d{}={} m is no width of cells", number, axis.step));
  std::vector<double> faces;
  for (std::size_t n = 0; n <= axis.n; ++n)
    faces.push_back(axis.first + (static_cast<double>(n) - 0.5) * axis.step);
  for (std::size_t n = 1; n < faces.size(); ++n)
    if (!(faces[n] > faces[n - 1]))
      throw InputError(name, fmt::format("d{} is lost in the rounding of o{}", number, number));
  return faces;
}

MeshData mesh_of(const std::string& name, const RsfHeader& h, std::array<RsfAxis, 3> axes,
                 const std::vector<float>& values, std::string property) {
  const auto& label = axes[0].label;
  if (!label.empty() && !label.starts_with("depth") && label != "z")
    throw InputError(name, fmt::format("its first axis is \"{}\"", shown(label)),
                     "Read are gathers, whose first axis is time, and models, whose first axis is depth.");
  if (!axes[2].given) axes[2].step = axes[1].step;
  auto up = faces_of(name, axes[0], 1);
  std::reverse(up.begin(), up.end());
  for (double& face : up) face = -face;
  const auto unit = h.text("unit"), what = lower(h.text("label"));
  if (property.empty()) {
    const bool velocity =
        what.find("vel") != std::string::npos || lower(unit) == "m/s" || lower(unit) == "km/s";
    property = find_property(what) != nullptr ? what : velocity ? "velocity_p" : "density";
  }
  MeshData data{TensorMesh(faces_of(name, axes[1], 2), faces_of(name, axes[2], 3), std::move(up)), {}, {}};
  Column cells{property, unit, "", std::vector<double>(values.size())};
  const std::size_t nz = axes[0].n, nx = axes[1].n, ny = axes[2].n;
  for (std::size_t k = 0; k < nz; ++k)
    for (std::size_t j = 0; j < ny; ++j)
      for (std::size_t i = 0; i < nx; ++i)
        cells.values[((nz - 1 - k) * ny + j) * nx + i] = static_cast<double>(values[(j * nx + i) * nz + k]);
  to_si(cells);
  data.cells.push_back(std::move(cells));
  return data;
}

/// The evenly spaced line along easting on which these positions lie. Throws InputError if there is none.
RsfAxis line_of(const std::string& path, const std::vector<Gathers::Place>& places, std::string_view what) {
  RsfAxis axis;
  axis.n = places.size();
  axis.first = places.front()[0];
  if (axis.n > 1) axis.step = (places.back()[0] - places.front()[0]) / static_cast<double>(axis.n - 1);
  for (std::size_t n = 0; n < axis.n; ++n) {
    const auto& at = places[n];
    if (std::abs(at[0] - axis.first - static_cast<double>(n) * axis.step) > 1e-3 || axis.step == 0 ||
        at[1] != places[0][1] || at[2] != places[0][2])
      throw InputError(
          path,
          fmt::format(
              "RSF holds lines of even steps along easting, and {} {} stands at {:.9g}, {:.9g}, {:.9g}", what,
              n + 1, at[0], at[1], at[2]),
          "Write SEG-Y or NetCDF.");
  }
  return axis;
}

struct ShotLines {
  RsfAxis receivers, shots;
};

ShotLines lines_of(const std::string& path, const Gathers& g) {
  if (g.traces() == 0 || g.samples == 0) throw InputError(path, "there are no traces to write");
  std::size_t each = 1;
  while (each < g.traces() && g.source[each] == g.source[0] && g.shot[each] == g.shot[0]) ++each;
  std::vector<Gathers::Place> sources;
  for (std::size_t n = 0; n < g.traces(); ++n) {
    if (n % each == 0) sources.push_back(g.source[n]);
    if (g.traces() % each != 0 || g.source[n] != sources.back() || g.receiver[n] != g.receiver[n % each])
      throw InputError(
          path, fmt::format("RSF holds shots with the same receivers, and trace {} has another place", n + 1),
          "Write SEG-Y or NetCDF.");
  }
  const auto last = g.receiver.begin() + static_cast<std::ptrdiff_t>(each);
  return {line_of(path, {g.receiver.begin(), last}, "receiver"), line_of(path, sources, "shot")};
}

std::string axis_text(int number, const RsfAxis& axis, std::string_view label, std::string_view unit) {
  return fmt::format("n{0}={1} o{0}={2:.12g} d{0}={3:.12g} label{0}=\"{4}\" unit{0}=\"{5}\"\n", number,
                     axis.n, axis.first, axis.step, label, unit);
}

void write_file(const std::string& path, const std::string& text, const std::vector<float>& values) {
  AtomicFile file(path);
  file.write(
      fmt::format("terrane {}\n{}esize=4 data_format=\"native_float\" in=\"stdin\"\n", version(), text));
  file.write(end_of_text);
  file.write_bytes(values.data(), values.size() * sizeof(float));
  file.commit();
}

const Column& cells_of(const std::string& path, const MeshData& data, const std::string& field) {
  const Column* found = field.empty() ? nullptr : data.find(field);
  if (field.empty() && data.cells.size() == 1) found = &data.cells.front();
  if (found == nullptr)
    throw InputError(path,
                     field.empty()
                         ? fmt::format("RSF holds one property, and there are {}", data.cells.size())
                         : fmt::format("there is no cell property \"{}\"", field),
                     "Name one that the mesh has.");
  return *found;
}

RsfAxis axis_of_faces(const std::string& path, const std::vector<double>& faces, std::string_view name) {
  RsfAxis axis;
  axis.n = faces.size() - 1;
  axis.step = (faces.back() - faces.front()) / static_cast<double>(axis.n);
  axis.first = faces.front() + axis.step / 2;
  for (std::size_t n = 0; n < axis.n; ++n)
    if (std::abs(faces[n + 1] - faces[n] - axis.step) > 1e-6 * axis.step)
      throw InputError(path,
                       fmt::format("RSF holds even cells, and along {} cell {} is {} m wide, not {}", name,
                                   n + 1, faces[n + 1] - faces[n], axis.step),
                       "Write NetCDF or HDF5.");
  return axis;
}

}  // namespace

std::variant<Gathers, MeshData> read_rsf(const std::string& name, std::string_view bytes,
                                         const std::function<std::string(const std::string&)>& numbers,
                                         const std::string& property, std::size_t memory) {
  const auto end = bytes.find(end_of_text);
  const RsfHeader h(name, bytes.substr(0, end));
  if (!h.has("in") || !h.has("n1"))
    throw InputError(name, "the header has no n1 or no in", "A header of RSF says n1=… and in=\"…\".");
  std::array<RsfAxis, 3> axes{axis_of(name, h, 1), axis_of(name, h, 2), axis_of(name, h, 3)};
  std::vector<std::int64_t> counts;
  for (std::size_t a = 1; a <= most_axes; ++a) counts.push_back(h.count(fmt::format("n{}", a)));
  for (std::size_t a = 3; a < most_axes; ++a)
    if (counts[a] != 1)
      throw InputError(name, fmt::format("n{}={}: it has more than three axes", a + 1, counts[a]),
                       "Window it first.");
  const auto count = checked_product(name, counts);
  if (h.has("esize") && h.text("data_format") != "ascii_float" && h.count("esize") != sizeof(float))
    throw InputError(name, fmt::format("its numbers have {} bytes (esize)", h.text("esize")),
                     "Read are floats of 4 bytes.");
  const auto in = h.text("in");
  std::string beside;
  std::string_view raw;
  if (in == "stdin") {
    if (end == std::string_view::npos)
      throw InputError(name, "in=\"stdin\", and no numbers follow the header", "It may be truncated.");
    raw = bytes.substr(end + end_of_text.size());
  } else {
    beside = numbers(in);
    raw = beside;
  }
  auto values = numbers_of(name, raw, h.text("data_format", "native_float"), count, memory);
  if (is_time(axes[0])) return gathers_of(name, h, axes, std::move(values));
  return mesh_of(name, h, axes, values, property);
}

void check_rsf(const std::string& path, const Gathers& g) { lines_of(path, g); }

void write_rsf(const std::string& path, const Gathers& g) {
  const auto lines = lines_of(path, g);
  const RsfAxis time{g.samples, g.first, g.step, {}, {}, true};
  const auto &s = g.source.front(), &r = g.receiver.front();
  write_file(path,
             axis_text(1, time, "Time", "s") + axis_text(2, lines.receivers, "Receiver easting", "m") +
                 axis_text(3, lines.shots, "Shot easting", "m") +
                 fmt::format("label=\"{}\" unit=\"{}\"\nsource_northing={:.12g} source_up={:.12g} "
                             "receiver_northing={:.12g} receiver_up={:.12g}\n",
                             g.name, g.unit, s[1], s[2], r[1], r[2]),
             g.values);
}

void check_rsf(const std::string& path, const MeshData& data, const std::string& field) {
  cells_of(path, data, field);
  axis_of_faces(path, data.mesh.easting(), "easting");
  axis_of_faces(path, data.mesh.northing(), "northing");
  axis_of_faces(path, data.mesh.up(), "up");
}

void write_rsf(const std::string& path, const MeshData& data, const std::string& field) {
  const auto& cells = cells_of(path, data, field);
  const auto& m = data.mesh;
  auto depth = axis_of_faces(path, m.up(), "up");
  depth.first = -(depth.first + static_cast<double>(depth.n - 1) * depth.step);
  const std::size_t nx = m.n_east(), ny = m.n_north(), nz = m.n_up();
  std::vector<float> values;
  values.reserve(cells.values.size());
  for (std::size_t j = 0; j < ny; ++j)
    for (std::size_t i = 0; i < nx; ++i)
      for (std::size_t k = nz; k-- > 0;)
        values.push_back(static_cast<float>(cells.values[(k * ny + j) * nx + i]));
  write_file(path,
             axis_text(1, depth, "Depth", "m") +
                 axis_text(2, axis_of_faces(path, m.easting(), "easting"), "Easting", "m") +
                 axis_text(3, axis_of_faces(path, m.northing(), "northing"), "Northing", "m") +
                 fmt::format("label=\"{}\" unit=\"{}\"\n", cells.name, cells.unit),
             values);
}

}  // namespace terrane::io
