// Estimated errors of gathers: the run of the companion, and the errors that `terrane check` predicts.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "terrane/job/earth_on.hpp"
#include "terrane/physics/acoustic/dispersion.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"
#include "terrane/physics/acoustic/simulation/tables.hpp"
#include "terrane/physics/acoustic/trace_errors.hpp"

namespace terrane::acoustic {

namespace {

constexpr double least_size =
    1e-3;  // fraction of the largest trace of a shot: the least value to which errors are relative
constexpr double least_error =
    2e-4;  // relative; allows for reflections of a cpml and rounding of single precision
constexpr double of_mean = 0.3;  // least error, relative to the mean error of the same shot

bool has_walls(const Problem& p) {
  for (int a = 0; a < 3; ++a)
    for (const auto side : p.sides[static_cast<std::size_t>(a)])
      if (p.grid.there(a) && side == Boundary::wall) return true;
  return false;
}

/// The longest distance of a receiver from its source, and the direction of the receiver.
struct Farthest {
  double distance = 0;
  std::array<double, 3> direction{1, 0, 0};
  Place source{};
};

Farthest farthest(const Problem& p) {
  Farthest most;
  most.source = p.shots.front().sources.front();
  for (const auto& shot : p.shots)
    for (const auto& at : shot.receivers) {
      const auto& from = shot.sources.front();
      double square = 0;
      for (std::size_t a = 0; a < 3; ++a)
        if (p.grid.there(static_cast<int>(a))) square += std::pow(at[2 - a] - from[2 - a], 2);
      if (square <= most.distance * most.distance) continue;
      most = {std::sqrt(square), direction_between(p.grid, from, at), from};
    }
  return most;
}

}  // namespace

void Simulation::make_companion(const Config& job, const MemoryBudget& memory, EarthRequest request) {
  if (has_walls(problem_)) {
    companion_.why_none = "walls lie half a cell outside the mesh, and move with the width of cells";
    return;
  }
  auto other = settings_of_companion(problem_);
  request.warn = {}, request.look = {};
  if (auto earth = described_earth_on(mesh_of(other.grid), job, memory, request)) {
    other.velocity = velocity_of(*earth, job);
    read_medium(*earth, job, other);
  } else {
    take_means(problem_, other);
  }
  companion_ = settled_companion(std::move(other));
}

void Simulation::describe_errors(RunFacts& facts) const {
  if (settings_.task != Task::modelling) return;
  const auto& p = problem_;
  const auto most = farthest(p);
  const double velocity = velocity_at(p, most.source),
               error = error_of_wavelet(p, most.direction, velocity, most.distance),
               whole = error_of_wavelet(p, {1, 0, 0}, slowest_, slowest_ * p.end);
  facts.add("dispersion_error", error, "", "dispersion",
            fmt::format("{:.2g} % (rms) of the direct wave at {:.4g} m; up to {:.2g} % after {:.4g} s in the "
                        "slowest medium",
                        100 * error, most.distance, 100 * whole, p.end));
  facts.add("dispersion_error_at_end", whole);
  if (!accuracy_.states_errors()) return;
  if (const auto& other = companion_.problem)
    facts.add("companion_nodes", static_cast<std::uint64_t>(other->whole().count()), "", "companion",
              fmt::format("a second run on {} nodes states errors",
                          grouped(static_cast<std::uint64_t>(other->whole().count()))));
  else facts.warnings.push_back("no error will be stated: " + companion_.why_none);
}

void Simulation::state_errors(Dataset& data, const Outcome& done, double seconds, const Choice& choice,
                              const Runtime& runtime, Result& result) const {
  using SteadyClock = std::chrono::steady_clock;
  const auto begin = SteadyClock::now();
  const auto& p = problem_;
  Outcome other;
  if (companion_.problem) {
    auto settings = choice.settings;
    settings.snapshots = {};
    Runtime once = runtime;
    once.checkpoint = {};
    other = run_shots(*companion_.problem, settings, once);
  }
  StatedErrors stated(accuracy_.of_data(), companion_.why_none);
  const std::size_t receivers = p.shots.front().receivers.size();
  double dispersion = 0, rest = 0;
  for (std::size_t c = 0; c < p.record.size(); ++c) {
    const std::string name(component_names[static_cast<std::size_t>(p.record[c])]);
    auto& values = data.find(name + "_error")->values;
    if (!companion_.problem) {
      values = std::vector<double>(p.shots.size() * receivers, NAN);
      continue;
    }
    const auto errors =
        errors_of_traces(p, *companion_.problem, done.gathers, other.gathers, c, runtime.threads);
    JudgedData judged{name, {}, {}, {}, [&](std::size_t n) {
                        return fmt::format("shot {}, receiver {}", n / receivers + 1, n % receivers + 1);
                      }};
    judged.least = least_error, judged.of_mean = of_mean;
    for (std::size_t s = 0; s < p.shots.size(); ++s) {
      const auto first = errors.size.begin() + static_cast<std::ptrdiff_t>(s * receivers);
      const double largest = *std::max_element(first, first + static_cast<std::ptrdiff_t>(receivers));
      for (std::size_t n = s * receivers; n < (s + 1) * receivers; ++n) {
        // Without any wave there is no relative error.
        const double scale = std::max(errors.size[n], least_size * largest);
        judged.difference.push_back(scale > 0 ? errors.error(n) : 0);
        judged.scale.push_back(scale > 0 ? scale : 1);
        judged.source.push_back(s);
        dispersion += std::pow(errors.dispersion[n] / judged.scale.back(), 2);
        rest += std::pow(errors.rest[n] / judged.scale.back(), 2);
      }
    }
    values = stated.of(judged);
  }
  const double its_seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  stated.tell(result, its_seconds, seconds + its_seconds);
  if (!companion_.problem) return;
  const auto traces = static_cast<double>(p.shots.size() * receivers * p.record.size());
  const double of_dispersion = std::sqrt(dispersion / traces), of_rest = std::sqrt(rest / traces);
  result.report.add("error_of_dispersion", of_dispersion, "", "of this",
                    fmt::format("{:.2g} % by dispersion, {:.2g} % by interfaces in cells, sides, and places "
                                "between nodes (rms over traces)",
                                100 * of_dispersion, 100 * of_rest));
  result.report.add("error_of_interfaces_and_sides", of_rest);
}

}  // namespace terrane::acoustic
