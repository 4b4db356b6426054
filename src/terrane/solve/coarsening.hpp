// How many points the coarser levels of a multigrid cycle have (multigrid.hpp), before any is made.
#pragma once

#include <array>
#include <span>

namespace terrane::solve {

/// Points of all coarser levels together, as a multiple of those of the finest. faces: of the cells along
/// each axis, ascending, m; points are faces, or as many as they.
double points_of_coarser_levels(const std::array<std::span<const double>, 3>& faces);

}  // namespace terrane::solve
