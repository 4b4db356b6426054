#include "terrane/parallel/comm/comm_nccl.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "terrane/parallel/device/buffer.hpp"
#include "terrane/parallel/device/cuda.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane {

namespace {

namespace cuda = detail::cuda;

/// Large enough for the full speed of a transfer; a few of them are little beside what is worth this.
constexpr std::size_t piece_bytes = std::size_t{64} << 20;
/// A rank that failed, or is out of reach, would keep the others waiting.
constexpr std::chrono::seconds longest_start(60), longest_piece(60), longest_end(10);
/// Most calls are through at once, and a piece takes 3 ms: nothing is lost by so short a sleep, and the core
/// is free for those who copy.
constexpr std::chrono::microseconds awake(100), nap(50);

struct FreePinned {
  void operator()(std::byte* memory) const { cudaFreeHost(memory); }
};
struct DropEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};

/// By several threads: one copies 10 GB/s.
void copy(std::span<const std::byte> from, std::byte* to, int threads) {
  constexpr std::size_t some = std::size_t{4} << 20;
  for_each((from.size() + some - 1) / some, threads, [&](std::size_t n) {
    const auto part = from.subspan(n * some, std::min(some, from.size() - n * some));
    std::memcpy(to + n * some, part.data(), part.size());
  });
}

class NcclLink final : public GpuLink {
 public:
  NcclLink(Device device, int threads) : index_(device.index), threads_(threads), stream_(device) {
    for (auto& slot : slots_) {
      void* pinned = nullptr;
      cuda::use(index_);
      cuda::check(cudaMallocHost(&pinned, piece_bytes), "cudaMallocHost");
      slot.host.reset(static_cast<std::byte*>(pinned));
      slot.device = Buffer<std::byte>(device, piece_bytes);
      cudaEvent_t event = nullptr;
      cuda::check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
      slot.done.reset(event);
    }
  }
  ~NcclLink() override {
    if (!comm_) return;
    try {
      if (!joined_) throw Error("ncclCommInitRank", "was not done");
      settle(ncclCommFinalize(comm_), "ncclCommFinalize", longest_end);
      ncclCommDestroy(comm_);
    } catch (const Error&) {  // nobody is left to tell
      ncclCommAbort(comm_);
    }
  }
  NcclLink(const NcclLink&) = delete;
  NcclLink& operator=(const NcclLink&) = delete;

  std::string name() const override { return nccl_version(); }
  GpuId gpu() const override {
    cudaDeviceProp properties;
    cuda::check(cudaGetDeviceProperties(&properties, index_), "cudaGetDeviceProperties");
    GpuId id;
    static_assert(sizeof(properties.uuid) == sizeof(id));
    std::memcpy(id.data(), &properties.uuid, sizeof(id));
    return id;
  }
  GroupId make_group() override {
    ncclUniqueId made;
    check(ncclGetUniqueId(&made), "ncclGetUniqueId");
    GroupId id;
    static_assert(sizeof(made) == sizeof(id));
    std::memcpy(id.data(), &made, sizeof(id));
    return id;
  }
  void join(const GroupId& group, int rank, int ranks) override {
    ncclUniqueId id;
    std::memcpy(&id, group.data(), sizeof(id));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    cuda::use(index_);
    rank_ = rank;
    settle(ncclCommInitRankConfig(&comm_, ranks, id, rank, &config), "ncclCommInitRank", longest_start);
    joined_ = true;
  }

  std::size_t piece() const override { return piece_bytes; }
  void begin(int number, std::span<std::byte> bytes, int root) override {
    auto& slot = slots_[number];
    cuda::use(index_);
    const auto stream = static_cast<cudaStream_t>(stream_.handle());
    std::byte* there = slot.device.view().data;
    if (rank_ == root) {
      copy(bytes, slot.host.get(), threads_);
      cuda::check(cudaMemcpyAsync(there, slot.host.get(), bytes.size(), cudaMemcpyHostToDevice, stream),
                  "cudaMemcpyAsync to the device");
    }
    settle(ncclBroadcast(there, there, bytes.size(), ncclUint8, root, comm_, stream), "ncclBroadcast",
           longest_piece);
    if (rank_ != root)
      cuda::check(cudaMemcpyAsync(slot.host.get(), there, bytes.size(), cudaMemcpyDeviceToHost, stream),
                  "cudaMemcpyAsync from the device");
    cuda::check(cudaEventRecord(slot.done.get(), stream), "cudaEventRecord");
  }
  void finish(int number, std::span<std::byte> bytes, int root) override {
    auto& slot = slots_[number];
    cuda::use(index_);
    wait("ncclBroadcast", longest_piece, [&] {
      const auto status = cudaEventQuery(slot.done.get());
      state("ncclBroadcast");  // a peer or a network that fails leaves the event waiting for ever
      if (status == cudaErrorNotReady) {
        cudaGetLastError();  // or the next to ask for errors would find it
        return false;
      }
      cuda::check(status, "cudaEventQuery");
      return true;
    });
    if (rank_ != root) copy({slot.host.get(), bytes.size()}, bytes.data(), threads_);
  }

 private:
  struct Slot {
    std::unique_ptr<std::byte, FreePinned> host;
    Buffer<std::byte> device;
    std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DropEvent> done;
  };

  void check(ncclResult_t result, const char* call) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    const char* more = ncclGetLastError(comm_);
    throw Error(
        call, fmt::format("{}{}{}", ncclGetErrorString(result), more && *more ? ": " : "", more ? more : ""),
        "Run with TERRANE_NCCL=0 to go without it; NCCL_DEBUG=INFO tells more.");
  }
  /// What NCCL knows of its calls so far: success or in progress. Throws what has gone wrong.
  ncclResult_t state(const char* call) const {
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
    check(state, call);
    return state;
  }
  /// Asks whether it is `done` until it is.
  template <class Done>
  static void wait(const char* call, std::chrono::seconds longest, const Done& done) {
    const auto begin = std::chrono::steady_clock::now();
    while (!done()) {
      const auto waited = std::chrono::steady_clock::now() - begin;
      if (waited > longest)
        throw Error(call, fmt::format("is not done after {} s", longest.count()),
                    "Run with TERRANE_NCCL=0 to go without it; NCCL_DEBUG=INFO tells more.");
      if (waited < awake) std::this_thread::yield();
      else std::this_thread::sleep_for(nap);
    }
  }
  /// Waits until a call of a communicator that does not wait is through.
  void settle(ncclResult_t result, const char* call, std::chrono::seconds longest) const {
    check(result, call);
    if (result == ncclInProgress) wait(call, longest, [&] { return state(call) != ncclInProgress; });
  }

  int index_, threads_, rank_ = 0;
  Stream stream_;
  Slot slots_[slots];
  ncclComm_t comm_ = nullptr;
  bool joined_ = false;
};

}  // namespace

std::string nccl_version() {
  int version = 0;
  ncclGetVersion(&version);
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::unique_ptr<GpuLink> nccl_link(Device device, int threads) {
  if (device.kind != Device::Kind::cuda)
    throw UnsupportedError("NCCL", fmt::format("{} is no GPU", to_string(device)), "");
  return std::make_unique<NcclLink>(device, threads);
}

}  // namespace terrane
