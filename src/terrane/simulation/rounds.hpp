// A run that is cut into fixed parts (groups of stations, shots, frequencies), which all ranks do in rounds.
//
// The parts depend on the problem alone. A round is some consecutive parts: each rank computes its share of
// them, all agree whether any failed, and rank 0 collects the results, one rank after the other; then it may
// write a checkpoint. So no bit depends on the number of ranks or rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/partition/ranges.hpp"

namespace terrane {

/// Ranks that work in step. Between two agreements they wait for each other's messages, so an error of one
/// leaves the others waiting, and the program must end.
class InStep {
 public:
  /// Collective: runs `work` with the ranks in step. Rank 0 throws what any rank throws in together(); the
  /// others return then, for rank 0 tells the user. Throws OutOfStep: this rank failed where the others wait.
  static void run(Comm& comm, const std::function<void(InStep&)>& work);

  Comm& comm() const noexcept { return comm_; }
  /// Collective: this rank's part of some work that does not communicate, then agrees.
  template <class Work>
  void together(const Work& work) {
    agreed_ = true;
    terrane::together(comm_, work);
    agreed_ = false;
  }

 private:
  explicit InStep(Comm& comm) : comm_(comm) {}
  Comm& comm_;
  bool agreed_ = false;
};

/// The shares of the next round, from those of the last and the seconds that each rank took: GPUs of one kind
/// run at different clocks, and parts far away take unequal time. Equal shares, where rounds are too short to
/// time, or have so few parts that whole parts cannot follow the shares; a share changes by no more than a
/// half.  parts: of the round
std::vector<double> next_shares(std::span<const double> shares, std::span<const double> seconds,
                                std::size_t parts);

/// Rank 0 serves one rank after the other. Ranks that wait for their turn sleep until this small message
/// comes; then both sides are ready for the large one at once.
void give_turn(Comm& comm, int rank);
void wait_for_turn(Comm& comm);

/// What a physics does in a round. Every rank has one.
class RoundWork {
 public:
  virtual ~RoundWork() = default;
  virtual std::size_t parts() const = 0;
  /// Whether the next round begins with work that the last one did not do already. Then rounds are few and
  /// large.
  virtual bool slow_to_begin() const { return false; }
  /// Rank 0, after a round: whether the next ones will take as long. If not, rounds keep the size that this
  /// one had.
  virtual bool tells_pace() const { return true; }
  /// Sets the share of the next round's work that each rank should take, so that all finish at once, by the
  /// times of the last round; the same on all ranks. A part has the same bits on any rank.
  virtual void set_shares(std::span<const double> /*of_ranks*/) {}
  /// This rank's share of a round; must not communicate. Advances by steps_per_part for each part.
  virtual void compute(const Range& round, Progress& progress) = 0;
  /// Ranks but 0: sends what compute() found, after wait_for_turn().
  virtual void hand_over(Comm& comm, const Range& round) = 0;
  /// Rank 0: takes what its own compute() found; then take() what each other rank hands over, after which the
  /// round is complete.
  virtual void take_own(const Range& round) = 0;
  virtual void take(Comm& comm, int rank, const Range& round) = 0;
  virtual void finish(const Range& round) = 0;
  /// For a single process, after compute() was cancelled: how many of the round's parts, from the first on,
  /// are done and can be taken.
  virtual std::size_t done_in_order() const { return 0; }

  static constexpr std::uint64_t steps_per_part = 1024;
};

struct RoundSettings {
  std::string_view what;        ///< for the user: "gravity"
  std::size_t done = 0;         ///< parts that a checkpoint already holds
  std::size_t least = 1;        ///< fewest parts of a round, enough for every rank, unless fewer are left
  double expected_seconds = 0;  ///< expected seconds of all parts on all ranks together
  double interval = 0;          ///< seconds between checkpoints, which stand between rounds
  double round = 10;  ///< the most seconds of a round: errors and progress of other ranks are known that late
};

/// Rank 0: runs all rounds, and calls after_round(parts done) after each. Throws Cancelled; before that it
/// calls when_stopped(parts done), and does not wait for the other ranks, which may be busy, or gone.
void lead_rounds(
    InStep& ranks, RoundWork& work, const RoundSettings& settings, Progress& progress,
    const std::function<void(std::size_t done)>& after_round,
    const std::function<void(std::size_t done)>& when_stopped = [](std::size_t) {});
/// The other ranks: do their share of all rounds.
void follow_rounds(InStep& ranks, RoundWork& work);

}  // namespace terrane
