#include "terrane/physics/gravity/tree/candidate.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/physics/gravity/tree/tree.hpp"
#include "terrane/physics/gravity/tree/tree_device.hpp"

namespace terrane::gravity {

namespace {

constexpr double expansion_rounding = 1e-14;  // rounding error of expansions, relative to the largest value
// Seconds per digit of accuracy, for the lower bound tree_at_least().
constexpr double least_seconds_per_prism = 35e-9, least_seconds_per_station = 0.5e-6;

double digits_of(const Problem& problem) { return -std::log10(problem.parameters.accuracy); }

/// Lower bounds of time and memory: all trees that were measured needed more.
std::optional<MethodEntry::Least> tree_at_least(const Problem& problem) {
  const double m = static_cast<double>(problem.prisms.size()),
               n = static_cast<double>(problem.stations.size()), digits = digits_of(problem),
               order = 1.3 * digits + 4;
  // Memory for the prisms' octree keys, their order and the expansions, while the tree is built.
  return MethodEntry::Least{digits * (least_seconds_per_prism * m + least_seconds_per_station * n),
                            m * (24 + 0.25 * order * order)};
}

std::shared_ptr<Tree> grow(const Problem& problem, Progress& progress) {
  const auto& p = problem.parameters;
  return std::make_shared<Tree>(problem.prisms, problem.stations, p.channels, p.accuracy, p.threads,
                                progress);
}

std::shared_ptr<Summation> tree_summation(const Problem& problem, std::shared_ptr<Tree> tree, Device device,
                                          Progress& progress) {
  if (device.has_own_memory())
    return tree_sum_on_device(device, std::move(tree), problem.parameters.precision, progress);
  return tree;
}

Candidate tree_candidate(const Problem& problem, Progress& progress) {
  const auto tree = grow(problem, progress);
  const auto cost = tree->cost(progress);
  Candidate candidate;
  candidate.method = Method::tree;
  candidate.seconds = (cost.seconds - cost.one_by_one_seconds) / problem.speedup + cost.one_by_one_seconds;
  candidate.spent = digits_of(problem) * least_seconds_per_prism * static_cast<double>(problem.prisms.size());
  candidate.host_bytes = cost.memory_bytes;
  candidate.asked_bytes = tree->bytes_to_grow();
  if (problem.on_device()) {
    const auto there = tree_memory_on_device(*tree, cost);
    candidate.device_bytes = there.device;
    candidate.host_bytes += static_cast<std::size_t>(there.host);
  }
  candidate.estimated_error = std::max(problem.parameters.accuracy, expansion_rounding);
  candidate.summed = problem.prisms;
  candidate.make = [problem, tree](Device device, Progress& shown) {
    return tree_summation(problem, tree, device, shown);
  };
  return candidate;
}

}  // namespace

const MethodEntry tree_method{
    Method::tree,
    "tree",
    expansion_rounding,
    tree_at_least,
    tree_candidate,
    [](const Problem& problem, Progress& progress) {
      return tree_summation(problem, grow(problem, progress), problem.parameters.device, progress);
    },
};

}  // namespace terrane::gravity
