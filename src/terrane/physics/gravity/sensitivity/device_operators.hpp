// G and Gᵀ on a device: every pair of station and cell computed anew for each product, the same entries kept
// there, or by FFT on a lattice. Twins of what columns.hpp and lattice_operator.hpp do on the processors; a
// product takes and gives vectors of the host.
#pragma once

#include <memory>

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/lattice/lattice_plan.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"

namespace terrane::gravity {

enum class KeptEntries { none, single_precision, double_precision };

/// Rows and columns as of the source. device: resolved, with memory of its own. The same bits on one kind of
/// device, however parts are shared among ranks. Throws MemoryError, Cancelled.
std::shared_ptr<const solve::PartedOperator> sensitivity_on_device(
    Device device, std::shared_ptr<const SensitivityColumns> source, KeptEntries kept, int threads = 0,
    Progress* progress = nullptr, solve::ShareOfParts share = {});

/// As LatticeSensitivity; the spectra lie on the device.
std::shared_ptr<const solve::PartedOperator> lattice_sensitivity_on_device(
    Device device, Lattice lattice, std::size_t stations, std::vector<Observable> observables,
    int threads = 0, Progress* progress = nullptr, solve::ShareOfParts share = {});

}  // namespace terrane::gravity
