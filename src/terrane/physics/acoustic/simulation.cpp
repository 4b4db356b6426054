#include "terrane/physics/acoustic/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numbers>

#include "terrane/base/memory.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/blame.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/acoustic/filters.hpp"
#include "terrane/physics/acoustic/host_memory.hpp"
#include "terrane/physics/acoustic/inverse_scattering.hpp"
#include "terrane/physics/acoustic/mesh_plan.hpp"
#include "terrane/physics/acoustic/observed.hpp"
#include "terrane/physics/acoustic/shot_files.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::acoustic {

namespace {

std::span<const Key> source_keys() {
  return keys_of<Wavelet>({{"at", "list of 3 lengths each", "none",
                            "Easting, northing and up of each shot: [[1000, 0, -15]].", "[[1000, 0, -15]]"},
                           {"first", "list of 3 lengths", "none",
                            "First of several evenly spaced shots on a line, in place of at."},
                           {"last", "list of 3 lengths", "none", "Last shot of the line."},
                           {"count", "count", "none", "Number of shots on the line."}});
}
std::span<const Key> boundary_keys() {
  return keys_of<Layers>(
      {{"top", "text", "\"free_surface\"", "cpml (absorbs), sponge (absorbs less), free_surface, or wall."},
       {"bottom", "text", "\"cpml\"", "The same for the bottom."},
       {"west", "text", "\"cpml\"", "The same for the west side."},
       {"east", "text", "\"cpml\"", "The same for the east side."},
       {"south", "text", "\"cpml\"",
        "The same for the south side; without effect where the mesh is one cell wide."},
       {"north", "text", "\"cpml\"", "The same for the north side."}});
}
std::span<const Key> simulation_keys() {
  return keys_of<Problem, Settings>(
      {{"physics", "text", "", "What is computed.", "\"acoustic\""}},
      {{"smoothing", "length", "none",
        "Of born and migration: standard deviation of the Gaussian that smooths the model.", ""},
       {"observed", "path", "none",
        "Of migration: gathers to migrate: SEG-Y, SU, RSF or NetCDF, with traces of all shots and receivers, "
        "or .npy [shot, time, receiver] at the time steps of the run; without it, gathers computed from the "
        "model."},
       {"sample", "time", "none",
        "Time between the samples of gathers that are written, such as \"4 ms\"; it is a whole number of "
        "time steps. Without it, every step is written."}});
}

std::vector<double> numbers_of(const Config& table, std::string_view key) {
  const auto content = read_content(table, key);
  tell_notes(table, key, content);
  if (const auto* array = std::get_if<io::Array>(&content)) return array->values;
  if (const auto* rows = std::get_if<io::Table>(&content))
    if (rows->columns.size() == 1) return rows->columns.front().values;
  throw table.wrong(key, "holds neither an array nor a table of one column");
}

Wavelet read_wavelet(const Config& table) {
  Wavelet w;
  read_fields(table, w);
  if (w.kind == WaveletKind::ricker || w.kind == WaveletKind::gabor) {
    if (!table.has("frequency"))
      throw table.wrong("frequency", "missing", "Of the peak: frequency = \"20 Hz\".");
    w.frequency = table.positive("frequency", Quantity::frequency);
  } else if (w.kind == WaveletKind::ormsby) {
    if (!table.has("corners")) throw table.wrong("corners", "missing", "Such as corners = [5, 10, 40, 60].");
    const auto corners = table.numbers("corners", Quantity::dimensionless, 4);
    std::copy(corners.begin(), corners.end(), w.corners.begin());
  } else {
    if (!table.has("file")) throw table.wrong("file", "missing", "A table with one column, or .npy.");
    w.samples = numbers_of(table, "file");
    if (!table.has("sample_step"))
      throw table.wrong("sample_step", "missing", "Such as sample_step = \"1 ms\".");
    w.sample_step = table.positive("sample_step", Quantity::time);
  }
  return w;
}

std::vector<Place> read_shots(const Config& table) {
  if (table.has("at")) return read_positions(table, "at");
  for (const auto* key : {"first", "last", "count"})
    if (!table.has(key))
      throw table.wrong(key, "missing", "Give at, a list of places, or first, last and count of a line.");
  const auto first = read_position(table, "first"), last = read_position(table, "last");
  const auto count = table.count("count", 1, 1'000'000);
  std::vector<Place> all;
  for (std::uint64_t n = 0; n < count; ++n) {
    const double t = count == 1 ? 0 : static_cast<double>(n) / static_cast<double>(count - 1);
    Place at{};
    for (std::size_t a = 0; a < 3; ++a) at[a] = first[a] + t * (last[a] - first[a]);
    all.push_back(at);
  }
  return all;
}

void read_boundary(const Config& table, Problem& p) {
  const auto side = [&](std::string_view key) { return chosen<Boundary>(table, key, boundary_names); };
  p.sides = {{{side("bottom"), side("top")}, {side("south"), side("north")}, {side("west"), side("east")}}};
  read_fields(table, p.layers);
}

std::vector<Component> read_record(const Config& table) {
  std::vector<Component> record;
  try {
    for (const auto& name : table.texts("record")) record.push_back(component_of(name));
  } catch (const InputError& error) {
    throw table.wrong("record", error.problem(), error.next());
  }
  return record;
}

void read_simulation(const Config& table, Problem& p, Settings& s, bool inverts) {
  table.text("physics");
  read_fields(table, p);
  read_fields(table, s);
  p.record = read_record(table);
  if (table.has("density") && p.equation == Equation::variable_density)
    throw table.wrong("density", "equation = \"variable_density\" does not take it",
                      "Take it away; the density is that of the model.");
  if (table.has("scratch")) s.scratch = table.path("scratch").string();
  if (s.kept_in != KeptIn::automatic && s.keeping != Keeping::automatic && !keeps_records(s.keeping))
    throw table.wrong("kept_in", fmt::format("wavefield = \"{}\" keeps nothing there", to_string(s.keeping)),
                      "Take it away, or wavefield = \"store\", \"boundary\" or a compressed one.");
  for (const auto& [key, given] :
       {std::pair{"wavefield", s.keeping != Keeping::automatic}, std::pair{"lags", s.lags > 0},
        std::pair{"kept_in", s.kept_in != KeptIn::automatic}, std::pair{"scratch", !s.scratch.empty()}})
    if (given && s.task != Task::migration && !inverts)
      throw table.wrong(key, "is of migration", "Take it away, or kind = \"migration\".");
}

/// Not settled; without the table none.
Snapshots read_snapshots(const Config& job, const Settings& s, bool inverts) {
  Snapshots snapshots;
  if (!job.has("snapshots")) return snapshots;
  if (inverts || s.task == Task::migration)
    throw InputError(job.where("snapshots"),
                     inverts ? "an inversion takes no snapshots" : "a migration takes no snapshots",
                     "Take the table away; kind = \"modelling\" of the same shots has them.");
  const auto table = job.table("snapshots").describe({keys_of<Snapshots>()});
  read_fields(table, snapshots);
  snapshots.shot = static_cast<std::size_t>(table.count("shot", 1, 1'000'000) - 1);
  if (table.has("box")) {
    const auto box = table.numbers("box", Quantity::length, 6);
    std::copy(box.begin(), box.end(), snapshots.box.begin());
  }
  return snapshots;
}

/// What an inversion does not take. Throws InputError.
void refuse_to_invert(const Config& table, const Settings& s) {
  if (s.task == Task::born)
    throw table.wrong("kind", "an inversion explains all waves, or those that were scattered once",
                      "Take kind = \"modelling\" and find velocities, or kind = \"migration\" and find their "
                      "change by least squares.");
  if (table.has("observed"))
    throw table.wrong("observed", "what an inversion explains is inversion.observed", "Write it there.");
  if (s.lags > 0)
    throw table.wrong("lags", "an inversion finds one model, not an image at each lag", "Take it away.");
  if (s.keeping == Keeping::compressed || s.keeping == Keeping::boundary_compressed)
    throw table.wrong("wavefield", "16 bits per node make no exact adjoint",
                      "Take auto, store, checkpoints or boundary.");
  if (s.keeping == Keeping::random_walls)
    throw table.wrong("wavefield", "random walls add noise to what must be an exact adjoint",
                      "Take auto, store, checkpoints or boundary.");
}

/// "at easting 75 m, northing 0 m, up -965 m"
std::string place_of_cell(const TensorMesh& mesh, std::size_t cell) {
  const std::size_t east = mesh.easting().size() - 1, north = mesh.northing().size() - 1;
  const auto middle = [](const std::vector<double>& faces, std::size_t n) {
    return (faces[n] + faces[n + 1]) / 2;
  };
  return fmt::format("at easting {:.6g} m, northing {:.6g} m, up {:.6g} m",
                     middle(mesh.easting(), cell % east), middle(mesh.northing(), cell / east % north),
                     middle(mesh.up(), cell / east / north));
}

/// Velocity of every cell. Throws InputError.
std::vector<double> velocity_of(const EarthModel& model, const Config& job) {
  mesh_of_cells(model, job, "waves need", "Take mesh.kind = \"regular\".");
  const auto table = job.table("model");
  if (!model.has("velocity_p"))
    throw InputError(table.where(), "the model has no velocity_p",
                     "Give [model] or its bodies velocity_p = \"2000 m/s\", the whole mesh included.");
  auto values = model.dense("velocity_p");
  const auto lacks = [](double v) { return !(v > 0); };
  const auto missing = std::count_if(values.begin(), values.end(), lacks);
  if (missing > 0) {
    const auto first = std::find_if(values.begin(), values.end(), lacks) - values.begin();
    throw InputError(
        table.where(),
        fmt::format("{} of {} cells have no velocity_p, or zero: the first is {}", missing, values.size(),
                    place_of_cell(std::get<MeshCells>(model.geometry).mesh, static_cast<std::size_t>(first))),
        "Begin with a body that fills the mesh, such as kind = \"layer\", and paint others over it; files "
        "have a velocity for water and air, too.");
  }
  return values;
}

/// What the medium has beside its velocity. Throws InputError.
void read_medium(const EarthModel& model, const Config& job, Problem& p) {
  const auto cells = p.velocity.size();
  const auto values_of = [&](std::string_view name) {
    return model.has(name) ? model.dense(name) : std::vector<double>(cells, 0.0);
  };
  if (p.equation == Equation::variable_density) {
    if (!model.has("density"))
      throw InputError(
          job.table("model").where(), "the model has no density",
          "Give bodies density = \"2000 kg/m3\", or simulation.equation = \"constant_density\".");
    p.density = model.dense("density");
  }
  if (p.fields() == 1) return;
  p.epsilon = values_of("epsilon");
  p.delta = values_of("delta");
  if (p.equation == Equation::vti) return;
  p.tilt = values_of("tilt");
  p.azimuth = values_of("tilt_azimuth");
  for (auto* angles : {&p.tilt, &p.azimuth})
    for (double& angle : *angles) angle *= std::numbers::pi / 180;
}

/// How many steps there are from one written sample to the next; the step becomes a whole part of
/// simulation.sample.
std::size_t read_sample(const Config& table, Problem& p) {
  const auto sample = table.has("sample") ? table.positive("sample", Quantity::time) : 0.0;
  if (sample == 0) return 1;
  const double highest = p.wavelet.highest_frequency();
  if (2 * sample * highest > 1)
    throw table.wrong("sample",
                      fmt::format("{:.4g} s is too long for waves of up to {:.4g} Hz", sample, highest),
                      fmt::format("Half a period of them is {:.4g} s.", 0.5 / highest));
  const double step = p.step > 0 ? p.step : 0.9 * p.longest_step();
  const double parts = std::ceil(sample / step - 1e-9);
  p.step = sample / parts;
  return static_cast<std::size_t>(parts);
}

/// Turns an error of the problem into one at the key that it is about.
[[noreturn]] void at_key(const InputError& error, const Config& job) {
  constexpr std::string_view prefix = "acoustic: ";
  if (!std::string_view(error.where()).starts_with(prefix)) throw;
  const auto where = std::string_view(error.where()).substr(prefix.size());
  if (where == "snapshots") throw InputError(job.where("snapshots"), error.problem(), error.next());
  if (where == "grid") throw InputError(job.where("mesh"), error.problem(), error.next());
  const auto source = job.table("source");
  if (where.starts_with("source of "))  // "source of shot 3"
    throw source.wrong(source.has("at")                                    ? "at"
                       : where != "source of shot 1" && source.has("last") ? "last"
                                                                           : "first",
                       fmt::format("{}: {}", where.substr(10), error.problem()), error.next());
  if (where.starts_with("shots")) throw source.wrong("at", error.problem(), error.next());
  if (where.starts_with("receiver"))
    throw InputError(place_of_stations(job, error.problem()), fmt::format("{} {}", where, error.problem()),
                     error.next());
  for (const auto* property : {"density", "epsilon", "delta", "tilt"})
    if (where.starts_with(property))
      throw InputError(job.table("model").where(), fmt::format("{} {}", where, error.problem()),
                       error.next());
  throw_at_its_key<Problem, Settings>(error, "acoustic", job);
}

/// Throws InputError: below zero, or so wide that hardly the mesh has a say in the mean.
std::optional<double> read_smoothing(const Config& table, const Grid& grid) {
  const auto length = table.optional_number("smoothing", Quantity::length);
  if (!length) return length;
  double widest = 0;
  for (std::size_t a = 0; a < 3; ++a)
    widest = std::max(widest, static_cast<double>(grid.nodes[a]) * grid.spacing[a]);
  if (!(*length >= 0 && *length <= widest))
    throw table.wrong("smoothing", fmt::format("a Gaussian of {:.4g} m", *length),
                      fmt::format("Allowed: 0 to {:.6g} m, the width of the mesh.", widest));
  return length;
}

/// Smooths the velocity that waves run through. Without data what was taken away is what scatters.
void smooth(Problem& p, Settings& s, double length, bool observed, int threads) {
  const auto rough = p.velocity;
  if (length > 0) p.velocity = smoothed(p.grid, rough, length, threads);
  if (observed) return;
  for (std::size_t n = 0; n < rough.size(); ++n)
    s.change.push_back(1 / (rough[n] * rough[n]) - 1 / (p.velocity[n] * p.velocity[n]));
  if (p.step != 0 || s.task != Task::migration) return;
  auto fast = p;  // waves of the rough medium take the same steps
  fast.velocity = rough;
  p.step = 0.9 * fast.longest_step();
}

}  // namespace

