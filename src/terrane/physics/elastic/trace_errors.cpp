#include "terrane/physics/elastic/trace_errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

#include "terrane/parallel/fft/host_fft.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::elastic {

namespace {

constexpr double most_added = 3;  // largest g
constexpr std::size_t nodes_of_polynomial = 6;

/// s_D of the header.
double parts_of_dispersion(int degree) { return std::min(8.0, (std::pow(1.5, 2 * degree) - 1) / 3); }

double square_of(std::span<const double> values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

/// The value of evenly spaced samples at a fractional index, by a polynomial through the six nearest.
double between_samples(std::span<const double> samples, double index) {
  constexpr std::size_t before = nodes_of_polynomial / 2 - 1;  // nodes before the one below the index
  const auto most = static_cast<double>(samples.size() - nodes_of_polynomial);
  const auto first =
      static_cast<std::size_t>(std::clamp(std::floor(index) - static_cast<double>(before), 0.0, most));
  const double x = index - static_cast<double>(first);
  double sum = 0;
  for (std::size_t n = 0; n < nodes_of_polynomial; ++n) {
    double weight = 1;
    for (std::size_t m = 0; m < nodes_of_polynomial; ++m)
      if (m != n) weight *= (x - static_cast<double>(m)) / (static_cast<double>(n) - static_cast<double>(m));
    sum += weight * samples[first + n];
  }
  return sum;
}

/// The share of a trace's energy below a frequency.
class ShareBelow {
 public:
  /// samples: of a trace, `step` s apart; frequency: Hz
  ShareBelow(std::size_t samples, double step, double frequency)
      : samples_(samples),
        limit_(2 * static_cast<double>(samples) * step * frequency),
        fft_(2 * samples, 1),
        room_(2 * samples + 2) {}

  double operator()(std::span<const double> trace) {
    std::fill(room_.begin(), room_.end(), 0.0);
    std::copy(trace.begin(), trace.end(), room_.begin());
    // A trace that has not decayed ends in a taper: a jump would contain all frequencies.
    const std::size_t fading = samples_ / 12;
    for (std::size_t n = 0; n < fading; ++n)
      room_[samples_ - 1 - n] *=
          0.5 *
          (1 - std::cos(std::numbers::pi * (static_cast<double>(n) + 0.5) / static_cast<double>(fading)));
    fft_.forward(room_.data());
    double below = 0, all = 0;
    for (std::size_t k = 0; k <= samples_; ++k) {
      const double power = (k == 0 || k == samples_ ? 0.5 : 1) *
                           (room_[2 * k] * room_[2 * k] + room_[2 * k + 1] * room_[2 * k + 1]);
      all += power;
      if (static_cast<double>(k) <= limit_) below += power;
    }
    return all > 0 ? below / all : 1;
  }

 private:
  std::size_t samples_;
  double limit_;  // the frequency, in steps of the transform
  HostFft fft_;
  std::vector<double> room_;
};

}  // namespace

double TraceErrors::error(std::size_t trace) const { return std::hypot(rest[trace], dispersion[trace]); }

TraceErrors errors_of_traces(const Problem& p, const Problem& companion, bool shows_dispersion_alone,
                             Quantity quantity, const std::vector<double>& mine,
                             const std::vector<double>& its, int threads) {
  const std::size_t each = p.records_pressure ? 1 : 3, steps = p.steps(), its_steps = companion.steps();
  const std::size_t receivers = p.receivers.size(), count = receivers * each;
  const auto at = times(p, quantity), its_times = times(companion, quantity);
  TraceErrors errors{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count)};
  const double parts = parts_of_dispersion(p.degree);
  for_each(receivers, threads, [&](std::size_t receiver) {
    ShareBelow share_below(steps, p.step, companion.resolved_frequency);
    std::vector<double> change(steps);
    for (std::size_t n = receiver * each; n < (receiver + 1) * each; ++n) {
      const std::span trace(&mine[n * steps], steps), other(&its[n * its_steps], its_steps);
      for (std::size_t t = 0; t < steps; ++t)
        change[t] = between_samples(other, (at[t] - its_times[0]) / companion.step) - trace[t];
      const double own = square_of(trace) / static_cast<double>(steps),
                   difference = square_of(change) / static_cast<double>(steps);
      const double low = shows_dispersion_alone ? 0 : share_below(change),
                   added = std::max(share_below(trace), 1 / (most_added * most_added));
      errors.size[n] = std::sqrt(own);
      errors.rest[n] = std::sqrt(difference * low / added);
      errors.dispersion[n] = std::sqrt(difference * (1 - low)) / parts;
    }
  });
  return errors;
}

}  // namespace terrane::elastic
