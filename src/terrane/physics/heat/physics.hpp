// Heat conduction as an entry in the list of all physics.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::heat {

Physics physics();

}  // namespace terrane::heat
