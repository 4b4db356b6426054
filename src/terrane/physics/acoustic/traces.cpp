#include "terrane/physics/acoustic/traces.hpp"

#include "terrane/physics/acoustic/formula/time_dispersion.hpp"
#include "terrane/physics/acoustic/formula/time_integral.hpp"

namespace terrane::acoustic {

namespace {

/// Calls use(first, last) with the range of trace indices of each velocity component.
template <class Use>
void each_velocity(const Problem& problem, const std::vector<double>& traces, const Use& use) {
  const std::size_t receivers = traces.size() / problem.steps() / problem.record.size();
  for (std::size_t n = 0; n < problem.record.size(); ++n)
    if (problem.record[n] != Component::pressure) use(n * receivers, (n + 1) * receivers);
}

void integrate_velocities(const Problem& p, std::vector<double>& traces) {
  each_velocity(p, traces, [&](std::size_t first, std::size_t last) {
    integrate(traces, p.steps(), first, last, p.step);
  });
}

void integrate_velocities_transposed(const Problem& p, std::vector<double>& traces) {
  each_velocity(p, traces, [&](std::size_t first, std::size_t last) {
    integrate_transposed(traces, p.steps(), first, last, p.step);
  });
}

}  // namespace

void to_gather(const Problem& problem, std::vector<double>& traces, int threads) {
  if (problem.exact_time) warp(traces, problem.steps(), Dispersion::take_out, threads);
  integrate_velocities(problem, traces);
}

void to_gather_transposed(const Problem& problem, std::vector<double>& traces, int threads) {
  integrate_velocities_transposed(problem, traces);
  if (problem.exact_time) warp_transposed(traces, problem.steps(), Dispersion::take_out, threads);
}

void to_senders(const Problem& problem, std::vector<double>& traces, int threads) {
  integrate_velocities_transposed(problem, traces);
  if (problem.exact_time) warp(traces, problem.steps(), Dispersion::put_in, threads);
}

void to_senders_of_engine(const Problem& problem, std::vector<double>& traces) {
  integrate_velocities(problem, traces);
  integrate_velocities_transposed(problem, traces);
}

}  // namespace terrane::acoustic
