// Includes the models of media that store charge, which are shared with electromagnetics.
#pragma once

#include "terrane/model/polarization.hpp"

namespace terrane::electric {

using terrane::cole_cole;

}  // namespace terrane::electric
