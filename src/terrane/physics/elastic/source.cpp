#include "terrane/physics/elastic/source.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "terrane/parallel/fft/host_fft.hpp"

namespace terrane::elastic {

using std::numbers::pi;

double Course::at(double time) const {
  const double t = time - delay;
  switch (pulse) {
    case Pulse::ricker: {
      const double a = pi * width * pi * width * t * t;
      return (1 - 2 * a) * std::exp(-a);
    }
    case Pulse::gaussian:
      return std::exp(-t * t / (width * width)) / (std::sqrt(pi) * width);
    case Pulse::step:
      return 0.5 * std::erfc(-t / width);
    case Pulse::samples:
      break;
  }
  if (samples.empty() || t < 0) return 0;
  const double place = t / width, whole = std::floor(place);
  if (whole + 1 >= static_cast<double>(samples.size())) return samples.back();
  const auto n = static_cast<std::size_t>(whole);
  return samples[n] + (place - whole) * (samples[n + 1] - samples[n]);
}

double Course::begins() const {
  switch (pulse) {
    case Pulse::ricker:
      return delay - 1.5 / width;
    case Pulse::gaussian:
    case Pulse::step:
      return delay - 3.5 * width;
    case Pulse::samples:
      break;
  }
  return delay;
}

double Course::ends() const {
  switch (pulse) {
    case Pulse::ricker:
      return delay + 1.5 / width;
    case Pulse::gaussian:
    case Pulse::step:
      return delay + 3.5 * width;
    case Pulse::samples:
      break;
  }
  return delay + width * static_cast<double>(std::max<std::size_t>(samples.size(), 1) - 1);
}

double Course::highest_frequency() const {
  switch (pulse) {
    case Pulse::ricker:
      return 2.5 * width;
    case Pulse::gaussian:
    case Pulse::step:
      return std::sqrt(std::log(100.0)) / (pi * width);
    case Pulse::samples:
      break;
  }
  // Samples: the spectrum of their changes is computed at 200 frequencies; the result is the highest of these
  // with at least a hundredth of the largest amplitude.
  const std::size_t count = samples.size();
  if (count < 2) return 0;
  constexpr int all = 200;
  std::vector<double> amplitude(all);
  double most = 0;
  for (int k = 0; k < all; ++k) {
    double real = 0, imaginary = 0;
    for (std::size_t n = 1; n < count; ++n) {
      const double phase = pi * k / all * static_cast<double>(n);
      real += (samples[n] - samples[n - 1]) * std::cos(phase);
      imaginary += (samples[n] - samples[n - 1]) * std::sin(phase);
    }
    amplitude[static_cast<std::size_t>(k)] = std::hypot(real, imaginary);
    most = std::max(most, amplitude[static_cast<std::size_t>(k)]);
  }
  int highest = all - 1;
  while (highest > 0 && amplitude[static_cast<std::size_t>(highest)] < 0.01 * most) --highest;
  return (highest + 1) / (2.0 * all * width);
}

namespace {

/// Angles ω Δt that are corrected: below 1.6, where leapfrog steps still have more than two instants per
/// period; from 1.3 on with a taper.
constexpr double highest_angle = 1.6, fades_from = 1.3;

double fading(double angle) {
  if (angle <= fades_from) return 1;
  return 0.5 * (1 + std::cos(pi * (angle - fades_from) / (highest_angle - fades_from)));
}

/// e^{ix}
struct Phase {
  double real, imaginary;
  explicit Phase(double x) : real(std::cos(x)), imaginary(std::sin(x)) {}
};

/// An array for FFTW, aligned to 64 bytes.
struct Line64 {
  alignas(64) double x[8];
};
class Aligned {
 public:
  explicit Aligned(std::size_t size) : lines_(size / 8 + 1) {}  // zeros
  double* data() { return lines_.front().x; }

 private:
  std::vector<Line64> lines_;
};

/// Modified Bessel function of order 0: its series, all terms of which are positive.
double bessel_i0(double x) {
  const double quarter = x * x / 4;
  double term = 1, sum = 1;
  for (int k = 1; k < 200 && term > 1e-17 * sum; ++k) {
    term *= quarter / (static_cast<double>(k) * k);
    sum += term;
  }
  return sum;
}

/// true_angle: ω Δt of a wave that leapfrog steps compute with the phase ϑ per step; leapfrog_angle: ϑ from
/// ω Δt.
double true_angle(double leapfrog) { return 2 * std::sin(leapfrog / 2); }
double leapfrog_angle(double angle) { return 2 * std::asin(angle / 2); }

/// One frequency of the new spectrum, at the angle `write`: the old spectrum at the angle `read`, times
/// `factor`.
struct Line {
  double read, write, factor;
};

}  // namespace

// Shifts the frequencies of a series x[n], n = 0 … size − 1, to x'[n]. Each k is a Line; s, in steps, is the
// time of the first value: ½ for changes over a step, 0 for values at instants.
//   X_k = Σ_n x[n] e^{−i read_k (n + s)},   x'[n] = scale Re Σ_k factor_k X_k e^{i write_k (n + s)}
// With write_k = π k / size these are two Fourier transforms. The first has at least twice the length, and is
// interpolated between its frequencies with a Kaiser-Bessel window, for which x is weighted first: the error
// is 1e-11 of Σ |x|. The weights of this interpolation depend only on the length.
class FrequencyShift::Plan {
 public:
  Plan(std::size_t size, const std::vector<Line>& lines, double scale, double shift)
      : size_(size),
        grid_(std::bit_ceil(2 * size + 2 * width)),
        window_(size),
        forward_(grid_, 1),
        inverse_(2 * size, 1) {
    for (std::size_t n = 0; n < size; ++n) {
      const double at = (static_cast<double>(n) - middle()) / static_cast<double>(grid_);
      const double root = std::sqrt(beta * beta - std::pow(pi * width * at, 2));
      window_[n] = root / (width * std::sinh(root));
    }
    for (std::size_t k = 0; k < lines.size() && k <= size; ++k)
      taps_.push_back(taps(lines[k], scale * (k == 0 ? 1 : 0.5), shift));
  }

