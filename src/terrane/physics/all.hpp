// The physics that this build offers, one for each folder beside this file.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::physics {

/// In the order of their names.
Registry all();

}  // namespace terrane::physics
