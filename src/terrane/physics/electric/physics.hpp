// Direct current as an entry in the list of all physics.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::electric {

Physics physics();

}  // namespace terrane::electric
