// G and Gᵀ on a device: every pair of station and cell computed anew for each product, the same entries kept
// there, by FFT on a lattice, or by trees. Twins of what columns.hpp, lattice_operator.hpp and
// tree_operator.hpp do on the CPU; a product takes and gives vectors of the host.
#pragma once

#include <memory>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/lattice/lattice_plan.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {

enum class KeptEntries { none, single_precision, double_precision };

/// Rows and columns as of the source. device: resolved, with memory of its own. The same bits on one kind of
/// device, however parts are shared among ranks. Throws MemoryError, Cancelled.
std::shared_ptr<const solve::PartedOperator> sensitivity_on_device(
    Device device, std::shared_ptr<const SensitivityColumns> source, KeptEntries kept, int threads = 0,
    Progress* progress = nullptr, solve::ShareOfParts share = {});

/// The same operator as LatticeSensitivity; the spectra lie on the device.
std::shared_ptr<const solve::PartedOperator> lattice_sensitivity_on_device(
    Device device, Lattice lattice, std::size_t stations, std::vector<Observable> observables,
    int threads = 0, Progress* progress = nullptr, solve::ShareOfParts share = {});

/// The same operator as TreeSensitivity, whose lists and near entries are made on the host and lie on the
/// device. Its products are those of the CPU to rounding.  bytes: set to what it takes of the device
std::shared_ptr<const solve::PartedOperator> tree_sensitivity_on_device(
    Device device, const SensitivityColumns& source, double accuracy, int threads = 0,
    Progress* progress = nullptr, solve::ShareOfParts share = {}, double* bytes = nullptr);
/// Memory of the device that this operator takes, from the whole tree's cost(), as CellTree::bytes does of
/// the host.
double bytes_of_trees_on_device(const Tree& whole, const TreeCost& counted,
                                const std::vector<Observable>& observables, std::size_t trees);

}  // namespace terrane::gravity
