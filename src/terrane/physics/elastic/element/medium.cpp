#include "terrane/physics/elastic/element/medium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"

namespace terrane::elastic {

namespace {

/// Voigt index of a pair of axes.
constexpr std::size_t voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};

constexpr double r2 = 0.70710678118654752, r3 = 0.57735026918962576;
constexpr std::array<std::array<double, 3>, 9> sampled_directions{{{1, 0, 0},
                                                                   {0, 1, 0},
                                                                   {0, 0, 1},
                                                                   {r2, r2, 0},
                                                                   {r2, 0, r2},
                                                                   {0, r2, r2},
                                                                   {r3, r3, r3},
                                                                   {r3, -r3, r3},
                                                                   {r3, r3, -r3}}};

}  // namespace

template <std::size_t n>
std::array<double, n> eigenvalues(std::array<std::array<double, n>, n> a) {
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0, all = 0;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = 0; q < n; ++q) (p == q ? all : off) += a[p][q] * a[p][q];
    if (off <= 1e-30 * all) break;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]), c = std::cos(angle),
                     s = std::sin(angle);
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp - s * kq;
          a[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = a[p][k], qk = a[q][k];
          a[p][k] = c * pk - s * qk;
          a[q][k] = s * pk + c * qk;
        }
      }
  }
  std::array<double, n> values;
  for (std::size_t p = 0; p < n; ++p) values[p] = a[p][p];
  std::sort(values.begin(), values.end());
  return values;
}
template std::array<double, 3> eigenvalues(std::array<std::array<double, 3>, 3>);
template std::array<double, 6> eigenvalues(std::array<std::array<double, 6>, 6>);

Medium Medium::from_speeds(double velocity_p, double velocity_s, double density) {
  Medium m;
  m.density = density;
  const double mu = density * velocity_s * velocity_s, lambda = density * velocity_p * velocity_p - 2 * mu;
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t q = 0; q < 3; ++q) m.stiffness[p][q] = p == q ? lambda + 2 * mu : lambda;
    m.stiffness[p + 3][p + 3] = mu;
  }
  return m;
}

Medium Medium::from_stiffness(const Stiffness& stiffness, double density) {
  Medium m;
  m.density = density;
  m.stiffness = stiffness;
  m.isotropic = false;
  return m;
}

std::array<double, 3> Medium::speeds(const std::array<double, 3>& n) const {
  std::array<std::array<double, 3>, 3> christoffel{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t l = 0; l < 3; ++l)
          christoffel[i][k] += stiffness[voigt[i][j]][voigt[k][l]] * n[j] * n[l];
  const auto squares = eigenvalues(christoffel);
  const auto speed = [&](double square) { return std::sqrt(std::max(square, 0.0) / density); };
  return {speed(squares[2]), speed(squares[1]), speed(squares[0])};
}

double Medium::fastest() const {
  double most = 0;
  for (const auto& n : sampled_directions) most = std::max(most, speeds(n)[0]);
  return most;
}

Medium Medium::mean() const {
  double diagonal = 0, across = 0, shear = 0;
  for (std::size_t p = 0; p < 3; ++p) {
    diagonal += stiffness[p][p];
    across += stiffness[p][(p + 1) % 3];
    shear += stiffness[p + 3][p + 3];
  }
  const double kappa = (diagonal + 2 * across) / 9, mu = (diagonal - across + 3 * shear) / 15;
  Medium medium = *this;
  medium.stiffness =
      from_speeds(std::sqrt((kappa + 4.0 / 3 * mu) / density), std::sqrt(mu / density), density).stiffness;
  medium.isotropic = true;
  return medium;
}

Medium Medium::with(const PointRock& rock) const {
  const auto [of_density, of_lambda, of_mu] = rock;
  Medium medium = *this;
  medium.density = of_density;
  medium.isotropic = true;
  medium.stiffness = {};
  medium.stiffen(of_lambda + 2.0 / 3 * of_mu, of_mu);
  return medium;
}

void Medium::stiffen(double kappa, double mu) {
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t q = 0; q < 3; ++q) stiffness[p][q] += kappa + (p == q ? 4.0 / 3 : -2.0 / 3) * mu;
    stiffness[p + 3][p + 3] += mu;
  }
}

