// Far form: the even multipoles of a box about its centre, up to order 8.
//
//   V = (v/R) Σ_n P_n(c),  c = (x², y², z²)/R²,  P_n = (1/m!) T_n[c, …, c] R⁻ⁿ,  m = n/2
//
// T_n: symmetric tensor of rank m that depends on the sides alone (MultipoleCoefficients). With
// ∂(P_n R⁻⁽²ⁿ⁺¹⁾) by the product rule, V, g and Γ need only Σ P, Σ ∂P, Σ ∂∂P and the first two again with the
// weights (2n+1) and (2n+1)(2n+3); the tensors are contracted once each. Sources: the Taylor series of 1/r
// over a box (e.g. MacMillan 1930, §§ 87-89); the tables by tools/generate_multipole_tables.py.
//
// Relative error of order N at distance R: below multipole_error(N) (Lmax/R)^(N+2), see switching.hpp.
#pragma once

#include "terrane/physics/gravity/formula.hpp"
#include "terrane/physics/gravity/multipole_tables.hpp"

namespace terrane::gravity {

/// Components of T_2, T_4, T_6, T_8 in the order xx…x, xx…y, xx…z, xx…yy, …, zz…z.
struct MultipoleCoefficients {
  double t2[3], t4[6], t6[10], t8[15];
};

namespace detail {

template <int Size>
TERRANE_FN void multipole_tensor(const double (&table)[Size][Size], int degree, const double (&h2)[3],
                                 double (&t)[Size]) {
  double powers[3][5];
  for (int axis = 0; axis < 3; ++axis) {
    powers[axis][0] = 1;
    for (int e = 1; e <= degree; ++e) powers[axis][e] = powers[axis][e - 1] * h2[axis];
  }
  for (int column = 0; column < Size; ++column) t[column] = 0;
  int row = 0;
  for (int a = degree; a >= 0; --a)
    for (int b = degree - a; b >= 0; --b, ++row) {
      const double weight = powers[0][a] * powers[1][b] * powers[2][degree - a - b];
      for (int column = 0; column < Size; ++column) t[column] += weight * table[row][column];
    }
}

/// Row of component i in the triangular listing of a symmetric tensor: 0, 1 1, 2 2 2, ...
constexpr int triangle_row(int i) {
  int row = 0;
  for (int first = 0; first + row < i; first += ++row) {
  }
  return row;
}

/// One contraction of a symmetric tensor with c; Size: components of the result. Component i, in row s of the
/// triangular listing, is continued by i, i + s + 1 and i + s + 2.
template <int Size, class From, class T>
TERRANE_FN void contract(const From& t, const T& a, const T& b, const T& c, T (&out)[Size]) {
  unrolled<Size>([&](auto index) {
    constexpr int i = index, s = triangle_row(i);
    out[i] = T(t[i]) * a + (T(t[i + s + 1]) * b + T(t[i + s + 2]) * c);
  });
}

/// The sums over orders that V, g and Γ are made of.
template <class T>
struct MultipoleSums {
  T p, p1, p2;    // Σ P, Σ (2n+1) P, Σ (2n+1)(2n+3) P
  T d[3], d1[3];  // Σ ∂P, Σ (2n+1) ∂P
  T dd[6];        // Σ ∂∂P: xx, xy, xz, yy, yz, zz

