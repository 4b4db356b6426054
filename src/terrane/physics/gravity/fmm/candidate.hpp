// The fast multipole method as the planner knows it.
#pragma once

#include "terrane/physics/gravity/sum/candidate.hpp"

namespace terrane::gravity {

extern const MethodEntry fmm_method;

}  // namespace terrane::gravity
