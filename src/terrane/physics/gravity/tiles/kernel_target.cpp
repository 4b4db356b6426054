#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/tiles/kernel_table.hpp"

namespace terrane::gravity {

namespace {

bool processor_runs(std::string_view target) {
#if defined(__x86_64__)
  if (target == "avx2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (target == "avx512")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
#endif
  return target == "plain";
}

}  // namespace

const KernelTarget& kernel_target(std::string_view wanted) {
  const auto& built = built_kernel_targets();
  if (wanted.empty())
    if (const char* variable = std::getenv("TERRANE_SIMD")) wanted = variable;
  std::string available;
  for (auto target = built.rbegin(); target != built.rend(); ++target) {
    if (!processor_runs(target->name)) continue;
    if (wanted.empty() || wanted == target->name) return *target;
    available += (available.empty() ? "" : ", ") + std::string(target->name);
  }
  if (available.empty())
    throw UnsupportedError(
        "processor",
        fmt::format("this build has kernels for {} alone, which this processor does not run",
                    built.back().name),
        "Build on this machine, or with -DTERRANE_KERNELS=ALL for every processor.");
  throw UnsupportedError("TERRANE_SIMD",
                         fmt::format("\"{}\" is not an instruction set of this build and processor", wanted),
                         "Available: " + available + ". Leave TERRANE_SIMD unset for the best.");
}

}  // namespace terrane::gravity
