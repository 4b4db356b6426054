// A network whose conductances are products of one factor per axis (network.hpp has the equation):
//
//   c_a(P) = g_a(P_a) Π_{b≠a} m_b(P_b)
//
// P_a: index of point P along axis a; g_a: one factor per link along axis a; m_b: one factor per point of
// axis b. The Laplacian on any tensor mesh is such a network, with g = 1/spacing and m = width; only the
// storage S is a three-dimensional array. Coarser networks are products again, so a multigrid cycle reads S
// and short lists instead of four arrays.
#pragma once

#include <array>
#include <vector>

#include "terrane/solve/networks/network.hpp"

namespace terrane::solve {

struct ProductNetwork {
  IndexBox<3> part;  ///< the points that a rank has
  /// g_a [n + 1] and m_a [n] for the axes a = up, north and east of the whole grid, each with n points.
  std::array<std::vector<double>, 3> along, across;
  const Field<double>* storage = nullptr;  ///< S; null: none
  double shift = 0;                        ///< s

  const IndexBox<3>& points() const { return part; }
};

/// A view of a product network, for kernels.
template <class T>
struct ProductView {
  View<const T> along[3], across[3];
  GridView<const T> storage;
  T shift = 0;  // 0 if there is no storage

  template <class V>
  TERRANE_FN V over_diagonal(V value, Index k, Index j, Index i) const {
    const T high = across[up](k), wide = across[north](j), deep = across[east](i);
    const T sum = wide * deep * (along[up](k) + along[up](k + 1)) +
                  (high * deep * (along[north](j) + along[north](j + 1)) +
                   high * wide * (along[east](i) + along[east](i + 1)));
    return Values<V>::divided(value, sum, shift == T(0) ? T(0) : shift * storage(k, j, i));
  }
  /// The coefficients of A at a point, as in NetworkView, but with the factors m of the three axes.
  struct Coefficients {
    T high, wide, deep, below, above, south, to_north, west, to_east, held;
  };
  TERRANE_FN Coefficients coefficients(Index k, Index j, Index i) const {
    return {across[up](k),       across[north](j),
            across[east](i),     along[up](k),
            along[up](k + 1),    along[north](j),
            along[north](j + 1), along[east](i),
            along[east](i + 1),  shift == T(0) ? T(0) : shift * storage(k, j, i)};
  }
  template <class U, class V>
  TERRANE_FN V residual_over_diagonal(const Coefficients& at, const V& b, const U& u, const V& here, Index k,
                                      Index j, Index i) const {
    const T diagonal =
        at.wide * at.deep * (at.below + at.above) +
        (at.high * at.deep * (at.south + at.to_north) + at.high * at.wide * (at.west + at.to_east));
    return Values<V>::divided(b - times(at, u, here, k, j, i), diagonal, at.held);
  }
  template <class U>
  TERRANE_FN auto applied(const Coefficients& at, const U& u, Index k, Index j, Index i) const {
    const auto here = u(k, j, i);
    return times(at, u, here, k, j, i);
  }
  template <class U>
  TERRANE_FN auto apply(const U& u, Index k, Index j, Index i) const {
    return applied(coefficients(k, j, i), u, k, j, i);
  }

 private:
  template <class U, class V>
  TERRANE_FN V times(const Coefficients& at, const U& u, const V& here, Index k, Index j, Index i) const {
    const V sum =
        at.wide * at.deep * (at.below * (here - u(k - 1, j, i)) + at.above * (here - u(k + 1, j, i))) +
        (at.high * at.deep * (at.south * (here - u(k, j - 1, i)) + at.to_north * (here - u(k, j + 1, i))) +
         at.high * at.wide * (at.west * (here - u(k, j, i - 1)) + at.to_east * (here - u(k, j, i + 1))));
    return shift == T(0) ? sum : sum + Values<V>::stored(at.held, here);
  }
};

}  // namespace terrane::solve
