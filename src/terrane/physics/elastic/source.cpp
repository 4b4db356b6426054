#include "terrane/physics/elastic/source.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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
  // Of the changes: a hundredth of the largest amplitude, by sums at evenly spaced frequencies.
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

/// Angles that are looked at: ω Δt below 1.6, where the steps still have two instants and more per period.
constexpr double highest_angle = 1.6, fades_from = 1.3;

double fading(double angle) {
  if (angle <= fades_from) return 1;
  return 0.5 * (1 + std::cos(pi * (angle - fades_from) / (highest_angle - fades_from)));
}

/// Σ_n x[n] e^{−i read_k (n + ½)}, then x'[n] = 2/M Re Σ_k factor_k · that · e^{i write_k (n + ½)}.
struct Line {
  double read, write, factor;
};
std::vector<double> moved(std::span<const double> x, const std::vector<Line>& lines, double scale) {
  std::vector<double> out(x.size(), 0.0);
  constexpr std::size_t width = 16;  // lines at once: their turns are independent of each other
  for (std::size_t first = 0; first < lines.size(); first += width) {
    double turn[2][width], at[2][width], sum[2][width] = {};
    const auto begin = [&](double Line::*angle) {
      for (std::size_t k = 0; k < width; ++k) {
        const double a = first + k < lines.size() ? lines[first + k].*angle : 0;
        turn[0][k] = std::cos(a), turn[1][k] = std::sin(a);
        at[0][k] = std::cos(a / 2), at[1][k] = std::sin(a / 2);
      }
    };
    const auto next = [&] {
      for (std::size_t k = 0; k < width; ++k) {
        const double real = at[0][k] * turn[0][k] - at[1][k] * turn[1][k];
        at[1][k] = at[0][k] * turn[1][k] + at[1][k] * turn[0][k];
        at[0][k] = real;
      }
    };
    begin(&Line::read);
    for (const double value : x) {
      for (std::size_t k = 0; k < width; ++k) sum[0][k] += value * at[0][k], sum[1][k] -= value * at[1][k];
      next();
    }
    for (std::size_t k = 0; k < width; ++k) {
      const double factor = first + k < lines.size() ? scale * lines[first + k].factor : 0;
      sum[0][k] *= factor, sum[1][k] *= factor;
    }
    begin(&Line::write);
    for (double& value : out) {
      double here = 0;
      for (std::size_t k = 0; k < width; ++k) here += sum[0][k] * at[0][k] - sum[1][k] * at[1][k];
      value += here;
      next();
    }
  }
  return out;
}

/// ω Δt of what leapfrog steps show at ϑ; a change over one step is 2 sin(ϑ/2) of the value, or 2 sin(ω Δt /
/// 2).
double true_angle(double leapfrog) { return 2 * std::sin(leapfrog / 2); }
double leapfrog_angle(double angle) { return 2 * std::asin(angle / 2); }

}  // namespace

std::vector<double> to_leapfrog(std::span<const double> changes) {
  const double grid = pi / static_cast<double>(std::max<std::size_t>(changes.size(), 1));  // 2 π / M
  std::vector<Line> lines{{0, 0, 0.5}};
  for (double write = grid; true_angle(write) < highest_angle; write += grid) {
    const double read = true_angle(write);
    lines.push_back({read, write, fading(read) * std::sin(write / 2) / std::sin(read / 2)});
  }
  return moved(changes, lines, grid / pi);
}

std::vector<double> from_leapfrog(std::span<const double> changes, Wanted wanted) {
  const double grid = pi / static_cast<double>(std::max<std::size_t>(changes.size(), 1));
  const auto factor = [&](double half) {
    return wanted == Wanted::change ? std::sin(half)
           : wanted == Wanted::rate ? half
                                    : half * half / std::sin(half);
  };
  std::vector<Line> lines{{0, 0, 0.5}};
  for (double write = grid; write < highest_angle; write += grid) {
    const double read = leapfrog_angle(write);
    lines.push_back({read, write, fading(write) * factor(write / 2) / std::sin(read / 2)});
  }
  return moved(changes, lines, grid / pi);
}

}  // namespace terrane::elastic
