#include "terrane/physics/gravity/normal_gravity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "terrane/base/error.hpp"

namespace terrane::gravity {

namespace {

// The closed forms of q and q' subtract numbers near one that agree to three digits for the Earth; their
// series in E/u keep every digit and converge fast (E/u < 0.09).

/// q(u) = ½ [(1 + 3u²/E²) atan(E/u) − 3u/E] = 2 Σ (−1)ⁿ⁺¹ n / ((2n+1)(2n+3)) (E/u)²ⁿ⁺¹
double q_series(double e_over_u) {
  const double x2 = e_over_u * e_over_u;
  double sum = 0, power = e_over_u;
  for (int n = 1; n <= 60; ++n) {
    power *= n == 1 ? x2 : -x2;
    const double term = 2 * power * n / ((2 * n + 1) * (2 * n + 3));
    sum += term;
    if (std::fabs(term) <= 1e-18 * std::fabs(sum)) break;
  }
  return sum;
}

/// q'(u) = 3 (1 + u²/E²)(1 − u/E atan(E/u)) − 1 = 6 Σ (−1)ⁿ⁺¹ / ((2n+1)(2n+3)) (E/u)²ⁿ
double q_prime_series(double e_over_u) {
  const double x2 = e_over_u * e_over_u;
  double sum = 0, power = -1;
  for (int n = 1; n <= 60; ++n) {
    power *= -x2;
    const double term = 6 * power / ((2 * n + 1) * (2 * n + 3));
    sum += term;
    if (std::fabs(term) <= 1e-18 * std::fabs(sum)) break;
  }
  return sum;
}

struct Constants {
  double a, b, e2, gm, omega2, q0;
  explicit Constants(const ReferenceEllipsoid& ellipsoid)
      : a(ellipsoid.semimajor_axis),
        b(a * (1 - ellipsoid.flattening)),
        e2(a * a * ellipsoid.flattening * (2 - ellipsoid.flattening)),
        gm(ellipsoid.geocentric_gravitational_constant),
        omega2(ellipsoid.angular_velocity * ellipsoid.angular_velocity),
        q0(q_series(std::sqrt(e2) / b)) {}
};

double normal_gravity_at(double latitude, double height, const Constants& c) {
  const double phi = latitude * (pi / 180), sin_phi = std::sin(phi), cos_phi = std::cos(phi);
  // Distance from the axis and from the equator's plane; n: radius of curvature in the prime vertical.
  const double n = c.a * c.a / std::hypot(c.a * cos_phi, c.b * sin_phi);
  const double r = (n + height) * cos_phi;
  const double z = (n * (c.b * c.b) / (c.a * c.a) + height) * sin_phi;
  // Ellipsoidal coordinates: u² is the larger root of u⁴ − (r² + z² − E²) u² − E² z² = 0; no term cancels.
  const double s = r * r + z * z - c.e2;
  const double u2 = 0.5 * (s + std::sqrt(s * s + 4 * c.e2 * z * z));
  const double u = std::sqrt(u2), linear = std::sqrt(c.e2);
  const double sin2_beta = z * z / u2, cos2_beta = r * r / (u2 + c.e2);
  const double w = std::sqrt((u2 + c.e2 * sin2_beta) / (u2 + c.e2));
  const double attraction = c.gm / (u2 + c.e2);
  const double flattening_term = c.omega2 * c.a * c.a * linear / (u2 + c.e2) * q_prime_series(linear / u) /
                                 c.q0 * (0.5 * sin2_beta - 1.0 / 6);
  const double rotation = c.omega2 * u * cos2_beta;
  const double along_u = (attraction + flattening_term - rotation) / w;
  const double along_beta = c.omega2 * std::sqrt(sin2_beta * cos2_beta / (u2 + c.e2)) / w *
                            (c.a * c.a * q_series(linear / u) / c.q0 - (u2 + c.e2));
  return std::hypot(along_u, along_beta);
}

}  // namespace

const ReferenceEllipsoid& ellipsoid_from_name(std::string_view wanted) {
  std::string folded(wanted);
  std::transform(folded.begin(), folded.end(), folded.begin(),
                 [](unsigned char ch) { return static_cast<char>(std::toupper(ch)); });
  if (folded == wgs84.name) return wgs84;
  if (folded == grs80.name) return grs80;
  throw InputError("ellipsoid", fmt::format("\"{}\" is not an ellipsoid known here", wanted),
                   "Allowed: WGS84, GRS80.");
}

double normal_gravity(double latitude, double height, const ReferenceEllipsoid& ellipsoid) {
  return normal_gravity_at(latitude, height, Constants(ellipsoid));
}

std::vector<double> normal_gravity(std::span<const double> latitude, std::span<const double> height,
                                   const ReferenceEllipsoid& ellipsoid) {
  if (latitude.size() != height.size())
    throw ShapeError("normal gravity",
                     fmt::format("{} latitudes but {} heights", latitude.size(), height.size()),
                     "Give one of each per station.");
  const Constants constants(ellipsoid);
  std::vector<double> gamma(latitude.size());
  for (std::size_t n = 0; n < gamma.size(); ++n) {
    if (!(std::fabs(latitude[n]) <= 90) || !std::isfinite(height[n]))
      throw InputError(
          "normal gravity", fmt::format("row {}: latitude {}, height {}", n + 1, latitude[n], height[n]),
          "Latitudes lie from -90 to 90 degrees, heights are finite metres above the ellipsoid.");
    gamma[n] = normal_gravity_at(latitude[n], height[n], constants);
  }
  return gamma;
}

std::vector<double> gravity_disturbance(std::span<const double> observed, std::span<const double> latitude,
                                        std::span<const double> height, const ReferenceEllipsoid& ellipsoid) {
  if (observed.size() != latitude.size())
    throw ShapeError("gravity disturbance",
                     fmt::format("{} observations but {} latitudes", observed.size(), latitude.size()),
                     "Give one of each per station.");
  auto disturbance = normal_gravity(latitude, height, ellipsoid);
  for (std::size_t n = 0; n < observed.size(); ++n) disturbance[n] = observed[n] - disturbance[n];
  return disturbance;
}

double infinite_slab(double thickness, double density, double gravitational_constant) {
  return 2 * pi * gravitational_constant * density * thickness;
}

}  // namespace terrane::gravity
