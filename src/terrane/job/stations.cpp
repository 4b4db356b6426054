#include "terrane/job/stations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "terrane/base/text.hpp"
#include "terrane/io/emg3d.hpp"
#include "terrane/io/notes.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/survey/builders.hpp"

namespace terrane {

namespace {

constexpr std::array<std::string_view, 3> kinds{"grid", "list", "lines"};

constexpr Key survey_keys[] = {
    {"kind", "text", "\"grid\"",
     "grid, list (of stations, from a file or in the job; also the default if one of these is given) or "
     "lines (flights).",
     "\"grid\""},
    {"height", "length", "none", "Height of all stations, up.", "\"100 m\""},
    {"clearance", "length", "none", "Height above survey.elevation, in place of height."},
    {"elevation", "path", "none", "Elevation grid from which the clearance is measured."},
};
constexpr Key grid_keys[] = {
    {"region", "list of 4 lengths", "none", "West, east, south, north; there are stations on the edges, too.",
     "[0, 22, 0, 22, \"km\"]"},
    {"shape", "list of 2 counts", "none", "Stations along easting and northing.", "[150, 100]"},
    {"spacing", "list of 2 lengths", "none", "Distance between stations, in place of shape."},
    {"easting", "list of lengths", "none", "Eastings of the grid, in place of region."},
    {"northing", "list of lengths", "none", "Northings of the grid, in place of region."},
};
constexpr Key list_keys[] = {
    {"file", "path", "none",
     "Stations: CSV with a header, UBC locations or observations, NetCDF, also the receivers of a result or "
     "of a survey of emg3d (.npz, .h5, .json); may be packed. Of magnetotelluric sites also several as one "
     "survey: a list of files, a folder of EDI files, or a pattern (\"sites/*.edi\")."},
    {"format", "text", "none",
     "Format of the file, if neither its name nor its first lines determine it: \"ubc-gravity\"."},
    {"stations", "list of 3 lengths each", "none",
     "Stations in the job in place of a file: [[easting, northing, up], ...]."},
    {"easting_column", "text", "\"easting\"", "Column of the file that holds the easting."},
    {"northing_column", "text", "\"northing\"", "Column that holds the northing."},
    {"up_column", "text", "\"up\"", "Column that holds the height, unless height or clearance is given."},
    {"longitude_column", "text", "\"longitude\"",
     "Column with the longitude in degrees; used when there is no easting, with mesh.projection."},
    {"latitude_column", "text", "\"latitude\"", "Column with the latitude in degrees."},
    {"observed_column", "text", "none", "Column with absolute gravity observed, for gravity disturbances."},
    {"length_unit", "text", "none", "Unit of the coordinates, if the header does not state it."},
    {"observed_unit", "text", "none", "Unit of the observed column, if the header does not state it."},
    {"window", "list of 4 numbers", "none",
     "Keep only stations between: longitudes west, east, latitudes south, north; metres when coordinates are"
     " local."},
    {"every", "count", "1", "Keep only every n-th station, for quick trials."},
    {"geoid", "path", "none", "Grid of geoid heights: turns heights above sea level into ellipsoidal ones."},
};
constexpr Key lines_keys[] = {
    {"start", "list of 2 lengths", "", "Easting and northing of the first station."},
    {"azimuth", "number", "none", "Direction of flight, degrees clockwise from north."},
    {"length", "length", "none", "Length of a line."},
    {"end", "list of 2 lengths", "none", "Last station of the first line, in place of azimuth and length."},
    {"spacing", "length", "", "Distance between stations along a line."},
    {"lines", "count", "1", "Number of lines."},
    {"line_spacing", "length", "0", "Distance between lines; each further one lies to the right."},
    {"there_and_back", "true or false", "false", "Fly every second line the other way."},
};

constexpr std::array sections{
    Section{"survey", "", "Stations at which the fields are computed.", survey_keys},
    Section{"survey", "grid", "Stations on a grid.", grid_keys},
    Section{"survey", "list", "Stations one by one.", list_keys},
    Section{"survey", "lines", "Stations along parallel lines.", lines_keys},
};

constexpr double station_bytes = 3 * 8;

std::optional<double> level(const Config& table) {
  if (table.has("height") && table.has("clearance"))
    throw table.wrong("clearance", "survey.height is given already", "Keep one of the two.");
  if (table.has("elevation") && !table.has("clearance"))
    throw table.wrong("clearance", "missing", "survey.elevation is there to count a clearance from.");
  return table.optional_number("height", Quantity::length);
}

/// The height of stations, or their clearance above the ground in a region that contains them, m.
StationHeight station_height(const Config& table, const std::optional<Projection>& projection,
                             const Region& region, const MemoryBudget& memory) {
  if (const auto height = level(table)) return *height;
  const auto clearance = table.optional_number("clearance", Quantity::length);
  if (!clearance)
    throw table.wrong("height", "missing",
                      "Give survey.height = METRES, or survey.clearance with survey.elevation.");
  if (!table.has("elevation")) throw table.wrong("elevation", "missing");
  // A margin, so that stations at the edge have grid nodes on all sides.
  const double margin = 0.02 * std::max(region.east - region.west, region.north - region.south) + 50e3;
  const Region wider{region.west - margin, region.east + margin, region.south - margin,
                     region.north + margin};
  return Clearance{*clearance, read_elevation(table, "elevation", projection, memory, {}, nullptr,
                                              projection ? &wider : nullptr)};
}

Region bounds(const std::vector<double>& easting, const std::vector<double>& northing) {
  const auto [west, east] = std::minmax_element(easting.begin(), easting.end());
  const auto [south, north] = std::minmax_element(northing.begin(), northing.end());
  return {*west, *east, *south, *north};
}

Survey on_grid(const Config& table, const std::optional<Projection>& projection, const MemoryBudget& memory) {
  std::vector<double> easting, northing;
  if (table.has("easting") || table.has("northing")) {
    for (const auto* key : {"region", "shape", "spacing"})
      if (table.has(key))
        throw table.wrong(key, "easting and northing give the grid already", "Keep one of the two.");
    easting = table.has("easting") ? table.numbers("easting", Quantity::length)
                                   : throw table.wrong("easting", "missing");
    northing = table.has("northing") ? table.numbers("northing", Quantity::length)
                                     : throw table.wrong("northing", "missing");
    for (const auto* key : {"easting", "northing"}) {
      const auto& axis = std::string_view(key) == "easting" ? easting : northing;
      if (axis.empty()) throw table.wrong(key, "there are no stations");
      if (std::adjacent_find(axis.begin(), axis.end(), std::greater_equal<>()) != axis.end())
        throw table.wrong(key, "the values must ascend");
    }
  } else {
    if (!table.has("region")) throw table.wrong("region", "missing");
    const auto region = table.numbers("region", Quantity::length, 4);
    if (!(region[0] <= region[1]) || !(region[2] <= region[3]))
      throw table.wrong("region", "it reads west, east, south, north, ascending");
    if (table.has("shape") == table.has("spacing"))
      throw table.wrong(table.has("shape") ? "spacing" : "shape",
                        table.has("shape") ? "survey.shape is given already" : "missing",
                        "Give one of the two: shape = [150, 100] or spacing = [100, 100].");
    if (table.has("shape")) {
      const auto shape = table.counts("shape", 2);
      memory.require(table.where("shape"), fmt::format("{} × {} stations", shape[0], shape[1]),
                     static_cast<double>(shape[0]) * static_cast<double>(shape[1]) * station_bytes);
      for (std::size_t axis = 0; axis < 2; ++axis)
        if (shape[axis] > 1 && region[2 * axis] == region[2 * axis + 1])
          throw table.wrong("region", fmt::format("{} stations need an extent along {}", shape[axis],
                                                  axis ? "northing" : "easting"));
      easting = even_axis(region[0], region[1], shape[0]);
      northing = even_axis(region[2], region[3], shape[1]);
    } else {
      const auto spacing = table.numbers("spacing", Quantity::length, 2);
      if (!(spacing[0] > 0) || !(spacing[1] > 0)) throw table.wrong("spacing", "it must be above zero");
      const double count =
          ((region[1] - region[0]) / spacing[0] + 1) * ((region[3] - region[2]) / spacing[1] + 1);
      memory.require(table.where("spacing"), fmt::format("{:.3g} stations", count), count * station_bytes);
      easting = spaced_axis(region[0], region[1], spacing[0]);
      northing = spaced_axis(region[2], region[3], spacing[1]);
    }
  }
  memory.require(table.where(), fmt::format("{} × {} stations", easting.size(), northing.size()),
                 static_cast<double>(easting.size()) * static_cast<double>(northing.size()) * station_bytes);
  const auto height = station_height(
      table, projection, {easting.front(), easting.back(), northing.front(), northing.back()}, memory);
  return grid_survey(std::move(easting), std::move(northing), height);
}

Survey along_lines(const Config& table, const std::optional<Projection>& projection,
                   const MemoryBudget& memory) {
  const auto start = table.numbers("start", Quantity::length, 2);
  const double spacing = table.positive("spacing", Quantity::length);
  FlightLines lines;
  if (table.has("end")) {
    for (const auto* key : {"azimuth", "length"})
      if (table.has(key)) throw table.wrong(key, "survey.end is given already", "Keep one of the two.");
    const auto end = table.numbers("end", Quantity::length, 2);
    if (start == end) throw table.wrong("end", "it is where the line starts");
    lines = FlightLines::between(start[0], start[1], end[0], end[1], spacing);
  } else {
    if (!table.has("length") || !table.has("azimuth"))
      throw table.wrong(table.has("length") ? "azimuth" : "length", "missing",
                        "Give survey.end, or survey.azimuth and survey.length.");
    lines.easting = start[0];
    lines.northing = start[1];
    lines.azimuth = table.number("azimuth");
    lines.length = table.positive("length", Quantity::length);
    lines.spacing = spacing;
  }
  lines.lines = table.count("lines", 1, 10'000'000);
  lines.line_spacing = table.number("line_spacing", Quantity::length);
  lines.there_and_back = table.flag("there_and_back");
  if (lines.lines > 1 && !(lines.line_spacing > 0))
    throw table.wrong("line_spacing", fmt::format("{} lines need a distance between them", lines.lines));
  const double count = (lines.length / spacing + 1) * static_cast<double>(lines.lines);
  memory.require(table.where("spacing"), fmt::format("{:.3g} stations", count), count * (station_bytes + 16));
  auto flat = line_survey(lines, 0.0);
  const auto height = station_height(table, projection, bounds(flat.easting, flat.northing), memory);
  return line_survey(lines, height);
}

/// The columns and rows of the survey's grid that remain after a selection; none unless the kept stations are
/// all crossings of these columns and rows.
std::optional<SurveyGrid> cut_grid(const Survey& survey, const std::vector<char>& keep) {
  if (!survey.grid) return {};
  const auto& [easting, northing] = *survey.grid;
  std::vector<char> columns(easting.size(), 0), rows(northing.size(), 0);
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) columns[i % easting.size()] = rows[i / easting.size()] = 1;
  SurveyGrid kept;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i]) kept.easting.push_back(easting[i]);
  for (std::size_t j = 0; j < rows.size(); ++j)
    if (rows[j]) kept.northing.push_back(northing[j]);
  if (kept.easting.size() * kept.northing.size() != survey.size()) return {};
  return kept;
}

