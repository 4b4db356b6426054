#include "terrane/simulation/early_gpu.hpp"

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

namespace {

void begin(Device wanted, const Comm::Place& place) {
  if (const int count = gpu_count(); count == 0 || place.sharing(count) > 1) return;
  try {
    // The first allocation, copy and wait of a process initialise more of the driver.
    Stream stream(resolve(wanted, place.index));
    Buffer<double> one(stream.device(), 1);
    one.fill_zero(stream);
    stream.wait();
  } catch (const Error&) {
  }
}

}  // namespace

void begin_with_gpu(Device wanted, const Comm& comm) {
  if (wanted.kind == Device::Kind::cuda || wanted.kind == Device::Kind::automatic)
    begin(wanted, comm.on_node());
}

std::future<void> begin_with_gpu_aside(Device wanted, bool takes_any_gpu, const Comm& comm) {
  const bool any = wanted.kind == Device::Kind::automatic && takes_any_gpu;
  if (wanted.kind != Device::Kind::cuda && !any) return {};
  return std::async(std::launch::async, [wanted, place = comm.on_node()] { begin(wanted, place); });
}

}  // namespace terrane
