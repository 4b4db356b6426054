#include "terrane/io/segy_layout.hpp"

#include <fmt/format.h>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane::io::segy {

namespace {

constexpr double foot = 0.3048;

/// Whether, with this layout, all trace headers state the same number of samples as the first. With a wrong
/// layout, the headers read would in fact be samples.
bool alike(const Layout& layout, std::string_view bytes) {
  if (!layout.divides()) return false;
  const auto said = [&](std::size_t at) {
    return ReadHeader{bytes.substr(at, trace_header_bytes), layout.order}.u16(in_trace::samples);
  };
  const auto first = said(layout.begin);
  for (auto at = layout.begin; at < layout.end; at += layout.trace_bytes())
    if (said(at) != first) return false;
  return true;
}

struct Reading {
  Layout layout;
  std::size_t texts = 0;  ///< number of text headers between the binary header and the first trace
};

/// The first layout for which alike() is true; otherwise the first that fills the file with whole traces;
/// otherwise the first of all.
const Reading& best_of(const std::vector<Reading>& readings, std::string_view bytes) {
  for (const auto& reading : readings)
    if (alike(reading.layout, bytes)) return reading;
  for (const auto& reading : readings)
    if (reading.layout.divides()) return reading;
  return readings.front();
}

void add_once(std::vector<std::size_t>& list, std::size_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

/// Adds layouts with more than 65535 samples per trace, of which 16-bit headers hold only the lowest bits, if
/// they fill the file and no other layout does.
void add_longer(std::vector<Reading>& readings, std::string_view bytes) {
  constexpr std::size_t turn = 65536, most = 4096;
  if (std::any_of(readings.begin(), readings.end(), [&](const auto& r) { return alike(r.layout, bytes); }))
    return;
  for (std::size_t r = 0, count = readings.size(); r < count; ++r) {
    auto longer = readings[r];
    auto& layout = longer.layout;
    if (layout.samples == 0) continue;
    for (std::size_t n = 1; n <= most && layout.begin + layout.trace_bytes() <= layout.end; ++n) {
      layout.samples += turn;
      if (alike(layout, bytes)) readings.push_back(longer);
    }
  }
}

[[noreturn]] void refuse_samples(const std::string& name, int format) {
  throw InputError(name, fmt::format("its samples are of the kind {}", format),
                   "Read are 1 (IBM floats), 5 and 6 (IEEE floats), 2, 3, 7, 8 and 9 (whole numbers of 4, 2, "
                   "3, 1, 8 bytes) and 10, 11, 12, 15 and 16 (of 4, 2, 8, 3, 1 bytes, without sign).");
}

std::endian order_of(const std::string& name, const ReadHeader& big) {
  const ReadHeader little{big.bytes, std::endian::little};
  constexpr std::int32_t counted = 0x01020304;
  if (big.i32(in_file::byte_order) == counted) return std::endian::big;
  if (little.i32(in_file::byte_order) == counted) return std::endian::little;
  if (width_of(big.i16(in_file::format))) return std::endian::big;
  if (width_of(little.i16(in_file::format))) return std::endian::little;
  refuse_samples(name, big.i16(in_file::format));
}

/// The revision times 256. The first byte is the number before the point, the second byte that after it; some
/// little-endian files have the two bytes in reverse order.
int revision_of(const ReadHeader& h) {
  const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(h.bytes[place - 1]); };
  const int first = byte(in_file::revision), second = byte(in_file::revision + 1);
  if (h.order == std::endian::little && first == 0 && second <= 2) return 256 * second;
  return 256 * first + second;
}

/// Number of text headers of 3200 bytes after the binary header up to the one that ends with ((SEG:
/// EndText)); empty if none does.
std::optional<std::size_t> texts_to_end(std::string_view bytes) {
  constexpr std::string_view end = "((seg:endtext))";
  constexpr std::size_t most = 1000;
  for (std::size_t n = 0, at = text_bytes + file_header_bytes; n < most && at + text_bytes <= bytes.size();
       ++n, at += text_bytes) {
    std::string plain, translated;
    for (const char c : bytes.substr(at, text_bytes)) {
      if (c != ' ') plain += c;
      if (const char t = from_ebcdic(c); t != ' ') translated += t;
    }
    if (lower(plain).find(end) != std::string::npos || lower(translated).find(end) != std::string::npos)
      return n + 1;
  }
  return {};
}

/// Possible numbers of text headers between the binary header and the first trace, the most plausible first.
std::vector<std::size_t> numbers_of_texts(const std::string& name, const ReadHeader& h, int revision,
                                          std::string_view bytes) {
  const auto said = h.i16(in_file::texts);
  if (said >= 0) {
    std::vector<std::size_t> all;
    if (revision == 0) add_once(all, 0);
    add_once(all, static_cast<std::size_t>(said));
    add_once(all, 0);
    return all;
  }
  if (const auto counted = texts_to_end(bytes)) return {*counted, 0};
  if (revision == 0) return {0};
  throw InputError(name,
                   "it does not say how many more texts it has, and none of them ends with ((SEG: EndText))",
                   "Write the number into bytes 3505 and 3506.");
}

/// Possible numbers of further trace headers: revision 2.0 stores the number in four bytes, 2.1 in the first
/// two of them.
std::vector<std::size_t> numbers_of_headers(const ReadHeader& h, int revision) {
  if (revision < 0x0200) return {0};
  std::array<std::int32_t, 2> said{h.i32(in_file::more_headers), h.i16(in_file::more_headers)};
  if ((revision & 0xFF) != 0) std::swap(said[0], said[1]);
  constexpr std::int32_t most = 1000;
  const bool first = said[0] > 0 && said[0] <= most, second = said[1] > 0 && said[1] <= most;
  std::vector<std::size_t> all{first ? static_cast<std::size_t>(said[0]) : 0};
  if (second) add_once(all, static_cast<std::size_t>(said[1]));
  add_once(all, 0);
  return all;
}

std::vector<std::size_t> numbers_of_samples(const ReadHeader& h, const Layout& layout,
                                            std::string_view bytes) {
  std::vector<std::size_t> all;
  const auto add = [&](std::int64_t n) {
    if (n > 0) add_once(all, static_cast<std::size_t>(n));
  };
  if (layout.revision >= 0x0200) add(h.i32(in_file::long_samples));
  add(h.u16(in_file::samples));
  if (layout.begin + layout.header_bytes() <= bytes.size()) {
    const ReadHeader first{bytes.substr(layout.begin, trace_header_bytes), layout.order};
    if (layout.more_headers > 0) {
      const ReadHeader second{bytes.substr(layout.begin + trace_header_bytes, trace_header_bytes),
                              layout.order};
      add(second.i32(in_second::samples));
    }
    add(first.u16(in_trace::samples));
    constexpr std::uint16_t full = 32767;
    if (first.u16(in_trace::samples) == full) add(first.i32(in_trace::many_samples));
  }
  if (all.empty()) all.push_back(0);
  return all;
}

/// The end of the last trace, which is before the texts that revision 2 allows at the end of a file.
std::size_t end_of(const ReadHeader& h, int revision, std::size_t size) {
  const auto trailers = revision >= 0x0200 ? h.i32(in_file::trailers) : 0;
  const auto taken = trailers > 0 ? static_cast<std::size_t>(trailers) * text_bytes : 0;
  return taken < size ? size - taken : size;
}

/// Adds notes on differences between the layout that fits the file length and that in the header.
void note_departures(Layout& layout, const Layout& first) {
  if (layout.more_headers != first.more_headers)
    layout.notes.push_back(fmt::format("{} more headers of each trace by the file's length, {} by its header",
                                       layout.more_headers, first.more_headers));
  if (layout.samples > 65535 && layout.samples != first.samples)
    layout.notes.push_back(
        fmt::format("each trace has {} samples by the file's length, of which 16 bits hold {}",
                    layout.samples, first.samples));
}

/// Throws if there are fewer traces than the header of revision 2 states.
void check_count(const std::string& name, const ReadHeader& h, Layout& layout) {
  if (layout.revision < 0x0200 || !layout.divides()) return;
  const auto said = h.get<std::uint64_t>(in_file::all_traces);
  if (said == 0 || said == layout.traces()) return;
  if (said > layout.traces())
    throw InputError(name, fmt::format("its header counts {} traces, and it has {}", said, layout.traces()),
                     "It may be truncated.");
  layout.notes.push_back(fmt::format("its header counts {} traces, and it has {}", said, layout.traces()));
}

/// The layout according to the binary header, without the position and length of traces.
Layout said_by(const std::string& name, const ReadHeader& h, std::size_t size) {
  Layout said;
  said.order = h.order;
  said.format = h.i16(in_file::format);
  const auto width = width_of(said.format);
  if (!width) refuse_samples(name, said.format);
  said.width = *width;
  said.revision = revision_of(h);
  const auto unit = h.i16(in_file::unit);
  said.length = unit == 2 ? foot : 1;
  if (unit < 0 || unit > 2)
    said.notes.push_back(fmt::format("the code {} of its unit of length is unknown: taken for metres", unit));
  said.step = 1e-6 * h.u16(in_file::step);
  if (said.revision >= 0x0200)
    if (const auto step = h.f64(in_file::long_step); step > 0 && step < 1e12) said.step = 1e-6 * step;
  said.end = end_of(h, said.revision, size);
  return said;
}

/// All layouts that the headers allow, the most plausible first.
std::vector<Reading> readings_of(const std::string& name, const ReadHeader& h, const Layout& said,
                                 std::string_view bytes) {
  std::vector<Reading> readings;
  const auto first_trace = said.revision >= 0x0200 ? h.get<std::uint64_t>(in_file::first_trace) : 0;
  for (const auto texts : numbers_of_texts(name, h, said.revision, bytes))
    for (const auto headers : numbers_of_headers(h, said.revision)) {
      auto layout = said;
      layout.more_headers = headers;
      layout.begin = text_bytes + file_header_bytes + texts * text_bytes;
      if (readings.empty() && first_trace > layout.begin && first_trace < layout.end)
        layout.begin = static_cast<std::size_t>(first_trace);
      if (layout.begin + layout.header_bytes() > layout.end) continue;
      for (const auto samples : numbers_of_samples(h, layout, bytes)) {
        layout.samples = samples;
        readings.push_back({layout, texts});
      }
    }
  if (readings.empty())
    throw InputError(name, fmt::format("it has {} more texts and no trace", h.i16(in_file::texts)),
                     "It may be truncated.");
  return readings;
}

}  // namespace

