// Direct current as the list of all physics knows it.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::electric {

Physics physics();

}  // namespace terrane::electric
