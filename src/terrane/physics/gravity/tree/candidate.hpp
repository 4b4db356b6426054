// The functions of the tree that the planner calls.
#pragma once

#include "terrane/physics/gravity/sum/candidate.hpp"

namespace terrane::gravity {

extern const MethodEntry tree_method;

}  // namespace terrane::gravity
