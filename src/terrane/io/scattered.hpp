// Which columns of a table are places of nodes, and a grid through points that are not those of one.
#pragma once

#include <optional>
#include <string_view>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// The columns of a table that are the places of nodes, and what they say of a grid; null where there are
/// none.
struct NodeColumns {
  const Column *x = nullptr, *y = nullptr;
  bool bare = false;
  double x_factor = 1, y_factor = 1;
};

/// What the table says of the places of a grid goes to it, but for its axes.
NodeColumns nodes_of(const Table& table, GridData& grid);
/// Axes become metres.
void scale_axes(GridData& grid, const NodeColumns& nodes);

/// A grid through scattered points (mesh/triangulation.hpp) of one column: `field`, the only one beside the
/// places, or "up"; empty where there is none. A note says it. Throws InputError as grid_of_points() does.
std::optional<GridData> triangulated(const Table& table, std::string_view field = {});

}  // namespace terrane::io
