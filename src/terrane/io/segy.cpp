#include "terrane/io/segy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/base/version.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

namespace {

constexpr std::size_t text_bytes = 3200, file_header_bytes = 400, trace_header_bytes = 240;
constexpr double foot = 0.3048;

// Places in headers, counted from 1 as the standard does.
namespace in_file {
constexpr std::size_t job = 1, traces = 13, step = 17, samples = 21, format = 25, sorting = 29, unit = 55,
                      long_samples = 69, long_step = 73, revision = 301, fixed_length = 303, texts = 305;
}
namespace in_trace {
constexpr std::size_t line_number = 1, file_number = 5, shot = 9, number = 13, shot_point = 17, kind = 29,
                      use = 35, offset = 37, receiver_up = 41, source_up = 45, source_depth = 49,
                      height_scale = 69, place_scale = 71, source = 73, receiver = 81, place_unit = 89,
                      delay = 109, samples = 115, step = 117, middle = 181;
}

template <class T>
T number_from(std::string_view bytes, std::endian order) {
  std::array<char, sizeof(T)> raw;
  std::copy_n(bytes.begin(), sizeof(T), raw.begin());
  if (order != std::endian::native) std::reverse(raw.begin(), raw.end());
  T value;
  std::memcpy(&value, raw.data(), sizeof(T));
  return value;
}

/// A header that is read: at(n) are the bytes from place n on.
struct ReadHeader {
  std::string_view bytes;
  std::endian order;

