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
    : most_fields_(fields) {
  if (partition.ranks() != comm.size())
    throw ShapeError(
        "halo", std::to_string(partition.ranks()) + " parts for " + std::to_string(comm.size()) + " ranks");
  plan(partition, settings, comm.rank());
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
  check(fields);
  exchange_->begin(stream, static_cast<Index>(fields.size()),
                   [&](Stream& on, T* packed) { move<true>(on, fields, packed); });
}

template <class T, int N>
void Halo<T, N>::end(Stream& stream, std::span<const View<T, N>> fields) {
  exchange_->end(stream, static_cast<Index>(fields.size()),
                 [&](Stream& on, T* packed) { move<false>(on, fields, packed); });
}

template class Halo<float, 1>;
template class Halo<float, 2>;
template class Halo<float, 3>;
template class Halo<double, 1>;
template class Halo<double, 2>;
template class Halo<double, 3>;

}  // namespace terrane
