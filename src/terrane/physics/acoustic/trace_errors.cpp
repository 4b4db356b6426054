#include "terrane/physics/acoustic/trace_errors.hpp"

#include <cmath>
#include <numeric>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/acoustic/dispersion.hpp"

namespace terrane::acoustic {

namespace {

double rms(const std::vector<double>& values) {
  const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

/// The errors of one trace.
class OfTrace {
 public:
  OfTrace(const Problem& problem, const Problem& companion)
      : p_(problem),
        other_(companion),
        scheme_(differences(problem.order, problem.coefficients, problem.equation)),
        other_scheme_(differences(companion.order, companion.coefficients, companion.equation)),
        dispersion_(problem) {}

  struct Parts {
    double size, dispersion, rest;
  };
  Parts operator()(const Shot& shot, const Place& receiver, std::vector<double> mine,
                   const std::vector<double>& its) {
    const auto& source = shot.sources.front();
    const auto along = direction_between(p_.grid, source, receiver);
    const double velocity = velocity_at(p_, source);
    std::vector<double> epsilon, more, own(mine.size()), change(mine.size());
    for (const double omega : dispersion_.frequencies()) {
      epsilon.push_back(slowness_error(p_, scheme_, along, velocity, omega));
      more.push_back(slowness_error(other_, other_scheme_, along, velocity, omega) - epsilon.back());
    }
    dispersion_(epsilon, mine, own);
    dispersion_(more, mine, change);
    const double size = rms(mine);
    for (std::size_t n = 0; n < mine.size(); ++n) mine[n] = its[n] - mine[n] - change[n];
    const bool dense = p_.equation == Equation::variable_density;
    return {size, rms(own), rms(mine) / (dense ? of_densities : of_other_cells)};
  }

 private:
  const Problem &p_, &other_;
  Differences scheme_, other_scheme_;
  DispersionOfTrace dispersion_;
};

std::vector<double> column(const std::vector<float>& gather, std::size_t traces, std::size_t trace) {
  std::vector<double> values;
  values.reserve(gather.size() / traces);
  for (std::size_t n = trace; n < gather.size(); n += traces) values.push_back(gather[n]);
  return values;
}

}  // namespace

double TraceErrors::error(std::size_t trace) const { return std::hypot(dispersion[trace], rest[trace]); }

TraceErrors errors_of_traces(const Problem& p, const Problem& companion,
                             const std::vector<std::vector<float>>& mine,
                             const std::vector<std::vector<float>>& other, std::size_t component,
                             int threads) {
  const std::size_t receivers = p.shots.front().receivers.size(), count = p.shots.size() * receivers;
  TraceErrors errors{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count)};
  for_each(p.shots.size(), threads, [&](std::size_t s) {
    OfTrace of(p, companion);
    const auto& shot = p.shots[s];
    const std::size_t traces = p.traces(shot);
    for (std::size_t r = 0; r < receivers; ++r) {
      const std::size_t trace = component * receivers + r, n = s * receivers + r;
      const auto parts =
          of(shot, shot.receivers[r], column(mine[s], traces, trace), column(other[s], traces, trace));
      errors.size[n] = parts.size, errors.dispersion[n] = parts.dispersion, errors.rest[n] = parts.rest;
    }
  });
  return errors;
}

}  // namespace terrane::acoustic
