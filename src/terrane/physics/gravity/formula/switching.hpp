// Which form computes a pair of prism and station, for the accuracy that was requested.
//
// With h the distance to the prism's surface, R to its centre, Lmax and Lmin its longest and shortest side, ε
// the rounding unit of double precision:
//   inside, and outside up to h = reach      near form; for stretched prisms in extended precision; prisms
//                                            with sides beyond 1 : halving_aspect are halved first
//   beyond reach, R < 3 Lmax                 stable form, general functions
//   R ≥ 3 Lmax                               stable form, polynomials
//   R ≥ multipole_from[N] Lmax               multipole of order N = 8, 6, 4, 2
// The error of the stable form is below 0.2 ε (Lmax/h)⁴ + 10 ε for every shape, and up to an aspect of 10
// below 3 ε (Lmax/h)² + 10 ε. Measured errors: docs/theory/gravity.md.
#pragma once

#include <cmath>

#include "terrane/math/extended.hpp"
#include "terrane/math/number.hpp"
#include "terrane/mesh/prism.hpp"

namespace terrane::gravity {

struct Switching {
  /// Up to this aspect (longest over shortest side) the geometric mean of the longest and shortest side is
  /// the better measure of a prism's size.
  static constexpr double compact_aspect = 10;

  double multipole_from[4];  ///< least R / Lmax at which order 2, 4, 6, 8 is accurate enough
  double stable_reach;       ///< the stable form is used for h > stable_reach · Lmax
  double near_aspect;        ///< the near form in double is used for Lmax ≤ near_aspect · Lmin
  double halving_aspect;  ///< the near form in extended precision is used for Lmax ≤ halving_aspect · Lmin
  double shape_tolerance;  ///< prisms whose sides differ by less, relatively, share multipole coefficients
  bool extended;           ///< whether the near form is always computed in extended precision

  /// accuracy: relative, norm-wise, of one pair; from 2e-15 ("best") up.
  static Switching for_accuracy(double accuracy) {
    constexpr double eps = 2.2e-16;
    // [N = 2, 4, 6, 8] The largest relative error of order N over all shapes, directions and quantities is
    // c (Lmax/R)^(N+2); it is that of the gradients.
    constexpr double c[4] = {0.25, 0.1, 0.06, 0.05};
    const double truncation = accuracy <= 1e-14 ? accuracy / 8 : accuracy;
    Switching s{};
    for (int i = 0; i < 4; ++i)
      s.multipole_from[i] = std::fmax(std::pow(c[i] / truncation, 1.0 / (2 * i + 4)), 2.5);
    // The shape only enters as a small correction; and sides between evenly spaced faces, which should be
    // equal, differ in the last bits.
    s.shape_tolerance = std::fmax(accuracy, 1e-13);
    // In double precision each closed form of the prism loses up to 4e-15 between 0.1 and 2 sides from the
    // surface.
    s.extended = accuracy < 1e-14 && extended_is_wider;
    s.stable_reach = s.extended ? 2.0 : std::pow(0.4 * eps / accuracy, 0.25);
    s.near_aspect = std::fmax(compact_aspect, accuracy / (100 * eps));
    // Halving loses digits too: near the middle of a plate the tensors of its pieces nearly cancel. So the
    // pieces should be few. The near form loses about 10 ε (aspect · h/Lmax)².
    const double finer = extended_is_wider ? 0x1p-11 : 1;
    s.halving_aspect = std::fmax(s.near_aspect, std::sqrt(accuracy / (40 * eps * finer)) / s.stable_reach);
    return s;
  }
};

/// The distances from one prism at which the form changes.
struct PrismSwitching {
  double longest;       ///< m
  double multipole2_8;  ///< squared distance from which the multipole of order 8 is used
  double stable_h2;     ///< squared distance to the surface from which the stable form is used
  bool stretched;       ///< whether pairs nearer than stable_h2 are computed one by one (near_field.hpp)
  bool halved;  ///< whether, for pairs nearer than stable_h2, the prism is also halved along its longest side

  TERRANE_FN PrismSwitching(const Switching& s, double lx, double ly, double lz) {
    longest = maximum(lx, maximum(ly, lz));
    const double shortest = minimum(lx, minimum(ly, lz));
    const double far = s.multipole_from[3] * longest, reach = s.stable_reach * longest;
    multipole2_8 = far * far;
    stretched = s.extended || longest > s.near_aspect * shortest;
    halved = longest > s.halving_aspect * shortest;
    const bool by_mean = !s.extended && longest <= Switching::compact_aspect * shortest;
    stable_h2 = by_mean ? 0.25 * longest * shortest : reach * reach;
  }
};

}  // namespace terrane::gravity
