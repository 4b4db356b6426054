#include "terrane/physics/gravity/tree/expansion.hpp"

#include "terrane/physics/gravity/tree/expansion_table.hpp"

namespace terrane::gravity {

const ExpansionKernels& expansion_kernels(std::string_view wanted) {
  const std::string_view name = kernel_target(wanted).name;
  for (const auto& [target, kernels] : built_expansion_kernels())
    if (target == name) return *kernels;
  return *built_expansion_kernels().front().second;
}

}  // namespace terrane::gravity
