#include <algorithm>
#include <exception>
#include <vector>

#include "terrane/parallel/partition/peer_fields.hpp"

#if defined(__CUDACC__)
#include "terrane/parallel/device/cuda.hpp"
#include "terrane/parallel/partition/peer_waiting.cuh"
#endif

namespace terrane {

#if defined(__CUDACC__)

namespace {

using namespace detail::peers;

constexpr int most_neighbours = 8, most_fields = 4;
/// Minutes to wait for a neighbour: longer than the one minute of other messages, because a rank may write
/// snapshots or wavefields to a disk during a shot.
constexpr std::uint64_t minutes = 10;

struct Meeting {
  unsigned* there[most_neighbours];  ///< flags in the neighbours' memory: number of the last meet() that this
                                     ///< rank has reached
  const unsigned* here[most_neighbours];  ///< flags in this rank's memory, set by the neighbours
  int count;                              ///< number of neighbours
  unsigned* meetings;                     ///< number of the last meet() of this rank
  Patience patience;
};

__global__ void __launch_bounds__(most_neighbours) meet_neighbours(const __grid_constant__ Meeting all) {
  const unsigned meeting = *all.meetings + 1;
  __syncthreads();
  if (threadIdx.x == 0) *all.meetings = meeting;
  if (static_cast<int>(threadIdx.x) >= all.count) return;
  __threadfence_system();
  say(all.there[threadIdx.x], meeting);
  wait_for(all.patience, all.here[threadIdx.x], meeting);
}

/// The first message between ranks: information on each rank's GPU that the others need.
struct Hello {
  char gpu[32];
  cudaIpcMemHandle_t flags, fields[most_fields];
  int can;
};

template <class T>
class CudaPeerFields final : public PeerFields<T> {
 public:
  CudaPeerFields(Stream& stream, Comm& comm) : comm_(comm), index_(stream.device().index) {
    const auto flags = std::max(granularity / sizeof(unsigned), static_cast<std::size_t>(comm.size()));
    flags_ = Buffer<unsigned>(stream.device(), flags);
    flags_.fill_zero(stream);
    meetings_ = Buffer<unsigned>(stream.device(), 1);
    meetings_.fill_zero(stream);
    stream.wait();
    lost_ = AllPeers<Lost>::get().make(stream, comm);
  }
  ~CudaPeerFields() override {
    if (cudaSetDevice(index_) == cudaSuccess) {
      if (std::uncaught_exceptions() > 0)
        lost_->give_up();  // during stack unwinding neighbours may never answer
      cudaDeviceSynchronize();
      for (void* const memory : opened_) cudaIpcCloseMemHandle(memory);
    }
    meet_at_the_end(comm_);  // so that fields are freed only when no rank has them open any more
  }
  CudaPeerFields(const CudaPeerFields&) = delete;
  CudaPeerFields& operator=(const CudaPeerFields&) = delete;

  /// Collective: whether every rank can reach the memory of its neighbours.
  bool open(std::span<Buffer<T>* const> fields, std::span<const int> neighbours) {
    detail::cuda::use(index_);
    std::vector<Hello> all(static_cast<std::size_t>(comm_.size()));
    const Hello mine = hello(fields, neighbours);
    comm_.gather_all(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    if (!all_may_bring_messages(all)) return false;
    bool opened = true;
    for (const int rank : neighbours) {
      const Hello& theirs = all[static_cast<std::size_t>(rank)];
      auto* const flags = static_cast<unsigned*>(open(theirs.flags));
      std::vector<T*> of(fields.size());
      for (std::size_t f = 0; f < fields.size(); ++f) of[f] = static_cast<T*>(open(theirs.fields[f]));
      opened = opened && flags && std::find(of.begin(), of.end(), nullptr) == of.end();
      all_.there[fields_.size()] = flags + comm_.rank();
      all_.here[fields_.size()] = flags_.view().data + rank;
      fields_.push_back(std::move(of));
    }
    all_.count = static_cast<int>(neighbours.size());
    all_.meetings = meetings_.view().data;
    all_.patience = lost_->patience(minutes);
    return comm_.lowest(opened ? 1 : 0) == 1;
  }

  T* of(std::size_t n, std::size_t field) const override { return fields_[n][field]; }
  void meet(Stream& stream) override {
    if (all_.count == 0) return;
    detail::cuda::use(index_);
    all_.patience = lost_->patience(minutes);
    meet_neighbours<<<1, most_neighbours, 0, static_cast<cudaStream_t>(stream.handle())>>>(all_);
    detail::cuda::check(cudaGetLastError(), "meet_neighbours");
  }
  void check() const override { lost_->check(); }

 private:
  Hello hello(std::span<Buffer<T>* const> fields, std::span<const int> neighbours) {
    Hello mine{};
    const auto share = [](cudaIpcMemHandle_t& handle, void* memory) {
      return cudaIpcGetMemHandle(&handle, memory) == cudaSuccess;
    };
    mine.can = cudaDeviceGetPCIBusId(mine.gpu, sizeof mine.gpu, index_) == cudaSuccess &&
               comm_.on_node().count >= comm_.size() && neighbours.size() <= most_neighbours &&
               fields.size() <= most_fields && share(mine.flags, flags_.view().data);
    for (std::size_t f = 0; f < fields.size() && mine.can != 0; ++f)
      mine.can = share(mine.fields[f], fields[f]->view().data);
    cudaGetLastError();  // clears the error, which a later call would report
    return mine;
  }
  /// The address of another rank's memory on this GPU; null if this GPU cannot access it.
  void* open(const cudaIpcMemHandle_t& handle) {
    void* memory = nullptr;
    if (cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) {
      cudaGetLastError();
      return nullptr;
    }
    opened_.push_back(memory);
    return memory;
  }

  Comm& comm_;
  int index_;
  Buffer<unsigned> flags_, meetings_;
  std::vector<void*> opened_;            // addresses of other ranks' memory
  std::vector<std::vector<T*>> fields_;  // addresses: [neighbours][fields]
  Meeting all_{};
  std::shared_ptr<Lost> lost_;
};

}  // namespace

template <class T>
std::size_t PeerFields<T>::whole_pieces(std::size_t elements) {
  constexpr std::size_t piece = granularity / sizeof(T);
  return (elements + piece - 1) / piece * piece;
}

template <class T>
std::unique_ptr<PeerFields<T>> PeerFields<T>::make(Stream& stream, std::span<Buffer<T>* const> fields,
                                                   std::span<const int> neighbours, Comm& comm) {
  if (stream.device().kind != Device::Kind::cuda || comm.size() == 1) return nullptr;
  std::unique_ptr<CudaPeerFields<T>> made;
  together(comm, [&] { made = std::make_unique<CudaPeerFields<T>>(stream, comm); });
  if (!made->open(fields, neighbours)) return nullptr;
  return made;
}

#else

template <class T>
std::size_t PeerFields<T>::whole_pieces(std::size_t elements) {
  return elements;
}

template <class T>
std::unique_ptr<PeerFields<T>> PeerFields<T>::make(Stream&, std::span<Buffer<T>* const>, std::span<const int>,
                                                   Comm&) {
  return nullptr;
}

#endif

template class PeerFields<float>;
template class PeerFields<double>;

}  // namespace terrane
