#include "terrane/parallel/comm/comm_mpi.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <chrono>
#include <thread>

namespace terrane {

namespace {

constexpr int tag = 1, first_tag = 16;  // tag of send() and receive(); the first tag of isend() and irecv()

/// Waits for a message of this many bytes. Most MPI libraries transfer data only while they are polled, and
/// without kernel support in pieces of 32 kB. If the loop slept 0.2 ms between polls, the speed would be 0.3
/// GB/s. So at first this function polls without sleeping (yielding the core to other threads), for the time
/// that the message would take at 0.3 GB/s. If the message has not arrived by then, the other side may still
/// be computing, and the loop sleeps between polls.
template <class Done>
void wait_until(const Done& done, std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  constexpr double asleep = 0.3e9;  // speed of a transfer whose polls are separated by sleep, bytes/s
  constexpr std::chrono::microseconds least(100), nap(200);
  const auto patience = least + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(static_cast<double>(bytes) / asleep));
  const auto begin = Clock::now();
  while (!done()) {
    if (Clock::now() - begin < patience) std::this_thread::yield();
    else std::this_thread::sleep_for(nap);
  }
}

void wait(MPI_Request request, std::size_t bytes) {
  const auto done = [&] {
    int yes = 0;
    MPI_Test(&request, &yes, MPI_STATUS_IGNORE);
    return yes != 0;
  };
  wait_until(done, bytes);
}

/// A message of isend() or irecv(): the requests of the pieces into which it is split.
class Pieces final : public Message::State {
 public:
  explicit Pieces(std::size_t bytes) : bytes_(bytes) {}
  ~Pieces() override { wait(); }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  MPI_Request& add() { return requests_.emplace_back(MPI_REQUEST_NULL); }
  bool done() override {
    int all = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE);
    return all != 0;
  }
  void wait() override {
    wait_until([&] { return done(); }, bytes_);
  }

 private:
  std::vector<MPI_Request> requests_;
  std::size_t bytes_;
};

class MpiComm final : public Comm {
 public:
  MpiComm(MPI_Comm communicator, std::size_t most_at_once) : most_at_once_(most_at_once) {
    MPI_Comm_dup(communicator, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    MPI_Comm node;
    MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &place_.index);
    MPI_Comm_size(node, &place_.count);
    MPI_Comm_free(&node);
  }
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;
  ~MpiComm() override { MPI_Comm_free(&comm_); }

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  Place on_node() const noexcept override { return place_; }

  void broadcast(std::span<std::byte> bytes, int root) override {
    in_pieces(bytes, [&](std::byte* data, int count) {
      MPI_Request request;
      MPI_Ibcast(data, count, MPI_BYTE, root, comm_, &request);
      wait(request, static_cast<std::size_t>(count));
    });
  }
  int lowest(int value) override {
    int result = value;
    MPI_Request request;
    MPI_Iallreduce(&value, &result, 1, MPI_INT, MPI_MIN, comm_, &request);
    wait(request, sizeof(int));
    return result;
  }
  void send(std::span<const std::byte> bytes, int to) override {
    in_pieces(bytes, [&](const std::byte* data, int count) {
      MPI_Request request;
      MPI_Isend(data, count, MPI_BYTE, to, tag, comm_, &request);
      wait(request, static_cast<std::size_t>(count));
    });
  }
  void receive(std::span<std::byte> bytes, int from) override {
    in_pieces(bytes, [&](std::byte* data, int count) {
      MPI_Request request;
      MPI_Irecv(data, count, MPI_BYTE, from, tag, comm_, &request);
      wait(request, static_cast<std::size_t>(count));
    });
  }
  Message isend(std::span<const std::byte> bytes, int to, int with) override {
    auto state = std::make_unique<Pieces>(bytes.size());
    in_pieces(bytes, [&](const std::byte* data, int count) {
      MPI_Isend(data, count, MPI_BYTE, to, first_tag + with, comm_, &state->add());
    });
    return Message(std::move(state));
  }
  Message irecv(std::span<std::byte> bytes, int from, int with) override {
    auto state = std::make_unique<Pieces>(bytes.size());
    in_pieces(bytes, [&](std::byte* data, int count) {
      MPI_Irecv(data, count, MPI_BYTE, from, first_tag + with, comm_, &state->add());
    });
    return Message(std::move(state));
  }
  void gather_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
    const std::size_t each = mine.size();
    if (each > most_at_once_ / static_cast<std::size_t>(size_)) {
      std::copy(mine.begin(), mine.end(), all.begin() + static_cast<std::ptrdiff_t>(each) * rank_);
      for (int r = 0; r < size_; ++r) broadcast(all.subspan(each * static_cast<std::size_t>(r), each), r);
      return;
    }
    const int count = static_cast<int>(each);
    MPI_Request request;
    MPI_Iallgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, comm_, &request);
    wait(request, all.size());
  }
  std::unique_ptr<Comm> split(int colour, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(comm_, colour < 0 ? MPI_UNDEFINED : colour, key, &part);
    if (part == MPI_COMM_NULL) return nullptr;
    auto comm = std::make_unique<MpiComm>(part, most_at_once_);
    MPI_Comm_free(&part);
    return comm;
  }
  bool takes_gpu_memory() const noexcept override {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
  }
  void abort(int status) override { MPI_Abort(comm_, status); }

 private:
  /// Calls use(address, count) for pieces so small that an int counts their bytes.
  template <class Bytes, class Use>
  void in_pieces(Bytes bytes, const Use& use) const {
    for (std::size_t at = 0; at < bytes.size(); at += most_at_once_)
      use(bytes.data() + at, static_cast<int>(std::min(most_at_once_, bytes.size() - at)));
  }

  std::size_t most_at_once_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  Place place_;
};

}  // namespace

std::unique_ptr<Comm> mpi_comm(MPI_Comm communicator, std::size_t most_at_once) {
  return std::make_unique<MpiComm>(communicator, most_at_once);
}

}  // namespace terrane
