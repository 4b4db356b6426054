// The messages of a halo between GPUs of one machine that reach each other's memory, as one kernel: each rank
// writes what others need into their memory, says so there, waits until the others have said so here, and
// takes what they brought. On two H200 that is several times quicker than messages of NCCL (docs/workshop).
//
// What a rank receives has two places, used in turn: no rank begins message n + 1 before all have said that
// they have begun n, so nobody writes where another still reads.
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
  /// Points that go to a rank or come from one, and their place among all that the receiver receives.
  struct Piece {
    int rank;
    IndexBox<3> box;
    Index first;
  };
  /// Collective; null on all ranks where they cannot: no GPUs, or ranks that share one, or several machines.
  /// received: the points of each rank. A rank that sends to another also receives from it. The Comm must
  /// outlive it. Throws MemoryError, on all ranks alike.
  static std::unique_ptr<PeerHalo> make(Stream& stream, const std::vector<Piece>& out,
                                        const std::vector<Piece>& in, const std::vector<Index>& received,
                                        Comm& comm);
  /// Collective, unless it is reached by an exception.
  virtual ~PeerHalo() = default;

  /// Collective: begins all of it on the stream; a Graph can record it. early: as of sweep().
  virtual void bring(Stream& stream, const View<T, 3>& field, bool early) = 0;
  /// After the work was waited for: throws as check_peers() does (lost_peers.hpp).
  virtual void check() const = 0;
};

}  // namespace terrane
