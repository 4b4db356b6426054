// The operator of an inversion as its job asks for it, on this process or shared with other ranks: each rank
// makes, holds and applies its parts of G (solve/matrices/parted.hpp), and rank 0 does all else.
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

/// How G is held. automatic: whichever takes the least time of those that fit: by FFT where cells and
/// stations form a lattice, all entries in single precision, none, or clusters of cells by a tree or by fast
/// multipoles.
enum class Storage { automatic, lattice, tree, fmm, dense, single, disk, none };

struct StorageSettings {
  Storage storage = Storage::automatic;
  std::filesystem::path file;   ///< of Storage::disk
  double accuracy = 1e-9;       ///< of every entry
  double tree_accuracy = 1e-6;  ///< accuracy of products by tree and fmm, relative to the largest value
  Device device{Device::Kind::cpu, -1};  ///< a GPU computes products of every storage but Storage::disk
};

/// The service by which the other ranks do their shares of products.
inversion::Service shares_of_products();

/// Whether products can be done on a device; a file is read by the CPU, and fast multipoles run on it.
bool runs_on_devices(Storage storage);

/// The lattice of cells and stations; nothing where they form none: `reason` then says why.
std::optional<Lattice> lattice_of(const SensitivityColumns& source, int threads, std::string& reason);

/// All that determines the entries of G.
Fingerprint fingerprint(const SensitivityColumns& source, double accuracy);

/// Makes the operator G, with the source's rules for stations inside and on the surface of cells.
/// settings.storage: not automatic. The ranks of runtime.comm but 0 are in inversion::serve(), and stay with
/// the operator until it is gone. Adds a note about a file of sensitivities. workers: shared by several
/// operators that exist at the same time. Throws Cancelled, and what any rank throws.
std::shared_ptr<const solve::LinearOperator> make_operator(
    const std::shared_ptr<const SensitivityColumns>& source, const StorageSettings& settings,
    const Runtime& runtime, std::vector<std::string>& notes,
    std::shared_ptr<solve::Workers> workers = nullptr);

}  // namespace terrane::gravity::inverse
