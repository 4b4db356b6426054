// Plans a mesh for electrode arrays: even cells of half the distance between electrodes, around them and
// below them down to the depth of investigation, then cells that grow to walls at three times the survey's
// length. Faces lie at interfaces of layers, at sides of boxes and at electrodes. Layers and bodies near the
// survey are at least two cells across. Cells at an electrode are as small as the nearest side of a body
// requires,
//
//   h = t (1 %/(2 % c))^½     t the distance to that side, c ≥ 1 the ratio by which its body conducts better
//
// so that the error of the potential, 2 % c (h/t)², is 1 % (docs/theory/electric.md). Over flat ground layers
// require none of this, because the primary potential is that of the layers.
#pragma once

#include <string>
#include <vector>

#include "terrane/job/mesh_plan.hpp"

namespace terrane::electric {

/// Plans a mesh. Electrodes without a height lie on the ground. Throws InputError.
MeshPlan plan_mesh(const Description& earth, const MeshWish& wish, const std::vector<Position>& electrodes);

/// Plans a mesh for an inversion. The medium is not known, so cells grow downwards from the ground. ground:
/// that of the job, or empty: then the ground is derived from the heights of the electrodes and, if uneven,
/// written to `own`.
CellsPlan plan_cells_below(const std::vector<Position>& electrodes, const Ground& ground,
                           const MeshWish& wish, Ground& own);

/// Warnings for the user about layers and bodies near the survey that a mesh does not resolve: they are less
/// than two cells across, or a side lies within a cell near electrodes.  tables: names of the bodies
std::vector<std::string> what_mesh_misses(const Description& earth, const TensorMesh& mesh,
                                          const std::vector<Position>& electrodes,
                                          const std::vector<std::string>& tables);

}  // namespace terrane::electric
