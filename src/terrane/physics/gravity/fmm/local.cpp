#include "terrane/physics/gravity/fmm/local.hpp"

#include "terrane/parallel/simd/instruction_set.hpp"
#include "terrane/physics/gravity/fmm/local_table.hpp"

namespace terrane::gravity {

const LocalKernels& local_kernels(std::string_view wanted) {
  const auto name = instruction_set(wanted);
  for (const auto& [target, kernels] : built_local_kernels())
    if (target == name) return *kernels;
  return *built_local_kernels().front().second;
}

}  // namespace terrane::gravity
