#include "terrane/io/surfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/axes.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

namespace {

constexpr double blank = 1.70141e38;  // the value of blank nodes in files of Surfer 6; files of Surfer 7
                                      // state their own
// Values from here on are blank, because the blank value may be printed with few digits.
constexpr double least_blank = 1.7e38;
constexpr std::int64_t most_surfer_nodes = 100'000'000;
constexpr std::int32_t tag_header = 0x42525344, tag_grid = 0x44495247, tag_data = 0x41544144;

/// Reads little-endian values and checks the end of the file.
class Bytes {
 public:
  Bytes(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  template <class T>
  T take() {
    if (left() < sizeof(T))
      fail(fmt::format("the file ends at byte {}, inside the grid", bytes_.size()), "It may be truncated.");
    std::array<char, sizeof(T)> raw;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), sizeof(T), raw.begin());
    if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
    at_ += sizeof(T);
    T value;
    std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  void skip(std::size_t n) { at_ += std::min(n, left()); }
  std::size_t left() const { return bytes_.size() - at_; }
  [[noreturn]] void fail(const std::string& problem, const std::string& next = {}) const {
    throw InputError(name_, problem, next);
  }

 private:
  const std::string& name_;
  std::string_view bytes_;
  std::size_t at_ = 0;
};

void put_axes(GridData& grid, const std::string& name, std::size_t n_east, std::size_t n_north, double west,
              double east, double south, double north) {
  const auto good = [](double low, double high, std::size_t n) {
    return std::isfinite(low) && std::isfinite(high) && std::isfinite(high - low) && low < high && n >= 2;
  };
  if (!good(west, east, n_east) || !good(south, north, n_north))
    throw InputError(name,
                     fmt::format("a grid of {} x {} nodes from {} to {} and {} to {}", n_east, n_north, west,
                                 east, south, north),
                     "Two or more nodes along each axis and ascending limits are needed.");
  grid.easting = even_axis(west, east, n_east);
  grid.northing = even_axis(south, north, n_north);
  grid.unit_is_assumed = true;
  for (const auto* axis : {&grid.easting, &grid.northing})
    for (std::size_t i = 1; i < axis->size(); ++i)
      if (!((*axis)[i] > (*axis)[i - 1]))
        throw InputError(name, "the spacing of the nodes is lost in the rounding of the limits",
                         "Check the header.");
}

GridData read_text(const std::string& name, std::string_view bytes) {
  TextReader in(name, std::string(bytes));
  std::string_view word;
  in.token(word);  // skips DSAA
  const auto n_east = in.integer("the number of columns", 2, most_surfer_nodes);
  const auto n_north = in.integer("the number of rows", 2, most_surfer_nodes);
  const auto n = checked_product(in.where(), std::array{n_east, n_north});
  const double west = in.number("the western limit"), east = in.number("the eastern limit");
  const double south = in.number("the southern limit"), north = in.number("the northern limit");
  in.number("the least value");
  in.number("the greatest value");
  auto values = in.numbers(n, fmt::format("nodes of a grid of {} x {}", n_east, n_north), false, true);
  in.expect_end("the last node");
  for (auto& v : values)
    if (v >= least_blank) v = nan;
  GridData grid;
  put_axes(grid, name, static_cast<std::size_t>(n_east), static_cast<std::size_t>(n_north), west, east, south,
           north);
  grid.fields.push_back({stem(name, "z"), "", "", std::move(values)});
  return grid;
}

template <class T>
std::vector<double> take_nodes(Bytes& in, std::int64_t n_east, std::int64_t n_north) {
  if (n_east < 2 || n_north < 2)
    in.fail(fmt::format("a grid of {} x {} nodes", n_east, n_north), "It needs two or more along each axis.");
  // Both counts are below 2³², so the product cannot overflow.
  const auto n = static_cast<std::uint64_t>(n_east) * static_cast<std::uint64_t>(n_north);
  if (n > in.left() / sizeof(T))
    in.fail(fmt::format("a grid of {} x {} nodes needs {} bytes and the file has {} left", n_east, n_north,
                        n * sizeof(T), in.left()),
            "It may be truncated.");
  std::vector<double> values(n);
  for (auto& v : values) v = static_cast<double>(in.take<T>());
  return values;
}

GridData read_surfer6(const std::string& name, std::string_view bytes) {
  Bytes in(name, bytes);
  in.skip(4);
  const auto n_east = in.take<std::int16_t>(), n_north = in.take<std::int16_t>();
  const auto west = in.take<double>(), east = in.take<double>(), south = in.take<double>(),
             north = in.take<double>();
  in.skip(2 * sizeof(double));
  auto values = take_nodes<float>(in, n_east, n_north);
  for (auto& v : values)
    if (v >= least_blank) v = nan;
  GridData grid;
  if (in.left() > 0)
    grid.attributes["note"] = fmt::format("{} bytes behind the last node are not read", in.left());
  put_axes(grid, name, static_cast<std::size_t>(n_east), static_cast<std::size_t>(n_north), west, east, south,
           north);
  grid.fields.push_back({stem(name, "z"), "", "", std::move(values)});
  return grid;
}

GridData read_surfer7(const std::string& name, std::string_view bytes) {
  Bytes in(name, bytes);
  std::int32_t version = 1, n_east = 0, n_north = 0;
  double west = 0, south = 0, dx = 0, dy = 0, file_blank = blank;
  bool have_grid = false;
  while (in.left() > 0) {
    const auto tag = in.take<std::int32_t>();
    const auto size = in.take<std::int32_t>();
    if (size < 0) in.fail(fmt::format("a section of {} bytes", size), "The file may be damaged.");
    const auto before = in.left();
    if (tag == tag_header) {
      version = in.take<std::int32_t>();
    } else if (tag == tag_grid) {
      n_north = in.take<std::int32_t>();
      n_east = in.take<std::int32_t>();
      west = in.take<double>();
      south = in.take<double>();
      dx = in.take<double>();
      dy = in.take<double>();
      in.skip(2 * sizeof(double));  // skips minimum and maximum
      if (const auto rotation = in.take<double>(); rotation != 0)
        in.fail(fmt::format("the grid is rotated by {} degrees", rotation),
                "Resample it onto east and north.");
      file_blank = in.take<double>();
      have_grid = true;
    } else if (tag == tag_data) {
      if (!have_grid) in.fail("the data comes before the grid's description", "The file may be damaged.");
      auto values = take_nodes<double>(in, n_east, n_north);
      for (auto& v : values)
        if (version == 1 ? v >= file_blank : v == file_blank) v = nan;
      GridData grid;
      if (in.left() > 0)
        grid.attributes["note"] = fmt::format("{} bytes behind the nodes (faults) are not read", in.left());
      put_axes(grid, name, static_cast<std::size_t>(n_east), static_cast<std::size_t>(n_north), west,
               west + dx * (n_east - 1), south, south + dy * (n_north - 1));
      grid.fields.push_back({stem(name, "z"), "", "", std::move(values)});
      return grid;
    }
    const auto used = before - in.left();
    if (static_cast<std::size_t>(size) > used) in.skip(static_cast<std::size_t>(size) - used);
  }
  in.fail("there is no data section", "It may be truncated.");
}

struct Range {
  double low, high;
};

Range range(const std::vector<double>& values) {
  Range r{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const double v : values)
    if (!std::isnan(v)) r = {std::min(r.low, v), std::max(r.high, v)};
  return r.low <= r.high ? r : Range{0, 0};
}

}  // namespace

