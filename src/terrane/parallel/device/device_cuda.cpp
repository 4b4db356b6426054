// The CUDA runtime behind parallel/device/cuda.hpp. Every call is checked.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/cuda.hpp"

namespace terrane::detail::cuda {

void check(int status, const char* call) {
  const auto error = static_cast<cudaError_t>(status);
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears the error, which later calls would report: a run may go on without this GPU
  throw Error(fmt::format("cuda: {}", call), cudaGetErrorString(error),
              "Run the same job with device = \"cpu\" to see whether the GPU is at fault; compute-sanitizer "
              "names the place.");
}

void use(int index) { check(cudaSetDevice(index), "cudaSetDevice"); }

namespace {

/// What an error of counting GPUs means. CUDA says of a missing driver that it is too old.
std::string without_gpus(cudaError_t error) {
  if (error != cudaErrorInsufficientDriver) return cudaGetErrorString(error);
  int driver = 0;
  int runtime = 0;
  cudaDriverGetVersion(&driver);  // 1000 major + 10 minor; 0 without a driver
  cudaRuntimeGetVersion(&runtime);
  cudaGetLastError();
  if (driver == 0) return "this machine has no NVIDIA driver";
  return fmt::format(
      "this program needs a driver for CUDA {}, and the machine's is for CUDA {}.{}; update the driver",
      runtime / 1000, driver / 1000, driver % 1000 / 10);
}

/// Number of multiply-adds in double precision that a multiprocessor begins per clock.
int fp64_lanes(int major, int minor) {
  if ((major == 8 || major == 7 || major == 6) && minor == 0) return 32;
  if ((major == 9 || major == 10) && minor == 0) return 64;
  return 2;  // GPUs made for graphics
}

}  // namespace

int count(std::string& why) {
  int found = 0;
  const auto error = cudaGetDeviceCount(&found);
  if (error != cudaSuccess) {
    cudaGetLastError();  // clears the error, which later calls would report
    why = fmt::format("no GPU found: {}", without_gpus(error));
    return 0;
  }
  if (found == 0) why = "no GPU found";
  return found;
}

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
}

void download(int index, void* stream, const void* from, void* to, std::size_t bytes) {
  use(index);
  const auto s = static_cast<cudaStream_t>(stream);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, s), "cudaMemcpyAsync from the device");
}

void fill_zero(int index, void* stream, void* memory, std::size_t bytes) {
  use(index);
  check(cudaMemsetAsync(memory, 0, bytes, static_cast<cudaStream_t>(stream)), "cudaMemsetAsync");
}

void copy(int index, void* stream, int source, const void* from, int target, void* to, std::size_t bytes) {
  use(index);
  const auto s = static_cast<cudaStream_t>(stream);
  if (source == target)
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s), "cudaMemcpyAsync on the device");
  else check(cudaMemcpyPeerAsync(to, target, from, source, bytes, s), "cudaMemcpyPeerAsync");
}

void* allocate_pinned(int index, std::size_t bytes) {
  use(index);
  void* memory = nullptr;
  const auto error = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(error, "cudaHostAlloc");
  return memory;
}

void release_pinned(int index, void* memory) noexcept {
  if (cudaSetDevice(index) == cudaSuccess) cudaFreeHost(memory);
}

bool enable_peers(int index, int peer) {
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, index, peer), "cudaDeviceCanAccessPeer");
  if (!can) return false;
  use(index);
  const auto error = cudaDeviceEnablePeerAccess(peer, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
    return true;
  }
  check(error, "cudaDeviceEnablePeerAccess");
  return true;
}

void* make_event(int index, bool timed) {
  use(index);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming),
        "cudaEventCreate");
  return event;
}

void drop_event(int index, void* event) noexcept {
  if (cudaSetDevice(index) == cudaSuccess) cudaEventDestroy(static_cast<cudaEvent_t>(event));
}

void record_event(int index, void* event, void* stream) {
  use(index);
  check(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)),
        "cudaEventRecord");
}

bool event_done(int index, void* event) {
  use(index);
  const auto error = cudaEventQuery(static_cast<cudaEvent_t>(event));
  if (error == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(error, "cudaEventQuery");
  return true;
}

void wait_for_event(int index, void* event) {
  use(index);
  check(cudaEventSynchronize(static_cast<cudaEvent_t>(event)), "cudaEventSynchronize");
}

void stream_waits(int index, void* stream, void* event) {
  use(index);
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<cudaEvent_t>(event), 0),
        "cudaStreamWaitEvent");
}

double seconds_between(void* earlier, void* later) {
  float milliseconds = 0;
  check(
      cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(earlier), static_cast<cudaEvent_t>(later)),
      "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

void begin_capture(int index, void* stream) {
  use(index);
  check(cudaStreamBeginCapture(static_cast<cudaStream_t>(stream), cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
}

void drop_capture(int index, void* stream) noexcept {
  cudaGraph_t graph = nullptr;
  if (cudaSetDevice(index) == cudaSuccess) cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &graph);
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();
}

void* end_capture(int index, void* stream) {
  use(index);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &graph), "cudaStreamEndCapture");
  cudaGraphExec_t ready = nullptr;
  // Without this flag urgent streams have no priority, and messages wait for the kernels that they should
  // overlap with.
  const auto error = cudaGraphInstantiate(&ready, graph, cudaGraphInstantiateFlagUseNodePriority);
  cudaGraphDestroy(graph);
  check(error, "cudaGraphInstantiate");
  return ready;
}

void launch_graph(int index, void* graph, void* stream) {
  use(index);
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), static_cast<cudaStream_t>(stream)),
        "cudaGraphLaunch");
}

void drop_graph(int index, void* graph) noexcept {
  if (cudaSetDevice(index) == cudaSuccess) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
}

}  // namespace terrane::detail::cuda
