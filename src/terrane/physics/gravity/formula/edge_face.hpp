// Near form: the closed form of the prism with one logarithm per edge and one angle per face (12 + 6
// instead of the 24 + 24 of Nagy, Papp & Benedek 2000, J. Geodesy 74, 552).
//
// E: logarithms of edges, Ω: angles of faces; g: gravity, Γ: its gradients; other symbols as in prism.hpp.
//
//   Ex_jk = ln[(X_2 + r_2jk) / (X_1 + r_1jk)]                       likewise Ey_ik, Ez_ij
//   Ωx_i  = Σ_jk s_jk arctan[Y_j Z_k / (X_i r_ijk)], s = + for j = k   likewise Ωy_j, Ωz_k
//   Fx_i  = Δ_j(Y_j Ez_ij) + Δ_k(Z_k Ey_ik) − X_i Ωx_i              likewise Fy_j, Fz_k
//   g = −ΔF,  V = ½ [Δ_i(X_i Fx_i) + Δ_j(Y_j Fy_j) + Δ_k(Z_k Fz_k)]
//   Γxx = −ΔΩx,  Γyz = Δ_j Δ_k Ex,  and cyclically
//
// Valid everywhere, also inside the prism. For ratios of the sides up to 1 : 10 and distances up to about one
// side, the error is that of rounding. At larger distances R its differences lose digits as (R/L)³, L: side;
// use stable.hpp there.
#pragma once

#include "terrane/physics/gravity/formula/prism.hpp"

namespace terrane::gravity {

/// exp(E) of one edge as a fraction. |X| + r in place of X + r avoids cancellation on either side of the
/// edge, because (|X₁| + r₁)(r₁ − |X₁|) = d². Both sign tests count zero as positive: stations aligned with a
/// grid have X = 0 exactly. line2 = d²: squared distance to the edge's line; only used if the foot of the
/// perpendicular lies on the edge.
///
/// touching: the station may lie on the edge or at its end, where the logarithm is unbounded. A length of
/// zero is then replaced by one metre. If the densities around the station form no edge (the station lies
/// within a face, or between cells of equal density), the weights of these logarithms sum to zero, and the
/// sum over the prisms is exact; otherwise singular.hpp marks the component.
template <bool touching, class T>
struct EdgeFraction {
  T numerator, denominator;
  TERRANE_FN EdgeFraction(const T& x1, const T& x2, const T& r1, const T& r2, const T& line2) {
    const T one(1);
    const auto positive = [&](const T& length) {
      if constexpr (touching) return select(length > T(0), length, one);
      else return length;
    };
    const T a1 = positive(r1 + absolute(x1)), a2 = positive(r2 + absolute(x2)), d2 = positive(line2);
    const auto before = x1 < T(0), reaches = x2 >= T(0);
    numerator = select(reaches, a2, one) * select(before, a1, one);
    denominator =
        select(before, one, a1) * select(reaches, one, a2) * select(before, select(reaches, d2, one), one);
  }
  TERRANE_FN T log() const { return log_ratio(numerator, denominator); }
};

/// Ω of a face at distance X: four arctangents as one angle, by multiplying the complex numbers X r + i Y Z.
/// The sum leaves (−π, π] only if the perpendicular from the station meets the face; then 2π is added with
/// the sign of X. On the face's plane (X = 0) Ω is the mean of both sides, 0.
template <class T>
TERRANE_FN T face_angle(const T& x, const T& y1, const T& y2, const T& z1, const T& z2, const T& r11,
                        const T& r12, const T& r21, const T& r22) {
  const T a = x * r22, b = y2 * z2, c = x * r11, d = y1 * z1;
  const T e = x * r21, f = y2 * z1, g = x * r12, h = y1 * z2;
  const T re1 = a * g + b * h, im1 = b * g - a * h, re2 = c * e + d * f, im2 = d * e - c * f;
  T w = angle(im1 * re2 + re1 * im2, re1 * re2 - im1 * im2);
  const T zero(0), turn = with_sign_of(T(6.28318530717958647693), x);
  w = select(maximum(y1, z1) < zero, select(minimum(y2, z2) > zero, select(x * w < zero, w + turn, w), w), w);
  return select(x == zero, zero, w);
}

/// All ten quantities.
template <bool touching, class T>
TERRANE_FN Quantities<T> edge_face(const RelativePrism<T>& p) {
  using Edge = EdgeFraction<touching, T>;
  const CornerDistances<T> corner(p);
  const auto& r = corner.r;
  const auto &x = p.x, &y = p.y, &z = p.z;
  T ex[2][2], ey[2][2], ez[2][2];
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      const auto squared = [](const T& s, const T& t) { return s * s + t * t; };
      ex[a][b] = Edge(x[0], x[1], r[0][a][b], r[1][a][b], squared(y[a], z[b])).log();
      ey[a][b] = Edge(y[0], y[1], r[a][0][b], r[a][1][b], squared(x[a], z[b])).log();
      ez[a][b] = Edge(z[0], z[1], r[a][b][0], r[a][b][1], squared(x[a], y[b])).log();
    }
  T ox[2], oy[2], oz[2], fx[2], fy[2], fz[2];
  for (int i = 0; i < 2; ++i) {
    ox[i] = face_angle(x[i], y[0], y[1], z[0], z[1], r[i][0][0], r[i][0][1], r[i][1][0], r[i][1][1]);
    oy[i] = face_angle(y[i], x[0], x[1], z[0], z[1], r[0][i][0], r[0][i][1], r[1][i][0], r[1][i][1]);
    oz[i] = face_angle(z[i], x[0], x[1], y[0], y[1], r[0][0][i], r[0][1][i], r[1][0][i], r[1][1][i]);
  }
  for (int i = 0; i < 2; ++i) {
    fx[i] = (y[1] * ez[i][1] - y[0] * ez[i][0]) + (z[1] * ey[i][1] - z[0] * ey[i][0]) - x[i] * ox[i];
    fy[i] = (x[1] * ez[1][i] - x[0] * ez[0][i]) + (z[1] * ex[i][1] - z[0] * ex[i][0]) - y[i] * oy[i];
    fz[i] = (x[1] * ey[1][i] - x[0] * ey[0][i]) + (y[1] * ex[1][i] - y[0] * ex[0][i]) - z[i] * oz[i];
  }
  Quantities<T> q;
  q.v = T(0.5) *
        ((x[1] * fx[1] - x[0] * fx[0]) + (y[1] * fy[1] - y[0] * fy[0]) + (z[1] * fz[1] - z[0] * fz[0]));
  q.e = fx[0] - fx[1];
  q.n = fy[0] - fy[1];
  q.u = fz[0] - fz[1];
  q.ee = ox[0] - ox[1];
  q.nn = oy[0] - oy[1];
  q.uu = oz[0] - oz[1];
  q.en = (ez[1][1] - ez[0][1]) - (ez[1][0] - ez[0][0]);
  q.eu = (ey[1][1] - ey[0][1]) - (ey[1][0] - ey[0][0]);
  q.nu = (ex[1][1] - ex[0][1]) - (ex[1][0] - ex[0][0]);
  return q;
}

