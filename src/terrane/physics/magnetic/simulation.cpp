#include "terrane/physics/magnetic/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/base/version.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/job/fields.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/model/listed_prisms.hpp"
#include "terrane/model/model_bytes.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/gravity/mesh_plan.hpp"
#include "terrane/physics/gravity/neighbourhood.hpp"
#include "terrane/physics/gravity/run/magnitude.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/simulation/compare.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::magnetic {

namespace {

constexpr std::array<std::string_view, 4> properties{"susceptibility", "magnetization_east",
                                                     "magnetization_north", "magnetization_up"};
constexpr double noticeable_susceptibility = 0.1;

gravity::Stations views(const Survey& survey) { return {survey.easting, survey.northing, survey.up}; }

}  // namespace

const Section& Settings::section() {
  static const Section all{
      "simulation", "", "The fields that are computed, and the method.",
      keys_of<Settings>({{"physics", "text", "\"gravity\"", "What is computed.", "\"magnetic\""}})};
  return all;
}
std::span<const Key> Settings::field_keys() { return keys_of<MainField>(); }

MainField Settings::read_field(const Config& table) {
  MainField field;
  read_fields(table, field);
  return field;
}

Settings Settings::read(const Config& job) {
  const auto table = job.table("simulation").describe({section().keys, Runtime::section().keys});
  Settings s;
  table.text("physics");
  read_fields(table, s);
  s.frame = table.choice("frame", {"enu", "harmonica", "simpeg", "ubc"});
  const auto& frame = conventions().named(s.frame);
  const auto names = table.texts("channels");
  s.channels.clear();
  for (const auto& name : names) {
    const auto* found = frame.find(name);
    if (found == nullptr)
      throw table.wrong("channels",
                        fmt::format("\"{}\" is not known.{}", name, did_you_mean(name, channel_names)),
                        "Allowed: " + joined(channel_names) + ".");
    const auto channel = static_cast<Channel>(
        std::find(channel_names.begin(), channel_names.end(), found->channel) - channel_names.begin());
    if (std::find(s.channels.begin(), s.channels.end(), channel) == s.channels.end())
      s.channels.push_back(channel);
  }
  if (s.channels.empty()) throw table.wrong("channels", "no channel is asked for");
  return s;
}

Simulation::Simulation(EarthModel model, Survey survey, Settings settings, MemoryBudget memory)
    : SimulationOf("magnetic", {}),
      model_(std::move(model)),
      survey_(std::move(survey)),
      settings_(std::move(settings)),
      memory_(memory) {
  std::array<const std::vector<double>*, 4> values{};
  bool any = false;
  for (std::size_t p = 0; p < properties.size(); ++p)
    if (model_.has(properties[p])) {
      values[p] = &model_.property(properties[p]);
      any = true;
    }
  if (!any)
    throw InputError("model", "it has neither susceptibility nor magnetization",
                     "Give bodies susceptibility = 0.02 (SI), or magnetization_east, _north, _up (A/m).");
  const auto value = [&](std::size_t property, std::size_t n) {
    const double v = values[property] ? (*values[property])[n] : 0;
    return std::isnan(v) ? 0 : v;
  };
  const auto is_magnetized = [&](std::size_t n) {
    return value(0, n) != 0 || value(1, n) != 0 || value(2, n) != 0 || value(3, n) != 0;
  };
  const auto which = all_where(model_.size(), 0, is_magnetized);
  prisms_ = listed_prisms(model_, which);
  auto susceptibility = filled(which.size(), 0.0);
  Magnetization remanent;
  for (auto& along : remanent) along = filled(which.size(), 0.0);
  for_each_stretch(which.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      susceptibility[n] = value(0, which[n]);
      for (std::size_t a = 0; a < 3; ++a) remanent[a][n] = value(a + 1, which[n]);
    }
  });
  const double most = std::max(
      0.0, largest_value(which.size(), 0, [&](std::size_t n) { return std::fabs(susceptibility[n]); }));
  magnetization_ = magnetization(susceptibility, settings_.field, remanent);
  if (most > noticeable_susceptibility)
    warnings_.push_back(
        fmt::format("susceptibilities reach {:.3g}: without self-demagnetization the field is off by about "
                    "a third of that, {:.0f} %",
                    most, 100 * most / 3));
  if (const auto far = gravity::far_apart(model_, survey_)) warnings_.push_back(*far);
  if (prisms_.size() == 0) warnings_.push_back("nothing is magnetized: all fields will be zero");
}

