#include "terrane/survey/builders.hpp"

#include <fmt/format.h>

#include <cmath>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"

namespace terrane {

namespace {

constexpr double most_stations = 1e9;

void require_finite(double value, const char* what) {
  if (!std::isfinite(value))
    throw InputError("survey", fmt::format("{} is {}", what, value), "Give a finite number.");
}

void require_axis(const std::vector<double>& axis, const char* name) {
  if (axis.empty())
    throw InputError("survey", fmt::format("the {} axis is empty", name),
                     "A survey needs at least one station.");
  for (std::size_t i = 0; i < axis.size(); ++i) {
    require_finite(axis[i], name);
    if (i > 0 && !(axis[i] > axis[i - 1]))
      throw InputError(
          "survey", fmt::format("{} {} (value {}) does not lie beyond {}", name, axis[i], i + 1, axis[i - 1]),
          "The axes of a grid ascend strictly.");
  }
}

std::vector<double> heights(const std::vector<double>& easting, const std::vector<double>& northing,
                            const StationHeight& height) {
  if (const auto* level = std::get_if<double>(&height)) {
    require_finite(*level, "the height");
    return std::vector<double>(easting.size(), *level);
  }
  const auto& clearance = std::get<Clearance>(height);
  require_finite(clearance.height, "the clearance");
  check(clearance.elevation, "survey: elevation");
  std::vector<double> up(easting.size());
  std::size_t missing = 0, first = 0;
  for (std::size_t n = 0; n < up.size(); ++n) {
    up[n] = clearance.elevation.interpolate(easting[n], northing[n]) + clearance.height;
    if (std::isnan(up[n]) && missing++ == 0) first = n;
  }
  if (missing > 0) {
    const auto& grid = clearance.elevation;
    throw InputError(
        "survey: elevation",
        fmt::format(
            "{} of {} stations lie outside the elevation grid or in a gap of it (first: station {} at "
            "easting {}, northing {}; the grid reaches from {} to {} east, from {} to {} north)",
            missing, up.size(), first + 1, easting[first], northing[first], grid.easting.front(),
            grid.easting.back(), grid.northing.front(), grid.northing.back()),
        "Give a grid that reaches under every station, or move the survey inside it.");
  }
  return up;
}

struct SineCosine {
  double sine, cosine;
};

/// Sine and cosine of an azimuth; exact for lines to the north, east, south or west.
SineCosine direction(double azimuth) {
  const double quarter = std::remainder(azimuth, 360) / 90;
  if (quarter == std::nearbyint(quarter)) {
    const int q = (static_cast<int>(quarter) + 4) % 4;
    return {q == 1 ? 1.0 : q == 3 ? -1.0 : 0.0, q == 0 ? 1.0 : q == 2 ? -1.0 : 0.0};
  }
  return {std::sin(azimuth * (pi / 180)), std::cos(azimuth * (pi / 180))};
}

}  // namespace

std::vector<double> even_axis(double from, double to, std::size_t count) {
  require_finite(from, "the start of an axis");
  require_finite(to, "the end of an axis");
  if (count == 0) throw InputError("survey", "an axis of zero stations", "Give a count of at least one.");
  if (to < from || (count > 1 && to == from))
    throw InputError("survey", fmt::format("{} stations from {} m to {} m", count, from, to),
                     "An axis ascends: give the smaller number first.");
  if (static_cast<double>(count) > most_stations)
    throw InputError("survey", fmt::format("an axis of {} stations", count), "At most 1e9 fit.");
  if (count == 1) return {from + 0.5 * (to - from)};
  // Like numpy.linspace, so that stations made in Python have bitwise the same coordinates: product and sum
  // are rounded separately. Two loops keep compilers from contracting them to one multiply-add.
  std::vector<double> axis(count);
  const double spacing = (to - from) / static_cast<double>(count - 1);
  for (std::size_t i = 0; i < count; ++i) axis[i] = static_cast<double>(i) * spacing;
  for (double& place : axis) place += from;
  axis.back() = to;
  return axis;
}

std::vector<double> spaced_axis(double from, double to, double spacing) {
  require_finite(from, "the start of an axis");
  require_finite(to, "the end of an axis");
  require_finite(spacing, "the spacing");
  if (!(spacing > 0))
    throw InputError("survey", fmt::format("a spacing of {} m", spacing), "It must be greater than zero.");
  if (to < from)
    throw InputError("survey", fmt::format("an axis from {} m to {} m", from, to),
                     "An axis ascends: give the smaller number first.");
  const double count = std::floor((to - from) / spacing + 1e-9) + 1;
  if (!(count <= most_stations))
    throw InputError("survey",
                     fmt::format("a spacing of {} m makes {:.3g} stations along an axis", spacing, count),
                     "At most 1e9 fit: choose a wider spacing.");
  std::vector<double> axis(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < axis.size(); ++i) axis[i] = from + static_cast<double>(i) * spacing;
  return axis;
}

Survey grid_survey(std::vector<double> easting, std::vector<double> northing, const StationHeight& height) {
  require_axis(easting, "easting");
  require_axis(northing, "northing");
  if (static_cast<double>(easting.size()) * static_cast<double>(northing.size()) > most_stations)
    throw InputError("survey", fmt::format("a grid of {} × {} stations", easting.size(), northing.size()),
                     "At most 1e9 fit.");
  Survey survey;
  survey.easting.reserve(easting.size() * northing.size());
  survey.northing.reserve(easting.size() * northing.size());
  for (double y : northing)
    for (double x : easting) {
      survey.easting.push_back(x);
      survey.northing.push_back(y);
    }
  survey.up = heights(survey.easting, survey.northing, height);
  survey.grid = SurveyGrid{std::move(easting), std::move(northing)};
  check(survey);
  return survey;
}

Survey list_survey(std::vector<double> easting, std::vector<double> northing, std::vector<double> up,
                   std::vector<Column> columns) {
  Survey survey;
  survey.easting = std::move(easting);
  survey.northing = std::move(northing);
  survey.up = std::move(up);
  survey.columns = std::move(columns);
  check(survey);
  return survey;
}

Survey list_survey(std::vector<double> easting, std::vector<double> northing, const StationHeight& height,
                   std::vector<Column> columns) {
  // Checks the coordinates first, so that a NaN is not reported as a station outside the elevation grid.
  std::vector<double> up(easting.size());
  auto survey = list_survey(std::move(easting), std::move(northing), std::move(up), std::move(columns));
  survey.up = heights(survey.easting, survey.northing, height);
  return survey;
}

FlightLines FlightLines::between(double easting_start, double northing_start, double easting_end,
                                 double northing_end, double spacing) {
  FlightLines line;
  line.easting = easting_start;
  line.northing = northing_start;
  const double east = easting_end - easting_start, north = northing_end - northing_start;
  line.azimuth = std::atan2(east, north) * (180 / pi);
  line.length = std::hypot(east, north);
  line.spacing = spacing;
  return line;
}

Survey line_survey(const FlightLines& lines, const StationHeight& height) {
  require_finite(lines.easting, "the start's easting");
  require_finite(lines.northing, "the start's northing");
  require_finite(lines.azimuth, "the azimuth");
  require_finite(lines.line_spacing, "the line spacing");
  if (!(lines.length > 0) || std::isinf(lines.length))
    throw InputError("survey: lines", fmt::format("a line of length {} m", lines.length),
                     "It must be greater than zero.");
  if (lines.lines == 0) throw InputError("survey: lines", "zero lines", "Give at least one.");
  if (lines.lines > 1 && !(lines.line_spacing > 0))
    throw InputError("survey: lines",
                     fmt::format("{} lines with a line spacing of {} m", lines.lines, lines.line_spacing),
                     "It must be greater than zero.");
  const auto along = spaced_axis(0, lines.length, lines.spacing);
  const double count = static_cast<double>(along.size()) * static_cast<double>(lines.lines);
  if (!(count <= most_stations))
    throw InputError("survey: lines", fmt::format("{} lines of {} stations each", lines.lines, along.size()),
                     "At most 1e9 stations fit.");
  const auto [sine, cosine] = direction(lines.azimuth);
  Survey survey;
  Column line{"line", "1", "flight line, counted from 1", {}};
  Column distance{"distance", "m", "distance along the flight line", {}};
  for (std::size_t m = 0; m < lines.lines; ++m) {
    const double across = static_cast<double>(m) * lines.line_spacing;
    const bool back = lines.there_and_back && m % 2 == 1;
    for (std::size_t n = 0; n < along.size(); ++n) {
      const double s = back ? along[along.size() - 1 - n] : along[n];
      survey.easting.push_back(lines.easting + s * sine + across * cosine);
      survey.northing.push_back(lines.northing + s * cosine - across * sine);
      line.values.push_back(static_cast<double>(m + 1));
      distance.values.push_back(along[n]);
    }
  }
  survey.up = heights(survey.easting, survey.northing, height);
  survey.columns = {std::move(line), std::move(distance)};
  check(survey);
  return survey;
}

void check(const Survey& survey) {
  const std::size_t n = survey.easting.size();
  if (survey.northing.size() != n || survey.up.size() != n)
    throw ShapeError(
        "survey",
        fmt::format("{} eastings, {} northings, {} ups", n, survey.northing.size(), survey.up.size()),
        "Give one of each per station.");
  for (const auto& column : survey.columns)
    if (column.values.size() != n)
      throw ShapeError(
          "survey",
          fmt::format("column \"{}\" has {} values for {} stations", column.name, column.values.size(), n),
          "Give one value per station.");
  if (survey.grid && survey.grid->easting.size() * survey.grid->northing.size() != n)
    throw ShapeError("survey",
                     fmt::format("a grid of {} × {} stations, but {} stations", survey.grid->easting.size(),
                                 survey.grid->northing.size(), n),
                     "Drop the grid, or give its stations.");
  if (n == 0) throw InputError("survey", "there are no stations", "Give at least one.");
  const auto require_all_finite = [&](const std::vector<double>& values, const char* name) {
    std::size_t bad = 0, first = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (!std::isfinite(values[i]) && bad++ == 0) first = i;
    if (bad > 0)
      throw InputError("survey",
                       fmt::format("{} of {} stations have no finite {} (first: station {}, {})", bad, n,
                                   name, first + 1, values[first]),
                       "Give easting, northing and up of every station, or leave the station out.");
  };
  require_all_finite(survey.easting, "easting");
  require_all_finite(survey.northing, "northing");
  require_all_finite(survey.up, "up");
}

}  // namespace terrane