std::span<const Section> sections() {
  static const std::array all{
      Section{"source", "", "Shots and their wavelet.", source_keys()},
      Section{"boundary", "", "What happens to waves at the sides of the mesh.", boundary_keys()},
      Section{"snapshots", "",
              "Snapshots of a shot's pressure everywhere, for films: in files .nc of output.files. Of "
              "modelling and born.",
              keys_of<Snapshots>(), false},
      Section{"simulation", "", "What is computed, and how.", simulation_keys()},
  };
  return all;
}

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
  const double error = problem_.group_error();
  if (error > 0.02)
    warnings_.push_back(fmt::format(
        "waves of {:.4g} Hz have {:.3g} cells per wavelength in the slowest medium and are {:.2g} "
        "% too slow or too fast; {:.3g} would make that 1 %",
        problem_.wavelet.highest_frequency(), problem_.points_per_wavelength(), 100 * error,
        differences(problem_.order, problem_.coefficients, problem_.equation).points_per_wavelength(0.01)));
}

namespace {

/// The properties of a medium that it reads.
std::vector<std::string_view> properties_read(Equation equation) {
  std::vector<std::string_view> read{"velocity_p"};
  if (equation == Equation::variable_density) read.emplace_back("density");
  if (equation == Equation::vti || equation == Equation::tti) read.insert(read.end(), {"epsilon", "delta"});
  if (equation == Equation::tti) read.insert(read.end(), {"tilt", "tilt_azimuth"});
  return read;
}

}  // namespace

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  return read(job, runtime, nullptr);
}

