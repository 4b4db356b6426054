// Copies the points next to a rank's part from the ranks that have them.
//
// A field is a View whose box is the part, grown by the widths of the halo; its indices are those of the
// whole problem. Points of the halo that are in another rank's part are copied from there; points beyond
// the whole box stay as they are, unless an axis is periodic. Several fields go in one message to each
// neighbour.
//
//   halo.begin(stream, fields);      // after the kernels that write what others need
//   ... kernels on the points that need no halo ...
//   halo.end(stream, fields);        // before those that need it
//
// Kernels between the two may neither read nor write points of the halo: these may be filled meanwhile, on a
// stream of the halo's own. exchange.hpp says how messages go.
//
// A halo that is `at_once` has exchange() alone, between GPUs that reach each other's memory as one kernel on
// the stream itself (peer_halo.hpp): for work that has nothing to do meanwhile.
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
  Index below[N] = {}, above[N] = {};  ///< points on each side
  bool periodic[N] = {};
  /// Also the points that are next to the part on two or more axes at once (edges and corners); star-shaped
  /// stencils do not need them.
  bool corners = true;
  /// Only exchange() is called; it is quick for one field alone.
  bool at_once = false;
  /// In place of widths: every rank needs all points, also one whose part is empty.
  bool whole = false;
};

namespace detail {

/// The contents of one message: a box of points, in indices of this rank, and where it begins in the packed
/// array of one field.
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

  /// Collective. stream: its device has the fields. fields: the most that are exchanged at once. The messages
  /// of a halo are apart from all others of the Comm, so several halos may be under way at once. The Comm
  /// must outlive it. Throws ShapeError, on all ranks alike, MemoryError.
  /// Where it is at_once, its destruction is collective, too, unless an exception does it: GPUs have each
  /// other's memory open.
  Halo(Stream& stream, const Cartesian<N>& partition, const HaloSettings<N>& settings, int fields,
       Comm& comm);

  /// The indices that a field needs: this rank's part and its halo, which also reaches beyond the whole; none
  /// where the part is empty.
  const IndexBox<N>& box() const noexcept { return box_; }
  /// The points of this rank's part whose stencils need no halo.
  const IndexBox<N>& inside() const noexcept { return inside_; }
  /// Bytes that this rank sends per field in one exchange.
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(out_points_) * sizeof(T); }

  /// Collective: begins to send what other ranks need of these fields, with the values that they have after
  /// the work begun on the stream.
  void begin(Stream& stream, std::span<const View<T, N>> fields);
  /// Collective, with the same fields: work begun on the stream after this call finds the halo filled. Where
  /// messages go through the host, it waits here for them, while kernels that were begun before run.
  void end(Stream& stream, std::span<const View<T, N>> fields);
  /// early: as of sweep().
  void exchange(Stream& stream, std::span<const View<T, N>> fields, bool early = false);

  /// As for an Exchange.
  bool direct() const noexcept { return peers_ || exchange_->direct(); }
  std::string transport() const;
  void wait(Stream& stream);
  /// Whether exchange() is a kernel of its stream.
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
  std::optional<Exchange<T>> exchange_;  // or peers_
  std::unique_ptr<PeerHalo<T>> peers_;
};

}  // namespace terrane
