// Rows of an array that ranks bring each other, GPUs of one machine that reach each other's memory, as one
// kernel: each gathers what others need into their memory, and takes what they brought (peer_landing.cuh).
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
  /// What goes to a rank, or comes from one: consecutive ones of all rows that are sent, or received.
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

  /// Collective: begins all of it on the stream; a Graph can record it.
  /// to: where the rows that are received go, one after the other
  virtual void bring(Stream& stream, const T* from, T* to) = 0;
  /// After the work was waited for: throws Error where a rank did not answer for ten minutes. From then on
  /// nobody waits, and what rows hold is worth nothing.
  virtual void check() const = 0;
};

}  // namespace terrane
