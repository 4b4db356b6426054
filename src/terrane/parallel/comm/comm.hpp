// The processes ("ranks") of one run and their messages. A program without MPI, or one that was started by
// itself, has one rank: Alone. comm_mpi.hpp has the Comm of several ranks.
//
// Collective calls are made by all ranks in the same order. There is no global communicator: functions get
// a Comm as an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/device.hpp"

namespace terrane {

class DirectLink;

/// A message that is being sent or received. Do not touch its bytes until wait() has returned or done() has
/// returned true. The destructor waits, too.
class Message {
 public:
  class State {
   public:
    virtual ~State() = default;  ///< waits
    virtual bool done() = 0;
    virtual void wait() = 0;
  };
  Message() = default;
  explicit Message(std::unique_ptr<State> state) : state_(std::move(state)) {}
  /// Whether the message has arrived or been sent; some transports proceed only while this is called. Once
  /// true, it stays true.
  bool done() { return !state_ || state_->done(); }
  void wait() {
    if (state_) state_->wait();
  }

 private:
  std::unique_ptr<State> state_;
};

void wait_all(std::span<Message> messages);

/// A Comm need not implement isend(), irecv(), gather_all() and split(): by default these, and the
/// functions that use them, throw UnsupportedError.
class Comm {
 public:
  virtual ~Comm() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  /// This rank's number among those on the same machine ("node"), however ranks are numbered over the nodes.
  /// The number decides which GPU a rank uses; `count`, how many ranks share the node's memory.
  struct Place {
    int index = 0, count = 1;
    /// Number of ranks on this node that share a resource with this rank when `things` resources are dealt
    /// out round-robin.
    int sharing(int things) const noexcept {
      return things < 1 ? count : (count - index % things + things - 1) / things;
    }
  };
  virtual Place on_node() const noexcept = 0;

  /// Collective, for a Comm with a faster transport for large arrays: announces that `bytes` bytes will be
  /// broadcast among ranks, each with its `device`; all devices are of one kind. Returns a note for the user
  /// on how they will be sent; empty if no note is needed.
  virtual std::string prepare(Device /*device*/, std::size_t /*bytes*/, int /*threads*/) { return {}; }
  /// Collective, called soon after the broadcasts that prepare() announced: frees what prepare() allocated.
  virtual void release() {}
  /// Collective: copies the bytes of `root` to all ranks. Every rank passes the same number of bytes.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Collective: the minimum of `value` over all ranks.
  virtual int lowest(int value) = 0;
  /// Messages between two ranks arrive in the order of sending; the receiver passes the same number of
  /// bytes. Two ranks that both send first may wait for ever: use exchange() for that.
  virtual void send(std::span<const std::byte> bytes, int to) = 0;
  virtual void receive(std::span<std::byte> bytes, int from) = 0;
  /// isend() and irecv() begin to send or to receive, and return at once; a rank may send to itself. Messages
  /// of one tag between two ranks arrive in the order of sending. tag: 0 … 10000. The receiver passes the
  /// same number of bytes as the sender.
  virtual Message isend(std::span<const std::byte> bytes, int to, int tag = 0);
  virtual Message irecv(std::span<std::byte> bytes, int from, int tag = 0);
  /// Sends to one rank and receives from another (or the same); cannot deadlock, as neither rank waits for
  /// the other to receive first.
  void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from, int tag = 0);

  /// Collective: joins the bytes of all ranks, the same number on each, in the order of ranks. all: size()
  /// times that number of bytes.
  virtual void gather_all(std::span<const std::byte> mine, std::span<std::byte> all);
  /// Collective: returns the bytes of every rank, in the order of ranks, on `root`; empty on other ranks.
  /// Ranks may pass different numbers of bytes.
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine, int root);
  /// Collective: replaces the values by their sums over the ranks, on all ranks; every rank passes the same
  /// number of values. The order of additions depends only on the number of ranks (sums of a Reduction do not
  /// depend even on that).
  void sum(std::span<double> values);
  /// Collective: the exact sum of an integer over the ranks, on all ranks.
  std::int64_t sum(std::int64_t value);
  /// Collective: the maximum over all ranks; NaN if any rank passes NaN.
  double highest(double value);
  /// Collective: a Comm of the ranks that pass the same colour, in the order of `key` and then of rank. A
  /// rank with a negative colour gets nullptr. The new Comm must be destroyed before this one.
  virtual std::unique_ptr<Comm> split(int colour, int key);

  /// Messages between the memory of the ranks' devices, as work of a stream (direct_link.hpp).
  struct Direct {
    std::shared_ptr<DirectLink> link;  ///< null: ranks have no direct links
    std::string why_not;               ///< why there is no link; may be empty
  };
  /// Collective: the link between the devices of all ranks, which are of one kind; each rank passes its own.
  virtual Direct direct(Device /*device*/) { return {}; }
  /// Whether send, isend, receive and irecv accept GPU memory.
  virtual bool takes_gpu_memory() const noexcept { return false; }
  /// Ends the processes of all ranks immediately; for use after an OutOfStep.
  virtual void abort(int status) = 0;
  /// Number of errors that agree() has thrown on all ranks together.
  std::size_t errors_of_all() const noexcept { return errors_of_all_; }

 private:
  friend void agree(Comm& comm, const std::exception_ptr& mine);
  std::size_t errors_of_all_ = 0;
};

