#include <algorithm>
#include <string>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/parallel/partition/halo.hpp"

namespace terrane {

namespace {

/// Packs or unpacks one field of a parcel. In a message, fields are stored one after the other.
template <class T, int N, bool to_packed>
struct Move {
  View<T, N> field;
  View<T, N> packed;  // indexed as the field is
  template <class... At>
  TERRANE_FN void operator()(At... at) const {
    if constexpr (to_packed) packed(at...) = field(at...);
    else field(at...) = packed(at...);
  }
};

/// The tag that distinguishes messages between two ranks. It numbers the periodic shifts: along each axis the
/// sender's part, as the receiver sees it, is shifted by −1, 0 or 1 times the whole box.
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
IndexBox<N> with_halo(IndexBox<N> part, const Cartesian<N>& partition, const HaloSettings<N>& settings) {
  if (settings.whole) return partition.whole;
  for (int a = 0; a < N; ++a) part = part.grown(a, settings.below[a], settings.above[a]);
  return part;
}

/// The number of axes on which the box lies outside of the part.
template <int N>
int axes_outside(const IndexBox<N>& box, const IndexBox<N>& part) {
  int axes = 0;
  for (int a = 0; a < N; ++a) axes += box.last[a] <= part.first[a] || box.first[a] >= part.last[a];
  return axes;
}

/// Calls use(tag, points) for each box of points that rank `to` receives from rank `from`.
template <int N, class Use>
void for_each_parcel(const Cartesian<N>& partition, const HaloSettings<N>& settings, int from, int to,
                     const Use& use) {
  const auto &source = partition.part(from), &target = partition.part(to);
  if (source.empty() || (target.empty() && !settings.whole)) return;
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
    const auto points =
        overlap(with_halo(target, partition, settings), moved(source, shift, partition.whole, 1));
    if (points.empty() || (!settings.corners && !settings.whole && axes_outside(points, target) > 1))
      continue;
    use(tag_of(shift), points, moved(points, shift, partition.whole, -1));
  }
}

}  // namespace

template <class T, int N>
Halo<T, N>::Halo(Stream& stream, const Cartesian<N>& partition, const HaloSettings<N>& settings, int fields,
                 Comm& comm)
    : most_fields_(fields) {
  if (partition.ranks() != comm.size())
    throw ShapeError(
        "halo", std::to_string(partition.ranks()) + " parts for " + std::to_string(comm.size()) + " ranks");
  plan(partition, settings, comm.rank());
  if (settings.at_once && fields == 1 &&
      std::none_of(settings.periodic, settings.periodic + N, [](bool p) { return p; }))
    meet_peers(stream, partition, settings, comm);
  if (peers_) return;
  const auto parcels = [](const std::vector<Parcel>& of) {
    std::vector<typename Exchange<T>::Parcel> all;
    for (const Parcel& p : of) all.push_back({p.rank, p.tag, p.first, p.box.count()});
    return all;
  };
  exchange_.emplace(stream, parcels(out_), parcels(in_), fields, comm);
}

template <class T, int N>
void Halo<T, N>::plan(const Cartesian<N>& partition, const HaloSettings<N>& settings, int rank) {
  const auto& mine = partition.part(rank);
  box_ = with_halo(mine, partition, settings);
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
  if (mine.empty() && !settings.whole) box_ = {};
  needed_ = box_;
  for (int a = 0; a < N && settings.at_once && !box_.empty(); ++a)
    if (!settings.periodic[a])
      needed_ = overlap(needed_, box_.with(a, partition.whole.first[a], partition.whole.last[a]));
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

/// Makes the link by which ranks write into each other's memory: all ranks compute which points each rank
/// receives, and in which order.
template <class T, int N>
void Halo<T, N>::meet_peers([[maybe_unused]] Stream& stream, [[maybe_unused]] const Cartesian<N>& partition,
                            [[maybe_unused]] const HaloSettings<N>& settings, [[maybe_unused]] Comm& comm) {
  if constexpr (N == 3) {
    using Piece = typename PeerHalo<T>::Piece;
    std::vector<Piece> out, in;
    for (const Parcel& parcel : in_) in.push_back({parcel.rank, parcel.box, parcel.first});
    std::vector<Index> received(partition.parts.size(), 0);
    for (int to = 0; to < partition.ranks(); ++to)
      for (int from = 0; from < partition.ranks(); ++from)
        for_each_parcel(partition, settings, from, to, [&](int, const auto&, const auto& there) {
          auto& first = received[static_cast<std::size_t>(to)];
          if (from == comm.rank()) out.push_back({to, there, first});
          first += there.count();
        });
    peers_ = PeerHalo<T>::make(stream, out, in, received, comm);
  }
}

template <class T, int N>
void Halo<T, N>::check(std::span<const View<T, N>> fields) const {
  if (fields.size() > static_cast<std::size_t>(most_fields_))
    throw ShapeError("halo",
                     std::to_string(fields.size()) + " fields, and room for " + std::to_string(most_fields_));
  for (const auto& field : fields)
    if (!field.box().contains(needed_))
      throw ShapeError("halo", "a field does not have the points of the halo",
                       "Make its view over halo.box().");
}

template <class T, int N>
template <bool pack>
void Halo<T, N>::move(Stream& stream, std::span<const View<T, N>> fields, T* memory) const {
  const auto count = static_cast<Index>(fields.size());
  for (const Parcel& parcel : pack ? out_ : in_)
    for (Index f = 0; f < count; ++f) {
      const View<T, N> packed(memory + parcel.first * count + f * parcel.box.count(), parcel.box);
      for_each(stream, parcel.box, Move<T, N, pack>{fields[static_cast<std::size_t>(f)], packed});
    }
}

template <class T, int N>
void Halo<T, N>::begin(Stream& stream, std::span<const View<T, N>> fields) {
  if (peers_) throw Error("halo", "is at once: it has no beginning and end");
  check(fields);
  exchange_->begin(stream, static_cast<Index>(fields.size()),
                   [&](Stream& on, T* packed) { move<true>(on, fields, packed); });
}

template <class T, int N>
void Halo<T, N>::end(Stream& stream, std::span<const View<T, N>> fields) {
  exchange_->end(stream, static_cast<Index>(fields.size()),
                 [&](Stream& on, T* packed) { move<false>(on, fields, packed); });
}

template <class T, int N>
void Halo<T, N>::exchange(Stream& stream, std::span<const View<T, N>> fields, bool early) {
  if (!peers_) {
    begin(stream, fields);
    return end(stream, fields);
  }
  check(fields);
  if constexpr (N == 3) peers_->bring(stream, fields[0], early);
}

template <class T, int N>
std::string Halo<T, N>::transport() const {
  return peers_ ? "go from device to device by kernels" : exchange_->transport();
}

template <class T, int N>
void Halo<T, N>::wait(Stream& stream) {
  if (!peers_) return exchange_->wait(stream);
  stream.wait();
  peers_->check();
}

template class Halo<float, 1>;
template class Halo<float, 2>;
template class Halo<float, 3>;
template class Halo<double, 1>;
template class Halo<double, 2>;
template class Halo<double, 3>;

}  // namespace terrane
