// Products and sums with a prescribed rounding.
#pragma once

#include <cmath>

#include "terrane/base/function.hpp"

namespace terrane {

/// a · b + c, rounded once; for sums whose bits must be reproducible. Without this function, a compiler may
/// compute a · b − c · d with an unrounded a · b in some iterations of a loop and with an unrounded c · d in
/// others, for example in a first iteration that it computes separately.
TERRANE_FN double fused(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

}  // namespace terrane