  std::vector<double> operator()(std::span<const double> x) const {
    Aligned spectrum(2 * (grid_ / 2 + 1)), out(2 * (size_ + 1));
    for (std::size_t n = 0; n < size_; ++n) spectrum.data()[n] = x[n] * window_[n];
    forward_.forward(spectrum.data());
    for (std::size_t k = 0; k < taps_.size(); ++k) {
      const auto& line = taps_[k];
      double real = 0, imaginary = 0;
      for (int j = 0; j < width; ++j) {
        const long at = line.first + j;
        const double* const value = spectrum.data() + 2 * std::labs(at);
        const double re = value[0], im = at < 0 ? -value[1] : value[1];
        const auto tap = static_cast<std::size_t>(j);
        real += line.real[tap] * re - line.imaginary[tap] * im;
        imaginary += line.real[tap] * im + line.imaginary[tap] * re;
      }
      out.data()[2 * k] = real;
      out.data()[2 * k + 1] = k == 0 ? 0 : imaginary;
    }
    inverse_.inverse(out.data());
    return {out.data(), out.data() + size_};
  }

 private:
  static constexpr int width = 14;
  static constexpr double beta = pi * width * 0.75;
  /// Complex weights of the spectrum's values from index `first` on.
  struct Taps {
    long first;
    std::array<double, width> real, imaginary;
  };

  double middle() const { return std::floor(0.5 * static_cast<double>(size_)); }

  Taps taps(const Line& line, double scale, double shift) const {
    // The window interpolates Σ x e^{−iϑ(n − middle)}, which varies slowly; the phase restores the true
    // origin.
    const double place = line.read / (2 * pi) * static_cast<double>(grid_);
    Taps all{static_cast<long>(std::ceil(place - 0.5 * width)), {}, {}};
    for (int j = 0; j < width; ++j) {
      const long k = all.first + j;
      const double off = (place - static_cast<double>(k)) * 2 / width;
      if (std::fabs(off) >= 1 || 2 * static_cast<std::size_t>(std::labs(k)) > grid_) continue;
      const double weight = scale * line.factor * bessel_i0(beta * std::sqrt(1 - off * off));
      const Phase phase((2 * pi * static_cast<double>(k) / static_cast<double>(grid_) - line.read) *
                            middle() +
                        (line.write - line.read) * shift);
      all.real[static_cast<std::size_t>(j)] = weight * phase.real;
      all.imaginary[static_cast<std::size_t>(j)] = weight * phase.imaginary;
    }
    return all;
  }

  std::size_t size_, grid_;
  std::vector<double> window_;
  HostFft forward_, inverse_;
  std::vector<Taps> taps_;
};

FrequencyShift::FrequencyShift(std::size_t size, bool to_leapfrog, Wanted wanted) {
  if (size == 0) return;
  const double grid = pi / static_cast<double>(size);  // spacing of the angles `write`
  std::vector<Line> lines{{0, 0, 0.5}};
  if (to_leapfrog) {
    for (double write = grid; true_angle(write) < highest_angle; write += grid) {
      const double read = true_angle(write);
      lines.push_back({read, write, fading(read) * std::sin(write / 2) / std::sin(read / 2)});
    }
  } else {
    const auto factor = [&](double write, double read) {
      return wanted == Wanted::value
                 ? 1
                 : (wanted == Wanted::rate ? write / 2 : std::sin(write / 2)) / std::sin(read / 2);
    };
    for (double write = grid; write < highest_angle; write += grid) {
      const double read = leapfrog_angle(write);
      lines.push_back({read, write, fading(write) * factor(write, read)});
    }
  }
  plan_ = std::make_unique<Plan>(size, lines, grid / pi, !to_leapfrog && wanted == Wanted::value ? 0 : 0.5);
}

FrequencyShift FrequencyShift::to_leapfrog(std::size_t size) { return {size, true, Wanted::change}; }
FrequencyShift FrequencyShift::from_leapfrog(std::size_t size, Wanted wanted) {
  return {size, false, wanted};
}
FrequencyShift::FrequencyShift(FrequencyShift&&) noexcept = default;
FrequencyShift::~FrequencyShift() = default;

std::vector<double> FrequencyShift::operator()(std::span<const double> x) const {
  return plan_ ? (*plan_)(x) : std::vector<double>();
}

std::vector<double> to_leapfrog(std::span<const double> changes) {
  return FrequencyShift::to_leapfrog(changes.size())(changes);
}

std::vector<double> from_leapfrog(std::span<const double> changes, Wanted wanted) {
  return FrequencyShift::from_leapfrog(changes.size(), wanted)(changes);
}

}  // namespace terrane::elastic
