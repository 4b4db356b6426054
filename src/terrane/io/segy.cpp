#include "terrane/io/segy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/version.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/segy_layout.hpp"

namespace terrane::io {

namespace {

/// The characters from blank to tilde in EBCDIC code page 500.
constexpr std::string_view ebcdic =
    "\x40\x4f\x7f\x7b\x5b\x6c\x50\x7d\x4d\x5d\x5c\x4e\x6b\x60\x4b\x61\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9"
    "\x7a"
    "\x5e\x4c\x7e\x6e\x6f\x7c\xc1\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9\xd1\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xe2\xe3"
    "\xe4"
    "\xe5\xe6\xe7\xe8\xe9\x4a\xe0\x5a\x5f\x6d\x79\x81\x82\x83\x84\x85\x86\x87\x88\x89\x91\x92\x93\x94\x95\x96"
    "\x97"
    "\x98\x99\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xc0\xbb\xd0\xa1";

}  // namespace

char segy::from_ebcdic(char c) {
  const auto at = ebcdic.find(c);
  return at == std::string_view::npos ? ' ' : static_cast<char>(' ' + static_cast<int>(at));
}

namespace {

using namespace segy;

/// A header that is being written.
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

char to_ebcdic(char c) { return c < ' ' || c > '~' ? '\x40' : ebcdic[static_cast<std::size_t>(c - ' ')]; }

/// The lines that are not empty in a text header of 40 lines with 80 characters.
std::string lines_of(std::string_view text) {
  const bool plain = text.front() == 'C' || text.substr(0, 400).find("C 1") != std::string_view::npos;
  std::string out;
  for (std::size_t n = 0; n < text.size(); n += 80) {
    std::string line(text.substr(n, 80));
    for (char& c : line) c = plain ? (c < ' ' || c > '~' ? ' ' : c) : from_ebcdic(c);
    line.resize(line.find_last_not_of(' ') + 1);
    if (line.size() > 3) out += (out.empty() ? "" : "\n") + line;  // skips lines with only a number, "C12"
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

/// The value of an IBM float: (−1)^s 16^(e − 64) f / 2²⁴.
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
  int of_16 = (exponent + (exponent > 0 ? 3 : 0)) / 4;  // exponent of 16, rounded up
  auto fraction = static_cast<std::uint32_t>(std::lround(std::ldexp(part, exponent - 4 * of_16 + 24)));
  if (fraction == 0x1000000U) fraction >>= 4, ++of_16;
  return (std::signbit(value) ? 0x80000000U : 0U) | (static_cast<std::uint32_t>(of_16 + 64) << 24) | fraction;
}

/// An integer of three bytes.
std::int32_t three_bytes(std::string_view bytes, std::endian order, bool with_sign) {
  std::array<char, 4> raw{};
  std::copy_n(bytes.begin(), 3, raw.begin() + (order == std::endian::big ? 1 : 0));
  const char highest = order == std::endian::big ? raw[1] : raw[2];
  if (with_sign && (static_cast<unsigned char>(highest) & 0x80U) != 0)
    raw[order == std::endian::big ? 0 : 3] = '\xFF';
  return number_from<std::int32_t>({raw.data(), raw.size()}, order);
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
    case 7:
      return static_cast<float>(three_bytes(bytes, order, true));
    case 8:
      return static_cast<float>(number_from<std::int8_t>(bytes, order));
    case 9:
      return static_cast<float>(number_from<std::int64_t>(bytes, order));
    case 10:
      return static_cast<float>(number_from<std::uint32_t>(bytes, order));
    case 11:
      return static_cast<float>(number_from<std::uint16_t>(bytes, order));
    case 12:
      return static_cast<float>(number_from<std::uint64_t>(bytes, order));
    case 15:
      return static_cast<float>(three_bytes(bytes, order, false));
    case 16:
      return static_cast<float>(number_from<std::uint8_t>(bytes, order));
    default:
      return number_from<float>(bytes, order);
  }
}

// --- reading
// -----------------------------------------------------------------------------------------------------

/// A number with a SEG-Y scale factor: a positive one multiplies, a negative one divides.
double scaled(double number, std::int16_t scale) {
  if (scale == 0) return number;
  return scale > 0 ? number * scale : number / -static_cast<double>(scale);
}

/// The unit of positions in a header: lengths or angles.
enum class PlaceUnit : std::uint8_t { length, seconds, degrees, sexagesimal };

PlaceUnit place_unit(const ReadHeader& h, bool angles = true) {
  const auto code = angles ? h.i16(in_trace::place_unit) : std::int16_t{1};
  return code == 2   ? PlaceUnit::seconds
         : code == 3 ? PlaceUnit::degrees
         : code == 4 ? PlaceUnit::sexagesimal
                     : PlaceUnit::length;
}

/// Degrees from a number ±DDDMMSS.ss.
double from_sexagesimal(double number) {
  const double size = std::abs(number), degrees = std::floor(size / 1e4),
               minutes = std::floor((size - 1e4 * degrees) / 100),
               seconds = size - 1e4 * degrees - 100 * minutes;
  return std::copysign(degrees + minutes / 60 + seconds / 3600, number);
}

/// The headers of a trace.
struct TraceHeaders {
  ReadHeader first, second;  ///< `second` is empty if there is no known second header

