// Brings the points next to a rank's part from the ranks that have them.
//
// A field is a View whose box is the part, grown by the widths of the halo: it is asked with the indices of
// the whole problem. What lies in the halo and in another rank's part is brought; what lies beyond the whole
// stays as it is, unless an axis is periodic. Several fields go in one message to each neighbour.
//
//   halo.begin(stream, fields);      // after the kernels that write what others need
//   ... kernels on the points that need no halo ...
//   halo.end(stream, fields);        // before those that need it
//
// Packing and unpacking run on a stream of the halo's own, which goes before others on a GPU. Messages of a
// GPU go through pinned memory of the host, or as they are where the Comm takes memory of GPUs.
#pragma once

#include <memory>
#include <span>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/event.hpp"
#include "terrane/parallel/device/pinned.hpp"
#include "terrane/parallel/partition/cartesian.hpp"

namespace terrane {

template <int N>
struct HaloSettings {
  Index below[N] = {}, above[N] = {};  ///< points on each side
  bool periodic[N] = {};
  /// Also what is next to the part on two or more axes at once; a star of points does without.
  bool corners = true;
};

namespace detail {

/// What goes in one message: a box of points, in indices of this rank, and where it begins in the packed
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

  /// stream: whose device has the fields. fields: how many go at once, at most. Throws ShapeError,
  /// MemoryError. The Comm must outlive it.
  Halo(Stream& stream, const Cartesian<N>& partition, const HaloSettings<N>& settings, int fields,
       Comm& comm);

  /// The indices that a field needs: this rank's part and its halo, which also reaches beyond the whole; none
  /// where the part is empty.
  const IndexBox<N>& box() const noexcept { return box_; }
  /// The points of this rank's part that need no halo.
  const IndexBox<N>& inside() const noexcept { return inside_; }
  /// Bytes that one exchange sends from this rank for each field.
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(out_points_) * sizeof(T); }

  /// Collective: begins to send what other ranks need of these fields, as the stream will have left them.
  void begin(Stream& stream, std::span<const View<T, N>> fields);
  /// Collective, with the same fields: what is begun on the stream from now on finds the halo filled. On a
  /// GPU the host waits here for the messages, while kernels that were begun before run.
  void end(Stream& stream, std::span<const View<T, N>> fields);
  void exchange(Stream& stream, std::span<const View<T, N>> fields) {
    begin(stream, fields);
    end(stream, fields);
  }

 private:
  using Parcel = detail::Parcel<N>;
  void plan(const Cartesian<N>& partition, const HaloSettings<N>& settings, int rank);
  void check(std::span<const View<T, N>> fields) const;
  void move(std::span<const View<T, N>> fields, bool pack);
  void send(Index fields);

  Comm& comm_;
  Stream stream_;  // urgent
  bool through_host_;
  IndexBox<N> box_, inside_;
  int most_fields_;
  std::vector<Parcel> out_, in_;
  Index out_points_ = 0, in_points_ = 0;
  Buffer<T> packed_out_, packed_in_;
  PinnedBuffer<T> host_out_, host_in_;
  Event ready_, packed_, filled_;
  std::vector<Message> messages_;
};

}  // namespace terrane
