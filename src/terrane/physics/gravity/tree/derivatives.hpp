// Derivatives of 1/r for a pack of points, for the kernels of expansions. Compiled for one instruction set.
#pragma once

#include "terrane/math/pack.hpp"
#include "terrane/physics/gravity/tree/order.hpp"

#ifndef TERRANE_SIMD_TARGET
#define TERRANE_SIMD_TARGET this_file
#endif

namespace terrane::gravity::TERRANE_SIMD_TARGET {
namespace {

constexpr int pack_lanes = static_cast<int>(Pack::size());
constexpr int rows = most_order + 4;

Pack load(const double* at) { return Pack(at, element_aligned); }

/// D^(a, b, c)(1/|ξ|) for c = 0, 1, 2, by degree m = a + b: t0[m][a], t1[m][a], t2[m][a].
struct Derivatives {
  Pack t0[rows][rows], t1[rows][rows], t2[rows][rows];

  /// Computes all with a + b + c ≤ degree for c < 2, and t2 for a + b ≤ degree − 2, by
  /// n |ξ|² T_k = −(2n − 1) Σ k_i ξ_i T_(k − e_i) − (n − 1) Σ k_i (k_i − 1) T_(k − 2 e_i),  n = |k|
  void fill(int degree, const Pack& x, const Pack& y, const Pack& z) {
    const Pack inverse2 = reciprocal(x * x + (y * y + z * z));
    Pack ax[rows], by[rows];
    for (int a = 0; a <= degree; ++a) {
      ax[a] = Pack(static_cast<double>(a)) * x;
      by[a] = Pack(static_cast<double>(a)) * y;
    }
    t0[0][0] = square_root(inverse2);
    t1[0][0] = -z * inverse2 * t0[0][0];
    for (int n = 1; n <= degree; ++n) {
      const Pack f1 = inverse2 * Pack(-(2.0 * n - 1) / n), f2 = inverse2 * Pack(-(n - 1.0) / n);
      level(t0[n], n, n >= 1 ? t0[n - 1] : nullptr, n >= 2 ? t0[n - 2] : nullptr, nullptr, f1, f2, ax, by, z);
      if (n >= 2)  // the terms t1 with a + b = n − 1 have degree n
        level(t1[n - 1], n - 1, t1[n - 2], n >= 3 ? t1[n - 3] : nullptr, t0[n - 1], f1, f2, ax, by, z);
    }
    for (int m = 0; m + 2 <= degree; ++m)
      for (int a = 0; a <= m; ++a) t2[m][a] = -(t0[m + 2][a + 2] + t0[m + 2][a]);
  }

 private:
  static void level(Pack* to, int m, const Pack* one, const Pack* two, const Pack* below, const Pack& f1,
                    const Pack& f2, const Pack* ax, const Pack* by, const Pack& z) {
    for (int a = 0; a <= m; ++a) {
      const int b = m - a;
      Pack s(0), u(0);
      if (a > 0) s = ax[a] * one[a - 1];
      if (b > 0) s += by[b] * one[a];
      if (below) s += z * below[a];
      if (a > 1) u = Pack(static_cast<double>(a * (a - 1))) * two[a - 2];
      if (b > 1) u += Pack(static_cast<double>(b * (b - 1))) * two[a];
      to[a] = f1 * s + f2 * u;
    }
  }
};

}  // namespace
}  // namespace terrane::gravity::TERRANE_SIMD_TARGET
