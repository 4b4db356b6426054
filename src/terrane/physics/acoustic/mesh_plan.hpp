// Chooses a uniform grid for a job without one, from its earth, shots and receivers: cells fine enough for
// the shortest wave; a single cell across the line if all shots and receivers lie on one line; and as deep as
// waves can travel and return before the gathers end.
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::acoustic {

struct GridWish {
  std::vector<Position> shots, receivers;
  double highest_frequency = 0;     ///< Hz
  double cells_per_wavelength = 4;  ///< number of cells per shortest wavelength
  double end = 0;                   ///< end of the gathers, s
};

/// Throws InputError if the earth has no velocities, or if the grid would have unlimited depth.
MeshPlan plan_grid(const Description& earth, const MeshWish& wish, const GridWish& waves);

}  // namespace terrane::acoustic
