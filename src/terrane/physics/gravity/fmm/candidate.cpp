#include "terrane/physics/gravity/fmm/candidate.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/physics/gravity/fmm/fmm.hpp"
#include "terrane/physics/gravity/fmm/fmm_device.hpp"

namespace terrane::gravity {

namespace {

constexpr double fmm_rounding = 1e-14;  // rounding error of expansions, relative to the largest value
// Seconds per digit of accuracy.
constexpr double fmm_seconds_per_prism = 35e-9, fmm_seconds_per_station = 0.25e-6;
// Seconds of the CPU per digit of accuracy, if a device computes the sums, for trees, lists and expansions.
// The constants `listing` are the part of `setting_up` that is spent after planning.
constexpr double setting_up_per_prism = 100e-9, setting_up_per_station = 0.25e-6;
constexpr double listing_per_prism = 50e-9, listing_per_station = 0.17e-6;

double digits_for_fmm(const Problem& problem) { return -std::log10(problem.parameters.accuracy); }

/// Lower bounds of time and memory: all runs that were measured needed more.
std::optional<MethodEntry::Least> fmm_at_least(const Problem& problem) {
  const double m = static_cast<double>(problem.prisms.size()),
               n = static_cast<double>(problem.stations.size()), digits = digits_for_fmm(problem),
               order = 2 * digits + 4;
  const double per_prism = problem.on_device() ? setting_up_per_prism : fmm_seconds_per_prism,
               per_station = problem.on_device() ? setting_up_per_station : fmm_seconds_per_station;
  return MethodEntry::Least{digits * (per_prism * m + per_station * n),
                            m * (24 + 0.25 * order * order) + 80 * n};
}

std::shared_ptr<Fmm> grow_fmm(const Problem& problem, Progress& progress) {
  const auto& p = problem.parameters;
  if (problem.on_device())
    return std::make_shared<Fmm>(problem.prisms, problem.stations, p.channels, p.accuracy, p.threads,
                                 progress, Fmm::ForDevice{0, 0});
  return std::make_shared<Fmm>(problem.prisms, problem.stations, p.channels, p.accuracy, p.threads, progress);
}

std::shared_ptr<Summation> fmm_summation(const Problem& problem, std::shared_ptr<Fmm> fmm, Device device,
                                         Progress& progress) {
  if (device.has_own_memory())
    return fmm_sum_on_device(device, std::move(fmm), problem.parameters.precision, progress);
  return fmm;
}

Candidate fmm_candidate(const Problem& problem, Progress& progress) {
  Candidate candidate;
  candidate.method = Method::fmm;
  const auto fmm = grow_fmm(problem, progress);
  const auto cost = fmm->cost(progress);
  candidate.seconds = (cost.seconds - cost.one_by_one_seconds) / problem.speedup + cost.one_by_one_seconds;
  candidate.spent =
      digits_for_fmm(problem) * fmm_seconds_per_prism * static_cast<double>(problem.prisms.size());
  candidate.host_bytes = cost.memory_bytes, candidate.asked_bytes = cost.asked_bytes;
  if (problem.on_device()) {
    candidate.seconds +=
        digits_for_fmm(problem) * (listing_per_prism * static_cast<double>(problem.prisms.size()) +
                                   listing_per_station * static_cast<double>(problem.stations.size()));
    const auto there = fmm_memory_on_device(*fmm, cost);
    candidate.device_bytes = there.device;
    candidate.host_bytes += static_cast<std::size_t>(there.host);
  }
  candidate.estimated_error = std::max(problem.parameters.accuracy, fmm_rounding);
  candidate.summed = problem.prisms;
  candidate.make = [problem, fmm](Device device, Progress& shown) {
    return fmm_summation(problem, fmm, device, shown);
  };
  return candidate;
}

}  // namespace

const MethodEntry fmm_method{
    Method::fmm,
    "fmm",
    fmm_rounding,
    fmm_at_least,
    fmm_candidate,
    [](const Problem& problem, Progress& progress) {
      return fmm_summation(problem, grow_fmm(problem, progress), problem.parameters.device, progress);
    },
};

}  // namespace terrane::gravity
