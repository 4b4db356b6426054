// Checkpoints of a long inversion: its state between two steps, as named lists of numbers in a file. An
// inversion that resumes has the bits of one that was never stopped.
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

/// The state: all that determines the next steps, beside the problem: lists of numbers and of texts by their
/// names (state.hpp).
struct State {
  std::map<std::string, std::vector<double>> lists;
  std::map<std::string, std::vector<std::string>> texts;
  std::size_t steps = 0;  ///< taken so far

  /// Whether there is a struct of this name.
  bool has(const std::string& name) const {
    const auto next = lists.lower_bound(name + " ");
    return next != lists.end() && next->first.starts_with(name + " ");
  }
};

/// Throws InputError: the checkpoint was made by something else.
[[noreturn]] void refuse_checkpoint();

/// Writes checkpoints at intervals of time, from the first: how long the whole run will take is an estimate,
/// which may be far too short. Without a file it does nothing.
class Keeper {
 public:
  Keeper() = default;
  /// of: all that determines the bits of the inversion
  Keeper(CheckpointSettings settings, Fingerprint of);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  bool keeps() const noexcept { return keeps_; }
  /// Starts the clock; returns the state in the file where the run is to resume, else nothing. Throws
  /// FileError, InputError: made for another inversion.
  std::optional<State> begin();
  /// Whether the interval has passed since the last checkpoint.
  bool due() const;
  /// Writes the state. A full disk ends the checkpoints, with a warning, but not the run.
  void write(const State& state);
  /// Writes the state when the run is stopped; not where the run has lasted only seconds and the job does not
  /// say how often to write.
  void keep_last(const State& state);

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
