// The tree on a GPU (or the debug device): it is grown on the CPU and evaluated on the device.
#pragma once

#include <memory>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"

namespace terrane::gravity {

class Tree;
struct TreeCost;

/// Completes the tree where that is not done, and uploads it to the device. precision single: near
/// pairs in float, right to 2e-6; expansions are always in double. Throws MemoryError, Cancelled.
std::unique_ptr<Summation> tree_sum_on_device(Device device, std::shared_ptr<Tree> tree, Precision precision,
                                              Progress& progress);

/// The memory that the tree takes while its sums are computed, in bytes.
struct TreeDeviceMemory {
  double device =
      0;  ///< at least: what lies there all the time, and the sums of one part, estimated from above
  double host = 0;  ///< bytes of the host beside Tree::cost(): lists of the clusters that stations meet
};
/// cost: its own.
TreeDeviceMemory tree_memory_on_device(const Tree& tree, const TreeCost& cost);

}  // namespace terrane::gravity
