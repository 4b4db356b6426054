// Faces of cells along an axis: equally wide in a core, growing beyond it by a factor g per cell. A cell at
// distance d from the core is h + d ln g wide, which is g times the width of its inner neighbour; h: width in
// the core.
#pragma once

#include <vector>

namespace terrane {

/// An interval in which cells are at most `cell` wide; outside the interval they grow by at most the factor g
/// per cell.
struct FineCells {
  double low = 0, high = 0, cell = 1;  ///< m
};

struct GradedAxis {
  double low = 0, high = 1;         ///< the core, m
  double cell = 1;                  ///< cell width h in the core, m
  double growth_low = 1.3;          ///< growth factor g below the core, greater than 1
  double growth_high = 1.3;         ///< growth factor g above the core, greater than 1
  double from = 0, to = 1;          ///< ends of the axis, m
  std::vector<double> wanted = {};  ///< coordinates at which faces must lie, m
  std::vector<FineCells> fine = {};
};

/// The faces, ascending, from axis.from to axis.to.
std::vector<double> graded_faces(const GradedAxis& axis);

}  // namespace terrane
