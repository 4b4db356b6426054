// A network whose conductances are products of one number of each axis (network.hpp has the equation):
//
//   c_a(P) = g_a(P_a) Π_{b≠a} m_b(P_b)
//
// So is the Laplacian on any tensor mesh, whatever is stored at its points: only S is an array. Coarser
// networks are products again, so a multigrid cycle reads S and a few lists in place of four arrays.
#pragma once

#include <array>
#include <vector>

#include "terrane/solve/network.hpp"

namespace terrane::solve {

struct ProductNetwork {
  IndexBox<3> part;  ///< the points that a rank has
  /// g [n + 1] and m [n] of the axes up, north and east, of the whole grid.
  std::array<std::vector<double>, 3> along, across;
  const Field<double>* storage = nullptr;  ///< S, or nothing
  double shift = 0;                        ///< s

  const IndexBox<3>& points() const { return part; }
};

/// What kernels see of it.
template <class T>
struct ProductView {
  View<const T> along[3], across[3];
  GridView<const T> storage;
  T shift = 0;  // 0: there is no storage

  template <class V>
  TERRANE_FN V over_diagonal(V value, Index k, Index j, Index i) const {
    const T high = across[up](k), wide = across[north](j), deep = across[east](i);
    const T sum = wide * deep * (along[up](k) + along[up](k + 1)) +
                  (high * deep * (along[north](j) + along[north](j + 1)) +
                   high * wide * (along[east](i) + along[east](i + 1)));
    return Values<V>::divided(value, sum, shift == T(0) ? T(0) : shift * storage(k, j, i));
  }
  template <class U, class V>
  TERRANE_FN V residual_over_diagonal(const V& b, const U& u, const V& here, Index k, Index j,
                                      Index i) const {
    const T high = across[up](k), wide = across[north](j), deep = across[east](i);
    const T below = along[up](k), above = along[up](k + 1), south = along[north](j),
            to_north = along[north](j + 1), west = along[east](i), to_east = along[east](i + 1);
    const V sum = wide * deep * (below * (here - u(k - 1, j, i)) + above * (here - u(k + 1, j, i))) +
                  (high * deep * (south * (here - u(k, j - 1, i)) + to_north * (here - u(k, j + 1, i))) +
                   high * wide * (west * (here - u(k, j, i - 1)) + to_east * (here - u(k, j, i + 1))));
    const T diagonal =
        wide * deep * (below + above) + (high * deep * (south + to_north) + high * wide * (west + to_east));
    const T held = shift == T(0) ? T(0) : shift * storage(k, j, i);
    const V applied = shift == T(0) ? sum : sum + Values<V>::stored(held, here);
    return Values<V>::divided(b - applied, diagonal, held);
  }
  template <class U>
  TERRANE_FN auto apply(const U& u, Index k, Index j, Index i) const {
    const auto here = u(k, j, i);
    const T high = across[up](k), wide = across[north](j), deep = across[east](i);
    const auto sum =
        wide * deep * (along[up](k) * (here - u(k - 1, j, i)) + along[up](k + 1) * (here - u(k + 1, j, i))) +
        (high * deep *
             (along[north](j) * (here - u(k, j - 1, i)) + along[north](j + 1) * (here - u(k, j + 1, i))) +
         high * wide *
             (along[east](i) * (here - u(k, j, i - 1)) + along[east](i + 1) * (here - u(k, j, i + 1))));
    using V = std::remove_cv_t<decltype(sum)>;
    return shift == T(0) ? sum : sum + Values<V>::stored(shift * storage(k, j, i), here);
  }
};

}  // namespace terrane::solve
