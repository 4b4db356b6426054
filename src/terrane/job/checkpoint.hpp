// Where and how often a long run writes checkpoints: the key output.checkpoint.
#pragma once

#include <filesystem>
#include <limits>
#include <system_error>

namespace terrane {

/// Where and how often a long run writes checkpoints, so that it can continue after a crash.
struct CheckpointSettings {
  static constexpr double never = std::numeric_limits<double>::infinity();

  std::filesystem::path file;  ///< empty: no checkpoints
  double interval = 300;       ///< seconds between two checkpoints
  double least_run = 0;        ///< seconds; shorter runs write none
  bool resume = false;         ///< continue from `file` where it exists
  double round = 10;           ///< seconds of work of which an interruption loses the result
};

/// A folder for parts that are done and that the checkpoint has not yet; it goes with the checkpoint.
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

}  // namespace terrane
