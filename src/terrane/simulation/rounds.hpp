// A run that is divided into fixed parts (groups of stations, shots, frequencies), which all ranks compute in
// rounds.
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

/// Ranks that work synchronously. Between two agreements they wait for each other's messages, so after an
/// error of one rank the others would wait for ever, and the program must end.
class InStep {
 public:
  /// Collective: runs `work` on all ranks. An error of any rank in together() is thrown on rank 0 alone,
  /// which reports it to the user; the other ranks return. Throws OutOfStep if this rank failed elsewhere,
  /// while the others wait.
  static void run(Comm& comm, const std::function<void(InStep&)>& work);

  Comm& comm() const noexcept { return comm_; }
  /// Collective: does this rank's part of some work that does not communicate, then agrees with the others on
  /// errors.
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

/// The ranks' shares of the next round, from the shares of the last one and the seconds that each rank took:
/// GPUs of one kind run at different clocks, and parts take unequal times. Shares are equal if rounds are too
/// short for timing, or have too few parts to be divided accurately. A share changes by at most the factor
/// 1.5.  parts: number of parts of the round
std::vector<double> next_shares(std::span<const double> shares, std::span<const double> seconds,
                                std::size_t parts);

/// Rank 0 receives results from one rank after the other. Ranks sleep until their small message give_turn()
/// arrives; then rank 0 and the rank are ready for the large message.
void give_turn(Comm& comm, int rank);
void wait_for_turn(Comm& comm);

/// The work of a physics in a round. Every rank has such an object.
class RoundWork {
 public:
  virtual ~RoundWork() = default;
  virtual std::size_t parts() const = 0;
  /// Whether every round begins with costly preparations, so that rounds should be few and large.
  virtual bool slow_to_begin() const { return false; }
  /// On rank 0, after a round: whether its time is typical of the next ones. If not, the next round has the
  /// same size.
  virtual bool tells_pace() const { return true; }
  /// Sets each rank's share of the work of the next round, chosen from the times of the last one such that
  /// all finish at the same time; the same on all ranks. A part's bits do not depend on the rank that
  /// computes it.
  virtual void set_shares(std::span<const double> /*of_ranks*/) {}
  /// Computes this rank's share of a round; must not communicate. Advances the progress by steps_per_part for
  /// each part.
  virtual void compute(const Range& round, Progress& progress) = 0;
  /// On ranks other than 0: sends the results of compute(), after wait_for_turn().
  virtual void hand_over(Comm& comm, const Range& round) = 0;
  /// On rank 0: take_own() stores the results of its own compute(); take() receives those of another rank;
  /// finish() is called when the round is complete.
  virtual void take_own(const Range& round) = 0;
  virtual void take(Comm& comm, int rank, const Range& round) = 0;
  virtual void finish(const Range& round) = 0;
  /// For a single process, after compute() was cancelled: the number of the round's parts, consecutive from
  /// the first, that are done and can be stored.
  virtual std::size_t done_in_order() const { return 0; }

  static constexpr std::uint64_t steps_per_part = 1024;
};

struct RoundSettings {
  std::string_view what;        ///< name of the physics for the user: "gravity"
  std::size_t done = 0;         ///< number of parts that the checkpoint already contains
  std::size_t least = 1;        ///< fewest parts of a round, enough for every rank, unless fewer are left
  double expected_seconds = 0;  ///< expected seconds of all parts on all ranks together
  double interval = 0;          ///< seconds between checkpoints, which are written between rounds
  double round = 10;            ///< most seconds of a round; rank 0 learns of errors of other ranks after it
};

/// Rank 0: runs all rounds, and calls after_round(parts done) after each. Throws Cancelled; before that,
/// calls when_stopped(parts done), without waiting for the other ranks, which may be busy or have ended.
void lead_rounds(
    InStep& ranks, RoundWork& work, const RoundSettings& settings, Progress& progress,
    const std::function<void(std::size_t done)>& after_round,
    const std::function<void(std::size_t done)>& when_stopped = [](std::size_t) {});
/// On the other ranks: computes their share of all rounds.
void follow_rounds(InStep& ranks, RoundWork& work);

}  // namespace terrane
