// The terrane command: parses its arguments, runs a verb and returns the exit status.
#pragma once

#include <string>

#include "terrane/parallel/comm/comm.hpp"

namespace terrane::cli {

/// Returns the exit status: 0 done, 1 the run failed, 2 the command or its input cannot be used, 130
/// interrupted. comm: rank 0 runs the command; the other ranks compute for it and return 0. mpi: name and
/// version of the MPI library; empty if this build has none.
int command(int argc, const char* const* argv, Comm& comm, const std::string& mpi);

}  // namespace terrane::cli
