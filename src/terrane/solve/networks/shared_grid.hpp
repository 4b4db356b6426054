// A grid whose points are shared among ranks: who has which, and how values of other ranks come.
//
// A rank's arrays are indexed by the indices of the whole grid. Parts are cut at the blocks of a Reduction,
// so no sum depends on the number of ranks; everything else that solvers do is pointwise.
#pragma once

#include <memory>

#include "terrane/parallel/partition/halo.hpp"
#include "terrane/solve/networks/network.hpp"

namespace terrane::solve {

/// What bring() brings: points around a part, or all.
struct Around {
  Index points = 1;
  bool corners = false;  ///< also those that are beside the part on two or three axes at once
  bool all = false;      ///< every rank gets the whole
};

/// T: float or double. All members are collective but whole(), part(), direct() and by_peers(), and so is its
/// destruction, unless an exception does it (halo.hpp). Comm must outlive it.
template <class T>
class SharedGrid {
 public:
  /// Cut at blocks of sums, into as many parts as there are ranks, for sums that hosts finish. On a device of
  /// 401³ points these take twice the time of all the rest, unless cuts join blocks.
  SharedGrid(const IndexBox<3>& whole, Comm& comm, Device device)
      : SharedGrid(cut(whole, comm.size(), CartesianSettings<3>{{}, {}, device.has_own_memory() ? 1.0 : 0.0}),
                   comm) {}
  SharedGrid(Cartesian<3> partition, Comm& comm, Around around = {})
      : partition_(std::move(partition)), comm_(&comm), around_(around) {}

  const Cartesian<3>& partition() const { return partition_; }
  const IndexBox<3>& whole() const { return partition_.whole; }
  const IndexBox<3>& part() const { return partition_.part(comm_->rank()); }
  Comm& comm() const { return *comm_; }

  /// The memory of messages between GPUs of these ranks stays as long as this, for whoever makes halos in
  /// turn.
  void keep_memory(Stream& stream) const;
  /// Makes room for what bring() needs of fields of V; else the first bring() does, which then cannot be
  /// recorded.  Throws MemoryError.
  template <class V>
  void prepare(Stream& stream) const;
  /// Fills what is around this rank's part of a field from the ranks that have those points. early: as of
  /// sweep().
  template <class V>
  void bring(Stream& stream, Field<V>& field, bool early = false) const;
  /// Whether bring() can be recorded, and whether it is a kernel of the stream itself; after prepare().
  bool direct() const { return any().direct; }
  bool by_peers() const { return any().by_peers; }
  /// Where there are several ranks: makes the host wait for the stream, and looks after messages meanwhile.
  /// Throws Error where they cannot arrive any more, also those of other grids between GPUs.
  void watch(Stream& stream) const;
  /// The values of all ranks, as Field::download gives those of one.
  template <class V>
  std::vector<T> gather(Stream& stream, const Field<V>& field) const;

 private:
  struct Transport {
    bool direct = false, by_peers = false;
  };
  Transport any() const;
  Halo<T, 3>& halo(Stream& stream, bool pairs, int fields) const;

  Cartesian<3> partition_;
  Comm* comm_;
  Around around_;
  mutable std::shared_ptr<const void> memory_;  // goes after the halos
  // Of real fields and of complex ones, once these were prepared or brought; of pairs on GPUs.
  mutable std::unique_ptr<Halo<T, 3>> halos_[2];
};

}  // namespace terrane::solve
