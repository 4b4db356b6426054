// Copies the points next to a rank's part from the ranks that have them.
//
// A field is a View whose box is the part, grown by the widths of the halo; its indices are those of the
// whole problem. Points of the halo that are in another rank's part are copied from there; points beyond the
// whole box are not changed, unless an axis is periodic. One message to each neighbour holds several fields.
//
//   halo.begin(stream, fields);      // after the kernels that write values that other ranks need
//   ... kernels on the points whose stencils need no halo ...
//   halo.end(stream, fields);        // before kernels on points that need the halo
//
// Kernels between the two may neither read nor write points of the halo: these may be filled meanwhile, on a
// separate stream of the halo. exchange.hpp describes the transport of messages.
//
// With the setting `at_once` a halo offers exchange() alone: for work that has no kernels to run meanwhile.
// Between GPUs that access each other's memory exchange() is one kernel on the caller's stream
// (peer_halo.hpp).
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "terrane/parallel/partition/cartesian.hpp"
#include "terrane/parallel/partition/exchange.hpp"
#include "terrane/parallel/partition/peer_halo.hpp"

namespace terrane {

template <int N>
struct HaloSettings {
  Index below[N] = {}, above[N] = {};  ///< widths of the halo at low and high ends, points
  bool periodic[N] = {};
  /// Whether the halo has points that lie outside the part on two or more axes (edges and corners);
  /// star-shaped stencils do not need these.
  bool corners = true;
  /// Whether only exchange() will be called; it is fast for a single field.
  bool at_once = false;
  /// If set, widths are ignored: every rank, even one whose part is empty, needs all points of the whole box.
  bool whole = false;
};

namespace detail {

/// The contents of one message: a box of points, in indices of this rank, and its offset in the packed array
/// of one field.
template <int N>
struct Parcel {
  int rank, tag;
  IndexBox<N> box;
  Index first;
};

}  // namespace detail

/// T: float or double.
template <class T, int N>
class Halo {
 public:
  static constexpr int most_fields = 16;

  /// Collective. stream: a stream of the device that holds the fields. fields: the largest number of fields
  /// exchanged at a time. Messages of a halo are never mistaken for others of the Comm, so exchanges of
  /// several halos may overlap. The Comm must outlive the halo. Throws ShapeError (on all ranks),
  /// MemoryError. With at_once, the destructor is collective, too, except during stack unwinding: GPUs have
  /// each other's memory open.
  Halo(Stream& stream, const Cartesian<N>& partition, const HaloSettings<N>& settings, int fields,
       Comm& comm);

  /// The indices that a field needs: this rank's part and its halo, also beyond the ends of the whole box;
  /// empty if the part is empty.
  const IndexBox<N>& box() const noexcept { return box_; }
  /// The points of this rank's part whose stencils need no halo.
  const IndexBox<N>& inside() const noexcept { return inside_; }
  /// Bytes that this rank sends per field in one exchange.
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(out_points_) * sizeof(T); }

  /// Collective: begins to send the values of these fields that other ranks need, as they are after the work
  /// already begun on the stream.
  void begin(Stream& stream, std::span<const View<T, N>> fields);
  /// Collective, with the same fields as begin(): work begun on the stream after this call runs when the halo
  /// is filled. If messages go through the host, the host waits for them here, while kernels begun earlier
  /// run.
  void end(Stream& stream, std::span<const View<T, N>> fields);
  /// Collective: begin() and end() in one. early: if the exchange is a kernel, it may be launched while the
  /// previous kernel of the stream still runs.
  void exchange(Stream& stream, std::span<const View<T, N>> fields, bool early = false);

  /// direct(), transport() and wait() are as for an Exchange.
  bool direct() const noexcept { return peers_ || exchange_->direct(); }
  std::string transport() const;
  void wait(Stream& stream);
  /// Whether exchange() is a single kernel in which GPUs access each other's memory.
  bool by_peers() const noexcept { return peers_ != nullptr; }

 private:
  using Parcel = detail::Parcel<N>;
  void plan(const Cartesian<N>& partition, const HaloSettings<N>& settings, int rank);
  void check(std::span<const View<T, N>> fields) const;
  void meet_peers(Stream& stream, const Cartesian<N>& partition, const HaloSettings<N>& settings, Comm& comm);
  template <bool pack>
  void move(Stream& stream, std::span<const View<T, N>> fields, T* memory) const;

  IndexBox<N> box_, inside_, needed_;
  int most_fields_;
  std::vector<Parcel> out_, in_;
  Index out_points_ = 0, in_points_ = 0;
  std::optional<Exchange<T>> exchange_;  // empty if there are peers_
  std::unique_ptr<PeerHalo<T>> peers_;
};

}  // namespace terrane
