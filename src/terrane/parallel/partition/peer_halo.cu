#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/pinned.hpp"
#include "terrane/parallel/device/sweep.hpp"
#include "terrane/parallel/partition/lost_peers.hpp"
#include "terrane/parallel/partition/peer_halo.hpp"

namespace terrane {

#if defined(__CUDACC__)

namespace {

/// So few blocks that those of several streams never keep others from running while they wait.
constexpr unsigned most_blocks = 64, threads_of_block = 256, warp = 32;
/// Memory that is shared by itself, as the runtime wants it.
constexpr std::size_t granularity = std::size_t{2} << 20;
std::atomic<std::uint64_t> longest_wait{60'000'000'000};  // ns

/// A box of the field, and where its points are packed: here, or in the memory of the receiver. Two places.
template <class T>
struct Move {
  IndexBox<3> box;
  T* packed;
  Index to_second;
};
/// Where this rank says to a peer which message of each of its blocks has been written, and where the peer
/// says so.
struct Peer {
  unsigned *there, *here;
  unsigned blocks;
};
struct State {
  unsigned messages, blocks_done;
};
/// What all halos of a Comm know: whether a message did not come. Nobody then waits for any other, or each
/// halo would wait a minute of its own, with layers of the message before.
struct Lost {
  Buffer<unsigned> on_device;
  PinnedBuffer<unsigned> on_host;

  explicit Lost(Stream& stream) : on_device(stream.device(), 1), on_host(stream.device(), 1) {
    on_device.fill_zero(stream);
    on_host[0] = 0;
    stream.wait();
  }
  void check() const {
    if (*static_cast<const volatile unsigned*>(on_host.data()) != 0)
      throw Error("GPUs", "a rank did not answer for a minute", "Did one of the processes end?");
  }
};

/// That of a Comm and a GPU, as long as one of their halos has it.
class AllLost {
 public:
  static AllLost& get() {
    static AllLost all;
    return all;
  }
  std::shared_ptr<Lost> make(Stream& stream, const Comm& comm) {
    const std::lock_guard lock(mutex_);
    std::erase_if(of_, [](const auto& one) { return one.second.expired(); });
    auto& there = of_[{&comm, stream.device().index}];
    auto lost = there.lock();
    if (!lost) there = lost = std::make_shared<Lost>(stream);
    return lost;
  }
  std::shared_ptr<Lost> find(const Comm& comm, int gpu) {
    const std::lock_guard lock(mutex_);
    const auto there = of_.find({&comm, gpu});
    return there == of_.end() ? nullptr : there->second.lock();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const Comm*, int>, std::weak_ptr<Lost>> of_;
};

template <class T>
struct BringFromPeers {
  View<T, 3> field;
  const Move<T>*out, *in;
  const Peer* peers;
  int outs, ins, count;
  State* state;
  unsigned *lost, *lost_on_host;
  std::uint64_t longest_wait;
};

template <class T>
struct alignas(2 * sizeof(T)) Two {
  T one, other;
};
__device__ float fresh(const float* there) { return __ldcg(there); }
__device__ double fresh(const double* there) { return __ldcg(there); }
__device__ Two<float> fresh(const Two<float>* there) {
  const float2 both = __ldcg(reinterpret_cast<const float2*>(there));
  return {both.x, both.y};
}
__device__ Two<double> fresh(const Two<double>* there) {
  const double2 both = __ldcg(reinterpret_cast<const double2*>(there));
  return {both.x, both.y};
}

/// A row between a field and where it is packed, by a warp. U: T, or two of them at once.
template <bool pack, class U>
__device__ void move_row(U* at, U* there, int wide) {
#pragma unroll 8
  for (int n = static_cast<int>(threadIdx.x % warp); n < wide; n += static_cast<int>(warp)) {
    if constexpr (pack) there[n] = at[n];
    else at[n] = fresh(there + n);  // others have written it: the first cache does not know
  }
}

template <class T, bool pack>
__device__ void move(const View<T, 3>& field, const Move<T>& all, unsigned place) {
  const auto& box = all.box;
  const int deep = static_cast<int>(box.size(1)), wide = static_cast<int>(box.size(2)),
            rows = static_cast<int>(box.size(0)) * deep;
  constexpr int warps = threads_of_block / warp;
  T* const packed = all.packed + (place != 0 ? all.to_second : 0);
  for (int row = static_cast<int>(blockIdx.x) * warps + static_cast<int>(threadIdx.x / warp); row < rows;
       row += static_cast<int>(gridDim.x) * warps) {
    const int plane = row / deep;
    T* const at = &field(box.first[0] + plane, box.first[1] + (row - plane * deep), box.first[2]);
    T* const there = packed + static_cast<Index>(row) * wide;
    const auto odd =
        (reinterpret_cast<std::uintptr_t>(at) | reinterpret_cast<std::uintptr_t>(there)) % sizeof(Two<T>);
    if (odd == 0 && wide % 2 == 0)
      move_row<pack>(reinterpret_cast<Two<T>*>(at), reinterpret_cast<Two<T>*>(there), wide / 2);
    else move_row<pack>(at, there, wide);
  }
}

__device__ void say(unsigned* there, unsigned message) {
#if __CUDA_ARCH__ >= 700
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(there), "r"(message) : "memory");
#else
  __threadfence_system();
  *static_cast<volatile unsigned*>(there) = message;
#endif
}
__device__ unsigned hear(const unsigned* here) {
  unsigned message = 0;
#if __CUDA_ARCH__ >= 700
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(message) : "l"(here) : "memory");
#else
  message = *static_cast<const volatile unsigned*>(here);
  __threadfence_system();
#endif
  return message;
}
__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/// Until a peer's block has said that it has written this message, or a message of any halo is lost: that
/// of this one when a minute has passed.
template <class T>
__device__ void wait_for(const BringFromPeers<T>& all, const unsigned* here, unsigned message) {
  if (*static_cast<volatile unsigned*>(all.lost) != 0) return;
  const std::uint64_t begin = nanoseconds();
  for (unsigned n = 1; static_cast<int>(hear(here) - message) < 0; ++n) {
    if (n % 1024 != 0) continue;
    if (*static_cast<volatile unsigned*>(all.lost) != 0) return;
    if (nanoseconds() - begin < all.longest_wait) continue;
    *static_cast<volatile unsigned*>(all.lost) = 1;
    *static_cast<volatile unsigned*>(all.lost_on_host) = 1;
    return;
  }
}

template <class T>
__global__ void __launch_bounds__(threads_of_block)
    bring_from_peers(const __grid_constant__ BringFromPeers<T> all) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  const unsigned message = *static_cast<volatile unsigned*>(&all.state->messages) + 1, place = message % 2;
  for (int n = 0; n < all.outs; ++n) move<T, true>(all.field, all.out[n], place);
  __threadfence_system();
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < all.count) say(all.peers[threadIdx.x].there + blockIdx.x, message);
  for (int n = static_cast<int>(threadIdx.x); n < all.count * static_cast<int>(most_blocks);
       n += static_cast<int>(threads_of_block)) {
    const auto& peer = all.peers[n / static_cast<int>(most_blocks)];
    const unsigned block = static_cast<unsigned>(n) % most_blocks;
    if (block < peer.blocks) wait_for(all, peer.here + block, message);
  }
  __syncthreads();
#if __CUDA_ARCH__ >= 900
  // Not before: the blocks of the next kernel could leave no room for what other ranks wait for.
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  for (int n = 0; n < all.ins; ++n) move<T, false>(all.field, all.in[n], place);
  __syncthreads();
  if (threadIdx.x > 0 || atomicAdd(&all.state->blocks_done, 1) + 1 < gridDim.x) return;
  all.state->blocks_done = 0;
  all.state->messages = message;
}

