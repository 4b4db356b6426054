// Where and how often a long run writes checkpoints: the key output.checkpoint.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>

namespace terrane {

/// Where and how often a long run writes checkpoints, so that it can continue after a crash.
struct CheckpointSettings {
  static constexpr double never = std::numeric_limits<double>::infinity();

  std::filesystem::path file;  ///< empty: no checkpoints
  double interval = 300;       ///< seconds between two checkpoints
  double least_run = 0;        ///< seconds; shorter runs write none
  bool resume = false;         ///< continue from `file` where it exists
  double round = 3;            ///< seconds of work that an interruption may lose
  bool also_whole = false;     ///< for a job of several runs: each is also kept when it is done
};

/// A stopped run keeps its work if it took more seconds than this: half a second where it resumes or
/// least_run is 0, else least_run, but at most ten.
inline double worth_keeping(const CheckpointSettings& settings) {
  return settings.resume || settings.least_run == 0 ? 0.5 : std::min(settings.least_run, 10.0);
}

/// A folder of parts that are done but not yet in the checkpoint; it is removed with the checkpoint.
inline std::filesystem::path parts_beside(const std::filesystem::path& checkpoint) {
  return checkpoint.string() + ".parts";
}

/// What an interrupted run left that --resume can go on from: the checkpoint, or the folder where only that
/// is there and holds something; empty: nothing.
inline std::filesystem::path left_of(const std::filesystem::path& checkpoint) {
  std::error_code failed;
  if (checkpoint.empty()) return {};
  if (std::filesystem::exists(checkpoint, failed)) return checkpoint;
  const auto folder = parts_beside(checkpoint);
  const bool holds =
      std::filesystem::is_directory(folder, failed) && !std::filesystem::is_empty(folder, failed) && !failed;
  return holds ? folder : std::filesystem::path();
}

inline bool is_left(const std::filesystem::path& checkpoint) { return !left_of(checkpoint).empty(); }

/// The checkpoint settings of the n-th of `count` runs of a job, which have files of their own beside the
/// job's.
inline CheckpointSettings checkpoint_of_one(const CheckpointSettings& job, std::size_t n, std::size_t count) {
  if (job.file.empty() || count < 2) return job;
  CheckpointSettings one = job;
  one.file = parts_beside(job.file) / std::to_string(n + 1);
  one.least_run = job.least_run / static_cast<double>(count);
  one.resume = job.resume && is_left(one.file);
  one.also_whole = true;
  return one;
}

}  // namespace terrane
