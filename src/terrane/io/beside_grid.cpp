#include "terrane/io/beside_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/axes.hpp"
#include "terrane/io/file.hpp"
#include "terrane/survey/crs.hpp"

namespace terrane::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* by_gdalwarp = "`gdalwarp -t_srs EPSG:CODE IN OUT.tif` brings the grid into metres.";

void add_note(GridData& grid, const std::string& text) {
  auto& note = grid.attributes["note"];
  note += (note.empty() ? "" : "; ") + text;
}

void multiply(std::vector<double>& values, double factor) {
  if (factor != 1)
    for (double& value : values) value *= factor;
}

/// Sets the unit of heights, m, of fields that have none.
void take_height_unit(GridData& grid, double metres) {
  for (auto& field : grid.fields) {
    if (!field.unit.empty()) continue;
    multiply(field.values, metres);
    field.unit = "m";
  }
}

/// The numbers in the brackets of a WKT keyword, such as UNIT, behind `from`: those that are not in quotes.
std::vector<double> numbers_behind(std::string_view wkt, std::string_view keyword, std::size_t from = 0) {
  std::vector<double> numbers;
  const auto at = wkt.find(keyword, from);
  if (at == wkt.npos) return numbers;
  const auto end = std::min(wkt.find(']', at), wkt.size());
  auto inside = wkt.substr(at + keyword.size(), end - at - keyword.size());
  while (!inside.empty()) {
    const auto comma = std::min(inside.find(','), inside.size());
    double value = 0;
    if (parse_number(inside.substr(0, comma), value)) numbers.push_back(value);
    inside.remove_prefix(std::min(comma + 1, inside.size()));
  }
  return numbers;
}

/// The first text in quotes behind a WKT keyword.
std::string name_behind(std::string_view wkt, std::string_view keyword) {
  const auto at = wkt.find(keyword);
  const auto open = at == wkt.npos ? at : wkt.find('"', at);
  if (open == wkt.npos) return {};
  return std::string(wkt.substr(open + 1, std::min(wkt.find('"', open + 1), wkt.size()) - open - 1));
}

void take_vertical_system(std::string_view wkt, GridData& grid) {
  const auto at = std::min(wkt.find("VERTCS["), wkt.find("VERT_CS["));
  if (at == wkt.npos) return;
  if (const auto unit = numbers_behind(wkt, "UNIT[", at); !unit.empty() && unit.front() > 0)
    take_height_unit(grid, unit.front());
  if (const auto direction = numbers_behind(wkt, "PARAMETER[\"Direction\"", at);
      !direction.empty() && direction.front() < 0)
    for (const auto& field : grid.fields) grid.downward.push_back(field.name);
}

/// radians: unit of the angles; meridian: prime meridian of the longitudes, degrees east of Greenwich
void take_degrees(const std::string& name, std::string_view wkt, double radians, double meridian,
                  GridData& grid) {
  if (meridian != 0)
    throw InputError(name, "longitudes do not count from Greenwich",
                     "`gdalwarp -t_srs EPSG:4326 IN OUT.tif` brings the grid there.");
  grid.geographic = true;
  const double degrees = radians * 180 / pi;
  for (auto* axis : {&grid.easting, &grid.northing})
    if (std::abs(degrees - 1) > 1e-9) multiply(*axis, degrees);
  const auto system = name_behind(wkt, "GEOG");
  const auto word = lower(system);
  constexpr std::array<std::string_view, 5> alike{"wgs", "etrs", "1983", "nad83", "gda"};
  if (std::none_of(alike.begin(), alike.end(), [&](auto one) { return word.find(one) != std::string::npos; }))
    add_note(grid,
             fmt::format("its longitudes and latitudes ({}) are taken for those of WGS84", shown(system)));
}

void take_wkt(const std::string& name, std::string_view wkt, GridData& grid) {
  // Names without brackets are looked up by PROJ in all of its database, which takes long.
  const auto axes = wkt.find('[') == wkt.npos ? std::optional<CrsAxes>() : crs_axes(std::string(wkt));
  if (!axes || (axes->kind != CrsAxes::Kind::projected && axes->kind != CrsAxes::Kind::geographic))
    return add_note(grid, fmt::format("{} beside it is not understood: \"{}\"",
                                      fs::path(name).filename().string(), shown(wkt)));
  if (!axes->usual) throw InputError(name, "the axes of its map run to the west or south", by_gdalwarp);
  if (axes->kind == CrsAxes::Kind::geographic) {
    take_degrees(name, wkt, axes->unit, axes->meridian, grid);
  } else {
    multiply(grid.easting, axes->unit);
    multiply(grid.northing, axes->unit);
    grid.projection = crs_in_metres(std::string(wkt));
  }
  grid.unit_is_assumed = false;
  take_vertical_system(wkt, grid);
}

