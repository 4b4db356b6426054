// Fast multipoles on a GPU (or the debug device): trees and lists are made on the CPU, all sums on the
// device.
#pragma once

#include <memory>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/fmm/fmm.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"

namespace terrane::gravity {

/// fmm: made for devices (Fmm::ForDevice). precision single: near pairs in float, right to 2e-6; expansions
/// are always in double. Throws MemoryError, Cancelled.
std::unique_ptr<Summation> fmm_sum_on_device(Device device, std::shared_ptr<Fmm> fmm, Precision precision,
                                             Progress& progress);

/// The memory that it takes, in bytes.
struct FmmDeviceMemory {
  double device = 0;  ///< bytes of the device: of arrays that stay there, and of the sums of one part
  double host = 0;    ///< bytes of the host beside FmmCost: lists of the clusters that boxes meet
};
/// cost: its own.
FmmDeviceMemory fmm_memory_on_device(const Fmm& fmm, const FmmCost& cost);

}  // namespace terrane::gravity
