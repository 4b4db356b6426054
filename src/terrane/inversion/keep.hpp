// Where a long inversion stands, in a file, so that it can go on: named lists of numbers between two of its
// steps. What is read back gives the bits of a run that was never stopped.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "terrane/job/checkpoint.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::inversion {

/// All that determines what comes next, beside the problem: lists by their names, and words.
struct Standing {
  std::map<std::string, std::vector<double>> lists;
  std::vector<std::string> words;
  std::size_t steps = 0;  ///< lines of the table so far

  bool has(const std::string& name) const { return lists.contains(name); }
};

/// Keeps it from time to time. Without a file it does nothing.
class Keeper {
 public:
  Keeper() = default;
  /// of: all that determines the bits of the inversion · expected_seconds: of the whole
  Keeper(CheckpointSettings settings, Fingerprint of, double expected_seconds);

  bool keeps() const noexcept { return keeps_; }
  /// What the file has, where the run is to go on from it; else nothing. Throws FileError, InputError: made
  /// for another inversion.
  std::optional<Standing> begin();
  /// Whether the interval has passed since the last.
  bool due() const;
  /// A disk that is full ends the keeping, with a warning, and not the run.
  void write(const Standing& standing);
  /// When the run is stopped.
  void keep_last(const Standing& standing) {
    if (settings_.interval < CheckpointSettings::never) write(standing);
  }

  std::vector<std::string> notes, warnings;

 private:
  using Clock = std::chrono::steady_clock;
  CheckpointSettings settings_;
  Fingerprint of_;
  bool keeps_ = false;
  Clock::time_point last_ = Clock::now();
};

}  // namespace terrane::inversion
