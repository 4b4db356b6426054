// Where a long run keeps what is done: the key output.checkpoint.
#pragma once

#include <filesystem>
#include <limits>

namespace terrane {

/// Where a long run keeps what is done, so that it can go on after a crash.
struct CheckpointSettings {
  static constexpr double never = std::numeric_limits<double>::infinity();

  std::filesystem::path file;  ///< empty: none is kept
  double interval = 300;       ///< seconds between two
  double least_run = 0;        ///< seconds: shorter runs keep none
  bool resume = false;         ///< go on from `file` when it is there
  double round = 10;           ///< seconds of work of which an interruption loses the result
};

}  // namespace terrane
