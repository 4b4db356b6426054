#include "terrane/inversion/job/joint_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "terrane/base/error.hpp"
#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/job/services.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::inversion {

namespace {

constexpr int usual_rounds = 5;  // examples and tests took 3 to 12 rounds
// The time of a round relative to that of the separate inversions, if regularisers have exact inverses
// (example 23).
constexpr double of_the_first = 1.8;

/// The state that the simulations of a joint inversion share.
struct Shared {
  std::vector<std::string> name;
  std::vector<std::unique_ptr<InversionJob>> job;
  std::vector<Runtime> runtime;
  JointSettings settings;
  std::vector<Plan> plan;      ///< empty until the jobs are checked
  std::vector<Result> result;  ///< empty until all jobs have run

  const std::vector<Plan>& check(Comm* comm);
  void run(const Runtime& of_run);

 private:
  /// The note for job `index`, shown when it is checked and when it runs.
  std::string note_of(std::size_t index) const;
  void require_devices();
  Fingerprint fingerprint();
  void describe(Report& report, const JointOutcome& found, double phi_m_ratio) const;
};

std::string Shared::note_of(std::size_t index) const {
  std::string others;
  for (std::size_t p = 0; p < job.size(); ++p)
    if (p != index) others += fmt::format("{}{}", others.empty() ? "" : ", ", name[p]);
  return fmt::format("found together with {}: coupling {:g}, rocks {:g}, {} rounds at most", others,
                     settings.coupling, settings.rocks, settings.most_rounds);
}

/// The plans of all jobs. All models are in memory at the same time (each rank of this machine stores its
/// part of each), and each model is computed again in every round.
const std::vector<Plan>& Shared::check(Comm* comm) {
  if (!plan.empty()) return plan;
  std::vector<Plan> plans;
  double bytes = 0;
  std::size_t available = 0;
  for (std::size_t p = 0; p < job.size(); ++p) {
    runtime[p].comm = comm;
    plans.push_back(job[p]->check(runtime[p]));
    auto& one = plans.back();
    bytes += static_cast<double>(one.memory_bytes);
    available = p == 0 ? one.memory_available : std::min(available, one.memory_available);
    one.seconds *= 1 + of_the_first * std::min(settings.most_rounds, usual_rounds);
    one.notes.push_back(note_of(p));
  }
  MemoryBudget{available}.require("invert", fmt::format("{} models together", job.size()), bytes);
  require_devices();
  return plan = std::move(plans);
}

/// Throws MemoryError if the inversions that compute on one device together need more memory than it has.
void Shared::require_devices() {
  std::vector<DeviceLoad> loads;
  for (std::size_t p = 0; p < job.size(); ++p) {
    const double bytes = job[p]->bytes_on_device(runtime[p]);
    if (bytes == 0) continue;
    const auto& asked = runtime[p];
    add_load(loads, asked.comm ? device_of_rank(asked.device, *asked.comm) : resolve(asked.device), bytes);
  }
  for (const auto& [device, bytes, models] : loads) {
    const double free = 0.95 * static_cast<double>(device_memory(device).free);
    if (bytes > free)
      throw MemoryError(
          "invert",
          fmt::format("would need {} for {} models together on {}, {} available", bytes_text(bytes), models,
                      to_string(device), bytes_text(free)),
          "Give one of the simulations device = \"cpu\" or another GPU, or take a coarser mesh.");
  }
}

Fingerprint Shared::fingerprint() {
  Fingerprint all;
  for (std::size_t p = 0; p < job.size(); ++p)
    for (auto& one : job[p]->fingerprint(runtime[p])) {
      one.what = fmt::format("{}: {}", name[p], one.what);
      all.push_back(std::move(one));
    }
  std::vector<double> rocks;
  for (const auto& of : settings.of) rocks.insert(rocks.end(), {of.first, of.second});
  all.push_back({"joint.coupling", fmt::format("{}", settings.coupling)});
  all.push_back({"joint.rocks", fmt::format("{}", settings.rocks)});
  all.push_back({"joint.most_rounds", fmt::format("{}", settings.most_rounds)});
  all.push_back({"joint.tolerance", fmt::format("{}", settings.tolerance)});
  all.push_back({"inversion.rocks", hash({rocks}), true});
  return all;
}

void Shared::describe(Report& report, const JointOutcome& found, double phi_m_ratio) const {
  for (std::size_t r = 0; r < found.rounds.size(); ++r) {
    const auto& round = found.rounds[r];
    std::string changes;
    for (std::size_t p = 0; p < job.size(); ++p)
      changes += fmt::format("{}{} {:.2g}", p == 0 ? "" : ", ", name[p], round.change[p]);
    report.notes.push_back(
        fmt::format("round {:>2}  cross-gradient {:.3g}{}  change: {}", r + 1, round.cross_gradient,
                    settings.rocks > 0 ? fmt::format("  unlike shares of rocks {:.3g}", round.unlike_shares)
                                       : std::string(),
                    changes));
  }
  report.add("rounds", std::uint64_t{found.rounds.size()}, "", "rounds",
             fmt::format("{}{}", found.rounds.size(), found.converged ? ", until the models stayed" : ""));
  report.add("cross_gradient", found.cross_gradient, "", "coupling",
             fmt::format("cross-gradient {:.3g} of that of the models found apart, phi_m {:.3g} times",
                         found.cross_gradient, phi_m_ratio));
  if (settings.rocks > 0)
    report.add("unlike_shares", found.unlike_shares, "", "rocks",
               fmt::format("unlike shares {:.3g} of those of the models found apart", found.unlike_shares));
  report.warnings.insert(report.warnings.end(), found.warnings.begin(), found.warnings.end());
}

/// of_run: gives ranks, progress and checkpoint; device and threads are those of each job.
void Shared::run(const Runtime& of_run) {
  const auto begin = std::chrono::steady_clock::now();
  check(of_run.comm);
  std::vector<const Problem*> problems;
  std::vector<const Settings*> of_each;
  const auto workers = of_run.comm != nullptr ? call_workers(*of_run.comm) : nullptr;
  for (std::size_t p = 0; p < job.size(); ++p) {
    job[p]->share_ranks(workers);
    runtime[p].comm = of_run.comm;
    runtime[p].progress = of_run.progress;
    job[p]->begin(runtime[p]);
    problems.push_back(&job[p]->problem());
    of_each.push_back(&job[p]->settings());
  }
  Keeper keeper(of_run.checkpoint, fingerprint());
  auto found = invert_jointly(problems, of_each, settings, of_run.progress, &keeper);
  for (std::size_t p = 0; p < job.size(); ++p) {
    const double apart = found.apart[p].phi_m.sum(), together = found.together[p].phi_m.sum();
    result.push_back(job[p]->finish(std::move(found.together[p]), runtime[p]));
    auto& report = result.back().report;
    report.notes.insert(report.notes.begin(), note_of(p));
    describe(report, found, together / apart);
    for (auto [from, to] : {std::pair{&keeper.notes, &report.notes}, {&keeper.warnings, &report.warnings}})
      to->insert(to->end(), from->begin(), from->end());
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
}

class Side final : public Simulation {
 public:
  Side(std::shared_ptr<Shared> all, std::size_t index) : all_(std::move(all)), index_(index) {}
  Plan check(const Runtime& runtime) override { return all_->check(runtime.comm)[index_]; }
  Result run(const Runtime& runtime) override {
    if (all_->result.empty()) all_->run(runtime);
    return all_->result[index_];
  }
  Result outline() const override { return mine().outline(); }
  void write_model(const std::string& path) const override { mine().write_model(path); }
  void check_model(const std::string& path) const override { mine().check_model(path); }
  InversionJob& mine() const { return *all_->job[index_]; }

 private:
  std::shared_ptr<Shared> all_;
  std::size_t index_;
};

/// Calls a check and, if it throws an error, adds the job's position in its file to the text of the error.
template <class Check>
void at(const Member& member, const Check& check) {
  try {
    check();
  } catch (const InputError& error) {
    throw InputError(member.where, error.problem(), error.next());
  }
}

}  // namespace

void add_load(std::vector<DeviceLoad>& loads, const Device& device, double bytes) {
  auto at = std::find_if(loads.begin(), loads.end(), [&](const DeviceLoad& load) {
    return load.device.kind == device.kind && load.device.index == device.index;
  });
  if (at == loads.end()) at = loads.insert(at, {device, 0, 0});
  at->device.shared_by = std::max(at->device.shared_by, device.shared_by);
  at->bytes += bytes;
  ++at->models;
}

bool asks_for_joint(const Config& job) {
  if (!job.has("joint")) return false;
  if (!job.has_parts())
    throw InputError(job.table("joint").where(), "the job has one simulation, and so one model",
                     "Write [[simulation]] for each kind of data, or leave the table out.");
  return true;
}

void join(const std::vector<Member>& members, std::optional<double> coupling) {
  auto all = std::make_shared<Shared>();
  for (const auto& member : members) {
    auto* inversion = dynamic_cast<InversionJob*>(member.job->simulation.get());
    if (inversion == nullptr) throw InputError(member.where, "the job has no table [inversion]");
    if (const auto why = inversion->why_alone(); !why.empty())
      throw InputError(member.where, why, "Invert these data in a job of their own.");
    if (inversion->states_errors())
      throw InputError(member.where, "models found together count no errors of their meshes",
                       "Leave simulation.verify out.");
    at(member, [&] {
      expect_joinable(inversion->settings());
      if (!all->job.empty()) expect_same_cells(all->job.front()->problem(), inversion->problem());
    });
    if (all->job.empty()) all->settings = inversion->joint();
    if (all->settings.rocks > 0) {
      if (!inversion->rocks())
        throw InputError(member.where, "joint.rocks needs this simulation's inversion.rocks",
                         "Give the property in the one rock and in the other: rocks = [0, 400].");
      all->settings.of.push_back(*inversion->rocks());
    }
    static_cast<void>(member.job->simulation.release());
    all->job.emplace_back(inversion);
    all->runtime.push_back(member.job->runtime);
    all->name.push_back(member.name);
  }
  if (coupling) all->settings.coupling = *coupling;
  for (std::size_t p = 0; p < members.size(); ++p)
    members[p].job->simulation = std::make_unique<Side>(all, p);
}

const InversionJob* inversion_of(const Simulation& simulation) {
  if (const auto* side = dynamic_cast<const Side*>(&simulation)) return &side->mine();
  return dynamic_cast<const InversionJob*>(&simulation);
}

}  // namespace terrane::inversion
