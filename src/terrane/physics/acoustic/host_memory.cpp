#include "terrane/physics/acoustic/host_memory.hpp"

#include <algorithm>

#include "terrane/physics/acoustic/march/medium.hpp"

namespace terrane::acoustic {

namespace {

double properties_of(const Problem& problem) {
  constexpr double properties[] = {1, 2, 3, 5};  // number of properties, in the order of Equation
  return properties[static_cast<int>(problem.equation)];
}

}  // namespace

double bytes_of_planes(const Problem& problem, const Settings& settings) {
  const double at_once =
      std::min<double>(bytes_of_planes_at_once,
                       static_cast<double>(problem.whole().count()) * (settings.double_precision ? 8 : 4));
  // The number of properties from which one array of the medium is computed.
  const double values = properties_of(problem) > 2 ? 2 : properties_of(problem);
  return at_once * (2 + values * (settings.double_precision ? 1 : 2));  // one is sent, one computed
}

double bytes_of_models(const Problem& problem, const Settings& settings) {
  double models = properties_of(problem);
  // The run then also stores the medium in which data are computed, and the scatterers.
  if (settings.task == Task::migration && settings.data->empty()) models *= 2;
  if (settings.task == Task::born || (settings.task == Task::migration && settings.data->empty())) ++models;
  return models * sizeof(double) * static_cast<double>(problem.velocity.size());
}

double bytes_of_gathers(const Problem& problem, const Settings& settings, std::size_t every) {
  double samples = 0, largest = 0;
  for (const auto& shot : problem.shots) {
    const auto of_shot = static_cast<double>(problem.steps() * problem.traces(shot));
    samples += of_shot;
    largest = std::max(largest, of_shot);
  }
  // Traces of one shot: three copies as recorded by receivers, and the gather in double and single precision.
  const double of_shot = largest * (3 * (settings.double_precision ? 8 : 4) + 8 + 4);
  if (settings.task == Task::migration)
    return of_shot + samples * (4 + (settings.data->empty() ? 0 : sizeof(double)));
  // All samples in single precision; written samples are also in a data set, and compressed in the file that
  // its writer builds in memory (6 bytes: fitted to the peak memory of jobs).
  const double written = samples / static_cast<double>(every);
  return samples * 4 + std::max(of_shot, written * (4 + 6));
}

}  // namespace terrane::acoustic
