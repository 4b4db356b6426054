// Heights interpolated between scattered points: linear in the triangles of a Delaunay triangulation, whose
// circumcircles contain no other point (UBC's programs read topography in this way).
//
// Divide and conquer (Guibas and Stolfi 1985), O(n log n). Coordinates are rounded to 2⁻²⁶ of the extent and
// stored as integers, for which the orientation and circle tests are exact: points on a grid, on a line, or
// given twice cause no errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "terrane/mesh/grid.hpp"

namespace terrane {

/// Corners of the triangles, counterclockwise, as indices of points. Collinear points have no triangles; of
/// several points with the same rounded coordinates the first is used.  x, y [n], finite
std::vector<std::array<std::uint32_t, 3>> triangulate(std::span<const double> x, std::span<const double> y);

/// A grid interpolated linearly in the triangles. If the points are nodes of a rectilinear grid, possibly
/// with gaps, it has the nodes of that grid; otherwise about four nodes for each point. Nodes outside all
/// triangles have the value of the nearest node inside (counted in steps along the axes). x, y, z [n], m.
/// Throws ShapeError; InputError: a number that is not finite, fewer than three points, collinear points, or
/// two heights at one point.
Grid grid_of_points(std::span<const double> x, std::span<const double> y, std::span<const double> z);

/// A grid of heights that are known along a line: linear between the points, beyond the line's ends those of
/// the ends, and the same across the line. A line along an axis has the nodes of its points, another one a
/// square of even nodes whose sides are three times as long as the line. An empty grid if the points do not
/// lie along a line, within half of their mean distance. x, y, z [n], m, finite.
/// Throws InputError: two heights at one point.
Grid grid_along_line(std::span<const double> x, std::span<const double> y, std::span<const double> z);

/// Gives gaps that reach the grid's edge the value of the nearest node that has one, counted in steps along
/// the axes; gaps inside stay. Returns how many nodes were filled: 0 for a grid of gaps alone.
std::size_t fill_margins(Grid& grid);

}  // namespace terrane
