// Where a computation runs: the CPU, a GPU, or the debug device.
//
// The debug device runs device code on the CPU, in memory of its own that host code may not touch: code
// that forgets a transfer or writes past the end of a buffer crashes there, even on a machine without a
// GPU.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace terrane {

struct Device {
  enum class Kind { automatic, cpu, debug, cuda };
  Kind kind = Kind::automatic;
  int index = -1;     ///< number of the GPU among those of CUDA_VISIBLE_DEVICES; −1: any
  int shared_by = 1;  ///< number of processes that share the memory of the device

  bool has_own_memory() const noexcept { return kind == Kind::debug || kind == Kind::cuda; }
  friend bool operator==(const Device&, const Device&) = default;
};

/// Reads "auto", "cpu", "debug", "cuda", "cuda:1". Throws an InputError that lists what is allowed.
Device device_from_text(std::string_view text);
/// The text that device_from_text reads.
std::string to_string(Device device);

struct DeviceMemory {
  std::size_t free = 0, total = 0;  ///< bytes
};

struct Gpu {
  int index = 0;
  std::string name;  ///< "NVIDIA H200"
  DeviceMemory memory;
  int multiprocessors = 0;
  int capability[2] = {};      ///< major and minor number of the compute capability: {9, 0}
  double fp64_per_second = 0;  ///< peak of multiply-adds in double precision
};

/// The GPUs that this build and this process can use; empty if there are none.
std::vector<Gpu> gpus();
/// The number of GPUs, without opening any of them.
int gpu_count();
/// Properties of one GPU. The call initialises it, so call it only for a GPU that will be used.
Gpu gpu(int index);
/// Why gpus() is empty: "this build has no CUDA", "no GPU found: <what the driver says>".
std::string why_no_gpu();

/// The device that `wanted` means on this machine. `automatic` means a GPU if there is one, else the CPU; a
/// GPU without a number means GPU number `place` of the node, counted round-robin. shared_by is not changed.
/// Throws an UnsupportedError with the reason and a list of available devices.
Device resolve(Device wanted, int place = 0);

/// The device's memory; `free` is this process's share of the free memory. {0, 0} for the CPU.
DeviceMemory device_memory(Device device);

/// Lets two devices of this process access each other's memory until the process ends. Returns false if they
/// cannot; copies between them then go through the host.
bool reach_peers(Device a, Device b);

/// "cpu", or the name of the GPU.
std::string device_name(Device device);

}  // namespace terrane
