#include "terrane/physics/gravity/tree/expansion.hpp"

#include "terrane/parallel/simd/instruction_set.hpp"
#include "terrane/physics/gravity/tree/expansion_table.hpp"

namespace terrane::gravity {

const ExpansionKernels& expansion_kernels(std::string_view wanted) {
  const auto name = instruction_set(wanted);
  for (const auto& [target, kernels] : built_expansion_kernels())
    if (target == name) return *kernels;
  return *built_expansion_kernels().front().second;
}

}  // namespace terrane::gravity
