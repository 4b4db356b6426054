// The tree on a GPU (or the debug device): built on the CPU, evaluated on the device.
#pragma once

#include <memory>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"

namespace terrane::gravity {

class Tree;
struct TreeCost;

/// Prepares the tree, unless this is done already, and uploads it to the device. precision single: near pairs
/// in float, accurate to 2e-6; expansions are always in double. Throws MemoryError, Cancelled.
std::unique_ptr<Summation> tree_sum_on_device(Device device, std::shared_ptr<Tree> tree, Precision precision,
                                              Progress& progress);

/// The memory that the tree needs while its sums are computed, in bytes.
struct TreeDeviceMemory {
  double device = 0;  ///< least device memory: of data stored all the time, and, as an upper estimate, of the
                      ///< sums of one part
  /// Host memory in addition to Tree::cost(), for lists of the clusters that stations interact with.
  double host = 0;
};
/// cost: result of tree.cost().
TreeDeviceMemory tree_memory_on_device(const Tree& tree, const TreeCost& cost);

}  // namespace terrane::gravity
