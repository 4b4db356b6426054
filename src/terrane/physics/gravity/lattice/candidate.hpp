// The functions of the lattice method that the planner calls.
#pragma once

#include "terrane/physics/gravity/sum/candidate.hpp"

namespace terrane::gravity {

extern const MethodEntry lattice_method;

}  // namespace terrane::gravity
