#include "terrane/physics/gravity/direct/candidate.hpp"

#include <utility>

#include "terrane/physics/gravity/direct/direct.hpp"
#include "terrane/physics/gravity/direct/direct_device.hpp"
#include "terrane/physics/gravity/direct/merge.hpp"

namespace terrane::gravity {

namespace {

constexpr double seconds_to_merge = 300e-9;  // s per prism

std::shared_ptr<Summation> direct_summation(const Problem& problem, const Prisms& summed, Device device) {
  const auto& p = problem.parameters;
  if (device.has_own_memory()) return direct_sum_on_device(device, summed, problem.stations, p);
  return std::make_shared<DirectSummation>(summed, problem.stations, p.channels, p.accuracy, p.threads);
}

/// bars: owner of the arrays that `summed` views; null if the caller owns them
Candidate candidate_over(const Problem& problem, const Prisms& summed, double seconds, double near_share,
                         std::shared_ptr<const MergedPrisms> bars) {
  const auto& p = problem.parameters;
  Candidate candidate;
  candidate.method = Method::direct;
  candidate.seconds = seconds;
  candidate.host_bytes =
      DirectPlan(summed.size(), problem.stations.size(), p.channels, p.threads).memory_bytes +
      (bars ? 7 * sizeof(double) * summed.size() : 0);
  if (problem.on_device())
    candidate.device_bytes =
        direct_device_bytes(summed.size(), problem.stations.size(), p.channels, near_share);
  candidate.estimated_error = p.accuracy;
  if (bars) candidate.note = bars->text();
  candidate.summed = summed;
  candidate.make = [problem, summed, bars = std::move(bars)](Device device, Progress&) {
    return direct_summation(problem, summed, device);
  };
  return candidate;
}

}  // namespace

Candidate direct_candidate(const Problem& problem, const DirectCost& cost) {
  return candidate_over(problem, problem.prisms, cost.seconds(problem.speedup), cost.near_share, nullptr);
}

BarsCandidate::BarsCandidate(const Problem& problem, const DirectCost& as_given)
    : problem_(problem),
      as_given_(as_given),
      share_(share_that_merges(problem.prisms)),
      merging_(seconds_to_merge * static_cast<double>(problem.prisms.size())) {}

double BarsCandidate::promises() const {
  return merging_ + 4 * (1 - share_) * as_given_.seconds(problem_.speedup);
}

Candidate BarsCandidate::make(Progress& progress) {
  const auto& p = problem_.parameters;
  const auto bars = std::make_shared<const MergedPrisms>(merge(problem_.prisms, p.threads, &progress));
  cost_ = direct_cost(bars->view(), problem_.stations, p.channels, p.accuracy);
  return candidate_over(problem_, bars->view(), seconds(problem_.speedup), as_given_.near_share, bars);
}

const MethodEntry direct_method{
    Method::direct,
    "direct",
    best_accuracy,
    [](const Problem&) { return std::optional<MethodEntry::Least>{}; },
    [](const Problem& problem, Progress&) {
      const auto& p = problem.parameters;
      return direct_candidate(problem, direct_cost(problem.prisms, problem.stations, p.channels, p.accuracy));
    },
    [](const Problem& problem, Progress&) {
      return direct_summation(problem, problem.prisms, problem.parameters.device);
    },
};

}  // namespace terrane::gravity
