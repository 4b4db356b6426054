// NCCL as the way between GPUs. Only in builds with NCCL: link terrane::mpi, and see TERRANE_HAS_NCCL.
#pragma once

#include <memory>
#include <string>

#include "terrane/parallel/comm/comm_gpu.hpp"

namespace terrane {

/// "NCCL 2.28.3": the version of the library that is loaded.
std::string nccl_version();

/// For GpuComm; threads: as for for_each(). Throws UnsupportedError (the device is not a GPU), MemoryError,
/// or Error with CUDA's or NCCL's message.
std::unique_ptr<GpuLink> nccl_link(Device device, int threads);
/// Direct messages for GpuComm. Throws the same.
std::unique_ptr<DirectLink> nccl_direct_link(Device device);

}  // namespace terrane
