#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "terrane/parallel/partition/peer_rows.hpp"

#if defined(__CUDACC__)
#include "terrane/parallel/partition/peer_landing.cuh"
#endif

namespace terrane {

#if defined(__CUDACC__)

namespace {

using namespace detail::peers;

/// Minutes to wait for a rank: longer than the one minute of other messages, because a rank may have to
/// restore a large state before its first message.
constexpr std::uint64_t minutes = 10;

/// Sixteen bytes, which one access reads or writes.
using Unit = uint4;
template <class T>
constexpr unsigned units_of_row = 4 * sizeof(T) / sizeof(Unit);

/// The rows sent to one rank: their indices, and the addresses of its two receive buffers.
struct Sent {
  const std::uint32_t* rows;
  unsigned count;
  Unit* landing;
  Index to_second;
};
/// The data of the kernel. from, to: as for bring(); sent: [ranks]; landed: this rank's first receive buffer.
struct BringRows {
  const Unit* from;
  Unit* to;
  const Sent* sent;
  int ranks;
  const Unit* landed;
  Index received;  // number of units received; also the distance of the second buffer from the first
  Meeting meeting;
};

template <unsigned units>
__global__ void __launch_bounds__(threads_of_block) bring_rows(const __grid_constant__ BringRows all) {
  const unsigned message = next_message(all.meeting), place = message % 2;
  const unsigned first = blockIdx.x * threads_of_block + threadIdx.x, apart = gridDim.x * threads_of_block;
  for (int n = 0; n < all.ranks; ++n) {
    const Sent& sent = all.sent[n];
    Unit* const landing = sent.landing + (place != 0 ? sent.to_second : 0);
    const unsigned count = sent.count * units;
#pragma unroll 4
    for (unsigned i = first; i < count; i += apart)
      landing[i] = all.from[Index{sent.rows[i / units]} * units + i % units];
  }
  say_and_wait(all.meeting, message);
  const Unit* const landed = all.landed + (place != 0 ? all.received : 0);
#pragma unroll 4
  for (Index i = first; i < all.received; i += apart)
    all.to[i] = __ldcg(landed + i);  // other GPUs have written these values, so the L1 cache may be out of
                                     // date
  end_message(all.meeting, message);
}

template <class T>
class CudaPeerRows final : public PeerRows<T> {
 public:
  using Parcel = typename PeerRows<T>::Parcel;

  CudaPeerRows(Stream& stream, std::span<const Parcel> out, std::span<const Parcel> in, Comm& comm)
      : out_(out.begin(), out.end()),
        received_(count_of(in)),
        landing_(stream, static_cast<std::size_t>(received_) * bytes_of_row, comm, minutes) {}

  /// Collective: whether every rank can access the memory of all others.
  bool meet(std::span<const Parcel> in, Comm& comm) {
    // For each rank: offsets of the rows that it receives from every rank, then their total number.
    const auto ranks = static_cast<std::size_t>(comm.size());
    std::vector<Index> mine(ranks + 1, 0);
    for (const Parcel& parcel : in) mine[static_cast<std::size_t>(parcel.rank)] = parcel.first;
    mine[ranks] = received_;
    places_.resize(ranks * mine.size());
    comm.gather_all(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(places_)));
    return landing_.meet(4 * std::max(count_of(out_), received_));
  }
  /// Prepares the data that the kernel reads. Does not communicate.
  void prepare(Stream& stream, std::span<const std::uint32_t> send) {
    rows_ = Buffer<std::uint32_t>(stream, send);
    const std::size_t ranks = static_cast<std::size_t>(landing_.ranks()),
                      me = static_cast<std::size_t>(landing_.rank());
    std::vector<Sent> sent;
    std::set<int> peers;
    for (const Parcel& parcel : out_) {
      const Index* const theirs = &places_[static_cast<std::size_t>(parcel.rank) * (ranks + 1)];
      auto* const landing = reinterpret_cast<Unit*>(landing_.of(parcel.rank));
      sent.push_back({rows_.view().data + parcel.first, static_cast<unsigned>(parcel.count),
                      landing + theirs[me] * units, theirs[ranks] * units});
      peers.insert(parcel.rank);
    }
    landing_.prepare(stream, peers);
    sent_ = Buffer<Sent>(stream, std::span<const Sent>(sent.data(), sent.size()));
  }

  void bring(Stream& stream, const T* from, T* to) override {
    if (landing_.alone()) return;
    landing_.use_gpu();
    const BringRows all{reinterpret_cast<const Unit*>(from),
                        reinterpret_cast<Unit*>(to),
                        sent_.view().data,
                        static_cast<int>(out_.size()),
                        reinterpret_cast<const Unit*>(landing_.of(landing_.rank())),
                        received_ * units,
                        landing_.meeting()};
    bring_rows<units_of_row<T>>
        <<<landing_.blocks(), threads_of_block, 0, static_cast<cudaStream_t>(stream.handle())>>>(all);
    detail::cuda::check(cudaGetLastError(), "bring_rows");
  }
  void check() const override { landing_.check(); }

 private:
  static constexpr std::size_t bytes_of_row = 4 * sizeof(T);
  static constexpr Index units = units_of_row<T>;

  static Index count_of(std::span<const Parcel> parcels) {
    Index count = 0;
    for (const Parcel& parcel : parcels) count += parcel.count;
    return count;
  }

  std::vector<Parcel> out_;
  Index received_;
  std::vector<Index> places_;  // [ranks][ranks + 1]: for each rank the list `mine` of meet()
  Buffer<std::uint32_t> rows_;
  Buffer<Sent> sent_;
  PeerLanding landing_;  // declared last, so destroyed first: a kernel may still wait in its memory
};

}  // namespace

template <class T>
std::unique_ptr<PeerRows<T>> PeerRows<T>::make(Stream& stream, std::span<const std::uint32_t> send,
                                               std::span<const Parcel> out, std::span<const Parcel> in,
                                               Comm& comm) {
  if (stream.device().kind != Device::Kind::cuda || comm.size() == 1) return nullptr;
  std::unique_ptr<CudaPeerRows<T>> made;
  together(comm, [&] { made = std::make_unique<CudaPeerRows<T>>(stream, out, in, comm); });
  if (!made->meet(in, comm)) return nullptr;
  together(comm, [&] { made->prepare(stream, send); });
  return made;
}

#else

template <class T>
std::unique_ptr<PeerRows<T>> PeerRows<T>::make(Stream&, std::span<const std::uint32_t>,
                                               std::span<const Parcel>, std::span<const Parcel>, Comm&) {
  return nullptr;
}

#endif

template class PeerRows<float>;
template class PeerRows<double>;

}  // namespace terrane