GridData read_surfer(const std::string& name, std::string_view bytes) {
  if (bytes.starts_with("DSAA")) return read_text(name, bytes);
  if (bytes.starts_with("DSBB")) return read_surfer6(name, bytes);
  if (bytes.starts_with("DSRB")) return read_surfer7(name, bytes);
  throw InputError(name, "is not a Surfer grid", "A Surfer grid begins with DSAA, DSBB or DSRB.");
}

GridData read_surfer(const std::string& path) { return read_surfer(path, read_bytes(path)); }

void check_surfer_text(const std::string& path, const GridData& grid, const std::string& field) {
  one_field(path, grid, field);
  even_spacing(path, "easting", grid.easting);
  even_spacing(path, "northing", grid.northing);
}

void check_surfer7(const std::string& path, const GridData& grid, const std::string& field) {
  check_surfer_text(path, grid, field);
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (grid.easting.size() > most || grid.northing.size() > most || grid.size() > most / sizeof(double))
    throw InputError(path,
                     fmt::format("a grid of {} x {} nodes is too large for this format", grid.easting.size(),
                                 grid.northing.size()),
                     "Write NetCDF.");
}

void write_surfer_text(const std::string& path, const GridData& grid, const std::string& field) {
  check_surfer_text(path, grid, field);
  const Column& f = one_field(path, grid, field);
  const auto [low, high] = range(f.values);
  if (high >= blank)
    throw InputError(path, fmt::format("a value of {} would be read back as a gap", high), "Write NetCDF.");
  AtomicFile file(path);
  file.write(fmt::format("DSAA\n{} {}\n{} {}\n{} {}\n{} {}\n", grid.easting.size(), grid.northing.size(),
                         grid.easting.front(), grid.easting.back(), grid.northing.front(),
                         grid.northing.back(), low, high));
  fmt::memory_buffer row;
  for (std::size_t j = 0; j < grid.northing.size(); ++j) {
    row.clear();
    for (std::size_t i = 0; i < grid.easting.size(); ++i) {
      const double v = f.values[j * grid.easting.size() + i];
      if (i > 0) row.push_back(' ');
      if (std::isnan(v)) row.append(std::string_view("1.70141e+38"));
      else fmt::format_to(std::back_inserter(row), "{}", v);
    }
    row.push_back('\n');
    file.write({row.data(), row.size()});
  }
  file.commit();
}

void write_surfer7(const std::string& path, const GridData& grid, const std::string& field) {
  check_surfer7(path, grid, field);
  const Column& f = one_field(path, grid, field);
  const double dx = even_spacing(path, "easting", grid.easting),
               dy = even_spacing(path, "northing", grid.northing);
  const auto [low, high] = range(f.values);
  if (high >= blank)
    throw InputError(path, fmt::format("a value of {} would be read back as a gap", high), "Write NetCDF.");
  AtomicFile file(path);
  const auto put = [&](auto value) {
    std::array<char, sizeof value> raw;
    std::memcpy(raw.data(), &value, sizeof value);
    if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
    file.write({raw.data(), raw.size()});
  };
  const auto i32 = [](std::size_t n) { return static_cast<std::int32_t>(n); };
  put(tag_header), put(i32(4)), put(i32(1));
  put(tag_grid), put(i32(72)), put(i32(grid.northing.size())), put(i32(grid.easting.size()));
  for (const double v : {grid.easting.front(), grid.northing.front(), dx, dy, low, high, 0.0, blank}) put(v);
  put(tag_data), put(i32(f.values.size() * sizeof(double)));
  for (const double v : f.values) put(std::isnan(v) ? blank : v);
  file.commit();
}

}  // namespace terrane::io
