#include "terrane/io/esri.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/axes.hpp"

namespace terrane::io {

namespace {

constexpr std::int64_t most_nodes_per_axis = 100'000'000;

/// Degrees from 12°40'E, 47°40'30.5"N, 8°W.
std::optional<double> parse_angle(std::string_view text) {
  const auto part = [&](std::string_view mark) -> std::optional<double> {
    const auto at = text.find(mark);
    double value = 0;
    if (at == std::string_view::npos || !parse_number(text.substr(0, at), value) || value < 0) return {};
    text.remove_prefix(at + mark.size());
    return value;
  };
  const auto degrees = part("\xC2\xB0");
  if (!degrees) return {};
  const auto minutes = part("'");
  const auto seconds = part("\"");
  if (text.size() != 1) return {};
  const double angle = *degrees + minutes.value_or(0) / 60 + seconds.value_or(0) / 3600;
  switch (text[0]) {
    case 'E':
    case 'N':
      return angle;
    case 'W':
    case 'S':
      return -angle;
    default:
      return {};
  }
}

/// Throws if the stated opposite corner differs, by more than rounding, from that computed from counts and
/// cell sizes.
void check_far_corner(const TextReader& in, const std::optional<double>& said, double found, double cell,
                      std::string_view key) {
  if (said && !(std::abs(*said - found) <= cell))
    in.fail(fmt::format("{} is {}, and cells and counts make it {}", key, *said, found), "Check the header.");
}

/// The quantities that a key of the header sets: corners and centres set the same one, cellsize sets both
/// widths.
std::vector<std::string> meanings_of(const std::string& key) {
  if (key == "cellsize") return {"dx", "dy"};
  if (key == "nodata_value") return {"nodata"};
  if (key.starts_with("xll") || key.starts_with("yll")) return {key.substr(0, 3)};
  return {key};
}

/// The header: the lines before the values, in any order.
struct EsriHeader {
  std::optional<std::int64_t> n_east, n_north;
  std::optional<double> x, y, dx, dy, no_data, far_x, far_y;
  bool x_centre = false, y_centre = false, geographic = false;

  /// Reads the header up to the first value.
  void read(TextReader& in) {
    std::set<std::string> given;
    std::string_view word;
    auto before = in.mark();
    for (double number = 0; in.token(word) && !parse_number(word, number); before = in.mark()) {
      const auto key = lower(word);
      for (const auto& meaning : meanings_of(key))
        if (!given.insert(meaning).second)
          in.fail(fmt::format("{} is given a second time by {}", meaning, key), "Keep one of the two.");
      take(in, key, word);
    }
    in.rewind(before);
  }

  void check(const TextReader& in) const {
    if (!n_east || !n_north || !x || !y || !dx || !dy)
      in.fail(fmt::format("the header has no {}", !n_east    ? "ncols"
                                                  : !n_north ? "nrows"
                                                  : !x       ? "xllcorner"
                                                  : !y       ? "yllcorner"
                                                             : "cellsize"),
              "It may not be an ESRI ASCII grid.");
    if (!(*dx > 0) || !(*dy > 0))
      in.fail(fmt::format("a cell size of {}", std::min(*dx, *dy)), "It must be above zero.");
  }

 private:
  void take(TextReader& in, const std::string& key, std::string_view word) {
    if (key == "ncols") n_east = in.integer(key, 1, most_nodes_per_axis);
    else if (key == "nrows") n_north = in.integer(key, 1, most_nodes_per_axis);
    else if (key == "xllcorner" || key == "xllcenter") x = coordinate(in, key), x_centre = key == "xllcenter";
    else if (key == "yllcorner" || key == "yllcenter") y = coordinate(in, key), y_centre = key == "yllcenter";
    else if (key == "xurcorner") far_x = coordinate(in, key);
    else if (key == "yurcorner") far_y = coordinate(in, key);
    else if (key == "cellsize") dx = dy = in.number(key);
    else if (key == "dx") dx = in.number(key);
    else if (key == "dy") dy = in.number(key);
    else if (key == "nodata_value" || key == "nodata") no_data = in.number(key, true);
    else
      in.fail(
          fmt::format("\"{}\" is not a line of an ESRI ASCII grid's header", shown(word)),
          "Allowed: ncols, nrows, xllcorner or xllcenter, yllcorner or yllcenter, cellsize, NODATA_value.");
  }

