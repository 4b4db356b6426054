#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/sweep.hpp"
#include "terrane/parallel/partition/lost_peers.hpp"
#include "terrane/parallel/partition/peer_halo.hpp"

#if defined(__CUDACC__)
#include "terrane/parallel/partition/peer_waiting.cuh"
#endif

namespace terrane {

#if defined(__CUDACC__)

namespace {

using namespace detail::peers;

/// So few blocks that those of several streams never keep others from running while they wait.
constexpr unsigned most_blocks = 64, threads_of_block = 256, warp = 32;

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
template <class T>
struct BringFromPeers {
  View<T, 3> field;
  const Move<T>*out, *in;
  const Peer* peers;
  int outs, ins, count;
  State* state;
  Patience patience;
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
    if (block < peer.blocks) wait_for(all.patience, peer.here + block, message);
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
  SharedPlace memory;
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
    all_ = AllPeers<PeerMemory>::get().make(stream, comm);
    memory_ = all_->take(stream, first_ + 2 * mine * sizeof(T));
    state_ = Buffer<State>(stream.device(), 1);
    state_.fill_zero(stream);
    stream.wait();
    lost_ = AllPeers<Lost>::get().make(stream, comm);
  }
  ~CudaPeerHalo() override {
    if (cudaSetDevice(index_) == cudaSuccess) {
      if (std::uncaught_exceptions() > 0) lost_->give_up();  // others may never come
      cudaDeviceSynchronize();
    }
    if (std::uncaught_exceptions() > 0) return;  // others may still write there
    meet_at_the_end(comm_);
    all_->give_back(memory_);
  }
  CudaPeerHalo(const CudaPeerHalo&) = delete;
  CudaPeerHalo& operator=(const CudaPeerHalo&) = delete;

  /// Collective: whether every rank can reach the memory of all.
  bool meet(const std::vector<Piece>& out, const std::vector<Piece>& in) {
    detail::cuda::use(index_);
    std::vector<Hello> all(static_cast<std::size_t>(comm_.size()));
    const Hello mine = hello(out, in);
    comm_.gather_all(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    if (!all_have_gpus_of_their_own(all)) return false;
    for (const Hello& one : all) blocks_of_.push_back(one.blocks);
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
      moves.push_back(
          {piece.box, packed(memory_.mine) + piece.first, received[static_cast<std::size_t>(comm_.rank())]});
    std::vector<Peer> peers;
    for (int rank = 0; rank < comm_.size(); ++rank) {
      const auto with = [&](const Piece& piece) { return piece.rank == rank && !piece.box.empty(); };
      if (!std::any_of(out.begin(), out.end(), with) && !std::any_of(in.begin(), in.end(), with)) continue;
      const auto n = static_cast<std::size_t>(rank);
      peers.push_back({flags(opened_[n], comm_.rank()), flags(memory_.mine, rank), blocks_of_[n]});
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
    const BringFromPeers<T> kernel{field, moves,  moves + outs_,      peers_.view().data, outs_,
                                   ins_,  count_, state_.view().data, lost_->patience()};
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
    mine.memory = memory_.place;
    mine.can = memory_.can_be_shared &&
               cudaDeviceGetPCIBusId(mine.gpu, sizeof mine.gpu, index_) == cudaSuccess &&
               comm_.on_node().count >= comm_.size() && comm_.size() <= static_cast<int>(threads_of_block);
    cudaGetLastError();  // or the next to ask for errors would find it
    return mine;
  }
  bool open(const std::vector<Hello>& all) {
    for (int rank = 0; rank < comm_.size(); ++rank) {
      const auto n = static_cast<std::size_t>(rank);
      if (rank == comm_.rank()) continue;
      opened_[n] = all_->open(rank, all[n].memory);
      if (!opened_[n]) return false;
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
  std::shared_ptr<PeerMemory> all_;
  PeerMemory::Piece memory_;
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
  if (const auto lost = AllPeers<Lost>::get().find(comm, device.index)) lost->check();
}
void set_patience_with_peers(double seconds) { longest_wait = static_cast<std::uint64_t>(1e9 * seconds); }
std::shared_ptr<const void> keep_peer_memory(Stream& stream, Comm& comm) {
  if (stream.device().kind != Device::Kind::cuda || comm.size() == 1) return nullptr;
  return AllPeers<PeerMemory>::get().make(stream, comm);
}

#else

template <class T>
std::unique_ptr<PeerHalo<T>> PeerHalo<T>::make(Stream&, const std::vector<Piece>&, const std::vector<Piece>&,
                                               const std::vector<Index>&, Comm&) {
  return nullptr;
}

void check_peers(const Comm&, Device) {}
void set_patience_with_peers(double) {}
std::shared_ptr<const void> keep_peer_memory(Stream&, Comm&) { return nullptr; }

#endif

template class PeerHalo<float>;
template class PeerHalo<double>;

}  // namespace terrane
