// Elastic waves as the list of all physics knows them.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::elastic {

Physics physics();

}  // namespace terrane::elastic
