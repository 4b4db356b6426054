// A mesh for travel times, where the job gives none.
//
// Cells are cubes of the width h, evenly over a box: that of the survey, 15 % of its length L wider at its
// sides and half of it deeper, for waves that dive. Times over smooth rock are off by some (h/L)²/3, those
// that jumps of velocity bend by h/(3 L) (docs/theory/traveltime.md); for the accuracy ε
//
//   h = √(3 ε) L in smooth rock,  ε L where there are bodies or layers, and a quarter of the thinnest of
//   these
//
// between L/400 and L/30. Levels of layers have faces. A survey on a line has one cell across.
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::traveltime {

/// places: of shots and receivers; NaN up: on the ground.  accuracy: relative, that is asked for
CellsPlan plan_cells(const Description& earth, const std::vector<Position>& places, const MeshWish& wish,
                     double accuracy);

}  // namespace terrane::traveltime