  TraceHeaders(const Layout& layout, std::string_view trace)
      : first{trace.substr(0, trace_header_bytes), layout.order}, second{{}, layout.order} {
    if (layout.more_headers == 0) return;
    const ReadHeader other{trace.substr(trace_header_bytes, trace_header_bytes), layout.order};
    const auto name = other.bytes.substr(in_second::name - 1, 8);
    std::string translated(name);
    std::transform(translated.begin(), translated.end(), translated.begin(), from_ebcdic);
    if (name == "SEG00001" || translated == "SEG00001") second = other;
  }

  /// The number at byte `place` of the second header unless it is zero, otherwise `number` from the first.
  double or_of_second(double number, std::size_t place) const {
    if (second.bytes.empty()) return number;
    const double other = second.f64(place);
    return other != 0 && std::isfinite(other) ? other : number;
  }
};

/// Easting and northing in m, or longitude and latitude in degrees, from a trace header.
std::array<double, 2> across(const TraceHeaders& h, const Layout& layout, std::size_t place,
                             std::size_t place_in_second, bool angles) {
  std::array<double, 2> at{};
  for (std::size_t a = 0; a < 2; ++a) {
    const double number = h.or_of_second(
        scaled(h.first.i32(place + 4 * a), h.first.i16(in_trace::place_scale)), place_in_second + 8 * a);
    switch (place_unit(h.first, angles)) {
      case PlaceUnit::seconds:
        at[a] = number / 3600;
        break;
      case PlaceUnit::degrees:
        at[a] = number;
        break;
      case PlaceUnit::sexagesimal:
        at[a] = from_sexagesimal(number);
        break;
      default:
        at[a] = layout.length * number;
    }
  }
  return at;
}

void take_places(const TraceHeaders& h, const Layout& layout, bool angles, Gathers& g) {
  const auto upward = [&](std::size_t place, std::size_t place_in_second) {
    return layout.length *
           h.or_of_second(scaled(h.first.i32(place), h.first.i16(in_trace::height_scale)), place_in_second);
  };
  const auto source = across(h, layout, in_trace::source, in_second::source, angles),
             receiver = across(h, layout, in_trace::receiver, in_second::receiver, angles);
  g.source.push_back({source[0], source[1],
                      upward(in_trace::source_up, in_second::source_up) -
                          upward(in_trace::source_depth, in_second::source_depth)});
  g.receiver.push_back({receiver[0], receiver[1], upward(in_trace::receiver_up, in_second::receiver_up)});
  g.shot.push_back(h.first.i32(in_trace::shot) != 0 ? h.first.i32(in_trace::shot)
                                                    : h.first.i32(in_trace::shot_point));
}

/// Computes positions from the offsets between source and receiver if traces have no positions; adds a note
/// if so, and also if there are no offsets.
void places_from_offsets(Gathers& g, const std::vector<double>& offsets, std::vector<std::string>& notes) {
  const auto nowhere = [](const Gathers::Place& at) { return at[0] == 0 && at[1] == 0; };
  if (!std::all_of(g.source.begin(), g.source.end(), nowhere) ||
      !std::all_of(g.receiver.begin(), g.receiver.end(), nowhere))
    return;
  const bool some = std::any_of(offsets.begin(), offsets.end(), [](double offset) { return offset != 0; });
  if (some)
    notes.emplace_back("traces have no places: receivers lie at their offsets along east, and sources at 0");
  else if (g.traces() > 1)
    notes.emplace_back("traces have neither places nor offsets: all sources and receivers lie at 0, 0");
  for (std::size_t n = 0; n < g.traces(); ++n) g.receiver[n][0] = offsets[n];
  g.geographic = false;
}

/// Numbers shots that have no numbers: a new number whenever the source position changes.
void number_shots(Gathers& g) {
  if (std::any_of(g.shot.begin(), g.shot.end(), [](std::int32_t n) { return n != 0; })) return;
  std::int32_t number = 1;
  for (std::size_t n = 0; n < g.traces(); ++n) {
    if (n > 0 && g.source[n] != g.source[n - 1]) ++number;
    g.shot[n] = number;
  }
}

/// The time of the first sample, s, from the trace header.
double first_time(const std::string& name, const Layout& layout, const ReadHeader& h, std::size_t trace) {
  const double delay = 1e-3 * h.i16(in_trace::delay);
  const auto scale = layout.su ? std::int16_t{0} : h.i16(in_trace::time_scale);
  const auto size = std::abs(static_cast<int>(scale));
  const bool allowed = size == 1 || size == 10 || size == 100 || size == 1000 || size == 10000;
  if (delay == 0 || scale == 0) return delay;
  if (allowed) return scaled(delay, scale);
  if (layout.revision == 0) return delay;  // revision 0 does not define bytes 215 and 216, the scale of times
  throw InputError(name,
                   fmt::format("trace {}: the scale of its times is {} (bytes 215 and 216), its delay {} ms",
                               trace + 1, scale, h.i16(in_trace::delay)),
                   "Allowed: 0, 1, and 10 to 10000 with either sign.");
}

/// Counts facts about traces that notes will report.
class Counted {
 public:
  void add(const std::string& what) { ++counts_[what]; }
  void tell(std::vector<std::string>& notes) const {
    for (const auto& [what, count] : counts_) notes.push_back(fmt::format("{} traces {}", count, what));
  }

