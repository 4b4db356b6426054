// Checkpoints of a long inversion: its state between two steps, as named lists of numbers in a file. A
// resumed inversion gives the same bits as an uninterrupted one.
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

/// The state of an inversion: everything except the problem that determines its next steps, as named lists of
/// numbers and of texts (state.hpp).
struct State {
  std::map<std::string, std::vector<double>> lists;
  std::map<std::string, std::vector<std::string>> texts;
  std::size_t steps = 0;  ///< number of steps made so far

  /// Whether the state contains members of a struct of this name.
  bool has(const std::string& name) const {
    const auto next = lists.lower_bound(name + " ");
    return next != lists.end() && next->first.starts_with(name + " ");
  }
};

/// Throws the InputError that the checkpoint belongs to another inversion.
[[noreturn]] void refuse_checkpoint();

/// Writes checkpoints at intervals of time, from the first interval on, whatever the estimated time of the
/// run, which may be far too short. Without a file it does nothing.
class Keeper {
 public:
  Keeper() = default;
  /// of: everything that determines the bits of the inversion
  Keeper(CheckpointSettings settings, Fingerprint of);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  bool keeps() const noexcept { return keeps_; }
  /// Starts the clock. Returns the state in the file if the run is to resume, else nothing. Throws FileError,
  /// or InputError if the file belongs to another inversion.
  std::optional<State> begin();
  /// Whether the interval has passed since the last checkpoint.
  bool due() const;
  /// Writes the state. If writing fails (disk full), a warning is added and the run continues without
  /// checkpoints.
  void write(const State& state);
  /// Writes the state when the run is stopped; not if the run has lasted only seconds and the job does not
  /// set the interval.
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
