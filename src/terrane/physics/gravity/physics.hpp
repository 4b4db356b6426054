// Gravity as the list of all physics knows it.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::gravity {

Physics physics();

}  // namespace terrane::gravity