/// Keeps the stations of a survey for which keep[i] holds.
void keep_only(Survey& survey, const std::vector<char>& keep) {
  const auto thin = [&](std::vector<double>& values) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < keep.size(); ++i)
      if (keep[i]) values[kept++] = values[i];
    values.resize(kept);
  };
  thin(survey.easting);
  thin(survey.northing);
  thin(survey.up);
  for (auto& column : survey.columns) thin(column.values);
  if (survey.size() < keep.size()) survey.grid = cut_grid(survey, keep);
}

/// The receivers of a result that has traces or fields at receivers; empty if it has none, or if each shot
/// has its own receivers.
io::Table receivers_of(const Dataset& data) {
  io::Table rows;
  for (const auto* name : {"easting", "northing", "up"}) {
    const auto* places = data.find(fmt::format("receiver_{}", name));
    const auto* values = places != nullptr ? std::get_if<std::vector<double>>(&places->values) : nullptr;
    if (values == nullptr) return {};
    const auto shape = data.shape(*places);
    if (shape.empty() || values->size() != shape.back()) return {};
    rows.columns.push_back({name, places->unit.empty() ? "m" : places->unit, "", *values});
  }
  return rows;
}

io::Table rows_of(const Config& table, const MemoryBudget& memory) {
  if (table.has("file") == table.has("stations"))
    throw table.wrong(table.has("file") ? "stations" : "file",
                      table.has("file") ? "survey.file is given already" : "missing",
                      "Give survey.file, or survey.stations = [[easting, northing, up], ...].");
  io::Table rows;
  if (table.has("stations")) {
    const auto stations = table.rows("stations", Quantity::length, 3);
    if (stations.empty()) throw table.wrong("stations", "there are no stations");
    for (const auto* name : {"easting", "northing", "up"}) rows.columns.push_back({name, "m", "", {}});
    for (const auto& station : stations)
      for (std::size_t axis = 0; axis < 3; ++axis) rows.columns[axis].values.push_back(station[axis]);
    rows.source = table.name();
    return rows;
  }
  const auto path = table.is_list("file") ? std::filesystem::path("these files") : table.path("file");
  io::ReadOptions options;
  options.format = table.optional_text("format").value_or("");
  options.memory = memory.bytes;
  // Columns of data are checked later, by expect_values().
  const bool heights = !table.has("height") && !table.has("clearance");
  const auto up = lower(table.text("up_column")),
             observed = table.optional_text("observed_column").value_or("");
  const UsedColumns used = [&](std::string_view name) {
    return (heights && lower(name) == up) || (name == observed && !observed.empty());
  };
  auto content = read_content(table, "file", options, used);
  if (const auto text = io::written_for_none(content); !text.empty()) table.note("file", text);
  if (std::holds_alternative<io::MeshData>(content) && options.format.empty()) {
    const auto file = table.input_file("file").string();
    const auto ending = path.extension();
    // these files may hold a survey in addition to a model
    if (ending == ".npz" || ending == ".json" || io::holds_emg3d(file))
      if (auto survey = io::find_emg3d_survey(file, options.memory)) content = std::move(survey->receivers);
  }
  if (auto* list = std::get_if<io::Table>(&content)) {
    rows = std::move(*list);
  } else if (auto* grid = std::get_if<io::GridData>(&content)) {
    if (io::may_be_degrees(*grid))
      throw table.wrong(
          "file",
          fmt::format("\"{}\" does not say whether its nodes are in metres or in degrees",
                      path.filename().string()),
          "`terrane convert IN OUT.nc --length-unit m` (or degrees) makes a file that says so.");
    rows = io::to_table(*grid);
  } else if (auto* data = std::get_if<Dataset>(&content); data != nullptr && data->find("receiver_easting")) {
    rows = receivers_of(*data);
    if (rows.columns.empty())
      throw table.wrong("file",
                        fmt::format("\"{}\" has other receivers for each shot", path.filename().string()),
                        "Write them as a table: easting, northing, up.");
  } else {
    throw table.wrong("file", fmt::format("\"{}\" holds no stations", path.filename().string()),
                      "`terrane info FILE` tells what a file holds.");
  }
  if (rows.source.empty()) rows.source = path.string();
  if (rows.rows() == 0)
    throw table.wrong("file", fmt::format("\"{}\" has no stations", path.filename().string()));
  return rows;
}

