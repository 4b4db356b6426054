// A step of a tile on one thread of the CPU, compiled once for each instruction set: loops over rows along
// easting, which the compiler vectorises.
#pragma once

#include <string_view>
#include <vector>

#include "terrane/physics/acoustic/march/kernels.hpp"

namespace terrane::acoustic {

/// The kind of a step: the equation, and the number of points on each side of its differences (M).
struct Kernel {
  Equation equation = Equation::constant_density;
  Index points = 4;
};

/// Values that a step keeps from one plane to the next, if a tile is processed plane by plane from the lowest
/// up: with variable density the fluxes along up (host_density.hpp).
template <class T>
struct Climb {
  std::vector<T> kept;
  Index first_plane = 0;
  IndexBox<3> tile;  ///< nodes of the tile in one plane, which several regions may share
};

/// Functions for one equation, one order (M points on each side) and one number type.
template <class T>
struct HostKernels {
  void (*psi)(const StepArguments<T>&, int axis, int side, const IndexBox<3>& box) = nullptr;
  /// climb: null, or the memory of the tile whose next plane is the region
  void (*step)(const StepArguments<T>&, const Region& region, Climb<T>* climb) = nullptr;
  void (*along)(const StepArguments<T>&, const IndexBox<3>& box) = nullptr;  ///< computes G p, G q
};
template <class T>
struct HostKernelsOfEquation {
  HostKernels<T> of[4];  ///< kernels with M = 2, 4, 6, 8 points on each side
};
template <class T>
struct HostKernelsOfNumber {
  HostKernelsOfEquation<T> of[4];  ///< kernels in the order of Equation
};

struct HostKernelSet {
  std::string_view name;  ///< name of the instruction set
  HostKernelsOfNumber<float> single;
  HostKernelsOfNumber<double> in_double;
};

/// The kernels for this CPU's instruction set.
template <class T>
const HostKernels<T>& host_kernels(const Kernel& kernel);

}  // namespace terrane::acoustic
