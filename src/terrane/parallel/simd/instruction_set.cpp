#include "terrane/parallel/simd/instruction_set.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>

#include "terrane/base/error.hpp"
#include "terrane/parallel/simd/built_sets.hpp"

namespace terrane {

namespace {

bool runs_here(std::string_view name) {
#if defined(__x86_64__)
  if (name == "avx2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (name == "avx512")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
#endif
  return name == "plain";
}

}  // namespace

std::string_view instruction_set(std::string_view wanted) {
  if (wanted.empty())
    if (const char* variable = std::getenv("TERRANE_SIMD")) wanted = variable;
  std::string available;
  for (auto name = std::rbegin(built_instruction_sets); name != std::rend(built_instruction_sets); ++name) {
    if (!runs_here(*name)) continue;
    if (wanted.empty() || wanted == *name) return *name;
    available += (available.empty() ? "" : ", ") + std::string(*name);
  }
  if (available.empty())
    throw UnsupportedError("CPU",
                           fmt::format("this build has kernels for {} alone, which this CPU does not run",
                                       *std::rbegin(built_instruction_sets)),
                           "Build on this machine, or with -DTERRANE_KERNELS=ALL for every CPU.");
  throw UnsupportedError("TERRANE_SIMD",
                         fmt::format("\"{}\" is not an instruction set of this build and CPU", wanted),
                         "Available: " + available + ". Leave TERRANE_SIMD unset for the best.");
}

std::string instruction_set_title(std::string_view name) {
  if (name == "avx512") return "AVX-512";
  if (name == "avx2") return "AVX2";
#if defined(__aarch64__)
  if (name == "plain") return "NEON";
#endif
  return std::string(name);
}

}  // namespace terrane
