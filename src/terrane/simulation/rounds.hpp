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

/// Ranks that do something in step. Between two agreements they wait for each other's messages, so an error
/// there leaves the others waiting, and ends all.
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

/// The shares of the next round, from those of the last and the seconds that it took each rank: GPUs of one
/// kind run at clocks that differ, and distant parts take unequal time. Even, where rounds are too short to
/// tell, or of so few parts that whole parts are not what shares say; changes by more than half are not
/// believed.  parts: of the round
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
  /// Does the next round begin with work that its parts do not share with those of the last? Then rounds are
  /// few.
  virtual bool slow_to_begin() const { return false; }
  /// Rank 0, after a round: do the next ones take as long? Otherwise they stay as large as this was to be.
  virtual bool tells_pace() const { return true; }
  /// Of the next round: which share of its work each rank should take, so that all are done at once, by how
  /// long the last one took them; the same on all ranks. Whoever does a part, its bits are the same.
  virtual void set_shares(std::span<const double> /*of_ranks*/) {}
  /// This rank's share of a round; must not communicate. Advances by steps_per_part for each part.
  virtual void compute(const Range& round, Progress& progress) = 0;
  /// Ranks but 0: sends what compute() found, after wait_for_turn().
  virtual void hand_over(Comm& comm, const Range& round) = 0;
  /// Rank 0: takes what its own compute() found, then what each other rank hands over; then all is there.
  virtual void take_own(const Range& round) = 0;
  virtual void take(Comm& comm, int rank, const Range& round) = 0;
  virtual void finish(const Range& round) = 0;
  /// Of a process alone, after compute() was cancelled: how many of the round's parts, from the first on, are
  /// done and can be taken.
  virtual std::size_t done_in_order() const { return 0; }

  static constexpr std::uint64_t steps_per_part = 1024;
};

struct RoundSettings {
  std::string_view what;        ///< for the user: "gravity"
  std::size_t done = 0;         ///< parts that a checkpoint has
  std::size_t least = 1;        ///< fewest parts of a round, enough for every rank, unless fewer are left
  double expected_seconds = 0;  ///< of all parts on all ranks
  double interval = 0;          ///< seconds between checkpoints, which stand between rounds
  double round = 10;  ///< seconds of a round, at most: errors and progress of other ranks are known that late
};

/// Rank 0: all rounds. after_round(parts done) follows each. Throws Cancelled; before that it calls
/// when_stopped(parts done), and does not wait for the other ranks, which may be busy, or gone.
void lead_rounds(
    InStep& ranks, RoundWork& work, const RoundSettings& settings, Progress& progress,
    const std::function<void(std::size_t done)>& after_round,
    const std::function<void(std::size_t done)>& when_stopped = [](std::size_t) {});
/// The other ranks.
void follow_rounds(InStep& ranks, RoundWork& work);

}  // namespace terrane
