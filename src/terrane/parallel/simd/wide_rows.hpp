// Loops over rows that are compiled twice for CPUs, plain and for wide registers (AVX2, eight numbers of
// single precision), where a separate kernel file for each instruction set would be too much. Products and
// sums are not fused, so the bits are the same for any width.
#pragma once

#include "terrane/parallel/simd/instruction_set.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define TERRANE_WIDE_ROWS __attribute__((target("avx2"), flatten))
#else
#define TERRANE_WIDE_ROWS
#endif

namespace terrane::detail {

inline bool has_wide_rows() {
  static const bool has = instruction_set() != "plain";
  return has;
}

}  // namespace terrane::detail