  /// Adds order n, given the scaled tensor contracted down to rank 2, 1 and 0:
  /// ∂∂P = s/w2, ∂P = f/w1, P = g/w0 with w = (m−2)!, (m−1)!, m!.
  template <int n>
  TERRANE_FN void add(const T (&s)[6], const T (&f)[3], const T& g) {
    constexpr int m = n / 2;
    constexpr double w2 = m == 4 ? 2 : 1, w1 = m == 4 ? 6 : m == 3 ? 2 : 1, w0 = m == 4 ? 24 : m == 3 ? 6 : 2;
    constexpr double k = 2 * n + 1, kk = k * (2 * n + 3);
    p += T(1 / w0) * g;
    p1 += T(k / w0) * g;
    p2 += T(kk / w0) * g;
    unrolled<3>([&](auto i) {
      d[i] += T(1 / w1) * f[i];
      d1[i] += T(k / w1) * f[i];
    });
    unrolled<6>([&](auto i) { dd[i] += w2 == 1 ? s[i] : T(1 / w2) * s[i]; });
  }
};

}  // namespace detail

/// lx, ly, lz: sides, m.  Tables: arrays order_2 .. order_8 as in multipole_tables.hpp, where code of a device
/// can read them.
template <class Tables>
TERRANE_FN MultipoleCoefficients multipole_coefficients(const Tables& tables, double lx, double ly,
                                                        double lz) {
  const double h2[3] = {0.25 * lx * lx, 0.25 * ly * ly, 0.25 * lz * lz};
  MultipoleCoefficients c;
  detail::multipole_tensor(tables.order_2, 1, h2, c.t2);
  detail::multipole_tensor(tables.order_4, 2, h2, c.t4);
  detail::multipole_tensor(tables.order_6, 3, h2, c.t6);
  detail::multipole_tensor(tables.order_8, 4, h2, c.t8);
  return c;
}

/// The same on the host.
inline MultipoleCoefficients multipole_coefficients(double lx, double ly, double lz) {
  struct {
    const double (&order_2)[3][3] = tables::order_2;
    const double (&order_4)[6][6] = tables::order_4;
    const double (&order_6)[10][10] = tables::order_6;
    const double (&order_8)[15][15] = tables::order_8;
  } const all;
  return multipole_coefficients(all, lx, ly, lz);
}

/// All ten quantities of a prism of unit volume.  x, y, z: the station relative to the prism's centre, m.
/// uu_by_laplace: Γuu = −(Γee + Γnn), for when both are wanted anyway.  Coefficients: arrays t2, t4, t6, t8 as
/// in MultipoleCoefficients, those up to the order.
template <int Order, bool uu_by_laplace, class Coefficients, class T>
TERRANE_FN Quantities<T> multipole(const Coefficients& t, const T& x, const T& y, const T& z) {
  static_assert(Order == 2 || Order == 4 || Order == 6 || Order == 8);
  const T q = inverse_square_root(x * x + (y * y + z * z)), q2 = q * q;
  const T nx = x * q, ny = y * q, nz = z * q, a = nx * nx, b = ny * ny, c = nz * nz;
  detail::MultipoleSums<T> sum;
  {  // order 0: P = 1; order 2: ∂P = T, P = T·c
    const T f[3] = {q2 * T(t.t2[0]), q2 * T(t.t2[1]), q2 * T(t.t2[2])};
    const T g = f[0] * a + (f[1] * b + f[2] * c);
    sum.p = g + T(1);
    sum.p1 = T(5) * g + T(1);
    sum.p2 = T(35) * g + T(3);
    unrolled<3>([&](auto i) {
      sum.d[i] = f[i];
      sum.d1[i] = T(5) * f[i];
    });
    unrolled<6>([&](auto i) { sum.dd[i] = T(0); });
  }
  if constexpr (Order >= 4) {
    const T q4 = q2 * q2;
    T s[6], f[3], g[1];
    unrolled<6>([&](auto i) { s[i] = q4 * T(t.t4[i]); });
    detail::contract(s, a, b, c, f);
    detail::contract(f, a, b, c, g);
    sum.template add<4>(s, f, g[0]);
    if constexpr (Order >= 6) {
      const T q6 = q4 * q2;
      detail::contract(t.t6, q6 * a, q6 * b, q6 * c, s);
      detail::contract(s, a, b, c, f);
      detail::contract(f, a, b, c, g);
      sum.template add<6>(s, f, g[0]);
      if constexpr (Order >= 8) {
        const T q8 = q4 * q4;
        T u[10];
        detail::contract(t.t8, q8 * a, q8 * b, q8 * c, u);
        detail::contract(u, a, b, c, s);
        detail::contract(s, a, b, c, f);
        detail::contract(f, a, b, c, g);
        sum.template add<8>(s, f, g[0]);
      }
    }
  }
  const T g0 = T(2) * sum.d[0] - sum.p1, g1 = T(2) * sum.d[1] - sum.p1, g2 = T(2) * sum.d[2] - sum.p1;
  const T qq = q * q2;
  const auto mixed = [&](int i, const T& di, const T& dj) {
    return T(4) * sum.dd[i] - T(2) * (di + dj) + sum.p2;
  };
  Quantities<T> out;
  out.v = q * sum.p;
  out.e = q2 * nx * g0;
  out.n = q2 * ny * g1;
  out.u = q2 * nz * g2;
  out.ee = qq * (g0 + a * mixed(0, sum.d1[0], sum.d1[0]));
  out.nn = qq * (g1 + b * mixed(3, sum.d1[1], sum.d1[1]));
  out.uu = uu_by_laplace ? -(out.ee + out.nn) : qq * (g2 + c * mixed(5, sum.d1[2], sum.d1[2]));
  out.en = qq * nx * ny * mixed(1, sum.d1[0], sum.d1[1]);
  out.eu = qq * nx * nz * mixed(2, sum.d1[0], sum.d1[2]);
  out.nu = qq * ny * nz * mixed(4, sum.d1[1], sum.d1[2]);
  return out;
}

}  // namespace terrane::gravity
