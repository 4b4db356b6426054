// Electromagnetic fields over the ranks of a run: each has the whole model and does some of the solves.
//
// A solve takes a second or minutes, and a survey has many, so sources and frequencies are what ranks share:
// they need no messages.
#pragma once

#include "terrane/physics/electromagnetic/forward.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::electromagnetic {

/// Rank 0 of runtime's ranks, while the others serve().  device: what this rank computed on.  Throws as
/// forward(); OutOfStep where others wait.
Outcome forward_on_ranks(const Problem& problem, const Runtime& runtime, Device& device);

/// The other ranks.
void serve(Comm& comm);

}  // namespace terrane::electromagnetic
