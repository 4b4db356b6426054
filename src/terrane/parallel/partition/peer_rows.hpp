// Rows of an array that ranks send each other, between GPUs of one machine that can access each other's
// memory, in one kernel: each rank writes the rows that others need into their memory, and takes those that
// they wrote into its own (peer_landing.cuh).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// Rows of four numbers, each at a multiple of its size. T: float or double.
template <class T>
class PeerRows {
 public:
  /// The rows that go to a rank, or come from one: consecutive ones of all rows that are sent, or received.
  struct Parcel {
    int rank;
    Index first, count;
  };
  /// Collective; null on all ranks where they cannot: no GPUs, or ranks that share one, or several machines.
  /// send: which rows of the array, those of `out` one after the other. A rank that sends to another also
  /// receives from it. The Comm must outlive it. Throws MemoryError, on all ranks alike.
  static std::unique_ptr<PeerRows> make(Stream& stream, std::span<const std::uint32_t> send,
                                        std::span<const Parcel> out, std::span<const Parcel> in, Comm& comm);
  /// Collective, unless it is reached by an exception.
  virtual ~PeerRows() = default;

  /// Collective: begins the exchange on the stream; a Graph can record it. to: memory for the received rows,
  /// one after the other
  virtual void bring(Stream& stream, const T* from, T* to) = 0;
  /// To be called after the work was waited for: throws Error where a rank did not answer for ten minutes.
  /// From then on no rank waits, and the rows' values are not valid.
  virtual void check() const = 0;
};

}  // namespace terrane
