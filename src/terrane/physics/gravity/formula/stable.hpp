// Stable form: the closed form with all differences of the eight corners taken analytically before anything
// is rounded. The error is that of rounding at any distance, with no cancellation. Towards the surface it
// grows (by the law in switching.hpp): use edge_face.hpp there.
//
// With s_jk = r_1jk + r_2jk the edge logarithm is Ex_jk = 2 artanh(Lx / s_jk), Lx: side of the prism along x.
// A difference of two artanh is the artanh of one fraction. Differences of s follow from X_2² − X_1² =
// 2 Lx Xc, with Xc the x of the prism's centre relative to the station. Other symbols: prism.hpp,
// edge_face.hpp. The face angles are those of two triangles (van Oosterom & Strackee 1983), differenced in
// the same way. Derivation: docs/theory/gravity.md.
#pragma once

#include "terrane/physics/gravity/formula/prism.hpp"

namespace terrane::gravity {

/// artanh and angle to full accuracy for every argument.
struct AnyDistance {
  template <class T>
  static TERRANE_FN T two_artanh(const T& n, const T& d) {
    return terrane::two_artanh(n, d);
  }
  template <class T>
  static TERRANE_FN T angle(const T& y, const T& x) {
    return terrane::angle(y, x);
  }
};

/// For R ≥ 3 Lmax (switching.hpp), where the arguments of artanh and angle are small, so that each needs one
/// division and one polynomial. The largest argument is L / s of an edge that faces the station; for a cube
/// of side L it is at most 0.213, because s ≥ 2 √((R − L/√2)² + L²/4).
struct BeyondThreeSides {
  static constexpr double from2 = 9;  ///< (R / Lmax)²
  template <class T>
  static TERRANE_FN T two_artanh(const T& n, const T& d) {
    return two_artanh_small(n, d);
  }
  template <class T>
  static TERRANE_FN T angle(const T& y, const T& x) {
    return angle_small(y, x);
  }
};

namespace detail {

/// For the four edges parallel to one axis, with b and c the other two axes: the logarithm of the first edge,
/// its differences along b and along c, and the mixed difference.
template <class T>
struct EdgeDifferences {
  T first, over_b, over_c, over_both;

