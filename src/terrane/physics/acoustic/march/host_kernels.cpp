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

}  // namespace

template <>
const HostKernels<float>& host_kernels<float>(Index points) {
  return kernels_here().single[points / 2 - 1];
}

template <>
const HostKernels<double>& host_kernels<double>(Index points) {
  return kernels_here().twofold[points / 2 - 1];
}

}  // namespace terrane::acoustic
