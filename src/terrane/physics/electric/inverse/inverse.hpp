// Inversions of electrode arrays for resistivity and chargeability, as an entry in the list of all
// inversions.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::electric::inverse {

inversion::Inverse inverse();

}  // namespace terrane::electric::inverse
