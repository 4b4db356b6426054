// The inversion of recorded waves for velocities, as an entry of the list of all inversions.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::acoustic::inverse {

inversion::Inverse inverse();

}  // namespace terrane::acoustic::inverse
