#include "terrane/physics/gravity/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "terrane/base/text.hpp"
#include "terrane/base/version.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/fields.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/model/model_bytes.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/forward.hpp"
#include "terrane/physics/gravity/mesh_plan.hpp"
#include "terrane/physics/gravity/neighbourhood.hpp"
#include "terrane/physics/gravity/normal_gravity.hpp"
#include "terrane/physics/gravity/run/distribute.hpp"
#include "terrane/physics/gravity/run/magnitude.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/physics/gravity/tiles/tiles.hpp"
#include "terrane/simulation/compare.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::gravity {

namespace {

std::span<const Key> keys() {
  return keys_of<Settings>(
      {{"physics", "text", "\"gravity\"", "What is computed.", "\"gravity\""}},
      {{"reference_density", "density", "0",
        "Density of the surrounding rock, subtracted from every cell that has a density; cells without one, "
        "such as air, stay empty."}});
}

Config simulation_table(const Config& job) {
  return job.table("simulation").describe({keys(), Runtime::section().keys});
}

ChannelSet channels_in_frame(const std::vector<std::string>& names, Frame frame) {
  ChannelSet set;
  for (const auto& name : names) {
    ChannelSet one;
    try {
      one = channels_from_names({name});
    } catch (const InputError&) {  // the name is none of Terrane's: it is a name of the frame, or the next
                                   // call throws
      one = ChannelSet{channel_from_frame(name, frame, UnitSystem::geo).channel};
    }
    set = set | one;
  }
  return set;
}

std::string accuracy_text(double accuracy) {
  return accuracy <= best_accuracy ? "best" : fmt::format("{}", accuracy);
}

/// Observed absolute gravity in m/s², also the unit of a column without one; nothing if the survey has none.
std::optional<std::vector<double>> observed_gravity(const Survey& survey) {
  const auto* column = survey.find("observed");
  if (column == nullptr) return std::nullopt;
  double factor = 1;
  try {
    if (!column->unit.empty()) factor = si_factor(Quantity::acceleration, column->unit);
  } catch (const InputError&) {
    return std::nullopt;  // the column "observed" has no unit of acceleration
  }
  auto values = column->values;
  if (factor != 1)
    for (double& value : values) value *= factor;
  return values;
}

/// Converts a column of accelerations from m/s² to the requested units.
Column in_unit_asked_for(Column column, UnitSystem units) {
  column.unit = units == UnitSystem::geo ? "mGal" : "m/s2";
  const double per_si = 1 / si_factor(Quantity::acceleration, column.unit);
  for (double& value : column.values) value *= per_si;
  return column;
}

Stations views(const Survey& survey) { return {survey.easting, survey.northing, survey.up}; }

/// The property of the earth model that gravity uses.
constexpr std::string_view density = "density";

Prisms views(const PrismValues& sources) {
  const auto& p = sources.prisms;
  return {p.west, p.east, p.south, p.north, p.bottom, p.top, sources.values};
}

}  // namespace

const Section& Settings::section() {
  static const Section all{"simulation", "", "The fields that are computed, and the method.", keys()};
  return all;
}

Settings Settings::read(const Config& job) {
  const auto table = simulation_table(job);
  const auto runtime = Runtime::read(table);
  Settings settings;
  auto& p = settings.parameters;
  table.text("physics");
  read_fields(table, settings);
  const auto names = table.texts("channels");
  if (names.empty()) throw table.wrong("channels", "no channel is asked for");
  try {
    p.channels = channels_in_frame(names, settings.frame);
  } catch (const InputError& error) {
    throw table.wrong("channels", error.problem(), error.next());
  }
  if (p.partition == Partition::prisms && p.method != Method::automatic && p.method != Method::direct)
    throw table.wrong("partition", fmt::format("prisms cannot be shared by the {} method", name(p.method)),
                      "Write method = \"direct\", or partition = \"stations\".");
  p.device = runtime.device;
  p.threads = runtime.threads;
  if (const auto ellipsoid = table.optional_text("normal_gravity"); ellipsoid && *ellipsoid != "none") {
    try {
      settings.normal_gravity = ellipsoid_from_name(*ellipsoid).name;
    } catch (const InputError& error) {
      throw table.wrong("normal_gravity", error.problem(), error.next());
    }
  }
  if (settings.subtract_terrain && settings.normal_gravity.empty())
    throw table.wrong("subtract_terrain", "there is no disturbance to subtract from",
                      "Set simulation.normal_gravity = \"WGS84\" and survey.observed_column.");
  return settings;
}

