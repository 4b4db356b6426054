#include "terrane/parallel/comm/groups.hpp"

#include <algorithm>

namespace terrane {

namespace {

std::size_t ranks_of(const Comm& comm) { return static_cast<std::size_t>(comm.size()); }

}  // namespace

Groups::Groups(Comm& comm, std::size_t solves, int groups)
    : comm_(comm),
      count_(
          std::clamp<std::size_t>(groups > 0 ? static_cast<std::size_t>(groups) : solves, 1, ranks_of(comm))),
      own_(static_cast<std::size_t>(comm.rank()) * count_ / ranks_of(comm)),
      // All of them need no Comm of their own; and that of some has no direct messages but by peers.
      some_(count_ < ranks_of(comm) && count_ > 1 ? comm.split(static_cast<int>(own_), 0) : nullptr),
      sharing_(count_ == 1 && comm.size() > 1 ? &comm : some_.get()) {}

}  // namespace terrane
