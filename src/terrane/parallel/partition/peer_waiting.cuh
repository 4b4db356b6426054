// Messages between kernels of ranks, on GPUs of one machine that can access each other's memory: flags in the
// memory of the other rank contain message numbers, or report that a message did not arrive.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"
#include "terrane/parallel/device/cuda.hpp"
#include "terrane/parallel/device/pinned.hpp"

namespace terrane::detail::peers {

/// The smallest size of memory that can be shared by itself: the granularity of the CUDA runtime.
inline constexpr std::size_t granularity = std::size_t{2} << 20;
inline std::atomic<std::uint64_t> longest_wait{60'000'000'000};  // ns
inline std::atomic<bool> may_share_gpus{false};                  // for tests

/// How long a kernel waits for a message, and the flags by which it reports that none arrived.
struct Patience {
  unsigned *lost, *lost_on_host;
  std::uint64_t longest;  // ns
};

/// Flag, shared by all halos of a Comm, that a message did not arrive. Then no kernel waits for another one;
/// otherwise each halo would wait for a minute of its own, and use values of the previous message.
struct Lost {
  Buffer<unsigned> on_device;
  PinnedBuffer<unsigned> on_host;

  Lost(Stream& stream, const Comm&) : on_device(stream.device(), 1), on_host(stream.device(), 1) {
    on_device.fill_zero(stream);
    on_host[0] = 0;
    stream.wait();
  }
  Patience patience(std::uint64_t times = 1) {
    return {on_device.view().data, on_host.data(), times * longest_wait};
  }
  void check() const {
    if (*static_cast<const volatile unsigned*>(on_host.data()) != 0)
      throw Error("GPUs", "a rank did not answer in time", "Did one of the processes end?");
  }
  /// Ends the waiting of all kernels. Uses a separate stream, as the kernels occupy theirs.
  void give_up() {
    cudaStream_t aside = nullptr;
    if (cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking) != cudaSuccess) return;
    cudaMemsetAsync(on_device.view().data, 1, sizeof(unsigned), aside);
    cudaStreamDestroy(aside);
    on_host[0] = 1;  // so that later calls fail
  }
};

/// The location of memory that other processes can open.
struct SharedPlace {
  cudaIpcMemHandle_t handle;
  int chunk;  ///< number of the chunk of memory that the handle opens
  std::size_t offset;
};

/// Whether, according to the first messages of all ranks, each rank can share memory, and no two ranks use
/// the same GPU (unless tests allow it).
template <class Hello>
bool all_may_bring_messages(const std::vector<Hello>& all) {
  std::vector<std::string> gpus;
  for (const Hello& one : all) {
    if (one.can == 0) return false;
    gpus.emplace_back(one.gpu);
  }
  if (may_share_gpus) return true;
  std::sort(gpus.begin(), gpus.end());
  return std::adjacent_find(gpus.begin(), gpus.end()) == gpus.end();
}

inline void meet_at_the_end(Comm& comm) {
  if (std::uncaught_exceptions() > 0) return;
  try {
    comm.lowest(0);
  } catch (const std::exception&) {  // the other ranks have ended
  }
}

/// Memory that other ranks open: a few large chunks, of which halos get pieces, because opening a chunk takes
/// tens of milliseconds. Destruction is collective, except during stack unwinding.
class PeerMemory {
 public:
  struct Piece {
    void* mine = nullptr;
    SharedPlace place{};
    std::size_t bytes = 0;
    bool can_be_shared = false;
  };

