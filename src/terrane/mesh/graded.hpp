// Faces of cells that are even in a core and grow beyond it: a cell at the distance d from the core is h + d
// ln g wide, which is g times its neighbour.
#pragma once

#include <vector>

namespace terrane {

/// A range where cells are at most this wide; beyond it they grow as beyond the core, or slower.
struct FineCells {
  double low = 0, high = 0, cell = 1;  ///< m
};

struct GradedAxis {
  double low = 0, high = 1;         ///< the core, m
  double cell = 1;                  ///< h, of the core, m
  double growth_low = 1.3;          ///< g below the core, above 1
  double growth_high = 1.3;         ///< g above it
  double from = 0, to = 1;          ///< ends of the axis, m
  std::vector<double> wanted = {};  ///< where faces shall be
  std::vector<FineCells> fine = {};
};

/// The faces, ascending, from axis.from to axis.to.
std::vector<double> graded_faces(const GradedAxis& axis);

}  // namespace terrane
