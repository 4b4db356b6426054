// Plans elements for sources and receivers in an earth that is described without a mesh: five points per
// shortest wavelength, and sides far enough from sources and receivers.
//
// A side that absorbs by its tractions (Stacey) reflects (1 − cos θ)/(1 + cos θ) of a wave at the angle θ
// from its normal: nearly all of a wave at grazing incidence. The reflection arrives at a receiver as if from
// the mirror image of the source: tan θ = s/D, where s is the distance of source and receiver along the side
// and D the sum of their distances from it. Relative to the direct wave its amplitude is sin θ (1 − cos θ)/(1
// + cos θ), 12 % at 45°. Therefore D ≥ s, unless the reflection arrives after the end, s² + D² ≥ (v t)²: D ≥
// min(s, v t/√2). Matched layers need no such distance.
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::elastic {

struct ElementWish {
  std::vector<Position> sources, receivers;
  double highest_frequency = 0;  ///< highest frequency of the sources, Hz
  int degree = 4;
  double end = 0;        ///< s
  bool matched = false;  ///< whether matched layers are added at the sides
};

/// Throws InputError if the earth has no velocities.
MeshPlan plan_elements(const Description& earth, const MeshWish& wish, const ElementWish& waves);

}  // namespace terrane::elastic
