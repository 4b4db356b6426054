#include "terrane/io/geotiff_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/geotiff.hpp"
#include "terrane/survey/crs.hpp"

namespace terrane::io {

namespace {

constexpr const char* warp = "`gdalwarp IN OUT.tif` lays it along east and north.";
constexpr const char* to_metres = "`gdalwarp -t_srs EPSG:CODE IN OUT.tif` brings it into metres.";

/// Numbers of GeoKeys, and their code values.
enum Key : std::uint16_t {
  model_type = 1024,
  raster_type = 1025,
  geodetic_system = 2048,
  prime_meridian_code = 2051,
  angular_unit = 2054,
  prime_meridian = 2061,
  projected_system = 3072,
  projected_citation = 3073,
  linear_unit = 3076,
  linear_unit_size = 3077,
  vertical_system = 4096,
  vertical_unit = 4099,
};
constexpr int defined_by_user = 32767, undefined = 0;

/// The GeoKeys: a header of four numbers, then entries of (key, tag that has the value or 0, count, value or
/// index of it).
class Keys {
 public:
  Keys(const std::string& name, const GeotiffTags& tags) : name_(name), tags_(tags) {
    const auto& d = tags.key_directory;
    if (d.empty()) return;
    if (d.size() < 4 || d[0] != 1 || d.size() < 4 + 4 * std::size_t{d[3]})
      throw InputError(name, "its directory of GeoTIFF keys is cut short, or of another version",
                       "Write it anew, for example by gdal_translate.");
  }

  std::optional<int> code(Key key) const {
    const auto* entry = find(key);
    if (entry == nullptr) return {};
    if (entry[1] != 0) fail(key);
    return entry[3] == undefined ? std::nullopt : std::optional<int>(entry[3]);
  }
  std::optional<double> number(Key key) const {
    const auto* entry = find(key);
    if (entry == nullptr) return {};
    if (entry[1] != 34736 || entry[3] >= tags_.key_numbers.size()) fail(key);
    return tags_.key_numbers[entry[3]];
  }
  std::string words(Key key) const {
    const auto* entry = find(key);
    if (entry == nullptr) return {};
    if (entry[1] != 34737 || entry[3] > tags_.key_words.size()) fail(key);
    auto text = tags_.key_words.substr(entry[3], entry[2]);
    while (!text.empty() && (text.back() == '|' || text.back() == '\0')) text.pop_back();
    return text;
  }

 private:
  const std::uint16_t* find(Key key) const {
    const auto& d = tags_.key_directory;
    if (d.empty()) return nullptr;
    for (std::size_t n = 0; n < d[3]; ++n)
      if (d[4 + 4 * n] == key) return &d[4 + 4 * n];
    return nullptr;
  }
  [[noreturn]] void fail(Key key) const {
    throw InputError(name_, fmt::format("its GeoTIFF key {} is damaged", static_cast<int>(key)),
                     "Write it anew, for example by gdal_translate.");
  }

