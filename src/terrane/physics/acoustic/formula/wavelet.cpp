#include "terrane/physics/acoustic/formula/wavelet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "terrane/base/error.hpp"

namespace terrane::acoustic {

namespace {

using std::numbers::pi;
constexpr double gamma = 4;  // of Gabor: four periods between the points where the envelope is e^{−π²/4}

double sinc(double x) { return std::abs(x) < 1e-12 ? 1.0 : std::sin(pi * x) / (pi * x); }

double ricker(double f, double t) {
  const double a = pi * f * t * pi * f * t;
  return (1 - 2 * a) * std::exp(-a);
}

double ormsby(const std::array<double, 4>& f, double t) {
  const auto part = [&](std::size_t n) { return f[n] * f[n] * sinc(f[n] * t) * sinc(f[n] * t); };
  return ((part(3) - part(2)) / (f[3] - f[2]) - (part(1) - part(0)) / (f[1] - f[0])) /
         (f[3] + f[2] - f[1] - f[0]);
}

double gabor(double f, double t) {
  const double a = 2 * pi * f * t / gamma;
  return std::exp(-a * a) * std::cos(2 * pi * f * t);
}

/// Amplitude of the spectrum of samples at even frequencies up to that of Nyquist.
std::vector<double> spectrum(const std::vector<double>& samples) {
  constexpr std::size_t frequencies = 512;
  std::vector<double> all;
  for (std::size_t k = 0; k <= frequencies; ++k) {
    std::complex<double> sum = 0;
    const double w = pi * static_cast<double>(k) / frequencies;
    for (std::size_t n = 0; n < samples.size(); ++n)
      sum += samples[n] * std::polar(1.0, -w * static_cast<double>(n));
    all.push_back(std::abs(sum));
  }
  return all;
}

}  // namespace

void Wavelet::check() const {
  const auto wrong = [](std::string problem, std::string next) {
    throw InputError("acoustic: wavelet", std::move(problem), std::move(next));
  };
  if (!std::isfinite(amplitude))
    wrong(fmt::format("its amplitude is {}", amplitude), "Give a finite number.");
  if (kind == WaveletKind::samples) {
    if (samples.empty() || !(sample_step > 0)) wrong("it has no samples, or no time between them", "");
    for (std::size_t n = 0; n < samples.size(); ++n)
      if (!std::isfinite(samples[n])) wrong(fmt::format("sample {} is {}", n + 1, samples[n]), "");
    if (std::all_of(samples.begin(), samples.end(), [](double s) { return s == 0; }))
      wrong("all samples are zero", "");
  } else if (kind == WaveletKind::ormsby) {
    if (!(corners[0] >= 0 && corners[0] < corners[1] && corners[1] < corners[2] && corners[2] < corners[3]))
      wrong(fmt::format("corners {}, {}, {}, {} Hz", corners[0], corners[1], corners[2], corners[3]),
            "Four frequencies that ascend.");
  } else if (!(frequency > 0) || !std::isfinite(frequency)) {
    wrong(fmt::format("its frequency is {} Hz", frequency), "It must be more than zero.");
  }
}

double Wavelet::start() const {
  if (delay >= 0 || kind == WaveletKind::samples) return std::max(delay, 0.0);
  if (kind == WaveletKind::ormsby) return 4 / (corners[1] - corners[0]);
  return (kind == WaveletKind::gabor ? 0.75 * gamma : 1.5) / frequency;
}

double Wavelet::highest_frequency() const {
  if (kind == WaveletKind::ricker) return 2.5 * frequency;
  if (kind == WaveletKind::gabor) return 1.7 * frequency;
  if (kind == WaveletKind::ormsby) return corners[3];
  const auto all = spectrum(samples);
  const double most = *std::max_element(all.begin(), all.end());
  std::size_t last = all.size();
  while (last > 1 && all[last - 1] < 0.03 * most) --last;
  return 0.5 / sample_step * static_cast<double>(last - 1) / static_cast<double>(all.size() - 1);
}

double Wavelet::main_frequency() const {
  if (kind == WaveletKind::ormsby) return (corners[1] + corners[2]) / 2;
  if (kind != WaveletKind::samples) return frequency;
  const auto all = spectrum(samples);
  const auto at = static_cast<std::size_t>(std::max_element(all.begin(), all.end()) - all.begin());
  return 0.5 / sample_step * static_cast<double>(std::max<std::size_t>(at, 1)) /
         static_cast<double>(all.size() - 1);
}

std::vector<double> Wavelet::at(double step, std::size_t count) const {
  std::vector<double> values(count);
  for (std::size_t n = 0; n < count; ++n) {
    const double t = static_cast<double>(n) * step - start();
    double& value = values[n];
    if (kind == WaveletKind::ricker) value = ricker(frequency, t);
    else if (kind == WaveletKind::ormsby) value = ormsby(corners, t);
    else if (kind == WaveletKind::gabor) value = gabor(frequency, t);
    else
      for (std::size_t m = 0; m < samples.size(); ++m)
        value += samples[m] * sinc(t / sample_step - static_cast<double>(m));
    value *= amplitude;
  }
  return values;
}

}  // namespace terrane::acoustic
