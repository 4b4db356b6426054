// A grid whose points are divided among ranks: which rank has which points, and how ranks exchange values.
//
// A rank's arrays are indexed by the indices of the whole grid. Parts are cut at the blocks of a Reduction,
// so no sum depends on the number of ranks; all other operations of solvers are pointwise.
#pragma once

#include <memory>

#include "terrane/parallel/partition/halo.hpp"
#include "terrane/solve/networks/network.hpp"

namespace terrane::solve {

/// Which points bring() gets from other ranks: a halo of width `points` around a part, or all points.
struct Around {
  Index points = 1;
  bool corners = false;  ///< true: the halo includes edges and corners
  bool all = false;      ///< true: every rank gets the whole grid
};

/// T: float or double. All members are collective except whole(), part(), direct() and by_peers(); so is the
/// destructor, except during stack unwinding (halo.hpp). Comm must outlive the grid.
template <class T>
class SharedGrid {
 public:
  /// Cuts the grid at blocks of a Reduction into as many parts as ranks. On a device, partitions whose cuts
  /// are not at multiples of several blocks count as twice as large: the host finishes their sums, which with
  /// 401³ points would take twice as long as the rest.
  SharedGrid(const IndexBox<3>& whole, Comm& comm, Device device)
      : SharedGrid(cut(whole, comm.size(), CartesianSettings<3>{{}, {}, device.has_own_memory() ? 1.0 : 0.0}),
                   comm) {}
  SharedGrid(Cartesian<3> partition, Comm& comm, Around around = {})
      : partition_(std::move(partition)), comm_(&comm), around_(around) {}

  const Cartesian<3>& partition() const { return partition_; }
  const IndexBox<3>& whole() const { return partition_.whole; }
  const IndexBox<3>& part() const { return partition_.part(comm_->rank()); }
  Comm& comm() const { return *comm_; }

  /// Keeps the memory for messages between the ranks' GPUs as long as this grid exists, so that halos made
  /// one after the other reuse it.
  void keep_memory(Stream& stream) const;
  /// Allocates the halo that bring() needs for fields of V. Without this call the first bring() allocates it,
  /// and a bring() that allocates cannot be recorded in a Graph. Throws MemoryError.
  template <class V>
  void prepare(Stream& stream) const;
  /// Fills the halo of this rank's part of a field with values of other ranks. early: if the exchange is a
  /// kernel, it may be launched while the previous kernel of the stream still runs.
  template <class V>
  void bring(Stream& stream, Field<V>& field, bool early = false) const;
  /// direct(): whether bring() can be recorded in a Graph; by_peers(): whether bring() is a single kernel on
  /// the caller's stream. Call prepare() before.
  bool direct() const { return any().direct; }
  bool by_peers() const { return any().by_peers; }
  /// With several ranks: the host waits for the stream and checks messages meanwhile. Throws Error if
  /// messages between GPUs, of this grid or another, can no longer arrive.
  void watch(Stream& stream) const;
  /// The values of all ranks, in the order of Field::download.
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
  mutable std::shared_ptr<const void> memory_;  // declared before the halos, so that it is destroyed after
                                                // them
  // Halos of real and of complex fields (stored as pairs on GPUs); null until prepare() or bring() makes
  // them.
  mutable std::unique_ptr<Halo<T, 3>> halos_[2];
};

}  // namespace terrane::solve
