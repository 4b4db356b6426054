// The functions of the fast multipole method that the planner calls.
#pragma once

#include "terrane/physics/gravity/sum/candidate.hpp"

namespace terrane::gravity {

extern const MethodEntry fmm_method;

}  // namespace terrane::gravity
