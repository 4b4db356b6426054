// Finds the coordinate columns of a table, and interpolates a grid through scattered points.
#pragma once

#include <optional>
#include <string_view>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// The coordinate columns of nodes (null if there are none), whether the table's columns are without names,
/// and the factors from the coordinates to metres.
struct NodeColumns {
  const Column *x = nullptr, *y = nullptr;
  bool bare = false;
  double x_factor = 1, y_factor = 1;
};

/// Finds the coordinate columns of a table, and sets all of the grid except its axes: unit, projection, kind
/// of coordinates.
NodeColumns nodes_of(const Table& table, GridData& grid);
/// Converts the axes of a grid to metres.
void scale_axes(GridData& grid, const NodeColumns& nodes);

/// A grid interpolated through scattered points (mesh/triangulation.hpp) from one column: `field`, or the
/// only one besides the coordinates, or "up"; empty if there is none. A note says that it was interpolated.
/// Throws InputError as grid_of_points() does.
std::optional<GridData> triangulated(const Table& table, std::string_view field = {});

/// A grid of heights that a table knows along a line (mesh/triangulation.hpp): of columns easting and
/// northing (or x and y) and a height, or of the distance along an axis to the east and a height (x and z,
/// also without names). Empty if the table has no such columns, or its points lie on no line. A note says so.
/// Throws InputError as grid_along_line() does.
std::optional<GridData> along_line(const Table& table);

}  // namespace terrane::io
