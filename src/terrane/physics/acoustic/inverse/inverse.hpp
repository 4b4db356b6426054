// Velocities from recorded waves, as the list of all inversions knows it.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::acoustic::inverse {

inversion::Inverse inverse();

}  // namespace terrane::acoustic::inverse