double Medium::slowest() const {
  if (is_fluid()) return speeds({0, 0, 1})[0];
  double least = INFINITY;
  for (const auto& n : sampled_directions) least = std::min(least, speeds(n)[2]);
  return least;
}

void Medium::check(const std::string& where) const {
  if (!(density > 0) || !std::isfinite(density))
    throw InputError(where, fmt::format("the density is {} kg/m3", density), "It must be more than zero.");
  for (std::size_t p = 0; p < 6; ++p)
    for (std::size_t q = 0; q < 6; ++q) {
      if (!std::isfinite(stiffness[p][q]))
        throw InputError(where, "speeds or stiffness are no finite numbers");
      if (stiffness[p][q] != stiffness[q][p])
        throw InputError(where, fmt::format("C{0}{1} and C{1}{0} differ", p + 1, q + 1),
                         "A stiffness is symmetric: 21 constants.");
    }
  if (is_fluid() && lambda() > 0) {
    if (std::isfinite(quality_kappa) || std::isfinite(quality_mu))
      throw InputError(where, "a fluid with a Q is not offered", "Leave the Q of the fluid out.");
    return;
  }
  const auto values = eigenvalues(stiffness);
  if (!(values[0] > 1e-12 * values[5]))
    throw InputError(where,
                     isotropic
                         ? fmt::format("v_P {:.6g} m/s and v_S {:.6g} m/s cannot be",
                                       std::sqrt(stiffness[0][0] / density), std::sqrt(mu() / density))
                         : fmt::format("the stiffness is not positive definite: its lowest eigenvalue is "
                                       "{:.3g} Pa",
                                       values[0]),
                     isotropic ? "v_S must be zero (a fluid), or more and less than v_P times 0.866."
                               : "Every strain must cost energy; look for a wrong sign or unit.");
}

Stiffness vertical_axis(const Thomsen& r, double density) {
  Stiffness c{};
  const double c33 = density * r.velocity_p * r.velocity_p, c44 = density * r.velocity_s * r.velocity_s,
               gap = c33 - c44, inside = 2 * r.delta * c33 * gap + gap * gap;
  if (inside < 0)
    throw InputError("elastic: Thomsen's delta", fmt::format("{} is too low for these speeds", r.delta));
  c[2][2] = c33;
  c[3][3] = c[4][4] = c44;
  c[0][0] = c[1][1] = c33 * (1 + 2 * r.epsilon);
  c[5][5] = c44 * (1 + 2 * r.gamma);
  c[0][2] = c[2][0] = c[1][2] = c[2][1] = std::sqrt(inside) - c44;
  c[0][1] = c[1][0] = c[0][0] - 2 * c[5][5];
  return c;
}

Stiffness tilted(const Stiffness& c, double tilt, double azimuth) {
  const double t = tilt * std::numbers::pi / 180, a = azimuth * std::numbers::pi / 180;
  const double ct = std::cos(t), st = std::sin(t), ca = std::cos(a), sa = std::sin(a);
  // The rotation Rz(azimuth) Ry(tilt) turns the vertical into the axis.
  const double r[3][3] = {{ca * ct, -sa, ca * st}, {sa * ct, ca, sa * st}, {-st, 0, ct}};
  constexpr std::size_t pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
  Stiffness bond{}, half{}, turned{};
  for (std::size_t p = 0; p < 6; ++p)
    for (std::size_t q = 0; q < 6; ++q) {
      const auto i = pair[p][0], j = pair[p][1], k = pair[q][0], l = pair[q][1];
      bond[p][q] = r[i][k] * r[j][l] + (k != l ? r[i][l] * r[j][k] : 0);
    }
  for (std::size_t p = 0; p < 6; ++p)
    for (std::size_t q = 0; q < 6; ++q)
      for (std::size_t k = 0; k < 6; ++k) half[p][q] += bond[p][k] * c[k][q];
  for (std::size_t p = 0; p < 6; ++p)
    for (std::size_t q = 0; q < 6; ++q) {
      for (std::size_t k = 0; k < 6; ++k) turned[p][q] += half[p][k] * bond[q][k];
    }
  for (std::size_t p = 0; p < 6; ++p)
    for (std::size_t q = 0; q < p; ++q) turned[p][q] = turned[q][p] = 0.5 * (turned[p][q] + turned[q][p]);
  return turned;
}

}  // namespace terrane::elastic