/// The keywords of a .prj of Arc/Info in capital letters, each with the text behind it, up to "Parameters".
std::map<std::string, std::string> words_of_arc(std::string_view text) {
  const auto word_at = [](std::string_view& rest) {
    const auto begin = std::min(rest.find_first_not_of(" \t\r"), rest.size());
    const auto end = std::min(rest.find_first_of(" \t\r", begin), rest.size());
    const auto word = rest.substr(begin, end - begin);
    rest.remove_prefix(end);
    return word;
  };
  std::map<std::string, std::string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto key = lower(word_at(line)), value = lower(word_at(line));
    if (key == "parameters") break;
    if (!key.empty()) words.emplace(key, value);
  }
  return words;
}

/// The unit of Arc/Info as a length in metres: METERS, FEET (international), or a number of units to a metre.
std::optional<double> metres_of_arc(const std::string& unit) {
  double each = 0;
  if (unit == "meters" || unit == "metres") return 1;
  if (unit == "feet") return 0.3048;
  if (parse_number(unit, each) && each > 0 && std::isfinite(each)) return 1 / each;
  return {};
}

void take_arc_axes(const std::string& name, std::map<std::string, std::string>& said, GridData& grid) {
  const auto unit = said["units"];
  if (said["projection"] == "geographic") {
    if (!unit.empty() && unit != "dd" && unit != "ds")
      throw InputError(name, fmt::format("its places are in \"{}\"", shown(unit)),
                       "Allowed: DD (degrees), DS (seconds of arc).");
    take_degrees(name, "GEOGCS[\"" + said["datum"] + "\"", pi / 180 / (unit == "ds" ? 3600 : 1), 0, grid);
  } else {
    const auto metres = metres_of_arc(unit);
    if (!metres)
      throw InputError(name, fmt::format("the unit of its map is \"{}\"", shown(unit)),
                       "Allowed: METERS, FEET, or the number of units in a metre.");
    multiply(grid.easting, *metres);
    multiply(grid.northing, *metres);
    add_note(grid,
             fmt::format("its map ({} {}) has no code in {}: coordinates are taken as they are",
                         shown(said["projection"]), shown(said["zone"]), fs::path(name).filename().string()));
  }
  grid.unit_is_assumed = false;
}

void take_arc(const std::string& name, std::map<std::string, std::string> said, GridData& grid) {
  for (const auto* key : {"xshift", "yshift"})
    if (double shift = 0; parse_number(said[key], shift) && shift != 0)
      throw InputError(name, fmt::format("{} is {}: places were moved by it", key, said[key]),
                       "Project the grid without a shift.");
  take_arc_axes(name, said, grid);
  if (const auto heights = said["zunits"]; !heights.empty() && heights != "no") {
    if (const auto metres = metres_of_arc(heights)) take_height_unit(grid, *metres);
    else add_note(grid, fmt::format("the unit of its heights, \"{}\", is not known", shown(heights)));
  }
}