std::optional<std::size_t> width_of(int format) {
  switch (format) {
    case 1:
    case 2:
    case 5:
    case 10:
      return 4;
    case 3:
    case 11:
      return 2;
    case 6:
    case 9:
    case 12:
      return 8;
    case 7:
    case 15:
      return 3;
    case 8:
    case 16:
      return 1;
    default:
      return {};
  }
}

Layout layout_of_segy(const std::string& name, std::string_view bytes) {
  if (bytes.size() < text_bytes + file_header_bytes + trace_header_bytes)
    throw InputError(name, fmt::format("a SEG-Y file of {} bytes has no trace", bytes.size()),
                     "It may be truncated.");
  ReadHeader h{bytes.substr(text_bytes, file_header_bytes), std::endian::big};
  h.order = order_of(name, h);
  auto readings = readings_of(name, h, said_by(name, h, bytes.size()), bytes);
  add_longer(readings, bytes);
  auto [layout, texts] = best_of(readings, bytes);
  if (layout.samples == 0)
    throw InputError(name, "neither the file nor its first trace say how many samples a trace has");
  note_departures(layout, readings.front().layout);
  if (const auto said_texts = h.i16(in_file::texts);
      layout.revision > 0 && said_texts >= 0 && texts != static_cast<std::size_t>(said_texts))
    layout.notes.push_back(
        fmt::format("{} more texts by the file's length, {} by its header", texts, said_texts));
  check_count(name, h, layout);
  return layout;
}

Layout layout_of_su(const std::string& name, std::string_view bytes) {
  if (bytes.size() < trace_header_bytes)
    throw InputError(name, fmt::format("an SU file of {} bytes has no trace", bytes.size()),
                     "It may be truncated.");
  std::vector<Reading> readings(2);
  for (const auto order : {std::endian::little, std::endian::big}) {
    auto& layout = readings[order == std::endian::little ? 0 : 1].layout;
    layout.su = true;
    layout.order = order;
    layout.end = bytes.size();
    layout.samples = ReadHeader{bytes, order}.u16(in_trace::samples);
  }
  // For files that no layout fills, the more plausible byte order comes first.
  if (readings[1].layout.samples < readings[0].layout.samples) std::swap(readings[0], readings[1]);
  add_longer(readings, bytes);
  auto layout = best_of(readings, bytes).layout;
  if (layout.samples == 0) throw InputError(name, "its first trace does not say how many samples it has");
  note_departures(layout, readings[layout.order == readings[0].layout.order ? 0 : 1].layout);
  return layout;
}

}  // namespace terrane::io::segy