/// g_u alone, with 2 angles and 4 logarithms: the logarithms of two opposite edges are computed as that of
/// one ratio. The form does not hold for stations that touch the prism.
template <class T>
TERRANE_FN T edge_face_g_u(const RelativePrism<T>& p) {
  const CornerDistances<T> corner(p);
  const auto& r = corner.r;
  const auto &x = p.x, &y = p.y, &z = p.z;
  const auto squared = [](const T& s, const T& t) { return s * s + t * t; };
  T f[2];  // f[1] − f[0] = Δ_i X_i Δ_k Ey_ik + Δ_j Y_j Δ_k Ex_jk
  for (int a = 0; a < 2; ++a) {
    const EdgeFraction<false, T> y1(y[0], y[1], r[a][0][0], r[a][1][0], squared(x[a], z[0]));
    const EdgeFraction<false, T> y2(y[0], y[1], r[a][0][1], r[a][1][1], squared(x[a], z[1]));
    const EdgeFraction<false, T> x1(x[0], x[1], r[0][a][0], r[1][a][0], squared(y[a], z[0]));
    const EdgeFraction<false, T> x2(x[0], x[1], r[0][a][1], r[1][a][1], squared(y[a], z[1]));
    f[a] = x[a] * log_ratio(y2.numerator * y1.denominator, y2.denominator * y1.numerator) +
           y[a] * log_ratio(x2.numerator * x1.denominator, x2.denominator * x1.numerator);
  }
  T w[2];
  for (int k = 0; k < 2; ++k)
    w[k] = z[k] * face_angle(z[k], x[0], x[1], y[0], y[1], r[0][0][k], r[0][1][k], r[1][0][k], r[1][1][k]);
  return (f[0] - f[1]) + (w[1] - w[0]);
}

}  // namespace terrane::gravity
