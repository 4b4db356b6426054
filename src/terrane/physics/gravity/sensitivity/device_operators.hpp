// G and Gᵀ on a device: with the entry of every pair of station and cell computed anew for each product, or
// stored on the device; by FFT on a lattice; or by trees. Counterparts of columns.hpp, lattice_operator.hpp
// and tree_operator.hpp on the CPU; the vectors of a product are in host memory.
#pragma once

#include <memory>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/lattice/lattice_plan.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {

enum class KeptEntries { none, single_precision, double_precision };

/// Rows and columns are those of `source`. device: resolved, with memory of its own. Products are bitwise the
/// same on one kind of device, however parts are shared among ranks. Throws MemoryError, Cancelled.
std::shared_ptr<const solve::PartedOperator> sensitivity_on_device(
    Device device, std::shared_ptr<const SensitivityColumns> source, KeptEntries kept, int threads = 0,
    Progress* progress = nullptr, solve::ShareOfParts share = {});

/// The same operator as LatticeSensitivity, with the spectra stored on the device.
std::shared_ptr<const solve::PartedOperator> lattice_sensitivity_on_device(
    Device device, Lattice lattice, std::size_t stations, std::vector<Observable> observables,
    int threads = 0, Progress* progress = nullptr, solve::ShareOfParts share = {});

/// The same operator as TreeSensitivity, with lists and near entries computed on the host and stored on the
/// device. Its products equal those of the CPU to rounding.  bytes: set to its device memory
std::shared_ptr<const solve::PartedOperator> tree_sensitivity_on_device(
    Device device, const SensitivityColumns& source, double accuracy, int threads = 0,
    Progress* progress = nullptr, solve::ShareOfParts share = {}, double* bytes = nullptr);
/// Device memory that this operator needs, estimated from the whole tree's cost(), as CellTree::bytes
/// estimates host memory.
double bytes_of_trees_on_device(const Tree& whole, const TreeCost& counted,
                                const std::vector<Observable>& observables, std::size_t trees);

}  // namespace terrane::gravity
