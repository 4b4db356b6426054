// All kernels of the CPU for one instruction set.
#pragma once

#include "terrane/physics/acoustic/march/host_axis.hpp"
#include "terrane/physics/acoustic/march/host_density.hpp"

namespace terrane::acoustic {
namespace TERRANE_SIMD_TARGET {

template <Equation equation, int M, class T>
HostKernels<T> host_kernels_of() {
  if constexpr (equation == Equation::constant_density)
    return {psi_of_box<equation, M, T>, constant_density_region<M, T>, nullptr};
  else if constexpr (equation == Equation::variable_density)
    return {psi_of_box<equation, M, T>, variable_density_region<M, T>, nullptr};
  else if constexpr (equation == Equation::vti)
    return {psi_of_box<equation, M, T>, vti_region<M, T>, nullptr};
  else return {psi_of_box<equation, M, T>, tti_region<M, T>, derive_along_of_box<M, T>};
}

/// Kernels for M = 2, 4, 6 and 8; equations other than constant density have only M = 4 and 8.
template <Equation equation, class T>
HostKernelsOfEquation<T> host_kernels_of_equation() {
  if constexpr (equation == Equation::constant_density)
    return {{host_kernels_of<equation, 2, T>(), host_kernels_of<equation, 4, T>(),
             host_kernels_of<equation, 6, T>(), host_kernels_of<equation, 8, T>()}};
  else return {{{}, host_kernels_of<equation, 4, T>(), {}, host_kernels_of<equation, 8, T>()}};
}

template <class T>
HostKernelsOfNumber<T> host_kernels_of_number() {
  return {{host_kernels_of_equation<Equation::constant_density, T>(),
           host_kernels_of_equation<Equation::variable_density, T>(),
           host_kernels_of_equation<Equation::vti, T>(), host_kernels_of_equation<Equation::tti, T>()}};
}

inline HostKernelSet host_kernel_set() {
#define TERRANE_TEXT_OF(name) #name
#define TERRANE_NAME_OF(name) TERRANE_TEXT_OF(name)
  return {TERRANE_NAME_OF(TERRANE_SIMD_TARGET), host_kernels_of_number<float>(),
          host_kernels_of_number<double>()};
#undef TERRANE_NAME_OF
#undef TERRANE_TEXT_OF
}

}  // namespace TERRANE_SIMD_TARGET
}  // namespace terrane::acoustic
