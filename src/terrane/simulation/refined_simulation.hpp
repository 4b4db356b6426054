// A simulation that estimates its errors by a run on a companion mesh and refines its mesh until the accuracy
// is reached (refining.hpp). This file has, for all physics: the companion's run, the sources of errors, and
// the rounds of refinement.
//
// A physics defines how it solves and its other meshes by these members, which are private, with the
// declaration `friend RefinedSimulation<Simulation, Found>`:
//
//   Found solved(const Runtime&) const                     solves, and returns the data on its mesh
//   static bool converged(const Found&)                    whether all solves converged
//   … errors_of(const Solved&, StatedErrors&) const        the error of each datum; NaN if `why` is set
//   on_companion(coarser, moves) const                     the simulation with cells twice as wide along
//                                                          the axes `coarser`; moves: with moved boundaries,
//                                                          or longer time steps. Throws InputError
//   finer(const FinerWish&, const Runtime&) const          the simulation on a finer mesh. Throws InputError,
//                                                          MemoryError
//   std::uint64_t cells_of_run() const                     the number of cells
//   static constexpr ErrorsBeside errors_beside            the source of errors other than cells
#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/simulation/checkpoint.hpp"
#include "terrane/simulation/refining.hpp"
#include "terrane/simulation/simulation_of.hpp"
#include "terrane/simulation/stated_errors.hpp"

namespace terrane {

enum class ErrorsBeside { nothing, walls, steps };

/// The solution on a mesh, and that on its companion mesh.
template <class Found>
struct WithCompanion {
  Found mine{}, other{};
  double seconds = 0, of_companion = 0;
  std::string why = {};  ///< reason why no error can be stated; else empty
};

template <class Self, class Found>
class RefinedSimulation : public SimulationOf<> {
 protected:
  using Solved = WithCompanion<Found>;
  static constexpr std::array<bool, 3> all_axes{true, true, true};

  RefinedSimulation(std::string_view physics, JobOrigin job) : SimulationOf(physics, std::move(job)) {}

  /// Makes the companion, or notes why no error can be stated.
  template <class Make>
  void make_companion(const Make& make) {
    try {
      companion_ = make();
    } catch (const InputError& error) {
      no_error_ = "on cells twice as wide, " + error.where() + ": " + error.problem();
    }
  }
  void make_companion() {
    make_companion([this] { return self().on_companion(all_axes, true); });
  }
  bool states_errors() const { return accuracy_.states_errors(); }
  /// The companion; null if there is none or it cannot be run.
  const Self* companion() const { return no_error_.empty() ? companion_.get() : nullptr; }
  void foresee_errors(Plan& plan) const {
    if (states_errors() && !no_error_.empty())
      plan.warnings.push_back("no error will be stated: " + no_error_);
  }

  /// Copies the job, settings, notes and warnings of this simulation to `next`, the same one on finer cells.
  std::unique_ptr<Self> continued_by(std::unique_ptr<Self> next) const {
    RefinedSimulation& made = *next;
    made.job_ = job_;
    made.accuracy_ = accuracy_;
    made.notes_ = notes_;
    add_lines(made.warnings_, warnings_);
    made.words_ = words_;
    if (!made.companion_) made.make_companion();
    if (made.no_error_.empty()) made.no_error_ = no_error_;
    return next;
  }

  /// Solves; if the job asks for an accuracy that is not reached, solves on finer and finer meshes. This
  /// object then becomes the simulation on the last of them.
  Solved solved_in_rounds(Result& result, const Runtime& runtime, Rounds& rounds) {
    std::unique_ptr<Self> last;
    const auto& checkpoint = runtime.checkpoint;
    const bool afresh = accuracy_.verify == Verify::refine && checkpoint.resume && !checkpoint.file.empty() &&
                        !is_left(checkpoint.file);
    auto solved = rounds_of(last, runtime, rounds);
    auto& report = result.report;
    if (last) {
      RunFacts facts;
      last->describe_into(facts, runtime);
      facts.seconds = report.seconds;
      static_cast<RunFacts&>(report) = std::move(facts);
      self() = std::move(*last);
    }
    if (afresh) report.warnings.push_back(no_checkpoint(checkpoint.file));
    return solved;
  }
  void tell(Result& result, const Solved& solved, const StatedErrors& stated, const Rounds& rounds) const {
    stated.tell(result, solved.of_companion, solved.seconds + solved.of_companion);
    rounds.tell(result);
  }
  void describe_into(RunFacts& facts, const Runtime& runtime) const {
    describe(facts, choose(runtime), runtime);
    begin_with(facts, notes_, warnings_);
  }

  Accuracy accuracy_;
  std::unique_ptr<Self> companion_;  // the same simulation on cells twice as wide
  std::string no_error_;             // reason why no error can be stated; else empty

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  static Runtime without_checkpoint(Runtime runtime) {
    runtime.checkpoint = {};
    return runtime;
  }
  /// Gives each round its own checkpoint, which contains the complete solution when the round is done. A
  /// resumed run makes the same meshes again, as these follow from the results of earlier rounds.
  Runtime in_round(Runtime runtime, std::size_t round) const {
    if (accuracy_.verify != Verify::refine) return runtime;
    runtime.checkpoint = checkpoint_of_one(runtime.checkpoint, round, 1 + Rounds::most);
    return runtime;
  }
  Self& self() { return static_cast<Self&>(*this); }
  const Self& self() const { return static_cast<const Self&>(*this); }

