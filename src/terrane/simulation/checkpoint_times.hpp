// When a run in steps or shots writes a checkpoint, and how its ranks do so together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "terrane/job/checkpoint.hpp"
#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

/// Whether this process has results that would be lost at its end, but can write them into a checkpoint after
/// the current step: a signal to terminate then waits for that (cli/watch.hpp).
inline std::atomic<bool> work_to_keep{false};

/// What a rank wants to do after steps that all ranks have made; if ranks differ, the first in this order is
/// done.
enum class Wish { stop, keep_and_stop, keep, go_on };

/// On rank 0: if a job has several runs, and this one writes a checkpoint and was not resumed: removes the
/// checkpoints of later runs that an earlier job left, so that --resume does not mix two jobs.
void forget_later_runs(const CheckpointSettings& one);

/// On rank 0: decides when the next checkpoint is due, and handles errors in writing.
class CheckpointTimes {
 public:
  CheckpointTimes(const CheckpointTimes&) = delete;
  CheckpointTimes& operator=(const CheckpointTimes&) = delete;
  ~CheckpointTimes() { work_to_keep = false; }
  /// Starts the clock. first: number of steps, of `all`, that are done already. If writing a checkpoint
  /// fails, a warning is added to `warnings`, which must outlive this object.
  CheckpointTimes(CheckpointSettings settings, std::size_t first, std::size_t all,
                  std::vector<std::string>& warnings);

  /// Whether to write a checkpoint now, after `done` steps: if checkpoints are wanted, the last one is old
  /// enough, and the whole run, extrapolated from the steps so far, will be long enough.
  bool due(std::size_t done) const;
  /// If the user stops the run after `done` steps: whether the work since the last checkpoint is worth a new
  /// one; and the corresponding wish of a rank.
  bool due_last(std::size_t done) const;
  Wish last_wish(std::size_t done) const { return due_last(done) ? Wish::keep_and_stop : Wish::stop; }
  /// Writes a checkpoint. write: may throw std::exception; after that no further checkpoint is tried.
  void keep(std::size_t done, const std::function<void(const CheckpointSettings&)>& write);
  /// Seconds since this object was constructed.
  double seconds() const { return seconds_since(begin_); }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  }

  CheckpointSettings settings_;
  std::size_t first_, all_, kept_ = first_;
  std::vector<std::string>& warnings_;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

/// Collective: does what the ranks wish; to write a checkpoint, calls keep() on every rank. Returns false if
/// the run must end here. Ranks wait on the host while a checkpoint is written; kernels waiting so long for
/// each other would time out.
template <class Keep>
bool go_on(Comm& comm, Wish mine, const Keep& keep) {
  const auto wish = static_cast<Wish>(comm.lowest(static_cast<int>(mine)));
  if (wish == Wish::keep || wish == Wish::keep_and_stop) {
    keep();
    comm.lowest(0);
  }
  return wish == Wish::keep || wish == Wish::go_on;
}

}  // namespace terrane
