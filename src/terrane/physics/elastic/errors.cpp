// The errors that a run states: the companion's run, and what a check foretells.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "terrane/physics/elastic/simulation.hpp"
#include "terrane/physics/elastic/trace_errors.hpp"

namespace terrane::elastic {

namespace {

constexpr double least_size = 1e-3;   // of the largest receiver's: least scale of relative errors
constexpr double least_error = 5e-4;  // relative; rounding of single precision
// What matched layers send back, relative to the seismogram. Those of the companion begin at the same places,
// so that the difference of the two runs contains only a part of it.
constexpr double of_matched_layers = 4e-3, of_braking_layers = 0.02;
constexpr double of_mean = 0.5;  // least error, relative to the mean error of all traces

constexpr std::array<const char*, 3> axis_names{"east", "north", "up"};

/// The size of each receiver's seismogram, of all components together, rms.
std::vector<double> sizes_of_receivers(const TraceErrors& errors, std::size_t each) {
  std::vector<double> sizes(errors.size.size() / each);
  for (std::size_t n = 0; n < errors.size.size(); ++n)
    sizes[n / each] = std::hypot(sizes[n / each], errors.size[n]);
  return sizes;
}

double sent_back(const Mesh& mesh) {
  double most = 0;
  for (const auto& margin : mesh.margins)
    most = std::max(most, margin.braking > 0 ? of_braking_layers : of_matched_layers);
  return most;
}

double rms_of(const std::vector<double>& errors, const std::vector<double>& scale) {
  double sum = 0;
  for (std::size_t n = 0; n < errors.size(); ++n) sum += std::pow(errors[n] / scale[n], 2);
  return errors.empty() ? 0 : std::sqrt(sum / static_cast<double>(errors.size()));
}

}  // namespace

void Simulation::prepare_errors(const Interfaces& interfaces, bool under_surface, const Config& job,
                                const Config& simulation, const MemoryBudget& memory,
                                const EarthRequest& request) {
  read_fields(simulation, accuracy_);
  if (accuracy_.states_errors())
    companion_ = companion_of(problem_, cells_, interfaces, under_surface, job, simulation, memory, request);
}

void Simulation::describe_errors(RunFacts& facts) const {
  if (!accuracy_.states_errors()) return;
  const auto& other = companion_.problem;
  if (!other) {
    facts.warnings.push_back("no error will be stated: " + companion_.why_none);
    return;
  }
  const auto work = static_cast<double>(other->mesh.size() * other->steps_taken()),
             own = static_cast<double>(problem_.mesh.size() * problem_.steps_taken());
  facts.add("companion_elements", std::uint64_t{other->mesh.size()}, "", "companion",
            fmt::format("a second run on {} elements states errors, {:.2g} of the work of the first",
                        grouped(other->mesh.size()), work / own));
}

std::vector<double> Simulation::state_errors(const std::vector<double>& traces, double seconds,
                                             const Runtime& runtime, Result& result) const {
  const auto begin = std::chrono::steady_clock::now();
  const auto& p = problem_;
  const std::size_t each = p.records_pressure ? 1 : 3, count = p.receivers.size() * each;
  StatedErrors stated(accuracy_.of_data(), companion_.why_none);
  if (!companion_.problem) {
    stated.tell(result, 0, seconds);
    return std::vector<double>(count, NAN);
  }
  const auto& other = *companion_.problem;
  Runtime once = runtime;
  once.checkpoint = {};
  const auto its = seismograms(other, march(other, once), quantity_, runtime.threads);
  auto errors =
      errors_of_traces(p, other, companion_.shows_dispersion_alone, quantity_, traces, its, runtime.threads);
  const auto sizes = sizes_of_receivers(errors, each);
  const double largest = *std::max_element(sizes.begin(), sizes.end());
  JudgedData judged{quantity_name(quantity_), {}, {}, {}, [&](std::size_t n) {
                      const auto& receiver = names_[n / each];
                      return each == 1 ? "receiver " + receiver
                                       : fmt::format("receiver {}, {}", receiver, axis_names[n % each]);
                    }};
  judged.least = least_error, judged.of_mean = of_mean;
  for (std::size_t n = 0; n < count; ++n) {
    const double scale = std::max(sizes[n / each], least_size * largest);
    errors.rest[n] = std::hypot(errors.rest[n], sent_back(p.mesh) * scale);
    judged.difference.push_back(errors.error(n));
    judged.scale.push_back(scale > 0 ? scale : 1);  // without any wave there is no relative error
    judged.source.push_back(0);
  }
  auto values = stated.of(judged);
  const double its_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  stated.tell(result, its_seconds, seconds + its_seconds);
  const double of_sides = rms_of(errors.rest, judged.scale),
               of_waves = rms_of(errors.dispersion, judged.scale);
  result.report.add(
      "error_of_interfaces_and_sides", of_sides, "", "of this",
      fmt::format("{:.2g} % by interfaces in elements and by sides, {:.2g} % by dispersion (rms "
                  "over traces)",
                  100 * of_sides, 100 * of_waves));
  result.report.add("error_of_dispersion", of_waves);
  return values;
}

}  // namespace terrane::elastic
