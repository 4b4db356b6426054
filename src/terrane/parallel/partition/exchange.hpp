// Arrays that ranks pack on their devices and send to each other: halos, and values at shared points.
//
//   exchange.begin(stream, 1, pack);     // after the kernels that compute what others need
//   ... kernels on what needs nothing from others ...
//   exchange.end(stream, 1, unpack);     // before those that do
//
// Packing and unpacking run on a stream of the exchange's own, which has priority on a GPU. Between devices
// for which the Comm has direct messages they go on that stream, too; then the host never waits, and all of
// it can be recorded in a Graph. Other messages from a device go through pinned memory of the host, or
// directly where the Comm takes GPU memory. The same bytes arrive either way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "terrane/parallel/comm/direct_link.hpp"
#include "terrane/parallel/device/event.hpp"
#include "terrane/parallel/device/pinned.hpp"

namespace terrane {

/// T: float or double.
template <class T>
class Exchange {
 public:
  /// The contents of one message. Those between two ranks stand in the same order on both, or have different
  /// tags, 0 … 10000, where messages go through the host.
  struct Parcel {
    int rank, tag;
    Index first;  ///< index of its first element in the packed array
    Index count;
  };
  /// Packs into, or unpacks from, the packed array. A call may make all parcels several times as long; then
  /// they also begin that many times further on.
  using Move = std::function<void(Stream& stream, T* packed)>;

  /// Collective. stream: its device has the arrays. most: the largest such multiple of a parcel's length. Its
  /// messages are separate from all others of the Comm, which must outlive it. Throws MemoryError.
  Exchange(Stream& stream, std::vector<Parcel> out, std::vector<Parcel> in, Index most, Comm& comm);

  /// Collective: begins to send what `pack` packs after the work begun on the stream.
  void begin(Stream& stream, Index times, const Move& pack);
  /// Collective: work begun on the stream after this call finds all unpacked. The host waits here for
  /// messages that are not direct.
  void end(Stream& stream, Index times, const Move& unpack);

  /// Whether a Graph can record it.
  bool direct() const noexcept { return link_ != nullptr; }
  /// For the report: "go from device to device by NCCL 2.28.3"; empty where nothing is to be said.
  std::string transport() const;
  /// Makes the host wait for the stream. Throws Error, on this rank, when direct messages cannot arrive.
  void wait(Stream& stream);

 private:
  std::vector<DirectLink::Piece> pieces(const std::vector<Parcel>& parcels, Index times, T* packed) const;
  void send(Index times);

  std::unique_ptr<Comm> comm_;
  std::shared_ptr<DirectLink> link_;
  std::string why_not_;
  Stream stream_;  // urgent
  bool through_host_;
  std::vector<Parcel> out_, in_;
  Index out_count_ = 0, in_count_ = 0;
  Buffer<T> packed_out_, packed_in_;
  PinnedBuffer<T> host_out_, host_in_;
  Event ready_, packed_, filled_, waited_for_;
  std::vector<Message> messages_;
};

}  // namespace terrane
