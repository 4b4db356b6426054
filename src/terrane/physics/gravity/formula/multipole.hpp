// Far form: the even multipoles of a box about its centre, up to order 8.
//
//   V = (v/R) (1 + Σ_n P_n),   P_n = g_n / n,   g_n = T_n[c, …, c] R⁻ⁿ,   n = 2, 4, 6, 8 up to the order
//
// V: potential, g_i: gravity, Γ_ij: its gradients (i, j: axes), all for density 1 and G = 1; v: volume; x_i:
// the station relative to the centre, at distance R; u_i = x_i / R; c_i = u_i². T_n is a symmetric tensor of
// rank m = n/2 that depends on the sides alone; its components are the coefficients. T_n[c, …, c] contracts
// all its indices with c. Contracting all but one, or all but two, gives
//   f_n,i  = T_n[c, …, c]_i R⁻ⁿ  = 2 ∂P_n/∂c_i              (derivatives at constant R)
//   s_n,ij = T_n[c, …, c]_ij R⁻ⁿ = 2/(m−1) ∂²P_n/∂c_i∂c_j    (n ≥ 4; s_2 = 0)
// P_n R²ⁿ is a polynomial in the x_i². Differentiating this polynomial times R⁻⁽²ⁿ⁺¹⁾ by x_i and x_j gives
//   g_i  = (v/R²) u_i G_i,                     G_i = −1 + Σ_n [f_n,i − (2n+1)/n g_n]
//   Γ_ij = (v/R³) (u_i u_j M_ij + δ_ij G_i),   M_ij = E_i + E_j + Σ_n 2 (m−1) s_n,ij
//                                              E_i = 3/2 + Σ_n [(2n+1)(2n+3)/(2n) g_n − (2n+1) f_n,i]
// Sources: the Taylor series of 1/r over a box (e.g. MacMillan 1930, §§ 87-89); the tables, by
// tools/generate_multipole_tables.py: coefficients of (m−1)!/2 T_n, a polynomial in the squared half sides.
//
// The relative error of order N is below c (Lmax/R)^(N+2), with Lmax the longest side and c of switching.hpp.
#pragma once

#include "terrane/physics/gravity/formula/multipole_tables.hpp"
#include "terrane/physics/gravity/formula/sums.hpp"