std::string to_string(const Settings& settings) {
  const auto& p = settings.parameters;
  std::vector<std::string_view> names;
  for (const auto channel : p.channels.list()) names.push_back(name(channel));
  std::string text = fmt::format(
      "channels: {}\naccuracy: {}\nmethod: {}\npartition: {}\nsingular: {}\nprecision: "
      "{}\ngravitational_constant: {}\n"
      "frame: {}\nunits: {}\nverify: {}\ndevice: {}\nthreads: {}\n",
      joined(names), accuracy_text(p.accuracy), method_names[static_cast<std::size_t>(p.method)],
      partition_names[static_cast<std::size_t>(p.partition)],
      policy_names[static_cast<std::size_t>(p.singular)],
      precision_names[static_cast<std::size_t>(p.precision)], p.gravitational_constant, name(settings.frame),
      settings.units == UnitSystem::si ? "si" : "geo", p.verify, to_string(p.device), p.threads);
  if (!settings.normal_gravity.empty())
    text += fmt::format("normal_gravity: {}\nsubtract_terrain: {}\n", settings.normal_gravity,
                        settings.subtract_terrain);
  return text;
}

Simulation::Simulation(EarthModel model, Survey survey, Settings settings, MemoryBudget memory)
    : SimulationOf("gravity", {}),
      model_(std::move(model)),
      survey_(std::move(survey)),
      settings_(std::move(settings)),
      memory_(memory) {
  model_.property(density);
  if (const auto far = far_apart(model_, survey_)) warnings_.push_back(*far);
  if (settings_.normal_gravity.empty()) return;
  if (!survey_.find("latitude"))
    throw InputError("simulation.normal_gravity", "the survey has no latitudes",
                     "Normal gravity needs stations in longitude and latitude, and mesh.projection.");
  if (settings_.subtract_terrain && !observed_gravity(survey_))
    throw InputError("simulation.subtract_terrain", "the survey has no observed gravity",
                     "Name its column with survey.observed_column.");
  if (!survey_.find("ellipsoidal_height"))
    warnings_.push_back(
        "normal gravity is taken at survey heights as if above the ellipsoid;"
        " survey.geoid turns heights above sea level into those");
}

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  auto settings = Settings::read(job);
  const auto table = simulation_table(job);
  const MemoryBudget memory = runtime.memory > 0 ? MemoryBudget{runtime.memory} : MemoryBudget{};
  auto stations = build_survey(job, memory);
  expect_values(
      job, stations.survey,
      observed_columns(stations.survey, conventions(), convention(settings.frame), settings.units).observed);
  EarthRequest request;
  request.reference_density = table.number("reference_density", Quantity::density);
  if (constexpr double most = 1e5; !(std::fabs(request.reference_density) <= most))
    throw table.wrong("reference_density",
                      fmt::format("{:g} kg/m3 is no density of rock", request.reference_density),
                      "Densities of rock are 1000 to 5000 kg/m3.");
  request.plan = [&](const Description& described, const MeshWish& wish) {
    return plan_prisms(described, wish, positions_of(stations.survey));
  };
  request.reads = {density};
  auto earth = build_earth(job, stations.projection, memory, request);
  if (!earth.model.has(density)) {
    try {
      earth.model.property(density);
    } catch (const InputError& error) {
      throw InputError(job.table("model").where(), error.problem(), error.next());
    }
  }
  if (request.reference_density != 0)
    earth.notes.push_back(
        fmt::format("densities count with what they differ from {} kg/m3", request.reference_density));
  std::unique_ptr<Simulation> made;
  try {
    made = std::make_unique<Simulation>(std::move(earth.model), std::move(stations.survey),
                                        std::move(settings), memory);
  } catch (const InputError& error) {
    const auto key = error.where().substr(error.where().rfind('.') + 1);
    throw table.wrong(key, error.problem(), error.next());
  }
  made->job_ = {job.source(), made->survey_.projection};
  made->take_notes(stations, earth);
  if (source_count(made->model_, density) == 0)
    made->warnings_.push_back("every density is zero: all fields will be zero");
  return made;
}

MemoryBudget Simulation::choose(const Runtime& runtime) const {
  return runtime.memory > 0 ? MemoryBudget{runtime.memory} : memory_;
}

Parameters Simulation::needed(const Runtime& runtime) const {
  Parameters needed = settings_.parameters;
  if (runtime.device.kind != Device::Kind::automatic) needed.device = runtime.device;
  if (runtime.threads > 0) needed.threads = runtime.threads;
  if (settings_.subtract_terrain) needed.channels.insert(Channel::g_u);
  needed.memory =
      static_cast<std::size_t>(std::max(1.0, static_cast<double>(choose(runtime).bytes) - memory_needed()));
  return needed;
}

