// A grid whose points are shared among ranks: who has which, and how values of other ranks come.
//
// A rank's arrays are indexed by the indices of the whole grid. Parts are cut at the blocks of a Reduction,
// so no sum depends on the number of ranks; everything else that solvers do is pointwise.
#pragma once

#include <memory>

#include "terrane/parallel/partition/halo.hpp"
#include "terrane/solve/network.hpp"

namespace terrane::solve {

/// T: float or double. All members are collective but whole() and part(). Stream and Comm must outlive it.
template <class T>
class SharedGrid {
 public:
  /// Cut at blocks of sums, into as many parts as there are ranks.  Throws MemoryError.
  SharedGrid(Stream& stream, const IndexBox<3>& whole, Comm& comm)
      : SharedGrid(stream, cut(whole, comm.size()), comm) {}
  /// corners: bring() also brings points that are beside the part on two or three axes at once.
  SharedGrid(Stream& stream, Cartesian<3> partition, Comm& comm, bool corners = false);

  const Cartesian<3>& partition() const { return partition_; }
  const IndexBox<3>& whole() const { return partition_.whole; }
  const IndexBox<3>& part() const { return partition_.part(comm_->rank()); }
  Comm& comm() const { return *comm_; }

  /// Fills the layer of a field of this rank's part from the ranks that have those points.
  template <class V>
  void bring(Stream& stream, Field<V>& field) const;
  /// The values of all ranks, as Field::download gives those of one.
  template <class V>
  std::vector<T> gather(Stream& stream, const Field<V>& field) const;

 private:
  Halo<T, 3>& halo_of_pairs(Stream& stream) const;
  Cartesian<3> partition_;
  Comm* comm_;
  bool corners_;
  std::unique_ptr<Halo<T, 3>> halo_;           // null where there is one rank
  mutable std::unique_ptr<Halo<T, 3>> pairs_;  // of complex fields on GPUs, once one was brought
};

}  // namespace terrane::solve
