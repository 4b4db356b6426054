#include <string>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/partition/halo.hpp"

namespace terrane {

namespace {

/// One field of a parcel, packed or unpacked. In a message the fields follow each other.
template <class T, int N, bool to_packed>
struct Move {
  View<T, N> field;
  View<T, N> packed;  // under the same indices
  template <class... At>
  TERRANE_FN void operator()(At... at) const {
    if constexpr (to_packed) packed(at...) = field(at...);
    else field(at...) = packed(at...);
  }
};

/// Number of a shift by −1, 0 or 1 wholes on each axis, as the receiver sees it: tells messages between two
/// ranks apart.
template <int N>
int tag_of(const int (&shift)[N]) {
  int tag = 0;
  for (const int s : shift) tag = 3 * tag + s + 1;
  return tag;
}

template <int N>
IndexBox<N> moved(IndexBox<N> box, const int (&shift)[N], const IndexBox<N>& whole, int sign) {
  for (int a = 0; a < N; ++a) {
    box.first[a] += sign * shift[a] * whole.size(a);
    box.last[a] += sign * shift[a] * whole.size(a);
  }
  return box;
}

template <int N>
IndexBox<N> with_halo(IndexBox<N> part, const HaloSettings<N>& settings) {
  for (int a = 0; a < N; ++a) part = part.grown(a, settings.below[a], settings.above[a]);
  return part;
}

/// Axes on which the box lies outside of the part.
template <int N>
int axes_outside(const IndexBox<N>& box, const IndexBox<N>& part) {
  int axes = 0;
  for (int a = 0; a < N; ++a) axes += box.last[a] <= part.first[a] || box.first[a] >= part.last[a];
  return axes;
}

/// Calls use(tag, points) for all that `to` gets from `from`, in indices of `to` and of the other.
template <int N, class Use>
void for_each_parcel(const Cartesian<N>& partition, const HaloSettings<N>& settings, int from, int to,
                     const Use& use) {
  const auto &source = partition.part(from), &target = partition.part(to);
  if (source.empty() || target.empty()) return;
  int shifts = 1;
  for (int a = 0; a < N; ++a) shifts *= 3;
  for (int n = 0; n < shifts; ++n) {
    int shift[N], rest = n;
    bool possible = true, none = true;
    for (int a = N - 1; a >= 0; --a, rest /= 3) {
      shift[a] = rest % 3 - 1;
      possible = possible && (shift[a] == 0 || settings.periodic[a]);
      none = none && shift[a] == 0;
    }
    if (!possible || (none && from == to)) continue;
    const auto points = overlap(with_halo(target, settings), moved(source, shift, partition.whole, 1));
    if (points.empty() || (!settings.corners && axes_outside(points, target) > 1)) continue;
    use(tag_of(shift), points, moved(points, shift, partition.whole, -1));
  }
}

}  // namespace

template <class T, int N>
Halo<T, N>::Halo(Stream& stream, const Cartesian<N>& partition, const HaloSettings<N>& settings, int fields,
                 Comm& comm)
    : comm_(comm.split(0, comm.rank())),
      stream_(stream.device(), true, stream.threads()),
      through_host_(stream.device().has_own_memory() &&
                    !(stream.device().kind == Device::Kind::cuda && comm.takes_gpu_memory())),
      most_fields_(fields),
      ready_(stream.device()),
      packed_(stream.device()),
      filled_(stream.device()) {
  if (partition.ranks() != comm.size())
    throw ShapeError(
        "halo", std::to_string(partition.ranks()) + " parts for " + std::to_string(comm.size()) + " ranks");
  plan(partition, settings, comm.rank());
  const auto device = stream.device();
  const auto out = static_cast<std::size_t>(out_points_ * fields),
             in = static_cast<std::size_t>(in_points_ * fields);
  packed_out_ = Buffer<T>(device, out);
  packed_in_ = Buffer<T>(device, in);
  if (through_host_) {
    host_out_ = PinnedBuffer<T>(device, out);
    host_in_ = PinnedBuffer<T>(device, in);
  }
}

template <class T, int N>
void Halo<T, N>::plan(const Cartesian<N>& partition, const HaloSettings<N>& settings, int rank) {
  const auto& mine = partition.part(rank);
  box_ = with_halo(mine, settings);
  inside_ = mine;
  for (int a = 0; a < N; ++a) {
    for (const Index width : {settings.below[a], settings.above[a]})
      if (width < 0 || (settings.periodic[a] && width > partition.whole.size(a)))
        throw ShapeError("halo",
                         std::to_string(width) + " points on axis " + std::to_string(a) + " of " +
                             std::to_string(partition.whole.size(a)),
                         "Allowed: from 0 to the size of the whole.");
    const bool end_below = mine.first[a] == partition.whole.first[a] && !settings.periodic[a],
               end_above = mine.last[a] == partition.whole.last[a] && !settings.periodic[a];
    inside_ = inside_.grown(a, end_below ? 0 : -settings.below[a], end_above ? 0 : -settings.above[a]);
  }
  if (inside_.empty()) inside_ = {};
  if (mine.empty()) box_ = {};
  for (int other = 0; other < partition.ranks(); ++other) {
    for_each_parcel(partition, settings, other, rank, [&](int tag, const auto& here, const auto&) {
      in_.push_back({other, tag, here, in_points_});
      in_points_ += here.count();
    });
    for_each_parcel(partition, settings, rank, other, [&](int tag, const auto&, const auto& here) {
      out_.push_back({other, tag, here, out_points_});
      out_points_ += here.count();
    });
  }
}

template <class T, int N>
void Halo<T, N>::check(std::span<const View<T, N>> fields) const {
  if (fields.size() > static_cast<std::size_t>(most_fields_))
    throw ShapeError("halo",
                     std::to_string(fields.size()) + " fields, and room for " + std::to_string(most_fields_));
  for (const auto& field : fields)
    if (!field.box().contains(box_))
      throw ShapeError("halo", "a field does not have the points of the halo",
                       "Make its view over halo.box().");
}

template <class T, int N>
void Halo<T, N>::move(std::span<const View<T, N>> fields, bool pack) {
  const auto count = static_cast<Index>(fields.size());
  T* const memory = pack ? packed_out_.view().data : packed_in_.view().data;
  for (const Parcel& parcel : pack ? out_ : in_)
    for (Index f = 0; f < count; ++f) {
      const auto& field = fields[static_cast<std::size_t>(f)];
      const View<T, N> packed(memory + parcel.first * count + f * parcel.box.count(), parcel.box);
      if (pack) for_each(stream_, parcel.box, Move<T, N, true>{field, packed});
      else for_each(stream_, parcel.box, Move<T, N, false>{field, packed});
    }
}

template <class T, int N>
void Halo<T, N>::begin(Stream& stream, std::span<const View<T, N>> fields) {
  check(fields);
  const auto count = static_cast<Index>(fields.size());
  filled_.wait();  // what the last exchange brought is out of the arrays that receive
  T* const to = through_host_ ? host_in_.data() : packed_in_.view().data;
  for (const Parcel& parcel : in_) {
    const std::span bytes(to + parcel.first * count, static_cast<std::size_t>(parcel.box.count() * count));
    messages_.push_back(comm_->irecv(std::as_writable_bytes(bytes), parcel.rank, parcel.tag));
  }
  ready_.record(stream);
  stream_.wait_for(ready_);
  move(fields, true);
  if (through_host_)
    packed_out_.download_async(stream_,
                               host_out_.span().first(static_cast<std::size_t>(out_points_ * count)));
  packed_.record(stream_);
  if (packed_.done()) send(count);  // at once, where the CPU did it
}

template <class T, int N>
void Halo<T, N>::send(Index fields) {
  const T* const from = through_host_ ? host_out_.data() : packed_out_.view().data;
  for (const Parcel& parcel : out_) {
    const std::span bytes(from + parcel.first * fields,
                          static_cast<std::size_t>(parcel.box.count() * fields));
    messages_.push_back(comm_->isend(std::as_bytes(bytes), parcel.rank, parcel.tag));
  }
}

template <class T, int N>
void Halo<T, N>::end(Stream& stream, std::span<const View<T, N>> fields) {
  const auto count = static_cast<Index>(fields.size());
  if (messages_.size() == in_.size()) {
    packed_.wait();
    send(count);
  }
  wait_all(messages_);
  messages_.clear();
  if (through_host_)
    packed_in_.upload_async(stream_, host_in_.span().first(static_cast<std::size_t>(in_points_ * count)));
  move(fields, false);
  filled_.record(stream_);
  stream.wait_for(filled_);
}

template class Halo<float, 1>;
template class Halo<float, 2>;
template class Halo<float, 3>;
template class Halo<double, 1>;
template class Halo<double, 2>;
template class Halo<double, 3>;

}  // namespace terrane
