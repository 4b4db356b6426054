// When a run of steps, or of shots, keeps a checkpoint, and how its ranks come to one together.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "terrane/job/checkpoint.hpp"
#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

/// Of rank 0: when the next checkpoint is due, and what becomes of one that cannot be written.
class CheckpointTimes {
 public:
  /// From here on time counts. first: steps that are done already, of `all`. A checkpoint that fails is told
  /// in `warnings`, which must outlive this.
  CheckpointTimes(CheckpointSettings settings, std::size_t first, std::size_t all,
                  std::vector<std::string>& warnings);

  /// After `done` steps: whether a checkpoint is wanted, the last is old enough, and the run as a whole,
  /// judged by the steps so far, will be long enough for any.
  bool due(std::size_t done) const;
  /// write: may throw std::exception, after which no other is tried.
  void keep(const std::function<void(const CheckpointSettings&)>& write);
  /// Since the beginning.
  double seconds() const { return seconds_since(begin_); }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  }

  CheckpointSettings settings_;
  std::size_t first_, all_;
  std::vector<std::string>& warnings_;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

/// What a rank wants after steps that all have made, in the order in which wishes prevail.
enum class Wish { stop, keep, go_on };

/// Collective: does what the wishes of all come to, keep() on every rank; false: the run ends here. Ranks
/// wait for a checkpoint on hosts, as long as a disk takes; in kernels they would give up.
template <class Keep>
bool go_on(Comm& comm, Wish mine, const Keep& keep) {
  const auto wish = static_cast<Wish>(comm.lowest(static_cast<int>(mine)));
  if (wish == Wish::keep) {
    keep();
    comm.lowest(0);
  }
  return wish != Wish::stop;
}

}  // namespace terrane
