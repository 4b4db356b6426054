// The lattice method on a GPU (or the debug device): the convolutions of lattice_plan.hpp.
#pragma once

#include <memory>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/lattice/lattice_plan.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"

namespace terrane::gravity {

/// density: [prisms] kg/m³; must outlive the result, and so must the device. The only errors are those of
/// rounding. All GPUs of one kind give bitwise the same result, however the sum is divided and however little
/// memory is free. As many layers are computed at once as fit in most_bytes; more would not be faster.
/// Throws ShapeError, and MemoryError when not even one layer fits the device.
std::unique_ptr<Summation> lattice_sum_on_device(Device device, std::shared_ptr<const LatticePlan> plan,
                                                 std::span<const double> density, int threads,
                                                 double most_bytes = 4e9);

struct LatticeDeviceCost {
  double seconds = 0;  ///< seconds on a large GPU, with the transfers
  double bytes = 0;    ///< least bytes on the device
};
LatticeDeviceCost lattice_cost_on_device(const LatticePlan& plan);

}  // namespace terrane::gravity
