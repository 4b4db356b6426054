// Products and sums whose rounding is written out.
#pragma once

#include <cmath>

#include "terrane/base/function.hpp"

namespace terrane {

/// a · b + c, rounded once. For sums whose bits are promised: of a · b − c · d a compiler may fuse the one
/// product in one place of a loop and the other in another, such as a first turn that it has taken out.
TERRANE_FN double fused(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

}  // namespace terrane
