// The terrane command: reads its arguments and sets its exit status.
#pragma once

#include <string>

#include "terrane/parallel/comm/comm.hpp"

namespace terrane::cli {

/// Exit status: 0 done, 1 the run failed, 2 the command or its input cannot be used, 130 interrupted. comm:
/// rank 0 runs the command, the others work for it and end with 0. mpi: the library's name and version; empty
/// when this build has none.
int command(int argc, const char* const* argv, Comm& comm, const std::string& mpi);

}  // namespace terrane::cli