namespace terrane::gravity {

/// Components of T_n for n = 2, 4, 6, 8 in the order xx…x, xx…y, xx…z, xx…yy, …, zz…z.
struct MultipoleCoefficients {
  double t2[3], t4[6], t6[10], t8[15];
};

namespace detail {

template <int Size, class T>
TERRANE_FN void multipole_tensor(const double (&table)[Size][Size], int degree, double factor,
                                 const double (&h2)[3], T (&t)[Size]) {
  double powers[3][5], weight[Size];
  for (int axis = 0; axis < 3; ++axis) {
    powers[axis][0] = 1;
    for (int e = 1; e <= degree; ++e) powers[axis][e] = powers[axis][e - 1] * h2[axis];
  }
  int row = 0;
  for (int a = degree; a >= 0; --a)
    for (int b = degree - a; b >= 0; --b)
      weight[row++] = factor * (powers[0][a] * powers[1][b] * powers[2][degree - a - b]);
  for (int column = 0; column < Size; ++column) {
    double sum = 0;
    for (row = 0; row < Size; ++row) sum += weight[row] * table[row][column];
    t[column] = static_cast<T>(sum);
  }
}

/// Row of component i in the triangular listing of a symmetric tensor: 0, 1 1, 2 2 2, ...
constexpr int triangle_row(int i) {
  int row = 0;
  for (int first = 0; first + row < i; first += ++row) {
  }
  return row;
}

/// Contracts one index of a symmetric tensor t with the vector (a, b, c). Size: number of components of the
/// result. Component i of the result is in row s of the triangular listing; it is the sum of a times
/// component i, b times component i + s + 1 and c times component i + s + 2 of t.
template <int Size, class From, class T>
TERRANE_FN void contract(const From& t, const T& a, const T& b, const T& c, T (&out)[Size]) {
  unrolled<Size>([&](auto i) { out[i] = T(t[i]) * a; });
  unrolled<Size>([&](auto i) { out[i] = T(t[i + triangle_row(i) + 1]) * b + out[i]; });
  unrolled<Size>([&](auto i) { out[i] = T(t[i + triangle_row(i) + 2]) * c + out[i]; });
}

}  // namespace detail

/// Computes the coefficients, up to an order, of a prism with sides lx, ly, lz in m.  Tables: arrays order_2
/// .. order_8 as in multipole_tables.hpp, in memory that device code can read.
template <class Tables, class Coefficients>
TERRANE_FN void set_multipole_coefficients(const Tables& tables, double lx, double ly, double lz, int order,
                                           Coefficients& c) {
  const double h2[3] = {0.25 * lx * lx, 0.25 * ly * ly, 0.25 * lz * lz};
  detail::multipole_tensor(tables.order_2, 1, 2, h2, c.t2);
  if (order >= 4) detail::multipole_tensor(tables.order_4, 2, 2, h2, c.t4);
  if (order >= 6) detail::multipole_tensor(tables.order_6, 3, 1, h2, c.t6);
  if (order >= 8) detail::multipole_tensor(tables.order_8, 4, 1.0 / 3, h2, c.t8);
}

/// The coefficients of all orders, on the host.
inline MultipoleCoefficients multipole_coefficients(double lx, double ly, double lz) {
  struct {
    const double (&order_2)[3][3] = tables::order_2;
    const double (&order_4)[6][6] = tables::order_4;
    const double (&order_6)[10][10] = tables::order_6;
    const double (&order_8)[15][15] = tables::order_8;
  } const all;
  MultipoleCoefficients c;
  set_multipole_coefficients(all, lx, ly, lz, 8, c);
  return c;
}

/// Adds all ten quantities of a prism to a sum. For a density ρ the weight is ρ times the volume.
///
/// x, y, z: the station relative to the prism's centre, m; q: the inverse of its distance.  Coefficients:
/// arrays t2, t4, t6, t8 as in MultipoleCoefficients, those up to the order.  Sum: add<channel>(value) adds
/// to one channel; uu_by_laplace means that Γuu is computed later from the sums of Γee and Γnn, so nothing is
/// added to it here.
template <int Order, class Coefficients, class T, class Sum>
TERRANE_FN void add_multipole(const Coefficients& t, const T& x, const T& y, const T& z, const T& q,
                              const T& weight, Sum& sum) {
  static_assert(Order == 2 || Order == 4 || Order == 6 || Order == 8);
  const T q2 = q * q;
  if constexpr (Order == 2) {
    // Γ needs only products of two vectors u and m: u_i u_j (E_i + E_j) = m_i u_j + u_i m_j, with
    // m_i = E_i u_i = 5 (kk x_i − h_i)/R, h_i = f_i x_i and kk = E_i/5 + f_i.
    const T f[3] = {q2 * T(t.t2[0]), q2 * T(t.t2[1]), q2 * T(t.t2[2])};
    const T hx = f[0] * x, hy = f[1] * y, hz = f[2] * z;
    const T g = q2 * (hx * x + (hy * y + hz * z));
    const T k = T(2.5) * g + T(1), kk = T(1.75) * g + T(0.3);
    const T w1 = weight * q, w3 = w1 * q2, w5 = w3 * (T(5) * q2);
    sum.template add<Channel::potential>(w1 * (T(0.5) * g + T(1)));
    sum.template add<Channel::g_e>(w3 * (hx - k * x));
    sum.template add<Channel::g_n>(w3 * (hy - k * y));
    sum.template add<Channel::g_u>(w3 * (hz - k * z));
    const T mx = w5 * (kk * x - hx), my = w5 * (kk * y - hy), mz = w5 * (kk * z - hz);
    sum.template add<Channel::g_ee>(w3 * (f[0] - k));
    sum.template add<Channel::g_nn>(w3 * (f[1] - k));
    sum.template add<Channel::g_ee>(mx * (x + x));
    sum.template add<Channel::g_en>(mx * y);
    sum.template add<Channel::g_eu>(mx * z);
    sum.template add<Channel::g_nn>(my * (y + y));
    sum.template add<Channel::g_en>(my * x);
    sum.template add<Channel::g_nu>(my * z);
    if constexpr (!Sum::uu_by_laplace) {
      sum.template add<Channel::g_uu>(w3 * (f[2] - k));
      sum.template add<Channel::g_uu>(mz * (z + z));
    }
    sum.template add<Channel::g_eu>(mz * x);
    sum.template add<Channel::g_nu>(mz * y);
  } else {
    const T nx = x * q, ny = y * q, nz = z * q, a = nx * nx, b = ny * ny, c = nz * nz;
    // f[k], g[k] are f_n, g_n with n = 2 k + 2; s6, s8 are s_6, s_8 in the order xx, xy, xz, yy, yz, zz.
    constexpr int orders = Order / 2;
    T f[orders][3], g[orders][1], s6[6], s8[6];
    unrolled<3>([&](auto i) { f[0][i] = q2 * T(t.t2[i]); });
    detail::contract(f[0], a, b, c, g[0]);
    const T q4 = q2 * q2;
    detail::contract(t.t4, q4 * a, q4 * b, q4 * c, f[1]);
    detail::contract(f[1], a, b, c, g[1]);
    if constexpr (Order >= 6) {
      const T q6 = q4 * q2;
      detail::contract(t.t6, q6 * a, q6 * b, q6 * c, s6);
      detail::contract(s6, a, b, c, f[2]);
      detail::contract(f[2], a, b, c, g[2]);
    }
    if constexpr (Order >= 8) {
      const T q8 = q4 * q4;
      T u[10];
      detail::contract(t.t8, q8 * a, q8 * b, q8 * c, u);
      detail::contract(u, a, b, c, s8);
      detail::contract(s8, a, b, c, f[3]);
      detail::contract(f[3], a, b, c, g[3]);
    }
    T p(1), k(1), kk(1.5);
    unrolled<orders>([&](auto order) {
      constexpr double n = 2 * order + 2;
      p += T(1 / n) * g[order][0];
      k += T((2 * n + 1) / n) * g[order][0];
      kk += T((2 * n + 1) * (2 * n + 3) / (2 * n)) * g[order][0];
    });
    T gs[3], es[3];
    unrolled<3>([&](auto i) {
      gs[i] = f[0][i] - k;
      es[i] = kk - T(5) * f[0][i];
      unrolled<orders - 1>([&](auto order) {
        gs[i] += f[order + 1][i];
        es[i] -= T(4 * order + 9) * f[order + 1][i];
      });
    });
    const T q4_2 = q4 + q4;
    // M_ij with s_4 = q⁴ t4.
    const auto mixed = [&](auto ij, const T& ei, const T& ej) {
      T m = q4_2 * T(t.t4[ij]) + (ei + ej);
      if constexpr (Order >= 6) m += T(4) * s6[ij];
      if constexpr (Order >= 8) m += T(6) * s8[ij];
      return m;
    };
    using std::integral_constant;
    // The weight multiplies the powers of q, which takes the fewest operations.
    const T w1 = weight * q, w2 = w1 * q, w3 = w1 * q2, px = w3 * nx, py = w3 * ny;
    sum.template add<Channel::potential>(w1 * p);
    sum.template add<Channel::g_e>(w2 * nx * gs[0]);
    sum.template add<Channel::g_n>(w2 * ny * gs[1]);
    sum.template add<Channel::g_u>(w2 * nz * gs[2]);
    sum.template add<Channel::g_ee>(w3 * (gs[0] + a * mixed(integral_constant<int, 0>{}, es[0], es[0])));
    sum.template add<Channel::g_nn>(w3 * (gs[1] + b * mixed(integral_constant<int, 3>{}, es[1], es[1])));
    if constexpr (!Sum::uu_by_laplace)
      sum.template add<Channel::g_uu>(w3 * (gs[2] + c * mixed(integral_constant<int, 5>{}, es[2], es[2])));
    sum.template add<Channel::g_en>(px * ny * mixed(integral_constant<int, 1>{}, es[0], es[1]));
    sum.template add<Channel::g_eu>(px * nz * mixed(integral_constant<int, 2>{}, es[0], es[2]));
    sum.template add<Channel::g_nu>(py * nz * mixed(integral_constant<int, 4>{}, es[1], es[2]));
  }
}

/// The ten quantities of one prism, computed from its multipoles.
template <int Order, bool uu_by_laplace, class Coefficients, class T>
TERRANE_FN Quantities<T> multipole(const Coefficients& t, const T& x, const T& y, const T& z,
                                   const T& weight = T(1)) {
  QuantitySum<T, uu_by_laplace> sum;
  add_multipole<Order>(t, x, y, z, inverse_square_root(x * x + (y * y + z * z)), weight, sum);
  if constexpr (uu_by_laplace) sum.of.uu = -(sum.of.ee + sum.of.nn);
  return sum.of;
}

}  // namespace terrane::gravity