  TERRANE_FN T mean() const { return first + T(0.5) * (over_b + over_c) + T(0.25) * over_both; }
  TERRANE_FN T mean_over_b() const { return over_b + T(0.5) * over_both; }
  TERRANE_FN T mean_over_c() const { return over_c + T(0.5) * over_both; }
};

/// length: of the edges · db2, dc2: differences of their squared coordinates along b and along c · s[b][c] =
/// sum of the distances of an edge's ends · ib[a][c], ic[a][b] = reciprocals of those sums for the edges
/// along b and c.
template <class Distance, class T>
TERRANE_FN EdgeDifferences<T> edge_differences(const T& length, const T& db2, const T& dc2,
                                               const T (&s)[2][2], const T (&ib)[2][2], const T (&ic)[2][2]) {
  const T h1 = ib[0][0] + ib[1][0], h2 = ib[0][1] + ib[1][1];  // s_2c − s_1c = db2 · h_c
  const T k1 = ic[0][0] + ic[1][0], k2 = ic[0][1] + ic[1][1];  // s_b2 − s_b1 = dc2 · k_b
  const T l2 = length * length, lb = length * db2;
  const T p1 = s[0][0] * s[1][0] - l2, p2 = s[0][1] * s[1][1] - l2;
  const T n1 = -lb * h1, n2 = -lb * h2;
  const T qp = k1 * s[1][1] + s[0][0] * k2;
  const T qh = (ic[0][0] + ic[0][1]) * (ib[0][0] * ib[0][1]) + (ic[1][0] + ic[1][1]) * (ib[1][0] * ib[1][1]);
  EdgeDifferences<T> e;
  e.first = Distance::two_artanh(length, s[0][0]);
  e.over_b = Distance::two_artanh(n1, p1);
  e.over_c = Distance::two_artanh(-length * dc2 * k1, s[0][0] * s[0][1] - l2);
  e.over_both = Distance::two_artanh(lb * dc2 * (qh * p1 + h1 * qp), p1 * p2 - n1 * n2);
  return e;
}

/// The angle of the first of two parallel faces, and the difference to the second.
template <class T>
struct FaceDifferences {
  T first, over_a;
};

/// a1, a2: distances of the faces' planes; la: between them · da2 = a2² − a1²; lb, lc: sides of the faces ·
/// r0[a], r1[a]: distances of the corners (1,1) and (2,2) of face a · ia[b][c], ib[a][c], ic[a][b] as in
/// edge_differences().
template <class Distance, class T>
TERRANE_FN FaceDifferences<T> face_differences(const T& a1, const T& a2, const T& la, const T& da2,
                                               const T& lb, const T& lc, const T (&r0)[2], const T (&r1)[2],
                                               const T (&ia)[2][2], const T (&ib)[2][2],
                                               const T (&ic)[2][2]) {
  T ub[2][2], uc[2][2], n[2][2], d[2][2];  // n, d [triangle][face]
  for (int a = 0; a < 2; ++a) {
    for (int q = 0; q < 2; ++q) {
      ub[a][q] = lb * ib[a][q];
      uc[a][q] = lc * ic[a][q];
    }
    const T sum = r0[a] + r1[a];
    n[0][a] = T(2) * ub[a][0] * uc[a][1];
    d[0][a] = sum - lb * ub[a][0] - lc * uc[a][1];
    n[1][a] = T(2) * ub[a][1] * uc[a][0];
    d[1][a] = sum - lb * ub[a][1] - lc * uc[a][0];
  }
  FaceDifferences<T> f;
  f.first = T(2) * Distance::angle(a1 * (n[0][0] * d[1][0] + n[1][0] * d[0][0]),
                                   d[0][0] * d[1][0] - a1 * a1 * n[0][0] * n[1][0]);
  const T dr = ia[0][0] + ia[1][1];
  // The tangent of half the difference of each triangle's angles is (X₂τ₂ − X₁τ₁) / (1 + X₁X₂τ₁τ₂), τ = n/d.
  T num[2], den[2];
  for (int m = 0; m < 2; ++m) {
    const int qb = m, qc = 1 - m;
    const T dub = -ub[0][qb] * ib[1][qb] * (ia[0][qb] + ia[1][qb]);
    const T duc = -uc[0][qc] * ic[1][qc] * (ia[qc][0] + ia[qc][1]);
    const T dn = T(2) * (dub * uc[1][qc] + ub[0][qb] * duc);
    const T dd = dr - lb * dub - lc * duc;
    num[m] = la * n[m][1] * d[m][0] + a1 * da2 * (dn * d[m][0] - n[m][0] * dd);
    den[m] = d[m][0] * d[m][1] + a1 * a2 * n[m][0] * n[m][1];
  }
  f.over_a = T(2) * Distance::angle(num[0] * den[1] + num[1] * den[0], den[0] * den[1] - num[0] * num[1]);
  return f;
}

template <class T>
TERRANE_FN void transpose(const T (&m)[2][2], T (&t)[2][2]) {
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) t[a][b] = m[b][a];
}

}  // namespace detail

