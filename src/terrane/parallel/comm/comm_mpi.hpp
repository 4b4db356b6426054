// Ranks of MPI. Only in builds with MPI: link terrane::mpi.
#pragma once

#include <mpi.h>

#include <memory>

#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

/// A Comm of the ranks of an MPI communicator, which it duplicates. MPI must be initialised, and the Comm
/// must be destroyed before MPI is finalised; only one thread at a time may call it. While a rank waits, its
/// core is free for others. Messages of more than most_at_once bytes are split, because MPI counts bytes with
/// an int.
std::unique_ptr<Comm> mpi_comm(MPI_Comm communicator, std::size_t most_at_once = std::size_t{1} << 30);

}  // namespace terrane
