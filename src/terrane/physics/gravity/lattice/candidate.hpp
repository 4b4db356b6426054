// The lattice as the planner knows it.
#pragma once

#include "terrane/physics/gravity/sum/candidate.hpp"

namespace terrane::gravity {

extern const MethodEntry lattice_method;

}  // namespace terrane::gravity