/// Stations as a list gives them: in longitude and latitude if it is geographic, else in metres.
struct Listed {
  Survey survey;
  bool geographic = false;
};

/// Advice for the error when a file of another survey is given as stations: the kind of survey that its
/// columns suggest; empty: the file does list stations.
std::string other_survey(const io::Table& rows) {
  if (rows.find("a_easting") != nullptr && rows.find("m_easting") != nullptr)
    return "It holds arrays of electrodes: write simulation.physics = \"electric\".";
  if (rows.find("frequency") != nullptr &&
      (rows.find("z_ne_real") != nullptr || rows.find("z_en_real") != nullptr))
    return "It holds magnetotelluric sites: write simulation.physics = \"electromagnetic\".";
  return {};
}

/// The name of the first column that has one of these names, ignoring case and a unit at its end ("Elev_m");
/// empty if there is none.
std::string called(const io::Table& rows, std::initializer_list<std::string_view> names) {
  for (const auto wanted : names)
    for (const auto& column : rows.columns)
      if (const auto name = lower(column.name); name.substr(0, name.find_first_of(" _([")) == wanted)
        return column.name;
  return {};
}

/// Suggests the keys of the job that name the columns of coordinates; empty if no column looks like a
/// coordinate.
std::string keys_for_columns(const Config& table, const io::Table& rows) {
  const auto east = called(rows, {"easting", "east", "x", "e", "utme", "xcoord"}),
             north = called(rows, {"northing", "north", "y", "n", "utmn", "ycoord"}),
             up = called(rows, {"up", "elevation", "elev", "altitude", "alt", "height"}),
             lon = called(rows, {"longitude", "long", "lon"}), lat = called(rows, {"latitude", "lat"});
  const bool metres = !east.empty() && !north.empty();
  if (!metres && (lon.empty() || lat.empty())) return {};
  auto keys = metres ? fmt::format("easting_column = \"{}\", northing_column = \"{}\"", east, north)
                     : fmt::format("longitude_column = \"{}\", latitude_column = \"{}\"", lon, lat);
  bool unit = metres && rows.find(east)->unit.empty();
  if (!table.has("height") && !table.has("clearance")) {
    keys += up.empty() ? ", height = METRES" : fmt::format(", up_column = \"{}\"", up);
    unit = unit || (!up.empty() && rows.find(up)->unit.empty());
  }
  return "Write into [survey] " + keys + (unit ? ", length_unit = \"m\"" : "") + ".";
}

