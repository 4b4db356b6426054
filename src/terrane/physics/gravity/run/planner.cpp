// A plan in five steps:
//
//   1. the time of the direct sum, which every other method must beat       direct_cost()
//   2. the device                                                           choose_device()
//   3. estimates of the fast methods that may be faster, and of the direct
//      sum over bars, merged from prisms of equal density                   Contest::ask()
//   4. the fastest method; on the CPU if it, or a faster one, does not fit
//      the device                                                           plan()
//   5. the reason, in words                                                 Contest::explanation()
#include "terrane/physics/gravity/run/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/base/text.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/direct/candidate.hpp"
#include "terrane/physics/gravity/direct/merge.hpp"
#include "terrane/physics/gravity/fmm/candidate.hpp"
#include "terrane/physics/gravity/lattice/candidate.hpp"
#include "terrane/physics/gravity/tiles/tiles.hpp"
#include "terrane/physics/gravity/tree/candidate.hpp"

namespace terrane::gravity {

namespace {

/// Every method but the direct sum. Methods whose cost is estimated quickly come first.
constexpr const MethodEntry* fast_methods[] = {&lattice_method, &tree_method, &fmm_method};

constexpr double fast_enough = 2e-3;     // s; shorter runs need no comparison of methods
constexpr double gpu_start = 0.3;        // s; the time that a GPU needs before it computes anything
constexpr double share_of_memory = 0.8;  // fraction of a device's free memory that a run may use

double free_bytes(Device device) { return static_cast<double>(device_memory(device).free); }

const MethodEntry& entry_of(Method method) {
  for (const auto* entry : fast_methods)
    if (entry->method == method) return *entry;
  return direct_method;
}

/// Whether there are so few pairs that estimating another method would take as long as the direct sum.
bool few_pairs(const Problem& problem, double seconds) {
  return seconds < std::max(fast_enough, 60e-9 * static_cast<double>(problem.prisms.size()) +
                                             50e-9 * static_cast<double>(problem.stations.size()));
}

/// Whether this method can be as accurate as requested.
bool accurate_enough(const MethodEntry& entry, const Parameters& parameters) {
  return parameters.accuracy >= entry.finest_accuracy;
}

/// A lower bound of the seconds on one core, from the numbers of prisms and stations alone.
double least_seconds(const Problem& problem, const DirectCost& direct) {
  const auto& p = problem.parameters;
  double least = direct.seconds();
  for (const auto* entry : fast_methods) {
    if (p.method == Method::direct || (p.method == Method::automatic && !accurate_enough(*entry, p)))
      continue;
    if (const auto own = entry->least(problem)) least = std::min(least, own->seconds);
  }
  return least;
}

/// The requested device. If any is allowed, a GPU under three conditions: it is faster than the CPU; it has
/// memory for the direct sum, unless this is partitioned by prisms; and the run takes longer than the GPU's
/// start.
Device choose_device(const Problem& problem, const DirectCost& direct) {
  const auto& p = problem.parameters;
  if (p.device.kind != Device::Kind::automatic) return resolve(p.device);
  const Device cpu{Device::Kind::cpu, -1};
  const int threads = thread_count(p.threads);
  if (least_seconds(problem, direct) / threads < gpu_start) return cpu;
  const Device found = resolve(p.device);
  if (found.kind != Device::Kind::cuda || speed_in_cores(found) <= threads) return cpu;
  auto there = problem;
  there.parameters.device = found;
  const bool fits = direct_candidate(there, direct).device_bytes <= share_of_memory * free_bytes(found);
  return fits || p.partition == Partition::prisms ? found : cpu;
}

/// Estimates the methods on one device and finds the fastest.
class Contest {
 public:
  Contest(const Problem& problem, const DirectCost& cost, Progress& progress)
      : problem_(problem),
        automatic_(problem.parameters.method == Method::automatic),
        budget_(static_cast<double>(problem.parameters.memory > 0 ? problem.parameters.memory
                                                                  : available_memory())),
        cost_(cost),
        direct_(direct_candidate(problem, cost)),
        judged_by_(automatic_ ? problem.speedup : 1),
        judged_(cost.seconds(judged_by_)),
        progress_(progress) {}

