// Heat conduction from a job file, or from a problem and the places of its receivers.
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

/// The tables [simulation] and [source].
std::span<const Section> sections();

/// Temperatures of receivers, [time, receiver], and the time steps (March) that they come from.
struct Found {
  March march;
  std::vector<double> series;
  double step = 0;  ///< s
};

class Simulation final : public RefinedSimulation<Simulation, Found> {
 public:
  /// receivers: points whose temperature is recorded; problem.receivers is made for them. Throws InputError
  /// (one lies outside the mesh; Problem::settle).
  Simulation(Problem problem, Survey receivers, JobOrigin job = {});
  static std::unique_ptr<terrane::Simulation> from_job(const Config& job, const Runtime& runtime);

  Result outline() const override;

  const Problem& problem() const noexcept { return problem_; }

 private:
  MemoryBudget choose(const Runtime& runtime) const override;
  void describe(RunFacts& facts, const MemoryBudget&, const Runtime& runtime) const override;
  void foresee(Plan& plan, const MemoryBudget& memory, const Runtime&) const override;
  /// Temperature (time, receiver), and temperature_at_end (up, north, east), K.
  Dataset compute(Result& result, const MemoryBudget&, const Runtime& runtime) override;
  io::Content model(bool with_values) const override;
  Dataset dataset(March done, std::vector<double> temperatures) const;

  friend RefinedSimulation<Simulation, Found>;
  static constexpr auto errors_beside = ErrorsBeside::steps;
  static bool converged(const Found& found) { return found.march.converged; }
  std::uint64_t cells_of_run() const { return problem_.mesh.size(); }
  /// Solves; at receivers beside the source, corrects by its closed form, which takes a second run in rock
  /// like that at the source.
  Found solved(const Runtime& runtime) const;
  /// The companion: the same problem on cells twice as wide along some axes, with steps four times as long
  /// where longer_steps is set.
  std::unique_ptr<Simulation> on_companion(std::array<bool, 3> coarser, bool longer_steps) const;
  void take_source(const PointSource& source);
  /// At receivers beside the source, replaces what the mesh gives of the source by its closed form.
  void correct_beside_source(Found& found, const Runtime& runtime) const;
  /// The same problem on finer cells, each with the rock of the cell that it is part of, and shorter steps.
  std::unique_ptr<Simulation> finer(const FinerWish& wish, const Runtime&) const;
  /// Stated errors of each temperature, K, relative to the largest temperature of its time.
  std::vector<double> errors_of(const Solved& solved, StatedErrors& stated) const;
  /// Whether rock is warm at time 0, or makes heat.
  bool has_warm_rock() const;

  Problem problem_;
  Survey receivers_;
  std::vector<Weights> points_;  // weights of cells, for each receiver
  std::vector<double> initial_;  // temperature at time 0 without the heat of the source, K
  std::optional<PointSource> source_;
  std::vector<std::size_t> beside_;  // receivers that have the closed form of the source, ascending
};

}  // namespace terrane::heat
