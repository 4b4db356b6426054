#include "terrane/parallel/comm/groups.hpp"

#include <algorithm>

namespace terrane {

namespace {

std::size_t ranks_of(const Comm& comm) { return static_cast<std::size_t>(comm.size()); }

/// Collective. Throws OutOfStep, because the other ranks would wait for a rank that fails here.
std::unique_ptr<Comm> split(Comm& comm, std::size_t group) {
  try {
    return comm.split(static_cast<int>(group), 0);
  } catch (const std::exception& error) {
    throw OutOfStep(fmt::format("rank {}", comm.rank()), error.what());
  }
}

}  // namespace

Groups::Groups(Comm& comm, std::size_t solves, int groups)
    : comm_(comm),
      count_(
          std::clamp<std::size_t>(groups > 0 ? static_cast<std::size_t>(groups) : solves, 1, ranks_of(comm))),
      own_(static_cast<std::size_t>(comm.rank()) * count_ / ranks_of(comm)),
      // If all ranks form one group, comm itself is used. In a Comm made by split(), ranks send messages
      // through the host, except those of halos between peers.
      some_(count_ < ranks_of(comm) && count_ > 1 ? split(comm, own_) : nullptr),
      sharing_(count_ == 1 && comm.size() > 1 ? &comm : some_.get()) {}

}  // namespace terrane
