#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/sweep.hpp"
#include "terrane/parallel/partition/lost_peers.hpp"
#include "terrane/parallel/partition/peer_halo.hpp"

#if defined(__CUDACC__)
#include "terrane/parallel/partition/peer_landing.cuh"
#endif

namespace terrane {

#if defined(__CUDACC__)

namespace {

using namespace detail::peers;

constexpr unsigned warp = 32;

/// A box of the field, and the address of its packed points, in this GPU's or the receiver's memory. There
/// are two such buffers, used alternately; to_second: distance of the second from the first.
template <class T>
struct Move {
  IndexBox<3> box;
  T* packed;
  Index to_second;
};
/// The data of the kernel: the field, its boxes to send, out [outs], and to receive, in [ins].
template <class T>
struct BringFromPeers {
  View<T, 3> field;
  const Move<T>*out, *in;
  int outs, ins;
  Meeting meeting;
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

/// Copies a row between a field and its packed points; a warp does it. U: T, or a pair of T.
template <bool pack, class U>
__device__ void move_row(U* at, U* there, int wide) {
#pragma unroll 8
  for (int n = static_cast<int>(threadIdx.x % warp); n < wide; n += static_cast<int>(warp)) {
    if constexpr (pack) there[n] = at[n];
    else
      at[n] = fresh(there + n);  // other GPUs have written these values, so the L1 cache may be out of
                                 // date
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
  const unsigned message = next_message(all.meeting), place = message % 2;
  for (int n = 0; n < all.outs; ++n) move<T, true>(all.field, all.out[n], place);
  say_and_wait(all.meeting, message);
#if __CUDA_ARCH__ >= 900
  // The next kernel may start only now: its blocks could occupy multiprocessors that blocks of this kernel,
  // for which other ranks wait, still need.
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  for (int n = 0; n < all.ins; ++n) move<T, false>(all.field, all.in[n], place);
  end_message(all.meeting, message);
}

template <class T>
class CudaPeerHalo final : public PeerHalo<T> {
 public:
  using Piece = typename PeerHalo<T>::Piece;

  CudaPeerHalo(Stream& stream, const std::vector<Index>& received, Comm& comm)
      : landing_(stream,
                 static_cast<std::size_t>(received[static_cast<std::size_t>(comm.rank())]) * sizeof(T),
                 comm) {}

  /// Collective: whether every rank can access the memory of all others.
  bool meet(const std::vector<Piece>& out, const std::vector<Piece>& in) {
    Index arriving = 0, leaving = 0;
    for (const auto& piece : out) leaving += piece.box.count();
    for (const auto& piece : in) arriving += piece.box.count();
    return landing_.meet(std::max(arriving, leaving));
  }
  /// Prepares the data that the kernel reads. Does not communicate.
  void prepare(Stream& stream, const std::vector<Piece>& out, const std::vector<Piece>& in,
               const std::vector<Index>& received) {
    std::vector<Move<T>> moves;
    std::set<int> peers;
    const auto add = [&](const Piece& piece, int lands_at) {
      const auto places = received[static_cast<std::size_t>(lands_at)];
      moves.push_back({piece.box, reinterpret_cast<T*>(landing_.of(lands_at)) + piece.first, places});
      if (!piece.box.empty()) peers.insert(piece.rank);
    };
    for (const auto& piece : out) add(piece, piece.rank);
    for (const auto& piece : in) add(piece, landing_.rank());
    landing_.prepare(stream, peers);
    outs_ = static_cast<int>(out.size());
    ins_ = static_cast<int>(in.size());
    moves_ = Buffer<Move<T>>(stream, std::span<const Move<T>>(moves.data(), moves.size()));
  }

  void bring(Stream& stream, const View<T, 3>& field, bool early) override {
    if (landing_.alone()) return;
    landing_.use_gpu();
    const Move<T>* const moves = moves_.view().data;
    const BringFromPeers<T> kernel{field, moves, moves + outs_, outs_, ins_, landing_.meeting()};
    detail::launch_early<BringFromPeers<T>>(stream, early, bring_from_peers<T>, dim3(landing_.blocks()),
                                            dim3(threads_of_block), kernel);
  }
  void check() const override { landing_.check(); }

 private:
  int outs_ = 0, ins_ = 0;
  Buffer<Move<T>> moves_;
  PeerLanding landing_;  // declared last, so destroyed first: a kernel may still wait in its memory
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
void let_peers_share_gpus(bool share) { may_share_gpus = share; }
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
void let_peers_share_gpus(bool) {}
std::shared_ptr<const void> keep_peer_memory(Stream&, Comm&) { return nullptr; }

#endif

template class PeerHalo<float>;
template class PeerHalo<double>;

}  // namespace terrane