  const std::string& name_;
  const GeotiffTags& tags_;
};

/// The affine map from columns and rows to coordinates: x = x0 + dx column and y = y0 + dy row, with 0 at the
/// outer corner of the first cell; heights are offset + scale value.
struct Frame {
  double x0 = 0, dx = 1, y0 = 0, dy = -1;
  double scale = 1, offset = 0;
};

Frame of_transformation(const std::string& name, const std::vector<double>& m) {
  if (m.size() != 16)
    throw InputError(name, fmt::format("its ModelTransformation has {} numbers, not 16", m.size()));
  const bool turned = std::abs(m[1]) > 1e-9 * std::abs(m[0]) || std::abs(m[4]) > 1e-9 * std::abs(m[5]) ||
                      m[2] != 0 || m[6] != 0;
  if (turned) throw InputError(name, "its rows and columns do not run along east and north", warp);
  const bool with_heights = m[10] != 0 && m[8] == 0 && m[9] == 0;
  return {m[3], m[0], m[7], m[5], with_heights ? m[10] : 1, with_heights ? m[11] : 0};
}

Frame of_tie_point(const std::string& name, const GeotiffTags& tags) {
  const auto& s = tags.pixel_scale;
  const auto& t = tags.tie_points;
  if (s.size() < 2 || t.size() < 6)
    throw InputError(name, "its tags ModelPixelScale and ModelTiepoint are cut short");
  if (!(s[1] > 0) || !(s[0] > 0))
    throw InputError(name, fmt::format("its cells are {} by {}: sizes above zero are meant", s[0], s[1]),
                     "Write it anew, for example by gdal_translate.");
  Frame f{t[3] - t[0] * s[0], s[0], t[4] + t[1] * s[1], -s[1]};
  if (s.size() > 2 && s[2] != 0) f.scale = s[2], f.offset = t[5] - t[2] * s[2];
  return f;
}

Frame frame_of(const std::string& name, const GeotiffTags& tags) {
  if (!tags.transformation.empty() && tags.pixel_scale.empty())
    return of_transformation(name, tags.transformation);
  if (!tags.pixel_scale.empty() && !tags.tie_points.empty()) return of_tie_point(name, tags);
  if (!tags.tie_points.empty()) throw InputError(name, "control points alone say where it is", warp);
  throw InputError(name,
                   "nothing in it says where its nodes are: it is a TIFF without the tags of a GeoTIFF "
                   "(files beside it, such as .tfw, are not read)",
                   "`gdal_translate IN OUT.tif` brings a .tfw into the file.");
}

std::vector<double> axis_of_nodes(const std::string& name, double first, double step, std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = first + step * static_cast<double>(step > 0 ? i : n - 1 - i);
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(out[i]) || (i > 0 && !(out[i] > out[i - 1])))
      throw InputError(name, "its nodes have places that are no numbers, or do not differ");
  return out;
}

/// A unit of length in metres, or of angle in degrees, from its EPSG code.
std::optional<double> unit_of(int code) {
  constexpr double us_foot = 1200.0 / 3937.0;
  switch (code) {
    case 9001:
    case 9102:
    case 9122:
      return 1;
    case 9002:
      return 0.3048;
    case 9003:
      return us_foot;
    case 9036:
      return 1000;
    case 9101:
      return 57.29577951308232;
    case 9105:
      return 0.9;
    default:
      return {};
  }
}

void scale(std::vector<double>& values, double factor) {
  if (factor != 1)
    for (double& v : values) v *= factor;
}

/// Sets the projection and the kind of coordinates; returns the map's unit in metres.
double place_on_map(const std::string& name, const Keys& keys, GridData& grid,
                    std::vector<std::string>& notes) {
  auto factor = std::optional<double>();
  if (const auto unit = keys.code(linear_unit)) {
    factor = *unit == defined_by_user ? keys.number(linear_unit_size) : unit_of(*unit);
    if (!factor || !(*factor > 0))
      throw InputError(name, fmt::format("the unit of its map (EPSG:{}) is not known here", *unit),
                       to_metres);
  }
  const auto code = keys.code(projected_system);
  if (code && *code != defined_by_user) {
    const auto definition = fmt::format("EPSG:{}", *code);
    const auto axes = crs_axes(definition);
    if (!axes || axes->kind != CrsAxes::Kind::projected)
      throw InputError(name, fmt::format("PROJ knows no map projection {}", definition), to_metres);
    if (!axes->usual)
      throw InputError(name, fmt::format("the axes of {} run to the west or south", definition), to_metres);
    grid.projection = crs_in_metres(definition);
    if (!factor) factor = axes->unit;
  } else {
    const auto words = keys.words(projected_citation);
    notes.push_back(fmt::format("its map projection has no EPSG code{}: coordinates are taken as they are",
                                words.empty() ? "" : fmt::format(" ({})", words)));
  }
  scale(grid.easting, factor.value_or(1));
  scale(grid.northing, factor.value_or(1));
  return factor.value_or(1);
}

void place_in_degrees(const std::string& name, const Keys& keys, GridData& grid,
                      std::vector<std::string>& notes) {
  grid.geographic = true;
  double factor = 1;
  const auto code = keys.code(geodetic_system);
  const auto system =
      code && *code != defined_by_user ? crs_axes(fmt::format("EPSG:{}", *code)) : std::nullopt;
  if (system) factor = system->unit * 180 / pi;
  if (const auto unit = keys.code(angular_unit)) {
    const auto known = unit_of(*unit);
    if (!known || *unit < 9100)
      throw InputError(name, fmt::format("the unit of its angles (EPSG:{}) is not known here", *unit),
                       "`gdalwarp -t_srs EPSG:4326 IN OUT.tif` brings it into degrees.");
    factor = *known;
  }
  constexpr int greenwich = 8901;
  const auto meridian = keys.code(prime_meridian_code).value_or(greenwich);
  if (keys.number(prime_meridian).value_or(system ? system->meridian : 0) != 0 ||
      (meridian != greenwich && meridian != defined_by_user))
    throw InputError(name, "its longitudes do not count from Greenwich",
                     "`gdalwarp -t_srs EPSG:4326 IN OUT.tif` brings it there.");
  if (std::abs(factor - 1) < 1e-9) factor = 1;
  scale(grid.easting, factor);
  scale(grid.northing, factor);
  const auto out_of = [](const std::vector<double>& a, double most) {
    return a.front() < -most - 1e-6 || a.back() > most + 1e-6;
  };
  if (out_of(grid.easting, 540) || out_of(grid.northing, 90))
    throw InputError(
        name,
        fmt::format("longitudes {} to {} and latitudes {} to {} are not of this Earth", grid.easting.front(),
                    grid.easting.back(), grid.northing.front(), grid.northing.back()),
        "Its keys say degrees; check them with gdalinfo.");
  // EPSG codes of WGS 84 (2D and 3D) and of systems that differ from it by less than two metres.
  constexpr std::array same{4326, 4979, 4258, 4937, 4269, 4283, 4939, 7844, 7843, 4674, 4989, 4167,
                            4959, 4490, 4480, 6318, 6319, 4617, 4148, 4612, 6668, 4737, 9057, 4019};
  if (code && std::find(same.begin(), same.end(), *code) == same.end())
    notes.push_back(
        fmt::format("its longitudes and latitudes (EPSG:{}) are taken for those of WGS84", *code));
}

/// Reads the GeoKeys for heights, which are positive upwards.
void take_heights(const std::string& name, const Keys& keys, GeotiffHeights& heights) {
  if (const auto unit = keys.code(vertical_unit)) {
    const auto metres = unit_of(*unit);
    if (!metres || *unit > 9100)
      throw InputError(name, fmt::format("the unit of its heights (EPSG:{}) is not known here", *unit),
                       "`gdal_calc.py` or `gdalwarp` make metres of them.");
    heights.unit = "m";
    heights.metres = *metres;
  }
  const auto code = keys.code(vertical_system);
  if (!code || *code == defined_by_user) return;
  const auto axes = crs_axes(fmt::format("EPSG:{}", *code));
  if (!axes || axes->kind != CrsAxes::Kind::vertical) return;
  if (!axes->usual)
    throw InputError(name, fmt::format("EPSG:{} says depths, and heights are needed", *code),
                     "`gdal_calc.py -A IN.tif --calc=-A --outfile=OUT.tif` turns the sign.");
  if (heights.unit.empty()) heights.metres = axes->unit;
  heights.unit = "m";
}

}  // namespace

