// A pattern of computing on all ranks of a run: rank 0 calls the others and sends them the task; all prepare
// it, agree whether that succeeded, and compute; then all end together.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "terrane/simulation/runtime.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane {

/// The communicator, device and threads of a rank.
struct RankPlace {
  Comm& comm;
  Device device;
  int threads;
};

/// To be called on rank 0 of runtime's ranks, while the others are in serve(): starts Physics::serve of
/// `physics` on these, with the task that `put` writes into a packet. work: rank 0's own part. Throws what
/// work throws; OutOfStep if the others wait for rank 0.
template <class Put, class Work>
auto lead_ranks(std::string_view physics, const Runtime& runtime, const Put& put, const Work& work) {
  Alone alone;
  Comm& comm = runtime.comm ? *runtime.comm : alone;
  const RankPlace here{comm, device_of_rank(runtime.device, comm), runtime.threads};
  if (comm.size() > 1) {
    Packet packet;
    packet.put(device_for_ranks(runtime.device, comm));
    packet.put(runtime.threads);
    put(packet);
    call(comm, physics, std::move(packet));
    together(comm, [] {});
  }
  using Made = decltype(work(here));
  if constexpr (std::is_void_v<Made>) {
    keep_in_step(comm, [&] { work(here); });
  } else {
    std::optional<Made> made;
    keep_in_step(comm, [&] { made = work(here); });
    return std::move(*made);
  }
}

/// To be called on the other ranks.  take(packet): reads the task · work(task, place): does it.  Errors that
/// all ranks throw are reported by rank 0.
template <class Take, class Work>
void follow_ranks(Comm& comm, const Take& take, const Work& work) {
  Packet packet;
  packet.broadcast(comm);
  serve_in_step(comm, [&] {
    std::optional<decltype(take(packet))> task;
    Device device;
    int threads = 0;
    together(comm, [&] {
      const auto wanted = packet.get<Device>();
      threads = packet.get<int>();
      task = take(packet);
      device = device_of_rank(wanted, comm);
    });
    work(*task, RankPlace{comm, device, threads});
  });
}

}  // namespace terrane
