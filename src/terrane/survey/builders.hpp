// Surveys from a few numbers: grids, lists, flight lines; at a height or at a clearance above the ground.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "terrane/mesh/grid.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

/// Metres above an elevation grid, which must reach under every station.
struct Clearance {
  double height = 0;
  Grid elevation;
};

/// The stations' `up` in metres: a constant, or a clearance above the ground.
using StationHeight = std::variant<double, Clearance>;

/// `count` even values from `from` to `to`, both included. A count of 1 gives the middle.
/// Throws InputError (zero count, not ascending, NaN).
std::vector<double> even_axis(double from, double to, std::size_t count);

/// Values `spacing` apart, beginning at `from`, as far as `to` (included when it is met within 1e-9
/// spacings). Throws InputError (spacing not above zero, to before from, NaN, more than 1e9 values).
std::vector<double> spaced_axis(double from, double to, double spacing);

/// Stations at every crossing of two axes, easting fastest.  easting, northing m, ascending.
/// Throws InputError: an axis is empty, not ascending or not finite; a station outside the elevation grid.
Survey grid_survey(std::vector<double> easting, std::vector<double> northing, const StationHeight& height);

/// Stations from arrays [n].
/// Throws ShapeError (lengths differ), InputError (no stations, NaN with its row).
Survey list_survey(std::vector<double> easting, std::vector<double> northing, std::vector<double> up,
                   std::vector<Column> columns = {});
Survey list_survey(std::vector<double> easting, std::vector<double> northing, const StationHeight& height,
                   std::vector<Column> columns = {});

/// Parallel straight lines. The first starts at `easting`, `northing` and runs to `azimuth` (degrees
/// clockwise from north) for `length` metres; each further line lies `line_spacing` metres to the right.
struct FlightLines {
  double easting = 0, northing = 0;
  double azimuth = 0;
  double length = 0;        ///< m
  double spacing = 0;       ///< distance between stations along a line, m
  double line_spacing = 0;  ///< distance between lines, m; may be 0 for a single line
  std::size_t lines = 1;
  bool there_and_back = false;  ///< every second line is flown the other way

  /// The line between two points.
  static FlightLines between(double easting_start, double northing_start, double easting_end,
                             double northing_end, double spacing);
};

/// Stations along the lines, with columns "line" (1, 2, ...) and "distance" (m along the line).
/// Throws InputError: spacing or length not above zero, no lines, NaN, more than 1e9 stations.
Survey line_survey(const FlightLines& lines, const StationHeight& height);

/// Throws ShapeError (arrays or columns of unequal length), InputError (no stations; a coordinate that is not
/// finite, with its row). Every builder ends with it; readers may too.
void check(const Survey& survey);

}  // namespace terrane
