#include "terrane/parallel/comm/comm_nccl.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include "terrane/parallel/device/buffer.hpp"
#include "terrane/parallel/device/cuda.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane {

namespace {

namespace cuda = detail::cuda;

/// Bytes of a piece: enough for the full speed of a transfer, and few compared with the arrays sent.
constexpr std::size_t piece_bytes = std::size_t{64} << 20;
/// Time limits: without them a rank that failed, or cannot be reached, would keep the others waiting.
constexpr std::chrono::seconds longest_start(60), longest_piece(60), longest_end(10);
/// How long to poll without sleep, then the interval between polls. Most calls are done at once, and a piece
/// takes 3 ms. So this interval costs hardly any time, and it frees the core for threads that copy.
constexpr std::chrono::microseconds awake(100), nap(50);

struct FreePinned {
  void operator()(std::byte* memory) const { cudaFreeHost(memory); }
};
struct DropEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};

/// Copies on several threads; a single thread copies only 10 GB/s.
void copy(std::span<const std::byte> from, std::byte* to, int threads) {
  constexpr std::size_t some = std::size_t{4} << 20;
  for_each((from.size() + some - 1) / some, threads, [&](std::size_t n) {
    const auto part = from.subspan(n * some, std::min(some, from.size() - n * some));
    std::memcpy(to + n * some, part.data(), part.size());
  });
}

constexpr const char* next_move = "Run with TERRANE_NCCL=0 to go without it; NCCL_DEBUG=INFO tells more.";

/// Polls done() until it is true; throws after the time `longest`.
template <class Done>
void wait(const char* call, std::chrono::seconds longest, const Done& done) {
  const auto begin = std::chrono::steady_clock::now();
  while (!done()) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > longest)
      throw Error(call, fmt::format("is not done after {} s", longest.count()), next_move);
    if (waited < awake) std::this_thread::yield();
    else std::this_thread::sleep_for(nap);
  }
}

GpuGroup::GpuId id_of_gpu(int index) {
  cudaDeviceProp properties;
  cuda::check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  GpuGroup::GpuId id;
  static_assert(sizeof(properties.uuid) == sizeof(id));
  std::memcpy(id.data(), &properties.uuid, sizeof(id));
  return id;
}

/// One rank's end of a communicator of NCCL.
class NcclEnd {
 public:
  NcclEnd() = default;
  NcclEnd(const NcclEnd&) = delete;
  NcclEnd& operator=(const NcclEnd&) = delete;

  ncclComm_t comm = nullptr;
  bool joined = false;

