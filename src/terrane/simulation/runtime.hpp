// What a run is given beside its problem: the ranks it may use, and where it keeps what is done.
#pragma once

#include <filesystem>
#include <limits>

#include "terrane/parallel/comm.hpp"

namespace terrane {

/// Where a long run keeps what is done, so that it can go on after a crash.
struct CheckpointSettings {
  static constexpr double never = std::numeric_limits<double>::infinity();

  std::filesystem::path file;  ///< empty: none is kept
  double interval = 300;       ///< seconds between two
  double least_run = 0;        ///< seconds: shorter runs keep none
  bool resume = false;         ///< go on from `file` when it is there
};

struct Runtime {
  Comm* comm = nullptr;  ///< null: this process alone. Rank 0 of it; the others serve() (serve.hpp)
  CheckpointSettings checkpoint;
};

}  // namespace terrane
