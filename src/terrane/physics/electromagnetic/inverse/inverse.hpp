// Resistivities from electromagnetic fields, as the list of all inversions knows it.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::electromagnetic::inverse {

inversion::Inverse inverse();

}  // namespace terrane::electromagnetic::inverse
