// Ranks of MPI. Only in builds with MPI: link terrane::mpi.
#pragma once

#include <mpi.h>

#include <memory>

#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

/// The ranks of a communicator, on a duplicate of it. MPI must be initialised, and the Comm must be
/// destroyed before MPI is finalised; one thread at a time may call it. Ranks that wait yield their cores.
/// Messages of more than most_at_once bytes go in pieces, because MPI counts bytes with an int.
std::unique_ptr<Comm> mpi_comm(MPI_Comm communicator, std::size_t most_at_once = std::size_t{1} << 30);

}  // namespace terrane
