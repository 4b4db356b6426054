// A mesh for sources and receivers in an earth that is described without one: what survey/gridding makes of
// its conductivity.
#pragma once

#include "terrane/job/mesh_plan.hpp"
#include "terrane/physics/electromagnetic/survey/gridding.hpp"

namespace terrane::electromagnetic {

/// wanted: frequencies, sources and receivers. Throws InputError (no conductivity below them).
MeshPlan plan_mesh(const Description& earth, const MeshWish& wish, GridRequest wanted);

}  // namespace terrane::electromagnetic
