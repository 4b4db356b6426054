#include "terrane/parallel/partition/cartesian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "terrane/base/error.hpp"
#include "terrane/parallel/partition/ranges.hpp"
#include "terrane/parallel/reduce/tree.hpp"

namespace terrane {

namespace {

/// Index at which each piece of an axis begins; the last element is the end of the axis.
using Places = std::vector<Index>;

Index largest(const Places& places) {
  Index most = 0;
  for (std::size_t p = 1; p < places.size(); ++p) most = std::max(most, places[p] - places[p - 1]);
  return most;
}

bool leaves_some_idle(const Places& places) {
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

/// Cuts an axis into pieces of whole units, each with as many units as the others or one more.
Places in_units(Index first, Index last, Index unit, int pieces) {
  const Index begin = first >= 0 ? first / unit : -((-first + unit - 1) / unit);
  const Index units = (last - begin * unit + unit - 1) / unit;
  Places places;
  for (int p = 0; p <= pieces; ++p) {
    const auto number = static_cast<std::size_t>(p);
    const auto ahead =
        p == pieces
            ? static_cast<std::size_t>(units)
            : balanced_range(static_cast<std::size_t>(units), static_cast<std::size_t>(pieces), number).first;
    places.push_back(std::clamp((begin + static_cast<Index>(ahead)) * unit, first, last));
  }
  return places;
}

/// Cuts an axis at the multiples of a unit that are nearest to equal pieces.
Places at_nearest(Index first, Index last, Index unit, int pieces) {
  Places places{first};
  for (int p = 1; p < pieces; ++p)
    places.push_back(std::clamp((first + p * (last - first) / pieces + unit / 2) / unit * unit, first, last));
  places.push_back(last);
  return places;
}

/// An axis that was cut into pieces. joins: true if each piece is a whole number of groups of 4 blocks of a
/// Reduction, so that ranks exchange fewer sums; also true for an axis cut at multiples of a given `unit`.
struct Cut {
  Places places;
  bool joins;
};

/// unit: cuts lie at multiples of this number of points; 0: at multiples of a block of a Reduction, or of 4
/// or 16 blocks if this enlarges the largest part by at most 2 % and leaves no further rank without points.
/// With 4 or 16 blocks the ranks exchange only 1/64 or 1/64² of the sums (in three dimensions).
template <int N>
Cut cut_of(const IndexBox<N>& whole, int axis, Index unit, int pieces) {
  const Index first = whole.first[axis], last = whole.last[axis];
  if (unit > 0) return {in_units(first, last, unit, pieces), true};
  const auto places = in_units(first, last, detail::block_extent<N>(axis), pieces);
  const Index most = largest(places);
  for (Index blocks = detail::join<N> * detail::join<N>; blocks > 1 && pieces > 1 && first >= 0;
       blocks /= detail::join<N>) {
    auto joined = at_nearest(first, last, blocks * detail::block_extent<N>(axis), pieces);
    if (largest(joined) <= most + most / 50 && (!leaves_some_idle(joined) || leaves_some_idle(places)))
      return {joined, !leaves_some_idle(joined)};
  }
  return {places, pieces == 1};
}

/// Calls use() for every way to write `ranks` as a product of numbers of pieces. If asked[axis] is not 0, the
/// axis has that many pieces.
template <int N, class Use>
void for_each_factors(int ranks, const std::array<int, N>& asked, std::array<int, N>& pieces, int axis,
                      const Use& use) {
  if (axis == N) {
    if (ranks == 1) use();
    return;
  }
  for (int p = 1; p <= ranks; ++p) {
    if (ranks % p != 0 ||
        (asked[static_cast<std::size_t>(axis)] && asked[static_cast<std::size_t>(axis)] != p))
      continue;
    pieces[static_cast<std::size_t>(axis)] = p;
    for_each_factors<N>(ranks / p, asked, pieces, axis + 1, use);
  }
}

}  // namespace

template <int N>
std::array<int, N> Cartesian<N>::place(int rank) const {
  std::array<int, N> at{};
  for (int a = N - 1; a >= 0; --a) {
    const auto axis = static_cast<std::size_t>(a);
    at[axis] = rank % pieces[axis];
    rank /= pieces[axis];
  }
  return at;
}

template <int N>
int Cartesian<N>::neighbour(int rank, int axis, int step) const {
  auto at = place(rank);
  at[static_cast<std::size_t>(axis)] += step;
  int other = 0;
  for (std::size_t a = 0; a < N; ++a) {
    if (at[a] < 0 || at[a] >= pieces[a]) return -1;
    other = other * pieces[a] + at[a];
  }
  return other;
}

template <int N>
Cartesian<N> cut(const IndexBox<N>& whole, int ranks, const CartesianSettings<N>& settings) {
  const auto cut_axis = [&](std::size_t a, int pieces) {
    return cut_of(whole, static_cast<int>(a), settings.unit[a], pieces);
  };

  // The best factorisation: the one with the fewest points in the largest part, then with the smallest
  // surface. Of equally good ones the last wins; it has most pieces on the first axes, so contiguous rows are
  // cut last.
  std::array<int, N> pieces{}, best{};
  std::tuple<Index, Index> least;
  for_each_factors<N>(ranks, settings.pieces, pieces, 0, [&] {
    Index points = 1, surface = 0;
    std::array<Index, N> most{};
    bool joins = true;
    for (std::size_t a = 0; a < N; ++a) {
      const auto all = cut_axis(a, pieces[a]);
      most[a] = largest(all.places);
      points *= most[a];
      joins = joins && all.joins;
    }
    // Area of the faces of an inner part.
    for (std::size_t a = 0; a < N; ++a)
      surface += std::min(pieces[a] - 1, 2) * (points / std::max<Index>(most[a], 1));
    if (!joins) points += static_cast<Index>(settings.not_joining * static_cast<double>(points));
    if (best[0] == 0 || std::tuple(points, surface) <= least) {
      best = pieces;
      least = {points, surface};
    }
  });
  if (best[0] == 0)
    throw InputError("partition", fmt::format("the pieces asked for do not make {} ranks", ranks),
                     "Their product must be the number of ranks; 0 leaves the choice open.");

  Cartesian<N> cartesian{whole, best, std::vector<IndexBox<N>>(static_cast<std::size_t>(ranks))};
  for (int rank = 0; rank < ranks; ++rank) {
    const auto at = cartesian.place(rank);
    auto& part = cartesian.parts[static_cast<std::size_t>(rank)];
    for (std::size_t a = 0; a < N; ++a) {
      const auto all = cut_axis(a, best[a]).places;
      part.first[a] = all[static_cast<std::size_t>(at[a])];
      part.last[a] = all[static_cast<std::size_t>(at[a]) + 1];
    }
  }
  return cartesian;
}

template struct Cartesian<1>;
template struct Cartesian<2>;
template struct Cartesian<3>;
template Cartesian<1> cut(const IndexBox<1>&, int, const CartesianSettings<1>&);
template Cartesian<2> cut(const IndexBox<2>&, int, const CartesianSettings<2>&);
template Cartesian<3> cut(const IndexBox<3>&, int, const CartesianSettings<3>&);

}  // namespace terrane
