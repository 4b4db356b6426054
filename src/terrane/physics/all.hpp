// The physics that this build offers, one for each folder beside this file.
#pragma once

#include "terrane/inversion/job/inverse.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::physics {

/// In the order of their names.
Registry all();

/// Those that have a folder inverse/, by which `terrane invert` finds their models.
const inversion::Inverses& inversions();

}  // namespace terrane::physics
