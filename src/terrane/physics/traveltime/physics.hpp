// Travel times, as the list of all physics knows them.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::traveltime {

Physics physics();

}  // namespace terrane::traveltime
