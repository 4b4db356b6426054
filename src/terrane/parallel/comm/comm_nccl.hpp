// NCCL as the way between GPUs. Only in builds with NCCL: link terrane::mpi, and see TERRANE_HAS_NCCL.
#pragma once

#include <memory>
#include <string>

#include "terrane/parallel/comm/comm_gpu.hpp"

namespace terrane {

/// "NCCL 2.28.3", of the library that is loaded.
std::string nccl_version();

/// For GpuComm; threads as those of for_each(). Throws UnsupportedError (device is no GPU), MemoryError,
/// Error in the words of CUDA or NCCL.
std::unique_ptr<GpuLink> nccl_link(Device device, int threads);

}  // namespace terrane
