// Resistivities and chargeabilities from arrays of electrodes, as the list of all inversions knows it.
#pragma once

#include "terrane/inversion/job/inverse.hpp"

namespace terrane::electric::inverse {

inversion::Inverse inverse();

}  // namespace terrane::electric::inverse
