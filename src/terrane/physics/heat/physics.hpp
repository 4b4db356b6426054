// Heat conduction as the list of all physics knows it.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::heat {

Physics physics();

}  // namespace terrane::heat
