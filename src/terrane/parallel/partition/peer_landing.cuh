// Memory of a rank's GPU into which kernels of other ranks write the messages for it, and the synchronisation
// of these kernels: each block of a kernel writes its share into the memory of the other ranks, sets a flag
// there, waits for the flags that their blocks set here, and reads what they wrote.
//
// There are two receive buffers, used alternately: no rank begins message n + 1 before all have signalled
// that they have begun n, so no rank writes where another still reads.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "terrane/parallel/partition/peer_waiting.cuh"

namespace terrane::detail::peers {

/// The largest number of blocks of a kernel: so few that waiting blocks of several streams never keep others
/// from running.
inline constexpr unsigned most_blocks = 64, threads_of_block = 256;

/// The flags between this rank and a peer, one per block, each the number of the last message written:
/// `there`, in the peer's memory, are set by this rank; `here`, in this rank's memory, by the peer.
struct Peer {
  unsigned *there, *here;
  unsigned blocks;
};
struct MessageState {
  unsigned messages, blocks_done;
};
/// Data about the other ranks that a kernel needs to exchange a message.
struct Meeting {
  const Peer* peers;
  int count;
  MessageState* state;
  Patience patience;
};

/// The number of the kernel's message; message % 2 is the number of its receive buffer.
__device__ inline unsigned next_message(const Meeting& all) {
  return *static_cast<const volatile unsigned*>(&all.state->messages) + 1;
}
/// To be called when the block has written its share for other ranks: returns when their share for this block
/// has arrived.
__device__ inline void say_and_wait(const Meeting& all, unsigned message) {
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
}
/// To be called when the block has read its share of the received data.
__device__ inline void end_message(const Meeting& all, unsigned message) {
  __syncthreads();
  if (threadIdx.x > 0 || atomicAdd(&all.state->blocks_done, 1) + 1 < gridDim.x) return;
  all.state->blocks_done = 0;
  all.state->messages = message;
}

/// Receive buffers of this rank and addresses of the others'. Destruction is collective, except during stack
/// unwinding.
class PeerLanding {
 public:
  /// bytes: size of one message that this rank receives. patience: minutes to wait for other ranks. Throws
  /// MemoryError.
  PeerLanding(Stream& stream, std::size_t bytes, Comm& comm, std::uint64_t patience = 1)
      : comm_(comm),
        index_(stream.device().index),
        patience_(patience),
        opened_(static_cast<std::size_t>(comm.size()), nullptr) {
    const auto flags = static_cast<std::size_t>(comm.size()) * most_blocks * sizeof(unsigned);
    first_ = (flags + 255) / 256 * 256;
    all_ = AllPeers<PeerMemory>::get().make(stream, comm);
    memory_ = all_->take(stream, first_ + 2 * bytes);
    state_ = Buffer<MessageState>(stream.device(), 1);
    state_.fill_zero(stream);
    stream.wait();
    lost_ = AllPeers<Lost>::get().make(stream, comm);
  }
  ~PeerLanding() {
    if (cudaSetDevice(index_) == cudaSuccess) {
      if (std::uncaught_exceptions() > 0)
        lost_->give_up();  // during stack unwinding other ranks may never answer
      cudaDeviceSynchronize();
    }
    if (std::uncaught_exceptions() > 0)
      return;  // during stack unwinding other ranks may still write into this memory
    meet_at_the_end(comm_);
    all_->give_back(memory_);
  }
  PeerLanding(const PeerLanding&) = delete;
  PeerLanding& operator=(const PeerLanding&) = delete;

  /// Collective: whether every rank can access the memory of all others. numbers: how many numbers this rank
  /// sends and receives in a message.
  bool meet(Index numbers) {
    detail::cuda::use(index_);
    std::vector<Hello> all(static_cast<std::size_t>(comm_.size()));
    const Hello mine = hello(numbers);
    comm_.gather_all(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    if (!all_may_bring_messages(all)) return false;
    for (const Hello& one : all) blocks_of_.push_back(one.blocks);
    return comm_.lowest(open(all) ? 1 : 0) == 1;
  }
  /// peers: the ranks with which this rank exchanges messages. Does not communicate.
  void prepare(Stream& stream, const std::set<int>& peers) {
    std::vector<Peer> all;
    for (const int rank : peers) {
      const auto n = static_cast<std::size_t>(rank);
      all.push_back({flags(opened_[n], comm_.rank()), flags(memory_.mine, rank), blocks_of_[n]});
    }
    count_ = static_cast<int>(all.size());
    peers_ = Buffer<Peer>(stream, std::span<const Peer>(all.data(), all.size()));
  }

  int rank() const { return comm_.rank(); }
  int ranks() const { return comm_.size(); }
  bool alone() const { return count_ == 0; }
  /// The number of blocks, of threads_of_block threads each, of kernels that exchange messages.
  unsigned blocks() const { return blocks_; }
  void use_gpu() const { detail::cuda::use(index_); }
  Meeting meeting() { return {peers_.view().data, count_, state_.view().data, lost_->patience(patience_)}; }
  /// The address of a rank's first receive buffer; the second follows directly.
  std::byte* of(int rank) const {
    void* const memory = rank == comm_.rank() ? memory_.mine : opened_[static_cast<std::size_t>(rank)];
    return static_cast<std::byte*>(memory) + first_;
  }
  void check() const { lost_->check(); }

 private:
  /// The first message between ranks: information on each rank's GPU that the others need.
  struct Hello {
    char gpu[32];
    SharedPlace memory;
    unsigned blocks;
    int can;
  };

  Hello hello(Index numbers) {
    blocks_ = static_cast<unsigned>(std::clamp<Index>(numbers / 2048, 1, most_blocks));
    Hello mine{};
    mine.blocks = blocks_;
    mine.memory = memory_.place;
    mine.can = memory_.can_be_shared &&
               cudaDeviceGetPCIBusId(mine.gpu, sizeof mine.gpu, index_) == cudaSuccess &&
               comm_.on_node().count >= comm_.size() && comm_.size() <= static_cast<int>(threads_of_block);
    cudaGetLastError();  // clears the error, which a later call would report
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
  /// The flags of a rank's blocks.
  static unsigned* flags(void* memory, int rank) {
    return static_cast<unsigned*>(memory) + static_cast<std::size_t>(rank) * most_blocks;
  }

  Comm& comm_;
  int index_;
  std::uint64_t patience_;
  std::size_t first_ = 0;  // offset of the receive buffers, bytes
  std::shared_ptr<PeerMemory> all_;
  PeerMemory::Piece memory_;
  std::vector<void*> opened_;  // addresses of other ranks' memory
  std::vector<unsigned> blocks_of_;
  unsigned blocks_ = 1;
  int count_ = 0;
  Buffer<Peer> peers_;
  Buffer<MessageState> state_;
  std::shared_ptr<Lost> lost_;
};

}  // namespace terrane::detail::peers
