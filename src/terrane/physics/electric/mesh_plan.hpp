// A mesh for arrays of electrodes, where the job has none: even cells of half the distance between electrodes
// around and below them, as deep as they see, then cells that grow to three times their reach.
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::electric {

/// Electrodes without a height lie on the ground. Throws InputError.
MeshPlan plan_mesh(const Description& earth, const MeshWish& wish, const std::vector<Position>& electrodes);

}  // namespace terrane::electric
