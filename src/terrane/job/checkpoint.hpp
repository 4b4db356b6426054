// Where and how often a long run writes checkpoints: the key output.checkpoint.
#pragma once

#include <filesystem>
#include <limits>

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

}  // namespace terrane
