#include "terrane/physics/acoustic/dispersion.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace terrane::acoustic {

double wavenumber_on_grid(const Differences& differences, double kh) {
  const bool density = differences.equation == Equation::variable_density;
  if (density || differences.equation == Equation::tti) {
    const auto& weights = density ? differences.half : differences.first;
    double sum = 0;
    for (std::size_t n = 0; n < weights.size(); ++n)
      sum += 2 * weights[n] * std::sin((static_cast<double>(n + 1) - (density ? 0.5 : 0)) * kh);
    return sum;
  }
  double square = 0;  // 1 − cos as a squared sine, which stays above zero for very long waves
  for (std::size_t r = 0; r < differences.second.size(); ++r)
    square += 4 * differences.second[r] * std::pow(std::sin(static_cast<double>(r + 1) * kh / 2), 2);
  return std::sqrt(std::max(square, 0.0));
}

double slowness_error(const Problem& p, const Differences& differences,
                      const std::array<double, 3>& direction, double velocity, double omega) {
  if (!(omega > 0)) return 0;
  const double k = omega / velocity;
  double square = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (p.grid.there(static_cast<int>(a))) {
      // Waves shorter than two nodes do not exist on the grid.
      const double kh = std::min(std::abs(k * direction[a] * p.grid.spacing[a]), std::numbers::pi);
      square += std::pow(wavenumber_on_grid(differences, kh) / p.grid.spacing[a], 2);
    }
  const double half = omega * p.step / 2;
  return 0.5 * (1 - square / (k * k)) + (p.exact_time || half == 0 ? 0.0 : std::sin(half) / half - 1);
}

std::array<double, 3> direction_between(const Grid& grid, const Place& from, const Place& to) {
  std::array<double, 3> along{};
  for (std::size_t a = 0; a < 3; ++a)
    if (grid.there(static_cast<int>(a))) along[a] = to[2 - a] - from[2 - a];
  const double length = std::hypot(along[0], along[1], along[2]);
  if (!(length > 0)) return {1, 0, 0};
  for (double& x : along) x /= length;
  return along;
}

double velocity_at(const Problem& p, const Place& place) {
  Index node = 0;
  for (int a = 0; a < 3; ++a) {
    const Index last = p.grid.nodes[static_cast<std::size_t>(a)] - 1;
    node = node * (last + 1) +
           (p.grid.there(a) ? std::clamp<Index>(std::llround(p.grid.steps(place, a)), 0, last) : 0);
  }
  return p.velocity[static_cast<std::size_t>(node)];
}

double error_of_wavelet(const Problem& p, const std::array<double, 3>& direction, double velocity,
                        double length) {
  auto wavelet = p.wavelet;
  wavelet.delay = std::max(0.0, -wavelet.begins()) + wavelet.start();
  // In runs of very many steps the spectrum is computed from fewer samples, which are still much closer than
  // the shortest periods of the wavelet.
  constexpr double most_samples = 1 << 17;
  const double step = std::max(p.step, wavelet.ends() / most_samples);
  const auto samples = static_cast<std::size_t>(std::ceil(wavelet.ends() / step)) + 1;
  const std::size_t padded = 4 * samples;
  std::vector<double> room(padded + 2, 0.0);
  const auto sent = wavelet.at(step, samples);
  std::copy(sent.begin(), sent.end(), room.begin());
  HostFft(padded, 1).forward(room.data());
  const auto scheme = differences(p.order, p.coefficients, p.equation);
  double wrong = 0, all = 0;
  for (std::size_t k = 0; 2 * k <= padded; ++k) {
    const double omega = 2 * std::numbers::pi * static_cast<double>(k) / (static_cast<double>(padded) * step);
    const double power = room[2 * k] * room[2 * k] + room[2 * k + 1] * room[2 * k + 1];
    const double phase = omega * length / velocity * slowness_error(p, scheme, direction, velocity, omega);
    wrong += power * std::pow(2 * std::sin(std::min(std::abs(phase), std::numbers::pi) / 2), 2);
    all += power;
  }
  return all > 0 ? std::sqrt(wrong / all) : 0;
}

DispersionOfTrace::DispersionOfTrace(const Problem& p)
    : samples_(p.steps()),
      step_(p.step),
      start_(p.wavelet.start()),
      fft_(2 * samples_, 1),
      room_(2 * samples_ + 2) {
  for (std::size_t k = 0; k <= samples_; ++k)
    frequencies_.push_back(std::numbers::pi * static_cast<double>(k) /
                           (static_cast<double>(samples_) * step_));
}

void DispersionOfTrace::operator()(std::span<const double> epsilon, std::span<const double> trace,
                                   std::span<double> out) {
  std::fill(room_.begin(), room_.end(), 0.0);
  std::copy(trace.begin(), trace.end(), room_.begin());
  // A trace that has not decayed at its end is tapered there, because a jump to zero would cause errors of
  // its own.
  const std::size_t fading = samples_ / 12;
  for (std::size_t n = 0; n < fading; ++n)
    room_[samples_ - 1 - n] *=
        0.5 * (1 - std::cos(std::numbers::pi * (static_cast<double>(n) + 0.5) / static_cast<double>(fading)));
  fft_.forward(room_.data());
  const double per_point = 1 / (2 * static_cast<double>(samples_));
  for (std::size_t k = 0; k <= samples_; ++k) {
    const double factor = per_point * frequencies_[k] * epsilon[k];
    const double re = room_[2 * k], im = room_[2 * k + 1];
    room_[2 * k] = -factor * im, room_[2 * k + 1] = factor * re;
  }
  fft_.inverse(room_.data());
  for (std::size_t n = 0; n < samples_; ++n)
    out[n] = -std::max(0.0, static_cast<double>(n) * step_ - start_) * room_[n];
}

}  // namespace terrane::acoustic
