// Susceptibilities from magnetic fields, as the list of all inversions knows it.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::magnetic::inverse {

inversion::Inverse inverse();

}  // namespace terrane::magnetic::inverse
