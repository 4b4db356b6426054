// The run of acoustic waves, and the data sets of gathers, snapshots and images.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "terrane/base/memory.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/acoustic/filters.hpp"
#include "terrane/physics/acoustic/host_memory.hpp"
#include "terrane/physics/acoustic/inverse_scattering.hpp"
#include "terrane/physics/acoustic/observed.hpp"
#include "terrane/physics/acoustic/shot_files.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::acoustic {

Dataset Simulation::compute(Result& result, const Choice& choice, const Runtime& runtime) {
  const auto begin = std::chrono::steady_clock::now();
  auto done = run_shots(problem_, choice.settings, runtime);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  auto& report = result.report;
  report.notes.insert(report.notes.end(), done.notes.begin(), done.notes.end());
  report.warnings.insert(report.warnings.end(), done.warnings.begin(), done.warnings.end());
  const auto is_finite = [](const auto& values) {
    return first_where(values.size(), 0, [&](std::size_t n) { return !std::isfinite(values[n]); }) ==
           values.size();
  };
  const bool images_wanted = choice.settings.task == Task::migration;
  if ((images_wanted && !is_finite(done.images.correlation)) ||
      !std::all_of(done.gathers.begin(), done.gathers.end(), is_finite))
    throw Error("acoustic", "the waves grew beyond all bounds",
                "This should not happen with a stable step; run the job in double precision and report it.");
  const auto pictures =
      done.pictures.on_disk() ? done.pictures : Pictures{};  // snapshots in memory are already in `data`
  Dataset data;
  if (images_wanted) {
    data = images(std::move(done));
  } else {
    data = gathers(done);
    if (accuracy_.states_errors()) state_errors(data, done, seconds, choice, runtime, result);
  }
  if (pictures.on_disk())
    result.entries.push_back(
        {data.variables.back().name,
         [pictures](std::size_t entry, std::span<float> values) { pictures.get(entry, values); }});
  return data;
}

Result Simulation::outline() const {
  return outline_of(physics_, job_, settings_.task == Task::migration ? images({}) : gathers({}));
}

Dataset Simulation::gathers(const Outcome& done) const {
  const auto& shots = problem_.shots;
  const auto& receivers = shots.front().receivers;
  Dataset data;
  const std::size_t samples = (problem_.steps() - 1) / every_ + 1;
  data.dimensions = {{"shot", shots.size()}, {"time", samples}, {"receiver", receivers.size()}};
  std::vector<double> time;
  for (std::size_t n = 0; n < samples; ++n) time.push_back(static_cast<double>(n * every_) * problem_.step);
  data.coordinates.push_back({"time", "s", "time", {"time"}, std::move(time), {}});
  const char* axes[3] = {"easting", "northing", "up"};
  for (std::size_t a = 0; a < 3; ++a) {
    std::vector<double> source, receiver;
    for (const auto& shot : shots) source.push_back(shot.sources.front()[a]);
    for (const auto& at : receivers) receiver.push_back(at[a]);
    data.coordinates.push_back({fmt::format("source_{}", axes[a]),
                                "m",
                                fmt::format("{} of the source", axes[a]),
                                {"shot"},
                                std::move(source),
                                {}});
    data.coordinates.push_back({fmt::format("receiver_{}", axes[a]),
                                "m",
                                fmt::format("{} of the receiver", axes[a]),
                                {"receiver"},
                                std::move(receiver),
                                {}});
  }
  for (std::size_t c = 0; c < problem_.record.size(); ++c) add_traces(data, done, c);
  if (settings_.snapshots.any()) add_pictures(data, done.pictures);
  return data;
}

/// Adds the traces of one component, and the variable of their errors, without values, if the run states any.
void Simulation::add_traces(Dataset& data, const Outcome& done, std::size_t c) const {
  const auto& shot = problem_.shots.front();
  const std::size_t each = shot.receivers.size(), traces = problem_.traces(shot);
  const auto component = problem_.record[c];
  const bool is_pressure = component == Component::pressure;
  const std::string name(component_names[static_cast<std::size_t>(component)]),
      unit = is_pressure ? "Pa" : "m/s";
  std::vector<float> values;
  values.reserve(done.gathers.size() * ((problem_.steps() - 1) / every_ + 1) * each);
  for (const auto& gather : done.gathers)
    for (std::size_t n = 0; n * traces < gather.size(); n += every_) {
      const auto row = gather.begin() + static_cast<std::ptrdiff_t>(n * traces + c * each);
      values.insert(values.end(), row, row + static_cast<std::ptrdiff_t>(each));
    }
  constexpr const char* axes[3] = {"easting", "northing", "up"};
  data.variables.push_back(
      {name,
       unit,
       fmt::format(
           "{}{}",
           is_pressure ? "pressure" : fmt::format("velocity of particles, {}", axes[2 - axis_of(component)]),
           settings_.task == Task::born ? " that is scattered once" : ""),
       {"shot", "time", "receiver"},
       std::move(values),
       {}});
  if (!accuracy_.states_errors()) return;
  data.variables.push_back(
      {name + "_error", unit, "rms error of the trace", {"shot", "receiver"}, std::vector<double>(), {}});
}

