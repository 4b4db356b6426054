// Types that the gravity formulas share: a prism relative to a station, and the ten quantities there.
//
//   V = G ρ ∫ 1/r dv,   g = ∇V,   Γ = ∇∇V   with respect to the station;   x east, y north, z up.
//
// Every formula returns the integrals alone; G ρ enters when they are summed. Symbols as in
// docs/theory/gravity.md: corners X_i, Y_j, Z_k relative to the station (i, j, k = 1, 2), r_ijk their
// distances, Δ_i the value at i = 2 minus the value at i = 1.
#pragma once

#include "terrane/math/elementary.hpp"

namespace terrane::gravity {

/// The faces of a prism relative to the station, and its sides. The sides are computed from the prism's own
/// coordinates, never as x[1] − x[0]: far away that difference has no digits left.
template <class T>
struct RelativePrism {
  T x[2], y[2], z[2];  ///< m
  T lx, ly, lz;        ///< m
};

/// V, g and Γ in the order of terrane::Channel.
template <class T>
struct Quantities {
  T v, e, n, u, ee, nn, uu, en, eu, nu;
};

/// The distances of the eight corners from the station: r[i][j][k].
template <class T>
struct CornerDistances {
  T r[2][2][2];
  TERRANE_FN explicit CornerDistances(const RelativePrism<T>& p) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 2; ++k)
          r[i][j][k] = square_root(p.x[i] * p.x[i] + p.y[j] * p.y[j] + p.z[k] * p.z[k]);
  }
};

}  // namespace terrane::gravity
