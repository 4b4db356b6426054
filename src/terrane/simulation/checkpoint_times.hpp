// When a run of steps, or of shots, writes a checkpoint, and how its ranks do so together.
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

/// Whether this process holds results that would be lost with it, and can write a checkpoint of them once the
/// current step has ended: a signal then waits for that (cli/watch.hpp).
inline std::atomic<bool> work_to_keep{false};

/// What a rank asks for after steps that all have made; of different wishes the first in this order prevails.
enum class Wish { stop, keep_and_stop, keep, go_on };

/// Once a run of several in one job, which was not resumed, keeps its work: takes away what an earlier job
/// left of those after it, so that --resume does not find the parts of two. On rank 0.
void forget_later_runs(const CheckpointSettings& one);

/// On rank 0: when the next checkpoint is due, and what happens where one cannot be written.
class CheckpointTimes {
 public:
  CheckpointTimes(const CheckpointTimes&) = delete;
  CheckpointTimes& operator=(const CheckpointTimes&) = delete;
  ~CheckpointTimes() { work_to_keep = false; }
  /// Time counts from this call on. first: steps that are done already, of `all`. A checkpoint that fails
  /// adds a warning to `warnings`, which must outlive this.
  CheckpointTimes(CheckpointSettings settings, std::size_t first, std::size_t all,
                  std::vector<std::string>& warnings);

  /// After `done` steps: whether to write a checkpoint now: one is wanted, the last is old enough, and the
  /// whole run, judged by the steps so far, will be long enough to need any.
  bool due(std::size_t done) const;
  /// When the user stops the run after `done` steps: whether what was done since the last checkpoint is worth
  /// one, and what a rank then wishes.
  bool due_last(std::size_t done) const;
  Wish last_wish(std::size_t done) const { return due_last(done) ? Wish::keep_and_stop : Wish::stop; }
  /// write: may throw std::exception, after which no other is tried.
  void keep(std::size_t done, const std::function<void(const CheckpointSettings&)>& write);
  /// Seconds since the construction.
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

/// Collective: carries out the wishes of all ranks, with keep() on every rank; false: the run ends here.
/// Ranks wait on hosts while a checkpoint is written; kernels that waited so long would time out.
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
