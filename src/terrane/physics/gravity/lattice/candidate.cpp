#include "terrane/physics/gravity/lattice/candidate.hpp"

#include <fmt/format.h>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/lattice/lattice.hpp"
#include "terrane/physics/gravity/lattice/lattice_device.hpp"

namespace terrane::gravity {

namespace {

constexpr double transform_rounding = 1e-14;  // rounding error of transforms, relative to the largest value

/// Null if there is no lattice; `reason` then says why. Throws InputError if the lattice method was
/// requested.
std::shared_ptr<LatticeOperator> recognise(const Problem& problem, std::string& reason) {
  auto lattice = recognise_lattice(problem.prisms, problem.stations, reason, problem.parameters.threads);
  if (lattice) return std::make_shared<LatticeOperator>(std::move(*lattice), problem.parameters.channels);
  if (problem.parameters.method != Method::lattice) return nullptr;
  throw InputError("simulation.method", fmt::format("prisms and stations form no lattice: {}", reason),
                   "Write method = \"auto\".");
}

std::shared_ptr<Summation> lattice_summation(const Problem& problem, std::shared_ptr<LatticeOperator> lattice,
                                             Device device) {
  const auto& density = problem.prisms.density;
  const int threads = problem.parameters.threads;
  if (device.has_own_memory()) return lattice_sum_on_device(device, lattice->plan(), density, threads);
  return std::make_shared<LatticeSummation>(std::move(lattice), density, threads);
}

Candidate lattice_candidate(const Problem& problem, Progress&) {
  Candidate candidate;
  candidate.method = Method::lattice;
  std::string reason;
  const auto lattice = recognise(problem, reason);
  if (!lattice) {
    candidate.reason = fmt::format("no lattice ({})", reason);
    return candidate;
  }
  if (problem.on_device()) {
    const auto there = lattice_cost_on_device(*lattice->plan());
    candidate.seconds = there.seconds * thread_count(problem.parameters.threads);
    candidate.device_bytes = there.bytes;
    // The transforms are on the device; the host stores the cell of each prism, and values at stations.
    candidate.host_bytes = problem.prisms.size() * 2 * sizeof(std::uint32_t) + problem.stations.size() * 64;
  } else {
    const auto cost = lattice->cost();
    candidate.seconds = cost.seconds;
    candidate.host_bytes = cost.memory_bytes;
  }
  candidate.estimated_error = transform_rounding;
  candidate.summed = problem.prisms;
  candidate.make = [problem, lattice](Device device, Progress&) {
    return lattice_summation(problem, lattice, device);
  };
  return candidate;
}

}  // namespace

const MethodEntry lattice_method{
    Method::lattice,
    "lattice",
    transform_rounding,
    [](const Problem&) { return std::optional<MethodEntry::Least>{}; },
    lattice_candidate,
    [](const Problem& problem, Progress&) {
      std::string reason;
      return lattice_summation(problem, recognise(problem, reason), problem.parameters.device);
    },
};

}  // namespace terrane::gravity
