// What a run gets beside its problem: where it computes, and where it writes checkpoints.
#pragma once

#include <cstddef>

#include "terrane/base/progress.hpp"
#include "terrane/job/checkpoint.hpp"
#include "terrane/job/config.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/device.hpp"

namespace terrane {

struct Runtime {
  Comm* comm = nullptr;  ///< null: this process alone. Rank 0 of it; the others serve() (serve.hpp)
  CheckpointSettings checkpoint;
  Device device{};               ///< automatic: the physics decides
  int threads = 0;               ///< of the CPU; 0: as many as OpenMP gives
  std::size_t memory = 0;        ///< most bytes the run may take; 0: what the machine has left
  Progress* progress = nullptr;  ///< null: silent, and never cancelled

  /// The keys `device`, `threads` and `memory` of the table [simulation], which every physics has.
  static const Section& section();
  /// From the table [simulation], described with these keys among its own; all else stays as it is above.
  /// Throws InputError.
  static Runtime read(const Config& table);
};

}  // namespace terrane