/// Throws InputError if the table lacks the column `name` of a coordinate, given by `key`.
void expect_column(const Config& table, const io::Table& rows, const char* key, const std::string& name) {
  if (rows.find(name) != nullptr) return;
  std::string columns;
  for (const auto& column : rows.columns) columns += (columns.empty() ? "" : ", ") + column.name;
  const auto note = rows.attributes.find("note");
  const bool placeless =
      note != rows.attributes.end() && note->second.find("there is no place") != std::string::npos;
  if (const auto next = other_survey(rows); !next.empty() && !placeless)
    throw table.wrong("file", fmt::format("\"{}\" holds no stations", rows.source), next);
  const auto keys = table.has(key) ? std::string() : keys_for_columns(table, rows);
  throw table.wrong(
      table.has(key) ? key : "file", fmt::format("\"{}\" has no column \"{}\"", rows.source, name),
      placeless       ? "The file gives no place of its site: write LAT and LONG into its >HEAD."
      : !keys.empty() ? fmt::format("{} Its columns: {}.", keys, columns)
                      : fmt::format("Name it with survey.{}, or longitude_column and latitude_column. Its "
                                    "columns: {}.",
                                    key, columns.empty() ? "none" : columns));
}

/// Throws InputError if a column used as heights contains depths, positive downward.
void expect_upward(const Config& table, const std::string& name, const std::vector<double>& up) {
  if (lower(name).starts_with("depth") && std::any_of(up.begin(), up.end(), [](double z) { return z > 0; }))
    throw table.wrong(table.has("up_column") ? "up_column" : "file",
                      fmt::format("\"{}\" would count upward: its depths would be heights", name),
                      "Make a column of heights: minus the depth.");
}

