// The physics that this build offers, one for each folder beside this file.
#pragma once

#include "terrane/inversion/job/inverse.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::physics {

/// All physics, in the order of their names.
Registry all();

/// The inversions of the physics that have a folder inverse/, for `terrane invert`.
const inversion::Inverses& inversions();

}  // namespace terrane::physics
