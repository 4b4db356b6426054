// Finds the columns of a table that are places of nodes, and makes a grid through scattered points.
#pragma once

#include <optional>
#include <string_view>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// The columns with the places of nodes, and what they tell about the grid; null where there are none.
struct NodeColumns {
  const Column *x = nullptr, *y = nullptr;
  bool bare = false;
  double x_factor = 1, y_factor = 1;
};

/// Finds them, and copies all but the axes to the grid: unit, projection, kind of coordinates.
NodeColumns nodes_of(const Table& table, GridData& grid);
/// Converts the axes to metres.
void scale_axes(GridData& grid, const NodeColumns& nodes);

/// A grid through scattered points (mesh/triangulation.hpp) of one column: `field`, the only one beside the
/// places, or "up"; empty where there is none. A note tells that it was made so. Throws InputError as
/// grid_of_points() does.
std::optional<GridData> triangulated(const Table& table, std::string_view field = {});

}  // namespace terrane::io
