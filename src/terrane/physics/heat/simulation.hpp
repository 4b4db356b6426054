// A simulation of heat conduction, from a job file or from a problem and the positions of receivers.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/physics/heat/march.hpp"
#include "terrane/physics/heat/places.hpp"
#include "terrane/physics/heat/point_source.hpp"
#include "terrane/simulation/refined_simulation.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane::heat {

/// The job tables [simulation] and [source].
std::span<const Section> sections();

/// Temperatures at receivers (series, [time, receiver]), the run from which they were computed, and the time
/// step of that run.
struct Found {
  March march;
  std::vector<double> series;
  double step = 0;  ///< s
};

class Simulation final : public RefinedSimulation<Simulation, Found> {
 public:
  /// receivers: points at which temperature is recorded; sets problem.receivers accordingly. Throws
  /// InputError (a receiver lies outside the mesh, or Problem::settle() refuses the problem).
  Simulation(Problem problem, Survey receivers, JobOrigin job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

  Result outline() const override;

  const Problem& problem() const noexcept { return problem_; }

 private:
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const override;
  void foresee(Plan& plan, const MemoryBudget& memory, const Runtime&) const override;
  /// The data set contains temperature [time, receiver] and temperature_at_end [up, north, east], K.
  Dataset compute(Result& result, const MemoryBudget&, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  Dataset dataset(March done, std::vector<double> temperatures) const;

  friend RefinedSimulation<Simulation, Found>;
  static constexpr auto errors_beside = ErrorsBeside::steps;
  static bool converged(const Found& found) { return found.march.converged; }
  std::uint64_t cells_of_run() const { return problem_.mesh.size(); }
  /// Runs the problem; at receivers near the source, corrects temperatures by the closed form, which needs a
  /// second run with the rock at the source everywhere.
  Found solved(const Runtime& runtime) const;
  /// The companion: the same problem on cells twice as wide along some axes, and with steps four times as
  /// long if longer_steps is set.
  std::unique_ptr<Simulation> on_companion(std::array<bool, 3> coarser, bool longer_steps) const;
  void take_source(const PointSource& source);
  /// At receivers near the source, replaces the source's part of the mesh's temperature by the closed form.
  void correct_beside_source(Found& found, const Runtime& runtime) const;
  /// The same problem on finer cells, each with the rock of the cell in which it lies, and with shorter
  /// steps.
  std::unique_ptr<Simulation> finer(const FinerWish& wish, const Runtime&) const;
  /// The estimated error of each temperature, [time, receiver], K.
  std::vector<double> errors_of(const Solved& solved, StatedErrors& stated) const;
  /// Whether temperatures change even without the source: they vary at time 0, or are not zero while sides
  /// are fixed at T = 0, or rock produces heat.
  bool has_warm_rock() const;

  Problem problem_;
  Survey receivers_;
  std::vector<Weights> points_;  // [receiver] weights of cells
  std::vector<double> initial_;  // K, temperature at time 0 without the heat of the source
  std::optional<PointSource> source_;
  std::vector<std::size_t> beside_;  // indices of receivers that are corrected by the closed form, ascending
};

}  // namespace terrane::heat