std::unique_ptr<terrane::Simulation> Simulation::from_job(const Config& job, const Runtime& runtime) {
  auto settings = Settings::read(job);
  const auto memory = memory_budget(runtime);
  auto stations = build_survey(job, memory);
  expect_values(
      job, stations.survey,
      observed_columns(stations.survey, conventions(), conventions().named(settings.frame), settings.units)
          .observed);
  EarthRequest request;
  request.plan = [&](const Description& described, const MeshWish& wish) {
    return gravity::plan_prisms(described, wish, positions_of(stations.survey));
  };
  request.reads = {properties.begin(), properties.end()};
  auto earth = build_earth(job, stations.projection, memory, request);
  std::unique_ptr<Simulation> made;
  try {
    made = std::make_unique<Simulation>(std::move(earth.model), std::move(stations.survey),
                                        std::move(settings), memory);
  } catch (const InputError& error) {
    throw InputError(job.table("model").where(), error.problem(), error.next());
  }
  made->job_ = {job.source(), made->survey_.projection};
  made->take_notes(stations, earth);
  return made;
}

gravity::Prisms Simulation::prisms() const {
  const auto& p = prisms_;
  return {p.west, p.east, p.south, p.north, p.bottom, p.top, magnetization_[2]};
}

MemoryBudget Simulation::choose(const Runtime& runtime) const {
  return runtime.memory > 0 ? MemoryBudget{runtime.memory} : memory_;
}

/// Memory for the model, and for its prisms with three components of magnetization. During a sum: one further
/// number per prism; coordinates and columns of stations, three components of B, and twice the gradient
/// channels of the sum.
double Simulation::memory_needed() const {
  const auto columns = 3 + static_cast<double>(survey_.columns.size());
  return bytes_of(model_) + static_cast<double>(prisms_.size()) * 8 * 10 +
         static_cast<double>(survey_.size()) * 8 * (columns + 3 + 2 * gravity::tensor_channels.size());
}

/// The largest of the memory needed while prisms are made, during a sum, while rounding errors are estimated
/// (a tree stays in memory), and while files are written.
double Simulation::memory_needed(const gravity::MethodPlan& chosen, const Runtime& runtime) const {
  const auto n = static_cast<double>(prisms_.size()), s = static_cast<double>(survey_.size()),
             method = static_cast<double>(chosen.memory_bytes);
  const double seconds = gravity::seconds_to_look(chosen.seconds, thread_count(chosen.parameters.threads)),
               looking =
                   gravity::bytes_of_magnitude(prisms_.size(), survey_.size(), seconds) +
                   (chosen.method == gravity::Method::tree || chosen.method == gravity::Method::fmm ? method
                                                                                                    : 0),
               making = bytes_of(model_) + n * 8 * 13,
               writing = bytes_of(model_) + n * 8 * 9 + s * 8 * 6 +
                         bytes_to_write(survey_.size(), survey_.columns.size(), settings_.channels.size()),
               others = runtime.comm ? runtime.comm->on_node().count - 1 : 0;
  return std::max({making, memory_needed() + std::max(method, looking), writing}) +
         others * (method + n * 8 * 7 + s * 8 * 3);
}

gravity::Parameters Simulation::parameters(const Runtime& runtime) const {
  auto p = settings_.parameters;
  p.channels = gravity::tensor_channels;
  if (runtime.device.kind != Device::Kind::automatic) p.device = runtime.device;
  p.threads = runtime.threads;
  p.memory =
      static_cast<std::size_t>(std::max(1.0, static_cast<double>(choose(runtime).bytes) - memory_needed()));
  return p;
}

