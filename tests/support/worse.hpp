// The largest of many errors, which no NaN escapes.
#pragma once

#include <algorithm>
#include <cmath>

namespace terrane {

/// The larger of an error so far and another; infinite once one of them is not a number. (std::max skips NaN,
/// and a test that holds its result to a bound would not see it.)
inline double worse(double so_far, double error) {
  return std::isnan(error) ? HUGE_VAL : std::max(so_far, error);
}

}  // namespace terrane
