// Fields of sources at receivers: one solve for each source and frequency; the multigrid networks are set up
// once per model and used by all solves.
#pragma once

#include "terrane/base/progress.hpp"
#include "terrane/job/checkpoint.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/physics/electromagnetic/outcome.hpp"

namespace terrane::electromagnetic {

/// Collective: all ranks pass the same problem. The ranks are divided into `at_once` groups, which compute
/// different solves at the same time; the ranks of a group share one field. Rank 0 returns all results. The
/// result is bitwise identical for any number of threads, ranks and groups. A solve that does not converge is
/// reported in the outcome, with its data as computed.
/// at_once: 1 … number of ranks; 0: that number, or the number of solves if it is less.  checkpoint: that of
/// rank 0 is used; finished solves are saved there, and a resumed run gives bitwise identical results. Throws
/// InputError, MemoryError, Cancelled: on all ranks; OutOfStep: one of several ranks that share a field
/// failed.
Outcome forward(const Problem& problem, Stream& stream, Progress* progress = nullptr, Comm* comm = nullptr,
                int at_once = 0, const CheckpointSettings& checkpoint = {});

}  // namespace terrane::electromagnetic
