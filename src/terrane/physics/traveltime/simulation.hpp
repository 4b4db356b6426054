// A simulation of travel times, from a job file or from a problem.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/physics/traveltime/picks.hpp"
#include "terrane/physics/traveltime/problem.hpp"
#include "terrane/physics/traveltime/times.hpp"
#include "terrane/simulation/refined_simulation.hpp"
#include "terrane/simulation/station_fields.hpp"

namespace terrane::traveltime {

/// The job tables [source] and [simulation].
std::span<const Section> sections();

/// The contents of a job.
struct JobProblem {
  Problem problem;
  Accuracy accuracy;
  std::vector<double> times, uncertainties;  ///< [pick] of observed data, s; empty: none
  std::string data;  ///< file and line of the observed data: "job.toml:9: source.file"
  std::vector<std::string> notes, warnings;
  std::vector<io::TextColumn> words;  ///< text columns of the receivers, [pick]
  std::array<double, 3> smooth{};     ///< m, for a planned mesh: lengths over which models are smoothed
};

class Simulation final : public RefinedSimulation<Simulation, Times> {
 public:
  /// Throws InputError if problem.settle() does.
  explicit Simulation(Problem problem, JobOrigin job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);
  /// inverts: whether the job is an inversion; if so, and if it does not describe rock, velocities are
  /// estimated from the observed times. Throws InputError that names the wrong key.
  static JobProblem read(const Config& job, const MemoryBudget& memory, bool inverts = false);

  Result outline() const override;
  const Problem& problem() const noexcept { return problem_; }
  /// A table with one row for each pick: its receiver as the station, its shot in further columns, its time.
  /// If `times` is empty, the column of times has no values.
  static StationFields rows_of(const Problem& problem, std::vector<double> times);

 private:
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const override;
  void foresee(Plan& plan, const MemoryBudget& memory, const Runtime& runtime) const override;
  Dataset compute(Result& result, const MemoryBudget&, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;

  friend RefinedSimulation<Simulation, Times>;
  static constexpr auto errors_beside = ErrorsBeside::nothing;
  static bool converged(const Times&) { return true; }
  std::uint64_t cells_of_run() const { return problem_.mesh.size(); }
  Times solved(const Runtime& runtime) const { return travel_times(problem_, runtime); }
  CompanionWish wish() const;
  std::unique_ptr<Simulation> on_companion(std::array<bool, 3> coarser, bool) const;
  std::unique_ptr<Simulation> finer(const FinerWish& wish, const Runtime&) const;
  std::vector<double> errors_of(const Solved& solved, StatedErrors& stated) const;

  Problem problem_;
  std::vector<double> observed_, uncertainties_;
};

}  // namespace terrane::traveltime