/// All ten quantities, outside the prism. uu_by_laplace: Γuu = −(Γee + Γnn) saves a sixth of the work if both
/// are needed anyway; the trace is then zero by construction.
template <class Distance, bool uu_by_laplace, class T>
TERRANE_FN Quantities<T> stable(const RelativePrism<T>& p) {
  using detail::edge_differences;
  using detail::face_differences;
  const CornerDistances<T> corner(p);
  const auto& r = corner.r;
  T sx[2][2], sy[2][2], sz[2][2], ix[2][2], iy[2][2], iz[2][2];
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      sx[a][b] = r[0][a][b] + r[1][a][b];
      sy[a][b] = r[a][0][b] + r[a][1][b];
      sz[a][b] = r[a][b][0] + r[a][b][1];
      const T xy = sx[a][b] * sy[a][b],
              all3 = reciprocal(xy * sz[a][b]);  // one division yields three reciprocals
      iz[a][b] = all3 * xy;
      const T t = all3 * sz[a][b];
      ix[a][b] = t * sy[a][b];
      iy[a][b] = t * sx[a][b];
    }
  T ixt[2][2], iyt[2][2], izt[2][2];
  detail::transpose(ix, ixt);
  detail::transpose(iy, iyt);
  detail::transpose(iz, izt);

  const T &lx = p.lx, &ly = p.ly, &lz = p.lz, half(0.5), quarter(0.25);
  const T xc = half * (p.x[0] + p.x[1]), yc = half * (p.y[0] + p.y[1]), zc = half * (p.z[0] + p.z[1]);
  const T dx2 = T(2) * lx * xc, dy2 = T(2) * ly * yc, dz2 = T(2) * lz * zc;

  const auto ex = edge_differences<Distance>(lx, dy2, dz2, sx, iy, iz);
  const auto ey = edge_differences<Distance>(ly, dx2, dz2, sy, ix, izt);
  const auto ez = edge_differences<Distance>(lz, dx2, dy2, sz, ixt, iyt);
  const T x11[2] = {r[0][0][0], r[1][0][0]}, x22[2] = {r[0][1][1], r[1][1][1]};
  const T y11[2] = {r[0][0][0], r[0][1][0]}, y22[2] = {r[1][0][1], r[1][1][1]};
  const T z11[2] = {r[0][0][0], r[0][0][1]}, z22[2] = {r[1][1][0], r[1][1][1]};
  const auto ox = face_differences<Distance>(p.x[0], p.x[1], lx, dx2, ly, lz, x11, x22, ix, iy, iz);
  const auto oy = face_differences<Distance>(p.y[0], p.y[1], ly, dy2, lx, lz, y11, y22, iy, ix, izt);
  auto oz = face_differences<Distance>(p.z[0], p.z[1], lz, dz2, lx, ly, z11, z22, iz, ixt, iyt);
  if constexpr (uu_by_laplace) oz.over_a = -(ox.over_a + oy.over_a);

  Quantities<T> q;
  q.nu = ex.over_both;
  q.eu = ey.over_both;
  q.en = ez.over_both;
  q.ee = -ox.over_a;
  q.nn = -oy.over_a;
  q.uu = -oz.over_a;
  const T mean_ox = ox.first + half * ox.over_a, mean_oy = oy.first + half * oy.over_a,
          mean_oz = oz.first + half * oz.over_a;
  q.e = -(ly * ez.mean_over_b() + yc * q.en + lz * ey.mean_over_b() + zc * q.eu - lx * mean_ox + xc * q.ee);
  q.n = -(lx * ez.mean_over_c() + xc * q.en + lz * ex.mean_over_b() + zc * q.nu - ly * mean_oy + yc * q.nn);
  q.u = -(lx * ey.mean_over_c() + xc * q.eu + ly * ex.mean_over_c() + yc * q.nu - lz * mean_oz + zc * q.uu);
  const T fx = ly * ez.mean() + yc * ez.mean_over_c() + lz * ey.mean() + zc * ey.mean_over_c() -
               xc * mean_ox - quarter * lx * ox.over_a;
  const T fy = lx * ez.mean() + xc * ez.mean_over_b() + lz * ex.mean() + zc * ex.mean_over_c() -
               yc * mean_oy - quarter * ly * oy.over_a;
  const T fz = lx * ey.mean() + xc * ey.mean_over_b() + ly * ex.mean() + yc * ex.mean_over_b() -
               zc * mean_oz - quarter * lz * oz.over_a;
  q.v = half * (lx * fx - xc * q.e + ly * fy - yc * q.n + lz * fz - zc * q.u);
  return q;
}

}  // namespace terrane::gravity
