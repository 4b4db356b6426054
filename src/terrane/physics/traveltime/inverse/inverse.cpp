// An inversion of first arrivals from a job file: the tables of a job that computes them, with source.file
// for the picks, and the table [inversion].
#include "terrane/physics/traveltime/inverse/inverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/job/left_out.hpp"
#include "terrane/inversion/job/report.hpp"
#include "terrane/inversion/job/tables.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/traveltime/inverse/examples.hpp"
#include "terrane/physics/traveltime/inverse/first_arrivals.hpp"
#include "terrane/physics/traveltime/physics.hpp"
#include "terrane/physics/traveltime/simulation.hpp"
#include "terrane/simulation/compare.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/field_facts.hpp"

namespace terrane::traveltime::inverse {

namespace {

constexpr const char* velocity_found = "velocity_p";
// Bytes that are stored, and seconds of a pass, per node of a front.
constexpr double bytes_of_kept_node = 16, seconds_of_pass = 3e-7;

class TimeData final : public inversion::Dependence {
 public:
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

 private:
  std::string title() const override { return "inversion of travel times"; }
  std::string property() const override { return velocity_found; }
  std::vector<double> values(const std::vector<double>& model) const override {
    return inversion::exponentials_of(model);
  }
  void describe_into(RunFacts& facts, const Runtime& runtime) const override;
  std::string computed() const override { return fmt::format("times of {} models", outcome_.forwards); }
  void fill(Result& result) const override;
  void complete_cells(std::vector<Column>& columns) const override;
  void choose(const Runtime& runtime) override;
  double memory_needed(const Runtime& runtime) const override;
  double expected_seconds(const Runtime& runtime) override;
  Fingerprint fingerprint(const Runtime& runtime) const override;

  void leave_out(const Config& table, JobProblem& read);
  void take_cells(const Config& job, const Config& table, const JobProblem& read);
  void take_sigma(const Config& table, const JobProblem& read);
  double entries_bytes() const {
    return 8 * static_cast<double>(problem_.data.size()) * static_cast<double>(columns());
  }
  std::size_t columns() const {
    return problem_.active.empty() ? problem_.mesh.size() : problem_.active.size();
  }

