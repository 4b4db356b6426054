// Inversion of electromagnetic fields for resistivity, as an entry in the list of all inversions.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::electromagnetic::inverse {

inversion::Inverse inverse();

}  // namespace terrane::electromagnetic::inverse
