// The instruction set for which kernels run on this CPU, of those that they are compiled for: one choice for
// all kernels.
#pragma once

#include <string>
#include <string_view>

namespace terrane {

/// The best that this build has and this CPU runs: "plain", "avx2", "avx512". `wanted` (or, when that is
/// empty, the environment variable TERRANE_SIMD) asks for another. Throws UnsupportedError when it is not to
/// be had.
std::string_view instruction_set(std::string_view wanted = {});

/// Its usual name: "AVX-512", "AVX2"; "NEON", where plain code is compiled for that.
std::string instruction_set_title(std::string_view name);

}  // namespace terrane
