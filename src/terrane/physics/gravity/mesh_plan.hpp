// Plans a mesh of prisms if the job has none: cells as wide as the station spacing and half as high, over the
// described earth below and around the stations.
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::gravity {

/// Throws InputError: the earth has no lower end, or the mesh would be more than 1000 km deep.
MeshPlan plan_prisms(const Description& earth, const MeshWish& wish, const std::vector<Position>& stations);

}  // namespace terrane::gravity
