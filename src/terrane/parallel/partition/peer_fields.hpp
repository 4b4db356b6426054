// Fields that neighbouring ranks write into, on GPUs of one machine that can access each other's memory:
// kernels store values that a neighbour's stencils need directly in that neighbour's field. So a step has no
// messages; it ends with one kernel of one block, in which neighbouring ranks synchronise.
//
//   kernels that write into fields of neighbours
//   fields.meet(stream);       // makes all values visible that neighbours stored before their meet()
//   kernels that read them
//
// Between two calls of meet() no rank may write values that a neighbour may still read.
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

  /// Collective; null on all ranks if this is impossible: no GPUs, ranks that share a GPU, or several
  /// machines. fields: equally many on every rank, of whole_pieces() elements; they must outlive this object
  /// and not move. neighbours: ranks; each must list this rank, too. The Comm must outlive this object.
  /// Throws MemoryError, on all ranks.
  static std::unique_ptr<PeerFields> make(Stream& stream, std::span<Buffer<T>* const> fields,
                                          std::span<const int> neighbours, Comm& comm);
  /// Collective, except during stack unwinding: no rank may free its fields while others have them open.
  virtual ~PeerFields() = default;

  /// Address of the first element of a field of the n-th neighbour.
  virtual T* of(std::size_t n, std::size_t field) const = 0;
  /// Collective among neighbours: work begun on the stream after this call runs after all work that the
  /// neighbours had begun before their call. A Graph can record it.
  virtual void meet(Stream& stream) = 0;
  /// To be called after waiting for the work: throws an Error if a neighbour did not synchronise for ten
  /// minutes. From then on no rank waits, and the values of the fields are invalid.
  virtual void check() const = 0;
};

}  // namespace terrane
