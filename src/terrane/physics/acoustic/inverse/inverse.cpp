// An inversion of recorded waves from a job file. It has the tables of a job that computes waves, [mesh],
// [model], [source], [survey], [boundary], [simulation], and [inversion] with the observed data.
//
//   kind = "modelling"   waveform inversion: finds velocities whose gathers fit the observed ones
//   kind = "migration"   least-squares migration: finds the change of velocity whose single scattering fits
//                        the observed gathers
#include "terrane/physics/acoustic/inverse/inverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "terrane/base/error.hpp"
#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/job/report.hpp"
#include "terrane/inversion/job/tables.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/acoustic/image/records.hpp"
#include "terrane/physics/acoustic/inverse/examples.hpp"
#include "terrane/physics/acoustic/inverse/waves.hpp"
#include "terrane/physics/acoustic/observed.hpp"
#include "terrane/physics/acoustic/physics.hpp"
#include "terrane/physics/acoustic/shot_files.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"
#include "terrane/physics/acoustic/simulation/tables.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::acoustic::inverse {

namespace {

constexpr const char* velocity_found = "velocity_p";
constexpr int usual_products = 20;
// Default bounds of velocities. Lower: the velocity at which the shortest wavelength has this many cells.
// Upper: `faster` times the velocity of the first model.
constexpr double fewest_cells_per_wavelength = 2.5, faster = 1.25;

std::string_view name_of(Component component) { return component_names[static_cast<std::size_t>(component)]; }
const char* unit_of(Component component) { return component == Component::pressure ? "Pa" : "m/s"; }

Device device_of_shots(const Runtime& runtime) {
  return runtime.comm ? device_of_rank(runtime.device, *runtime.comm) : resolve(runtime.device);
}

/// Makes the cells at sides with absorbing layers followers of their inner neighbours: their velocities keep
/// a fixed ratio (followers_at_sides()).
std::vector<Follower> let_sides_follow(const acoustic::Problem& waves, inversion::Problem& p) {
  auto followers = followers_at_sides(waves, p.active);
  if (p.active.empty())
    throw InputError("inversion: active cells", "none is left beside those at the sides of the mesh");
  if (p.active.size() == p.mesh.size()) p.active.clear();
  return followers;
}

/// For each active cell the largest (or smallest) of its followers' factors and 1.
std::vector<double> factors_of(const std::vector<Follower>& followers, const inversion::Problem& p,
                               bool largest) {
  std::vector<double> factors(p.active.empty() ? p.mesh.size() : p.active.size(), 1.0);
  for (const auto& f : followers) {
    const auto c = std::lower_bound(p.active.begin(), p.active.end(), f.of) - p.active.begin();
    auto& factor = factors[static_cast<std::size_t>(c)];
    factor = largest ? std::max(factor, f.factor) : std::min(factor, f.factor);
  }
  return factors;
}

/// Reads reference, first model and bounds of the velocities, as logarithms. Chooses a time step that is
/// stable for all of these and for the followers' velocities.
void take_velocities(const Config& job, const Config& table, const std::vector<Follower>& followers,
                     acoustic::Problem& waves, inversion::Problem& p) {
  const std::size_t count = p.active.empty() ? p.mesh.size() : p.active.size();
  const auto cells = [&](const char* key) {
    return inversion::read_logarithms(table, key, velocity_found, p.mesh, {}, p.active);
  };
  const auto place = [&](std::size_t c) { return p.active.empty() ? c : p.active[c]; };
  p.reference = cells("reference");
  for (std::size_t c = 0; p.reference.size() < count; ++c)
    p.reference.push_back(std::log(waves.velocity[place(c)]));
  p.start = cells("start");
  p.bounds = {cells("lower"), cells("upper")};
  auto slow = waves, fast = waves;
  const auto& first = p.start.empty() ? p.reference : p.start;
  for (std::size_t c = 0; c < count; ++c) {
    const auto [least, most] = std::minmax(p.reference[c], first[c]);
    slow.velocity[place(c)] = std::exp(least);
    fast.velocity[place(c)] =
        p.bounds.upper.empty() ? faster * std::exp(most) : std::exp(std::max(most, p.bounds.upper[c]));
  }
  for (const auto& f : followers) {
    slow.velocity[f.cell] = f.factor * slow.velocity[f.of];
    fast.velocity[f.cell] = f.factor * fast.velocity[f.of];
  }
  const auto raised = factors_of(followers, p, true), lowered = factors_of(followers, p, false);
  const double longest = fast.longest_step();
  if (waves.step == 0) waves.step = 0.9 * longest;
  if (!p.bounds.upper.empty() && waves.step > longest)
    throw job.table("simulation")
        .wrong("step", fmt::format("{:.6g} s is not stable at velocities up to inversion.upper", waves.step),
               fmt::format("Steps may be {:.6g} s at most; left open, the step is 0.9 of that.", longest));
  // The slowest velocity whose waves the cells resolve; settle() refuses a first model that is slower.
  const double least = slow.slowest(),
               resolved = least * fewest_cells_per_wavelength / slow.points_per_wavelength(least);
  for (const double lower : p.bounds.lower)
    if (lower < std::log(resolved * (1 - 1e-9)))
      throw table.wrong("lower",
                        fmt::format("{:.4g} m/s, where cells resolve no waves slower than {:.4g} m/s",
                                    std::exp(lower), resolved),
                        fmt::format("Allowed: {:.4g} m/s and more; left open, it is that.", resolved));
  if (p.bounds.lower.empty())
    for (std::size_t c = 0; c < count; ++c)
      p.bounds.lower.push_back(std::min(std::log(resolved / lowered[c]), std::log(slow.velocity[place(c)])));
  if (!p.bounds.upper.empty()) return;
  const double stable = 0.99 * longest / waves.step,
               fastest = *std::max_element(fast.velocity.begin(), fast.velocity.end());
  for (std::size_t c = 0; c < count; ++c) {
    const double most =
        stable * (waves.equation == Equation::constant_density ? fastest : fast.velocity[place(c)]);
    p.bounds.upper.push_back(std::max({std::log(most / raised[c]), p.reference[c], first[c]}));
  }
}

class WaveData final : public inversion::Dependence {
 public:
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