/// Collective: broadcast() for a root whose bytes are const; other ranks call broadcast().
void broadcast_from_here(Comm& comm, std::span<const std::byte> bytes);

/// The device that this rank uses if the ranks of its node all want `wanted`: a GPU given by number is shared
/// by all of them; otherwise GPUs are assigned round-robin. Ranks that each see one GPU are assumed to share
/// it.
Device shared_device(Device wanted, const Comm& comm);

/// One process by itself.
class Alone final : public Comm {
 public:
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 1; }
  Place on_node() const noexcept override { return {}; }
  void broadcast(std::span<std::byte>, int) override {}
  int lowest(int value) override { return value; }
  void send(std::span<const std::byte>, int) override;
  void receive(std::span<std::byte>, int) override;
  Message isend(std::span<const std::byte> bytes, int to, int tag) override;
  Message irecv(std::span<std::byte> bytes, int from, int tag) override;
  void gather_all(std::span<const std::byte> mine, std::span<std::byte> all) override;
  std::unique_ptr<Comm> split(int colour, int key) override;
  void abort(int status) override;

 private:
  struct Posted {
    int tag;
    bool sends;
    std::byte* to;          // memory into which irecv() receives
    const std::byte* from;  // bytes that isend() sends
    std::size_t bytes;
    std::shared_ptr<bool> done;
  };
  class Posting;
  std::vector<Posted>::iterator waiting(bool sends, int tag);
  std::vector<Posted> posted_;
};

/// An allocator for vectors into which data will be received: elements of trivial types are not initialised.
template <class T>
struct Uninitialised : std::allocator<T> {
  template <class Other>
  struct rebind {
    using other = Uninitialised<Other>;
  };
  template <class Other>
  void construct(Other* at) noexcept {
    ::new (static_cast<void*>(at)) Other;
  }
  template <class Other, class... Values>
  void construct(Other* at, Values&&... values) {
    std::construct_at(at, std::forward<Values>(values)...);
  }
};
using Bytes = std::vector<std::byte, Uninitialised<std::byte>>;

/// Values of trivial types, packed for a message; get() returns them in the order of put().
class Packet {
 public:
  template <class T>
  void put(const T& value) {
    put(std::span<const T>(&value, 1));
  }
  template <class T, std::size_t n>
  void put(std::span<T, n> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(std::as_bytes(values));
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    put(std::span<const T>(values));
  }
  void put(const std::string& text) {
    put(text.size());
    put(std::span<const char>(text));
  }

  /// Throw ShapeError if the packet has fewer bytes left than are asked for.
  template <class T>
  T get() {
    if constexpr (std::is_same_v<T, std::string>) {
      std::string text(checked_count(1), '\0');
      get(std::span<char>(text));
      return text;
    } else {
      T value;
      get(std::span<T>(&value, 1));
      return value;
    }
  }
  template <class T>
  std::vector<T> get_vector() {
    std::vector<T> values(checked_count(sizeof(T)));
    get(std::span<T>(values));
    return values;
  }
  template <class T>
  void get(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    take(std::as_writable_bytes(values));
  }
  bool empty() const noexcept { return at_ == bytes_.size(); }
  /// Reserves room for `bytes` further bytes.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes_.size() + bytes); }

  /// Collective: copies the packet of `root` to all ranks.
  void broadcast(Comm& comm, int root = 0);
  void send(Comm& comm, int to) const;
  static Packet receive(Comm& comm, int from);

 private:
  std::size_t checked_count(std::size_t each);
  void append(std::span<const std::byte> bytes);
  void take(std::span<std::byte> to);
  Bytes bytes_;
  std::size_t at_ = 0;
};

/// Error of a rank for which others are waiting, so that the run cannot continue: the program can only call
/// Comm::abort.
class OutOfStep : public Error {
  using Error::Error;
};

/// Collective: tells the other ranks whether this rank failed (null: it did not). When any rank failed,
/// every rank throws the error of the lowest rank that did, of the same class and with the rank in the
/// text; so no rank waits for one that has stopped.
void agree(Comm& comm, const std::exception_ptr& mine);

/// Collective: runs `work` on each rank, then calls agree() with its outcome. `work` must not communicate.
template <class Work>
void together(Comm& comm, const Work& work) {
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  agree(comm, failure);
}

}  // namespace terrane
