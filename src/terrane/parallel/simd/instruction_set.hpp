// Kernels are compiled for several instruction sets; this chooses the one used on this CPU, the same for all
// kernels.
#pragma once

#include <string>
#include <string_view>

namespace terrane {

/// The best instruction set that this build has and this CPU supports: "plain", "avx2", "avx512". `wanted`
/// (or, when that is empty, the environment variable TERRANE_SIMD) asks for another. Throws UnsupportedError
/// if that is not available.
std::string_view instruction_set(std::string_view wanted = {});

/// The usual name of an instruction set: "AVX-512", "AVX2"; "NEON" if plain code is compiled for that.
std::string instruction_set_title(std::string_view name);

}  // namespace terrane
