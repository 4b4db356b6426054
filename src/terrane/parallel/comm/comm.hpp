// The processes ("ranks") of one run and what they tell each other. A program without MPI, or one that was
// started by itself, has one rank: Alone. comm_mpi.hpp has the other kind.
//
// Collective calls are made by all ranks in the same order. Nothing here knows a world communicator: a Comm
// is handed over.
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

/// A message on its way. Its bytes belong to it until wait() returns, done() says true or this is gone: the
/// end of its life waits, too.
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
  /// Whether it has arrived, or left; moves messages along. Asks once more after that: still true.
  bool done() { return !state_ || state_->done(); }
  void wait() {
    if (state_) state_->wait();
  }

 private:
  std::unique_ptr<State> state_;
};

/// Waits for all of them.
void wait_all(std::span<Message> messages);

/// A kind of Comm may do without isend(), irecv(), gather_all() and split(), and what stands on them: they
/// throw UnsupportedError there.
class Comm {
 public:
  virtual ~Comm() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  /// This rank among those that share its machine ("node"), whatever their order in the whole: what chooses a
  /// GPU, and how many must share the memory.
  struct Place {
    int index = 0, count = 1;
    /// How many ranks of the node take the same of so many things as this one, when they are counted round.
    int sharing(int things) const noexcept {
      return things < 1 ? count : (count - index % things + things - 1) / things;
    }
  };
  virtual Place on_node() const noexcept = 0;

  /// Collective, for a Comm that has a faster way for large arrays: so many bytes are about to be broadcast
  /// among ranks whose devices are these, of one kind. Returns a note about the way they will go, empty when
  /// there is nothing to say.
  virtual std::string prepare(Device /*device*/, std::size_t /*bytes*/, int /*threads*/) { return {}; }
  /// Collective, soon after those broadcasts: gives back what prepare() took.
  virtual void release() {}
  /// Collective: the bytes of `root` to all. Every rank gives as many.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Collective: the lowest value of all ranks.
  virtual int lowest(int value) = 0;
  /// In the order of sending between two ranks; the receiver gives as many bytes. Two ranks that both send
  /// first may wait for ever: exchange() is for them.
  virtual void send(std::span<const std::byte> bytes, int to) = 0;
  virtual void receive(std::span<std::byte> bytes, int from) = 0;
  /// Begin to send and to receive; a rank may send to itself. Messages of one tag between two ranks arrive in
  /// the order of sending. tag: 0 … 10000; the receiver gives as many bytes.
  virtual Message isend(std::span<const std::byte> bytes, int to, int tag = 0);
  virtual Message irecv(std::span<std::byte> bytes, int from, int tag = 0);
  /// Sends to one rank and receives from one, of which each may send first.
  void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from, int tag = 0);

  /// Collective: the bytes of each rank, as many on every rank, one after the other in the order of ranks.
  /// all: size() times as many bytes.
  virtual void gather_all(std::span<const std::byte> mine, std::span<std::byte> all);
  /// Collective: on `root` what each rank gave, in the order of ranks, empty elsewhere. Ranks may give
  /// different numbers of bytes.
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine, int root);
  /// Collective: values become their sums over the ranks, on all of them, as many on every rank. The order of
  /// adding depends on the number of ranks and on nothing else; Reduction has sums that do not depend on it.
  void sum(std::span<double> values);
  /// Collective: exact.
  std::int64_t sum(std::int64_t value);
  /// Collective: the highest value of all ranks; NaN when a rank has NaN.
  double highest(double value);
  /// Collective: the ranks that give the same colour, as a Comm of their own, in the order of `key` and then
  /// of rank. A rank with a negative colour gets nullptr. It must go before this.
  virtual std::unique_ptr<Comm> split(int colour, int key);

  /// Whether send, isend, receive and irecv take memory of a GPU.
  virtual bool takes_gpu_memory() const noexcept { return false; }
  /// Ends all ranks at once, after an OutOfStep.
  virtual void abort(int status) = 0;
};

/// `wanted` as the ranks of this node share it: a GPU with a number is taken by all, others are counted
/// round. Ranks that see a GPU each, of their own, are taken to share one.
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
    std::byte* to;          // of a message that waits to be sent; else null
    const std::byte* from;  // of one that waits to be received
    std::size_t bytes;
    std::shared_ptr<bool> done;
  };
  class Posting;
  static bool waits(const Posted& posted, int tag);
  std::vector<Posted> posted_;
};

/// For vectors that something is about to be received into: elements of trivial types begin with any value.
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

/// Things of trivial types in a row, as they travel: taken out in the order in which they were put in.
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

  /// Throw ShapeError: the packet holds less.
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
  /// Room for so many bytes more.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes_.size() + bytes); }

  /// Collective: the packet of `root` becomes that of all.
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

/// A rank failed where the others wait for it: what is left is Comm::abort, by whoever runs the program.
class OutOfStep : public Error {
  using Error::Error;
};

/// Collective: tells the others whether this rank failed (null: it did not). When any did, every rank throws
/// the error of the lowest of them, of the same class and with its rank in the text; so nobody waits for a
/// rank that will not come.
void agree(Comm& comm, const std::exception_ptr& mine);

/// Collective: runs the rank's part of some work, then agrees. `work` must not communicate.
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