  /// Reads a coordinate in metres, or in degrees if it is written as an angle, such as 10:30:00E.
  double coordinate(TextReader& in, const std::string& key) {
    const auto place = in.mark();
    const auto text = in.rest_of_line();
    if (const auto angle = parse_angle(text)) {
      geographic = true;
      return *angle;
    }
    in.rewind(place);
    return in.number(key);
  }
};

std::vector<double> nodes_from(const TextReader& in, double first, double step, std::size_t count) {
  std::vector<double> axis;
  for (std::size_t i = 0; i < count; ++i) axis.push_back(first + step * static_cast<double>(i));
  for (std::size_t i = 1; i < count; ++i)
    if (!(axis[i] > axis[i - 1]))
      in.fail("the cell size is lost in the rounding of the corner's coordinates",
              "Check cellsize and the corner.");
  return axis;
}

}  // namespace

GridData read_esri(TextReader& in) {
  EsriHeader header;
  header.read(in);
  header.check(in);
  const auto columns = static_cast<std::size_t>(*header.n_east),
             rows = static_cast<std::size_t>(*header.n_north);
  const auto n = checked_product(in.where(), std::array{*header.n_east, *header.n_north});
  auto values = in.numbers(n, fmt::format("rows of a grid of {} x {}", columns, rows), false, true);
  in.expect_end("the last row");

  GridData grid;
  grid.geographic = header.geographic;
  const double dx = *header.dx, dy = *header.dy, west = *header.x + (header.x_centre ? 0.0 : dx / 2),
               south = *header.y + (header.y_centre ? 0.0 : dy / 2);
  grid.easting = nodes_from(in, west, dx, columns);
  grid.northing = nodes_from(in, south, dy, rows);
  for (std::size_t j = 0; j < rows / 2; ++j)  // rows of the file begin in the north
    std::swap_ranges(values.begin() + static_cast<std::ptrdiff_t>(j * columns),
                     values.begin() + static_cast<std::ptrdiff_t>((j + 1) * columns),
                     values.begin() + static_cast<std::ptrdiff_t>((rows - 1 - j) * columns));
  check_far_corner(in, header.far_x, west + dx * (static_cast<double>(columns) - 0.5), dx, "xurcorner");
  check_far_corner(in, header.far_y, south + dy * (static_cast<double>(rows) - 0.5), dy, "yurcorner");
  const auto gaps = make_gaps(values, header.no_data.value_or(-9999));
  if (!header.no_data && gaps > 0)
    grid.attributes["note"] =
        fmt::format("{} values of -9999 are gaps, though no NODATA_value says so", gaps);
  grid.unit_is_assumed = !grid.geographic;
  grid.fields.push_back({stem(in.name(), "z"), "", "", std::move(values)});
  return grid;
}

GridData read_esri(const std::string& path) {
  auto in = TextReader::open(path);
  return read_esri(in);
}

void check_esri(const std::string& path, const GridData& grid, const std::string& field) {
  one_field(path, grid, field);
  const double dx = even_spacing(path, "easting", grid.easting),
               dy = even_spacing(path, "northing", grid.northing);
  if (!(std::abs(dx - dy) <= 1e-6 * dx))
    throw InputError(path,
                     fmt::format("cells of {} by {} are not square, and this format needs that", dx, dy),
                     "Write NetCDF, a Surfer grid or CSV.");
}

void write_esri(const std::string& path, const GridData& grid, const std::string& field) {
  check_esri(path, grid, field);
  const Column& f = one_field(path, grid, field);
  const double dx = even_spacing(path, "easting", grid.easting);
  // Gaps are written as a value that no node has.
  double missing = -9999;
  while (std::find(f.values.begin(), f.values.end(), missing) != f.values.end()) missing = 10 * missing - 9;
  AtomicFile file(path);
  file.write(fmt::format("ncols {}\nnrows {}\nxllcenter {}\nyllcenter {}\ncellsize {}\nNODATA_value {}\n",
                         grid.easting.size(), grid.northing.size(), grid.easting.front(),
                         grid.northing.front(), dx, missing));
  fmt::memory_buffer row;
  for (std::size_t j = grid.northing.size(); j-- > 0;) {
    row.clear();
    for (std::size_t i = 0; i < grid.easting.size(); ++i) {
      const double v = f.values[j * grid.easting.size() + i];
      fmt::format_to(std::back_inserter(row), "{}{}", i == 0 ? "" : " ", std::isnan(v) ? missing : v);
    }
    row.push_back('\n');
    file.write({row.data(), row.size()});
  }
  file.commit();
}

}  // namespace terrane::io
