#include "terrane/physics/acoustic/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/free_memory.hpp"
#include "terrane/job/blame.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/parallel/threads/copied.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/acoustic/filters.hpp"
#include "terrane/physics/acoustic/mesh_plan.hpp"
#include "terrane/physics/acoustic/observed.hpp"
#include "terrane/physics/acoustic/simulation/tables.hpp"
#include "terrane/simulation/describe.hpp"

namespace terrane::acoustic {

namespace {

/// Smooths the velocity of the medium. Without observed data the scatterers are the difference in 1/v²
/// between the original and the smoothed medium.
void smooth(Problem& p, Settings& s, double length, bool observed, int threads) {
  if (length <= 0) return;
  auto rough = observed ? std::vector<double>() : copied(p.velocity);
  if (!observed && p.step == 0 && s.task == Task::migration)
    p.step = 0.9 * p.longest_step();  // the step must be stable in the original medium, too
  p.velocity = smoothed(p.grid, std::move(p.velocity), length, threads);
  for_each_stretch(rough.size(), threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n)
      rough[n] = 1 / (rough[n] * rough[n]) - 1 / (p.velocity[n] * p.velocity[n]);
  });
  s.change = std::move(rough);
}

/// Reads the scatterers of Born modelling and migration. Throws InputError.
void read_scattering(const Config& table, bool observed, int threads, Problem& p, Settings& s) {
  const auto smoothing = read_smoothing(table, p.grid);
  if (s.task == Task::modelling) {
    if (smoothing) throw table.wrong("smoothing", "is of born and migration");
    return;
  }
  constexpr auto next = "The model less a smooth one is what scatters: smoothing = \"100 m\".";
  if (!smoothing && !observed) throw table.wrong("smoothing", "missing", next);
  if (smoothing == 0.0 && !observed)
    throw table.wrong("smoothing", "leaves the model as it is, and nothing would scatter", next);
  smooth(p, s, smoothing.value_or(0), observed, threads);
}

/// The request for the job's earth model; if the mesh is planned, with the function that plans it.
EarthRequest request_for(const Problem& p, const Config& source, const Stations& stations) {
  EarthRequest request;
  request.plan = [&](const Description& described, const MeshWish& wish) {
    GridWish waves{read_shots(source), positions_of(stations.survey)};
    waves.highest_frequency = read_wavelet(source).highest_frequency();
    waves.cells_per_wavelength =
        differences(p.order, p.coefficients, p.equation).points_per_wavelength(0.005);
    waves.end = p.end;
    return plan_grid(described, wish, waves);
  };
  request.reads = properties_read(p.equation);
  return request;
}

}  // namespace

Grid grid_of(const TensorMesh& mesh) {
  Grid grid;
  const std::vector<double>* axes[3] = {&mesh.up(), &mesh.northing(), &mesh.easting()};
  constexpr const char* names[3] = {"up", "northing", "easting"};
  for (std::size_t a = 0; a < 3; ++a) {
    const auto& faces = *axes[a];
    const auto cells = static_cast<double>(faces.size() - 1);
    const double width = (faces.back() - faces.front()) / cells;
    for (std::size_t n = 0; n + 1 < faces.size(); ++n)
      if (std::abs(faces[n + 1] - faces[n] - width) > 1e-6 * width)
        throw InputError(
            "acoustic: grid",
            fmt::format("cells along {} are {} to {} m wide", names[a], faces[n + 1] - faces[n], width),
            "Waves need even cells: mesh.kind = \"regular\".");
    grid.nodes[a] = static_cast<Index>(faces.size()) - 1;
    grid.spacing[a] = width;
    grid.first[a] = faces.front() + width / 2;
  }
  return grid;
}