  traveltime::Problem times_;  // the problem whose velocity is the starting model
};

// ---- from the job ----

std::unique_ptr<terrane::Simulation> TimeData::from_job(const Config& job, const Runtime& runtime) {
  const auto table = job.table("inversion").describe({inversion::inversion_section().keys});
  auto made = std::make_unique<TimeData>();
  made->memory_ = memory_budget(runtime);
  auto read = Simulation::read(job, made->memory_, true);
  errors_counted(job.table("simulation"), false, false);
  made->notes_ = std::move(read.notes);
  made->warnings_ = std::move(read.warnings);
  if (read.times.empty())
    throw job.table("source").wrong(
        "file", read.data.empty() ? "missing" : "it has no observed times",
        "Name a table with travel_time_observed, or a file .sgt, in place of [survey].");
  auto& p = made->problem_;
  p.mesh = read.problem.mesh;
  p.whole_cells = true;
  made->leave_out(table, read);
  made->settings_ = inversion::read_steps(table, {p.mesh, {}, read.smooth, {}});
  made->take_cells(job, table, read);
  made->take_sigma(table, read);
  p.data = std::move(read.times);
  p.sets = {{"travel_time", "s", 0, p.data.size()}};
  made->times_ = std::move(read.problem);
  made->joint_ = inversion::read_joint(job);
  made->rocks_ = inversion::read_rocks_of_logarithms(table, velocity_found);
  made->origin_ = {job.source(), {}};
  made->settings_.threads = runtime.threads;
  made->choose(runtime);
  return std::make_unique<inversion::InversionJob>(std::move(made));
}

void TimeData::leave_out(const Config& table, JobProblem& read) {
  const std::size_t count = read.problem.picks.size();
  std::vector<bool> left(count);
  for (const auto& word : table.texts("leave_out")) {
    const auto [first, last] = inversion::numbers_left_out(table, word, count, "times");
    std::vector<std::size_t> named;
    for (std::size_t n = first; n < last; ++n) named.push_back(n), left[n] = true;
    notes_.push_back(
        fmt::format("left out, as inversion.leave_out says: time {}", inversion::some_of(named)));
  }
  inversion::keep(read.problem.picks, left);
  inversion::keep(read.times, left);
  if (!read.uncertainties.empty()) inversion::keep(read.uncertainties, left);
  if (read.problem.picks.empty()) throw table.wrong("leave_out", "no time is left");
}

/// Sets the active cells, all of them rock, with their reference model, starting model and bounds.
void TimeData::take_cells(const Config& job, const Config& table, const JobProblem& read) {
  auto& p = problem_;
  const auto octree = inversion::octree_file_of(job);
  const auto asked = inversion::read_active(table, p.mesh, octree, std::nullopt, memory_);
  const auto& velocity = read.problem.velocity;
  for (std::uint32_t c = 0, n = 0; c < velocity.size(); ++c) {
    if (!asked.empty()) {
      while (n < asked.size() && asked[n] < c) ++n;
      if (n == asked.size() || asked[n] != c) continue;
    }
    if (velocity[c] > 0) p.active.push_back(c);
  }
  if (p.active.empty()) throw table.wrong("active_file", "no active cell is rock");
  if (p.active.size() == velocity.size()) p.active.clear();
  const auto cells = [&](const char* key) {
    return inversion::read_logarithms(table, key, velocity_found, p.mesh, octree, p.active);
  };
  p.reference = cells("reference");
  const std::size_t count = columns();
  for (std::size_t c = 0; p.reference.size() < count; ++c)
    p.reference.push_back(std::log(velocity[p.active.empty() ? c : p.active[c]]));
  p.start = cells("start");
  p.bounds = {cells("lower"), cells("upper")};
  inversion::complete(p.bounds, count);
  p.weights = inversion::read_weights(table, p.mesh, octree);
}

void TimeData::take_sigma(const Config& table, const JobProblem& read) {
  std::vector<ObservedColumn> one{
      {"travel_time", {"travel_time_observed", "s", "", read.times}, std::nullopt}};
  if (!read.uncertainties.empty())
    one[0].uncertainty = Column{"travel_time_uncertainty", "s", "", read.uncertainties};
  inversion::read_uncertainties(table, one, notes_, read.data);
  problem_.sigma = one[0].uncertainty->values;
}

// ---- memory and time ----

void TimeData::choose(const Runtime& runtime) {
  settings_.jacobian_in_memory = 3 * entries_bytes() < 0.25 * static_cast<double>(budget(runtime).bytes);
  problem_.forward = std::make_shared<inversion::LogarithmForward>(
      std::make_shared<FirstArrivals>(make_picks(times_, problem_.active, settings_.threads)));
}

/// Bytes of the fronts of all shots, of entries of J, and of vectors. While the length of a step is searched,
/// fronts of two models are in memory.
double TimeData::memory_needed(const Runtime& runtime) const {
  const double nodes = static_cast<double>(Nodes(times_.mesh).size()),
               shots = static_cast<double>(times_.shots.size()),
               at_once = std::min(shots, static_cast<double>(thread_count(runtime.threads)));
  return 2 * shots * nodes * bytes_of_kept_node + 2 * bytes_of_medium(times_) +
         at_once * bytes_of_front(times_) + (settings_.jacobian_in_memory ? 3 * entries_bytes() : 0) +
         8 * 20 * static_cast<double>(columns()) + 8 * 86 * static_cast<double>(problem_.data.size());
}

/// Time for eight models: for the fronts of each, and for rows of J or products with J.
double TimeData::expected_seconds(const Runtime& runtime) {
  const double shots = static_cast<double>(times_.shots.size()),
               nodes = static_cast<double>(Nodes(times_.mesh).size()),
               passes = settings_.jacobian_in_memory ? static_cast<double>(problem_.data.size()) : 80 * shots;
  return 8 * (shots * seconds_of_front(times_) + passes * nodes * seconds_of_pass) /
         thread_count(runtime.threads);
}

void TimeData::describe_into(RunFacts& facts, const Runtime& runtime) const {
  facts.problem =
      fmt::format("{} of {} of {} cells from {} times of {} shots", property(), grouped(columns()),
                  grouped(problem_.mesh.size()), grouped(problem_.data.size()), grouped(times_.shots.size()));
  facts.method = "gauss-newton";
  facts.reason = fmt::format("first arrivals as data, sensitivities {} by the order of arrival",
                             settings_.jacobian_in_memory ? "in memory," : "as products,");
  Runtime on_cpu = runtime;
  on_cpu.device = {Device::Kind::cpu, -1};
  on_cpu.comm = nullptr;
  facts.device = device_text(on_cpu);
  facts.memory_bytes = static_cast<std::size_t>(memory_needed(runtime));
  facts.add("cells", std::uint64_t{columns()}, "", "cells");
  facts.add("data", std::uint64_t{problem_.data.size()}, "", "times");
  facts.add("shots", std::uint64_t{times_.shots.size()}, "", "shots");
  facts.add("order", std::uint64_t(times_.order), "");
  const auto [least, most] = std::minmax_element(problem_.reference.begin(), problem_.reference.end());
  facts.add("reference_least", std::exp(*least), "m/s");
  facts.add("reference_most", std::exp(*most), "m/s", "reference",
            fmt::format("{:.4g} to {:.4g} m/s", std::exp(*least), std::exp(*most)));
  facts.notes = notes_;
  if (runtime.comm != nullptr && runtime.comm->size() > 1)
    facts.notes.push_back("inversions of travel times run on the threads of one rank; the others wait");
  facts.warnings = warnings_;
}

Fingerprint TimeData::fingerprint(const Runtime&) const {
  Fingerprint all;
  add_determinants(all, "", times_);
  return all;
}

// ---- the result ----

void TimeData::fill(Result& result) const {
  auto rows = Simulation::rows_of(times_, outcome_.predicted);
  ObservedColumns columns;
  columns.others = rows.survey.columns;
  columns.observed.push_back(
      {"travel_time",
       {"travel_time_observed", "s", "observed time", problem_.data},
       Column{"travel_time_uncertainty", "s", "uncertainty of the time", problem_.sigma}});
  if (settings_.huber > 0)
    rows.fields.push_back({"trust", "1", "below 1 where an outlier counts less", outcome_.trust});
  compare(rows, result.report, columns);
  result.data = to_dataset(std::move(rows));
}

/// Rock that is not active keeps its velocity.
void TimeData::complete_cells(std::vector<Column>& columns) const {
  auto& first = columns.front();
  for (std::size_t c = 0, n = 0; c < first.values.size() && !problem_.active.empty(); ++c)
    if (n < problem_.active.size() && problem_.active[n] == c) ++n;
    else if (times_.velocity[c] > 0) first.values[c] = times_.velocity[c];
}

}  // namespace

inversion::Inverse inverse() {
  inversion::Inverse made;
  made.job = physics();
  made.job.summary = "Velocities from travel times.";
  made.job.sections.insert(made.job.sections.end() - 1,
                           {inversion::inversion_section(), inversion::joint_section()});
  made.job.make = TimeData::from_job;
  made.data = "travel times";
  made.examples = {example};
  made.on_page = {
      {"simulation", "",
       "With physics = \"traveltime\", beside `[source]` and `[model]` of [such jobs](job_traveltime.md):",
       sections().back().keys, false}};
  return made;
}

}  // namespace terrane::traveltime::inverse
