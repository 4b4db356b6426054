// Heat conduction from a job file, or from a problem and the places of its receivers.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "terrane/job/config.hpp"
#include "terrane/physics/heat/march.hpp"
#include "terrane/physics/heat/places.hpp"
#include "terrane/simulation/refining.hpp"
#include "terrane/simulation/simulation_of.hpp"
#include "terrane/simulation/stated_errors.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane::heat {

/// The tables [simulation] and [source].
std::span<const Section> sections();

class Simulation final : public SimulationOf<> {
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
  Dataset dataset(March done) const;
  /// Temperatures of receivers, [time, receiver].
  struct Series {
    std::vector<double> values;
    double step = 0;
    bool converged = true;
  };
  struct Solved {
    March done;
    Series mine, other;
    double seconds = 0, of_companion = 0;
  };
  Series series_of(const March& done) const;
  Solved solved_with_companion(const Runtime& runtime) const;
  /// On finer meshes, where the job asks for an accuracy and it is not kept: this becomes what it is on the
  /// last of them.
  Solved solved_in_rounds(Result& result, const Runtime& runtime, Rounds& rounds);
  ErrorShares shares_of_error(const Runtime& runtime) const;
  /// On cells twice as wide along some axes, with steps so many times as long.
  std::unique_ptr<Simulation> on_companion(std::array<bool, 3> coarser, double longer) const;
  /// On finer cells, with the rock of those that they are parts of, and shorter steps.
  std::unique_ptr<Simulation> finer(const FinerWish& wish) const;
  /// Of each temperature, K, relative to the largest one of its time, by another series.
  std::vector<double> errors_of(const Series& mine, const Series& other, StatedErrors& stated) const;

  Problem problem_;
  Survey receivers_;
  std::vector<Weights> points_;  // of the receivers
  Accuracy accuracy_;
  bool unheld_ = false;                    // a body is less than two cells across
  std::unique_ptr<Simulation> companion_;  // on cells twice as wide, with steps four times as long
  std::vector<double> initial_;            // of rock alone, K
  /// Adds the source to a problem on other cells.
  std::function<void(Problem&)> put_source_;
};

}  // namespace terrane::heat
