// How many points the coarser levels of a multigrid cycle have (multigrid.hpp), before any is made.
#pragma once

#include <array>
#include <span>

namespace terrane::solve {

/// Points of the levels at which all axes have the same target spacing, but the finest, together, as a
/// multiple of those of the finest; levels between them, at which one or two axes have it, are not counted.
/// faces: of the cells along each axis, ascending, m; points are faces, or as many as they.
double points_of_coarser_levels(const std::array<std::span<const double>, 3>& faces);

}  // namespace terrane::solve
