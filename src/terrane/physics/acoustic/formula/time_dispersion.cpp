#include "terrane/physics/acoustic/formula/time_dispersion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "terrane/parallel/fft/host_fft.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::acoustic {

namespace {

using std::numbers::pi;

struct Complex {
  double re = 0, im = 0;
};

/// Spectra at arbitrary frequencies (non-uniform Fourier transform): an FFT of twice as many points, then a
/// weighted sum of the 16 points around each frequency, the weights a bell function (Barnett, Magland & af
/// Klinteberg 2019). First each sample is divided by the bell's transform. Errors are those of rounding.
class SpectrumAt {
 public:
  /// at: frequencies, radians per sample, 0 to π
  SpectrumAt(std::size_t samples, const std::vector<double>& at)
      : points_(2 * std::max<std::size_t>(samples, bell)),
        middle_(samples / 2),
        undone_(samples),
        turned_(at.size()),
        first_(at.size()),
        weights_(at.size()),
        fft_(points_, 1) {
    const double apart = 2 * pi / static_cast<double>(points_);
    for (std::size_t m = 0; m < samples; ++m)
      undone_[m] = 1 / bell_of_sample(half * apart * (static_cast<double>(m) - static_cast<double>(middle_)));
    for (std::size_t k = 0; k < at.size(); ++k) {
      const double angle = at[k] * static_cast<double>(middle_), place = at[k] / apart;
      turned_[k] = {std::cos(angle), -std::sin(angle)};
      const double lowest = std::ceil(place - half);
      first_[k] = static_cast<std::size_t>(lowest + half);
      for (std::size_t n = 0; n < bell; ++n)
        weights_[k][n] = height((lowest + static_cast<double>(n) - place) / half);
    }
  }
  /// Working memory of forward() and transposed().
  struct Room {
    std::vector<double> points;
    std::vector<Complex> wide;  ///< the spectrum from 0 to π, and `beyond` more points on each side
    explicit Room(const SpectrumAt& of) : points(of.points_ + 2), wide(of.points_ / 2 + 1 + 2 * beyond) {}
  };

  /// out[k] = Σ_m in[m] e^{−i at[k] m}
  void forward(const double* in, Complex* out, Room& room) const {
    auto& [points, wide] = room;
    std::fill(points.begin(), points.end(), 0.0);
    for (std::size_t m = 0; m < undone_.size(); ++m) points[place_of(m)] = in[m] * undone_[m];
    fft_.forward(points.data());
    const std::size_t last = points_ / 2;
    for (std::size_t j = 0; j <= last; ++j) wide[j + beyond] = {points[2 * j], points[2 * j + 1]};
    for (std::size_t j = 1; j <= beyond; ++j) {
      wide[beyond - j] = conjugate(wide[beyond + j]);
      wide[beyond + last + j] = conjugate(wide[beyond + last - j]);
    }
    for (std::size_t k = 0; k < first_.size(); ++k) {
      Complex sum;
      for (std::size_t n = 0; n < bell; ++n) {
        sum.re += weights_[k][n] * wide[first_[k] + n].re;
        sum.im += weights_[k][n] * wide[first_[k] + n].im;
      }
      out[k] = product(sum, turned_[k]);
    }
  }
  /// out[m] = Re Σ_k in[k] e^{+i at[k] m}
  void transposed(const Complex* in, double* out, Room& room) const {
    auto& [points, wide] = room;
    const std::size_t last = points_ / 2;
    std::fill(wide.begin(), wide.end(), Complex{});
    for (std::size_t k = 0; k < first_.size(); ++k) {
      const Complex value = product(in[k], conjugate(turned_[k]));
      for (std::size_t n = 0; n < bell; ++n) {
        wide[first_[k] + n].re += weights_[k][n] * value.re;
        wide[first_[k] + n].im += weights_[k][n] * value.im;
      }
    }
    for (std::size_t j = 1; j <= beyond; ++j) {
      add(wide[beyond + j], conjugate(wide[beyond - j]));
      add(wide[beyond + last - j], conjugate(wide[beyond + last + j]));
    }
    // The inverse transform counts all frequencies twice, except the first and the last.
    for (std::size_t j = 0; j <= last; ++j) {
      const double share = j == 0 || j == last ? 1 : 0.5;
      points[2 * j] = share * wide[j + beyond].re, points[2 * j + 1] = share * wide[j + beyond].im;
    }
    fft_.inverse(points.data());
    for (std::size_t m = 0; m < undone_.size(); ++m) out[m] = points[place_of(m)] * undone_[m];
  }

 private:
  static constexpr std::size_t bell = 16, beyond = bell / 2;
  static constexpr double half = 0.5 * bell, steep = 2.3 * bell;

