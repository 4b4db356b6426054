// Arrays that ranks pack on their devices and send to each other: halos, and values at shared points.
//
//   exchange.begin(stream, 1, pack);     // after the kernels that compute values for other ranks
//   ... kernels that need no values of other ranks ...
//   exchange.end(stream, 1, unpack);     // before kernels that need values of other ranks
//
// Packing and unpacking run on a separate stream of the exchange, which has priority on a GPU. If the Comm
// has direct messages between the devices, these run on that stream, too; then the host never waits, and a
// Graph can record the whole exchange. Otherwise messages go through pinned memory of the host, or directly
// from GPU memory if the Comm accepts it. The same bytes arrive either way.
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
  /// The contents of one message. Both ranks list the messages between them in the same order; or, if
  /// messages go through the host, they may use different tags (0 … 10000) instead.
  struct Parcel {
    int rank, tag;
    Index first;  ///< index of the message's first element in the packed array
    Index count;
  };
  /// Packs into, or unpacks from, the packed array. begin() and end() get a factor `times`, by which `first`
  /// and `count` of all parcels are multiplied.
  using Move = std::function<void(Stream& stream, T* packed)>;

  /// Collective. stream: a stream of the device that holds the arrays. most: the largest factor `times` of
  /// begin(). Messages of an exchange are never mistaken for others of the Comm. The Comm must outlive this
  /// object. Throws MemoryError.
  Exchange(Stream& stream, std::vector<Parcel> out, std::vector<Parcel> in, Index most, Comm& comm);

  /// Collective: calls `pack` after the work already begun on the stream, and begins to send what it packs.
  void begin(Stream& stream, Index times, const Move& pack);
  /// Collective: work begun on the stream after this call runs when all values are unpacked. If messages are
  /// not direct, the host waits for them here.
  void end(Stream& stream, Index times, const Move& unpack);

  /// Whether messages go directly between devices, so that a Graph can record the exchange.
  bool direct() const noexcept { return link_ != nullptr; }
  /// For the report: "go from device to device by NCCL 2.28.3"; empty if there is nothing to report.
  std::string transport() const;
  /// Makes the host wait for the stream. Throws Error, on this rank, when direct messages cannot arrive.
  void wait(Stream& stream);

 private:
  std::vector<DirectLink::Piece> pieces(const std::vector<Parcel>& parcels, Index times, T* packed) const;
  void send(Index times);

  std::unique_ptr<Comm> comm_;
  std::shared_ptr<DirectLink> link_;
  std::string why_not_;
  Stream stream_;  // a stream with priority
  bool through_host_;
  std::vector<Parcel> out_, in_;
  Index out_count_ = 0, in_count_ = 0;
  Buffer<T> packed_out_, packed_in_;
  PinnedBuffer<T> host_out_, host_in_;
  Event ready_, packed_, filled_, waited_for_;
  std::vector<Message> messages_;
};

}  // namespace terrane