  GpuGroup::GroupId make_group() const {
    ncclUniqueId made;
    check(ncclGetUniqueId(&made), "ncclGetUniqueId");
    GpuGroup::GroupId id;
    static_assert(sizeof(made) == sizeof(id));
    std::memcpy(id.data(), &made, sizeof(id));
    return id;
  }
  void check(ncclResult_t result, const char* call) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    const char* more = ncclGetLastError(comm);
    throw Error(
        call, fmt::format("{}{}{}", ncclGetErrorString(result), more && *more ? ": " : "", more ? more : ""),
        next_move);
  }
  /// NCCL's state of the calls made so far: success or in progress. Throws the error if one failed.
  ncclResult_t state(const char* call) const {
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError");
    check(state, call);
    return state;
  }
};

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
    if (!end_.comm) return;
    try {
      if (!end_.joined) throw Error("ncclCommInitRank", "was not done");
      settle(ncclCommFinalize(end_.comm), "ncclCommFinalize", longest_end);
      ncclCommDestroy(end_.comm);
    } catch (const Error&) {  // a destructor has nobody to report the error to
      ncclCommAbort(end_.comm);
    }
  }
  NcclLink(const NcclLink&) = delete;
  NcclLink& operator=(const NcclLink&) = delete;

  std::string name() const override { return nccl_version(); }
  GpuId gpu() const override { return id_of_gpu(index_); }
  GroupId make_group() override { return end_.make_group(); }
  void join(const GroupId& group, int rank, int ranks) override {
    ncclUniqueId id;
    std::memcpy(&id, group.data(), sizeof(id));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    cuda::use(index_);
    rank_ = rank;
    settle(ncclCommInitRankConfig(&end_.comm, ranks, id, rank, &config), "ncclCommInitRank", longest_start);
    end_.joined = true;
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
    settle(ncclBroadcast(there, there, bytes.size(), ncclUint8, root, end_.comm, stream), "ncclBroadcast",
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
      end_.state("ncclBroadcast");  // a peer or a network that fails leaves the event waiting for ever
      if (status == cudaErrorNotReady) {
        cudaGetLastError();  // clears the error, which a later call would report
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

  /// Waits until a call on a non-blocking communicator is complete.
  void settle(ncclResult_t result, const char* call, std::chrono::seconds longest) const {
    end_.check(result, call);
    if (result == ncclInProgress) wait(call, longest, [&] { return end_.state(call) != ncclInProgress; });
  }

  int index_, threads_, rank_ = 0;
  Stream stream_;
  Slot slots_[slots];
  NcclEnd end_;
};

/// The communicator is blocking, because a non-blocking one would launch kernels from a thread of its own,
/// which is not allowed while a stream is being recorded. So calls that wait for other ranks are made on
/// threads that can be abandoned.
class NcclDirectLink final : public DirectLink {
 public:
  explicit NcclDirectLink(Device device) : index_(device.index) {}
  ~NcclDirectLink() override {
    if (!end_.comm) return;
    try {
      elsewhere("ncclCommFinalize", longest_end,
                [comm = end_.comm](Answer& answer) { answer.result = ncclCommFinalize(comm); });
      ncclCommDestroy(end_.comm);
    } catch (const Error&) {  // a destructor has nobody to report the error to
      ncclCommAbort(end_.comm);
    }
  }
  NcclDirectLink(const NcclDirectLink&) = delete;
  NcclDirectLink& operator=(const NcclDirectLink&) = delete;

  std::string name() const override { return nccl_version(); }
  GpuId gpu() const override { return id_of_gpu(index_); }
  GroupId make_group() override { return end_.make_group(); }
  void join(const GroupId& group, int rank, int ranks) override {
    ncclUniqueId id;
    std::memcpy(&id, group.data(), sizeof(id));
    end_.comm = elsewhere("ncclCommInitRank", longest_start, [=](Answer& answer) {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = 1;
      answer.result = ncclCommInitRankConfig(&answer.comm, ranks, id, rank, &config);
    });
    end_.joined = true;
  }

  void exchange(Stream& stream, std::span<const Piece> out, std::span<const Piece> in) override {
    if (out.empty() && in.empty()) return;
    if (!end_.comm) throw Error("NCCL", "messages were given up before", next_move);
    cuda::use(index_);
    const auto on = static_cast<cudaStream_t>(stream.handle());
    end_.check(ncclGroupStart(), "ncclGroupStart");
    auto result = ncclSuccess;  // the first error; it is reported after the group has been ended
    for (const auto& piece : out)
      if (result == ncclSuccess)
        result = ncclSend(piece.data, piece.bytes, ncclUint8, piece.rank, end_.comm, on);
    for (const auto& piece : in)
      if (result == ncclSuccess)
        result = ncclRecv(piece.data, piece.bytes, ncclUint8, piece.rank, end_.comm, on);
    const auto ended = ncclGroupEnd();
    end_.check(result, "ncclSend and ncclRecv");
    end_.check(ended, "ncclGroupEnd");
  }
  void check() override {
    if (!end_.comm) return;
    try {
      end_.state("NCCL");
    } catch (const Error&) {
      ncclCommAbort(std::exchange(end_.comm, nullptr));  // otherwise kernels of the communicator would wait
                                                         // for ever
      throw;
    }
  }

 private:
  struct Answer {
    ncclResult_t result = ncclSuccess;
    ncclComm_t comm = nullptr;
  };
  /// Makes a call that may never return, on a thread that is abandoned after the time `longest`.
  template <class Call>
  ncclComm_t elsewhere(const char* name, std::chrono::seconds longest, const Call& call) const {
    std::packaged_task<Answer()> task([call, index = index_] {
      Answer answer;
      cudaSetDevice(index);
      call(answer);
      return answer;
    });
    auto answer = task.get_future();
    std::thread(std::move(task)).detach();
    if (answer.wait_for(longest) != std::future_status::ready)
      throw Error(name, fmt::format("is not done after {} s", longest.count()), next_move);
    const Answer got = answer.get();
    end_.check(got.result, name);
    return got.comm;
  }

  int index_;
  NcclEnd end_;
};

void check_is_gpu(Device device) {
  if (device.kind != Device::Kind::cuda)
    throw UnsupportedError("NCCL", fmt::format("{} is no GPU", to_string(device)), "");
}

}  // namespace

std::string nccl_version() {
  int version = 0;
  ncclGetVersion(&version);
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::unique_ptr<GpuLink> nccl_link(Device device, int threads) {
  check_is_gpu(device);
  return std::make_unique<NcclLink>(device, threads);
}

std::unique_ptr<DirectLink> nccl_direct_link(Device device) {
  check_is_gpu(device);
  return std::make_unique<NcclDirectLink>(device);
}

}  // namespace terrane