/// The grid whose nodes are the stations, in the order of its nodes; nothing unless the attributes of their
/// table declare a grid.
std::optional<SurveyGrid> grid_of(const io::Table& rows, const Survey& survey) {
  const auto said = rows.attributes.find("grid");
  std::size_t columns = 0;
  if (said == rows.attributes.end() ||
      std::from_chars(said->second.data(), said->second.data() + said->second.size(), columns).ec !=
          std::errc() ||
      columns == 0 || survey.size() % columns != 0)
    return {};
  SurveyGrid grid;
  grid.easting.assign(survey.easting.begin(), survey.easting.begin() + static_cast<std::ptrdiff_t>(columns));
  for (std::size_t i = 0; i < survey.size(); i += columns) grid.northing.push_back(survey.northing[i]);
  for (std::size_t i = 0; i < survey.size(); ++i)
    if (survey.easting[i] != grid.easting[i % columns] || survey.northing[i] != grid.northing[i / columns])
      return {};
  for (const auto* axis : {&grid.easting, &grid.northing})
    if (std::adjacent_find(axis->begin(), axis->end(), std::greater_equal<>()) != axis->end()) return {};
  return grid;
}

/// Adds the column of observed data, and all columns that are not used as coordinates.
void add_columns(const Config& table, const io::Table& rows, std::vector<std::string> used, Survey& survey) {
  if (const auto observed = table.optional_text("observed_column")) {
    survey.columns.push_back(
        {"observed", "m/s2", "observed gravity",
         rows.si(*observed, Quantity::acceleration, table.optional_text("observed_unit").value_or(""))});
    used.push_back(*observed);
  }
  for (const auto& column : rows.columns) {
    if (std::find(used.begin(), used.end(), column.name) != used.end()) continue;
    // The name "observed" is reserved for the column named by survey.observed_column.
    survey.columns.push_back(column);
    if (column.name == "observed") survey.columns.back().name = "observed_survey";
  }
}

