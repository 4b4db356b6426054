// Electromagnetic fields over the ranks of a run: each has the whole model and does some of the solves.
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

/// The problem must outlive it.
SolvesToShare solves_of(const Problem& problem);
/// Bytes on the GPU of a rank of the smallest group: so many ranks share so many fields, in groups that
/// differ by a rank where they must. A rank has its part; three points around it on all levels of the four
/// cycles, and room for two messages of them; the levels that every rank has whole; and memory that others
/// have open, in pieces of 2 MiB, for the halo of each level. on_node: how many of the ranks share a machine.
double part_of_field(const Problem& problem, int fields, int ranks, int on_node);

/// Rank 0 of runtime's ranks, while the others serve().  device: what this rank computed on.  Throws as
/// forward(), on all ranks.
Outcome forward_on_ranks(const Problem& problem, const Runtime& runtime, Device& device);

/// A problem as a message.
inline void put(Packet& packet, const Problem& problem) { put_fields(problem, packet); }
inline Problem get_problem(Packet& packet) { return get_fields<Problem>(packet); }

/// The other ranks.
void serve(Comm& comm);

}  // namespace terrane::electromagnetic
