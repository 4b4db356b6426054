// Where a long inversion stands, in a file, so that it can go on: named lists of numbers between two of its
// steps. What is read back gives the bits of a run that was never stopped.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "terrane/job/checkpoint.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::inversion {

/// All that determines what comes next, beside the problem: lists of numbers and of texts by the names of
/// what they are (state.hpp).
struct Standing {
  std::map<std::string, std::vector<double>> lists;
  std::map<std::string, std::vector<std::string>> texts;
  std::size_t steps = 0;  ///< so far

  /// Whether there is a struct of this name.
  bool has(const std::string& name) const {
    const auto next = lists.lower_bound(name + " ");
    return next != lists.end() && next->first.starts_with(name + " ");
  }
};

/// Throws InputError: the checkpoint was made by something else.
[[noreturn]] void refuse_checkpoint();

/// Keeps it from time to time, by the time that was spent: how long the whole will take is an estimate, which
/// may be far too short. Without a file it does nothing.
class Keeper {
 public:
  Keeper() = default;
  /// of: all that determines the bits of the inversion
  Keeper(CheckpointSettings settings, Fingerprint of);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  bool keeps() const noexcept { return keeps_; }
  /// What the file has, where the run is to go on from it; else nothing. Throws FileError, InputError: made
  /// for another inversion.
  std::optional<Standing> begin();
  /// Where it stands now: whether the interval has passed since the last.
  bool due() const;
  /// A disk that is full ends the keeping, with a warning, and not the run.
  void write(const Standing& standing);
  /// When the run is stopped: unless it has hardly begun, of a job that does not say how often.
  void keep_last(const Standing& standing);

  std::vector<std::string> notes, warnings;

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  }
  CheckpointSettings settings_;
  Fingerprint of_;
  bool keeps_ = false;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

}  // namespace terrane::inversion
