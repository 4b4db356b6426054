#include "terrane/physics/acoustic/formula/time_dispersion.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::acoustic {

namespace {

/// out[n] = Σ_m W(n, m) in[m],  W(n, m) = (1/N) Σ_k cos(ω_k n − ω'_k m),  N = 4 × samples frequencies.
/// One frequency at a time: a spectrum of all traces, then its part of all samples.
void apply(std::vector<double>& traces, std::size_t samples, Dispersion way, bool transposed, int threads) {
  if (samples == 0 || traces.empty()) return;
  const std::size_t count = traces.size() / samples, padded = 4 * samples;
  constexpr std::size_t together = 64;  // traces of one task
  const std::size_t tasks = (count + together - 1) / together;
  std::vector<double> out(traces.size(), 0.0);
  for_each(tasks, threads, [&](std::size_t task) {
    const std::size_t first = task * together, last = std::min(first + together, count), width = last - first;
    std::vector<double> real(width), imaginary(width);
    for (std::size_t k = 0; 2 * k <= padded; ++k) {
      const double w = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(padded);
      double warped = 2 * std::sin(w / 2);  // Δt = 1
      if (way == Dispersion::take_out) {
        if (w >= 2) break;
        warped = 2 * std::asin(w / 2);
      }
      const double from = transposed ? w : warped, to = transposed ? warped : w;
      const double weight = (k == 0 || 2 * k == padded ? 1.0 : 2.0) / static_cast<double>(padded);
      std::fill(real.begin(), real.end(), 0.0);
      std::fill(imaginary.begin(), imaginary.end(), 0.0);
      for (std::size_t m = 0; m < samples; ++m) {
        const double c = std::cos(from * static_cast<double>(m)), s = std::sin(from * static_cast<double>(m));
        const double* const in = &traces[m * count + first];
        for (std::size_t t = 0; t < width; ++t) {
          real[t] += c * in[t];
          imaginary[t] -= s * in[t];
        }
      }
      for (std::size_t n = 0; n < samples; ++n) {
        const double c = weight * std::cos(to * static_cast<double>(n)),
                     s = weight * std::sin(to * static_cast<double>(n));
        double* const there = &out[n * count + first];
        for (std::size_t t = 0; t < width; ++t) there[t] += c * real[t] - s * imaginary[t];
      }
    }
  });
  traces = std::move(out);
}

}  // namespace

void warp(std::vector<double>& traces, std::size_t samples, Dispersion way, int threads) {
  apply(traces, samples, way, false, threads);
}

void warp_transposed(std::vector<double>& traces, std::size_t samples, Dispersion way, int threads) {
  apply(traces, samples, way, true, threads);
}

}  // namespace terrane::acoustic
