#include "terrane/parallel/partition/cartesian.hpp"

#include <fmt/format.h>

#include <tuple>

#include "terrane/base/error.hpp"
#include "terrane/parallel/partition/ranges.hpp"
#include "terrane/parallel/reduce/tree.hpp"

namespace terrane {

namespace {

/// Piece p of the pieces of an axis: whole units, as many as in the other pieces or one more.
template <int N>
Range piece(const IndexBox<N>& whole, int axis, Index unit, int pieces, int p) {
  const Index first = whole.first[axis], last = whole.last[axis];
  const Index begin = first >= 0 ? first / unit : -((-first + unit - 1) / unit);
  const Index units = (last - begin * unit + unit - 1) / unit;
  const auto range = balanced_range(static_cast<std::size_t>(units), static_cast<std::size_t>(pieces),
                                    static_cast<std::size_t>(p));
  const auto at = [&](std::size_t n) {
    return std::clamp((begin + static_cast<Index>(n)) * unit, first, last);
  };
  return {static_cast<std::size_t>(at(range.first) - first),
          static_cast<std::size_t>(at(range.last) - first)};
}

/// Every way to write `ranks` as a product of pieces that keeps to what was asked for.
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
  std::array<Index, N> unit = settings.unit;
  for (int a = 0; a < N; ++a)
    if (unit[static_cast<std::size_t>(a)] < 1) unit[static_cast<std::size_t>(a)] = detail::block_extent<N>(a);

  // The best of all ways: by the points of the largest part, then by its surface. The first of equals has
  // fewest pieces on the first axes, so say which comes last: rows are cut last, for they are contiguous.
  std::array<int, N> pieces{}, best{};
  std::tuple<Index, Index> least;
  for_each_factors<N>(ranks, settings.pieces, pieces, 0, [&] {
    Index points = 1, surface = 0;
    std::array<Index, N> most{};
    for (std::size_t a = 0; a < N; ++a) {
      for (int p = 0; p < pieces[a]; ++p)
        most[a] = std::max(
            most[a], static_cast<Index>(piece(whole, static_cast<int>(a), unit[a], pieces[a], p).size()));
      points *= most[a];
    }
    for (std::size_t a = 0; a < N; ++a)
      surface +=
          std::min(pieces[a] - 1, 2) * (points / std::max<Index>(most[a], 1));  // of a part in the middle
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
      const auto range = piece(whole, static_cast<int>(a), unit[a], best[a], at[a]);
      part.first[a] = whole.first[a] + static_cast<Index>(range.first);
      part.last[a] = whole.first[a] + static_cast<Index>(range.last);
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
