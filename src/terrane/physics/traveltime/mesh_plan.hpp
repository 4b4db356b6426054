// Plans a mesh for travel times, for jobs that do not specify one.
//
// All cells are cubes of width h, in a box: that of the survey, extended by 15 % of its length L at the sides
// and by 50 % downwards, for diving waves. Errors of times, relative to the longest time, are at most about
// (h/L)²/3 in smooth rock; for waves refracted by jumps of velocity h/(3 L) if the jumps are at faces of
// cells, and h/L if interfaces cross cells (docs/theory/traveltime.md). So for an accuracy ε
//
//   h = √(3 ε) L in smooth rock; if there are bodies or layers, ε L, as interfaces may cross cells, but at
//   most a quarter of the thinnest of these
//
// but h is never below L/400 or above L/30. Faces are placed at interfaces of layers. For a survey on a line
// the mesh has one cell across the line.
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::traveltime {

/// places: positions of shots and receivers; NaN up: on the ground.  accuracy: requested, relative
CellsPlan plan_cells(const Description& earth, const std::vector<Position>& places, const MeshWish& wish,
                     double accuracy);

}  // namespace terrane::traveltime
