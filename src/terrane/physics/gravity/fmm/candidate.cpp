#include "terrane/physics/gravity/fmm/candidate.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/fmm/fmm.hpp"

namespace terrane::gravity {

namespace {

constexpr double fmm_rounding = 1e-14;  // of expansions, relative to the largest value
constexpr double fmm_seconds_per_prism = 35e-9, fmm_seconds_per_station = 0.25e-6;  // and decimal digit

double digits_for_fmm(const Problem& problem) { return -std::log10(problem.parameters.accuracy); }

/// What it has taken lies above.
std::optional<MethodEntry::Least> fmm_at_least(const Problem& problem) {
  const double m = static_cast<double>(problem.prisms.size()),
               n = static_cast<double>(problem.stations.size()), digits = digits_for_fmm(problem),
               order = 2 * digits + 4;
  return MethodEntry::Least{digits * (fmm_seconds_per_prism * m + fmm_seconds_per_station * n),
                            m * (24 + 0.25 * order * order) + 80 * n};
}

/// Throws InputError.
void only_on_the_cpu(const Problem& problem) {
  if (problem.on_device())
    throw InputError("simulation.method", "the fmm method runs on the CPU only",
                     "Write device = \"cpu\"; or method = \"tree\", or \"auto\", which run on devices too.");
}

std::shared_ptr<Fmm> grow_fmm(const Problem& problem, Progress& progress) {
  const auto& p = problem.parameters;
  return std::make_shared<Fmm>(problem.prisms, problem.stations, p.channels, p.accuracy, p.threads, progress);
}

Candidate fmm_candidate(const Problem& problem, Progress& progress) {
  Candidate candidate;
  candidate.method = Method::fmm;
  if (problem.parameters.method == Method::fmm) only_on_the_cpu(problem);
  if (problem.on_device()) {
    candidate.reason = "no fmm (it runs on the CPU only)";
    return candidate;
  }
  const auto fmm = grow_fmm(problem, progress);
  const auto cost = fmm->cost(progress);
  candidate.seconds = cost.seconds;
  candidate.spent =
      digits_for_fmm(problem) * fmm_seconds_per_prism * static_cast<double>(problem.prisms.size());
  candidate.host_bytes = candidate.asked_bytes = cost.memory_bytes;
  candidate.estimated_error = std::max(problem.parameters.accuracy, fmm_rounding);
  candidate.summed = problem.prisms;
  candidate.make = [fmm](Device, Progress&) -> std::shared_ptr<Summation> { return fmm; };
  return candidate;
}

}  // namespace

const MethodEntry fmm_method{
    Method::fmm,
    "fmm",
    fmm_rounding,
    fmm_at_least,
    fmm_candidate,
    [](const Problem& problem, Progress& progress) -> std::shared_ptr<Summation> {
      only_on_the_cpu(problem);
      return grow_fmm(problem, progress);
    },
};

}  // namespace terrane::gravity
