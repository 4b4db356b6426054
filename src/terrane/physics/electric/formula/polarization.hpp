// A medium that stores charge: model/polarization.hpp, which electromagnetics has as well.
#pragma once

#include "terrane/model/polarization.hpp"

namespace terrane::electric {

using terrane::cole_cole;

}  // namespace terrane::electric
