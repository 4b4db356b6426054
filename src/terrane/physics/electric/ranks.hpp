// Direct current on the ranks of a run: each rank has the whole model and computes some of the solves.
//
// A survey has many current electrodes, and ranks share these, which needs no messages. If there are fewer
// electrodes than ranks, or the memory does not suffice for a mesh per rank, several ranks share the nodes of
// a mesh. GPUs do so only if the mesh has so many nodes that sharing is faster; otherwise some GPUs stay
// idle.
#pragma once

#include "terrane/physics/electric/forward.hpp"
#include "terrane/simulation/runtime.hpp"
#include "terrane/simulation/sharing.hpp"

namespace terrane::electric {

/// The solves to distribute over ranks, and the memory that each rank needs.
struct Load {
  std::size_t solves = 1;  ///< number of electrodes; each needs one field
  double nodes = 0;        ///< number of nodes of the mesh
  bool complex = false;
  double bytes_of_rank = 0;  ///< bytes that every rank needs for the earth
  int ranks_per_field = 0;   ///< setting of the same name in Parameters
  double bytes_found = 0;    ///< bytes of the fields that a solve returns; 0 if it returns none
  double coarser = 1.5;      ///< points of all coarser multigrid levels, relative to nodes

  /// Bytes on a machine whose `ranks` ranks solve for `fields` electrodes at the same time, without the
  /// results on rank 0.
  double memory(double fields = 1, double ranks = 1) const;
  /// Bytes for the results of `fields` solves: once on the ranks that compute them, and once on rank 0, which
  /// receives them. The latter lie in memory that rank 0 needs later for a second copy of all results.
  double handed_over(double fields) const { return 2 * fields * bytes_found; }
  /// Bytes on the GPU of each rank of the smallest group, if `ranks` ranks solve for `fields` electrodes at
  /// the same time.
  double part_of_gpu(int fields, int ranks) const;
};

/// The solves to distribute. at_rank_0: bytes of all results.
SolvesToShare solves_of(const Load& load, double at_rank_0 = 0);

/// direct_current(), called by rank 0 while the other ranks are in serve(). device: is set to the device that
/// this rank used; at_once: as in direct_current(). Throws what direct_current() throws, on all ranks.
DirectCurrentData direct_current_on_ranks(const TensorMesh& mesh, const Medium& medium,
                                          const Electrodes& electrodes, const Parameters& parameters,
                                          const Runtime& runtime, DirectCurrentReport& report, Device& device,
                                          int at_once = 0);

/// Called by the other ranks, while rank 0 is in direct_current_on_ranks().
void serve(Comm& comm);

}  // namespace terrane::electric