bool begins_tiff(std::string_view head) {
  using namespace std::string_view_literals;
  constexpr std::array starts{"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv};
  return std::any_of(starts.begin(), starts.end(), [&](auto start) { return head.starts_with(start); });
}

GeotiffPlace place_geotiff(const std::string& name, const GeotiffTags& tags, std::size_t columns,
                           std::size_t rows, GridData& grid, std::vector<std::string>& notes) {
  const Keys keys(name, tags);
  auto frame = frame_of(name, tags);
  const auto raster = keys.code(raster_type).value_or(1);
  if (raster != 1 && raster != 2)
    throw InputError(name,
                     fmt::format("its GTRasterType is {}, neither of cells (1) nor of nodes (2)", raster));
  if (raster == 1) frame.x0 += 0.5 * frame.dx, frame.y0 += 0.5 * frame.dy;
  grid.easting = axis_of_nodes(name, frame.x0, frame.dx, columns);
  grid.northing = axis_of_nodes(name, frame.y0, frame.dy, rows);
  GeotiffPlace place;
  place.columns_go_west = frame.dx < 0;
  place.rows_go_north = frame.dy > 0;
  place.heights.scale = frame.scale;
  place.heights.offset = frame.offset;
  const auto model = keys.code(model_type);
  const bool on_map = keys.code(projected_system).has_value(),
             in_degrees = keys.code(geodetic_system).has_value();
  if (model == 1 || (!model && on_map)) place.map_in_metres = place_on_map(name, keys, grid, notes) == 1;
  else if (model == 2 || (!model && in_degrees)) place_in_degrees(name, keys, grid, notes);
  else if (model && *model != defined_by_user)
    throw InputError(
        name, fmt::format("its GTModelType is {}: places that are neither of a map nor angles", *model),
        to_metres);
  else grid.unit_is_assumed = true;
  take_heights(name, keys, place.heights);
  return place;
}

}  // namespace terrane::io