std::unique_ptr<Simulation> Simulation::for_inversion(const Config& job, const Runtime& runtime,
                                                      const Prepare& prepare) {
  return read(job, runtime, &prepare);
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
  if (inverts) refuse_to_invert(table, s);
  s.snapshots = read_snapshots(job, s, inverts);
  read_boundary(job.table("boundary").describe({boundary_keys()}), p);
  p.wavelet = read_wavelet(source);
  EarthRequest request;
  request.plan = [&](const Description& described, const MeshWish& wish) {
    GridWish waves{read_shots(source), positions_of(stations.survey)};
    waves.highest_frequency = read_wavelet(source).highest_frequency();
    waves.cells_per_wavelength =
        differences(p.order, p.coefficients, p.equation).points_per_wavelength(0.005);
    waves.end = p.end;
    return plan_grid(described, wish, waves);
  };
  expect_above_zero(job, {"velocity_p"}, "waves need");
  if (p.equation == Equation::variable_density) expect_above_zero(job, {"density"}, "waves need");
  request.reads = properties_read(p.equation);
  auto earth = build_earth(job, std::nullopt, memory, request);
  p.velocity = velocity_of(earth.model, job);
  read_medium(earth.model, job, p);
  try {
    p.grid = grid_of(std::get<MeshCells>(earth.model.geometry).mesh);
  } catch (const InputError& error) {
    at_key(error, job);
  }
  const auto receivers = positions_of(stations.survey);
  for (const auto& at : read_shots(source)) p.shots.push_back({{at}, receivers});

  const auto smoothing = read_smoothing(table, p.grid);
  const bool given = table.optional_text("observed").has_value(), observed = given || inverts;
  if (given && s.task != Task::migration)
    throw table.wrong("observed", "is of migration", "Take it away, or kind = \"migration\".");
  if (s.task == Task::modelling && smoothing) throw table.wrong("smoothing", "is of born and migration");
  if (s.task != Task::modelling) {
    if (!smoothing && !observed)
      throw table.wrong("smoothing", "missing",
                        "The model less a smooth one is what scatters: smoothing = \"100 m\".");
    if (smoothing == 0.0 && !observed)
      throw table.wrong("smoothing", "leaves the model as it is, and nothing would scatter",
                        "The model less a smooth one is what scatters: smoothing = \"100 m\".");
    smooth(p, s, smoothing.value_or(0), observed, runtime.threads);
  }
  try {
    if (inverts) (*prepare)(p, std::get<MeshCells>(earth.model.geometry).mesh, s.task);
  } catch (const InputError& error) {
    at_key(error, job);
  }
  const auto every = read_sample(table, p);
  try {
    auto made = std::make_unique<Simulation>(std::move(p), std::move(s),
                                             JobOrigin{job.source(), stations.survey.projection});
    made->every_ = every;
    made->take_notes(earth, stations);
    if (given) {
      try {
        made->settings_.data = observed_of(table.text("observed"), read_content(table, "observed"),
                                           made->problem_, made->notes_);
      } catch (const InputError& error) {
        throw table.wrong("observed", fmt::format("\"{}\": {}", error.where(), error.problem()),
                          error.next());
      }
    }
    return made;
  } catch (const InputError& error) {
    at_key(error, job);
  }
}