  PeerMemory(Stream& stream, Comm& comm) : comm_(comm), index_(stream.device().index) {}
  ~PeerMemory() {
    if (cudaSetDevice(index_) == cudaSuccess) {
      cudaDeviceSynchronize();
      for (const auto& [of, memory] : opened_) cudaIpcCloseMemHandle(memory);
    }
    meet_at_the_end(comm_);  // so that memory is freed only when no rank has it open any more
  }
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  /// Allocates memory filled with zeros. Throws MemoryError.
  Piece take(Stream& stream, std::size_t bytes) {
    constexpr std::size_t line = 256;
    bytes = (bytes + line - 1) / line * line;
    for (std::size_t n = 0; n < chunks_.size(); ++n)
      if (const auto gap = gap_in(chunks_[n], bytes); gap != chunks_[n].free.end())
        return cut(stream, n, gap, bytes);
    Chunk chunk;
    chunk.number = next_++;
    const std::size_t size = std::max(least_chunk, (bytes + granularity - 1) / granularity * granularity);
    chunk.memory = Buffer<std::byte>(stream.device(), size);
    chunk.can_be_shared = cudaIpcGetMemHandle(&chunk.handle, chunk.memory.view().data) == cudaSuccess;
    cudaGetLastError();  // clears the error, which a later call would report
    chunk.free.emplace(0, size);
    chunks_.push_back(std::move(chunk));
    return cut(stream, chunks_.size() - 1, chunks_.back().free.begin(), bytes);
  }
  /// Frees a piece. To be called after synchronisation, when no rank writes there any more; chunks are kept,
  /// as other ranks have them open.
  void give_back(const Piece& piece) {
    for (auto& chunk : chunks_) {
      if (chunk.number != piece.place.chunk) continue;
      auto at = chunk.free.emplace(piece.place.offset, piece.bytes).first;
      if (const auto next = std::next(at);
          next != chunk.free.end() && at->first + at->second == next->first) {
        at->second += next->second;
        chunk.free.erase(next);
      }
      if (at == chunk.free.begin()) continue;
      if (const auto before = std::prev(at); before->first + before->second == at->first) {
        before->second += at->second;
        chunk.free.erase(at);
      }
    }
  }
  /// Address of another rank's memory on this GPU; null if this GPU cannot access it.
  void* open(int rank, const SharedPlace& place) {
    auto& memory = opened_[{rank, place.chunk}];
    if (!memory &&
        cudaIpcOpenMemHandle(&memory, place.handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) {
      cudaGetLastError();
      opened_.erase({rank, place.chunk});
      return nullptr;
    }
    return static_cast<std::byte*>(memory) + place.offset;
  }

 private:
  static constexpr std::size_t least_chunk = std::size_t{16} << 20;
  using Gaps = std::map<std::size_t, std::size_t>;  // gaps: first byte → size in bytes
  struct Chunk {
    int number = 0;
    Buffer<std::byte> memory;
    cudaIpcMemHandle_t handle{};
    bool can_be_shared = false;
    Gaps free;
  };

  static Gaps::iterator gap_in(Chunk& chunk, std::size_t bytes) {
    return std::find_if(chunk.free.begin(), chunk.free.end(),
                        [&](const auto& gap) { return gap.second >= bytes; });
  }
  Piece cut(Stream& stream, std::size_t n, Gaps::iterator gap, std::size_t bytes) {
    Chunk& chunk = chunks_[n];
    const auto [offset, size] = *gap;
    chunk.free.erase(gap);
    if (size > bytes) chunk.free.emplace(offset + bytes, size - bytes);
    Piece piece{
        chunk.memory.view().data + offset, {chunk.handle, chunk.number, offset}, bytes, chunk.can_be_shared};
    detail::cuda::use(index_);
    detail::cuda::check(cudaMemsetAsync(piece.mine, 0, bytes, static_cast<cudaStream_t>(stream.handle())),
                        "cudaMemsetAsync");
    return piece;
  }

  Comm& comm_;
  int index_, next_ = 0;
  std::vector<Chunk> chunks_;
  std::map<std::pair<int, int>, void*> opened_;  // addresses of opened memory, by rank and chunk
};

/// An object shared by the halos of a Comm on a GPU, kept as long as one of them exists.
template <class What>
class AllPeers {
 public:
  static AllPeers& get() {
    static AllPeers all;
    return all;
  }
  std::shared_ptr<What> make(Stream& stream, Comm& comm) {
    const std::lock_guard lock(mutex_);
    std::erase_if(of_, [](const auto& one) { return one.second.expired(); });
    auto& there = of_[{&comm, stream.device().index}];
    auto shared = there.lock();
    if (!shared) there = shared = std::make_shared<What>(stream, comm);
    return shared;
  }
  std::shared_ptr<What> find(const Comm& comm, int gpu) {
    const std::lock_guard lock(mutex_);
    const auto there = of_.find({&comm, gpu});
    return there == of_.end() ? nullptr : there->second.lock();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const Comm*, int>, std::weak_ptr<What>> of_;
};

__device__ inline void say(unsigned* there, unsigned message) {
#if __CUDA_ARCH__ >= 700
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(there), "r"(message) : "memory");
#else
  __threadfence_system();
  *static_cast<volatile unsigned*>(there) = message;
#endif
}
__device__ inline unsigned read_flag(const unsigned* here) {
  unsigned message = 0;
#if __CUDA_ARCH__ >= 700
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(message) : "l"(here) : "memory");
#else
  message = *static_cast<const volatile unsigned*>(here);
  __threadfence_system();
#endif
  return message;
}
__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/// Waits until a peer has set the flag of this message, or until some message is lost; this one counts as
/// lost after the time `longest`.
__device__ inline void wait_for(const Patience& all, const unsigned* here, unsigned message) {
  if (*static_cast<volatile unsigned*>(all.lost) != 0) return;
  const std::uint64_t begin = nanoseconds();
  for (unsigned n = 1; static_cast<int>(read_flag(here) - message) < 0; ++n) {
    if (n % 1024 != 0) continue;
    if (*static_cast<volatile unsigned*>(all.lost) != 0) return;
    if (nanoseconds() - begin < all.longest) continue;
    *static_cast<volatile unsigned*>(all.lost) = 1;
    *static_cast<volatile unsigned*>(all.lost_on_host) = 1;
    return;
  }
}

}  // namespace terrane::detail::peers