/// What ranks tell each other at first.
struct Hello {
  char gpu[32];
  cudaIpcMemHandle_t memory;
  unsigned blocks;
  int can;
};

template <class T>
class CudaPeerHalo final : public PeerHalo<T> {
 public:
  using Piece = typename PeerHalo<T>::Piece;

  CudaPeerHalo(Stream& stream, const std::vector<Index>& received, Comm& comm)
      : comm_(comm), index_(stream.device().index), opened_(static_cast<std::size_t>(comm.size()), nullptr) {
    const auto flags = static_cast<std::size_t>(comm.size()) * most_blocks * sizeof(unsigned);
    first_ = (flags + 255) / 256 * 256;
    const auto mine = static_cast<std::size_t>(received[static_cast<std::size_t>(comm.rank())]);
    const std::size_t bytes = first_ + 2 * mine * sizeof(T);
    memory_ = Buffer<std::byte>(stream.device(), (bytes + granularity - 1) / granularity * granularity);
    memory_.fill_zero(stream);
    state_ = Buffer<State>(stream.device(), 1);
    state_.fill_zero(stream);
    stream.wait();
    lost_ = AllLost::get().make(stream, comm);
  }
  ~CudaPeerHalo() override {
    if (cudaSetDevice(index_) == cudaSuccess) {
      cudaDeviceSynchronize();
      for (void* const memory : opened_)
        if (memory) cudaIpcCloseMemHandle(memory);
    }
    if (std::uncaught_exceptions() > 0) return;
    try {
      comm_.lowest(0);                 // memory goes when nobody has it open any more
    } catch (const std::exception&) {  // nobody is left
    }
  }
  CudaPeerHalo(const CudaPeerHalo&) = delete;
  CudaPeerHalo& operator=(const CudaPeerHalo&) = delete;

