// The GPU of a rank is initialised while rank 0 reads the job: the driver and a context take up to half a
// second.
#pragma once

#include <future>

#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

/// Initialises the GPU of this rank if `wanted` may mean a GPU and no other rank shares it. Errors are
/// ignored here: they recur when the GPU is used.
void begin_with_gpu(Device wanted, const Comm& comm);

/// Calls begin_with_gpu() in a separate thread, but only if the run will use a GPU where there is one: if the
/// job asks for it, or allows any device and the physics takes any GPU (Physics::takes_any_gpu). Where the
/// physics compares both, the CPU may be faster than the start of a GPU. The future's destructor waits until
/// the thread has ended.
[[nodiscard]] std::future<void> begin_with_gpu_aside(Device wanted, bool takes_any_gpu, const Comm& comm);

}  // namespace terrane
