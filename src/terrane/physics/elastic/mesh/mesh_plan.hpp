// Elements for sources and receivers in an earth that is described without a mesh: five points in the
// shortest wave, and room for waves to leave.
//
// A side that absorbs by its tractions returns (1 − cos θ)/(1 + cos θ) of a wave at the angle θ from its
// normal: nearly all of one that grazes it. What comes back to a receiver has gone as if from the mirror
// image of the source: tan θ = s/D, with s the way along the side and D the distances of source and receiver
// from it, so of the direct wave it is sin θ (1 − cos θ)/(1 + cos θ), 12 % at 45°. So D ≥ s for all s whose
// reflection is there before the end: s² + D² < (v t)², or D ≥ min(s, v t/√2). Matched layers need no such
// room.
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::elastic {

struct ElementWish {
  std::vector<Position> sources, receivers;
  double highest_frequency = 0;  ///< of the sources, Hz
  int degree = 4;
  double end = 0;        ///< s
  bool matched = false;  ///< layers that waves fade in stand in front of the sides
};

/// Throws InputError (no velocities).
MeshPlan plan_elements(const Description& earth, const MeshWish& wish, const ElementWish& waves);

}  // namespace terrane::elastic
