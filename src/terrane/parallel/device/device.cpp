#include "terrane/parallel/device/device.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/buffer.hpp"
#include "terrane/parallel/device/cuda.hpp"
#include "terrane/parallel/device/debug_memory.hpp"
#include "terrane/parallel/device/pinned.hpp"

namespace terrane {

namespace cuda = detail::cuda;

Device device_from_text(std::string_view text) {
  using Kind = Device::Kind;
  if (text == "auto") return {};
  if (text == "cpu") return {Kind::cpu, -1};
  if (text == "debug") return {Kind::debug, -1};
  if (text == "cuda") return {Kind::cuda, -1};
  if (text.starts_with("cuda:")) {
    int index = -1;
    const char *first = text.data() + 5, *last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, index);
    if (error == std::errc{} && end == last && index >= 0) return {Kind::cuda, index};
  }
  throw InputError("device", fmt::format("\"{}\" is no device", text),
                   "Allowed: auto, cpu, cuda, cuda:N with the number of a GPU, debug.");
}

std::string to_string(Device device) {
  switch (device.kind) {
    case Device::Kind::automatic:
      return "auto";
    case Device::Kind::cpu:
      return "cpu";
    case Device::Kind::debug:
      return "debug";
    case Device::Kind::cuda:
      return device.index < 0 ? "cuda" : fmt::format("cuda:{}", device.index);
  }
  return "";
}

int gpu_count() {
  std::string why;
  return cuda::count(why);
}

std::string why_no_gpu() {
  std::string why;
  cuda::count(why);
  return why;
}

std::vector<Gpu> gpus() {
  std::vector<Gpu> all;
  for (int i = 0, count = gpu_count(); i < count; ++i) all.push_back(cuda::describe(i));
  return all;
}

Gpu gpu(int index) { return cuda::describe(index); }

namespace {

/// The reason why this build cannot use an existing GPU; empty if it can.
std::string why_not(const Gpu& gpu) {
  const int least = cuda::least_capability();
  if (10 * gpu.capability[0] + gpu.capability[1] >= least) return {};
  return fmt::format("{} has compute capability {}.{}, and this build has code from {}.{} on", gpu.name,
                     gpu.capability[0], gpu.capability[1], least / 10, least % 10);
}

/// A GPU if there is one, else silently the CPU.
Device any_device(int place, int shared_by) {
  const Device cpu{Device::Kind::cpu, -1};
  try {
    const int count = gpu_count();
    if (count == 0) return cpu;
    const int index = place % count;
    return why_not(gpu(index)).empty() ? Device{Device::Kind::cuda, index, shared_by} : cpu;
  } catch (const Error&) {  // another program has the GPU for itself, or the GPU does not work
    return cpu;
  }
}

}  // namespace

Device resolve(Device wanted, int place) {
  using Kind = Device::Kind;
  if (wanted.kind == Kind::cpu || wanted.kind == Kind::debug) return wanted;
  if (wanted.kind == Kind::automatic) return any_device(place, wanted.shared_by);
  const int count = gpu_count();
  if (count == 0)
    throw UnsupportedError("device",
                           fmt::format("\"{}\" is not to be had: {}", to_string(wanted), why_no_gpu()),
                           "Available: cpu. device = \"auto\" takes a GPU where there is one.");
  const int index = wanted.index < 0 ? place % count : wanted.index;
  if (index >= count) {
    std::string there;
    for (const auto& gpu : gpus()) there += fmt::format(", cuda:{} ({})", gpu.index, gpu.name);
    throw UnsupportedError("device", fmt::format("there is no {}", to_string(wanted)),
                           "Available: cpu" + there + ".");
  }
  if (const auto why = why_not(gpu(index)); !why.empty())
    throw UnsupportedError("device", why,
                           "Build with -DCMAKE_CUDA_ARCHITECTURES for it, or write device = \"cpu\".");
  return {Kind::cuda, index, wanted.shared_by};
}

DeviceMemory device_memory(Device device) {
  DeviceMemory memory;
  if (device.kind == Device::Kind::debug) memory = {detail::debug_free(), detail::debug_total()};
  else if (device.kind == Device::Kind::cuda) memory = cuda::memory(device.index);
  memory.free /= static_cast<std::size_t>(device.shared_by);
  return memory;
}

bool reach_peers(Device a, Device b) {
  if (a.kind != b.kind) return false;
  if (a.kind != Device::Kind::cuda || a.index == b.index) return true;
  return cuda::enable_peers(a.index, b.index) && cuda::enable_peers(b.index, a.index);
}

