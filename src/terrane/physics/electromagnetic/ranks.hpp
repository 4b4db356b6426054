// Electromagnetic fields on the ranks of a run: each rank has the whole model and computes some of the
// solves.
//
// A solve takes seconds to minutes, and a survey has many solves, so ranks share sources and frequencies,
// which needs no messages. If there are fewer solves than ranks, or the memory does not suffice for as many
// fields as ranks, several ranks share each field, each computing a part of the mesh (grid/maxwell.hpp). GPUs
// do so only if a field has so many unknowns that sharing is faster; otherwise some GPUs stay idle.
#pragma once

#include "terrane/physics/electromagnetic/forward.hpp"
#include "terrane/simulation/runtime.hpp"
#include "terrane/simulation/sharing.hpp"

namespace terrane::electromagnetic {

/// The solves to distribute over ranks. `problem` must outlive the result.
SolvesToShare solves_of(const Problem& problem);
/// Bytes on the GPU of one rank in the smallest group, if `ranks` ranks share `fields` fields in groups that
/// differ by at most one rank: the rank's part of the mesh; a halo of three points on all levels of the four
/// multigrid cycles, and memory for two messages of this halo; the coarse levels, which every rank stores
/// entirely; and the memory that other ranks map for the halo of each level, in pieces of 2 MiB. on_node:
/// number of these ranks on one machine.
double part_of_field(const Problem& problem, int fields, int ranks, int on_node);

/// forward(), called by rank 0 while the other ranks are in serve(). device: is set to the device that this
/// rank used. Throws what forward() throws, on all ranks.
Outcome forward_on_ranks(const Problem& problem, const Runtime& runtime, Device& device);

/// Writes a problem to a message; get_problem() reads it.
inline void put(Packet& packet, const Problem& problem) { put_fields(problem, packet); }
inline Problem get_problem(Packet& packet) { return get_fields<Problem>(packet); }

/// Called by the other ranks, while rank 0 is in forward_on_ranks().
void serve(Comm& comm);

}  // namespace terrane::electromagnetic
