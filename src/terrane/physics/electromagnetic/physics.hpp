// Electromagnetics as an entry in the list of all physics.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::electromagnetic {

Physics physics();

}  // namespace terrane::electromagnetic