 private:
  std::string title() const override { return "inversion of acoustic waves"; }
  std::string property() const override { return "velocity_p"; }
  std::vector<double> values(const std::vector<double>& model) const override {
    return linear_ ? model : inversion::exponentials_of(model);
  }
  std::string why_alone() const override {
    return "velocities of waves are not found together with other models";
  }
  void describe_into(RunFacts& facts, const Runtime& runtime) const override;
  std::string computed() const override;
  void report_before(Report& report) const override;
  void fill(Result& result) const override;
  void complete_cells(std::vector<Column>& columns) const override;
  void choose(const Runtime& runtime) override;
  double memory_needed(const Runtime& runtime) const override;
  double bytes_on_device(const Runtime& runtime) const override;
  void require_memory(const Runtime& runtime, const std::string& what) const override;
  double expected_seconds(const Runtime& runtime) override;
  void make(const Runtime& runtime) override;
  void release(const Runtime& runtime) override;
  Fingerprint fingerprint(const Runtime& runtime) const override;

  const acoustic::Problem& waves() const { return fields_->problem(); }
  void read_settings(const Config& table);
  void read_gathers(const Config& table);
  void read_sigma(const Config& table);
  double bytes_of_vectors(const Runtime& runtime) const;
  double seconds_of_products(double models, double products, const Runtime& runtime) const;
  Dataset dataset() const;

