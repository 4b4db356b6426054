// Elements for sources and receivers in an earth that is described without a mesh: five points in the
// shortest wave, and room for waves to leave.
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::elastic {

struct ElementWish {
  std::vector<Position> places;  ///< sources and receivers
  double highest_frequency = 0;  ///< of the sources, Hz
  int degree = 4;
  double end = 0;  ///< s
};

/// Throws InputError (no velocities).
MeshPlan plan_elements(const Description& earth, const MeshWish& wish, const ElementWish& waves);

}  // namespace terrane::elastic
