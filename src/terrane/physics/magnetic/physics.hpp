// Magnetics as an entry in the list of all physics.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::magnetic {

Physics physics();

}  // namespace terrane::magnetic
