// Positions of the traces in a SEG-Y or SU file, and the layout of their headers and samples.
//
// Headers of real files contradict each other, so the length of the file decides. Every layout that the
// headers allow (with or without further text headers and further trace headers, each stated number of
// samples) is tried, the most plausible first. The first layout is used that fills the file with whole traces
// whose headers all state the same number of samples; notes name the headers that contradict it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrane::io::segy {

constexpr std::size_t text_bytes = 3200, file_header_bytes = 400, trace_header_bytes = 240;

// Byte positions in headers, counted from 1 as in the standard.
namespace in_file {
constexpr std::size_t job = 1, traces = 13, step = 17, samples = 21, format = 25, sorting = 29, recovery = 53,
                      unit = 55, polarity = 57, long_samples = 69, long_step = 73, byte_order = 97,
                      revision = 301, fixed_length = 303, texts = 305, more_headers = 307, all_traces = 313,
                      first_trace = 321, trailers = 329;
}
namespace in_trace {
constexpr std::size_t line_number = 1, file_number = 5, shot = 9, number = 13, shot_point = 17, kind = 29,
                      use = 35, offset = 37, receiver_up = 41, source_up = 45, source_depth = 49,
                      height_scale = 69, place_scale = 71, source = 73, receiver = 81, place_unit = 89,
                      statics = 103, delay = 109, samples = 115, step = 117, weight = 169, middle = 181,
                      su_step = 181, value_unit = 203, value_factor = 205, value_exponent = 209,
                      time_scale = 215, many_samples = 229;
}
/// Byte positions in the second trace header that revision 2 allows; its numbers replace those of the first
/// unless they are zero.
namespace in_second {
constexpr std::size_t receiver_up = 33, source_up = 49, source_depth = 57, source = 97, receiver = 113,
                      offset = 129, samples = 137, step = 145, name = 233;
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

/// A header in memory: get<T>(n) is the number at byte position n, counted from 1.
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
  float f32(std::size_t place) const { return get<float>(place); }
  double f64(std::size_t place) const { return get<double>(place); }
};

/// Bytes per sample for this format code of the binary header; empty if the code is unknown.
std::optional<std::size_t> width_of(int format);

char from_ebcdic(char c);

struct Layout {
  std::endian order = std::endian::big;
  std::size_t begin = 0, end = 0, samples = 0, width = 4, more_headers = 0;
  int format = 5, revision = 0;
  double step = 0;    ///< sampling interval, s; 0: it is in the trace headers
  double length = 1;  ///< the file's unit of length in metres
  bool su = false;    ///< true: a SU file, in which bytes 181 to 240 of trace headers have other meanings
  std::vector<std::string> notes;

  std::size_t header_bytes() const { return trace_header_bytes * (1 + more_headers); }
  std::size_t trace_bytes() const { return header_bytes() + samples * width; }
  std::size_t traces() const { return (end - begin) / trace_bytes(); }
  bool divides() const { return samples > 0 && begin < end && (end - begin) % trace_bytes() == 0; }
};

/// name: for messages; bytes: the whole file. Throws InputError.
Layout layout_of_segy(const std::string& name, std::string_view bytes);
Layout layout_of_su(const std::string& name, std::string_view bytes);

}  // namespace terrane::io::segy
