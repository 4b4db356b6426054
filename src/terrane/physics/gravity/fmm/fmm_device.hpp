// Fast multipoles on a GPU (or the debug device): trees and lists are built on the CPU, all sums computed on
// the device.
#pragma once

#include <memory>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/fmm/fmm.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"

namespace terrane::gravity {

/// fmm: built with the settings Fmm::ForDevice. precision single: near pairs in float, accurate to 2e-6;
/// expansions are always in double. Throws MemoryError, Cancelled.
std::unique_ptr<Summation> fmm_sum_on_device(Device device, std::shared_ptr<Fmm> fmm, Precision precision,
                                             Progress& progress);

/// The memory in bytes that a sum by fast multipoles on a device needs.
struct FmmDeviceMemory {
  double device = 0;  ///< device memory: data stored all the time, and the sums of one part
  double host = 0;    ///< host memory in addition to FmmCost: lists of the clusters of each box
};
/// Estimates the memory of a sum on a device. cost: the result of fmm.cost().
FmmDeviceMemory fmm_memory_on_device(const Fmm& fmm, const FmmCost& cost);

}  // namespace terrane::gravity
