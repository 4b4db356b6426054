// Direct current over the ranks of a run: each has the whole model and does some of the solves.
//
// A survey has many current electrodes, so these are what ranks share: they need no messages. Where there are
// fewer of them than ranks, or the memory does not take a mesh for each rank, several ranks share the nodes
// of a mesh; but GPUs only where it has so many that this is quicker, and else some of them have nothing to
// do.
#pragma once

#include "terrane/physics/electric/forward.hpp"
#include "terrane/simulation/runtime.hpp"
#include "terrane/simulation/sharing.hpp"

namespace terrane::electric {

/// The solves that ranks share, and the memory that each rank needs.
struct Load {
  std::size_t solves = 1;  ///< number of electrodes; each has a field
  double nodes = 0;        ///< of the mesh
  bool complex = false;
  double bytes_of_rank = 0;  ///< bytes that every rank needs, for the earth
  int ranks_per_field = 0;   ///< as Parameters have it
  double bytes_found = 0;    ///< bytes of the results of a solve, where they are large
  double coarser = 1.5;      ///< points of coarser levels, as a multiple of nodes

  /// Bytes of a machine with `ranks` ranks that share `fields` fields; rank 0 has all results on top.
  double memory(double fields = 1, double ranks = 1) const;
  /// Bytes for the results of `fields` solves on their rank and again on rank 0, which receives them.
  /// Messages need no more: rank 0 has memory for a second copy of all results, which it needs at the end.
  double handed_over(double fields) const { return 2 * fields * bytes_found; }
  /// Bytes on the GPU of each rank of the smallest group, where `ranks` ranks share `fields` fields.
  double part_of_gpu(int fields, int ranks) const;
};

/// at_rank_0: bytes of all results.
SolvesToShare solves_of(const Load& load, double at_rank_0 = 0);

/// direct_current() as called by rank 0, while the others are in serve(). device: receives what this rank
/// computed on · at_once: as in direct_current(). Throws as direct_current(), on all ranks.
DirectCurrentData direct_current_on_ranks(const TensorMesh& mesh, const Medium& medium,
                                          const Electrodes& electrodes, const Parameters& parameters,
                                          const Runtime& runtime, DirectCurrentReport& report, Device& device,
                                          int at_once = 0);

/// Called by the other ranks, while rank 0 is in direct_current_on_ranks().
void serve(Comm& comm);

}  // namespace terrane::electric