  void ask();
  const Candidate& winner() const;
  std::string explanation() const;
  /// Host memory for all estimates: their data are kept until the fastest method is known.
  std::size_t asked_bytes() const;
  /// Whether a method did not fit the device but may be faster on the CPU.
  bool too_large_for_device() const { return too_large_for_device_; }

 private:
  bool may_serve(const MethodEntry& entry) const;
  void ask(const MethodEntry& entry);
  void ask_for_bars(BarsCandidate& bars);
  void refuse_what_does_not_fit(const MethodEntry& entry, Candidate& candidate);
  double best() const;

  const Problem& problem_;
  bool automatic_;
  double budget_;  // limit of the host memory, bytes
  DirectCost cost_;
  Candidate direct_;
  std::vector<Candidate> fast_;  // candidates in the order of fast_methods
  /// Merging prisms changes the last bits of the result. If the method is fixed by the user, the decision to
  /// merge must not depend on the number of CPU threads that the device is compared with; so the cost of the
  /// direct sum is then estimated as on the CPU.
  double judged_by_, judged_;
  bool small_ = false, bars_asked_ = false, too_large_for_device_ = false;
  Progress& progress_;
};

/// Seconds of the fastest method so far.
double Contest::best() const {
  double seconds = judged_;
  for (const auto& candidate : fast_) seconds = std::min(seconds, candidate.seconds);
  return seconds;
}

bool Contest::may_serve(const MethodEntry& entry) const {
  if (problem_.prisms.size() == 0 || problem_.stations.size() == 0) return false;
  if (!automatic_) return problem_.parameters.method == entry.method;
  return !small_ && accurate_enough(entry, problem_.parameters);
}

/// Estimates all methods. Estimating some of them takes long. Before such a method, prisms are merged to bars
/// if the sum over bars may take less than three times the least time of the method; otherwise at the end.
void Contest::ask() {
  small_ = few_pairs(problem_, judged_);
  std::optional<BarsCandidate> bars;
  if (!small_ && (automatic_ || problem_.parameters.method == Method::direct)) bars.emplace(problem_, cost_);
  for (const auto* entry : fast_methods) {
    const auto least = entry->least(problem_);
    if (bars && least && bars->promises() < 3 * least->seconds) ask_for_bars(*bars);
    const bool worth =
        !automatic_ || !least || (best() > 1.5 * least->seconds && least->host_bytes <= budget_);
    if (may_serve(*entry) && worth) {
      ask(*entry);
    } else {
      Candidate not_asked;
      not_asked.method = entry->method;
      not_asked.reason =
          least ? fmt::format("{} at least {}", entry->name,
                              duration_text(least->seconds / thread_count(problem_.parameters.threads)))
                : fmt::format("no {} (not looked for)", entry->name);
      fast_.push_back(std::move(not_asked));
    }
  }
  if (bars) ask_for_bars(*bars);
}

void Contest::ask(const MethodEntry& entry) {
  auto candidate = entry.candidate(problem_, progress_);
  if (automatic_) refuse_what_does_not_fit(entry, candidate);
  fast_.push_back(std::move(candidate));
}

void Contest::refuse_what_does_not_fit(const MethodEntry& entry, Candidate& candidate) {
  const bool there = problem_.on_device();
  if (!candidate.possible() || (there ? candidate.device_bytes <= free_bytes(problem_.parameters.device)
                                      : static_cast<double>(candidate.host_bytes) <= budget_))
    return;
  candidate.seconds = Candidate::impossible;
  candidate.reason =
      fmt::format("no {} (it would not fit into the memory{})", entry.name, there ? " of the device" : "");
  too_large_for_device_ = too_large_for_device_ || there;
}

void Contest::ask_for_bars(BarsCandidate& bars) {
  if (bars_asked_ || !bars.worth_making(best())) return;
  bars_asked_ = true;
  auto candidate = bars.make(progress_);
  if (bars.seconds(judged_by_) >= judged_) return;
  judged_ = bars.seconds(judged_by_);
  direct_ = std::move(candidate);
}

const Candidate& Contest::winner() const {
  const Candidate* winner = &direct_;
  for (const auto& candidate : fast_) {
    if (automatic_ ? candidate.seconds < winner->seconds
                   : candidate.method == problem_.parameters.method && candidate.possible())
      winner = &candidate;
  }
  return *winner;
}

std::size_t Contest::asked_bytes() const {
  std::size_t bytes = winner().method == Method::direct ? direct_.host_bytes : 0;
  for (const auto& candidate : fast_) bytes += candidate.asked_bytes;
  if (!bars_asked_) return bytes;
  return std::max(
      bytes, static_cast<std::size_t>(bytes_to_merge(problem_.prisms.size(), problem_.parameters.threads)));
}

std::string Contest::explanation() const {
  const auto& p = problem_.parameters;
  const int threads = thread_count(p.threads);
  std::string text;
  if (!automatic_) {
    text = "asked for";
  } else if (std::none_of(std::begin(fast_methods), std::end(fast_methods),
                          [&](const auto* entry) { return accurate_enough(*entry, p); })) {
    text = "only the direct sum is as accurate as asked for";
  } else if (small_) {
    text = "few pairs";
  } else {
    text = fmt::format("direct {}", duration_text(direct_.seconds / threads));
    for (const auto& candidate : fast_)
      text += ", " + (candidate.possible() ? fmt::format("{} {}", name(candidate.method),
                                                         duration_text(candidate.seconds / threads))
                                           : candidate.reason);
  }
  const auto& note = winner().note;
  return note.empty() ? text : text + "; " + note;
}

MemoryError no_room(const MethodPlan& plan) {
  return {"simulation.device",
          fmt::format("{} would need {} by the {} method, and {} are free", to_string(plan.device),
                      bytes_text(plan.device_bytes), name(plan.method), bytes_text(free_bytes(plan.device))),
          fmt::format("Write {}, or device = \"cpu\".",
                      plan.method == Method::direct ? "partition = \"prisms\"" : "method = \"direct\"")};
}

MethodPlan plan_of(const Problem& problem, const Parameters& asked, const Contest& contest) {
  const auto& winner = contest.winner();
  MethodPlan plan;
  plan.method = winner.method;
  plan.device = problem.parameters.device;
  plan.seconds = (winner.seconds + winner.spent) / thread_count(asked.threads);
  plan.memory_bytes = std::max(winner.host_bytes, contest.asked_bytes());
  plan.device_bytes = winner.device_bytes;
  plan.estimated_error = winner.estimated_error;
  if (problem.on_device() && asked.precision == Precision::single_precision)
    plan.estimated_error = std::max(plan.estimated_error, single_accuracy);
  plan.reason = contest.explanation();
  plan.parameters = asked;
  plan.stations = problem.stations;
  plan.summed = winner.summed;
  plan.make = winner.make;
  return plan;
}

}  // namespace

std::string describe(Device device, int threads) {
  if (device.kind == Device::Kind::cuda)
    return fmt::format("{} ({})", device_name(device), to_string(device));
  return fmt::format("{} ({}, {} threads)", to_string(device), kernel_target().name, thread_count(threads));
}

std::string_view name(Method method) { return method == Method::automatic ? "auto" : entry_of(method).name; }

MethodPlan plan(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                Progress* progress) {
  Progress silent;
  if (!progress) progress = &silent;
  Problem problem{prisms, stations, parameters};
  const auto cost = direct_cost(prisms, stations, parameters.channels, parameters.accuracy);
  problem.parameters.device = choose_device(problem, cost);
  if (problem.on_device())
    problem.speedup = speed_in_cores(problem.parameters.device) / thread_count(parameters.threads);

  Contest contest(problem, cost, *progress);
  contest.ask();
  auto chosen = plan_of(problem, parameters, contest);

  const auto on_cpu = [&] {
    auto here = parameters;
    here.device = {Device::Kind::cpu, -1};
    return plan(prisms, stations, here, progress);
  };
  const bool any_device = parameters.device.kind == Device::Kind::automatic;
  // A direct sum that does not fit is computed chunk by chunk, unless a partition by stations was requested.
  const bool whole = chosen.method != Method::direct || parameters.partition == Partition::stations;
  if (problem.on_device() && whole && chosen.device_bytes > free_bytes(chosen.device)) {
    if (!any_device) throw no_room(chosen);
    return on_cpu();
  }
  if (contest.too_large_for_device() && any_device)
    if (auto other = on_cpu(); other.seconds < chosen.seconds) return other;
  return chosen;
}

std::shared_ptr<Summation> summation(const Problem& problem, Progress& progress) {
  return entry_of(problem.parameters.method).summation(problem, progress);
}

}  // namespace terrane::gravity