double Simulation::memory_needed() const {
  // Memory of the model, its sources as prisms, positions and columns of stations, and fields in SI.
  const auto columns = 3 + static_cast<double>(survey_.columns.size());
  const auto fields = static_cast<double>(settings_.parameters.channels.size());
  return bytes_of(model_) + static_cast<double>(source_count(model_, density)) * 7 * 8 +
         static_cast<double>(survey_.size()) * (8 * (columns + fields) + 1);
}

double Simulation::memory_to_write() const {
  return bytes_of(model_) + static_cast<double>(survey_.size()) * 8 * 3 +
         bytes_to_write(survey_.size(), survey_.columns.size(), settings_.parameters.channels.size());
}

/// The largest of the memory needed while summing, while the rounding error is estimated (a tree stays in
/// memory), and while files are written; in addition, for every other rank of this machine, that for sources,
/// positions of stations and the method.
double Simulation::memory_needed(const MethodPlan& chosen, const Runtime& runtime) const {
  const auto n = source_count(model_, density);
  const auto method = static_cast<double>(chosen.memory_bytes);
  const double seconds = seconds_to_look(chosen.seconds, thread_count(chosen.parameters.threads)),
               looking = bytes_of_magnitude(n, survey_.size(), seconds) +
                         (chosen.method == Method::tree || chosen.method == Method::fmm ? method : 0),
               others = runtime.comm ? runtime.comm->on_node().count - 1 : 0;
  return std::max(memory_needed() + std::max(method, looking), memory_to_write()) +
         others * (method + static_cast<double>(n) * 7 * 8 + static_cast<double>(survey_.size()) * 3 * 8);
}

void Simulation::describe(RunFacts& facts, const MemoryBudget&, const Runtime&) const {
  const std::size_t source_number = source_count(model_, density);
  const double pairs = static_cast<double>(source_number) * static_cast<double>(survey_.size());
  facts.problem = fmt::format("{} sources at {} stations", grouped(source_number), grouped(survey_.size()));
  facts.work = pairs;
  facts.work_unit = "pairs";
  facts.add("sources", source_number, "", "sources");
  facts.add("stations", survey_.size(), "", "stations");
  facts.add("pairs", pairs, "", "pairs");
  facts.memory_bytes = static_cast<std::size_t>(memory_needed());
}

void Simulation::foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const {
  const auto columns = observed_columns(survey_, conventions(), convention(settings_.frame), settings_.units);
  plan.warnings.insert(plan.warnings.end(), columns.warnings.begin(), columns.warnings.end());
  const std::size_t source_number = source_count(model_, density);
  memory.require("run", fmt::format("{} sources and {} stations", source_number, survey_.size()),
                 memory_needed());

  const auto all = sources(model_, density);
  check_values(views(all), views(survey_));
  auto parameters = needed(runtime);
  if (parameters.partition == Partition::prisms) parameters.method = Method::direct;
  const auto chosen = gravity::plan(views(all), views(survey_), parameters);
  const auto partition = choose_partition(chosen, runtime, parameters.memory);
  plan.memory_bytes = static_cast<std::size_t>(memory_needed(chosen, runtime));
  memory.require("run",
                 fmt::format("{} sources and {} stations by the {} method", source_number, survey_.size(),
                             name(chosen.method)),
                 static_cast<double>(plan.memory_bytes));
  plan.method = name(chosen.method);
  plan.reason = chosen.reason;
  plan.seconds = chosen.seconds / (runtime.comm ? runtime.comm->size() : 1);
  plan.device = gravity::describe(gravity::describe(chosen.device, parameters.threads), partition, runtime);
  Progress silent;
  const auto expected = expected_rounding(
      views(all), views(survey_), parameters,
      {parameters.accuracy, chosen.estimated_error, chosen.method == Method::direct}, silent);
  if (!expected.rounding_floor.empty())
    plan.notes.push_back(fmt::format("rounding takes at most {} of the largest value, as {} stations show",
                                     rounding_text(expected), expected.rounding_stations));
  plan.warnings.insert(plan.warnings.end(), expected.warnings.begin(), expected.warnings.end());
}

std::map<std::string, std::string> Simulation::attributes() const {
  auto all = provenance(physics_, job_);
  const auto& p = settings_.parameters;
  all["frame"] = name(settings_.frame);
  all["gravitational_constant"] = fmt::format("{}", p.gravitational_constant);
  all["accuracy"] = accuracy_text(p.accuracy);
  all["settings"] = to_string(settings_);
  return all;
}

