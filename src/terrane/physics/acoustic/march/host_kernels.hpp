// A step of a tile on one thread of the CPU, made once for each instruction set: rows along easting, which
// the compiler vectorises.
#pragma once

#include <string_view>
#include <vector>

#include "terrane/physics/acoustic/march/kernels.hpp"

namespace terrane::acoustic {

/// Functions for one order (M points on each side) and number type.
template <class T>
struct HostKernels {
  void (*psi)(const StepArguments<T>&, int axis, int side, const IndexBox<3>& box) = nullptr;
  void (*step)(const StepArguments<T>&, const Region& region) = nullptr;
};

struct HostKernelSet {
  std::string_view name;         ///< of the instruction set
  HostKernels<float> single[4];  ///< M = 2, 4, 6, 8
  HostKernels<double> twofold[4];
};

/// Those of this CPU.  points: M
template <class T>
const HostKernels<T>& host_kernels(Index points);

}  // namespace terrane::acoustic