int Simulation::shots_on_machine(const Runtime& runtime) const {
  return shots_at_once(runtime) == 1 ? 1 : runtime.comm->on_node().count;
}

/// A folder that is given lies on one disk of all, that of the system for temporary files on one of each
/// machine.
int Simulation::shots_on_disk(const Settings& settings, const Runtime& runtime) const {
  return settings.scratch.empty() ? shots_on_machine(runtime) : shots_at_once(runtime);
}

/// What one rank may take. Memory and a disk are shared among the ranks that keep a shot each.
Room Simulation::room_of(const Choice& choice) const {
  const auto& settings = choice.settings;
  const double beside = bytes_of_models(problem_, settings) + bytes_of_gathers(problem_, settings, every_),
               all = static_cast<double>(choice.memory.bytes) / choice.shots_on_machine,
               memory = std::max(0.0, all - beside);
  const auto& device = choice.device;
  Room room{device.has_own_memory() ? static_cast<double>(device_memory(device).free) : memory, memory, 0};
  if (settings.kept_in == KeptIn::disk || !settings.scratch.empty())
    room.disk = free_on_disk(scratch_folder(settings.scratch)) / choice.shots_on_disk;
  return room;
}

int Simulation::shots_at_once(const Runtime& runtime) const {
  const int ranks = runtime.comm ? runtime.comm->size() : 1;
  return settings_.shots_of_their_own(problem_.shots.size(), ranks) ? ranks : 1;
}

