// Electromagnetic fields on the ranks of a run: each rank has the whole model and does some of the solves.
//
// A solve takes a second or minutes, and a survey has many, so sources and frequencies are what ranks share:
// they need no messages. Where there are fewer of them than ranks, or the memory does not take as many fields
// as ranks, several ranks share each field, a part of the mesh each (grid/maxwell.hpp); but GPUs only where a
// field has so many unknowns that this is quicker, and else some of them have nothing to do.
#pragma once

#include "terrane/physics/electromagnetic/forward.hpp"
#include "terrane/simulation/runtime.hpp"
#include "terrane/simulation/sharing.hpp"

namespace terrane::electromagnetic {

/// The solves that ranks share. The problem must outlive them.
SolvesToShare solves_of(const Problem& problem);
/// Bytes on the GPU of a rank of the smallest group, where `ranks` ranks share `fields` fields in groups that
/// differ by one rank at most: its part of the mesh; three points around it on all levels of the four cycles,
/// and memory for two messages of them; the levels that every rank has whole; and memory that others have
/// open, in pieces of 2 MiB, for the halo of each level. on_node: number of these ranks on one machine.
double part_of_field(const Problem& problem, int fields, int ranks, int on_node);

/// forward() as called by rank 0, while the others are in serve(). device: receives what this rank computed
/// on. Throws as forward(), on all ranks.
Outcome forward_on_ranks(const Problem& problem, const Runtime& runtime, Device& device);

/// A problem as a message.
inline void put(Packet& packet, const Problem& problem) { put_fields(problem, packet); }
inline Problem get_problem(Packet& packet) { return get_fields<Problem>(packet); }

/// Called by the other ranks, while rank 0 is in forward_on_ranks().
void serve(Comm& comm);

}  // namespace terrane::electromagnetic
