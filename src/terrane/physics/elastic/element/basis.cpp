#include "terrane/physics/elastic/element/basis.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"

namespace terrane::elastic {

namespace {

struct Legendre {
  double value, slope;
};

/// The Legendre polynomial of this degree and its derivative, for |x| < 1; the derivative at ±1 is not
/// needed.
Legendre legendre(int degree, double x) {
  double before = 1, now = x;
  for (int k = 2; k <= degree; ++k) {
    const double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
    before = now;
    now = next;
  }
  const double gap = x * x - 1;
  return {now, gap == 0 ? 0 : degree * (x * now - before) / gap};
}

}  // namespace

Basis::Basis(int of_degree) : degree(of_degree) {
  if (degree < least_degree || degree > most_degree)
    throw InputError("elastic: degree", fmt::format("{} is not offered", degree),
                     fmt::format("Degrees from {} to {} are; 4 is the fastest.", least_degree, most_degree));
  const int n = degree;
  x[0] = -1;
  x[static_cast<std::size_t>(n)] = 1;
  for (int i = 1; i < n; ++i) {
    double at = 2 * i == n ? 0 : -std::cos(std::numbers::pi * i / n);
    for (int iteration = 0; iteration < 20 && 2 * i != n; ++iteration) {  // Newton's method for P'_N = 0
      const auto p = legendre(n, at);
      at -= p.slope * (1 - at * at) / (2 * at * p.slope - n * (n + 1) * p.value);
    }
    x[static_cast<std::size_t>(i)] = at;
  }
  const auto p = [&](std::size_t i) { return legendre(n, x[i]).value; };
  const auto last = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i <= last; ++i) {
    weight[i] = 2 / (n * (n + 1) * p(i) * p(i));
    for (std::size_t j = 0; j <= last; ++j) derivative[i][j] = i == j ? 0 : p(i) / (p(j) * (x[i] - x[j]));
  }
  derivative[0][0] = -n * (n + 1) / 4.0;
  derivative[last][last] = -derivative[0][0];
}

void Basis::at(double t, Row& value, Row& slope) const {
  const auto last = static_cast<std::size_t>(degree);
  for (std::size_t i = 0; i <= last; ++i) {
    value[i] = 1;
    slope[i] = 0;
    for (std::size_t j = 0; j <= last; ++j) {
      if (j == i) continue;
      slope[i] = (slope[i] * (t - x[j]) + value[i]) / (x[i] - x[j]);
      value[i] *= (t - x[j]) / (x[i] - x[j]);
    }
  }
}

}  // namespace terrane::elastic
