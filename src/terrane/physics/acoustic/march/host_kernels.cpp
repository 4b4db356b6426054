#include "terrane/physics/acoustic/march/host_kernels.hpp"

#include "terrane/parallel/simd/instruction_set.hpp"
#include "terrane/physics/acoustic/march/host_kernel_sets.hpp"

namespace terrane::acoustic {

namespace {

const HostKernelSet& kernels_here() {
  static const HostKernelSet chosen = [] {
    const auto wanted = instruction_set();
    const auto built = built_host_kernels();
    for (const auto& set : built)
      if (set.name == wanted) return set;
    return built.front();
  }();
  return chosen;
}

template <class T>
const HostKernels<T>& chosen_from(const HostKernelsOfNumber<T>& all, const Kernel& kernel) {
  return all.of[static_cast<int>(kernel.equation)].of[kernel.points / 2 - 1];
}

}  // namespace

template <>
const HostKernels<float>& host_kernels<float>(const Kernel& kernel) {
  return chosen_from(kernels_here().single, kernel);
}

template <>
const HostKernels<double>& host_kernels<double>(const Kernel& kernel) {
  return chosen_from(kernels_here().in_double, kernel);
}

}  // namespace terrane::acoustic