  std::unique_ptr<Simulation> fields_;  ///< the simulation of waves in the job's first model
  acoustic::Settings waves_settings_;   ///< settings of the waves, with the chosen strategy of keeping waves
  bool linear_ = false;
  std::vector<Follower> followers_;  ///< cells at absorbing sides
  std::size_t gaps_ = 0;             ///< number of samples that were not recorded
  struct {
    std::vector<std::string> notes, warnings;
  } first_;  ///< facts about the first model
};

// ---- from the job ----

void expect_velocities(const Config& job) {
  const auto model = job.table("model");
  const bool none = !model.has("background") && !model.has("body") && !model.has("file") &&
                    !job.table("mesh").has("file") && !job.table("mesh").has("kind");
  if (!none) return;
  throw InputError(
      model.where(), "there are no velocities to begin with",
      "Describe the first model, so good that computed waves are less than half a period early or "
      "late: [model.background] velocity_p = \"2000 m/s\", layers ([[model.body]]), or model.file. "
      "Without [mesh] a mesh is planned for it.");
}

std::unique_ptr<terrane::Simulation> WaveData::from_job(const Config& job, const Runtime& runtime) {
  expect_velocities(job);
  const auto table = job.table("inversion").describe({inversion::inversion_section().keys});
  auto made = std::make_unique<WaveData>();
  made->memory_ = memory_budget(runtime);
  auto& p = made->problem_;
  made->fields_ = Simulation::for_inversion(
      job, runtime, [&](acoustic::Problem& waves, const TensorMesh& mesh, Task task) {
        p.mesh = mesh;
        p.active = inversion::read_active(table, mesh, {}, std::nullopt, made->memory_);
        made->linear_ = task == Task::migration;
        if (!made->linear_) {
          made->followers_ = let_sides_follow(waves, p);
          return take_velocities(job, table, made->followers_, waves, p);
        }
        p.reference = inversion::read_cells(table, "reference", velocity_found, mesh, {}, p.active);
        for (const char* key : {"start", "lower", "upper", "most_steps"})
          if (table.has(key))
            throw table.wrong(key, "a least-squares migration is one linear problem, without bounds",
                              "Leave the key out, or find velocities: kind = \"modelling\".");
      });
  p.whole_cells = true;
  made->read_settings(table);
  p.weights = inversion::read_weights(table, p.mesh, inversion::octree_file_of(job));
  made->read_gathers(table);
  made->read_sigma(table);
  made->joint_ = inversion::read_joint(job);
  made->origin_ = made->fields_->origin();
  made->settings_.threads = runtime.threads;
  made->choose(runtime);
  return std::make_unique<inversion::InversionJob>(std::move(made));
}

void WaveData::read_settings(const Config& table) {
  settings_ = inversion::read_steps(table, {problem_.mesh});
  settings_.jacobian_in_memory = false;
  settings_.most_products =
      table.has("most_products") ? static_cast<int>(table.count("most_products", 1, 500)) : usual_products;
  if (linear_ &&
      (settings_.choice == inversion::Choice::gcv || settings_.choice == inversion::Choice::l_curve))
    throw table.wrong("choice", "curves of many betas would take a run of all shots for each datum",
                      "Take discrepancy or fixed.");
  if (settings_.weighting == inversion::Weighting::sensitivity)
    throw table.wrong("weighting", "each sensitivity of a wave would be a run of its own",
                      "Leave the key out, or weight cells by weights_file.");
}

/// Reads the observed gathers, at the time steps of the run; samples that are NaN are gaps.
void WaveData::read_gathers(const Config& table) {
  if (!table.has("observed"))
    throw table.wrong("observed", "missing",
                      "Name the gathers that were recorded: SEG-Y, SU, RSF, NetCDF, or .npy [shot, time, "
                      "receiver] at the time steps of the run.");
  notes_ = fields_->notes();
  std::vector<std::vector<double>> gathers;
  try {
    gathers =
        observed_of(table.text("observed"), read_content(table, "observed"), waves(), notes_, Gaps::kept);
  } catch (const InputError& error) {
    throw table.wrong("observed", fmt::format("\"{}\": {}", error.where(), error.problem()), error.next());
  }
  auto& data = problem_.data;
  data = Shots(waves(), fields_->settings(), fields_->every(), {}).rows_of(gathers);
  gaps_ = static_cast<std::size_t>(
      std::count_if(data.begin(), data.end(), [](double d) { return std::isnan(d); }));
  if (gaps_ == data.size())
    throw table.wrong("observed", "no sample of it is a number: all are gaps",
                      "Name the gathers that were recorded.");
  for (const double d : data)
    if (std::fabs(d) > 1e30)  // the square of a larger datum may overflow
      throw table.wrong("observed", fmt::format("a sample of it is {:g}, which nobody measured", d),
                        "Samples that are NaN are gaps.");
}

/// Reads σ of each component: floor + percent of the root mean square of the trace, so that samples near zero
/// are no more certain than others. Gaps are left out of the mean.
void WaveData::read_sigma(const Config& table) {
  const auto& waves = this->waves();
  const auto floor = table.numbers("floor"), percent = table.numbers("percent");
  if (floor.empty() && percent.empty())
    throw table.wrong("floor", "missing",
                      "Gathers have no uncertainties: give inversion.floor, in Pa or m/s, or "
                      "inversion.percent, of the root mean square of each trace.");
  for (const auto& [key, list] : {std::pair{"floor", &floor}, {"percent", &percent}}) {
    if (!list->empty() && list->size() != waves.record.size())
      throw table.wrong(
          key, fmt::format("{} numbers for {} recorded components", list->size(), waves.record.size()));
    if (std::any_of(list->begin(), list->end(), [](double v) { return !(v >= 0) || !std::isfinite(v); }))
      throw table.wrong(key, "it is below zero, or no number");
  }
  if (floor.empty() && std::any_of(percent.begin(), percent.end(), [](double v) { return v == 0; }))
    throw table.wrong("percent", "samples without an error would be sure",
                      "Give a percentage above zero, or a floor.");
  auto& p = problem_;
  p.sigma.resize(p.data.size());
  std::size_t row = 0;
  const std::size_t samples = (waves.steps() - 1) / fields_->every() + 1;
  for (std::size_t k = 0; k < waves.record.size(); ++k) {
    const std::size_t first = row;
    for (std::size_t s = 0; s < waves.shots.size(); ++s) {
      const std::size_t receivers = waves.shots[s].receivers.size();
      for (std::size_t r = 0; r < receivers; ++r) {
        double squares = 0, recorded = 0;
        for (std::size_t n = 0; n < samples; ++n) {
          const double value = p.data[row + n * receivers + r];
          if (std::isnan(value)) continue;
          squares += value * value;
          ++recorded;
        }
        const double mean = recorded > 0 ? squares / recorded : NAN;
        const double sigma =
            (floor.empty() ? 0 : floor[k]) + (percent.empty() ? 0 : percent[k] / 100 * std::sqrt(mean));
        if (recorded > 0 && !(sigma > 0))
          throw table.wrong(
              "floor",
              fmt::format("the trace of shot {} and receiver {} is silent, and so would be sure", s + 1,
                          r + 1),
              fmt::format("Give the least uncertainty of {}, in {}: floor = [...].", name_of(waves.record[k]),
                          unit_of(waves.record[k])));
        for (std::size_t n = 0; n < samples; ++n) p.sigma[row + n * receivers + r] = sigma;
      }
      row += samples * receivers;
    }
    p.sets.push_back({std::string(name_of(waves.record[k])), unit_of(waves.record[k]), first, row - first});
  }
}

// ---- memory and time ----

/// Chooses a strategy of keeping the source's waves that fits into memory together with the vectors of
/// the inversion, and makes the operators.
void WaveData::choose(const Runtime& runtime) {
  waves_settings_ = fields_->settings();
  const auto device = device_of_shots(runtime);
  const double left = std::max(0.0, static_cast<double>(budget(runtime).bytes) - bytes_of_vectors(runtime)) /
                      fields_->shots_at_once(runtime).on_machine;
  Room room{device.has_own_memory() ? static_cast<double>(device_memory(device).free) : left, left, 0};
  if (waves_settings_.kept_in == KeptIn::disk || !waves_settings_.scratch.empty())
    room.disk = free_on_disk(scratch_folder(waves_settings_.scratch)) /
                fields_->shots_at_once(runtime).on_disk_of(waves_settings_);
  choose_keeping(waves_settings_, waves(), device, room);
  waves_settings_.task = Task::adjoint;  // the task that needs most memory
  const auto shots = std::make_shared<const Shots>(waves(), waves_settings_, fields_->every(), runtime);
  auto& p = problem_;
  if (linear_) p.g = scattering(shots, waves().velocity, p.active);
  else
    p.forward =
        std::make_shared<inversion::LogarithmForward>(std::make_shared<Waves>(shots, p.active, followers_));
}

/// Bytes of arrays on the host. Vectors of all data: one for each product of the Lanczos method (migration:
/// two, one of them for its checkpoint), and 16 more. Gathers of all time steps: as computed, and as
/// receivers send them back; the latter also on each other rank of the machine, packed and unpacked. Models
/// of all cells.
double WaveData::bytes_of_vectors(const Runtime& runtime) const {
  double samples = 0;
  for (const auto& shot : waves().shots)
    samples += static_cast<double>(waves().steps() * waves().traces(shot));
  const int vectors = (linear_ ? 2 : 1) * settings_.most_products + 16,
            others = runtime.comm ? runtime.comm->on_node().count - 1 : 0;
  return 8 * static_cast<double>(problem_.data.size()) * vectors + (28 + 16 * others) * samples +
         8 * 40 * static_cast<double>(problem_.mesh.size());
}

double WaveData::memory_needed(const Runtime& runtime) const {
  const auto device = device_of_shots(runtime);
  const double host = bytes_on_host(waves(), waves_settings_, device),
               shot = device.has_own_memory() ? 0 : bytes_of_shot(waves(), waves_settings_, device);
  return bytes_of_vectors(runtime) + fields_->shots_at_once(runtime).on_machine * (host + shot);
}

double WaveData::bytes_on_device(const Runtime& runtime) const {
  const auto device = device_of_shots(runtime);
  return device.has_own_memory() ? bytes_of_shot(waves(), waves_settings_, device) : 0;
}

void WaveData::require_memory(const Runtime& runtime, const std::string&) const {
  const auto what = fmt::format("{} samples over {} nodes", grouped(problem_.data.size()),
                                grouped(static_cast<std::uint64_t>(waves().whole().count())));
  const char* next =
      "Take fewer samples (simulation.sample), a smaller inversion.most_products, or wavefield = "
      "\"checkpoints\".";
  try {
    budget(runtime).require("invert", what, memory_needed(runtime));
    const auto device = device_of_shots(runtime);
    if (device.has_own_memory())
      MemoryBudget{device_memory(device).free}.require("invert", what + " on the GPU of a rank",
                                                       bytes_on_device(runtime));
  } catch (const MemoryError& error) {
    throw MemoryError(error.where(), error.problem(), next);
  }
  if (waves_settings_.kept_in != KeptIn::disk) return;
  const auto cost = waves_settings_.double_precision
                        ? cost_of<double>(waves_settings_.keeping, waves(), KeptIn::disk)
                        : cost_of<float>(waves_settings_.keeping, waves(), KeptIn::disk);
  const int ranks = fields_->shots_at_once(runtime).on_disk_of(waves_settings_);
  expect_on_disk(waves_settings_, ranks * cost.disk_bytes,
                 ranks == 1 ? "a shot" : fmt::format("{} shots, one of each rank,", ranks));
}

/// Estimated time. Modelling takes one sweep over the time steps; a product takes two for Born modelling (two
/// waves) and two or three for the adjoint.
double WaveData::seconds_of_products(double models, double products, const Runtime& runtime) const {
  const bool again =
      waves_settings_.keeping != Keeping::store && waves_settings_.keeping != Keeping::compressed;
  const double sweeps = models + products * (again ? 5 : 4),
               work = sweeps * static_cast<double>(waves().whole().count()) *
                      static_cast<double>(waves().steps() * waves().shots.size());
  const auto device = device_of_shots(runtime);
  const double rate =
      device.kind == Device::Kind::cuda ? 1e11 : 2e8 * std::min(thread_count(runtime.threads), 8);
  return work / (waves_settings_.double_precision ? rate / 2 : rate) /
         (runtime.comm ? runtime.comm->size() : 1);
}

/// An estimate that assumes seven iterations, and eight runs of modelling.
double WaveData::expected_seconds(const Runtime& runtime) {
  const double products = settings_.most_products + 3;
  return linear_ ? seconds_of_products(0, products, runtime) : seconds_of_products(8, 7 * products, runtime);
}

void WaveData::describe_into(RunFacts& facts, const Runtime& runtime) const {
  std::string names;
  for (const auto& set : problem_.sets) names += (names.empty() ? "" : ", ") + set.name;
  facts.problem = fmt::format("{} of {} of {} cells from {} samples of {} shots: {}",
                              linear_ ? "change of velocity" : "velocity", grouped(problem_.columns()),
                              grouped(problem_.mesh.size()), grouped(problem_.data.size()),
                              grouped(waves().shots.size()), names);
  facts.method = linear_ ? "least-squares migration" : "gauss-newton";
  facts.reason = fmt::format("{}, products by runs of all shots, wavefield = \"{}\"; steps of {:.4g} s",
                             linear_ ? "waves that are scattered once as data" : "all waves as data",
                             to_string(waves_settings_.keeping), waves().step);
  facts.device = device_text(runtime);
  facts.memory_bytes = static_cast<std::size_t>(memory_needed(runtime));
  facts.add("cells", std::uint64_t{problem_.columns()}, "", "cells");
  facts.add("data", std::uint64_t{problem_.rows()}, "", "data");
  if (gaps_ > 0)
    facts.add("gaps", std::uint64_t{gaps_}, "", "gaps",
              fmt::format("{} of {} samples were not recorded and count for nothing", grouped(gaps_),
                          grouped(problem_.data.size())));
  facts.add("shots", std::uint64_t{waves().shots.size()}, "", "shots");
  facts.add("steps", std::uint64_t{waves().steps()}, "", "steps");
  facts.add("step", waves().step, "s");
  facts.add(
      "most_products", std::uint64_t(settings_.most_products), "", "products",
      fmt::format("{} at most{}, each Born modelling of all shots and its adjoint", settings_.most_products,
                  linear_ ? "" : " in each of the one to three descents of a step"));
  if (!linear_) {
    const auto& b = problem_.bounds;
    const double least = std::exp(*std::min_element(b.lower.begin(), b.lower.end())),
                 most = std::exp(*std::max_element(b.upper.begin(), b.upper.end()));
    facts.add("velocity_least", least, "m/s");
    facts.add("velocity_most", most, "m/s", "velocities",
              fmt::format("from {:.4g} to {:.4g} m/s are allowed", least, most));
  }
  facts.notes = notes_;
  if (!followers_.empty())
    facts.notes.push_back(fmt::format(
        "{} cells at absorbing sides, and the layers beyond them, change by the factors by which the "
        "cells beside them do",
        grouped(followers_.size())));
  facts.warnings = fields_->warnings();
  if (waves_settings_.kept_in == KeptIn::disk)
    if (const auto warning = disk_in_memory(waves_settings_); !warning.empty())
      facts.warnings.push_back(warning);
}

Fingerprint WaveData::fingerprint(const Runtime& runtime) const {
  auto all = acoustic::fingerprint(waves(), waves_settings_);
  all.erase(all.begin());  // the entry with the program's version: every inversion adds it itself
  const auto& mesh = problem_.mesh;
  all.push_back({"mesh", hash({mesh.easting(), mesh.northing(), mesh.up()}), true});
  all.push_back({"steps between samples", fmt::format("{}", fields_->every())});
  all.push_back({"most_products", fmt::format("{}", settings_.most_products)});
  all.push_back({"cells that follow", fmt::format("{}", followers_.size())});
  all.push_back({"kind of device", fmt::format("{}", static_cast<int>(resolve(runtime.device).kind))});
  return all;
}

// ---- the run ----

/// Reports the time lags of the first model's traces, and warns if a descent may fit the wrong cycle.
void WaveData::make(const Runtime& runtime) {
  if (linear_) return;
  const Shots shots(waves(), waves_settings_, fields_->every(), runtime);
  const auto& first = problem_.start.empty() ? problem_.reference : problem_.start;
  const auto computed = problem_.forward->at(first, runtime.progress).data;
  const auto lags = lags_of(shots, computed, problem_.data);
  const double frequency = waves().wavelet.main_frequency();
  first_.notes = {
      fmt::format("first model: of {} traces {} are half a period of {:.4g} Hz and more early or late, "
                  "the farthest {:.3g} s",
                  lags.traces, lags.far, frequency, lags.largest)};
  first_.warnings.clear();
  if (20 * lags.far > lags.traces)
    first_.warnings.push_back(fmt::format(
        "of {} traces of the first model {} are half a period of {:.4g} Hz ({:.3g} s) and more early or "
        "late: waves may be matched with others of the data. Begin with waves of lower frequencies, "
        "or with a first model that is nearer (inversion.start)",
        lags.traces, lags.far, frequency, 0.5 / frequency));
}

std::string WaveData::computed() const { return fmt::format("gathers of {} models", outcome_.forwards); }

void WaveData::report_before(Report& report) const {
  report.notes.insert(report.notes.end(), first_.notes.begin(), first_.notes.end());
  report.warnings.insert(report.warnings.end(), first_.warnings.begin(), first_.warnings.end());
}

/// Makes the operators again without the Comm and the Progress of this run, which end before the job.
void WaveData::release(const Runtime& runtime) {
  auto alone = runtime;
  alone.comm = nullptr;
  alone.progress = nullptr;
  choose(alone);
}

void WaveData::fill(Result& result) const { result.data = dataset(); }

/// For each recorded component the computed and observed gathers, their difference and its uncertainty, each
/// [shot, time, receiver].
Dataset WaveData::dataset() const {
  auto data = fields_->gathers({});
  data.variables.clear();
  const auto& p = problem_;
  for (const auto& set : p.sets) {
    const auto part = [&](const auto& value) {
      std::vector<float> values;
      for (std::size_t n = set.first; n < set.first + set.count; ++n)
        values.push_back(static_cast<float>(value(n)));
      return values;
    };
    const auto add = [&](const char* role, const char* what, std::vector<float> values) {
      data.variables.push_back({set.name + role,
                                set.unit,
                                set.name + ", " + what,
                                {"shot", "time", "receiver"},
                                std::move(values),
                                {}});
    };
    const bool there = !outcome_.predicted.empty();
    const auto& predicted = outcome_.predicted;
    add("", "computed", part([&](std::size_t n) { return there ? predicted[n] : NAN; }));
    add("_observed", "observed", part([&](std::size_t n) { return p.data[n]; }));
    add("_residual", "observed - computed",
        part([&](std::size_t n) { return there ? p.data[n] - predicted[n] : NAN; }));
    add("_uncertainty", "standard deviation", part([&](std::size_t n) { return p.sigma[n]; }));
    if (settings_.huber > 0 && !outcome_.trust.empty())
      add("_trust", "below 1 where an outlier counts less",
          part([&](std::size_t n) { return outcome_.trust[n]; }));
  }
  return data;
}

/// Completes the first column, the velocity of active cells, to that of every cell. Least-squares migration:
/// the first column becomes the change of velocity, the second the changed velocity.
void WaveData::complete_cells(std::vector<Column>& columns) const {
  auto& first = columns.front();
  const auto& before = waves().velocity;
  if (linear_) {
    Column changed = first;
    for (std::size_t c = 0; c < changed.values.size(); ++c) changed.values[c] += before[c];
    first.name = std::string(velocity_found) + "_change";
    columns.insert(columns.begin() + 1, std::move(changed));
    return;
  }
  for (std::size_t c = 0, n = 0; c < first.values.size() && !problem_.active.empty(); ++c)
    if (n < problem_.active.size() && problem_.active[n] == c) ++n;
    else first.values[c] = before[c];
  if (first.values.empty()) return;
  for (const auto& f : followers_) first.values[f.cell] = f.factor * first.values[f.of];
}

}  // namespace

inversion::Inverse inverse() {
  inversion::Inverse made;
  made.job = physics();
  made.job.summary = "Velocities from recorded waves: waveform inversion, least-squares migration.";
  made.job.sections.insert(made.job.sections.end() - 1,
                           {inversion::inversion_section(), inversion::joint_section()});
  made.job.make = WaveData::from_job;
  made.data = "waves";
  made.examples = {example};
  made.on_page = {
      {"simulation", "",
       "With physics = \"acoustic\", beside `[model]`, `[source]`, `[boundary]` and `[survey]` of [such "
       "jobs](job_acoustic.md):",
       sections().back().keys, false}};
  return made;
}

}  // namespace terrane::acoustic::inverse
