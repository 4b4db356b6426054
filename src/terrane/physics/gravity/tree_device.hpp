// The tree on a GPU (or the debug device): grown on the processors, evaluated there.
#pragma once

#include <memory>

#include "terrane/parallel/device.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/summation.hpp"

namespace terrane::gravity {

class Tree;

/// Grows the tree to its end where that is not done, and brings it to the device. precision single: near
/// pairs in float, right to 2e-6; expansions are always in double. Throws MemoryError, Cancelled.
std::unique_ptr<Summation> tree_sum_on_device(Device device, std::shared_ptr<Tree> tree, Precision precision,
                                              Progress& progress);

}  // namespace terrane::gravity
