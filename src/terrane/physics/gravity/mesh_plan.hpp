// Prisms for a survey, where the job has no mesh: as wide as stations are apart, half as high, over all that
// the earth is made of below and around them.
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::gravity {

/// Throws InputError (an earth without an end).
MeshPlan plan_prisms(const Description& earth, const MeshWish& wish, const std::vector<Position>& stations);

}  // namespace terrane::gravity