 private:
  std::map<std::string, std::size_t> counts_;
};

/// Counts facts stated in a trace header that the result does not contain.
void see(Counted& seen, const Layout& layout, const TraceHeaders& headers) {
  const auto& h = headers.first;
  const auto kind = h.i16(in_trace::kind);
  if (kind == 2 || kind == 3) seen.add(kind == 2 ? "are marked as dead" : "are marked as dummies");
  constexpr int first_of_su = 101, last_of_su = 199;
  if (layout.su && kind >= first_of_su && kind <= last_of_su)
    seen.add(fmt::format("are of the kind {}, which in SU is no series of time", kind));
  if (const auto unit = h.i16(in_trace::place_unit); unit < 0 || unit > 4)
    seen.add("have a unit of places that is unknown: taken for lengths");
  if (h.i16(in_trace::statics) != 0) seen.add("say that static corrections were applied to them");
  if (layout.more_headers > 0 && headers.second.bytes.empty())
    seen.add("have a second header that is not called SEG00001 and not read");
  if (layout.more_headers > 1) seen.add("have headers beyond the second, which are not read");
  const bool whole_numbers = layout.format != 1 && layout.format != 5 && layout.format != 6;
  if (!layout.su && whole_numbers && h.i16(in_trace::weight) != 0)
    seen.add("give a factor 2^-N for their whole numbers (bytes 169 and 170), which is not applied");
  if (layout.su) {
    const double step = 1e-6 * h.u16(in_trace::step), other = h.f32(in_trace::su_step);
    if (step > 0 && other > 0 && std::abs(other - step) > 1e-3 * step && std::abs(other - 1e3 * step) > step)
      seen.add("have a distance of samples d1 that is not their dt, which counts");
  }
  if (layout.su || layout.revision == 0) return;
  const auto unit = unit_of_code(h.i16(in_trace::value_unit));
  const bool of_motion = unit == "m" || unit == "m/s" || unit == "m/s2", of_work = unit == "N" || unit == "W";
  if ((kind == 11 && (of_motion || of_work)) || (kind >= 12 && kind <= 14 && (unit == "Pa" || of_work)))
    seen.add(
        fmt::format("are of the kind {} ({}, bytes 29 and 30), but in {} by bytes 203 and 204: which of "
                    "the two is right the file does not say",
                    kind, kind == 11 ? "pressure" : "velocity", unit));
  const auto factor = h.i32(in_trace::value_factor);
  const auto exponent = h.i16(in_trace::value_exponent);
  if (factor != 0 && factor * std::pow(10.0, exponent) != 1)
    seen.add("give a factor to physical units (bytes 205 to 212), which is not applied");
}

/// Adds notes on amplitudes from the binary header that are not applied to the numbers.
void see(std::vector<std::string>& notes, const ReadHeader& h) {
  if (h.i16(in_file::polarity) == 1)
    notes.emplace_back("a rise of pressure, or upward motion, is negative by its header: left as it is");
  if (const auto code = h.i16(in_file::recovery); code >= 2 && code <= 4)
    notes.push_back(fmt::format("amplitudes were changed with time by its header ({}): left as they are",
                                code == 2   ? "spherical divergence"
                                : code == 3 ? "automatic gain"
                                            : "another way"));
}

/// The sampling interval, from the binary header or else from the traces. Throws InputError: no interval;
/// traces with different intervals.
class Steps {
 public:
  void take(const std::string& name, const Layout& layout, const TraceHeaders& h, std::size_t trace) {
    double step = 1e-6 * h.first.u16(in_trace::step);
    if (!h.second.bytes.empty())
      if (const double other = h.second.f64(in_second::step); other > 0 && other < 1e12) step = 1e-6 * other;
    if (layout.step > 0) {
      if (step > 0 && std::abs(step - layout.step) > 1e-6) ++others_, other_ = step;
    } else if (of_traces_ == 0) {
      of_traces_ = step;
    } else if (step > 0 && step != of_traces_) {
      throw InputError(name,
                       fmt::format("trace {} has {:.6g} ms between samples, those before it {:.6g} ms",
                                   trace + 1, 1e3 * step, 1e3 * of_traces_),
                       "Traces of different steps are not read.");
    }
  }
  double get(const std::string& name, const Layout& layout, std::vector<std::string>& notes) const {
    if (others_ > 0)
      notes.push_back(
          fmt::format("{} traces say {:.6g} ms between samples; taken are the {:.6g} ms of the binary header",
                      others_, 1e3 * other_, 1e3 * layout.step));
    const double step = layout.step > 0 ? layout.step : of_traces_;
    if (!(step > 0))
      throw InputError(name, "neither the file nor its traces say the time between samples",
                       "Bytes 17 of the binary header and 117 of traces hold it, in microseconds.");
    return step;
  }

