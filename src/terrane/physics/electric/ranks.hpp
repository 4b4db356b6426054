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

/// What is to be solved for, and what a rank holds beside it.
struct Load {
  std::size_t solves = 1;  ///< electrodes, of each of which there is a field
  double nodes = 0;        ///< of the mesh
  bool complex = false;
  double bytes_of_rank = 0;  ///< the earth, on every rank
  int ranks_per_field = 0;   ///< as Parameters have it
  double bytes_found = 0;    ///< of what a solve finds, where that is much
  double coarser = 1.5;      ///< points of coarser levels, as a multiple of nodes

  /// Of a machine with so many ranks that share so many fields; of rank 0 what all find comes on top.
  double memory(double fields = 1, double ranks = 1) const;
  /// What is found of each of these fields, and the same as the numbers that rank 0 is handed. The messages
  /// are none more: rank 0 has room for another copy of all that is found, which it needs when all is done.
  double handed_over(double fields) const { return 2 * fields * bytes_found; }
  /// Of the GPU of each rank of the smallest of so many groups.
  double part_of_gpu(int fields, int ranks) const;
};

/// at_rank_0: bytes of what is found.
SolvesToShare solves_of(const Load& load, double at_rank_0 = 0);

/// Rank 0 of runtime's ranks, while the others serve().  device: what this rank computed on · at_once: as
/// direct_current() takes it.  Throws as direct_current(), on all ranks.
DirectCurrentData direct_current_on_ranks(const TensorMesh& mesh, const Medium& medium,
                                          const Electrodes& electrodes, const Parameters& parameters,
                                          const Runtime& runtime, DirectCurrentReport& report, Device& device,
                                          int at_once = 0);

/// The other ranks.
void serve(Comm& comm);

}  // namespace terrane::electric
