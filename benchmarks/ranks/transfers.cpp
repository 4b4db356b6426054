// What moving bytes between ranks takes: a broadcast from rank 0, and a send to it from every other rank in
// turn, as gravity/distribute.cpp does; and a broadcast through the GPUs, where each rank has one. Prints
// JSON; the best and the worst of the repeats.
//
//     mpirun -n 2 ranks_transfers [GIGABYTES...]      (0.1 by itself)
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "terrane/parallel/comm/comm_mpi.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#ifdef TERRANE_HAS_NCCL
#include "terrane/parallel/comm/comm_nccl.hpp"
#endif

namespace {

using terrane::Comm;

/// Seconds of work that all ranks begin together, as rank 0 sees them.
template <class Work>
std::vector<double> seconds_of(Comm& comm, const Work& work, int repeats) {
  std::vector<double> all;
  for (int n = 0; n < repeats; ++n) {
    comm.lowest(0);
    const auto start = std::chrono::steady_clock::now();
    work();
    all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  {
    const auto comm = terrane::mpi_comm(MPI_COMM_WORLD);
    terrane::share_cores(comm->on_node().count);
    std::string gpus = "this build has no NCCL";
#ifdef TERRANE_HAS_NCCL
    terrane::GpuComm through_gpus(*comm, terrane::nccl_link, terrane::GpuLinkUse::always);
    if (terrane::gpu_count() > 0)
      gpus = through_gpus.prepare(terrane::resolve({terrane::Device::Kind::cuda, -1}, comm->on_node().index),
                                  1'000'000'000, 0);
    else gpus = terrane::why_no_gpu();
#endif
    std::vector<double> sizes;
    for (int i = 1; i < argc; ++i) sizes.push_back(std::atof(argv[i]));
    if (sizes.empty()) sizes = {0.1};
    std::string rows;
    for (const double gigabytes : sizes) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(1e9 * gigabytes), std::byte{1});
      const int repeats = gigabytes > 0.5 ? 3 : 7;
      const auto add = [&](const char* what, double sent, const std::vector<double>& seconds) {
        rows += fmt::format(
            "{}\n  {{\"what\": \"{}\", \"gigabytes\": {}, \"seconds\": {:.4f}, \"longest\": {:.4f}, "
            "\"gigabytes_per_second\": {:.2f}}}",
            rows.empty() ? "" : ",", what, sent, seconds.front(), seconds.back(), sent / seconds.front());
      };
      add("broadcast", gigabytes,
          seconds_of(
              *comm, [&] { comm->broadcast(bytes, 0); }, repeats));
#ifdef TERRANE_HAS_NCCL
      if (gpus.find("ready") != gpus.npos)
        add("broadcast through GPUs", gigabytes,
            seconds_of(
                *comm, [&] { through_gpus.broadcast(bytes, 0); }, repeats));
#endif
      const auto collect = [&] {
        if (comm->rank() > 0) return comm->send(bytes, 0);
        for (int rank = 1; rank < comm->size(); ++rank) comm->receive(bytes, rank);
      };
      add("send to rank 0", gigabytes * (comm->size() - 1), seconds_of(*comm, collect, repeats));
    }
    if (comm->rank() == 0)
      fmt::print(
          "{{\"what\": \"transfers between ranks\", \"ranks\": {}, \"gpus\": \"{}\", \"rows\": [{}\n]}}\n",
          comm->size(), gpus, rows);
  }
  MPI_Finalize();
}
