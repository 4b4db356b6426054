// Which form serves a pair of prism and station, for the accuracy that was asked for.
//
// With h the distance to the prism's surface, R to its centre, Lmax and Lmin its longest and shortest side:
//   inside, and outside up to h = reach      near form; sides longer than 1 : aspect are halved first
//   beyond reach, R < 2.5 Lmax               stable form, general functions
//   R ≥ 2.5 Lmax                             stable form, polynomials
//   R ≥ multipole_from[N] Lmax               multipole of order N = 8, 6, 4, 2
// Measured errors: docs/theory/gravity.md.
#pragma once

#include <cmath>

#include "terrane/mesh/prism.hpp"

namespace terrane::gravity {

struct Switching {
  double multipole_from[4];  ///< R / Lmax from which order 2, 4, 6, 8 is accurate enough
  double stable_reach;       ///< the stable form serves h > stable_reach · Lmax whatever the aspect
  double near_aspect;        ///< the near form serves Lmax ≤ near_aspect · Lmin

  /// accuracy: relative, norm-wise, of one pair; from 2e-15 ("best") up.
  static Switching for_accuracy(double accuracy) {
    constexpr double eps = 2.2e-16;
    // Largest error over shapes and directions is c (Lmax/R)^(N+2), largest for the gradients.
    constexpr double c[4] = {0.25, 0.09, 0.06, 0.05};
    const double truncation = accuracy <= 1e-14 ? accuracy / 8 : accuracy;
    Switching s{};
    for (int i = 0; i < 4; ++i)
      s.multipole_from[i] = std::fmax(std::pow(c[i] / truncation, 1.0 / (2 * i + 4)), 2.5);
    s.stable_reach = std::fmin(0.16, std::sqrt(0.2 * eps / (accuracy / 100)));
    s.near_aspect = std::fmax(10.0, accuracy / (100 * eps));
    return s;
  }
};

/// The switching of one prism.
struct PrismSwitching {
  double longest;       ///< m
  double multipole2_8;  ///< squared distance from which the multipole of order 8 serves
  double stable_h2;     ///< squared distance to the surface from which the stable form serves
  bool stretched;       ///< nearer than that the prism is halved along its longest side

  PrismSwitching(const Switching& s, double lx, double ly, double lz) {
    longest = std::fmax(lx, std::fmax(ly, lz));
    const double shortest = std::fmin(lx, std::fmin(ly, lz));
    const double far = s.multipole_from[3] * longest;
    multipole2_8 = far * far;
    stretched = longest > s.near_aspect * shortest;
    const double reach = s.stable_reach * longest;
    // Up to an aspect of about 10 the geometric mean of the sides is the better measure.
    stable_h2 = std::fmax(reach * reach, longest <= 10 * shortest ? 0.25 * longest * shortest : 0.0);
  }
};

}  // namespace terrane::gravity