std::string device_name(Device device) {
  if (device.kind == Device::Kind::cuda) return cuda::describe(device.index).name;
  return to_string(device);
}

Stream::Stream(Device device, bool urgent, int threads) : device_(device), threads_(threads) {
  if (device.kind == Device::Kind::cuda) handle_ = cuda::make_stream(device.index, urgent);
}

Stream::~Stream() {
  if (handle_) cuda::drop_stream(device_.index, handle_);
}

void Stream::not_for_gpus() {
  throw UnsupportedError("device code", "was compiled for the CPU, and asked to run on a GPU",
                         "Launch kernels from files of device code (*.cu), in a build with CUDA.");
}

void Stream::wait() {
  if (handle_) cuda::wait(device_.index, handle_);
}

namespace detail {

void* allocate(Device device, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  switch (device.kind) {
    case Device::Kind::cuda:
      memory = cuda::allocate(device.index, bytes);
      break;
    case Device::Kind::debug:
      memory = debug_allocate(bytes);
      break;
    default:
      return ::operator new (bytes, std::align_val_t{64});
  }
  if (memory) return memory;
  device.shared_by = 1;  // so that the error message gives all free memory, for which allocation was tried
  throw MemoryError(
      to_string(device),
      fmt::format("{:.4g} MB of device memory are wanted, {:.4g} MB are free",
                  static_cast<double>(bytes) * 1e-6, static_cast<double>(device_memory(device).free) * 1e-6),
      "Use more GPUs with mpirun, another device, or device = \"cpu\".");
}

void release(Device device, void* memory) noexcept {
  if (!memory) return;
  switch (device.kind) {
    case Device::Kind::cuda:
      return cuda::release(device.index, memory);
    case Device::Kind::debug:
      return debug_release(memory);
    default:
      ::operator delete (memory, std::align_val_t{64});
  }
}

void upload(Stream& stream, const void* from, void* to, std::size_t bytes, bool wait) {
  if (bytes == 0) return;
  if (stream.device().kind != Device::Kind::cuda)
    return stream.do_on_host([=] { std::memcpy(to, from, bytes); });
  cuda::upload(stream.device().index, stream.handle(), from, to, bytes);
  if (wait) stream.wait();
}

void download(Stream& stream, const void* from, void* to, std::size_t bytes, bool wait) {
  if (bytes == 0) return;
  if (stream.device().kind != Device::Kind::cuda)
    return stream.do_on_host([=] { std::memcpy(to, from, bytes); });
  cuda::download(stream.device().index, stream.handle(), from, to, bytes);
  if (wait) stream.wait();
}

void copy(Stream& stream, Device source, const void* from, Device target, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  if (source.kind != target.kind)
    throw UnsupportedError("copy", "from " + to_string(source) + " to " + to_string(target),
                           "Go through the host: download, then upload.");
  if (source.kind != Device::Kind::cuda) return stream.do_on_host([=] { std::memcpy(to, from, bytes); });
  cuda::copy(stream.device().index, stream.handle(), source.index, from, target.index, to, bytes);
}

void* allocate_pinned(Device device, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (device.kind != Device::Kind::cuda) return ::operator new (bytes, std::align_val_t{64});
  if (void* memory = cuda::allocate_pinned(device.index, bytes)) return memory;
  throw MemoryError("pinned memory", fmt::format("{:.4g} MB are wanted", static_cast<double>(bytes) * 1e-6),
                    "Allow more locked memory (ulimit -l), or start fewer ranks on each node.");
}

void release_pinned(Device device, void* memory) noexcept {
  if (!memory) return;
  if (device.kind == Device::Kind::cuda) cuda::release_pinned(device.index, memory);
  else ::operator delete (memory, std::align_val_t{64});
}

void check_holds(std::size_t size, Index wanted) {
  if (wanted < 0 || static_cast<std::size_t>(wanted) > size)
    throw ShapeError("buffer", fmt::format("a view of {} elements of a buffer that holds {}", wanted, size));
}

void fill_zero(Stream& stream, void* memory, std::size_t bytes) {
  if (bytes == 0) return;
  if (stream.device().kind == Device::Kind::cuda)
    return cuda::fill_zero(stream.device().index, stream.handle(), memory, bytes);
  stream.do_on_host([=] { std::memset(memory, 0, bytes); });
}

}  // namespace detail

}  // namespace terrane