Choice Simulation::choose(const Runtime& runtime) const {
  Choice choice;
  choice.settings = settings_;
  choice.memory = memory_budget(runtime);
  choice.on = device_text(runtime);
  choice.threads = runtime.threads;
  choice.ranks = runtime.comm ? runtime.comm->size() : 1;
  choice.shots_on_machine = shots_on_machine(runtime);
  choice.shots_on_disk = shots_on_disk(settings_, runtime);
  choice.checkpoint = runtime.checkpoint;
  // The device of this rank, as the ranks of its machine share it.
  choice.device =
      shots_at_once(runtime) == 1 ? resolve(runtime.device) : device_of_rank(runtime.device, *runtime.comm);
  if (settings_.task == Task::migration)
    choice.ways = choose_keeping(choice.settings, problem_, choice.device, room_of(choice));
  return choice;
}

/// Every way of keeping the source's waves with what it takes, and the one that is taken.
void Simulation::describe_keeping(RunFacts& facts, const Choice& choice) const {
  const auto& settings = choice.settings;
  const auto text_of = [&](const KeepingChoice& c) {
    const auto& cost = c.cost;
    std::string text(to_string(cost.way));
    if (keeps_records(cost.way) && c.place != KeptIn::memory)
      text += fmt::format(" on {}", to_string(c.place));
    text += fmt::format(": {}", bytes_text(cost.device_bytes));
    if (cost.host_bytes > 0) text += fmt::format(", host {}", bytes_text(cost.host_bytes));
    if (cost.disk_bytes > 0) text += fmt::format(", disk {}", bytes_text(cost.disk_bytes));
    return text +
           fmt::format("; source field computed {}; {}", cost.sweeps == 1 ? "once" : "twice", cost.error);
  };
  for (const auto& c : choice.ways) {
    const bool taken = c.cost.way == settings.keeping && c.place == settings.kept_in;
    const auto name = fmt::format("{}_{}", to_string(c.cost.way), to_string(c.place));
    const bool no_disk =
        c.place == KeptIn::disk && settings.kept_in != KeptIn::disk && settings.scratch.empty();
    if (taken) facts.add("wavefield", std::string(to_string(settings.keeping)), "", "wavefield", text_of(c));
    facts.add("wavefield_" + name, c.fits, "", taken ? "" : "otherwise",
              text_of(c) + (c.fits    ? ""
                            : no_disk ? "; where simulation.scratch has room"
                                      : "; no room"));
  }
  facts.add("wavefield_in", std::string(to_string(settings.kept_in)));
}

namespace {

/// On the host, beside the waves of a shot.
double bytes_beside_waves(const Problem& problem, const Settings& settings, std::size_t every,
                          const Device& device, bool on_disk) {
  return bytes_on_host(problem, settings, device) + bytes_of_models(problem, settings) +
         bytes_of_gathers(problem, settings, every) + bytes_of_snapshots(problem, settings, on_disk);
}

/// How many steps the CPU takes in each pass over memory, or why one.
void describe_passes(RunFacts& facts, const Passes& passes, const Problem& problem, const Settings& settings,
                     bool others) {
  const bool images_one_by_one =
      settings.task == Task::migration && !images_in_passes(problem, settings.keeping, settings.kept_in);
  const bool models = settings.task != Task::migration || settings.data.empty();
  const auto steps = images_one_by_one && !models ? 1 : passes.steps;
  std::string text = fmt::format("{} steps in each pass over memory", steps);
  if (passes.steps == 1) text = fmt::format("one step in each pass over memory: {}", passes.why);
  else if (images_one_by_one) {
    text = models ? text + ", of modelling alone: " : "one step in each pass over memory: ";
    text += problem.fields() == 1 ? "a migration takes more with all that it keeps in memory, and not "
                                    "between random walls"
                                  : "a migration takes more in isotropic media alone";
  }
  if (steps > 1 && others) text += "; one where another rank has too many threads for that";
  facts.add("steps_at_once", static_cast<std::uint64_t>(steps), "", "passes", text);
}

}  // namespace

