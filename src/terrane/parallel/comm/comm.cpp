#include "terrane/parallel/comm/comm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <numeric>

#include "terrane/parallel/threads/filled.hpp"

namespace terrane {

namespace {

[[noreturn]] void nobody_there() {
  throw UnsupportedError("ranks", "there is no other rank to speak to", "Start the program with mpirun.");
}

/// The tag of messages of gather(), outside the range that callers may use.
constexpr int gather_tag = 10'001;

void check_ends(std::size_t sent, std::size_t received) {
  if (sent != received)
    throw ShapeError("ranks", fmt::format("{} bytes were sent, {} are expected", sent, received));
}

enum class Kind { input, shape, file, memory, unsupported, cancelled, error, other };

/// An error, packed for sending to the other ranks.
Packet packed(const std::exception_ptr& failure, int rank) {
  Packet packet;
  const auto put = [&](Kind kind, const std::string& where, const std::string& problem,
                       const std::string& next) {
    packet.put(kind);
    packet.put(fmt::format("rank {}{}{}", rank, where.empty() ? "" : ": ", where));
    packet.put(problem);
    packet.put(next);
  };
  try {
    std::rethrow_exception(failure);
  } catch (const Error& e) {
    const auto is = [&]<class Other>(const Other*) { return dynamic_cast<const Other*>(&e) != nullptr; };
    const Kind kind = is((InputError*)nullptr)         ? Kind::input
                      : is((ShapeError*)nullptr)       ? Kind::shape
                      : is((FileError*)nullptr)        ? Kind::file
                      : is((MemoryError*)nullptr)      ? Kind::memory
                      : is((UnsupportedError*)nullptr) ? Kind::unsupported
                      : is((Cancelled*)nullptr)        ? Kind::cancelled
                                                       : Kind::error;
    put(kind, e.where(), e.problem(), e.next());
  } catch (const std::bad_alloc&) {
    put(Kind::memory, "", "out of memory", "Start fewer ranks on each node, with more threads each.");
  } catch (const std::exception& e) {
    put(Kind::other, "", e.what(), "");
  } catch (...) {
    put(Kind::other, "", "an unknown error", "");
  }
  return packet;
}

[[noreturn]] void throw_packed(Packet& packet) {
  const auto kind = packet.get<Kind>();
  const auto where = packet.get<std::string>(), problem = packet.get<std::string>(),
             next = packet.get<std::string>();
  switch (kind) {
    case Kind::input:
      throw InputError(where, problem, next);
    case Kind::shape:
      throw ShapeError(where, problem, next);
    case Kind::file:
      throw FileError(where, problem, next);
    case Kind::memory:
      throw MemoryError(where, problem, next);
    case Kind::unsupported:
      throw UnsupportedError(where, problem, next);
    case Kind::cancelled:
      throw Cancelled();
    case Kind::error:
      throw Error(where, problem, next);
    case Kind::other:
      break;
  }
  throw std::runtime_error(where + ": " + problem);
}

}  // namespace

void broadcast_from_here(Comm& comm, std::span<const std::byte> bytes) {
  // Root and receivers make the same call, as in MPI and NCCL; the root's bytes are not written.
  comm.broadcast({const_cast<std::byte*>(bytes.data()), bytes.size()}, comm.rank());
}

Device shared_device(Device wanted, const Comm& comm) {
  using Kind = Device::Kind;
  const auto place = comm.on_node();
  if (place.count == 1 || (wanted.kind != Kind::cuda && wanted.kind != Kind::automatic)) return wanted;
  wanted.shared_by = wanted.index >= 0 ? place.count : place.sharing(gpu_count());
  return wanted;
}

void Alone::send(std::span<const std::byte>, int) { nobody_there(); }
void Alone::receive(std::span<std::byte>, int) { nobody_there(); }
void Alone::abort(int) { nobody_there(); }

/// A message of a rank to itself: the later of the two calls, isend() or irecv(), copies the bytes.
class Alone::Posting final : public Message::State {
 public:
  explicit Posting(std::shared_ptr<bool> is_done) : done_(std::move(is_done)) {}
  bool done() override { return *done_; }
  void wait() override {
    if (!*done_)
      throw Error("ranks", "a message to this rank itself has no other end",
                  "Call isend and irecv, then wait.");
  }

