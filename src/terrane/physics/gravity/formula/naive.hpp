// The textbook form: Nagy, Papp & Benedek (2000), one logarithm and one arctangent per corner and axis. It is
// well established, but its error grows with the distance R from a prism of side L, as (R/L)⁴ ε and more,
// with ε the rounding unit. Quadruple precision has enough digits for that: in Quad this form is the
// reference of tests and of `verify`.
#pragma once

#include "terrane/physics/gravity/formula/prism.hpp"

namespace terrane::gravity {

/// ln(x + r) for a corner at distance r, at x along an edge's line; d2 = d² = r² − x²: squared distance from
/// that line. For x < 0 it is computed as ln(d²) − ln(r − x), which avoids cancellation. On the line (d = 0)
/// the ln(d²) of the edge's two ends cancel, so they are left out.
template <class T, class Log>
T corner_log(const T& x, const T& r, const T& d2, const Log& log) {
  if (x >= T(0)) return x + r > T(0) ? log(x + r) : T(0);
  return d2 > T(0) ? log(d2 / (r - x)) : -log(r - x);
}

/// log, arctan: the functions of the number type T.  At singular points the affected components are
/// meaningless; on a face's plane the arctangent is 0, the mean of both sides.
template <class T, class Log, class Arctan>
Quantities<T> naive(const RelativePrism<T>& p, const Log& log, const Arctan& arctan) {
  const CornerDistances<T> corner(p);
  Quantities<T> q{};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k) {
        const T x = p.x[i], y = p.y[j], z = p.z[k], r = corner.r[i][j][k];
        const T sign = (i + j + k) % 2 == 0 ? T(-1) : T(1);
        const T lx = sign * corner_log(x, r, y * y + z * z, log);
        const T ly = sign * corner_log(y, r, x * x + z * z, log);
        const T lz = sign * corner_log(z, r, x * x + y * y, log);
        const auto ratio = [&](const T& n, const T& d) { return d == T(0) ? T(0) : sign * arctan(n / d); };
        const T ax = ratio(y * z, x * r), ay = ratio(x * z, y * r), az = ratio(x * y, z * r);
        q.v += x * y * lz + y * z * lx + x * z * ly - (x * x * ax + y * y * ay + z * z * az) / T(2);
        q.e -= y * lz + z * ly - x * ax;
        q.n -= x * lz + z * lx - y * ay;
        q.u -= x * ly + y * lx - z * az;
        q.ee -= ax;
        q.nn -= ay;
        q.uu -= az;
        q.en += lz;
        q.eu += ly;
        q.nu += lx;
      }
  return q;
}

}  // namespace terrane::gravity
