#include "terrane/parallel/comm/comm.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>

namespace terrane {

namespace {

[[noreturn]] void nobody_there() {
  throw UnsupportedError("ranks", "there is no other rank to speak to", "Start the program with mpirun.");
}

enum class Kind { input, shape, file, memory, unsupported, cancelled, error, other };

/// An error on its way to the other ranks.
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
  throw_packed(packet);
}

}  // namespace terrane