 private:
  double of_traces_ = 0, other_ = 0;
  std::size_t others_ = 0;
};

void check_whole(const std::string& name, const Layout& layout) {
  const auto each = layout.trace_bytes(), held = layout.end - layout.begin, traces = held / each;
  if (held % each != 0)
    throw InputError(
        name,
        fmt::format("the file ends inside trace {}: {} traces of {} samples take {} bytes, and it has {}",
                    traces + 1, traces + 1, layout.samples, layout.begin + (traces + 1) * each, layout.end),
        layout.samples > 32767
            ? "It may be truncated, or 16 bits do not hold its number of samples, or its traces differ in "
              "their lengths, which is not read."
            : "It may be truncated. Traces of different lengths are not read.");
  if (traces == 0) throw InputError(name, "there are no traces", "It may be truncated.");
}

/// Whether positions are angles: all traces say so, and all positions are valid longitudes and latitudes. If
/// one is not valid, lengths are assumed, with a note. Throws InputError: some traces have angles and others
/// lengths.
bool places_are_angles(const std::string& name, std::string_view bytes, const Layout& layout,
                       std::vector<std::string>& notes) {
  const auto each = layout.trace_bytes();
  std::optional<bool> angles;
  for (std::size_t n = 0; n < layout.traces(); ++n) {
    const TraceHeaders h(layout, bytes.substr(layout.begin + n * each, each));
    const bool here = place_unit(h.first) != PlaceUnit::length;
    if (angles && *angles != here)
      throw InputError(name,
                       fmt::format("trace {} has places in {}, those before it have {}", n + 1,
                                   here ? "degrees" : "lengths", here ? "lengths" : "degrees"),
                       "Bytes 89 and 90 say it: 1 lengths, 2 seconds of arc, 3 degrees, 4 degrees, minutes "
                       "and seconds.");
    angles = here;
  }
  for (std::size_t n = 0; angles.value_or(false) && n < layout.traces(); ++n) {
    const TraceHeaders h(layout, bytes.substr(layout.begin + n * each, each));
    for (const auto& at : {across(h, layout, in_trace::source, in_second::source, true),
                           across(h, layout, in_trace::receiver, in_second::receiver, true)})
      if (!(std::abs(at[0]) <= 360 && std::abs(at[1]) <= 90)) {
        notes.push_back(fmt::format(
            "bytes 89 of traces say that places are angles, but trace {} would be at longitude {:.6g}, "
            "latitude {:.6g}: they are taken for lengths",
            n + 1, at[0], at[1]));
        return false;
      }
  }
  return angles.value_or(false);
}

/// Sets the units of samples, the kinds of traces if they are components of motion or differ in their units,
/// and otherwise the name of what all traces hold.
void take_quantities(Gathers& g, const Layout& layout, const std::vector<std::int16_t>& codes) {
  const auto differ = [](const std::vector<std::int16_t>& all) {
    return std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) != all.end();
  };
  if (!layout.su && layout.revision > 0 && !codes.empty()) {
    if (differ(codes)) g.unit_code = codes;
    else g.unit = unit_of_code(codes.front());
  }
  const bool components =
      std::any_of(g.kind.begin(), g.kind.end(), [](std::int16_t kind) { return kind >= 12 && kind <= 14; });
  if (components || !g.unit_code.empty() || g.kind.empty()) return;
  g.name = name_of_kind(differ(g.kind) ? std::int16_t{1} : g.kind.front(), g.unit);
  g.kind.clear();
}

Gathers read_traces(const std::string& name, std::string_view bytes, const Layout& layout, std::size_t memory,
                    std::vector<std::string> notes) {
  check_whole(name, layout);
  const auto each = layout.trace_bytes(), traces = layout.traces();
  ReadBudget(memory).take(name, traces * (layout.samples + 32), sizeof(float));
  Gathers g;
  g.samples = layout.samples;
  g.values.reserve(traces * layout.samples);
  std::vector<double> offsets;
  const bool angles = places_are_angles(name, bytes, layout, notes);
  std::vector<std::int16_t> value_units;
  std::size_t other_lengths = 0;
  Steps steps;
  Counted seen;
  for (std::size_t n = 0; n < traces; ++n) {
    const auto trace = bytes.substr(layout.begin + n * each, each);
    const TraceHeaders h(layout, trace);
    const double first = first_time(name, layout, h.first, n);
    if (n == 0) g.first = first;
    if (first != g.first)
      throw InputError(name,
                       fmt::format("trace {} begins at {} s, those before it at {} s", n + 1, first, g.first),
                       "Traces that begin at different times are not read.");
    steps.take(name, layout, h, n);
    see(seen, layout, h);
    const auto said = h.first.u16(in_trace::samples);
    if (said != 0 && said != layout.samples && layout.samples <= 65535) ++other_lengths;
    take_places(h, layout, angles, g);
    g.kind.push_back(h.first.i16(in_trace::kind));
    value_units.push_back(h.first.i16(in_trace::value_unit));
    offsets.push_back(layout.length * h.or_of_second(h.first.i32(in_trace::offset), in_second::offset));
    for (std::size_t s = 0; s < layout.samples; ++s)
      g.values.push_back(sample(trace.substr(layout.header_bytes() + s * layout.width, layout.width),
                                layout.format, layout.order));
  }
  g.step = steps.get(name, layout, notes);
  seen.tell(notes);
  if (other_lengths > 0)
    notes.insert(
        notes.begin(),
        fmt::format("{} traces say another number of samples than the {} that the file's length confirms",
                    other_lengths, layout.samples));
  g.geographic = angles;
  places_from_offsets(g, offsets, notes);
  take_quantities(g, layout, value_units);
  number_shots(g);
  if (!notes.empty()) g.attributes["note"] = fmt::format("{}", fmt::join(notes, "; "));
  return g;
}

// --- writing
// -----------------------------------------------------------------------------------------------------

constexpr double most_whole = 2147483646.0;

/// The scale factor 1, 10, ..., 10000 that makes these numbers integers, or the largest with which they fit
/// into 32 bits.
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

/// The header of trace n. within: number of the trace in its shot, from 1; su: whether it is one of SU, in
/// which bytes from 181 on have other meanings
std::string header_of(const Gathers& g, std::size_t n, std::size_t within, const Scales& scales,
                      std::endian order, bool su) {
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
  if (!su) h.i16(in_trace::value_unit, g.unit_code.empty() ? code_of_unit(g.unit) : g.unit_code[n]);
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
                std::endian order, bool su) {
  const auto scales = scales_of(path, g);
  std::size_t within = 0;
  for (std::size_t n = 0; n < g.traces(); ++n) {
    within = n > 0 && g.shot[n] == g.shot[n - 1] ? within + 1 : 1;
    file.write(header_of(g, n, within, scales, order, su));
    put_values(file, path, g, n, kind, order);
  }
}

void check_fits(const std::string& path, const Gathers& g, const char* what, std::size_t most) {
  if (g.traces() == 0 || g.samples == 0) throw InputError(path, "there are no traces to write");
  if (g.geographic)
    throw InputError(path, fmt::format("places in longitude and latitude are not written to {}", what),
                     "Project them to metres first, or write NetCDF.");
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
  auto notes = layout.notes;
  see(notes, {bytes.substr(text_bytes, file_header_bytes), layout.order});
  auto gathers = read_traces(name, bytes, layout, memory, std::move(notes));
  if (auto text = lines_of(bytes.substr(0, text_bytes)); !text.empty())
    gathers.attributes["text"] = std::move(text);
  return gathers;
}

Gathers read_su(const std::string& name, std::string_view bytes, std::size_t memory) {
  const auto layout = layout_of_su(name, bytes);
  return read_traces(name, bytes, layout, memory, layout.notes);
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
  put_traces(file, path, g, samples, std::endian::big, false);
  file.commit();
}

void write_su(const std::string& path, const Gathers& g, std::endian order) {
  check_su(path, g);
  AtomicFile file(path);
  put_traces(file, path, g, SegySamples::ieee, order, true);
  file.commit();
}

}  // namespace terrane::io
