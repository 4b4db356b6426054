#include "terrane/physics/acoustic/formula/time_integral.hpp"

#include <algorithm>
#include <array>

namespace terrane::acoustic {

namespace {

/// c_j for order 2, 4, 6, 8: [order / 2 − 1][j]. The coefficients integrate, between the middle two samples,
/// the polynomial through as many samples as the order.
constexpr std::array<std::array<double, 4>, 4> weights{
    {{1.0 / 2},
     {13.0 / 24, -1.0 / 24},
     {802.0 / 1440, -93.0 / 1440, 11.0 / 1440},
     {68323.0 / 120960, -9531.0 / 120960, 1879.0 / 120960, -191.0 / 120960}}};

/// Weights of the integral from sample n to the next: those of the highest order for which enough samples
/// follow.
const std::array<double, 4>& weights_after(std::size_t n, std::size_t samples) {
  return weights[std::min<std::size_t>(samples - 1 - n, 4) - 1];
}

}  // namespace

void integrate(std::vector<double>& traces, std::size_t samples, std::size_t first, std::size_t last,
               double step) {
  if (samples == 0) return;
  const std::size_t count = traces.size() / samples;
  std::vector<double> of(samples);
  for (std::size_t t = first; t < last; ++t) {
    for (std::size_t n = 0; n < samples; ++n) of[n] = traces[n * count + t];
    double sum = 0;
    for (std::size_t n = 0; n < samples; ++n) {
      traces[n * count + t] = step * sum;
      if (n + 1 == samples) break;
      const auto& c = weights_after(n, samples);
      for (std::size_t j = 0; j < c.size(); ++j)
        if (c[j] != 0) sum += c[j] * ((n >= j ? of[n - j] : 0) + of[n + 1 + j]);
    }
  }
}

void integrate_transposed(std::vector<double>& traces, std::size_t samples, std::size_t first,
                          std::size_t last, double step) {
  if (samples == 0) return;
  const std::size_t count = traces.size() / samples;
  std::vector<double> to(samples);
  for (std::size_t t = first; t < last; ++t) {
    std::fill(to.begin(), to.end(), 0.0);
    double sum = 0;  // sum of all samples after n
    for (std::size_t n = samples - 1; n-- > 0;) {
      sum += traces[(n + 1) * count + t];
      const auto& c = weights_after(n, samples);
      for (std::size_t j = 0; j < c.size(); ++j) {
        if (c[j] == 0) continue;
        if (n >= j) to[n - j] += c[j] * sum;
        to[n + 1 + j] += c[j] * sum;
      }
    }
    for (std::size_t n = 0; n < samples; ++n) traces[n * count + t] = step * to[n];
  }
}

}  // namespace terrane::acoustic