  static Complex conjugate(const Complex& z) { return {z.re, -z.im}; }
  static Complex product(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  static void add(Complex& to, const Complex& value) { to.re += value.re, to.im += value.im; }
  static double height(double x) {
    const double under = 1 - x * x;
    return under > 0 ? std::exp(steep * (std::sqrt(under) - 1)) : 0;
  }
  /// The sum of a bell's weights times e^{i angle} over its points, approximated by the bell's Fourier
  /// transform times half the number of points: by the trapezoid rule, which is accurate to rounding for such
  /// functions.
  static double bell_of_sample(double angle) {
    constexpr int parts = 128;
    static const auto heights = [] {
      std::array<double, parts / 2 + 1> of{};
      for (int q = 0; q <= parts / 2; ++q) of[static_cast<std::size_t>(q)] = height(2.0 * q / parts);
      return of;
    }();
    double sum = heights[0];
    for (int q = 1; q <= parts / 2; ++q)
      sum += 2 * heights[static_cast<std::size_t>(q)] * std::cos(angle * 2.0 * q / parts);
    return half * sum * 2.0 / parts;
  }
  /// Index of sample m among the points: the middle sample is first, samples before it are at the end.
  std::size_t place_of(std::size_t m) const { return m >= middle_ ? m - middle_ : points_ + m - middle_; }

  std::size_t points_, middle_;
  std::vector<double> undone_;
  std::vector<Complex> turned_;
  std::vector<std::size_t> first_;  ///< [frequencies] first point of each bell, counted from −beyond
  std::vector<std::array<double, bell>> weights_;
  HostFft fft_;
};

/// Continues a trace x beyond its last sample, number e, by x_{e+r} = (2 x_e − x_{e−r}) t_r, r = 1 …: its
/// mirror image about that sample, times a taper t from 1 to 0.
class Continued {
 public:
  explicit Continued(std::size_t samples) : samples_(samples), fading_(std::min(samples / 8, samples - 1)) {
    for (std::size_t r = 0; r < fading_.size(); ++r)
      fading_[r] =
          0.5 + 0.5 * std::cos(pi * static_cast<double>(r + 1) / static_cast<double>(fading_.size()));
  }
  std::size_t all() const { return samples_ + fading_.size(); }
  void extend(double* trace) const {
    const double* const end = trace + samples_ - 1;
    for (std::size_t r = 0; r < fading_.size(); ++r)
      trace[samples_ + r] = (2 * *end - *(end - r - 1)) * fading_[r];
  }
  void transposed(double* trace) const {
    double* const end = trace + samples_ - 1;
    for (std::size_t r = 0; r < fading_.size(); ++r) {
      const double value = trace[samples_ + r] * fading_[r];
      *end += 2 * value;
      *(end - r - 1) -= value;
    }
  }

 private:
  std::size_t samples_;
  std::vector<double> fading_;
};

/// The frequencies ω', radians per sample, at which spectra are evaluated: one for each frequency of an FFT
/// of `padded` points, except those that are set to zero.
std::vector<double> warped_frequencies(std::size_t padded, Dispersion direction) {
  std::vector<double> warped;
  for (std::size_t k = 0; 2 * k <= padded; ++k) {
    const double w = 2 * pi * static_cast<double>(k) / static_cast<double>(padded);
    if (direction == Dispersion::put_in) warped.push_back(2 * std::sin(w / 2));  // frequency for Δt = 1
    else if (w < 2) warped.push_back(2 * std::asin(w / 2));
  }
  return warped;
}

/// out[n] = Σ_m W(n, m) in[m],  W(n, m) = (1/N) Σ_k cos(ω_k n − ω'_k m),  N = 4 × samples frequencies:
/// evaluates the spectrum at ω', then applies the inverse Fourier transform. transposed: both steps
/// transposed, in reverse order.
void apply(std::vector<double>& traces, std::size_t samples, Dispersion direction, bool transposed,
           int threads) {
  if (samples == 0 || traces.empty()) return;
  const std::size_t count = traces.size() / samples, padded = 4 * samples;
  const Continued continued(samples);
  const auto frequencies = warped_frequencies(padded, direction);
  const std::size_t kept = frequencies.size();
  const SpectrumAt spectrum(continued.all(), frequencies);
  const HostFft fft(padded, 1);
  constexpr std::size_t together = 8;  // traces per task: one cache line per sample
  for_each((count + together - 1) / together, threads, [&](std::size_t task) {
    const std::size_t first = task * together, width = std::min(together, count - first);
    std::vector<double> trace(continued.all()), wide(padded + 2), block(samples * width);
    std::vector<Complex> at(kept);
    SpectrumAt::Room room(spectrum);
    for (std::size_t n = 0; n < samples; ++n)
      std::copy_n(&traces[n * count + first], width, &block[n * width]);
    const double per_point = 1 / static_cast<double>(padded);
    const auto share_of = [&](std::size_t k) {
      return k == 0 || 2 * k == padded ? per_point : 2 * per_point;
    };
    for (std::size_t t = 0; t < width; ++t) {
      for (std::size_t n = 0; n < samples; ++n) trace[n] = block[n * width + t];
      std::fill(wide.begin(), wide.end(), 0.0);
      if (!transposed) {
        continued.extend(trace.data());
        spectrum.forward(trace.data(), at.data(), room);
        for (std::size_t k = 0; k < kept; ++k)  // the inverse transform counts most frequencies twice
          wide[2 * k] = per_point * at[k].re, wide[2 * k + 1] = per_point * at[k].im;
        fft.inverse(wide.data());
        std::copy_n(wide.begin(), samples, trace.begin());
      } else {
        std::copy_n(trace.begin(), samples, wide.begin());
        fft.forward(wide.data());
        for (std::size_t k = 0; k < kept; ++k)
          at[k] = {share_of(k) * wide[2 * k], share_of(k) * wide[2 * k + 1]};
        spectrum.transposed(at.data(), trace.data(), room);
        continued.transposed(trace.data());
      }
      for (std::size_t n = 0; n < samples; ++n) block[n * width + t] = trace[n];
    }
    for (std::size_t n = 0; n < samples; ++n)
      std::copy_n(&block[n * width], width, &traces[n * count + first]);
  });
}

}  // namespace

void warp(std::vector<double>& traces, std::size_t samples, Dispersion direction, int threads) {
  apply(traces, samples, direction, false, threads);
}

void warp_transposed(std::vector<double>& traces, std::size_t samples, Dispersion direction, int threads) {
  apply(traces, samples, direction, true, threads);
}

}  // namespace terrane::acoustic
