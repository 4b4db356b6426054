// Inversion of travel times for velocity, as an entry in the list of all inversions.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::traveltime::inverse {

inversion::Inverse inverse();

}  // namespace terrane::traveltime::inverse
