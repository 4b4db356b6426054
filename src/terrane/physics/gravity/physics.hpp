// Gravity's entry in the list of all physics.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::gravity {

Physics physics();

}  // namespace terrane::gravity
