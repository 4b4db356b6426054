// Rows of an array that ranks send each other, between GPUs of one machine that can access each other's
// memory, in one kernel: each rank writes the rows that others need into their memory, and reads those that
// others wrote into its own (peer_landing.cuh).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// Rows of four numbers, aligned to the size of a row. T: float or double.
template <class T>
class PeerRows {
 public:
  /// The rows sent to a rank or received from it: a range of consecutive rows of all that are sent or
  /// received.
  struct Parcel {
    int rank;
    Index first, count;
  };
  /// Collective; null on all ranks if this is impossible: no GPUs, ranks that share a GPU, or several
  /// machines. send: indices of the array's rows that are sent, parcel after parcel of `out`. A rank that
  /// sends to another also receives from it. The Comm must outlive this object. Throws MemoryError, on all
  /// ranks.
  static std::unique_ptr<PeerRows> make(Stream& stream, std::span<const std::uint32_t> send,
                                        std::span<const Parcel> out, std::span<const Parcel> in, Comm& comm);
  /// Collective, except during stack unwinding.
  virtual ~PeerRows() = default;

  /// Collective: begins the exchange on the stream; a Graph can record it. to: memory for the received rows,
  /// one after the other
  virtual void bring(Stream& stream, const T* from, T* to) = 0;
  /// To be called after waiting for the work: throws an Error if a rank did not answer for ten minutes. From
  /// then on no rank waits, and the values of the rows are invalid.
  virtual void check() const = 0;
};

}  // namespace terrane
