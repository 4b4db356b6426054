// The magnetic physics as the rest of the program sees it.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::magnetic {

Physics physics();

}  // namespace terrane::magnetic
