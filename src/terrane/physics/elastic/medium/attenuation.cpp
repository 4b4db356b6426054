#include "terrane/physics/elastic/medium/attenuation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "terrane/base/error.hpp"
#include "terrane/model/in_other_words.hpp"

namespace terrane::elastic {

namespace {

constexpr double decades = 1.75;
/// Relaxation frequencies ω_l divided by ω at the middle of the band. These three ratios minimise the largest
/// error of 1/Q over the band if Q is large.
constexpr Mechanisms best_places{0.136724, 1.000765, 7.320069};
constexpr std::size_t solids = mechanisms;

/// M / M_U of attenuation.hpp at the angular frequency `at`. y, omega: Y_l and ω_l.
std::complex<double> relaxed_part(const Mechanisms& y, const Mechanisms& omega, double at) {
  std::complex<double> m = 1;
  for (std::size_t l = 0; l < solids; ++l) m -= y[l] * omega[l] / std::complex<double>(omega[l], at);
  return m;
}

/// Solves a symmetric system for the unknowns whose bits are set in `use`; the other unknowns are zero.
Mechanisms solve(const std::array<Mechanisms, solids>& matrix, const Mechanisms& right, unsigned use) {
  auto a = matrix;
  auto b = right;
  for (std::size_t p = 0; p < solids; ++p)
    for (std::size_t q = 0; q < solids; ++q)
      if (!(use >> p & 1) || !(use >> q & 1)) a[p][q] = p == q ? 1 : 0;
  for (std::size_t p = 0; p < solids; ++p)
    if (!(use >> p & 1)) b[p] = 0;
  for (std::size_t p = 0; p < solids; ++p)
    for (std::size_t q = p + 1; q < solids; ++q) {
      const double factor = a[q][p] / a[p][p];
      for (std::size_t k = p; k < solids; ++k) a[q][k] -= factor * a[p][k];
      b[q] -= factor * b[p];
    }
  for (std::size_t p = solids; p-- > 0;) {
    for (std::size_t k = p + 1; k < solids; ++k) b[p] -= a[p][k] * b[k];
    b[p] /= a[p][p];
  }
  return b;
}

}  // namespace

Mechanisms relaxation(double middle) {
  Mechanisms omega;
  for (std::size_t l = 0; l < solids; ++l) omega[l] = best_places[l] * 2 * std::numbers::pi * middle;
  return omega;
}

double middle_below(double highest) { return highest * std::pow(10, -decades / 2); }

Mechanisms strengths(double quality, double middle) {
  if (std::isinf(quality)) return {};
  const auto omega = relaxation(middle);
  // Least squares for Y_l: Σ_l Y_l (ω_l ω_k + ω_l²/Q) Q / (ω_l² + ω_k²) = 1 at 200 frequencies ω_k
  constexpr int frequencies = 200;
  std::array<Mechanisms, solids> matrix{};
  Mechanisms right{};
  const auto row_at = [&](int k) {
    const double at = 2 * std::numbers::pi * middle * std::pow(10, decades * (k / (frequencies - 1.0) - 0.5));
    Mechanisms row;
    for (std::size_t l = 0; l < solids; ++l)
      row[l] = (omega[l] * at * quality + omega[l] * omega[l]) / (omega[l] * omega[l] + at * at);
    return row;
  };
  for (int k = 0; k < frequencies; ++k) {
    const auto row = row_at(k);
    for (std::size_t p = 0; p < solids; ++p) {
      right[p] += row[p];
      for (std::size_t q = 0; q < solids; ++q) matrix[p][q] += row[p] * row[q];
    }
  }
  Mechanisms best{};
  double least = INFINITY;
  for (unsigned use = 1; use < 1u << solids;
       ++use) {  // tries all subsets of mechanisms, and takes the best solution without negative values
    const auto y = solve(matrix, right, use);
    double misfit = 0;
    for (std::size_t p = 0; p < solids; ++p) {
      if (y[p] < 0) misfit = INFINITY;
      for (std::size_t q = 0; q < solids; ++q) misfit += y[p] * matrix[p][q] * y[q];
      misfit -= 2 * y[p] * right[p];
    }
    if (misfit < least) least = misfit, best = y;
  }
  return best;
}

Medium unrelaxed(const Medium& medium, double middle, double reference, const std::string& where) {
  if (std::isinf(medium.quality_kappa) && std::isinf(medium.quality_mu)) return medium;
  if (!medium.isotropic) {
    const auto before = medium.mean(), after = unrelaxed(before, middle, reference, where);
    auto result = medium;
    result.stiffen(after.kappa() - before.kappa(), after.mu() - before.mu());
    result.taken_kappa = after.taken_kappa;
    result.taken_mu = after.taken_mu;
    return result;
  }
  if (!(medium.quality_kappa > 0) || !(medium.quality_mu > 0))
    throw InputError(where,
                     fmt::format("Q of kappa is {}, Q of mu {}", medium.quality_kappa, medium.quality_mu),
                     "Both are above zero. Q_P may be at most 1 / (4/3 (v_S/v_P)² / Q_S).");
  const auto y_kappa = strengths(medium.quality_kappa, middle), y_mu = strengths(medium.quality_mu, middle);
  for (const auto& y : {y_kappa, y_mu})
    if (y[0] + y[1] + y[2] >= 0.9)
      throw InputError(where, fmt::format("Q of {:.3g} is too low for standard linear solids",
                                          std::min(medium.quality_kappa, medium.quality_mu)));
  const auto omega = relaxation(middle);
  const double at = 2 * std::numbers::pi * reference;
  const auto m_kappa = relaxed_part(y_kappa, omega, at), m_mu = relaxed_part(y_mu, omega, at);
  // The phase speed of a complex modulus M is 1 / Re √(ρ/M).
  const double vs2 = medium.mu() / medium.density,
               vp = std::sqrt((medium.lambda() + 2 * medium.mu()) / medium.density);
  const double mu = medium.density * vs2 * (std::abs(m_mu) + m_mu.real()) / (2 * std::norm(m_mu));
  const auto speed = [&](double kappa) {
    return 1 / std::sqrt(medium.density / (kappa * m_kappa + 4.0 / 3 * mu * m_mu)).real();
  };
  double before = medium.kappa(), now = before * 1.01;
  for (int iteration = 0; iteration < 50 && std::fabs(now - before) > 1e-14 * now;
       ++iteration) {  // secant
                       // iteration
    const double f0 = speed(before) - vp, f1 = speed(now) - vp;
    if (f1 == f0) break;
    const double next = now - f1 * (now - before) / (f1 - f0);
    before = now;
    now = next;
  }
  auto result = Medium::from_speeds(std::sqrt((now + 4.0 / 3 * mu) / medium.density),
                                    std::sqrt(mu / medium.density), medium.density);
  result.name = medium.name;
  result.quality_kappa = medium.quality_kappa;
  result.quality_mu = medium.quality_mu;
  for (std::size_t l = 0; l < solids; ++l) {
    result.taken_kappa[l] = now * y_kappa[l];
    result.taken_mu[l] = mu * y_mu[l];
  }
  return result;
}

Medium elastic_at(const Medium& medium, double frequency, double middle) {
  if (!medium.loses_energy()) return medium;
  const auto omegas = relaxation(middle);
  const double omega = 2 * std::numbers::pi * frequency;
  double kappa = 0, mu = 0;
  for (std::size_t l = 0; l < mechanisms; ++l) {
    const double relaxed = omegas[l] * omegas[l] / (omegas[l] * omegas[l] + omega * omega);
    mu -= medium.taken_mu[l] * relaxed;
    kappa -= medium.taken_kappa[l] * relaxed;
  }
  auto result = medium;
  result.stiffen(kappa, mu);
  result.taken_kappa = result.taken_mu = {};
  result.quality_kappa = result.quality_mu = INFINITY;
  return result;
}

double quality_kappa(double quality_p, double quality_s, double velocity_p, double velocity_s) {
  return quality_of_bulk(quality_p, quality_s, velocity_p, velocity_s);
}

}  // namespace terrane::elastic
