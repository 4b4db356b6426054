// Links between GPUs by NCCL. Only in builds with NCCL: link terrane::mpi, and see TERRANE_HAS_NCCL.
#pragma once

#include <memory>
#include <string>

#include "terrane/parallel/comm/comm_gpu.hpp"

namespace terrane {

/// "NCCL 2.28.3": the version of the library that is loaded.
std::string nccl_version();

/// The link for broadcasts of GpuComm. threads: as for for_each(). Throws UnsupportedError (the device is not
/// a GPU), MemoryError, or Error with CUDA's or NCCL's message.
std::unique_ptr<GpuLink> nccl_link(Device device, int threads);
/// The link for direct messages of GpuComm. Throws what nccl_link() throws.
std::unique_ptr<DirectLink> nccl_direct_link(Device device);

}  // namespace terrane
