// Predicts how many points the coarser levels of a multigrid cycle (multigrid.hpp) will have.
#pragma once

#include <array>
#include <span>

namespace terrane::solve {

/// Total number of points of the coarser levels, divided by that of the finest level. Counts only levels on
/// which all axes have the same target spacing, not the intermediate ones on which one or two axes have it.
/// faces: positions of cell faces along each axis, ascending, m; there are as many points as faces.
double points_of_coarser_levels(const std::array<std::span<const double>, 3>& faces);

}  // namespace terrane::solve