/// Stations from the columns that the keys name; all other columns are kept unchanged.
Listed listed_in(const Config& table, const io::Table& rows) {
  Listed found;
  const auto length_unit = table.optional_text("length_unit").value_or("");
  const auto name_of = [&](std::string_view key) {
    auto name = table.text(key);
    if (table.has(key) || rows.find(name) != nullptr) return name;
    for (const auto& column : rows.columns)
      if (lower(column.name) == name) return column.name;  // "Easting"
    return name;
  };
  const auto easting_name = name_of("easting_column"), northing_name = name_of("northing_column"),
             up_name = name_of("up_column"), longitude_name = name_of("longitude_column"),
             latitude_name = name_of("latitude_column");
  const bool chosen = table.has("longitude_column") || table.has("latitude_column");
  const bool geographic = found.geographic =
      chosen || (!rows.find(easting_name) && rows.find(longitude_name) && rows.find(latitude_name));

  Survey& survey = found.survey;
  std::vector<std::string> used;
  expect_column(table, rows, geographic ? "longitude_column" : "easting_column",
                geographic ? longitude_name : easting_name);
  expect_column(table, rows, geographic ? "latitude_column" : "northing_column",
                geographic ? latitude_name : northing_name);
  if (geographic) {
    survey.easting = rows.si(longitude_name, Quantity::angle, "degree");
    survey.northing = rows.si(latitude_name, Quantity::angle, "degree");
    used = {longitude_name, latitude_name};
  } else {
    survey.easting = rows.si(easting_name, Quantity::length, length_unit);
    survey.northing = rows.si(northing_name, Quantity::length, length_unit);
    used = {easting_name, northing_name};
  }
  const auto constant = level(table);
  if (!constant && !table.has("clearance")) {
    if (!rows.find(up_name))
      throw table.wrong(table.has("up_column") ? "up_column" : "file",
                        fmt::format("\"{}\" has no column \"{}\"", rows.source, up_name),
                        "Name the column with survey.up_column, or give survey.height = METRES.");
    survey.up = rows.si(up_name, Quantity::length, length_unit);
    expect_upward(table, up_name, survey.up);
    used.push_back(up_name);
  } else {
    survey.up.assign(survey.easting.size(), constant.value_or(0.0));
  }
  add_columns(table, rows, std::move(used), survey);
  if (const auto frame = rows.attributes.find("frame"); frame != rows.attributes.end())
    survey.frame = frame->second;
  if (!geographic) survey.grid = grid_of(rows, survey);
  return found;
}