void Simulation::describe(RunFacts& facts, const Choice& choice, const Runtime&) const {
  const auto& p = problem_;
  const auto& settings = choice.settings;
  const auto& device = choice.device;
  const auto whole = p.whole();
  const auto nodes = static_cast<std::uint64_t>(whole.count());
  const double sweeps = settings.task == Task::modelling ? 1
                        : settings.task == Task::born    ? 2
                        : !settings.data.empty()         ? 2
                                                         : 4;
  const double again = settings.task == Task::migration && settings.keeping != Keeping::store &&
                               settings.keeping != Keeping::compressed
                           ? 1
                           : 0;
  facts.problem = fmt::format("{} {}, {} nodes over {} steps", grouped(p.shots.size()),
                              p.shots.size() == 1 ? "shot" : "shots", grouped(nodes), grouped(p.steps()));
  facts.method = std::string(task_names[static_cast<std::size_t>(settings.task)]);
  facts.reason =
      fmt::format("{}, order {} in space; steps of {:.4g} s, stable up to {:.4g} s",
                  equation_names[static_cast<std::size_t>(p.equation)], p.order, p.step, p.longest_step());
  facts.device = choice.on;
  facts.work =
      static_cast<double>(nodes) * static_cast<double>(p.steps() * p.shots.size()) * (sweeps + again);
  facts.work_unit = "node steps";
  const double on_host =
      device.has_own_memory() ? 0 : bytes_beside_waves(p, settings, every_, device, choice.on_disk());
  facts.memory_bytes = static_cast<std::size_t>(bytes_of_shot(p, settings, device) + on_host);
  facts.add(
      "nodes", nodes, "", "nodes",
      fmt::format("{} × {} × {} with layers (up, north, east)", whole.size(0), whole.size(1), whole.size(2)));
  facts.add("shots", std::uint64_t{p.shots.size()});
  facts.add("receivers", std::uint64_t{p.shots.front().receivers.size()}, "", "receivers");
  facts.add("steps", std::uint64_t{p.steps()}, "", "steps");
  facts.add("step", p.step, "s");
  facts.add("longest_step", p.longest_step(), "s");
  facts.add("courant", p.step / p.longest_step());
  facts.add(
      "points_per_wavelength", p.points_per_wavelength(), "", "wavelength",
      fmt::format(
          "the shortest ({:.4g} Hz at {:.4g} m/s) has {:.3g} cells; its velocity is right to {:.2g} %",
          p.wavelet.highest_frequency(), p.slowest(), p.points_per_wavelength(), 100 * p.group_error()));
  const bool together = !settings.shots_of_their_own(p.shots.size(), choice.ranks);
  auto passes = passes_for(p, device, choice.threads, cut_of(p, settings, choice.ranks));
  if (const auto& shown = settings.snapshots; shown.any()) {
    const auto count = shown.nodes(p.grid).count;
    facts.add("snapshots", std::uint64_t{shown.count(p)}, "", "snapshots",
              fmt::format("{} of {} × {} × {} nodes (up, north, east), {:.3g} GB in a file", shown.count(p),
                          count[0], count[1], count[2], 1e-9 * shown.bytes(p)));
    passes.steps = std::min(passes.steps, static_cast<Index>(shown.every));
    if (passes.steps == 1 && passes.why.empty()) passes.why = "a snapshot of each";
  }
  if (device.kind == Device::Kind::cpu) describe_passes(facts, passes, p, settings, together);
  if (settings.task == Task::migration) {
    describe_keeping(facts, choice);
    if (const auto images = settings.images_at_lags(); images > 0)
      facts.add("lags", std::uint64_t{images}, "", "lags",
                fmt::format("{} images with waves up to {:.4g} m to either side", images,
                            static_cast<double>(settings.lags) * p.grid.spacing[east]));
  }
  if (settings.task == Task::migration && settings.kept_in == KeptIn::disk)
    if (auto warning = disk_in_memory(settings); !warning.empty())
      facts.warnings.push_back(std::move(warning));
}

std::string disk_in_memory(const Settings& settings) {
  const auto folder = scratch_folder(settings.scratch);
  if (!lies_in_memory(folder)) return {};
  return fmt::format(
      "{} lies in memory (tmpfs), and so would the waves that are to be kept on a disk; give "
      "simulation.scratch a folder on a disk",
      folder);
}

/// Of snapshots on the disk of the results: on their way, and in a file.
double Simulation::bytes_of_film(const Settings& settings) const {
  return settings.snapshots.any() ? 2 * settings.snapshots.bytes(problem_) : 0;
}

