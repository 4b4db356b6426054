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
  double least_run = 0;        ///< seconds; runs expected to be shorter write no checkpoint
  bool resume = false;         ///< whether to continue from `file` if it exists
  double round = 3;            ///< seconds of work that an interruption may lose
  bool also_whole = false;     ///< for a job of several runs: whether each finished run keeps its checkpoint
  /// Whether to remove files that an earlier job left for the runs after this one.
  bool takes_away = false;
};

/// A run that is interrupted writes a checkpoint if it has computed for longer than this number of seconds:
/// 0.5 if it resumes or least_run is 0, else least_run, but at most 10.
inline double worth_keeping(const CheckpointSettings& settings) {
  return settings.resume || settings.least_run == 0 ? 0.5 : std::min(settings.least_run, 10.0);
}

/// The folder beside the checkpoint for finished parts of the work, such as shots, that are not yet in the
/// checkpoint; the folder is removed together with the checkpoint.
inline std::filesystem::path parts_beside(const std::filesystem::path& checkpoint) {
  return checkpoint.string() + ".parts";
}

/// The path from which --resume can continue an interrupted run: the checkpoint, or else the folder of
/// finished parts if it is not empty; an empty path if there is neither.
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

/// The checkpoint settings of the n-th of `count` runs of a job. Each run has its own checkpoint file in the
/// folder parts_beside() of the job's checkpoint.
inline CheckpointSettings checkpoint_of_one(const CheckpointSettings& job, std::size_t n, std::size_t count) {
  if (job.file.empty() || count < 2) return job;
  CheckpointSettings one = job;
  one.file = parts_beside(job.file) / std::to_string(n + 1);
  one.least_run = job.least_run / static_cast<double>(count);
  one.resume = job.resume && is_left(one.file);
  one.also_whole = true;
  // If `job` is itself one of several runs, its takes_away is used: its `resume` may be false only because it
  // has no checkpoint file yet.
  one.takes_away = !job.resume && (!job.also_whole || job.takes_away);
  return one;
}

}  // namespace terrane
