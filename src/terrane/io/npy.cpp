#include "terrane/io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

template <class T>
double element(const char* from, bool swap) {
  std::array<char, sizeof(T)> raw;
  std::copy_n(from, sizeof(T), raw.begin());
  if (swap) std::reverse(raw.begin(), raw.end());
  T value;
  std::memcpy(&value, raw.data(), sizeof(T));
  return static_cast<double>(value);
}

struct ElementKind {
  std::string_view code;
  std::size_t bytes;
  double (*read)(const char*, bool);
};
constexpr std::array<ElementKind, 11> element_kinds{{{"f4", 4, element<float>},
                                                     {"f8", 8, element<double>},
                                                     {"i1", 1, element<std::int8_t>},
                                                     {"i2", 2, element<std::int16_t>},
                                                     {"i4", 4, element<std::int32_t>},
                                                     {"i8", 8, element<std::int64_t>},
                                                     {"u1", 1, element<std::uint8_t>},
                                                     {"u2", 2, element<std::uint16_t>},
                                                     {"u4", 4, element<std::uint32_t>},
                                                     {"u8", 8, element<std::uint64_t>},
                                                     {"b1", 1, element<std::uint8_t>}}};

/// The value of 'key' in the header, which is a Python dictionary.
std::string_view value_of(const std::string& name, std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const auto at = header.find(fmt::format("{0}{1}{0}", quote, key));
    if (at == std::string_view::npos) continue;
    auto rest = header.substr(at + key.size() + 2);
    const auto begin = rest.find_first_not_of(" :");
    if (begin != std::string_view::npos) return rest.substr(begin);
  }
  throw InputError(name, fmt::format("the header of this .npy file has no {}", key), "It may be damaged.");
}

std::vector<std::size_t> parse_shape(const std::string& name, std::string_view text) {
  const auto close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos)
    throw InputError(name, "the header of this .npy file has a damaged shape");
  text = text.substr(1, close - 1);
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    auto part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ') || part.ends_with('L')) part.remove_suffix(1);
    std::int64_t n = 0;
    if (!part.empty()) {
      if (!parse_integer(part, n) || n < 0)
        throw InputError(name, fmt::format("\"{}\" in the shape is not a size", shown(part)));
      shape.push_back(n);
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (shape.size() > 32)
    throw InputError(name, fmt::format("an array of {} axes", shape.size()), "NumPy has 32 at most.");
  checked_product(name, shape);
  return {shape.begin(), shape.end()};
}

/// Throws InputError unless the file contains exactly n values.  bytes: bytes per value; there: bytes of all
/// values in the file
void check_size(const std::string& name, std::size_t n, std::size_t bytes, std::size_t there) {
  if (n > there / bytes)
    throw InputError(name, fmt::format("the file ends after {} of {} values", there / bytes, n),
                     "It may be truncated.");
  if (n * bytes != there)
    throw InputError(name, fmt::format("{} bytes stand behind its {} values", there - n * bytes, n),
                     "Files of several arrays are not read: save each to a file of its own.");
}

}  // namespace

Array read_npy(const std::string& name, std::string_view bytes) {
  if (!bytes.starts_with(magic) || bytes.size() < 10)
    throw InputError(name, "is not a .npy file", "Write it with numpy.save.");
  const int version = bytes[6];
  if (version < 1 || version > 3)
    throw InputError(name, fmt::format("version {} of the .npy format is not known", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  std::size_t length = 0;
  for (std::size_t b = 0; b < length_bytes && 8 + b < bytes.size(); ++b)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[8 + b])) << (8 * b);
  if (bytes.size() < start || length > bytes.size() - start)
    throw InputError(name, "the file ends inside its header", "It may be truncated.");
  const auto header = bytes.substr(start, length);

  const auto type = value_of(name, header, "descr");
  const auto type_end = type.find_first_of("'\"", 1);
  const auto code =
      type_end == std::string_view::npos || type_end < 4 ? std::string_view{} : type.substr(2, type_end - 2);
  const auto kind = std::find_if(element_kinds.begin(), element_kinds.end(),
                                 [&](const ElementKind& k) { return k.code == code; });
  if (kind == element_kinds.end())
    throw InputError(name,
                     fmt::format("values of type {} are not read", shown(type.substr(0, type.find(',')))),
                     "Allowed: float32, float64, integers and booleans; convert with array.astype(float).");
  const bool fortran = value_of(name, header, "fortran_order").starts_with("True");
  const bool swap =
      (type[1] == '>') != (std::endian::native == std::endian::big) && type[1] != '=' && type[1] != '|';

  Array array;
  array.shape = parse_shape(name, value_of(name, header, "shape"));
  std::size_t n = 1;
  for (const auto s : array.shape) n *= s;
  const auto data = bytes.substr(start + length);
  check_size(name, n, kind->bytes, data.size());
  array.values.resize(n);
  if (!fortran || array.shape.size() < 2) {
    for (std::size_t i = 0; i < n; ++i) array.values[i] = kind->read(data.data() + i * kind->bytes, swap);
    return array;
  }
  // Fortran order: the first axis varies fastest. Advances its index first, and computes the index in C
  // order.
  const std::size_t axes = array.shape.size();
  std::vector<std::size_t> stride(axes, 1), index(axes, 0);
  for (std::size_t a = axes - 1; a-- > 0;) stride[a] = stride[a + 1] * array.shape[a + 1];
  std::size_t place = 0;
  for (std::size_t i = 0; i < n; ++i) {
    array.values[place] = kind->read(data.data() + i * kind->bytes, swap);
    for (std::size_t a = 0; a < axes; ++a) {
      place += stride[a];
      if (++index[a] < array.shape[a]) break;
      place -= stride[a] * index[a];
      index[a] = 0;
    }
  }
  return array;
}

Array read_npy(const std::string& path) { return read_npy(path, read_bytes(path)); }

void write_npy(const std::string& path, const Array& array) {
  std::string shape;
  for (const auto s : array.shape) shape += fmt::format("{},", s);
  auto header = fmt::format("{{'descr': '{}f{}', 'fortran_order': False, 'shape': ({}), }}",
                            std::endian::native == std::endian::big ? '>' : '<', array.single ? 4 : 8, shape);
  constexpr std::size_t preamble = 10, alignment = 64;
  header.append(alignment - (preamble + header.size() + 1) % alignment, ' ');
  header += '\n';
  AtomicFile file(path);
  file.write(magic);
  file.write({"\x01\x00", 2});
  file.write(
      {std::array{static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)}.data(), 2});
  file.write(header);
  if (array.single) {
    const std::vector<float> values(array.values.begin(), array.values.end());
    file.write_bytes(values.data(), values.size() * sizeof(float));
  } else {
    file.write_bytes(array.values.data(), array.values.size() * sizeof(double));
  }
  file.commit();
}

}  // namespace terrane::io
