// A grid whose points are shared among ranks: which rank has which points, and how it gets values of others.
//
// A rank's arrays are indexed by the indices of the whole grid. Parts are cut at the blocks of a Reduction,
// so no sum depends on the number of ranks; everything else that solvers do is pointwise.
#pragma once

#include <memory>

#include "terrane/parallel/partition/halo.hpp"
#include "terrane/solve/networks/network.hpp"

namespace terrane::solve {

/// Points that bring() gets from other ranks: those around a part, or all.
struct Around {
  Index points = 1;
  bool corners = false;  ///< true: also values beyond edges and corners of the part
  bool all = false;      ///< true: every rank gets the whole grid
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

  /// Keeps the memory of messages between GPUs of these ranks as long as this grid lives, for all halos that
  /// are made one after the other.
  void keep_memory(Stream& stream) const;
  /// Allocates what bring() needs for fields of V; else the first bring() allocates it, which then cannot be
  /// recorded. Throws MemoryError.
  template <class V>
  void prepare(Stream& stream) const;
  /// Fills the points around this rank's part of a field with the values of the ranks that have them. early:
  /// as in sweep().
  template <class V>
  void bring(Stream& stream, Field<V>& field, bool early = false) const;
  /// Whether bring() can be recorded in a graph, and whether it is a kernel on the stream itself; call
  /// prepare() before.
  bool direct() const { return any().direct; }
  bool by_peers() const { return any().by_peers; }
  /// Where there are several ranks: the host waits for the stream, and checks messages meanwhile. Throws
  /// Error where they can no longer arrive, also those of other grids between GPUs.
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
  // Halos of real and of complex fields (pairs on GPUs), once prepare() or bring() has made them.
  mutable std::unique_ptr<Halo<T, 3>> halos_[2];
};

}  // namespace terrane::solve
