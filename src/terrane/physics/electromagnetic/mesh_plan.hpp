// A mesh for sources and receivers in an earth of layers and bodies, planned from its conductivity by
// survey/gridding.
#pragma once

#include "terrane/job/mesh_plan.hpp"
#include "terrane/physics/electromagnetic/survey/gridding.hpp"

namespace terrane::electromagnetic {

/// wanted: frequencies, sources and receivers. Throws InputError (no conductivity below them).
MeshPlan plan_mesh(const Description& earth, const MeshWish& wish, GridRequest wanted);

}  // namespace terrane::electromagnetic