/// Applies survey.window and survey.every. Notes how many stations are left.
void keep_asked_for(const Config& table, Survey& survey, std::vector<std::string>& notes) {
  const std::size_t given = survey.size();
  std::vector<char> keep(given, 1);
  if (table.has("window")) {
    const auto window = table.numbers("window", Quantity::dimensionless, 4);
    if (!(window[0] < window[1]) || !(window[2] < window[3]))
      throw table.wrong("window", "it reads west, east, south, north, ascending");
    for (std::size_t i = 0; i < given; ++i)
      keep[i] = survey.easting[i] >= window[0] && survey.easting[i] <= window[1] &&
                survey.northing[i] >= window[2] && survey.northing[i] <= window[3];
  }
  const auto every = table.count("every", 1);
  if (every > 1)
    for (std::size_t i = 0, inside = 0; i < given; ++i)
      if (keep[i] && inside++ % every != 0) keep[i] = 0;
  keep_only(survey, keep);
  if (survey.size() == 0) throw table.wrong("window", fmt::format("none of {} stations lies inside", given));
  if (survey.size() < given)
    notes.push_back(fmt::format("survey: {} of {} stations kept", survey.size(), given));
}

/// Adds the column ellipsoidal_height where survey.geoid is given.
void add_ellipsoidal_height(const Config& table, Survey& survey, const MemoryBudget& memory) {
  const auto geoid = table.optional_input_file("geoid");
  if (!geoid) return;
  const auto *longitude = survey.find("longitude"), *latitude = survey.find("latitude");
  if (!longitude || !latitude)
    throw table.wrong("geoid", "geoid heights need longitudes and latitudes of the stations");
  io::ReadOptions options;
  options.memory = memory.bytes;
  auto content = io::read(geoid->string(), options);
  refuse_written_for_none(table, "geoid", content);
  tell_notes(table, "geoid", content);
  const auto* grid = std::get_if<io::GridData>(&content);
  if (!grid)
    throw table.wrong("geoid", fmt::format("\"{}\" is not a grid", geoid->filename().string()),
                      "`terrane info FILE` tells what a file holds.");
  auto height = ellipsoidal_height(longitude->values, latitude->values, survey.up, grid->grid());
  survey.columns.push_back({"ellipsoidal_height", "m", "height above the ellipsoid", std::move(height)});
}

/// The map projection of a job whose stations are in metres. mesh: the table [mesh]. Throws InputError at its
/// key.
Projection projection_of(const Config& mesh, const std::string& definition) {
  if (definition == "utm")
    throw mesh.wrong("projection", "\"utm\" needs stations in longitude and latitude",
                     "Name the zone, for example \"EPSG:32735\".");
  try {
    return Projection(definition);
  } catch (const InputError& error) {
    throw mesh.wrong("projection", error.problem(), error.next());
  }
}

/// Whether the numbers in a column of this name identify stations.
bool names_stations(std::string_view name) {
  constexpr std::string_view names[] = {"id", "name", "site", "station", "label"};
  return std::find(std::begin(names), std::end(names), lower(name)) != std::end(names);
}
io::TextColumn in_words(const Column& column) {
  io::TextColumn words{column.name, {}, 0};
  for (const double value : column.values)
    words.values.push_back(std::isnan(value) ? "" : fmt::format("{}", value));
  return words;
}