/// Throws FileError: the disk has no room for what is to be kept on it.
void Simulation::check_disk(const Choice& choice) const {
  const auto& settings = choice.settings;
  if (const auto& file = choice.checkpoint.file; settings.snapshots.any() && !file.empty()) {
    const double wanted = bytes_of_film(settings);
    const auto folder = folder_of(file).string();
    if (const double there = free_on_disk(folder); wanted > there)
      throw FileError(folder,
                      fmt::format("snapshots want {} on this disk, on their way and in a file; {} are free",
                                  bytes_text(wanted), bytes_text(there)),
                      "Take snapshots.every longer, a stride or a box, or write output to a larger disk.");
  }
  if (settings.task != Task::migration || settings.kept_in != KeptIn::disk) return;
  const auto cost = settings.double_precision ? cost_of<double>(settings.keeping, problem_, KeptIn::disk)
                                              : cost_of<float>(settings.keeping, problem_, KeptIn::disk);
  const int shots = choice.shots_on_disk;
  expect_on_disk(settings, cost.disk_bytes * shots,
                 shots == 1 ? "a shot" : fmt::format("{} shots, one of each rank,", shots));
}

/// What lies on the disk of the results while the run lasts. Throws FileError: it has no room for the
/// checkpoint. Without room for shots none are kept by themselves.
void Simulation::check_checkpoints(Plan& plan, const Choice& choice) const {
  const auto& settings = choice.settings;
  const auto& checkpoint = choice.checkpoint;
  const int ranks = choice.ranks;
  auto use = disk_use(problem_, settings, checkpoint, ranks);
  // The plan's time may be ten times too short.
  const double seconds_of_shot = plan.seconds * ranks / static_cast<double>(problem_.shots.size());
  if (10 * seconds_of_shot < use.seconds) use.shots = 0;
  if (use.bytes() == 0 || plan.seconds < checkpoint.least_run) return;
  const auto shots =
      fmt::format("up to {} for {:.0f} finished shots", bytes_text(use.shots * use.shot), use.shots);
  std::string text;
  if (use.checkpoint > 0) {
    text = fmt::format("{} for a checkpoint", bytes_text(use.checkpoint));
    if (use.shots > 0) text += fmt::format(", {} that it has not yet", shots);
    plan.add("checkpoint_bytes", use.checkpoint, "B", "on disk", text);
  }
  if (use.shots > 0) {
    plan.add("shot_file_bytes", use.shot, "B", text.empty() ? "on disk" : "", text.empty() ? shots : "");
    plan.add("shot_files", static_cast<std::uint64_t>(use.shots));
  }
  use.film = bytes_of_film(settings);
  if (use.checkpoint > 0) expect_room(checkpoint, {0, 0, 0, use.checkpoint, use.film});
  if (use.shots > 0 && !has_room(checkpoint, use))
    plan.warnings.push_back(
        fmt::format("the disk of {} has no room for {}: where they take {:.3g} s and more each, a rank keeps "
                    "none by itself, and an interrupted run goes on from the checkpoint alone",
                    checkpoint.file.string(), shots, use.seconds));
}

namespace {

/// The next move where there is too little memory.
std::string less_memory(const Problem& problem, const Settings& settings) {
  if (settings.task != Task::migration)
    return fmt::format(
        "Take larger cells, {}or more ranks per shot.",
        settings.snapshots.any() ? "fewer snapshots (every, stride, box) or a file for them, " : "");
  return fmt::format(
      "Take larger cells, {}wavefield = \"checkpoints\" without kept_in, kept_in = \"disk\", or more ranks "
      "per "
      "shot.",
      problem.fields() == 1 ? "wavefield = \"boundary_compressed\", " : "");
}

}  // namespace

/// Throws MemoryError: the host has too little for the ranks of this machine.
void Simulation::check_host(const Plan& plan, const Choice& choice) const {
  const auto& settings = choice.settings;
  const auto& device = choice.device;
  const int shots = choice.shots_on_machine;
  std::string what = plan.problem;
  if (shots > 1) what += fmt::format(", {} shots at once", shots);
  if (settings.kept_in == KeptIn::host) what += ", with waves kept on the host";
  const double needed = device.has_own_memory()
                            ? bytes_beside_waves(problem_, settings, every_, device, choice.on_disk())
                            : static_cast<double>(plan.memory_bytes);
  try {
    // Gathers come together on one rank.
    const double gathers = bytes_of_gathers(problem_, settings, every_);
    choice.memory.require("run", what, needed * shots - gathers * (shots - 1));
  } catch (const MemoryError& error) {
    throw MemoryError(error.where(), error.problem(), less_memory(problem_, settings));
  }
}

