// Fields of sources at receivers: one solve for each source and frequency; the networks of the model serve
// all.
#pragma once

#include "terrane/base/progress.hpp"
#include "terrane/job/checkpoint.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/physics/electromagnetic/outcome.hpp"

namespace terrane::electromagnetic {

/// Collective: all ranks pass the same problem and `at_once`, into how many groups they are divided; each
/// group does the solves that are its turn, and its ranks share their fields. Rank 0 returns all of them. The
/// same bits for any number of threads, ranks and groups. A solve that does not converge is in the outcome,
/// its data as they are.
/// at_once: 1 … ranks; 0: one group for each rank, or each solve where these are fewer.  checkpoint: that of
/// rank 0 counts; finished solves are kept there, and a run that goes on from it has the same bits. Throws
/// InputError, MemoryError, Cancelled: on all ranks; OutOfStep: one of several that share a field failed.
Outcome forward(const Problem& problem, Stream& stream, Progress* progress = nullptr, Comm* comm = nullptr,
                int at_once = 0, const CheckpointSettings& checkpoint = {});

}  // namespace terrane::electromagnetic
