// What a run is given beside its problem: the ranks it may use, and where it keeps what is done.
#pragma once

#include "terrane/job/checkpoint.hpp"
#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

struct Runtime {
  Comm* comm = nullptr;  ///< null: this process alone. Rank 0 of it; the others serve() (serve.hpp)
  CheckpointSettings checkpoint;
};

}  // namespace terrane
