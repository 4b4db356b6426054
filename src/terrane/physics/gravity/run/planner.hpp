// Which method serves a run best, from costs that are counted before anything is summed.
#pragma once

#include <memory>
#include <string>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

struct MergedPrisms;
class Tree;
class LatticeOperator;

/// The method chosen, what it costs and why; and what was prepared on the way, so that run() need not do it
/// again. The prisms and stations that were planned for must outlive it.
struct MethodPlan {
  Method method = Method::direct;
  Device device{Device::Kind::cpu, -1};
  double seconds = 0;            ///< expected, on the threads asked for
  std::size_t memory_bytes = 0;  ///< beside the caller's arrays
  double device_bytes = 0;       ///< on a device with memory of its own, at least
  double estimated_error = 0;    ///< relative; see Parameters::accuracy
  std::string reason;
  /// Seconds that each method would take; infinity where it cannot serve or was not worth a closer look.
  double direct_seconds = 0, lattice_seconds = 0, tree_seconds = 0;

  /// The sum as planned, over the prisms that were planned for or bars of them.
  std::shared_ptr<Summation> summation(const Prisms& prisms, const Stations& stations,
                                       const Parameters& parameters, Progress& progress) const;

  std::shared_ptr<MergedPrisms> merged;  ///< when the direct sum runs over bars
  std::shared_ptr<Tree> tree;
  std::shared_ptr<LatticeOperator> lattice;
};

/// "direct", "lattice", "tree"
std::string_view name(Method method);

/// Looks at the geometry, never at the field. Takes milliseconds for small runs, and for large ones a small
/// part of the run. parameters.method other than automatic is obeyed. Throws InputError: a lattice was asked
/// for and there is none. MemoryError: the method asked for does not fit the device. Cancelled.
MethodPlan plan(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                Progress* progress = nullptr);

/// The sum by parameters.method, which is not automatic, over these very prisms: what a plan of another
/// process decided. Throws InputError: there is no lattice. Cancelled.
std::shared_ptr<Summation> summation(const Prisms& prisms, const Stations& stations,
                                     const Parameters& parameters, Progress& progress);

/// Sums for G = 1 as planned.
PartSums run(const MethodPlan& plan, const Prisms& prisms, const Stations& stations,
             const Parameters& parameters, Progress& progress);

/// "cpu (avx512, 16 threads)", "NVIDIA H200 (cuda:0)".
std::string describe(Device device, int threads);

/// What the direct sum takes one core, from a sample of pairs and the form that each takes.
struct DirectCost {
  double arithmetic = 0, sorting = 0;  ///< s
  double one_by_one = 0;  ///< part of the arithmetic: pairs in extended precision, which devices leave to the
                          ///< processors
  double near_share = 0;  ///< of all pairs: those of tiles too near for one multipole
  double seconds() const { return arithmetic + sorting; }
};
DirectCost direct_cost(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy);

}  // namespace terrane::gravity
