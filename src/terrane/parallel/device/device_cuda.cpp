// The CUDA runtime behind parallel/device/cuda.hpp. Every call is checked.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/cuda.hpp"

namespace terrane::detail::cuda {

void check(int status, const char* call) {
  const auto error = static_cast<cudaError_t>(status);
  if (error == cudaSuccess) return;
  throw Error(fmt::format("cuda: {}", call), cudaGetErrorString(error),
              "Run the same job with device = \"cpu\" to see whether the GPU is at fault; compute-sanitizer "
              "names the place.");
}

void use(int index) { check(cudaSetDevice(index), "cudaSetDevice"); }

int count(std::string& why) {
  int found = 0;
  const auto error = cudaGetDeviceCount(&found);
  if (error != cudaSuccess) {
    cudaGetLastError();  // or later calls report it again
    why = fmt::format("no GPU found: {}", cudaGetErrorString(error));
    return 0;
  }
  if (found == 0) why = "no GPU found";
  return found;
}

namespace {

/// Multiply-adds in double that a multiprocessor begins in a clock.
int fp64_lanes(int major, int minor) {
  if ((major == 8 || major == 7 || major == 6) && minor == 0) return 32;
  if ((major == 9 || major == 10) && minor == 0) return 64;
  return 2;  // made for graphics
}

}  // namespace

Gpu describe(int index) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  int kilohertz = 0;
  check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, index), "cudaDeviceGetAttribute");
  return {index,
          properties.name,
          memory(index),
          properties.multiProcessorCount,
          {properties.major, properties.minor},
          1e3 * kilohertz * properties.multiProcessorCount * fp64_lanes(properties.major, properties.minor)};
}

int least_capability() { return TERRANE_LEAST_CAPABILITY; }

DeviceMemory memory(int index) {
  use(index);
  DeviceMemory found;
  check(cudaMemGetInfo(&found.free, &found.total), "cudaMemGetInfo");
  return found;
}

void* make_stream(int index, bool urgent) {
  use(index);
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  cudaStream_t stream;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent ? greatest : least),
        "cudaStreamCreate");
  return stream;
}

void drop_stream(int index, void* stream) noexcept {
  if (cudaSetDevice(index) == cudaSuccess) cudaStreamDestroy(static_cast<cudaStream_t>(stream));
}

void wait(int index, void* stream) {
  use(index);
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize");
}

void* allocate(int index, std::size_t bytes) {
  use(index);
  void* memory = nullptr;
  const auto error = cudaMalloc(&memory, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(error, "cudaMalloc");
  return memory;
}

void release(int index, void* memory) noexcept {
  if (memory && cudaSetDevice(index) == cudaSuccess) cudaFree(memory);
}

void upload(int index, void* stream, const void* from, void* to, std::size_t bytes) {
  use(index);
  const auto s = static_cast<cudaStream_t>(stream);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s), "cudaMemcpyAsync to the device");
  check(cudaStreamSynchronize(s), "cudaStreamSynchronize");
}

void download(int index, void* stream, const void* from, void* to, std::size_t bytes) {
  use(index);
  const auto s = static_cast<cudaStream_t>(stream);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, s), "cudaMemcpyAsync from the device");
  check(cudaStreamSynchronize(s), "cudaStreamSynchronize");
}

void fill_zero(int index, void* stream, void* memory, std::size_t bytes) {
  use(index);
  check(cudaMemsetAsync(memory, 0, bytes, static_cast<cudaStream_t>(stream)), "cudaMemsetAsync");
}

}  // namespace terrane::detail::cuda
