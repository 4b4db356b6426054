// Inversion of magnetic fields for susceptibility, as an entry in the list of all inversions.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::magnetic::inverse {

inversion::Inverse inverse();

}  // namespace terrane::magnetic::inverse
