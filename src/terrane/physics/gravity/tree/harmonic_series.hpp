// An observable of a cluster as one series in solid harmonics: the form for sensitivity matrices, in which
// few observables are evaluated many times.
//
//   value(x) = Σ_n Σ_m Re(N_nm F_nm(ξ)),   0 ≤ m ≤ n ≤ top,   ξ = (x − x₀)/s
//   F_nm = ∂z^(n−m) ∂₊^m (1/|ξ|)
//
// x: station; x₀, s: centre and scale of the cluster; N_nm: complex numbers of the series; ∂± = ∂x ± i ∂y,
// with respect to ξ. An observable is a sum of derivatives of V = (1/s) Σ_k C_k D^k (1/|ξ|) (expansion.hpp),
// so N follows from C in two steps: the derivatives, which shift C_k to higher k, then
//   ∂x = (∂₊ + ∂₋)/2,   ∂y = (∂₊ − ∂₋)/2i,   ∂₊∂₋ = −∂z²
// F_nm has a real factor P_nm; with (x, y, z) now the components of ξ, and r = |ξ|, only P_nm needs a
// recurrence in n:
//   F_nm = (2n − 1)!! P_nm (−(x + iy)/r²)^m / r,   P_mm = 1,
//   P_(n+1)m = −(z/r²) P_nm − (n² − m²)/(4n² − 1) P_(n−1)m / r²
// so a station needs five operations for each of the (top + 1)(top + 2)/2 terms; with Cartesian derivatives
// an expansion of order p would need more than ten for each of (p + 1)²/2 terms. The numbers stored are (2n −
// 1)!! N_nm: [m][n − m][real part, imaginary part]. Sources: see formula/harmonics.hpp.
#pragma once

#include <span>

#include "terrane/physics/gravity/channels.hpp"
#include "terrane/physics/gravity/tree/expansion.hpp"

namespace terrane::gravity {

/// The real numbers k in ∂x^a ∂y^b = (−i)^b Σ_j k(a, b, j) ∂₊^j ∂₋^(a+b−j).
struct CartesianToHarmonic {
  double k[most_degree + 1][most_degree + 1][most_degree + 1] = {};  // [a + b][a][j]

  explicit CartesianToHarmonic(int order) {
    // (∂₊ + ∂₋)^a (∂₊ − ∂₋)^b / 2^n, computed from degree n − 1 by one more factor (∂₊ ± ∂₋) / 2
    k[0][0][0] = 1;
    for (int n = 1; n <= order; ++n)
      for (int a = 0; a <= n; ++a) {
        const double* const less = k[n - 1][a > 0 ? a - 1 : 0];
        const double sign = a > 0 ? 0.5 : -0.5;
        for (int j = 0; j <= n; ++j) k[n][a][j] = (j > 0 ? 0.5 * less[j - 1] : 0.0) + sign * less[j];
      }
  }
};

/// The number of degrees that an observable Σ_c weight_c q_c, with q in the order of Channel, adds to an
/// expansion.
int degrees_added(std::span<const double, channel_count> weight);

/// Computes series [series_count(top)] from coefficients [coefficient_count(order)] in units of `scale`. top:
/// at least order + degrees_added(weight); higher degrees are zero.
void make_series(std::span<const double, channel_count> weight, double scale, int order,
                 const double* coefficients, int top, double* series);

/// The transpose of make_series(): adds to the coefficients.
void add_transposed_series(std::span<const double, channel_count> weight, double scale, int order,
                           const double* series, int top, double* coefficients);

}  // namespace terrane::gravity