  Solved with_companion(const Runtime& runtime) const {
    Solved all;
    const auto begin = Clock::now();
    all.mine = self().solved(runtime);
    all.seconds = seconds_since(begin);
    if (!states_errors()) return all;
    all.why = no_error_;
    if (!companion()) return all;
    const auto begin_of_companion = Clock::now();
    all.other = companion()->solved(without_checkpoint(runtime));
    all.of_companion = seconds_since(begin_of_companion);
    if (!Self::converged(all.other)) all.why = "a solve of the companion run did not converge";
    return all;
  }

  double error_at_95(const Solved& solved) const {
    StatedErrors stated(accuracy_, solved.why);
    if (states_errors()) self().errors_of(solved, stated);
    return stated.at_95();
  }

  /// The contributions to the error of cells along each axis and of boundaries or time steps, from meshes
  /// with cells twice as wide along all axes, and along all but one.
  ErrorShares shares_of_error(const Runtime& runtime) const {
    const auto here = without_checkpoint(runtime);
    Solved two;
    two.mine = self().on_companion(all_axes, false)->solved(here);
    const auto error_by = [&](std::array<bool, 3> coarser, bool moves) {
      two.other = self().on_companion(coarser, moves)->solved(here);
      return Self::converged(two.other) ? error_at_95(two) : std::nan("");
    };
    ErrorShares shares;
    for (std::size_t a = 0; a < 3; ++a) {
      auto but_one = all_axes;
      but_one[a] = false;
      shares.cells[a] = error_by(but_one, false);
    }
    if (Self::errors_beside != ErrorsBeside::nothing) shares.walls = error_by(all_axes, true);
    shares.of_steps = Self::errors_beside == ErrorsBeside::steps;
    return shares;
  }

  Round size(const Runtime& runtime) const {
    RunFacts facts;
    describe(facts, choose(runtime), runtime);
    return {self().cells_of_run(), std::nan(""), 0, static_cast<double>(facts.memory_bytes)};
  }

  /// The simulation of the next round; null if there is none.
  std::unique_ptr<Self> next_round(Rounds& rounds, const Runtime& runtime) const {
    if (!rounds.goes_on()) return nullptr;
    try {
      const auto shares = shares_of_error(runtime);
      const auto& last = rounds.all().back();
      const auto& asked = rounds.accuracy();
      const auto wish =
          finer_wish(shares, last.error, asked.accuracy, most_times(last.cells, asked.most_cells));
      rounds.come_from(shares, wish);
      auto next = self().finer(wish, runtime);
      next->check(runtime);
      if (rounds.takes(next->size(runtime))) return next;
    } catch (const MemoryError& error) {
      rounds.stop("the next mesh needs more memory than there is: " + error.problem());
    } catch (const std::bad_alloc&) {
      rounds.stop("there is no memory left for the next mesh");
    } catch (const InputError& error) {
      rounds.stop("the next mesh cannot be made: " + error.problem());
    }
    return nullptr;
  }

  /// Solves one round; nullopt if memory does not suffice and an earlier round has a solution.
  std::optional<Solved> one_round(const Runtime& runtime, Rounds& rounds) const {
    const bool first = rounds.all().empty();
    try {
      return with_companion(in_round(runtime, rounds.all().size()));
    } catch (const MemoryError& error) {
      if (first) throw;
      rounds.stop("the solve on the next mesh needs more memory than there is: " + error.problem());
    } catch (const std::bad_alloc&) {
      if (first) throw;
      rounds.stop("there is no memory left for the solve on the next mesh");
    }
    return std::nullopt;
  }

  /// The solution on the last mesh or, if memory did not suffice for that, on the previous one. last: gets
  /// the simulation on that mesh, unless it is the first mesh.
  Solved rounds_of(std::unique_ptr<Self>& last, const Runtime& runtime, Rounds& rounds) const {
    const auto begin = Clock::now();
    std::unique_ptr<Self> before;
    std::optional<Solved> earlier;
    for (;;) {
      const RefinedSimulation& now = last ? *last : *this;
      auto solved = now.one_round(runtime, rounds);
      if (!solved) {
        rounds.took(seconds_since(begin));
        last = std::move(before);
        return std::move(*earlier);
      }
      auto round = now.size(runtime);
      round.error = now.error_at_95(*solved);
      round.seconds = solved->seconds;
      rounds.add(round);
      auto next = now.next_round(rounds, runtime);
      rounds.took(seconds_since(begin));
      if (!next) return std::move(*solved);
      before = std::exchange(last, std::move(next));
      earlier = std::move(solved);
    }
  }
};

}  // namespace terrane