/// Reads the columns, selects the stations asked for, projects them, and raises them by their clearance above
/// the ground.
Stations from_list(const Config& table, const Config& table_of_mesh,
                   const std::optional<std::string>& definition, const MemoryBudget& memory) {
  Stations made;
  const auto rows = rows_of(table, memory);
  const io::TextColumn* sites = nullptr;
  for (const auto& column : rows.texts)
    if (column.name == "site" && rows.find("frequency") != nullptr) sites = &column;
    else made.words.push_back(column);
  for (const auto& column : rows.columns)
    if (names_stations(column.name)) made.words.push_back(in_words(column));
  if (const auto note = rows.attributes.find("note"); note != rows.attributes.end())
    made.notes.push_back(
        fmt::format("{}: {}", std::filesystem::path(rows.source).filename().string(), note->second));
  auto [survey, geographic] = listed_in(table, rows);
  // tells later which rows of the file were kept
  Column numbers{"row", "1", "", std::vector<double>(survey.size())};
  std::iota(numbers.values.begin(), numbers.values.end(), 0.0);
  survey.columns.push_back(std::move(numbers));
  keep_asked_for(table, survey, made.notes);
  const auto of_kept = [&survey = survey](const std::vector<std::string>& all) {
    std::vector<std::string> kept;
    for (const double row : survey.columns.back().values) kept.push_back(all[static_cast<std::size_t>(row)]);
    return kept;
  };
  if (sites != nullptr) made.sites = of_kept(sites->values);
  for (auto& column : made.words) column.values = of_kept(column.values);
  survey.columns.pop_back();
  if (geographic) {
    if (!definition)
      throw table.wrong("file", fmt::format("\"{}\" gives longitudes and latitudes", rows.source),
                        fmt::format("Set mesh.projection, for example \"utm\" or \"EPSG:32735\".{}{}",
                                    other_survey(rows).empty() ? "" : " ", other_survey(rows)));
    try {
      made.projection = Projection::for_points(*definition, survey.easting, survey.northing);
    } catch (const InputError& error) {
      throw table_of_mesh.wrong("projection", error.problem(), error.next());
    }
    project(survey, *made.projection);
  } else if (definition) {
    made.projection = projection_of(table_of_mesh, *definition);
    survey.projection = made.projection->definition();
  }
  add_ellipsoidal_height(table, survey, memory);
  if (table.has("clearance")) {
    const auto height =
        station_height(table, made.projection, bounds(survey.easting, survey.northing), memory);
    auto lifted = list_survey(survey.easting, survey.northing, height, survey.columns);
    lifted.projection = survey.projection;
    lifted.frame = survey.frame;
    lifted.grid = std::move(survey.grid);
    survey = std::move(lifted);
  }
  made.survey = std::move(survey);
  return made;
}

}  // namespace

std::span<const Section> survey_sections() { return sections; }

Stations build_survey(const Config& job, const MemoryBudget& memory) {
  const auto raw = job.table("survey");
  if (raw.keys().empty())
    throw InputError(raw.where(), "missing",
                     "A job needs a table [survey]; `terrane new gravity` shows one.");
  const std::string kind = raw.has("kind")                          ? raw.choice("kind", kinds)
                           : raw.has("file") || raw.has("stations") ? "list"
                                                                    : "grid";
  const auto definition = projection_definition(job);
  Stations made;
  if (kind == "list") {
    const auto table = raw.describe({survey_keys, list_keys});
    made = from_list(table, job.table("mesh"), definition, memory);
    try {
      check(made.survey);
    } catch (const Error& error) {
      throw InputError(table.where(table.has("file") ? "file" : "stations"), error.problem(), error.next());
    }
    return made;
  }
  if (definition) {
    made.projection = projection_of(job.table("mesh"), *definition);
  }
  made.survey = kind == "grid"
                    ? on_grid(raw.describe({survey_keys, grid_keys}), made.projection, memory)
                    : along_lines(raw.describe({survey_keys, lines_keys}), made.projection, memory);
  if (made.projection) made.survey.projection = made.projection->definition();
  return made;
}

void expect_values(const Config& job, const Survey& survey, const std::vector<ObservedColumn>& observed) {
  for (const auto& one : observed)
    for (const auto& name : one.sources)
      if (const auto* column = survey.find(name))
        refuse_written_for_none(job.table("survey"), "file", *column);
}

}  // namespace terrane