  /// Collective: whether every rank can reach the memory of all.
  bool meet(const std::vector<Piece>& out, const std::vector<Piece>& in) {
    detail::cuda::use(index_);
    std::vector<Hello> all(static_cast<std::size_t>(comm_.size()));
    const Hello mine = hello(out, in);
    comm_.gather_all(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    std::vector<std::string> gpus;
    for (const Hello& one : all) {
      if (one.can == 0) return false;
      gpus.emplace_back(one.gpu);
      blocks_of_.push_back(one.blocks);
    }
    std::sort(gpus.begin(), gpus.end());
    if (std::adjacent_find(gpus.begin(), gpus.end()) != gpus.end()) return false;
    return comm_.lowest(open(all) ? 1 : 0) == 1;
  }
  /// What the kernel reads. It doesn't communicate.
  void prepare(Stream& stream, const std::vector<Piece>& out, const std::vector<Piece>& in,
               const std::vector<Index>& received) {
    std::vector<Move<T>> moves;
    for (const auto& piece : out)
      moves.push_back({piece.box, packed(opened_[static_cast<std::size_t>(piece.rank)]) + piece.first,
                       received[static_cast<std::size_t>(piece.rank)]});
    for (const auto& piece : in)
      moves.push_back({piece.box, packed(memory_.view().data) + piece.first,
                       received[static_cast<std::size_t>(comm_.rank())]});
    std::vector<Peer> peers;
    for (int rank = 0; rank < comm_.size(); ++rank) {
      const auto with = [&](const Piece& piece) { return piece.rank == rank && !piece.box.empty(); };
      if (!std::any_of(out.begin(), out.end(), with) && !std::any_of(in.begin(), in.end(), with)) continue;
      const auto n = static_cast<std::size_t>(rank);
      peers.push_back({flags(opened_[n], comm_.rank()), flags(memory_.view().data, rank), blocks_of_[n]});
    }
    outs_ = static_cast<int>(out.size());
    ins_ = static_cast<int>(in.size());
    count_ = static_cast<int>(peers.size());
    moves_ = Buffer<Move<T>>(stream, std::span<const Move<T>>(moves.data(), moves.size()));
    peers_ = Buffer<Peer>(stream, std::span<const Peer>(peers.data(), peers.size()));
  }

  void bring(Stream& stream, const View<T, 3>& field, bool early) override {
    if (count_ == 0) return;
    detail::cuda::use(index_);
    const Move<T>* const moves = moves_.view().data;
    const BringFromPeers<T> kernel{
        field,       moves,  moves + outs_,      peers_.view().data,           outs_,
        ins_,        count_, state_.view().data, lost_->on_device.view().data, lost_->on_host.data(),
        longest_wait};
    detail::launch_early<BringFromPeers<T>>(stream, early, bring_from_peers<T>, dim3(blocks_),
                                            dim3(threads_of_block), kernel);
  }
  void check() const override { lost_->check(); }

 private:
  Hello hello(const std::vector<Piece>& out, const std::vector<Piece>& in) {
    Index most = 0, leaving = 0;
    for (const auto& piece : out) leaving += piece.box.count();
    for (const auto& piece : in) most += piece.box.count();
    most = std::max(most, leaving);
    blocks_ = static_cast<unsigned>(std::clamp<Index>(most / 2048, 1, most_blocks));
    Hello mine{};
    mine.blocks = blocks_;
    mine.can = cudaDeviceGetPCIBusId(mine.gpu, sizeof mine.gpu, index_) == cudaSuccess &&
               cudaIpcGetMemHandle(&mine.memory, memory_.view().data) == cudaSuccess &&
               comm_.on_node().count >= comm_.size() && comm_.size() <= static_cast<int>(threads_of_block);
    cudaGetLastError();  // or the next to ask for errors would find it
    return mine;
  }
  bool open(const std::vector<Hello>& all) {
    for (int rank = 0; rank < comm_.size(); ++rank) {
      const auto n = static_cast<std::size_t>(rank);
      if (rank == comm_.rank()) continue;
      if (cudaIpcOpenMemHandle(&opened_[n], all[n].memory, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess)
        continue;
      opened_[n] = nullptr;
      cudaGetLastError();
      return false;
    }
    return true;
  }
  T* packed(void* memory) const { return reinterpret_cast<T*>(static_cast<std::byte*>(memory) + first_); }
  /// Those of the blocks of a rank.
  static unsigned* flags(void* memory, int rank) {
    return static_cast<unsigned*>(memory) + static_cast<std::size_t>(rank) * most_blocks;
  }

  Comm& comm_;
  int index_;
  std::size_t first_ = 0;  // bytes before what is packed
  Buffer<std::byte> memory_;
  std::vector<void*> opened_;  // that of others
  std::vector<unsigned> blocks_of_;
  unsigned blocks_ = 1;
  int outs_ = 0, ins_ = 0, count_ = 0;
  Buffer<Move<T>> moves_;
  Buffer<Peer> peers_;
  Buffer<State> state_;
  std::shared_ptr<Lost> lost_;
};

}  // namespace

template <class T>
std::unique_ptr<PeerHalo<T>> PeerHalo<T>::make(Stream& stream, const std::vector<Piece>& out,
                                               const std::vector<Piece>& in,
                                               const std::vector<Index>& received, Comm& comm) {
  if (stream.device().kind != Device::Kind::cuda || comm.size() == 1) return nullptr;
  std::unique_ptr<CudaPeerHalo<T>> made;
  together(comm, [&] { made = std::make_unique<CudaPeerHalo<T>>(stream, received, comm); });
  if (!made->meet(out, in)) return nullptr;
  together(comm, [&] { made->prepare(stream, out, in, received); });
  return made;
}

void check_peers(const Comm& comm, Device device) {
  if (device.kind != Device::Kind::cuda) return;
  if (const auto lost = AllLost::get().find(comm, device.index)) lost->check();
}
void set_patience_with_peers(double seconds) { longest_wait = static_cast<std::uint64_t>(1e9 * seconds); }

#else

template <class T>
std::unique_ptr<PeerHalo<T>> PeerHalo<T>::make(Stream&, const std::vector<Piece>&, const std::vector<Piece>&,
                                               const std::vector<Index>&, Comm&) {
  return nullptr;
}

void check_peers(const Comm&, Device) {}
void set_patience_with_peers(double) {}

#endif

template class PeerHalo<float>;
template class PeerHalo<double>;

}  // namespace terrane
