// Electromagnetic fields as the list of all physics knows them.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::electromagnetic {

Physics physics();

}  // namespace terrane::electromagnetic