void Simulation::describe(RunFacts& facts, const MemoryBudget&, const Runtime&) const {
  facts.problem =
      fmt::format("{} magnetized prisms at {} stations", grouped(prisms_.size()), grouped(survey_.size()));
  facts.add("sources", std::uint64_t{prisms_.size()}, "", "sources");
  facts.add("stations", std::uint64_t{survey_.size()}, "", "stations");
}

void Simulation::foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const {
  const auto columns =
      observed_columns(survey_, conventions(), conventions().named(settings_.frame), settings_.units);
  plan.warnings.insert(plan.warnings.end(), columns.warnings.begin(), columns.warnings.end());
  gravity::check_values(prisms(), views(survey_));
  const auto chosen = gravity::plan(prisms(), views(survey_), parameters(runtime));
  plan.memory_bytes = static_cast<std::size_t>(memory_needed(chosen, runtime));
  memory.require("run", plan.problem, static_cast<double>(plan.memory_bytes));
  plan.method = gravity::name(chosen.method);
  plan.reason = chosen.reason;
  plan.seconds = chosen.seconds;
  plan.device = gravity::describe(chosen.device, runtime.threads);
}

Dataset Simulation::compute(Result& result, const MemoryBudget& memory, const Runtime& runtime) {
  memory.require("run", fmt::format("{} prisms and {} stations", prisms_.size(), survey_.size()),
                 memory_needed());
  const auto field =
      forward(prisms(), magnetization_, views(survey_), parameters(runtime), runtime.progress, runtime);
  result.report = field.report.named();
  for (auto& fact : result.report.values)  // omits the hint at simulation.verify, a key of gravity
    if (fact.name == "estimated_error")
      fact.text = fmt::format("{:.1e} expected", field.report.estimated_error);
  begin_with(result.report, notes_, warnings_);
  return fill(result, field);
}

Result Simulation::outline() const {
  Result result;
  auto data = fill(result, {});
  conclude(result, physics_, job_, std::move(data));
  return result;
}

Dataset Simulation::fill(Result& result, const FluxDensity& field) const {
  StationFields stations;
  const auto& frame = conventions().named(settings_.frame);
  for (const auto channel : settings_.channels) {
    const auto values = channel == Channel::tmi
                            ? total_field_anomaly(field, settings_.field, settings_.exact_anomaly)
                        : channel == Channel::b_amplitude ? amplitude(field)
                                                          : field.b[static_cast<std::size_t>(channel)];
    stations.fields.push_back(in_convention(
        *frame.of_channel(channel_names[static_cast<std::size_t>(channel)]), values, settings_.units));
  }
  stations.survey = survey_;
  const auto columns = observed_columns(survey_, conventions(), frame, settings_.units);
  compare(stations, result.report, columns);
  result.report.warnings.insert(result.report.warnings.end(), columns.warnings.begin(),
                                columns.warnings.end());
  result.attributes = provenance(physics_, job_);
  result.attributes["frame"] = settings_.frame;
  result.attributes["main_field"] =
      fmt::format("{} nT, inclination {}, declination {}", settings_.field.intensity * 1e9,
                  settings_.field.inclination, settings_.field.declination);
  result.attributes["anomaly"] = settings_.exact_anomaly ? "exact" : "projection";
  result.attributes["accuracy"] = fmt::format("{}", settings_.parameters.accuracy);
  result.conventions = &conventions();
  return to_dataset(std::move(stations));
}

io::Content Simulation::model(bool with_values) const {
  if (with_values) return io::to_content(model_, provenance(physics_, job_));
  const auto* cells = std::get_if<MeshCells>(&model_.geometry);
  if (cells == nullptr) return io::PrismData{};
  io::MeshData outline{cells->mesh, {}, {}};
  for (const auto& p : model_.properties) outline.cells.push_back({p.name, "", "", {}});
  return outline;
}

}  // namespace terrane::magnetic