/// Adds the snapshots as the last variable, without values if these are on disk.
void Simulation::add_pictures(Dataset& data, const Pictures& pictures) const {
  const auto& shown = settings_.snapshots;
  const auto nodes = shown.nodes(problem_.grid);
  data.dimensions.push_back({"snapshot", shown.count(problem_)});
  data.coordinates.push_back(
      {"snapshot", "s", "time of the snapshot", {"snapshot"}, shown.times(problem_), {}});
  constexpr const char* axes[3] = {"up", "northing", "easting"};
  for (int a = 0; a < 3; ++a) {
    auto places = nodes.places(problem_.grid, a);
    data.dimensions.push_back({axes[a], places.size()});
    data.coordinates.push_back({axes[a], "m", axes[a], {axes[a]}, std::move(places), {}});
  }
  data.variables.push_back(
      {"snapshot_pressure",
       "Pa",
       fmt::format("pressure everywhere{}, shot {}",
                   settings_.task == Task::born ? " that is scattered once" : "", shown.shot + 1),
       {"snapshot", "up", "northing", "easting"},
       pictures.on_disk() ? std::vector<float>() : pictures.all(),
       {}});
}

Dataset Simulation::images(Outcome done) const {
  const auto& grid = problem_.grid;
  Dataset data;
  const char* axes[3] = {"up", "northing", "easting"};
  std::vector<std::string> names;
  for (std::size_t a = 0; a < 3; ++a) {
    std::vector<double> at;
    for (Index n = 0; n < grid.nodes[a]; ++n)
      at.push_back(grid.first[a] + static_cast<double>(n) * grid.spacing[a]);
    data.dimensions.push_back({axes[a], at.size()});
    data.coordinates.push_back({axes[a], "m", axes[a], {axes[a]}, std::move(at), {}});
    names.push_back(axes[a]);
  }
  auto& image = done.images;
  auto even = filled(image.correlation.size(), 0.0);
  std::vector<double> filtered, scattering;
  if (!even.empty()) {
    const auto count = even.size();
    const double most = largest_value(count, 0, [&](std::size_t n) { return image.illumination[n]; });
    for_each_stretch(count, 0, [&](std::size_t first, std::size_t last) {
      for (std::size_t n = first; n < last; ++n)
        even[n] = image.correlation[n] / (image.illumination[n] + 1e-3 * most);
    });
    filtered = laplacian_of(grid, image.correlation, 0);
    if (problem_.fields() == 1) scattering = inverse_scattering_of(problem_, image.correlation);
  }
  const auto put = [&](const char* name, const char* unit, const char* what, std::vector<double>&& values) {
    data.variables.push_back({name, unit, what, names, std::move(values), {}});
  };
  put("image", "Pa2", "zero-lag cross-correlation", std::move(image.correlation));
  put("image_even", "1", "the same over the illumination", std::move(even));
  put("image_filtered", "Pa2/m2", "Laplacian of the image", std::move(filtered));
  put("illumination", "Pa2", "sum of the squared pressure of the sources", std::move(image.illumination));
  put("gradient", "Pa2.m2/s2", "adjoint of Born modelling applied to the data", std::move(image.kernel));
  if (problem_.fields() == 1)
    put("image_inverse_scattering", "Pa2/m2", "inverse-scattering image", std::move(scattering));
  if (settings_.images_at_lags() == 0) return data;
  std::vector<double> lags;
  for (Index lag = -settings_.lags; lag <= settings_.lags; ++lag)
    lags.push_back(static_cast<double>(lag) * grid.spacing[east]);
  data.dimensions.push_back({"lag", lags.size()});
  data.coordinates.push_back(
      {"lag", "m", "receivers' wave to the east, source's to the west", {"lag"}, std::move(lags), {}});
  names.insert(names.begin(), "lag");
  data.variables.push_back({"image_at_lags",
                            "Pa2",
                            "cross-correlation of waves shifted along easting",
                            std::move(names),
                            std::move(image.at_lags),
                            {}});
  return data;
}

/// The properties of the medium, in the units of models.
std::vector<Column> Simulation::columns() const {
  const auto& p = problem_;
  std::vector<Column> all{{"velocity_p", "m/s", "velocity", p.velocity}};
  if (p.equation == Equation::variable_density) all.push_back({"density", "kg/m3", "density", p.density});
  if (p.fields() == 2) {
    all.push_back({"epsilon", "1", "Thomsen's epsilon", p.epsilon});
    all.push_back({"delta", "1", "Thomsen's delta", p.delta});
  }
  if (p.equation == Equation::tti)
    for (auto [name, values] : {std::pair{"tilt", p.tilt}, std::pair{"tilt_azimuth", p.azimuth}}) {
      for (double& angle : values) angle *= 180 / std::numbers::pi;
      all.push_back({name, "degree", "of the axis of symmetry", values});
    }
  return all;
}

io::Content Simulation::model(bool) const {
  return io::MeshData{mesh_of(problem_.grid), columns(), provenance(physics_, job_)};
}

}  // namespace terrane::acoustic
