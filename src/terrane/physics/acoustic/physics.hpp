// Acoustic waves, as one of the physics of this build.
#pragma once

#include "terrane/simulation/simulation.hpp"

namespace terrane::acoustic {

Physics physics();

}  // namespace terrane::acoustic
