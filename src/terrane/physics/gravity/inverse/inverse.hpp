// Densities from gravity, as the list of all inversions knows it.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::gravity::inverse {

inversion::Inverse inverse();

}  // namespace terrane::gravity::inverse
