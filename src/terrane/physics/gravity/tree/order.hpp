// The highest order of multipole expansions.
#pragma once

namespace terrane::gravity {

inline constexpr int most_order = 20;

}  // namespace terrane::gravity