  template <class T>
  T get(std::size_t place) const {
    return number_from<T>(bytes.substr(place - 1, sizeof(T)), order);
  }
  std::int16_t i16(std::size_t place) const { return get<std::int16_t>(place); }
  std::uint16_t u16(std::size_t place) const { return get<std::uint16_t>(place); }
  std::int32_t i32(std::size_t place) const { return get<std::int32_t>(place); }
};

/// A header that is written.
class WrittenHeader {
 public:
  WrittenHeader(std::size_t bytes, std::endian order) : bytes_(bytes, '\0'), order_(order) {}
  template <class T, class V>
  void put(std::size_t place, V value) {
    auto raw = std::bit_cast<std::array<char, sizeof(T)>>(static_cast<T>(value));
    if (order_ != std::endian::native) std::reverse(raw.begin(), raw.end());
    std::copy(raw.begin(), raw.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(place - 1));
  }
  template <class V>
  void i16(std::size_t place, V value) {
    put<std::int16_t>(place, value);
  }
  template <class V>
  void u16(std::size_t place, V value) {
    put<std::uint16_t>(place, value);
  }
  template <class V>
  void i32(std::size_t place, V value) {
    put<std::int32_t>(place, value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::endian order_;
};

// --- EBCDIC
// ------------------------------------------------------------------------------------------------------

/// Code page 500 of the characters from blank to tilde.
constexpr std::string_view ebcdic =
    "\x40\x4f\x7f\x7b\x5b\x6c\x50\x7d\x4d\x5d\x5c\x4e\x6b\x60\x4b\x61\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9"
    "\x7a"
    "\x5e\x4c\x7e\x6e\x6f\x7c\xc1\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9\xd1\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xe2\xe3"
    "\xe4"
    "\xe5\xe6\xe7\xe8\xe9\x4a\xe0\x5a\x5f\x6d\x79\x81\x82\x83\x84\x85\x86\x87\x88\x89\x91\x92\x93\x94\x95\x96"
    "\x97"
    "\x98\x99\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xc0\xbb\xd0\xa1";

char to_ebcdic(char c) { return c < ' ' || c > '~' ? '\x40' : ebcdic[static_cast<std::size_t>(c - ' ')]; }
char from_ebcdic(char c) {
  const auto at = ebcdic.find(c);
  return at == std::string_view::npos ? ' ' : static_cast<char>(' ' + static_cast<int>(at));
}

/// The lines of a text of 40 times 80 characters that say something.
std::string lines_of(std::string_view text) {
  const bool plain = text.front() == 'C' || text.substr(0, 400).find("C 1") != std::string_view::npos;
  std::string out;
  for (std::size_t n = 0; n < text.size(); n += 80) {
    std::string line(text.substr(n, 80));
    for (char& c : line) c = plain ? (c < ' ' || c > '~' ? ' ' : c) : from_ebcdic(c);
    line.resize(line.find_last_not_of(' ') + 1);
    if (line.size() > 3) out += (out.empty() ? "" : "\n") + line;  // more than "C12"
  }
  return out;
}

std::string text_of(const Gathers& g) {
  const auto said = [&](const char* name) {
    const auto at = g.attributes.find(name);
    return at == g.attributes.end() ? std::string() : at->second.substr(0, at->second.find('\n'));
  };
  const std::array<std::string, 6> words{
      fmt::format("Written by Terrane {}", version()),
      fmt::format("{} traces of {} samples, each {:.6g} ms", g.traces(), g.samples, 1e3 * g.step),
      fmt::format("{}{}{}", g.name, g.unit.empty() ? "" : ", ", g.unit),
      "Places in metres: easting, northing; heights above the reference, up",
      said("date"),
      said("title")};
  std::string text(text_bytes, ' ');
  for (std::size_t n = 0; n < 40; ++n) {
    const auto line = fmt::format("C{:2} {}", n + 1,
                                  n < words.size() ? words[n]
                                  : n == 38        ? "SEG Y REV1"
                                  : n == 39        ? "END TEXTUAL HEADER"
                                                   : "");
    std::copy_n(line.begin(), std::min<std::size_t>(line.size(), 80),
                text.begin() + static_cast<std::ptrdiff_t>(80 * n));
  }
  std::transform(text.begin(), text.end(), text.begin(), to_ebcdic);
  return text;
}

// --- samples
// -----------------------------------------------------------------------------------------------------

/// (−1)^s 16^(e − 64) f / 2²⁴
float from_ibm(std::uint32_t word) {
  const auto fraction = static_cast<double>(word & 0xFFFFFFU);
  const int exponent = 4 * (static_cast<int>((word >> 24) & 0x7FU) - 64) - 24;
  const double value = std::min<double>(std::ldexp(fraction, exponent), std::numeric_limits<float>::max());
  return static_cast<float>((word >> 31) != 0 ? -value : value);
}

std::uint32_t to_ibm(float value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double part = std::frexp(std::abs(static_cast<double>(value)), &exponent);
  int of_16 = (exponent + (exponent > 0 ? 3 : 0)) / 4;  // rounded up
  auto fraction = static_cast<std::uint32_t>(std::lround(std::ldexp(part, exponent - 4 * of_16 + 24)));
  if (fraction == 0x1000000U) fraction >>= 4, ++of_16;
  return (std::signbit(value) ? 0x80000000U : 0U) | (static_cast<std::uint32_t>(of_16 + 64) << 24) | fraction;
}

/// Codes of the binary header with the widths of their samples; nothing when the code is another.
std::optional<std::size_t> width_of(int format) {
  switch (format) {
    case 1:
    case 2:
    case 5:
      return 4;
    case 3:
      return 2;
    case 6:
      return 8;
    case 8:
      return 1;
    default:
      return {};
  }
}

float sample(std::string_view bytes, int format, std::endian order) {
  switch (format) {
    case 1:
      return from_ibm(number_from<std::uint32_t>(bytes, order));
    case 2:
      return static_cast<float>(number_from<std::int32_t>(bytes, order));
    case 3:
      return static_cast<float>(number_from<std::int16_t>(bytes, order));
    case 6: {
      constexpr double most = std::numeric_limits<float>::max();
      const auto value = number_from<double>(bytes, order);
      return static_cast<float>(std::isfinite(value) ? std::clamp(value, -most, most) : value);
    }
    case 8:
      return static_cast<float>(number_from<std::int8_t>(bytes, order));
    default:
      return number_from<float>(bytes, order);
  }
}

// --- reading
// -----------------------------------------------------------------------------------------------------

/// Where traces are in a file, and of what they are made.
struct Layout {
  std::endian order = std::endian::big;
  std::size_t begin = 0, samples = 0, width = 4;
  int format = 5;
  double step = 0;    ///< s; 0: the traces say it
  double length = 1;  ///< of the file's unit of length, m

  std::size_t trace_bytes() const { return trace_header_bytes + samples * width; }
  bool divides(std::size_t bytes) const { return samples > 0 && (bytes - begin) % trace_bytes() == 0; }
};

/// A scaled number: a positive scale multiplies, a negative divides.
double scaled(double number, std::int16_t scale) {
  if (scale == 0) return number;
  return scale > 0 ? number * scale : number / -static_cast<double>(scale);
}

void take_places(const ReadHeader& h, const Layout& layout, Gathers& g) {
  const auto across = [&](std::size_t at) {
    return layout.length * scaled(h.i32(at), h.i16(in_trace::place_scale));
  };
  const auto upward = [&](double height) {
    return layout.length * scaled(height, h.i16(in_trace::height_scale));
  };
  const double below = h.i32(in_trace::source_depth);
  g.source.push_back(
      {across(in_trace::source), across(in_trace::source + 4), upward(h.i32(in_trace::source_up) - below)});
  g.receiver.push_back(
      {across(in_trace::receiver), across(in_trace::receiver + 4), upward(h.i32(in_trace::receiver_up))});
  g.shot.push_back(h.i32(in_trace::shot) != 0 ? h.i32(in_trace::shot) : h.i32(in_trace::shot_point));
}

/// Traces that say only how far their receiver is from their source.
void places_from_offsets(Gathers& g, const std::vector<double>& offsets) {
  const auto nowhere = [](const Gathers::Place& at) { return at[0] == 0 && at[1] == 0; };
  if (!std::all_of(g.source.begin(), g.source.end(), nowhere) ||
      !std::all_of(g.receiver.begin(), g.receiver.end(), nowhere))
    return;
  for (std::size_t n = 0; n < g.traces(); ++n) g.receiver[n][0] = offsets[n];
}

/// Numbers for shots that have none: a new one where the source moves.
void number_shots(Gathers& g) {
  if (std::any_of(g.shot.begin(), g.shot.end(), [](std::int32_t n) { return n != 0; })) return;
  std::int32_t number = 1;
  for (std::size_t n = 0; n < g.traces(); ++n) {
    if (n > 0 && g.source[n] != g.source[n - 1]) ++number;
    g.shot[n] = number;
  }
}

Gathers read_traces(const std::string& name, std::string_view bytes, const Layout& layout,
                    std::size_t memory) {
  const auto each = layout.trace_bytes(), traces = (bytes.size() - layout.begin) / each;
  if ((bytes.size() - layout.begin) % each != 0)
    throw InputError(
        name,
        fmt::format("the file ends inside trace {}: {} traces of {} samples take {} bytes, and it has {}",
                    traces + 1, traces + 1, layout.samples, layout.begin + (traces + 1) * each, bytes.size()),
        "It may be truncated. Traces of different lengths are not read.");
  if (traces == 0) throw InputError(name, "there are no traces", "It may be truncated.");
  ReadBudget(memory).take(name, traces * (layout.samples + 16), sizeof(float));
  Gathers g;
  g.samples = layout.samples;
  g.values.reserve(traces * layout.samples);
  std::vector<double> offsets;
  std::size_t other_lengths = 0;
  for (std::size_t n = 0; n < traces; ++n) {
    const auto trace = bytes.substr(layout.begin + n * each, each);
    const ReadHeader h{trace.substr(0, trace_header_bytes), layout.order};
    const double first = 1e-3 * h.i16(in_trace::delay);
    if (n == 0) {
      g.first = first;
      g.step = layout.step > 0 ? layout.step : 1e-6 * h.u16(in_trace::step);
    } else if (first != g.first) {
      throw InputError(name,
                       fmt::format("trace {} begins at {} s, those before it at {} s", n + 1, first, g.first),
                       "Traces that begin at different times are not read.");
    }
    if (h.u16(in_trace::samples) != 0 && h.u16(in_trace::samples) != layout.samples) ++other_lengths;
    take_places(h, layout, g);
    g.kind.push_back(h.i16(in_trace::kind));
    offsets.push_back(layout.length * h.i32(in_trace::offset));
    for (std::size_t s = 0; s < layout.samples; ++s)
      g.values.push_back(sample(trace.substr(trace_header_bytes + s * layout.width, layout.width),
                                layout.format, layout.order));
  }
  if (!(g.step > 0))
    throw InputError(name, "neither the file nor its traces say the time between samples",
                     "Bytes 17 of the binary header and 117 of traces hold it, in microseconds.");
  if (other_lengths > 0)
    g.attributes["note"] =
        fmt::format("{} traces say another number of samples than the {} that the file's length confirms",
                    other_lengths, layout.samples);
  const bool components =
      std::any_of(g.kind.begin(), g.kind.end(), [](std::int16_t kind) { return kind >= 12 && kind <= 14; });
  if (!components) g.kind.clear();
  places_from_offsets(g, offsets);
  number_shots(g);
  return g;
}

Layout layout_of_segy(const std::string& name, std::string_view bytes) {
  Layout layout;
  if (bytes.size() < text_bytes + file_header_bytes + trace_header_bytes)
    throw InputError(name, fmt::format("a SEG-Y file of {} bytes has no trace", bytes.size()),
                     "It may be truncated.");
  ReadHeader h{bytes.substr(text_bytes, file_header_bytes), std::endian::big};
  const auto known = [&] { return width_of(h.i16(in_file::format)).has_value(); };
  if (!known()) {
    h.order = std::endian::little;
    if (!known()) {
      h.order = std::endian::big;
      throw InputError(
          name, fmt::format("its samples are of the kind {}", h.i16(in_file::format)),
          "Read are 1 (IBM floats), 2, 3, 8 (whole numbers of 4, 2, 1 bytes), 5 and 6 (IEEE floats).");
    }
  }
  layout.order = h.order;
  layout.format = h.i16(in_file::format);
  layout.width = *width_of(layout.format);
  layout.length = h.i16(in_file::unit) == 2 ? foot : 1;
  const int revision = h.u16(in_file::revision) >> 8;
  const int texts = revision > 0 ? h.i16(in_file::texts) : 0;
  if (texts < 0)
    throw InputError(name, "it does not say how many more texts it has", "Read are files that count them.");
  layout.begin = text_bytes + file_header_bytes + static_cast<std::size_t>(texts) * text_bytes;
  if (layout.begin + trace_header_bytes > bytes.size())
    throw InputError(name, fmt::format("it has {} more texts and no trace", texts), "It may be truncated.");
  layout.samples = h.u16(in_file::samples);
  layout.step = 1e-6 * h.u16(in_file::step);
  if (revision >= 2) {
    if (const auto many = h.i32(in_file::long_samples); many > 0)
      layout.samples = static_cast<std::size_t>(many);
    if (const auto step = h.get<double>(in_file::long_step); step > 0 && step < 1e12)
      layout.step = 1e-6 * step;
  }
  if (!layout.divides(bytes.size())) {
    Layout other = layout;
    other.samples =
        ReadHeader{bytes.substr(layout.begin, trace_header_bytes), layout.order}.u16(in_trace::samples);
    if (layout.samples == 0 || other.divides(bytes.size())) layout = other;
  }
  if (layout.samples == 0)
    throw InputError(name, "neither the file nor its first trace say how many samples a trace has");
  return layout;
}

Layout layout_of_su(const std::string& name, std::string_view bytes) {
  if (bytes.size() < trace_header_bytes)
    throw InputError(name, fmt::format("an SU file of {} bytes has no trace", bytes.size()),
                     "It may be truncated.");
  Layout layout;
  for (const auto order : {std::endian::little, std::endian::big}) {
    layout.order = order;
    layout.samples = ReadHeader{bytes, order}.u16(in_trace::samples);
    if (!layout.divides(bytes.size())) continue;
    const auto second = bytes.substr(layout.trace_bytes());
    if (second.empty() || ReadHeader{second, order}.u16(in_trace::samples) == layout.samples) return layout;
  }
  const auto little = ReadHeader{bytes, std::endian::little}.u16(in_trace::samples),
             big = ReadHeader{bytes, std::endian::big}.u16(in_trace::samples);
  layout.order = big < little ? std::endian::big : std::endian::little;  // the likelier one
  layout.samples = std::min(little, big);
  if (layout.samples == 0) throw InputError(name, "its first trace does not say how many samples it has");
  return layout;
}

// --- writing
// -----------------------------------------------------------------------------------------------------

constexpr double most_whole = 2147483646.0;

/// The scale, 1, 10 … 10000, at which these numbers are whole, or the finest at which they fit.
int scale_of(const std::string& path, const std::vector<Gathers::Place>& a,
             const std::vector<Gathers::Place>& b, std::size_t from, std::size_t to) {
  double largest = 0;
  const auto each = [&](auto&& see) {
    for (const auto* places : {&a, &b})
      for (const auto& at : *places)
        for (std::size_t n = from; n < to; ++n) see(at[n]);
  };
  each([&](double x) { largest = std::max(largest, std::isfinite(x) ? std::abs(x) : INFINITY); });
  if (!(largest < most_whole))
    throw InputError(path, fmt::format("a place at {:.6g} m does not fit", largest), "Write NetCDF.");
  int scale = 1;
  for (; scale < 10000; scale *= 10) {
    bool whole = true;
    each([&](double x) { whole = whole && std::abs(x * scale - std::round(x * scale)) < 1e-4; });
    if (whole || largest * scale * 10 > most_whole) break;
  }
  return scale;
}

struct Scales {
  int across, upward;
};

Scales scales_of(const std::string& path, const Gathers& g) {
  return {scale_of(path, g.source, g.receiver, 0, 2), scale_of(path, g.source, g.receiver, 2, 3)};
}

/// within: of its shot it is this trace, from 1
std::string header_of(const Gathers& g, std::size_t n, std::size_t within, const Scales& scales,
                      std::endian order) {
  WrittenHeader h(trace_header_bytes, order);
  const auto &source = g.source[n], &receiver = g.receiver[n];
  const auto across = [&](double x) { return std::round(x * scales.across); };
  const auto upward = [&](double x) { return std::round(x * scales.upward); };
  h.i32(in_trace::line_number, n + 1);
  h.i32(in_trace::file_number, n + 1);
  h.i32(in_trace::shot, g.shot[n]);
  h.i32(in_trace::number, within);
  h.i32(in_trace::shot_point, g.shot[n]);
  h.i16(in_trace::kind, g.kind.empty() ? 1 : g.kind[n]);
  h.i16(in_trace::use, 1);
  const double east = receiver[0] - source[0], north = receiver[1] - source[1];
  const bool behind = east != 0 ? east < 0 : north < 0;
  h.i32(in_trace::offset,
        std::clamp(std::round((behind ? -1 : 1) * std::hypot(east, north)), -most_whole, most_whole));
  h.i32(in_trace::receiver_up, upward(receiver[2]));
  if (source[2] < 0) h.i32(in_trace::source_depth, upward(-source[2]));
  else h.i32(in_trace::source_up, upward(source[2]));
  h.i16(in_trace::height_scale, scales.upward == 1 ? 1 : -scales.upward);
  h.i16(in_trace::place_scale, scales.across == 1 ? 1 : -scales.across);
  for (std::size_t a = 0; a < 2; ++a) {
    h.i32(in_trace::source + 4 * a, across(source[a]));
    h.i32(in_trace::receiver + 4 * a, across(receiver[a]));
    h.i32(in_trace::middle + 4 * a, across((source[a] + receiver[a]) / 2));
  }
  h.i16(in_trace::place_unit, 1);
  h.i16(in_trace::delay, std::lround(1e3 * g.first));
  h.u16(in_trace::samples, g.samples);
  h.u16(in_trace::step, std::lround(1e6 * g.step));
  return h.bytes();
}

void put_values(AtomicFile& file, const std::string& path, const Gathers& g, std::size_t n, SegySamples kind,
                std::endian order) {
  std::string raw(g.samples * 4, '\0');
  for (std::size_t s = 0; s < g.samples; ++s) {
    const float value = g.values[n * g.samples + s];
    if (kind == SegySamples::ibm && !std::isfinite(value))
      throw InputError(
          path, fmt::format("sample {} of trace {} is {}, which IBM floats do not hold", s + 1, n + 1, value),
          "Write IEEE floats.");
    auto word = std::bit_cast<std::array<char, 4>>(
        kind == SegySamples::ibm ? to_ibm(value) : std::bit_cast<std::uint32_t>(value));
    if (order != std::endian::native) std::reverse(word.begin(), word.end());
    std::copy(word.begin(), word.end(), raw.begin() + static_cast<std::ptrdiff_t>(4 * s));
  }
  file.write(raw);
}

void put_traces(AtomicFile& file, const std::string& path, const Gathers& g, SegySamples kind,
                std::endian order) {
  const auto scales = scales_of(path, g);
  std::size_t within = 0;
  for (std::size_t n = 0; n < g.traces(); ++n) {
    within = n > 0 && g.shot[n] == g.shot[n - 1] ? within + 1 : 1;
    file.write(header_of(g, n, within, scales, order));
    put_values(file, path, g, n, kind, order);
  }
}

void check_fits(const std::string& path, const Gathers& g, const char* what, std::size_t most) {
  if (g.traces() == 0 || g.samples == 0) throw InputError(path, "there are no traces to write");
  if (g.samples > most)
    throw InputError(
        path, fmt::format("{} holds up to {} samples in a trace, and these have {}", what, most, g.samples),
        "Write fewer, further apart, or NetCDF.");
  const double step = 1e6 * g.step;
  if (g.samples > 1 &&
      !(std::abs(step - std::round(step)) < 1e-4 && step > 0.5 && step < static_cast<double>(most) + 0.5))
    throw InputError(
        path,
        fmt::format("{} holds times between samples of 1 to {} whole microseconds, and these are {:.9g}",
                    what, most, step),
        "Choose a step of whole microseconds (of acoustic waves simulation.sample = \"4 ms\"), or write "
        "NetCDF.");
  const double first = 1e3 * g.first;
  if (!(std::abs(first - std::round(first)) < 1e-4 && std::abs(first) < 32767))
    throw InputError(
        path, fmt::format("{} holds a first time of whole milliseconds, and this is {:.9g} ms", what, first),
        "Write NetCDF.");
  scales_of(path, g);
}

}  // namespace

bool begins_segy(std::string_view head) {
  if (head.size() < text_bytes + file_header_bytes || (head.front() != '\xC3' && head.front() != 'C'))
    return false;
  for (const auto order : {std::endian::big, std::endian::little}) {
    const ReadHeader h{head.substr(text_bytes, file_header_bytes), order};
    if (width_of(h.i16(in_file::format)) && h.u16(in_file::samples) > 0) return true;
  }
  return false;
}

Gathers read_segy(const std::string& name, std::string_view bytes, std::size_t memory) {
  const auto layout = layout_of_segy(name, bytes);
  auto gathers = read_traces(name, bytes, layout, memory);
  if (auto text = lines_of(bytes.substr(0, text_bytes)); !text.empty())
    gathers.attributes["text"] = std::move(text);
  return gathers;
}

Gathers read_su(const std::string& name, std::string_view bytes, std::size_t memory) {
  return read_traces(name, bytes, layout_of_su(name, bytes), memory);
}

void check_segy(const std::string& path, const Gathers& gathers) {
  check_fits(path, gathers, "SEG-Y", 32767);
}
void check_su(const std::string& path, const Gathers& gathers) { check_fits(path, gathers, "SU", 65535); }

void write_segy(const std::string& path, const Gathers& g, SegySamples samples) {
  check_segy(path, g);
  WrittenHeader h(file_header_bytes, std::endian::big);
  const auto each = static_cast<std::size_t>(std::count(g.shot.begin(), g.shot.end(), g.shot.front()));
  h.i32(in_file::job, 1);
  h.i16(in_file::traces, each <= 32767 ? each : 0);
  h.u16(in_file::step, std::lround(1e6 * g.step));
  h.u16(in_file::samples, g.samples);
  h.i16(in_file::format, samples == SegySamples::ibm ? 1 : 5);
  h.i16(in_file::sorting, 1);
  h.i16(in_file::unit, 1);
  h.u16(in_file::revision, 0x0100);
  h.i16(in_file::fixed_length, 1);
  AtomicFile file(path);
  file.write(text_of(g));
  file.write(h.bytes());
  put_traces(file, path, g, samples, std::endian::big);
  file.commit();
}

void write_su(const std::string& path, const Gathers& g, std::endian order) {
  check_su(path, g);
  AtomicFile file(path);
  put_traces(file, path, g, SegySamples::ieee, order);
  file.commit();
}

}  // namespace terrane::io
