// Surveys built from a few numbers: grids, lists, flight lines; at constant height or clearance above ground.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "terrane/mesh/grid.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

/// A height in metres above an elevation grid, which must cover every station.
struct Clearance {
  double height = 0;
  Grid elevation;
};

/// Height of the stations (`up`): a constant in metres, or a clearance above the ground.
using StationHeight = std::variant<double, Clearance>;

/// `count` evenly spaced values from `from` to `to`, both included; a count of 1 gives the middle. Throws
/// InputError (zero count, not ascending, NaN).
std::vector<double> even_axis(double from, double to, std::size_t count);

/// Values at distance `spacing`, from `from` up to `to` (included if it is within 1e-9 spacings of a value).
/// Throws InputError (spacing not above zero, `to` below `from`, NaN, more than 1e9 values).
std::vector<double> spaced_axis(double from, double to, double spacing);

/// Stations at all nodes of a grid, easting varying fastest.  easting, northing m, ascending. Throws
/// InputError: an axis is empty, not ascending or not finite; a station outside the elevation grid.
Survey grid_survey(std::vector<double> easting, std::vector<double> northing, const StationHeight& height);

/// Stations from coordinate arrays [n]. Throws ShapeError (lengths differ), InputError (no stations, NaN with
/// its row).
Survey list_survey(std::vector<double> easting, std::vector<double> northing, std::vector<double> up,
                   std::vector<Column> columns = {});
Survey list_survey(std::vector<double> easting, std::vector<double> northing, const StationHeight& height,
                   std::vector<Column> columns = {});

/// Parallel straight lines. The first begins at `easting`, `northing` and has azimuth `azimuth` (degrees
/// clockwise from north) and length `length`; each further line is shifted by `line_spacing` to the right.
struct FlightLines {
  double easting = 0, northing = 0;
  double azimuth = 0;
  double length = 0;        ///< m
  double spacing = 0;       ///< distance between stations along a line, m
  double line_spacing = 0;  ///< distance between lines, m; may be 0 for a single line
  std::size_t lines = 1;
  bool there_and_back = false;  ///< whether every second line is flown in the opposite direction

  /// A single line between two points.
  static FlightLines between(double easting_start, double northing_start, double easting_end,
                             double northing_end, double spacing);
};

/// Stations along the lines, with columns "line" (1, 2, ...) and "distance" (m along the line).
/// Throws InputError: spacing or length not above zero, no lines, NaN, more than 1e9 stations.
Survey line_survey(const FlightLines& lines, const StationHeight& height);

/// Throws ShapeError (arrays or columns of unequal length), InputError (no stations; a coordinate that is not
/// finite, with its row). Every builder calls it at its end; readers may call it, too.
void check(const Survey& survey);

}  // namespace terrane
