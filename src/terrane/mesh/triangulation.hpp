// Heights of scattered points: linear in the triangles of Delaunay's triangulation, whose circumcircles hold
// no other point (as topography of UBC's programs is read).
//
// Divide and conquer (Guibas and Stolfi 1985), O(n log n). Places are rounded to 2⁻²⁶ of the extent, as whole
// numbers in which orientation and circle tests are exact, so that grids, lines and doubled points do no
// harm.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "terrane/mesh/grid.hpp"

namespace terrane {

/// Corners of the triangles, counterclockwise, as numbers of points. Points on one line have no triangles; of
/// points at one place (rounded) the first is used.  x, y [n], finite
std::vector<std::array<std::uint32_t, 3>> triangulate(std::span<const double> x, std::span<const double> y);

/// A grid interpolated in the triangles, through all points where their places are those of a grid with gaps,
/// and otherwise with four nodes for each point. Nodes outside of all triangles have the value of the nearest
/// node (by steps along the axes) inside. x, y, z [n], m. Throws ShapeError; InputError: a number that is not
/// finite, fewer than three points, points on one line, or two heights at one place.
Grid grid_of_points(std::span<const double> x, std::span<const double> y, std::span<const double> z);

}  // namespace terrane
