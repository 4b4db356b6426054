// The processes ("ranks") of one run and what they tell each other. A program without MPI, or one that was
// started by itself, has one rank: Alone. comm_mpi.hpp has the other kind.
//
// Collective calls are made by all ranks in the same order. Nothing here knows a world communicator: a Comm
// is handed over.
#pragma once

#include <cstddef>
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
  /// In the order of sending between two ranks; the receiver gives as many bytes.
  virtual void send(std::span<const std::byte> bytes, int to) = 0;
  virtual void receive(std::span<std::byte> bytes, int from) = 0;
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
  void abort(int status) override;
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
