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
constexpr double gamma = 4;  // γ of Gabor: four periods between the points where the envelope is e^{−π²}

constexpr double most_amplitude = 1e15;  // squares of pressures must fit into single precision

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

/// The value of a Ricker, Ormsby or Gabor wavelet.  t: time from its middle
double of_formula(const Wavelet& w, double t) {
  if (w.kind == WaveletKind::ormsby) return w.amplitude * ormsby(w.corners, t);
  return w.amplitude * (w.kind == WaveletKind::gabor ? gabor(w.frequency, t) : ricker(w.frequency, t));
}

/// The amplitude spectrum of samples at evenly spaced frequencies up to Nyquist's. At these frequencies
/// e^{−iωn} is periodic in n with the length 2 × frequencies: samples one period apart are added first.
std::vector<double> spectrum(const std::vector<double>& samples) {
  constexpr std::size_t frequencies = 512, period = 2 * frequencies;
  std::vector<double> folded(period, 0.0), all;
  for (std::size_t n = 0; n < samples.size(); ++n) folded[n % period] += samples[n];
  std::vector<std::complex<double>> turns;
  for (std::size_t n = 0; n < period; ++n)
    turns.push_back(std::polar(1.0, -pi * static_cast<double>(n) / frequencies));
  for (std::size_t k = 0; k <= frequencies; ++k) {
    std::complex<double> sum = 0;
    for (std::size_t n = 0; n < period; ++n) sum += folded[n] * turns[k * n % period];
    all.push_back(std::abs(sum));
  }
  return all;
}

/// Σ_m s_m sinc(x − m) = s_c sinc δ + (−1)^c sin(πδ)/π Σ_{m ≠ c} (−1)^m s_m / (x − m),  x = c + δ, |δ| ≤ ½.
/// Blocks of B samples far from x are summed by an expansion about their middles b, a_m = (−1)^m s_m:
///
///   Σ a_m / (x − m) = Σ_{k < terms} Σ a_m (m − b)^k / (x − b)^{k + 1},  |x − b| ≥ 2B
///
/// As |m − b| ≤ B/2, each term is at most a quarter of the preceding one: the error is 4^{−terms}, 1e-15, of
/// Σ |a_m|.
class SincSum {
 public:
  explicit SincSum(std::vector<double> given) : samples_(std::move(given)) {
    const auto& samples = samples_;
    for (std::size_t first = 0; first < samples.size(); first += block) {
      auto& moments = moments_.emplace_back();
      for (std::size_t m = first; m < std::min(first + block, samples.size()); ++m) {
        double term = alternating(m);
        for (double& moment : moments) {
          moment += term;
          term *= static_cast<double>(m) - middle(moments_.size() - 1);
        }
      }
    }
  }
  double at(double x) const {
    const double nearest = std::round(x), delta = x - nearest, last = static_cast<double>(samples_.size());
    double sum = 0;
    for (std::size_t b = 0; b < moments_.size(); ++b) sum += of_block(b, nearest, delta);
    const bool even = std::fmod(nearest, 2) == 0;
    const double value = (even ? 1 : -1) * std::sin(pi * delta) / pi * sum;
    if (nearest < 0 || nearest >= last) return value;
    return samples_[static_cast<std::size_t>(nearest)] * sinc(delta) + value;
  }

 private:
  static constexpr std::size_t block = 256, terms = 25;
  static double middle(std::size_t b) { return (static_cast<double>(b) + 0.5) * block; }
  double alternating(std::size_t m) const { return m % 2 == 0 ? samples_[m] : -samples_[m]; }
  double of_block(std::size_t b, double nearest, double delta) const {
    const double far = nearest - middle(b) + delta;
    double sum = 0;
    if (std::abs(far) >= 2 * block) {
      const double inverse = 1 / far;
      for (std::size_t k = terms; k-- > 0;) sum = (sum + moments_[b][k]) * inverse;
      return sum;
    }
    for (std::size_t m = b * block; m < std::min((b + 1) * block, samples_.size()); ++m) {
      const double apart = nearest - static_cast<double>(m);
      if (apart != 0) sum += alternating(m) / (apart + delta);
    }
    return sum;
  }

  std::vector<double> samples_;
  std::vector<std::array<double, terms>> moments_;  ///< [blocks] Σ a_m (m − b)^k
};

}  // namespace

void Wavelet::check() const {
  const auto wrong = [](std::string problem, std::string next) {
    throw InputError("acoustic: source.wavelet", std::move(problem), std::move(next));
  };
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
    throw InputError("acoustic: source.frequency", fmt::format("{} Hz", frequency),
                     "It must be more than zero.");
  }
  if (!(largest() <= most_amplitude))
    throw InputError(
        "acoustic: source.amplitude", fmt::format("the wavelet reaches {:.3g} Pa m", largest()),
        fmt::format("No source is so strong; allowed: {:g} Pa m, in two dimensions Pa, and less.",
                    most_amplitude));
}

double Wavelet::largest() const {
  if (kind != WaveletKind::samples) return std::abs(amplitude);
  double most = 0;
  for (const double s : samples) most = std::max(most, std::abs(s));
  return most * std::abs(amplitude);
}

double Wavelet::half_length() const {
  if (kind == WaveletKind::samples) return sample_step * static_cast<double>(samples.size() - 1);
  if (kind == WaveletKind::ormsby) return 4 / (corners[1] - corners[0]);
  return (kind == WaveletKind::gabor ? 0.75 * gamma : 1.5) / frequency;
}

double Wavelet::start() const {
  if (delay >= 0 || kind == WaveletKind::samples) return std::max(delay, 0.0);
  return half_length();
}

double Wavelet::begins() const { return kind == WaveletKind::samples ? start() : start() - half_length(); }

double Wavelet::ends() const { return start() + half_length(); }

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

std::function<double(double)> Wavelet::course() const {
  if (kind != WaveletKind::samples)
    return [w = *this, from = start()](double time) { return of_formula(w, time - from); };
  return [given = SincSum(samples), w = *this, from = start()](double time) {
    return w.amplitude * given.at((time - from) / w.sample_step);
  };
}

std::vector<double> Wavelet::at(double step, std::size_t count) const {
  const auto sent = course();
  std::vector<double> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = sent(static_cast<double>(n) * step);
  return values;
}

}  // namespace terrane::acoustic
