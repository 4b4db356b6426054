// What simulations of all physics have in common: plan, run, outline, and files of the model, with notes,
// provenance and time.
//
// A Choice contains decisions that depend on the problem and the machine. Both plan and run make it first and
// pass it on, so that a run does what its plan says.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terrane/io/registry.hpp"
#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane {

/// The Choice of a physics without decisions: only the memory that a run may use.
using MemoryAlone = MemoryBudget;

template <class Choice = MemoryAlone>
class SimulationOf : public Simulation {
 public:
  Plan check(const Runtime& runtime = {}) override {
    const Choice choice = choose(runtime);
    Plan plan;
    describe(plan, choice, runtime);
    begin_with(plan, notes_, warnings_);
    plan.memory_available = memory_budget(runtime).bytes;
    if (!words_.empty()) {
      auto shape = outline();
      add_words(shape, words_, plan);
    }
    foresee(plan, choice, runtime);
    return plan;
  }

  Result run(const Runtime& runtime = {}) override {
    date_text();  // called so that an error in the date appears before the run
    const Choice choice = choose(runtime);
    Result result;
    auto& report = result.report;
    describe(report, choice, runtime);
    begin_with(report, notes_, warnings_);
    if (!plans_by_itself()) {
      Plan plan;
      static_cast<RunFacts&>(plan) = report;
      foresee(plan, choice, runtime);
      report.warnings = std::move(plan.warnings);
    }
    const auto begin = std::chrono::steady_clock::now();
    auto data = compute(result, choice, runtime);
    if (report.seconds == 0)
      report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    conclude(result, physics_, job_, std::move(data));
    add_words(result, words_, report);
    return result;
  }

  void write_model(const std::string& path) const override { io::write(path, model(true)); }
  void check_model(const std::string& path) const override { io::left_out(path, model(false)); }

  const JobOrigin& origin() const noexcept { return job_; }
  const std::vector<std::string>& notes() const noexcept { return notes_; }
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  /// Sets text columns of the stations, for the result.
  void name_stations(std::vector<io::TextColumn> words) { words_ = std::move(words); }

 protected:
  SimulationOf(std::string_view physics, JobOrigin job) : physics_(physics), job_(std::move(job)) {}

  /// Adds the notes, warnings and station names that came from reading the earth and the stations.
  template <class... Told>
  void take_notes(const Told&... told) {
    (notes_.insert(notes_.end(), told.notes.begin(), told.notes.end()), ...);
    (warnings_.insert(warnings_.end(), told.warnings.begin(), told.warnings.end()), ...);
    const auto take_words = [&](const auto& one) {
      if constexpr (requires { one.words; }) words_ = one.words;
    };
    (take_words(told), ...);
  }

  virtual Choice choose(const Runtime& runtime) const = 0;
  /// Fills in the facts that plan and report have in common, except notes.
  virtual void describe(RunFacts& facts, const Choice& choice, const Runtime& runtime) const = 0;
  /// Adds the expected time of the run to a plan. Throws MemoryError, as a run would, if there is too little
  /// memory.
  virtual void foresee(Plan& plan, const Choice& choice, const Runtime& runtime) const = 0;
  /// Whether compute() includes the checks of foresee(), so that a run need not call foresee().
  virtual bool plans_by_itself() const { return false; }
  /// Computes: returns the data set, and adds to the report and the attributes.
  virtual Dataset compute(Result& result, const Choice& choice, const Runtime& runtime) = 0;
  /// The model with provenance, for model files; with_values = false: its columns without values.
  virtual io::Content model(bool with_values) const = 0;

  std::string physics_;
  JobOrigin job_;
  std::vector<std::string> notes_, warnings_;
  std::vector<io::TextColumn> words_;  // text columns of the stations
};

}  // namespace terrane
