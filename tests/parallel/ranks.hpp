// The ranks that a test of tests/parallel runs on: started by mpirun, every rank runs every test.
#pragma once

#include <mpi.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/parallel/comm/comm_gpu.hpp"
#include "terrane/parallel/comm/comm_mpi.hpp"
#include "terrane/parallel/device/device.hpp"
#ifdef TERRANE_HAS_NCCL
#include "terrane/parallel/comm/comm_nccl.hpp"
#endif

namespace terrane::test {

enum class Order { as_started, reversed, odd_ones_first };

/// All ranks, numbered anew.
inline std::unique_ptr<Comm> ranks(Order order = Order::as_started,
                                   std::size_t most_at_once = std::size_t{1} << 30) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int key = order == Order::reversed         ? -rank
                  : order == Order::odd_ones_first ? rank + (rank % 2 == 0 ? size : 0)
                                                   : rank;
  MPI_Comm renumbered;
  MPI_Comm_split(MPI_COMM_WORLD, 0, key, &renumbered);
  auto comm = mpi_comm(renumbered, most_at_once);
  MPI_Comm_free(&renumbered);
  return comm;
}

/// The same ranks with direct messages between devices, where there can be any.
inline std::unique_ptr<GpuComm> with_direct_messages(Comm& below) {
#ifdef TERRANE_HAS_NCCL
  return std::make_unique<GpuComm>(below, nccl_link, GpuLinkUse::always, nccl_direct_link);
#else
  return std::make_unique<GpuComm>(below, GpuComm::MakeLink{}, GpuLinkUse::always);
#endif
}

/// The devices between which messages can be direct: the debug device, and a GPU of the rank's own.
inline std::vector<Device> devices_with_direct_messages([[maybe_unused]] const Comm& comm) {
  std::vector<Device> all{{Device::Kind::debug, -1}};
#ifdef TERRANE_HAS_NCCL
  if (comm.size() > 1 && gpu_count() >= comm.size())
    all.push_back(resolve({Device::Kind::cuda, -1}, comm.on_node().index));
#endif
  return all;
}

/// Whether ranks on GPUs can bring each other messages by kernels: each has its own, or
/// TERRANE_TEST_SHARED_GPUS is set, with which main.cpp lets them share those that there are.
inline bool has_gpus_for(Comm& comm) {
  const int needed = std::getenv("TERRANE_TEST_SHARED_GPUS") != nullptr ? 1 : comm.size();
  return comm.size() > 1 && comm.lowest(gpu_count() >= needed && comm.on_node().count == comm.size()) == 1;
}

/// Of a run that is cancelled as soon as it asks.
struct Impatient final : Progress {
  bool cancelled() const override { return true; }
};

/// The CPU and the debug device, and the first GPU where there is one.
inline std::vector<Device> devices_here() {
  std::vector<Device> all{{Device::Kind::cpu, -1}, {Device::Kind::debug, -1}};
  if (gpu_count() > 0) all.push_back({Device::Kind::cuda, 0});
  return all;
}

}  // namespace terrane::test
