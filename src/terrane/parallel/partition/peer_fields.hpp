// Fields that neighbouring ranks write into, on GPUs of one machine that can access each other's memory:
// while kernels compute, they store values that a neighbour's stencils need directly in that neighbour's
// field, over the link. So a step has no messages; it ends with one kernel of one block, in which neighbours
// wait for each other.
//
//   kernels that write into fields of neighbours
//   fields.meet(stream);       // all of a neighbour's stores before its meeting are there
//   kernels that read them
//
// Between two meetings no rank may write what a neighbour may still read.
#pragma once

#include <memory>
#include <span>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// T: float or double.
template <class T>
class PeerFields {
 public:
  /// The number of elements, at least `elements`, that a field must have to be shared: whole pages of the
  /// GPU's memory.
  static std::size_t whole_pieces(std::size_t elements);

  /// Collective; null on all ranks where they cannot: no GPUs, or ranks that share one, or several machines.
  /// fields: as many on every rank, of whole_pieces(), which must outlive this and stay where they are.
  /// neighbours: ranks; each of them has this one among its own. The Comm must outlive it. Throws
  /// MemoryError, on all ranks alike.
  static std::unique_ptr<PeerFields> make(Stream& stream, std::span<Buffer<T>* const> fields,
                                          std::span<const int> neighbours, Comm& comm);
  /// Collective, unless an exception destroys it: no rank frees its fields while others have them open.
  virtual ~PeerFields() = default;

  /// The first element of a field of the n-th neighbour.
  virtual T* of(std::size_t n, std::size_t field) const = 0;
  /// Collective among neighbours: work begun on the stream after this call comes after all that neighbours'
  /// streams had begun before their call. A Graph can record it.
  virtual void meet(Stream& stream) = 0;
  /// To be called after the work was waited for: throws Error where a neighbour did not come for ten minutes.
  /// From then on no rank waits, and the fields' values are not valid.
  virtual void check() const = 0;
};

}  // namespace terrane
