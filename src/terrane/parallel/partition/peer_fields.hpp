// Fields that ranks beside each other write into, GPUs of one machine that reach each other's memory: kernels
// store what a neighbour's stencils read where it reads it, over the link, while they compute. So a step has
// no messages; its end is one kernel of a block, in which neighbours wait for each other.
//
//   kernels that write into fields of neighbours
//   fields.meet(stream);       // all of a neighbour's stores before its meeting are there
//   kernels that read them
//
// Between two meetings nobody may write what a neighbour may still read.
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
  /// The elements that a field of at least so many must have where ranks share it: whole pieces of the GPU's
  /// memory.
  static std::size_t whole_pieces(std::size_t elements);

  /// Collective; null on all ranks where they cannot: no GPUs, or ranks that share one, or several machines.
  /// fields: as many on every rank, of whole_pieces(), which must outlive this and stay where they are.
  /// neighbours: ranks; each of them has this one among its own. The Comm must outlive it. Throws
  /// MemoryError, on all ranks alike.
  static std::unique_ptr<PeerFields> make(Stream& stream, std::span<Buffer<T>* const> fields,
                                          std::span<const int> neighbours, Comm& comm);
  /// Collective, unless it is reached by an exception: nobody's fields go while others have them open.
  virtual ~PeerFields() = default;

  /// The first element of a field of the n-th neighbour.
  virtual T* of(std::size_t n, std::size_t field) const = 0;
  /// Collective among neighbours: work of the stream begun after it finds all that neighbours' streams had
  /// begun before theirs. A Graph can record it.
  virtual void meet(Stream& stream) = 0;
  /// After the work was waited for: throws Error where a neighbour did not come for ten minutes. From then on
  /// nobody waits, and what fields hold is worth nothing.
  virtual void check() const = 0;
};

}  // namespace terrane
