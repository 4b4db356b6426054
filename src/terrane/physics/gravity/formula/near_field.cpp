#include "terrane/physics/gravity/formula/near_field.hpp"

#include <algorithm>

#include "terrane/physics/gravity/formula/edge_face.hpp"
#include "terrane/physics/gravity/formula/multipole.hpp"
#include "terrane/physics/gravity/formula/stable.hpp"

namespace terrane::gravity {

namespace {

void add(Quantities<double>& a, const Quantities<double>& b) {
  a.v += b.v;
  a.e += b.e;
  a.n += b.n;
  a.u += b.u;
  a.ee += b.ee;
  a.nn += b.nn;
  a.uu += b.uu;
  a.en += b.en;
  a.eu += b.eu;
  a.nu += b.nu;
}

/// Both halves of a prism, cut across its longest side.
std::pair<Prism, Prism> halves(const Prism& p) {
  const double lx = p.east - p.west, ly = p.north - p.south, lz = p.top - p.bottom;
  std::pair<Prism, Prism> h{p, p};
  if (lx >= ly && lx >= lz) h.first.east = h.second.west = p.west + 0.5 * lx;
  else if (ly >= lz) h.first.north = h.second.south = p.south + 0.5 * ly;
  else h.first.top = h.second.bottom = p.bottom + 0.5 * lz;
  return h;
}

}  // namespace

Quantities<double> field_of_prism(const Prism& prism, double x, double y, double z,
                                  const Switching& switching) {
  const auto p = relative_to<double>(prism, x, y, z);
  const PrismSwitching limits(switching, p.lx, p.ly, p.lz);
  const double xc = -0.5 * (p.x[0] + p.x[1]), yc = -0.5 * (p.y[0] + p.y[1]), zc = -0.5 * (p.z[0] + p.z[1]);
  const double r2 = xc * xc + yc * yc + zc * zc;
  if (r2 >= limits.multipole2_8) {
    return multipole<8, true>(multipole_coefficients(p.lx, p.ly, p.lz), xc, yc, zc, p.lx * p.ly * p.lz);
  }
  if (r2 >= BeyondThreeSides::from2 * limits.longest * limits.longest)
    return stable<BeyondThreeSides, true>(p);
  const auto outside = [](const double(&f)[2]) { return std::max({f[0], -f[1], 0.0}); };
  const double hx = outside(p.x), hy = outside(p.y), hz = outside(p.z);
  if (hx * hx + hy * hy + hz * hz >= limits.stable_h2) return stable<AnyDistance, true>(p);
  if (!limits.halved) {
    if (!limits.stretched) return edge_face<true>(p);
    const auto q = edge_face<true>(relative_to<Extended>(prism, x, y, z));
    const auto rounded = [](Extended value) { return static_cast<double>(value); };
    return {rounded(q.v),  rounded(q.e),  rounded(q.n),  rounded(q.u),  rounded(q.ee),
            rounded(q.nn), rounded(q.uu), rounded(q.en), rounded(q.eu), rounded(q.nu)};
  }
  const auto [first, second] = halves(prism);
  auto q = field_of_prism(first, x, y, z, switching);
  add(q, field_of_prism(second, x, y, z, switching));
  return q;
}

}  // namespace terrane::gravity