void Simulation::foresee(Plan& plan, const Choice& choice, const Runtime&) const {
  check_disk(choice);
  const auto& device = choice.device;
  // From memory at 16 bytes a node and step (32 in double precision), at half of what one core's share or a
  // GPU moves.
  const double rate =
      device.kind == Device::Kind::cuda ? 1e11 : 2e8 * std::min(thread_count(choice.threads), 8);
  plan.seconds = plan.work / (choice.settings.double_precision ? rate / 2 : rate) / choice.ranks;
  check_checkpoints(plan, choice);
  if (device.has_own_memory()) {
    const auto free = device_memory(device).free;
    if (static_cast<double>(plan.memory_bytes) > static_cast<double>(free))
      throw MemoryError("run",
                        fmt::format("would need {} on {} for {}, {} are free",
                                    bytes_text(static_cast<double>(plan.memory_bytes)), to_string(device),
                                    plan.problem, bytes_text(static_cast<double>(free))),
                        less_memory(problem_, choice.settings));
  }
  check_host(plan, choice);
}

Dataset Simulation::compute(Result& result, const Choice& choice, const Runtime& runtime) {
  auto done = run_shots(problem_, choice.settings, runtime);
  auto& report = result.report;
  report.notes.insert(report.notes.end(), done.notes.begin(), done.notes.end());
  report.warnings.insert(report.warnings.end(), done.warnings.begin(), done.warnings.end());
  const auto is_finite = [](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](auto v) { return std::isfinite(v); });
  };
  const bool images_wanted = choice.settings.task == Task::migration;
  if ((images_wanted && !is_finite(done.images.correlation)) ||
      !std::all_of(done.gathers.begin(), done.gathers.end(), is_finite))
    throw Error("acoustic", "the waves grew beyond all bounds",
                "This should not happen with a stable step; run the job in double precision and report it.");
  const auto pictures = done.pictures.on_disk() ? done.pictures : Pictures{};  // those in memory are the data
  auto data = images_wanted ? images(std::move(done)) : gathers(done);
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
  const std::size_t each = receivers.size(), traces = problem_.traces(shots.front());
  for (std::size_t c = 0; c < problem_.record.size(); ++c) {
    const auto component = problem_.record[c];
    const bool is_pressure = component == Component::pressure;
    std::vector<float> values;
    values.reserve(done.gathers.size() * samples * each);
    for (const auto& gather : done.gathers)
      for (std::size_t n = 0; n < samples; ++n) {
        const auto row = gather.begin() + static_cast<std::ptrdiff_t>(n * every_ * traces + c * each);
        values.insert(values.end(), row, row + static_cast<std::ptrdiff_t>(each));
      }
    data.variables.push_back(
        {std::string(component_names[static_cast<std::size_t>(component)]),
         is_pressure ? "Pa" : "m/s",
         fmt::format("{}{}",
                     is_pressure ? "pressure"
                                 : fmt::format("velocity of particles, {}", axes[2 - axis_of(component)]),
                     settings_.task == Task::born ? " that is scattered once" : ""),
         {"shot", "time", "receiver"},
         std::move(values),
         {}});
  }
  if (settings_.snapshots.any()) add_pictures(data, done.pictures);
  return data;
}

/// Snapshots in the last variable; without values where these are on disk.
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
  std::vector<double> even(image.correlation.size()), filtered, scattering;
  if (!even.empty()) {
    const double most = *std::max_element(image.illumination.begin(), image.illumination.end());
    for (std::size_t n = 0; n < even.size(); ++n)
      even[n] = image.correlation[n] / (image.illumination[n] + 1e-3 * most);
    filtered = laplacian_of(grid, image.correlation, 0);
    if (problem_.fields() == 1) scattering = inverse_scattering_of(problem_, image.correlation);
  }
  data.variables = {{"image", "Pa2", "zero-lag cross-correlation", names, std::move(image.correlation), {}},
                    {"image_even", "1", "the same over the illumination", names, std::move(even), {}},
                    {"image_filtered", "Pa2/m2", "Laplacian of the image", names, std::move(filtered), {}},
                    {"illumination",
                     "Pa2",
                     "sum of the squared pressure of the sources",
                     names,
                     std::move(image.illumination),
                     {}},
                    {"gradient",
                     "Pa2.m2/s2",
                     "adjoint of Born modelling applied to the data",
                     names,
                     std::move(image.kernel),
                     {}}};
  if (problem_.fields() == 1)
    data.variables.push_back(
        {"image_inverse_scattering", "Pa2/m2", "inverse-scattering image", names, std::move(scattering), {}});
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

TensorMesh Simulation::mesh() const {
  const auto& g = problem_.grid;
  const auto faces = [&](std::size_t a) {
    std::vector<double> all;
    for (Index n = 0; n <= g.nodes[a]; ++n)
      all.push_back(g.first[a] + (static_cast<double>(n) - 0.5) * g.spacing[a]);
    return all;
  };
  return TensorMesh(faces(2), faces(1), faces(0));
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
  return io::MeshData{mesh(), columns(), provenance(physics_, job_)};
}

}  // namespace terrane::acoustic
