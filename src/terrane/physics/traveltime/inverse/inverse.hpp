// Velocities from travel times, as the list of all inversions knows it.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::traveltime::inverse {

inversion::Inverse inverse();

}  // namespace terrane::traveltime::inverse