Dataset Simulation::compute(Result& result, const MemoryBudget& memory, const Runtime& runtime) {
  memory.require("run",
                 fmt::format("{} sources and {} stations", source_count(model_, density), survey_.size()),
                 memory_needed());
  const auto parameters = needed(runtime);
  const auto all = sources(model_, density);
  const std::size_t n = survey_.size();
  std::vector<std::vector<double>> values(parameters.channels.size(), std::vector<double>(n));
  std::vector<unsigned char> singular(n, 0);
  Fields out{parameters.channels, {values.begin(), values.end()}, singular};

  const auto done = forward(views(all), views(survey_), parameters, out, runtime.progress, runtime);
  result.report = done.named();
  begin_with(result.report, notes_, warnings_);
  const bool any = std::any_of(singular.begin(), singular.end(), [](auto flag) { return flag != 0; });
  auto data = fill(result, values, any ? std::move(singular) : std::vector<unsigned char>());
  result.attributes["estimated_error"] = fmt::format("{:.1e}", done.estimated_error);
  if (const auto floor = rounding_text(done); !floor.empty()) result.attributes["rounding_floor"] = floor;
  return data;
}

Result Simulation::outline() const {
  Result result;
  auto data = fill(result, std::vector<std::vector<double>>(needed().channels.size()), {});
  conclude(result, physics_, job_, std::move(data));
  return result;
}

Dataset Simulation::fill(Result& result, const std::vector<std::vector<double>>& values,
                         std::vector<unsigned char> singular) const {
  StationFields stations;
  stations.singular = std::move(singular);
  const auto channels = needed().channels.list();
  for (std::size_t c = 0; c < channels.size(); ++c)
    if (settings_.parameters.channels.contains(channels[c]))
      stations.fields.push_back(to_frame(channels[c], values[c], settings_.frame, settings_.units));
  for (auto& field : stations.fields)
    field.single = settings_.parameters.precision == Precision::single_precision;
  stations.survey = survey_;
  if (!settings_.normal_gravity.empty()) {
    const auto g_u = std::find(channels.begin(), channels.end(), Channel::g_u) - channels.begin();
    reduce(stations, settings_.subtract_terrain ? values[static_cast<std::size_t>(g_u)] : values.front());
  }
  const auto columns = observed_columns(survey_, conventions(), convention(settings_.frame), settings_.units);
  compare(stations, result.report, columns);
  if (const auto observed = observed_gravity(survey_))
    for (auto& column : stations.survey.columns)
      if (column.name == "observed")
        column = in_unit_asked_for({"observed", "", "observed gravity", *observed}, settings_.units);
  result.report.warnings.insert(result.report.warnings.end(), columns.warnings.begin(),
                                columns.warnings.end());
  result.attributes = attributes();
  result.conventions = &conventions();
  return to_dataset(std::move(stations));
}

void Simulation::reduce(StationFields& stations, const std::vector<double>& g_u) const {
  const std::size_t n = g_u.size();  // 0 in an outline
  const auto add = [&](std::string name, std::string description, std::vector<double> values) {
    stations.fields.push_back(
        in_unit_asked_for({std::move(name), "", std::move(description), std::move(values)}, settings_.units));
  };
  const auto& ellipsoid = ellipsoid_from_name(settings_.normal_gravity);
  const auto* height = survey_.find("ellipsoidal_height");
  std::vector<double> normal;
  if (n > 0)
    normal =
        normal_gravity(survey_.find("latitude")->values, height ? height->values : survey_.up, ellipsoid);
  add("normal_gravity", fmt::format("normal gravity of {}", ellipsoid.name), normal);
  const auto observed = observed_gravity(survey_);
  if (!observed) return;
  std::vector<double> disturbance(n), effect(n), remaining(n);
  for (std::size_t i = 0; i < n; ++i) {
    disturbance[i] = (*observed)[i] - normal[i];
    effect[i] = -g_u[i];
    remaining[i] = disturbance[i] - effect[i];
  }
  add("disturbance", "gravity disturbance", disturbance);
  if (!settings_.subtract_terrain) return;
  add("terrain_effect", "downward pull of the terrain", effect);
  add("topography_free_disturbance", "gravity disturbance without the terrain's pull", remaining);
}

io::Content Simulation::model(bool with_values) const {
  const auto* cells = std::get_if<MeshCells>(&model_.geometry);
  if (cells == nullptr && !with_values) return io::PrismData{};
  if (cells != nullptr)
    memory_.require(
        "output.model", fmt::format("{} cells", cells->mesh.size()),
        static_cast<double>(cells->mesh.size()) * 8 * (1 + static_cast<double>(model_.properties.size())));
  if (with_values) return io::to_content(model_, provenance(physics_, job_));
  io::MeshData outline{cells->mesh, {}, {}};
  for (const auto& p : model_.properties) outline.cells.push_back({p.name, "", "", {}});
  return outline;
}

}  // namespace terrane::gravity
