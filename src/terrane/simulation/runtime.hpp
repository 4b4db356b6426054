// Parameters of a run other than its problem: ranks, device, threads, memory, checkpoints.
#pragma once

#include <cstddef>

#include "terrane/base/progress.hpp"
#include "terrane/job/checkpoint.hpp"
#include "terrane/job/config.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/device.hpp"

namespace terrane {

struct Runtime {
  Comm* comm = nullptr;  ///< null: this process alone; else this is rank 0, and others are in serve()
  CheckpointSettings checkpoint;
  Device device{};               ///< device of the run; automatic: the physics decides
  int threads = 0;               ///< number of CPU threads; 0: the default of OpenMP
  std::size_t memory = 0;        ///< most bytes that the run may use; 0: all free memory
  Progress* progress = nullptr;  ///< null: silent, and never cancelled

  /// The keys `device`, `threads` and `memory` of the table [simulation], which every physics has.
  static const Section& section();
  /// Reads the keys of section() from the table [simulation], which must be described with them; other
  /// members keep their defaults. Throws InputError.
  static Runtime read(const Config& table);
};

}  // namespace terrane
