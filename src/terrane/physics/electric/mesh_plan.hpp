// A mesh for arrays of electrodes, where the job has none: even cells of half the distance between electrodes
// around and below them, as deep as they see, then cells that grow to three times their reach. Faces lie at
// levels, at sides of boxes and where electrodes are; layers and bodies within the survey's reach are at
// least two cells across, and cells at electrodes as small as the nearest side of a body asks for, to
//
//   h = t (1 %/(2 % c))^½     t the distance to that side, c how much better its body conducts, at least 1
//
// of which 1 % of the potential is left (docs/theory/electric.md). Over flat ground layers ask for none of
// this: the primary potential is theirs.
#pragma once

#include <string>
#include <vector>

#include "terrane/job/mesh_plan.hpp"

namespace terrane::electric {

/// Electrodes without a height lie on the ground. Throws InputError.
MeshPlan plan_mesh(const Description& earth, const MeshWish& wish, const std::vector<Position>& electrodes);

/// A mesh for an inversion: nothing is known of the medium, so cells grow downwards from the ground. ground:
/// the one that the job names; empty: it is taken from the heights of the electrodes, and written to `own`
/// where it is uneven.
CellsPlan plan_cells_below(const std::vector<Position>& electrodes, const Ground& ground,
                           const MeshWish& wish, Ground& own);

/// Warnings for the user: which layers and bodies that the survey sees a mesh does not hold, as they are less
/// than two cells across, or have a side within a cell that electrodes are near.  tables: what bodies are
/// called
std::vector<std::string> what_mesh_misses(const Description& earth, const TensorMesh& mesh,
                                          const std::vector<Position>& electrodes,
                                          const std::vector<std::string>& tables);

}  // namespace terrane::electric
