// Gravity's entry in the list of all inversions: densities from gravity.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::gravity::inverse {

inversion::Inverse inverse();

}  // namespace terrane::gravity::inverse
