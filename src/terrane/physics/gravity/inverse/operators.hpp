// The operator G of an inversion, the sensitivities of data to cells, stored as the job requests, in one
// process or shared by several ranks: each rank computes, stores and applies its parts of G
// (solve/matrices/parted.hpp), and rank 0 does everything else.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "terrane/inversion/job/services.hpp"
#include "terrane/physics/gravity/lattice/lattice_plan.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/simulation/checkpoint.hpp"
#include "terrane/simulation/runtime.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::gravity::inverse {

/// How G is stored.
///   automatic  the fastest of lattice, tree, fmm, single and none that fits in memory
///   lattice    the terms of its FFT, if cells and stations form a lattice
///   tree, fmm  clusters of cells, by a tree or by fast multipoles
///   dense      all entries in memory, in double precision; single: in single precision
///   disk       all entries in a file, in single precision
///   none       no entries; they are computed anew for each product
enum class Storage { automatic, lattice, tree, fmm, dense, single, disk, none };

struct StorageSettings {
  Storage storage = Storage::automatic;
  std::filesystem::path file;   ///< file of Storage::disk
  double accuracy = 1e-9;       ///< relative accuracy of every entry
  double tree_accuracy = 1e-6;  ///< accuracy of products by tree and fmm, relative to the largest value
  Device device{Device::Kind::cpu, -1};  ///< a GPU computes products of every storage but Storage::disk
};

/// The service by which the other ranks compute their shares of products.
inversion::Service shares_of_products();

/// Whether products can be computed on a device; those from a file and by fast multipoles are computed by the
/// CPU.
bool runs_on_devices(Storage storage);

/// The lattice of cells and stations; nothing if they form none, and `reason` then says why.
std::optional<Lattice> lattice_of(const SensitivityColumns& source, int threads, std::string& reason);

/// Everything that determines the entries of G.
Fingerprint fingerprint(const SensitivityColumns& source, double accuracy);

/// Makes the operator G, with the source's rules for stations inside and on the surface of cells.
/// settings.storage: not automatic. The ranks of runtime.comm other than 0 must be in inversion::serve(), and
/// serve the operator until it is destroyed. Adds to `notes` what happened to a file of sensitivities.
/// workers: one object for all operators that exist at the same time. Throws Cancelled, and any error of
/// another rank.
std::shared_ptr<const solve::LinearOperator> make_operator(
    const std::shared_ptr<const SensitivityColumns>& source, const StorageSettings& settings,
    const Runtime& runtime, std::vector<std::string>& notes,
    std::shared_ptr<solve::Workers> workers = nullptr);

}  // namespace terrane::gravity::inverse
