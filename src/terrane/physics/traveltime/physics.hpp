// Travel times as an entry in the list of all physics.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::traveltime {

Physics physics();

}  // namespace terrane::traveltime
