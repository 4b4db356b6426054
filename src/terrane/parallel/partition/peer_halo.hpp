// The messages of a halo as one kernel, between GPUs of one machine that access each other's memory: each
// rank writes the values that others need into their memory, sets a flag there, waits for the flags that the
// others set here, and copies the received values into its field. On two H200 that is several times faster
// than messages of NCCL (docs/workshop).
//
// A rank has two receive buffers, used alternately: no rank begins message n + 1 before all have signalled
// that they have begun n, so no rank writes where another still reads.
#pragma once

#include <memory>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// T: float or double.
template <class T>
class PeerHalo {
 public:
  /// Points that are sent to a rank or received from it, and their offset in the receiver's buffer.
  struct Piece {
    int rank;
    IndexBox<3> box;
    Index first;
  };
  /// Collective; null on all ranks if this is impossible: no GPUs, ranks that share a GPU, or several
  /// machines. received: number of points that each rank receives. A rank that sends to another also receives
  /// from it. The Comm must outlive this object. Throws MemoryError, on all ranks.
  static std::unique_ptr<PeerHalo> make(Stream& stream, const std::vector<Piece>& out,
                                        const std::vector<Piece>& in, const std::vector<Index>& received,
                                        Comm& comm);
  /// Collective, except during stack unwinding.
  virtual ~PeerHalo() = default;

  /// Collective: begins the exchange on the stream; a Graph can record it. early: the kernel of the exchange
  /// may be launched while the previous kernel of the stream still runs.
  virtual void bring(Stream& stream, const View<T, 3>& field, bool early) = 0;
  /// To be called after waiting for the work: throws what check_peers() throws (lost_peers.hpp).
  virtual void check() const = 0;
};

}  // namespace terrane
