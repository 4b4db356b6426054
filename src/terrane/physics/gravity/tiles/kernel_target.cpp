#include "terrane/parallel/simd/instruction_set.hpp"
#include "terrane/physics/gravity/tiles/kernel_table.hpp"

namespace terrane::gravity {

const KernelTarget& kernel_target(std::string_view wanted) {
  const auto name = instruction_set(wanted);
  const auto& built = built_kernel_targets();
  for (const auto& target : built)
    if (target.name == name) return target;
  return built.front();
}

}  // namespace terrane::gravity