Simulation::Simulation(Problem problem, Settings settings, JobOrigin job)
    : SimulationOf("acoustic", std::move(job)), problem_(std::move(problem)), settings_(std::move(settings)) {
  problem_.settle();
  if (settings_.snapshots.interval > 0) settings_.snapshots.settle(problem_);
  const std::size_t receivers = problem_.shots.front().receivers.size();
  for (const auto& shot : problem_.shots)
    if (shot.receivers.size() != receivers)
      throw InputError("acoustic: shots", "they differ in their numbers of receivers");
  const bool pressure =
      std::find(problem_.record.begin(), problem_.record.end(), Component::pressure) != problem_.record.end();
  if (settings_.task == Task::migration && pressure && problem_.hears_velocities())
    throw InputError("acoustic: record",
                     "an image of pressures and velocities together would be one of pressures: "
                     "they differ by the impedance of the medium",
                     "Migrate one of them, then the other.");
  if (const auto cells = problem_.grid.nodes[east]; settings_.lags < 0 || 2 * settings_.lags >= cells)
    throw InputError(
        "acoustic: lags",
        fmt::format("waves {} cells apart do not fit in {} cells along easting", 2 * settings_.lags, cells),
        fmt::format("Allowed: 0 to {}.", (cells - 1) / 2));
  warnings_ = problem_.doubts_of_wavelet();
  slowest_ = problem_.slowest();
  longest_step_ = problem_.longest_step();
  const double error = problem_.group_error(slowest_);
  if (error > 0.02)
    warnings_.push_back(fmt::format(
        "waves of {:.4g} Hz have {:.3g} cells per wavelength in the slowest medium and are {:.2g} "
        "% too slow or too fast; {:.3g} would make that 1 %",
        problem_.wavelet.highest_frequency(), problem_.points_per_wavelength(slowest_), 100 * error,
        differences(problem_.order, problem_.coefficients, problem_.equation).points_per_wavelength(0.01)));
}

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  return read(job, runtime, nullptr);
}

std::unique_ptr<Simulation> Simulation::for_inversion(const Config& job, const Runtime& runtime,
                                                      const Prepare& prepare) {
  return read(job, runtime, &prepare);
}

void Simulation::read_observed(const Config& table) {
  try {
    settings_.data = observed_of(table.text("observed"), read_content(table, "observed"), problem_, notes_);
  } catch (const InputError& error) {
    throw table.wrong("observed", fmt::format("\"{}\": {}", error.where(), error.problem()), error.next());
  }
}

std::unique_ptr<Simulation> Simulation::read(const Config& job, const Runtime& runtime,
                                             const Prepare* prepare) {
  const bool inverts = prepare != nullptr;
  const auto memory = memory_budget(runtime);
  const auto table = job.table("simulation").describe({simulation_keys(), Runtime::section().keys});
  const auto source = job.table("source").describe({source_keys()});
  auto stations = build_survey(job, memory);
  Problem p;
  Settings s;
  read_simulation(table, p, s, inverts);
  const auto accuracy = read_accuracy(table, s, inverts);
  if (inverts) refuse_to_invert(table, s);
  s.snapshots = read_snapshots(job, s, inverts);
  read_boundary(job.table("boundary").describe({boundary_keys()}), p);
  std::string unit_of_wavelet;
  p.wavelet = read_wavelet(source, &unit_of_wavelet);
  expect_above_zero(job, {"velocity_p"}, "waves need");
  if (p.equation == Equation::variable_density) expect_above_zero(job, {"density"}, "waves need");
  const auto request = request_for(p, source, stations);
  auto earth = build_earth(job, std::nullopt, memory, request);
  auto& [mesh, cells] = std::get<MeshCells>(earth.model.geometry);
  expect_wavelet_unit(source, unit_of_wavelet, mesh);
  p.velocity = velocity_of(earth.model, job);
  read_medium(earth.model, job, p);
  free_memory(cells);  // from here on the problem contains the model
  try {
    p.grid = grid_of(mesh);
  } catch (const InputError& error) {
    at_key(error, job);
  }
  const auto receivers = positions_of(stations.survey);
  for (const auto& at : read_shots(source)) p.shots.push_back({{at}, receivers});

  const bool given = table.optional_text("observed").has_value();
  if (given && s.task != Task::migration)
    throw table.wrong("observed", "is of migration", "Take it away, or kind = \"migration\".");
  read_scattering(table, given || inverts, runtime.threads, p, s);
  try {
    if (inverts) (*prepare)(p, mesh, s.task);
    const auto every = read_sample(table, p);
    auto made = std::make_unique<Simulation>(std::move(p), std::move(s),
                                             JobOrigin{job.source(), stations.survey.projection});
    made->every_ = every;
    made->take_notes(earth, stations);
    made->accuracy_ = accuracy;
    if (accuracy.states_errors()) made->make_companion(job, memory, request);
    if (given) made->read_observed(table);
    return made;
  } catch (const InputError& error) {
    at_key(error, job);
  }
}

}  // namespace terrane::acoustic
