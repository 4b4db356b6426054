// Plans a mesh for sources and receivers in an earth of layers and bodies, from its conductivity
// (survey/gridding.hpp).
#pragma once

#include "terrane/job/mesh_plan.hpp"
#include "terrane/physics/electromagnetic/survey/gridding.hpp"

namespace terrane::electromagnetic {

/// wanted: frequencies, sources and receivers. Throws InputError: the earth defines no conductivity below the
/// middle of the receivers.
MeshPlan plan_mesh(const Description& earth, const MeshWish& wish, GridRequest wanted);

}  // namespace terrane::electromagnetic
