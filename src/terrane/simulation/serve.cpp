#include "terrane/simulation/serve.hpp"

#include <fmt/format.h>

#include "terrane/base/error.hpp"
#include "terrane/simulation/early_gpu.hpp"

namespace terrane {

namespace {

void say(Comm& comm, std::string_view physics) {
  Packet packet;
  packet.put(std::string(physics));
  packet.broadcast(comm);
}

/// The word that foretell() broadcasts where call() broadcasts the name of a physics. A rank that receives it
/// may initialise its GPU while rank 0 still reads its input; then it waits for the name of a physics.
constexpr std::string_view a_device = "a device";

}  // namespace

void call(Comm& comm, std::string_view physics) { say(comm, physics); }

void call(Comm& comm, std::string_view physics, Packet packet) {
  try {
    say(comm, physics);
    packet.broadcast(comm);
  } catch (const std::exception& error) {
    throw OutOfStep("rank 0", error.what());
  }
}

void foretell(Comm& comm, Device wanted) {
  if (comm.size() == 1) return;
  Packet packet;
  packet.put(wanted);
  call(comm, a_device, std::move(packet));
}

void keep_in_step(Comm& comm, const std::function<void()>& work) {
  const auto before = comm.errors_of_all();
  try {
    work();
  } catch (const Cancelled&) {
    throw;
  } catch (const OutOfStep&) {
    throw;
  } catch (const std::exception& error) {
    if (comm.size() == 1 || comm.errors_of_all() > before) throw;
    throw OutOfStep(fmt::format("rank {}", comm.rank()), error.what());
  }
}

bool serve_in_step(Comm& comm, const std::function<void()>& work) {
  try {
    keep_in_step(comm, work);
  } catch (const OutOfStep&) {
    throw;
  } catch (const std::exception&) {  // rank 0 throws this error, too, and reports it
    return false;
  }
  return true;
}

void dismiss(Comm& comm) { say(comm, ""); }

Device device_of_rank(Device wanted, const Comm& comm) {
  return resolve(shared_device(wanted, comm), comm.on_node().index);
}

Device device_for_ranks(Device wanted, const Comm& comm) {
  return {device_of_rank(wanted, comm).kind, wanted.index};
}

void serve(const Registry& registry, Comm& comm) {
  gpu_count();  // called while rank 0 reads the job, because counting several GPUs takes up to a second
  for (;;) {
    Packet packet;
    packet.broadcast(comm);
    const auto physics = packet.get<std::string>();
    if (physics.empty()) return;
    if (physics == a_device) {
      Packet device;
      device.broadcast(comm);
      begin_with_gpu(device.get<Device>(), comm);
      continue;
    }
    registry.find(physics).serve(comm);
  }
}

}  // namespace terrane