 private:
  std::shared_ptr<bool> done_;
};

/// The first posted message that waits for its counterpart. Messages whose Message object was destroyed
/// before that are ignored.
std::vector<Alone::Posted>::iterator Alone::waiting(bool sends, int tag) {
  return std::find_if(posted_.begin(), posted_.end(), [&](const Posted& p) {
    return p.sends == sends && p.tag == tag && p.done.use_count() > 1;
  });
}

Message Alone::isend(std::span<const std::byte> bytes, int to, int tag) {
  if (to != 0) nobody_there();
  const auto done = std::make_shared<bool>(false);
  const auto other = waiting(false, tag);
  if (other == posted_.end()) {
    posted_.push_back({tag, true, nullptr, bytes.data(), bytes.size(), done});
  } else {
    check_ends(bytes.size(), other->bytes);
    std::copy(bytes.begin(), bytes.end(), other->to);
    *done = *other->done = true;
    posted_.erase(other);
  }
  return Message(std::make_unique<Posting>(done));
}

Message Alone::irecv(std::span<std::byte> bytes, int from, int tag) {
  if (from != 0) nobody_there();
  const auto done = std::make_shared<bool>(false);
  const auto other = waiting(true, tag);
  if (other == posted_.end()) {
    posted_.push_back({tag, false, bytes.data(), nullptr, bytes.size(), done});
  } else {
    check_ends(bytes.size(), other->bytes);
    std::copy_n(other->from, other->bytes, bytes.data());
    *done = *other->done = true;
    posted_.erase(other);
  }
  return Message(std::make_unique<Posting>(done));
}

void Alone::gather_all(std::span<const std::byte> mine, std::span<std::byte> all) {
  check_ends(mine.size(), all.size());
  std::copy(mine.begin(), mine.end(), all.begin());
}

std::unique_ptr<Comm> Alone::split(int colour, int) {
  return colour < 0 ? nullptr : std::make_unique<Alone>();
}

namespace {
[[noreturn]] void lacks(const char* what) {
  throw UnsupportedError("ranks", std::string("this kind of communicator has no ") + what, "");
}
}  // namespace

Message Comm::isend(std::span<const std::byte>, int, int) { lacks("isend"); }
Message Comm::irecv(std::span<std::byte>, int, int) { lacks("irecv"); }
void Comm::gather_all(std::span<const std::byte>, std::span<std::byte>) { lacks("gather_all"); }
std::unique_ptr<Comm> Comm::split(int, int) { lacks("split"); }

void wait_all(std::span<Message> messages) {
  for (auto& message : messages) message.wait();
}

void Comm::exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from, int tag) {
  Message arrives = irecv(in, from, tag), leaves = isend(out, to, tag);
  arrives.wait();
  leaves.wait();
}

std::vector<std::vector<std::byte>> Comm::gather(std::span<const std::byte> mine, int root) {
  const auto ranks = static_cast<std::size_t>(size());
  std::vector<std::size_t> sizes(ranks);
  const std::size_t bytes = mine.size();
  gather_all(std::as_bytes(std::span(&bytes, 1)), std::as_writable_bytes(std::span(sizes)));
  std::vector<std::vector<std::byte>> all;
  std::vector<Message> messages;
  if (rank() == root) {
    all.resize(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      all[r].resize(sizes[r]);
      messages.push_back(irecv(all[r], static_cast<int>(r), gather_tag));
    }
  }
  messages.push_back(isend(mine, root, gather_tag));
  wait_all(messages);
  return all;
}

void Comm::sum(std::span<double> values) {
  std::vector<double> other(values.size());
  // A binary tree over the ranks: at each step every remaining rank adds the values of the rank that is
  // `step` further.
  for (int step = 1; step < size(); step *= 2) {
    if (rank() % (2 * step) == step) {
      send(std::as_bytes(values), rank() - step);
      break;
    }
    if (rank() + step < size()) {
      receive(std::as_writable_bytes(std::span(other)), rank() + step);
      for (std::size_t n = 0; n < values.size(); ++n) values[n] += other[n];
    }
  }
  broadcast(std::as_writable_bytes(values), 0);
}

namespace {

/// Collective: the value of every rank, in the order of ranks.
template <class T>
std::vector<T> of_all(Comm& comm, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(comm.size()));
  comm.gather_all(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

}  // namespace

std::int64_t Comm::sum(std::int64_t value) {
  const auto all = of_all(*this, value);
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

double Comm::highest(double value) {
  for (const double other : of_all(*this, value))
    if (other > value || std::isnan(other)) value = other;
  return value;
}

std::size_t Packet::checked_count(std::size_t each) {
  const auto count = get<std::size_t>();
  if (count > (bytes_.size() - at_) / each)
    throw ShapeError("ranks", "a message is shorter than it says", "Start the same version on every node.");
  return count;
}

void Packet::append(std::span<const std::byte> bytes) {
  const std::size_t at = bytes_.size();
  bytes_.resize(at + bytes.size());
  if (!bytes.empty()) std::memcpy(bytes_.data() + at, bytes.data(), bytes.size());
}

void Packet::take(std::span<std::byte> to) {
  if (to.size() > bytes_.size() - at_)
    throw ShapeError("ranks", "a message is shorter than expected", "Start the same version on every node.");
  if (!to.empty()) std::memcpy(to.data(), bytes_.data() + at_, to.size());
  at_ += to.size();
}

void Packet::broadcast(Comm& comm, int root) {
  std::size_t size = bytes_.size();
  comm.broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
  if (bytes_.size() < size) {
    bytes_.reserve(size);
    ask_for_pages(bytes_.data(), size);
  }
  bytes_.resize(size);
  comm.broadcast(bytes_, root);
}

void Packet::send(Comm& comm, int to) const {
  const std::size_t size = bytes_.size();
  comm.send(std::as_bytes(std::span(&size, 1)), to);
  comm.send(bytes_, to);
}

Packet Packet::receive(Comm& comm, int from) {
  std::size_t size = 0;
  comm.receive(std::as_writable_bytes(std::span(&size, 1)), from);
  Packet packet;
  packet.bytes_.reserve(size);
  ask_for_pages(packet.bytes_.data(), size);
  packet.bytes_.resize(size);
  comm.receive(packet.bytes_, from);
  return packet;
}

void agree(Comm& comm, const std::exception_ptr& mine) {
  if (comm.size() == 1) {
    if (mine) std::rethrow_exception(mine);
    return;
  }
  const int failed = comm.lowest(mine ? comm.rank() : comm.size());
  if (failed == comm.size()) return;
  Packet packet;
  if (failed == comm.rank()) packet = packed(mine, failed);
  packet.broadcast(comm, failed);
  ++comm.errors_of_all_;
  throw_packed(packet);
}

}  // namespace terrane
