// The GPU of a rank is initialised while rank 0 reads the job: the driver and a context take up to half a
// second.
#pragma once

#include <future>

#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

/// Initialises the GPU of this rank, where `wanted` may be one and the rank has it for itself. Errors are
/// ignored here: they recur when it is used.
void begin_with_gpu(Device wanted, const Comm& comm);

/// The same in a thread, where the job names a GPU; where any device will do, the CPU may turn out to be
/// faster than the start of a GPU, and nothing is begun. The future waits, at its end, until the thread is
/// through.
[[nodiscard]] std::future<void> begin_with_gpu_aside(Device wanted, const Comm& comm);

}  // namespace terrane
