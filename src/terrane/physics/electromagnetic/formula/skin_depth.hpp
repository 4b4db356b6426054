// Skin depth of a medium.
#pragma once

#include <cmath>

namespace terrane::electromagnetic {

/// δ = √(2 / (ω μ₀ σ)), m.  sigma: S/m; hertz: Hz
inline double skin_depth(double sigma, double hertz) { return 503.292 / std::sqrt(sigma * hertz); }

}  // namespace terrane::electromagnetic