std::string bare_text(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

/// The text between <tag …> and </tag>; empty if there is none.
std::string element_of(std::string_view xml, std::string_view tag) {
  const auto at = std::min(xml.find(fmt::format("<{}>", tag)), xml.find(fmt::format("<{} ", tag)));
  const auto open = at == xml.npos ? at : xml.find('>', at);
  const auto close = open == xml.npos ? open : xml.find(fmt::format("</{}>", tag), open);
  if (close == xml.npos) return {};
  std::string text(xml.substr(open + 1, close - open - 1));
  for (const auto& [word, letter] : {std::pair{"&quot;", '"'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}})
    for (auto n = text.find(word); n != text.npos; n = text.find(word, n + 1))
      text.replace(n, std::string_view(word).size(), 1, letter);
  return text;
}

/// What an .aux.xml says of the values of a band: value = offset + scale · stored value, and stored values
/// that are gaps.
struct BandBeside {
  std::optional<double> gap;
  double scale = 1, offset = 0;
  std::string unit;

  bool changes_values() const { return gap || scale != 1 || offset != 0; }
};

BandBeside band_beside(const std::string& name, std::string_view band) {
  const auto number = [&](const char* tag, double otherwise) {
    const auto text = element_of(band, tag);
    double value = otherwise;
    if (!text.empty() && !parse_number(bare_text(text), value))
      throw InputError(name, fmt::format("{} is \"{}\", which is no number", tag, shown(text)));
    return value;
  };
  BandBeside of;
  // NaN is a gap in every grid.
  if (const double gap = number("NoDataValue", std::nan("")); !std::isnan(gap)) of.gap = gap;
  of.scale = number("Scale", 1);
  of.offset = number("Offset", 0);
  of.unit = bare_text(element_of(band, "UnitType"));
  return of;
}

/// The metres of a unit of length of GDAL that Terrane has no name for, or another spelling of metres.
std::optional<double> metres_of_gdal(const std::string& unit) {
  const auto word = lower(unit);
  constexpr double us_foot = 1200.0 / 3937.0;
  if (word == "us survey foot" || word == "us_survey_foot" || word == "ftus" || word == "us-ft")
    return us_foot;
  if (word == "foot" || word == "feet" || word == "ft") return 0.3048;
  if (word == "metre" || word == "meter" || word == "metres" || word == "meters" || word == "m") return 1;
  return {};
}

void take_band(const std::string& file, const BandBeside& band, Column& field, GridData& grid) {
  if (band.gap) make_gaps(field.values, *band.gap);
  for (double& value : field.values) value = band.offset + band.scale * value;
  if (band.scale != 1 || band.offset != 0)
    add_note(grid, fmt::format("values are {:g} times those stored{}, by {}", band.scale,
                               band.offset == 0 ? "" : fmt::format(", and {:g} more", band.offset), file));
  if (band.unit.empty() || !field.unit.empty()) return;
  const auto metres = metres_of_gdal(band.unit);
  if (metres) multiply(field.values, *metres);
  field.unit = metres ? "m" : band.unit;
}

/// Applies what an .aux.xml says of values. stored: whether values are as the file has them, without a scale
/// of its own.
void take_bands(const std::string& name, const std::string& xml, bool stored, GridData& grid) {
  const auto file = fs::path(name).filename().string();
  constexpr std::string_view tag = "<PAMRasterBand";
  for (auto at = xml.find(tag); at != xml.npos; at = xml.find(tag, at + 1)) {
    const auto end = std::min(xml.find("</PAMRasterBand>", at), xml.size());
    const auto text = std::string_view(xml).substr(at, end - at);
    const auto quote = text.find("band=\"");
    std::int64_t number = 1;
    if (quote != text.npos)
      parse_integer(text.substr(quote + 6, std::min(text.find('"', quote + 6), text.size()) - quote - 6),
                    number);
    const auto band = band_beside(name, text);
    if (!stored && band.changes_values())
      throw InputError(
          name,
          fmt::format("gives band {} a NoDataValue, Scale or Offset in place of the grid's own", number),
          "`gdal_translate IN OUT.tif` writes them into one file; or remove this one.");
    if (stored && number >= 1 && static_cast<std::size_t>(number) <= grid.fields.size())
      take_band(file, band, grid.fields[static_cast<std::size_t>(number) - 1], grid);
  }
}

void take_aux_xml(const std::string& name, const std::string& xml, GridData& grid) {
  if (xml.find("<GeoTransform>") != xml.npos)
    add_note(grid,
             fmt::format("GeoTransform of {} beside it is not read", fs::path(name).filename().string()));
  if (const auto wkt = element_of(xml, "SRS"); !wkt.empty() && grid.unit_is_assumed)
    place_by_prj(name, wkt, grid);
}

constexpr std::size_t most_bytes_beside = 1 << 20;

}  // namespace

void place_by_prj(const std::string& name, std::string_view text, GridData& grid) {
  while (!text.empty() && std::string_view(" \t\r\n\0", 5).find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.empty()) return;
  auto said = words_of_arc(text);
  if (said.contains("projection")) take_arc(name, std::move(said), grid);
  else take_wkt(name, text, grid);
}

void place_by_files_beside(const std::string& path, bool stored, GridData& grid) {
  fs::path of_grid(path);
  const auto packed = lower(of_grid.extension().string());
  if (packed == ".gz" || packed == ".xz") of_grid.replace_extension();
  const auto is_file = [](const fs::path& file) {
    std::error_code error;
    return fs::is_regular_file(file, error);
  };
  const auto aux = of_grid.string() + ".aux.xml";
  const auto xml = is_file(aux) ? read_bytes(aux, most_bytes_beside) : std::string();
  take_bands(aux, xml, stored, grid);
  for (const auto* extension : {".prj", ".PRJ"})
    if (auto file = fs::path(of_grid).replace_extension(extension); grid.unit_is_assumed && is_file(file))
      place_by_prj(file.string(), read_bytes(file.string(), most_bytes_beside), grid);
  take_aux_xml(aux, xml, grid);
}

}  // namespace terrane::io
