// Potential of an electrode in uneven ground. Around an electrode at the surface, the surface is approximated
// by a cone with the electrode at its tip, whose rays end on the surface around it; above a buried electrode,
// by a plane. Both potentials have a closed form: current flows along the rays of a cone, and a plane has an
// image.
//
//   at the tip   φ = 1/(Ω σ r)              Ω the solid angle of the ground, 2π on a plane
//   buried       φ = 1/(4πσ) (1/r + 1/r')   r' from the image in the plane
//
// φ: potential of 1 A, V; σ: conductivity; r: distance from the electrode.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "terrane/physics/electric/formula/half_space.hpp"

namespace terrane::electric {

struct Slope {
  static constexpr std::size_t rays = 48;

  Point tip;                      ///< tip of the cone of rays, on the surface
  std::array<double, rays> rise;  ///< slope of the surface along rays, m/m; the first ray points east, the
                                  ///< others follow anticlockwise
  Point electrode;
  bool buried = false;
  std::array<double, 2> gradient{};  ///< gradient of the plane above a buried electrode
  double solid_angle = 2 * std::numbers::pi;

  /// of_rays: slopes of the true surface, [rays]; level: height of the surface at the electrode, m; least: an
  /// electrode less deep than this counts as at the surface, m
  Slope(const Point& at, double level, const double* of_rays, double least) : tip(at), electrode(at) {
    for (std::size_t n = 0; n < rays; ++n) {
      rise[n] = of_rays[n];
      gradient[0] += 2.0 / rays * rise[n] * std::cos(angle(n));
      gradient[1] += 2.0 / rays * rise[n] * std::sin(angle(n));
    }
    buried = level - at.u > least;
    if (buried) {
      tip.u = level;
      for (std::size_t n = 0; n < rays; ++n)
        rise[n] = gradient[0] * std::cos(angle(n)) + gradient[1] * std::sin(angle(n));
    } else {
      solid_angle = 0;
      for (std::size_t n = 0; n < rays; ++n) solid_angle += below(n, (n + 1) % rays);
    }
  }

  static double angle(std::size_t ray) { return 2 * std::numbers::pi * static_cast<double>(ray) / rays; }

  double height(double easting, double northing) const {
    const double e = easting - tip.e, n = northing - tip.n, r = std::hypot(e, n);
    if (r == 0) return tip.u;
    double turn = std::atan2(n, e) / (2 * std::numbers::pi);
    if (turn < 0) turn += 1;
    const double ray = turn * rays;
    const auto first = static_cast<std::size_t>(ray) % rays;
    const double part = ray - std::floor(ray);
    return tip.u + r * ((1 - part) * rise[first] + part * rise[(first + 1) % rays]);
  }
  /// σ φ of 1 A, 1/m; infinite at the electrode.
  double potential(const Point& p) const {
    const double r = distance(electrode, p);
    return buried ? (1 / r + 1 / distance(image(), p)) / (4 * std::numbers::pi) : 1 / (solid_angle * r);
  }
  /// σ E for 1 A, along easting, northing, up, 1/m²; zero at the electrode.
  std::array<double, 3> field(const Point& p) const {
    std::array<double, 3> e{};
    const auto add = [&](const Point& from, double whole) {
      const double r = distance(from, p), d[3] = {p.e - from.e, p.n - from.n, p.u - from.u};
      for (std::size_t a = 0; a < 3 && r > 0; ++a) e[a] += d[a] / (whole * r * r * r);
    };
    add(electrode, buried ? 4 * std::numbers::pi : solid_angle);
    if (buried) add(image(), 4 * std::numbers::pi);
    return e;
  }

 private:
  Point image() const {
    const double scale =
        2 * (tip.u - electrode.u) / (1 + gradient[0] * gradient[0] + gradient[1] * gradient[1]);
    return {electrode.e - scale * gradient[0], electrode.n - scale * gradient[1], electrode.u + scale};
  }
  /// Solid angle of the triangle between two rays and the downward vertical (van Oosterom & Strackee 1983).
  double below(std::size_t one, std::size_t other) const {
    const auto ray = [&](std::size_t n) {
      const double length = std::hypot(1, rise[n]);
      return std::array{std::cos(angle(n)) / length, std::sin(angle(n)) / length, rise[n] / length};
    };
    const auto a = ray(one), b = ray(other);
    const double volume = a[0] * b[1] - a[1] * b[0];  // triple product of a, b and (0, 0, −1)
    return 2 * std::atan2(volume, 1 + a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - a[2] - b[2]);
  }
};

}  // namespace terrane::electric
