// Expansions of clusters in solid harmonics, and their field at a station: the form for devices.
//
//   V = Σ_n Σ_m Re(M_nm F_nm),   F_nm = ∂z^(n−m) ∂₊^m (1/r),   ∂± = ∂x ± i ∂y,   0 ≤ m ≤ n ≤ p
//   F_mm = (−1)^m (2m − 1)!! (x + iy)^m / r^(2m+1)
//   r² F_(n+1)m = −(2n + 1) z F_nm − (n² − m²) F_(n−1)m
//
// V: potential for G = 1; M_nm: coefficients of the expansion, of order p; (x, y, z), r: the station relative
// to the cluster's centre, and its distance.
//
// Derivatives only shift the indices of F: ∂z F_nm = F_(n+1)m, ∂₊ F_nm = F_(n+1)(m+1), and, since
// ∂₊∂₋ = −∂z², ∂₋ F_nm = −F_(n+1)(m−1) for m ≥ 1, the conjugate of F_(n+1)1 for m = 0. So each of the nine
// quantities is a sum over the same F with coefficients from the neighbours of M (gathered()). The sum over n
// at fixed m needs few registers; the Cartesian derivatives that the CPU uses (expansion_kernels.hpp) would
// need too many. M_nm follow from the Cartesian coefficients C_abc of D^(a, b, c) by
//   ∂x = (∂₊ + ∂₋)/2,   ∂y = (∂₊ − ∂₋)/2i
// Sources: Hobson, The theory of spherical and ellipsoidal harmonics (1931), ch. IV; van Gelderen & Koop, J.
// Geodesy 71 (1997) 337 for derivatives.
//
// About 26 operations per F_nm: 13 (p + 3)² for all ten quantities.
#pragma once

#include "terrane/base/function.hpp"

namespace terrane::gravity {

struct alignas(16) ComplexNumber {
  double re, im;
};

/// Index of M_nm among the coefficients of an expansion, which are listed by degree n.
TERRANE_FN int harmonic_place(int n, int m) { return n * (n + 1) / 2 + m; }
constexpr int harmonic_count(int p) { return (p + 1) * (p + 2) / 2; }

/// For one (n, m): the five coefficients, gathered from M of degree n, that multiply F of degrees n, n + 1
/// and n + 2. m: for V and Γzz; x, y: for derivatives along x and y; u, w: for Γxx − Γyy and Γxy. Each degree
/// n has m = 0 .. n + 2.
struct GatheredHarmonics {
  ComplexNumber m, x, y, u, w;
};
TERRANE_FN int gathered_place(int n, int m) { return n * (n + 5) / 2 + m; }
constexpr int gathered_count(int p) { return (p + 1) * (p + 6) / 2; }

/// Gathers the coefficients of (n, m). With F of degree n + 2: Γxz = Re(x F), Γyz = Im(y F), Γxx − Γyy =
/// Re(u F), Γxy = Im(w F); with F of degree n + 1: g_x = Re(x F), g_y = Im(y F).  at(n, m): M_nm, 0 for m > n
template <class At>
TERRANE_FN GatheredHarmonics gathered(const At& at, int n, int m) {
  // ∂₊ and ∂₋ map the real term m = 0 to the same term, up to conjugation: so it counts twice.
  const auto lower = [&](int k) {
    ComplexNumber c = k < 0 ? ComplexNumber{0, 0} : at(n, k);
    if (k == 0) c = {2 * c.re, 0};
    return c;
  };
  const ComplexNumber here = at(n, m), below = lower(m - 1), above = at(n, m + 1), two_above = at(n, m + 2);
  ComplexNumber two_below = lower(m - 2);
  if (m == 1) {  // ∂₋² maps the term m = 1 to its conjugate
    const ComplexNumber one = at(n, 1);
    two_below = {-one.re, one.im};
  }
  return {here,
          {0.5 * (below.re - above.re), 0.5 * (below.im - above.im)},
          {0.5 * (below.re + above.re), 0.5 * (below.im + above.im)},
          {0.5 * (two_below.re + two_above.re), 0.5 * (two_below.im + two_above.im)},
          {0.25 * (two_below.re - two_above.re), 0.25 * (two_below.im - two_above.im)}};
}

/// Running sums of V, g and Γ; Γ as zz, xz, yz, xx − yy, xy.
struct HarmonicSums {
  double v, x, y, z, zz, xz, yz, difference, xy;
};

/// Adds the field of an expansion of order p at (x, y, z) relative to its centre.  table [gathered_count(p)]:
/// results of gathered() · inverse, inverse2: 1/r, 1/r²
template <bool tensor>
TERRANE_FN void add_harmonics(const GatheredHarmonics* table, int p, double x, double y, double z,
                              double inverse2, double inverse, HarmonicSums& sum) {
  constexpr int derivatives = tensor ? 2 : 1;
  const double zr = z * inverse2, xr = x * inverse2, yr = y * inverse2;
  const ComplexNumber none{0, 0};
  ComplexNumber first{inverse, 0};  // F_mm
  double odd = 1;                   // 2 m + 1
  for (int m = 0; m <= p + derivatives; ++m) {
    ComplexNumber f = first, before = none;
    // Members of GatheredHarmonics: m of degrees n − 1 and n − 2; x and y of degree n − 2.
    ComplexNumber m1 = none, m2 = none, x2 = none, y2 = none;
    double a = odd, b = 0;  // factors of the recurrence: 2 n + 1, n² − m²
    for (int n = m; n <= p + derivatives; ++n) {
      const auto re = [&](const ComplexNumber& c, double to) { return to + (c.re * f.re - c.im * f.im); };
      const auto im = [&](const ComplexNumber& c, double to) { return to + (c.re * f.im + c.im * f.re); };
      ComplexNumber m0 = none, x1 = none, y1 = none;
      if (n <= p) {
        m0 = table[gathered_place(n, m)].m;
        sum.v = re(m0, sum.v);
      }
      if (n >= 1 && n - 1 <= p) {
        const auto& row = table[gathered_place(n - 1, m)];
        x1 = row.x;
        y1 = row.y;
        sum.x = re(x1, sum.x);
        sum.y = im(y1, sum.y);
        sum.z = re(m1, sum.z);
      }
      if (tensor && n >= 2) {
        const auto& row = table[gathered_place(n - 2, m)];
        sum.zz = re(m2, sum.zz);
        sum.xz = re(x2, sum.xz);
        sum.yz = im(y2, sum.yz);
        sum.difference = re(row.u, sum.difference);
        sum.xy = im(row.w, sum.xy);
      }
      m2 = m1;
      m1 = m0;
      x2 = x1;
      y2 = y1;
      const double down = zr * a, back = inverse2 * b;
      const ComplexNumber next{-(down * f.re + back * before.re), -(down * f.im + back * before.im)};
      before = f;
      f = next;
      b += a;
      a += 2;
    }
    first = {odd * (first.im * yr - first.re * xr), -odd * (first.re * yr + first.im * xr)};
    odd += 2;
  }
}

}  // namespace terrane::gravity
